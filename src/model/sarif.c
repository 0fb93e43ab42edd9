#include "model/sarif.h"

#include "candlegraph/version.h"
#include "model/rules.h"
#include "schema/findings_schema.h"

#define SARIF_SCHEMA                                                                               \
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
#define SARIF_BASE "%SRCROOT%"

typedef struct sarif_context {
    const findings_view *view;
    const findings_home *home;
    const cg_str *extra; /* codes that are in no table, behind the rules */
    size_t extra_count;
} sarif_context;

/* What describes one rule of the table. */
typedef struct rule_texts {
    sarif_text title;
    sarif_text means;
    sarif_text help;
    sarif_configuration configuration;
} rule_texts;

/* --- rules --- */

static size_t extra_index(const cg_str *codes, size_t count, cg_str code)
{
    size_t at = 0;

    while (at < count && !str_equal(codes[at], code))
        at++;
    return at;
}

static uint64_t rule_index(const sarif_context *self, cg_str code)
{
    const rule_row *rule = rule_find(code);

    return rule != NULL ? (uint64_t)(rule - rules)
                        : RULE_CODE_COUNT + extra_index(self->extra, self->extra_count, code);
}

static bool list_extra(sarif_context *self, arena *mem)
{
    cg_str *codes = arena_take(mem, (self->view->count + 1) * sizeof *codes);

    if (codes == NULL)
        return false;
    for (size_t i = 0; i < self->view->count; i++) {
        cg_str code = findings_at(self->view, i)->rule;

        if (rule_find(code) == NULL &&
            extra_index(codes, self->extra_count, code) == self->extra_count)
            codes[self->extra_count++] = code;
    }
    self->extra = codes;
    return true;
}

static bool list_rules(const sarif_context *self, arena *mem, sc_records *ret)
{
    size_t count = RULE_CODE_COUNT + self->extra_count;
    sarif_rule *rows = arena_zero(mem, count * sizeof *rows);
    rule_texts *texts = arena_take(mem, RULE_CODE_COUNT * sizeof *texts);

    if (rows == NULL || texts == NULL)
        return false;
    for (size_t i = 0; i < RULE_CODE_COUNT; i++) {
        texts[i] =
            (rule_texts){{rules[i].title}, {rules[i].means}, {rules[i].fix}, {rules[i].severity}};
        rows[i] = (sarif_rule){rules[i].code, &texts[i].title, &texts[i].means, &texts[i].help,
                               &texts[i].configuration};
    }
    for (size_t i = 0; i < self->extra_count; i++)
        rows[RULE_CODE_COUNT + i].id = self->extra[i];
    *ret = (sc_records){rows, count};
    return true;
}

/* --- results --- */

static bool is_uri_byte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '/' || byte == '-' || byte == '.' ||
           byte == '_' || byte == '~';
}

/* Reference of a file; everything unusual is escaped. */
static bool uri_of(const sarif_context *self, jsonw *out, cg_str file, buf *ret)
{
    buf name;
    cg_str path;

    buf_init(ret, out->heap, SIZE_MAX);
    buf_init(&name, out->heap, SIZE_MAX);
    findings_file(self->home, file, &name);
    path = buf_text(&name);
    for (size_t i = 0; i < path.len; i++) {
        if (is_uri_byte(path.ptr[i]))
            buf_byte(ret, path.ptr[i]);
        else
            buf_addf(ret, "%%%02X", (unsigned)(unsigned char)path.ptr[i]);
    }
    ret->failed |= name.failed;
    buf_free(&name);
    return !ret->failed;
}

static sarif_region region_of(const model_finding *finding, const model_place_text *place)
{
    const model_location *location = finding->location;
    sarif_region region = {.line = {place->line, place->line > 0},
                           .column = {place->column, place->line > 0 && place->column > 0}};

    if (location != NULL && location->byte_end >= location->byte_start) {
        region.offset = (opt_u64){location->byte_start, true};
        region.length = (opt_u64){location->byte_end - location->byte_start, true};
    }
    return region;
}

/* The place of a finding; of one that has none, the beginning of what stands for the crate. */
static model_place_text place_of(const sarif_context *self, const model_finding *finding)
{
    model_place_text place = findings_place(finding);

    if (place.file.ptr == NULL && self->home->whole.ptr != NULL)
        place = (model_place_text){.file = self->home->whole, .line = 1};
    return place;
}

static void write_result(const sarif_context *self, jsonw *out, const model_finding *finding)
{
    model_place_text place = place_of(self, finding);
    sarif_region region = region_of(finding, &place);
    sarif_artifact artifact = {.base = CG_LIT(SARIF_BASE)};
    sarif_physical physical = {&artifact, region.line.is_set ? &region : NULL};
    sarif_logical logical = {finding->function, CG_LIT("function")};
    sarif_location location = {&physical, {&logical, finding->function.ptr != NULL}};
    sarif_text message = {finding->message};
    sarif_prints prints = {finding->id};
    sarif_properties properties = {finding->confidence};
    sarif_result result = {.rule_id = finding->rule,
                           .rule_index = rule_index(self, finding->rule),
                           .level = finding->severity,
                           .message = &message,
                           .locations = {&location, place.file.ptr != NULL},
                           .prints = &prints,
                           .properties = &properties};
    buf uri;

    if (uri_of(self, out, place.file, &uri)) {
        artifact.uri = buf_text(&uri);
        sc_write(out, &table_sarif_result, &result);
    } else if (out->code == CG_OK) {
        out->code = CG_NOMEM;
    }
    buf_free(&uri);
}

static void emit_results(jsonw *out, const void *context)
{
    const sarif_context *self = context;

    jw_array(out);
    for (size_t i = 0; i < self->view->count; i++)
        write_result(self, out, findings_at(self->view, i));
    jw_end(out);
}

cg_code sarif_write(const findings_view *view, const findings_home *home, arena *mem, jsonw *out,
                    cg_err *reterr)
{
    sarif_context context = {.view = view, .home = home};
    sarif_driver driver = {.name = CG_LIT("candle-graph"), .version = CG_LIT(CG_VERSION_TEXT)};
    sarif_tool tool = {&driver};
    sarif_run run = {&tool, CG_LIT("unicodeCodePoints"), {emit_results, &context}};
    sarif_log log = {CG_LIT(SARIF_SCHEMA), CG_LIT("2.1.0"), {&run, 1}};

    if (!list_extra(&context, mem) || !list_rules(&context, mem, &driver.rules))
        return err_nomem(reterr);
    sc_write(out, &table_sarif_log, &log);
    return CG_OK;
}
