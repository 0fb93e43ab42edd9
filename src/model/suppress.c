#include "model/suppress.h"

#include <inttypes.h>

#include "base/sort.h"
#include "model/findings_out.h"
#include "model/ids.h"
#include "model/normalise.h"
#include "model/rules.h"

typedef struct applying {
    model_document *document;
    const suppress_list *list;
    findings_view view;
    uint32_t *order;    /* comments by file and line */
    uint64_t *covered;  /* of each place in `order`: the line it covers */
    bool *used_comment; /* of each place in `order` */
    bool *used_level;
    bool *is_gone; /* of each finding */
    size_t gone;
} applying;

int suppress_word_of(cg_str word)
{
    static const struct {
        cg_str word;
        int level;
    } others[] = {{{"allow", 5}, SUPPRESS_ALLOW},
                  {{"warn", 4}, SUPPRESS_WARNING},
                  {{"deny", 4}, SUPPRESS_ERROR}};

    for (uint8_t i = 0; i < MODEL_FINDING_SEVERITY_COUNT; i++) {
        if (str_equal_nocase(word, sc_word(&words_model_finding_severity, i)))
            return SUPPRESS_INFORMATION + i;
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (str_equal_nocase(word, others[i].word))
            return others[i].level;
    }
    return -1;
}

/* --- comments --- */

static bool comment_before(const void *context, uint32_t a, uint32_t b)
{
    const suppress_comment *comments = context;
    int order = str_compare(comments[a].file, comments[b].file);

    return order != 0 ? order < 0 : comments[a].line < comments[b].line;
}

static const suppress_comment *comment_at(const applying *self, size_t place)
{
    return &self->list->comments[self->order[place]];
}

/* From the last to the first: a comment above a comment covers what that one covers. */
static void cover_lines(applying *self)
{
    for (size_t i = self->list->comment_count; i > 0; i--) {
        const suppress_comment *comment = comment_at(self, i - 1);
        const suppress_comment *next = i < self->list->comment_count ? comment_at(self, i) : NULL;

        if (comment->is_trailing)
            self->covered[i - 1] = comment->line;
        else if (next != NULL && str_equal(comment->file, next->file) &&
                 (next->line == comment->line || next->line == comment->line + 1))
            self->covered[i - 1] = self->covered[i];
        else
            self->covered[i - 1] = comment->line + 1;
    }
}

/* The first finding, in the order of places, that is not before this line. */
static size_t first_finding(const applying *self, cg_str file, uint64_t line)
{
    size_t low = 0;
    size_t high = self->view.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        model_place_text place = findings_place(findings_at(&self->view, middle));
        int order = place.file.ptr == NULL ? -1 : str_compare(place.file, file);

        if (order < 0 || (order == 0 && place.line < line))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void apply_comment(applying *self, size_t at)
{
    const suppress_comment *comment = comment_at(self, at);

    for (size_t i = first_finding(self, comment->file, self->covered[at]); i < self->view.count;
         i++) {
        const model_finding *finding = findings_at(&self->view, i);
        model_place_text place = findings_place(finding);
        bool *is_gone = &self->is_gone[self->view.order[i]];

        if (place.line != self->covered[at] || !str_equal(place.file, comment->file))
            return;
        if (rule_is_named(finding->rule, comment->code)) {
            self->used_comment[at] = true;
            self->gone += !*is_gone;
            *is_gone = true;
        }
    }
}

/* --- levels --- */

static void apply_levels(applying *self, model_finding *finding, bool *is_gone)
{
    for (size_t i = self->list->level_count; i > 0; i--) {
        const suppress_level *level = &self->list->levels[i - 1];

        if (!rule_is_named(finding->rule, level->code))
            continue;
        self->used_level[i - 1] = true;
        if (level->word == SUPPRESS_ALLOW) {
            self->gone += !*is_gone;
            *is_gone = true;
        } else {
            finding->severity = (uint8_t)(level->word - SUPPRESS_INFORMATION);
        }
        return;
    }
}

/* --- what was of no use --- */

static bool add_unused(applying *self, cg_str source, cg_str code, uint8_t severity,
                       model_finding *ret)
{
    arena *mem = &self->document->mem;

    *ret = (model_finding){.rule = rules[RULE_CODE_UNUSED_SUPPRESSION].code,
                           .severity = severity,
                           .confidence = MODEL_CONFIDENCE_PROVEN,
                           .help = rules[RULE_CODE_UNUSED_SUPPRESSION].fix};
    return arena_text(mem, source, &ret->source) &&
           arena_format(mem, &ret->message, "`allow(%.*s)` allows nothing%s", (int)code.len,
                        code.ptr, rule_is_known(code) ? "" : ": there is no code of that name") &&
           id_make(mem, MODEL_ID_KIND_FINDING, ID_PARTS(ret->rule, ret->source, ret->message),
                   &ret->id);
}

static bool add_unused_comment(applying *self, const suppress_comment *comment, model_finding *ret)
{
    arena *mem = &self->document->mem;
    model_location *location = arena_zero(mem, sizeof *location);
    cg_str source;

    if (location == NULL ||
        !arena_format(mem, &source, "%.*s:%" PRIu64, (int)comment->file.len, comment->file.ptr,
                      comment->line) ||
        !add_unused(self, source, comment->code, MODEL_FINDING_SEVERITY_WARNING, ret))
        return false;
    *location = (model_location){.line = comment->line,
                                 .column = comment->column,
                                 .byte_start = comment->byte_start,
                                 .byte_end = comment->byte_end};
    ret->location = location;
    return arena_text(mem, comment->file, &location->file);
}

/* The findings that stay and those about unused suppressions, in an array of their own. */
static bool rebuild(applying *self)
{
    sc_records *findings = &self->document->doc.findings;
    size_t most = findings->count + self->list->comment_count + self->list->level_count;
    model_finding *kept = arena_take(&self->document->mem, (most + 1) * sizeof *kept);
    size_t count = 0;

    if (kept == NULL)
        return false;
    for (size_t i = 0; i < self->list->comment_count; i++) {
        if (!self->used_comment[i] &&
            !add_unused_comment(self, comment_at(self, i), &kept[count++]))
            return false;
    }
    for (size_t i = 0; i < findings->count; i++) {
        if (!self->is_gone[i])
            kept[count++] = *MODEL_AT(*findings, model_finding, i);
    }
    most = count;
    count = 0;
    for (size_t i = 0; i < most; i++) {
        bool is_gone = false;

        apply_levels(self, &kept[i], &is_gone);
        if (!is_gone)
            kept[count++] = kept[i];
    }
    for (size_t i = 0; i < self->list->level_count; i++) {
        const suppress_level *level = &self->list->levels[i];

        if (!self->used_level[i] && level->word == SUPPRESS_ALLOW &&
            !add_unused(self, level->source.ptr != NULL ? level->source : CG_LIT(""), level->code,
                        MODEL_FINDING_SEVERITY_INFORMATION, &kept[count++]))
            return false;
    }
    *findings = (sc_records){kept, count};
    return true;
}

static bool apply(applying *self)
{
    arena *mem = &self->document->mem;
    size_t comments = self->list->comment_count;

    self->order = arena_take(mem, (2 * comments + 1) * sizeof *self->order);
    self->covered = arena_take(mem, (comments + 1) * sizeof *self->covered);
    self->used_comment = arena_zero(mem, comments + 1);
    self->used_level = arena_zero(mem, self->list->level_count + 1);
    self->is_gone = arena_zero(mem, self->document->doc.findings.count + 1);
    if (self->order == NULL || self->covered == NULL || self->used_comment == NULL ||
        self->used_level == NULL || self->is_gone == NULL ||
        !findings_order(mem, &self->document->doc, &self->view))
        return false;
    for (size_t i = 0; i < comments; i++)
        self->order[i] = (uint32_t)i;
    sort_with(self->order, self->order + comments, comments, comment_before, self->list->comments);
    cover_lines(self);
    for (size_t i = 0; i < comments; i++)
        apply_comment(self, i);
    return rebuild(self);
}

cg_code suppress_apply(model_document *document, const suppress_list *list, size_t *ret_count,
                       cg_err *reterr)
{
    applying self = {.document = document, .list = list};

    *ret_count = 0;
    if (list->comment_count == 0 && list->level_count == 0)
        return CG_OK;
    if (!apply(&self))
        return err_nomem(reterr);
    *ret_count = self.gone;
    return model_normalise(document, reterr);
}
