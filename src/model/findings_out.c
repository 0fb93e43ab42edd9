#include "model/findings_out.h"

#include <inttypes.h>

#include "base/sort.h"
#include "codec/escape.h"
#include "model/rules.h"
#include "schema/findings_schema.h"

#define EXTRA_COUNT 14

const model_finding *findings_at(const findings_view *self, size_t index)
{
    return MODEL_AT(self->doc->findings, model_finding, self->order[index]);
}

model_place_text findings_place(const model_finding *finding)
{
    return model_place_of(finding->location, finding->source);
}

static int compare_u64(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_place(const model_place_text *a, const model_place_text *b)
{
    int order;

    if (a->file.ptr == NULL || b->file.ptr == NULL)
        return (a->file.ptr != NULL) - (b->file.ptr != NULL);
    order = str_compare(a->file, b->file);
    if (order == 0)
        order = compare_u64(a->line, b->line);
    return order != 0 ? order : compare_u64(a->column, b->column);
}

static bool finding_before(const void *context, uint32_t a, uint32_t b)
{
    const model_doc *doc = context;
    const model_finding *x = MODEL_AT(doc->findings, model_finding, a);
    const model_finding *y = MODEL_AT(doc->findings, model_finding, b);
    model_place_text x_place = findings_place(x);
    model_place_text y_place = findings_place(y);
    int order = compare_place(&x_place, &y_place);

    if (order == 0)
        order = str_compare(x->rule, y->rule);
    if (order == 0)
        order = str_compare(x->message, y->message);
    return order < 0;
}

bool findings_order(arena *mem, const model_doc *doc, findings_view *ret)
{
    size_t count = doc->findings.count;
    uint32_t *order = arena_take(mem, (2 * count + 1) * sizeof *order);

    if (order == NULL)
        return false;
    *ret = (findings_view){.doc = doc, .order = order, .count = count};
    for (size_t i = 0; i < count; i++) {
        order[i] = (uint32_t)i;
        ret->by_severity[MODEL_AT(doc->findings, model_finding, i)->severity]++;
    }
    sort_with(order, order + count, count, finding_before, doc);
    return true;
}

/* --- findings/1 --- */

/* The fields of the codes, in the order of enum rule_field: what a code has is always written. */
#define SC_EXTRA_OPTIONAL   SC_NULLABLE
#define SC_EXTRA_OMIT_EMPTY SC_REQUIRED
#define F(type, member, key, rule, sub)                                                            \
    {{key, sizeof(key) - 1}, SC_##type, SC_EXTRA_##rule, offsetof(model_finding, member), &sub},
static const sc_field extra_fields[] = {MODEL_FINDING_EXTRA(F)};
#undef F

_Static_assert(sizeof extra_fields / sizeof extra_fields[0] == EXTRA_COUNT, "enum rule_field");

/* What is said when the analysis left a field out that may not be empty. */
static model_finding with_defaults(const model_finding *finding, uint16_t fields)
{
    model_finding full = *finding;

    if (full.condition.len == 0)
        full.condition = CG_LIT("always");
    if (full.effect == MODEL_EFFECT_NONE)
        full.effect = fields & RULE_PRODUCER ? MODEL_EFFECT_STOPS : MODEL_EFFECT_NO_GRADIENT;
    if (full.prefix.ptr == NULL)
        full.prefix = CG_LIT("");
    return full;
}

static void write_extra(jsonw *out, const model_finding *finding)
{
    const rule_row *rule = rule_find(finding->rule);
    uint16_t fields = rule != NULL ? rule->fields : 0;
    sc_field wanted[EXTRA_COUNT];
    sc_table table = {.name = "finding", .fields = wanted, .size = sizeof(model_finding)};
    model_finding full = with_defaults(finding, fields);

    for (unsigned i = 0; i < EXTRA_COUNT; i++) {
        if (fields & (1U << i))
            wanted[table.count++] = extra_fields[i];
    }
    sc_write_members(out, &table, &full);
}

static void write_finding(jsonw *out, const model_finding *finding)
{
    finding_common common = {.id = finding->id,
                             .code = finding->rule,
                             .severity = finding->severity,
                             .confidence = finding->confidence,
                             .message = finding->message,
                             .function = finding->function,
                             .function_id = finding->function_id,
                             .location = finding->location,
                             .related = finding->related,
                             .help = finding->help};

    jw_object(out);
    sc_write_members(out, &table_finding_common, &common);
    write_extra(out, finding);
    jw_end(out);
}

static void emit_findings(jsonw *out, const void *context)
{
    const findings_view *self = context;

    jw_array(out);
    for (size_t i = 0; i < self->count; i++)
        write_finding(out, findings_at(self, i));
    jw_end(out);
}

void findings_json(const findings_view *self, jsonw *out)
{
    finding_counts counts = {self->by_severity[MODEL_FINDING_SEVERITY_ERROR],
                             self->by_severity[MODEL_FINDING_SEVERITY_WARNING],
                             self->by_severity[MODEL_FINDING_SEVERITY_INFORMATION]};
    findings_doc doc = {.schema = CG_LIT(FINDINGS_SCHEMA),
                        .analysis_id = self->doc->analysis_id,
                        .counts = &counts,
                        .findings = {emit_findings, self}};

    sc_write(out, &table_findings_doc, &doc);
}

/* --- text --- */

static cg_str level_of(const model_finding *finding)
{
    return sc_word(&words_sarif_level, finding->severity);
}

/* file, file:line or file:line:column */
static void add_place(const model_place_text *place, buf *out)
{
    esc_tty(out, place->file);
    if (place->line > 0)
        buf_addf(out, ":%" PRIu64, place->line);
    if (place->line > 0 && place->column > 0)
        buf_addf(out, ":%" PRIu64, place->column);
}

/* What is a note by nature is background; a finding that the project lowered is still shown. */
static bool is_background(const model_finding *finding)
{
    const rule_row *rule = rule_find(finding->rule);

    return finding->severity == MODEL_FINDING_SEVERITY_INFORMATION && rule != NULL &&
           rule->severity == MODEL_FINDING_SEVERITY_INFORMATION;
}

#define NAMES_SHOWN 3u

/* `severed: a.weight, b.weight and 9 more` */
static void add_names(cg_str title, const sc_records *groups, buf *out)
{
    size_t count = 0;

    for (size_t i = 0; i < groups->count; i++) {
        const model_keys *group = MODEL_AT(*groups, model_keys, i);

        for (size_t k = 0; k < group->keys.count; k++) {
            if (count++ >= NAMES_SHOWN)
                continue;
            if (count == 1)
                buf_add(out, title);
            else
                buf_add(out, CG_LIT(", "));
            esc_tty(out, group->keys.at[k]);
        }
    }
    if (count > NAMES_SHOWN)
        buf_addf(out, " and %zu more", count - NAMES_SHOWN);
}

void findings_human_one(const model_finding *finding, buf *out)
{
    model_place_text place = findings_place(finding);

    buf_add(out, level_of(finding));
    buf_add(out, CG_LIT(": "));
    esc_tty(out, finding->message);
    if (place.file.ptr != NULL) {
        buf_add(out, CG_LIT("\n  --> "));
        add_place(&place, out);
    }
    buf_add(out, CG_LIT("\n  = code: "));
    esc_tty(out, finding->rule);
    if (finding->confidence == MODEL_CONFIDENCE_CONDITIONAL ||
        finding->confidence == MODEL_CONFIDENCE_HEURISTIC) {
        buf_add(out, CG_LIT("\n  = confidence: "));
        buf_add(out, sc_word(&words_model_confidence, finding->confidence));
    }
    if (str_equal(finding->rule, CG_LIT("gradient-cut")))
        add_names(CG_LIT("\n  = severed: "), &finding->severed, out);
    else if (str_equal(finding->rule, CG_LIT("unused-parameter")))
        add_names(CG_LIT("\n  = unused: "), &finding->keys, out);
    if (finding->help.len > 0) {
        buf_add(out, CG_LIT("\n  = help: "));
        esc_tty(out, finding->help);
    }
    buf_byte(out, '\n');
}

/* Is there no model, and nothing that was said about the rest? */
static bool is_empty(const findings_view *self)
{
    const model_doc *doc = self->doc;

    return doc->components.count == 0 && doc->parameters.count == 0 &&
           doc->assembly_sites.count == 0 && self->by_severity[MODEL_FINDING_SEVERITY_ERROR] == 0 &&
           self->by_severity[MODEL_FINDING_SEVERITY_WARNING] == 0;
}

void findings_human(const findings_view *self, buf *out)
{
    size_t shown = 0;
    size_t elsewhere = 0;

    if (self->count == 0)
        return;
    if (self->told_elsewhere.ptr != NULL)
        buf_byte(out, '\n');
    for (size_t i = 0; i < self->count; i++) {
        const model_finding *finding = findings_at(self, i);

        if (self->told_elsewhere.ptr != NULL &&
            str_starts_with(finding->rule, self->told_elsewhere)) {
            elsewhere++;
        } else if (!is_background(finding)) {
            findings_human_one(finding, out);
            shown++;
        }
    }
    if (shown > 0)
        buf_byte(out, '\n');
    buf_addf(out,
             "candle-graph check: %" PRIu64 " error(s), %" PRIu64 " warning(s), %" PRIu64
             " note(s)",
             self->by_severity[MODEL_FINDING_SEVERITY_ERROR],
             self->by_severity[MODEL_FINDING_SEVERITY_WARNING],
             self->by_severity[MODEL_FINDING_SEVERITY_INFORMATION]);
    if (elsewhere > 0)
        buf_addf(out, "; %zu of them about the checkpoint, see above", elsewhere);
    if (shown + elsewhere < self->count)
        buf_add(out, CG_LIT("; --message-format json lists the notes"));
    buf_byte(out, '\n');
    if (is_empty(self))
        buf_add(out,
                CG_LIT("no Candle model was found here: nothing makes one from a VarBuilder; "
                       "--cargo-target NAME reads an example, a test or a bench of the package\n"));
}

void findings_short(const findings_view *self, buf *out)
{
    for (size_t i = 0; i < self->count; i++) {
        const model_finding *finding = findings_at(self, i);
        model_place_text place = findings_place(finding);

        if (is_background(finding))
            continue;
        if (place.file.ptr != NULL) {
            add_place(&place, out);
            buf_add(out, CG_LIT(": "));
        }
        buf_add(out, level_of(finding));
        buf_byte(out, '[');
        esc_tty(out, finding->rule);
        buf_add(out, CG_LIT("]: "));
        esc_tty(out, finding->message);
        buf_byte(out, '\n');
    }
}

/* Workflow commands: in a property `:` and `,` are escaped too. */
static void add_github(cg_str text, bool is_property, buf *out)
{
    for (size_t at = 0; at < text.len;) {
        char byte = text.ptr[at];
        char safe[STR_SAFE_ROOM];

        if (byte == '%' || byte == '\r' || byte == '\n' ||
            (is_property && (byte == ':' || byte == ','))) {
            buf_addf(out, "%%%02X", (unsigned)(unsigned char)byte);
            at++;
        } else {
            size_t count = str_next_safe(text, &at, safe);

            buf_add(out, (cg_str){safe, count});
        }
    }
}

/* What of the absolute `path` stands behind the folder `top`; absent: it does not lie there. */
static cg_str behind_top(cg_str path, cg_str top)
{
    size_t skip = top.len == 1 ? 1 : top.len + 1; /* with the slash */

    if (top.ptr == NULL || !str_starts_with(path, top) ||
        (path.len > top.len && path.ptr[skip - 1] != '/'))
        return (cg_str){0};
    return path.len < skip ? (cg_str){path.ptr + path.len, 0}
                           : (cg_str){path.ptr + skip, path.len - skip};
}

void findings_file(const findings_home *home, cg_str file, buf *out)
{
    bool is_absolute = file.len > 0 && file.ptr[0] == '/';
    cg_str behind = behind_top(is_absolute ? file : home->folder, home->top);

    if (is_absolute) {
        buf_add(out, behind.ptr != NULL ? behind : file);
        return;
    }
    if (behind.len > 0) {
        buf_add(out, behind);
        buf_byte(out, '/');
    }
    buf_add(out, file);
}

static void add_file(const findings_home *home, cg_str file, buf *out)
{
    buf name;

    buf_init(&name, out->heap, SIZE_MAX);
    findings_file(home, file, &name);
    add_github(buf_text(&name), true, out);
    out->failed |= name.failed;
    buf_free(&name);
}

void findings_github(const findings_view *self, const findings_home *home, buf *out)
{
    for (size_t i = 0; i < self->count; i++) {
        const model_finding *finding = findings_at(self, i);
        model_place_text place = findings_place(finding);

        buf_add(out, CG_LIT("::"));
        buf_add(out, finding->severity == MODEL_FINDING_SEVERITY_INFORMATION ? CG_LIT("notice")
                                                                             : level_of(finding));
        buf_byte(out, ' ');
        if (place.file.ptr != NULL) {
            buf_add(out, CG_LIT("file="));
            add_file(home, place.file, out);
            buf_byte(out, ',');
        }
        if (place.line > 0)
            buf_addf(out, "line=%" PRIu64 ",", place.line);
        if (place.line > 0 && place.column > 0)
            buf_addf(out, "col=%" PRIu64 ",", place.column);
        buf_add(out, CG_LIT("title="));
        add_github(finding->rule, true, out);
        buf_add(out, CG_LIT("::"));
        add_github(finding->message, false, out);
        buf_byte(out, '\n');
    }
}
