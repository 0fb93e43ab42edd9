#include "model/baseline.h"

#include "base/num.h"
#include "base/sort.h"
#include "codec/escape.h"
#include "model/index.h"
#include "model/normalise.h"

#define FINGERPRINT_HEAD "# " BASELINE_FINGERPRINT_SCHEMA
#define READABLE_HEAD    "# " BASELINE_READABLE_SCHEMA
#define FINDINGS_HEAD    "# " BASELINE_FINDINGS_SCHEMA
#define KINDS            3
#define BLOCKS           4
#define FIELDS           8

/* The lines of one kind of record: the fields that identify it come first. */
typedef struct block_form {
    cg_str word;
    size_t keys;                 /* fields that identify a record */
    size_t fields;               /* all of them; 0: the kind has no such records */
    const char *details[FIELDS]; /* what the others are called */
} block_form;

static const cg_str heads[KINDS] = {
    [BASELINE_FINGERPRINT] = {FINGERPRINT_HEAD, sizeof FINGERPRINT_HEAD - 1},
    [BASELINE_READABLE] = {READABLE_HEAD, sizeof READABLE_HEAD - 1},
    [BASELINE_FINDINGS] = {FINDINGS_HEAD, sizeof FINDINGS_HEAD - 1},
};

static const block_form forms[KINDS][BLOCKS] = {
    [BASELINE_FINGERPRINT] = {{{"component", 9}, 2, 2, {0}},
                              {{"parameter", 9}, 3, 3, {0}},
                              {{"entrypoint", 10}, 1, 1, {0}},
                              {{"finding", 7}, 2, 2, {0}}},
    [BASELINE_READABLE] = {{{"component", 9}, 1, 1, {0}},
                           {{"parameter", 9}, 3, 6, {"shape", "certainty", "constructor"}},
                           {{"entrypoint", 10}, 1, 1, {0}},
                           {{"finding", 7}, 4, 7, {"severity", "confidence", "number"}}},
    [BASELINE_FINDINGS] = {{{"component", 9}, 0, 0, {0}},
                           {{"parameter", 9}, 0, 0, {0}},
                           {{"entrypoint", 10}, 0, 0, {0}},
                           {{"finding", 7}, 6, 7, {"number"}}},
};

enum { OF_COMPONENTS, OF_PARAMETERS, OF_ENTRYPOINTS, OF_FINDINGS };

typedef struct lines {
    heap *heap;
    arena mem;
    sc_strs blocks[BLOCKS]; /* sorted, each once */
    bool failed;
} lines;

/* --- lines of a document --- */

static void add_field(buf *out, cg_str text)
{
    buf_byte(out, '\t');
    for (size_t i = 0; i < text.len; i++) {
        char byte = text.ptr[i];

        if (byte == '\\')
            buf_add(out, CG_LIT("\\\\"));
        else if (byte == '\t')
            buf_add(out, CG_LIT("\\t"));
        else if (byte == '\n')
            buf_add(out, CG_LIT("\\n"));
        else
            buf_byte(out, byte);
    }
}

static cg_str without_end(cg_str line)
{
    while (line.len > 0 && (line.ptr[line.len - 1] == ' ' || line.ptr[line.len - 1] == '\t' ||
                            line.ptr[line.len - 1] == '\r'))
        line.len--;
    return line;
}

/* One line of a block, kept in the arena. */
static cg_str make_line(lines *self, cg_str word, const cg_str *fields, size_t count)
{
    cg_str line = {0};
    buf text;

    buf_init(&text, self->heap, SIZE_MAX);
    buf_add(&text, word);
    for (size_t i = 0; i < count; i++)
        add_field(&text, fields[i]);
    if (text.failed || !arena_text(&self->mem, without_end(buf_text(&text)), &line))
        self->failed = true;
    buf_free(&text);
    return line;
}

static cg_str or_empty(cg_str text)
{
    return text.ptr != NULL ? text : CG_LIT("");
}

static cg_str component_name(const model_doc *doc, const text_index *components, cg_str id)
{
    size_t at = index_find(components, id);

    return at == INDEX_NONE ? id : MODEL_AT(doc->components, model_component, at)->qualified_name;
}

static cg_str parameter_line(lines *self, const model_doc *doc, const text_index *components,
                             enum baseline_kind kind, const model_parameter *it)
{
    cg_str fingerprint[] = {it->builder_root, it->key, it->kind};
    cg_str readable[] = {component_name(doc, components, it->component),
                         it->builder_root,
                         it->key,
                         or_empty(it->symbolic_shape),
                         sc_word(&words_model_certainty, it->certainty),
                         it->kind};

    return kind == BASELINE_FINGERPRINT ? make_line(self, CG_LIT("parameter"), fingerprint, 3)
                                        : make_line(self, CG_LIT("parameter"), readable, 6);
}

/* How many equal ones there are is added when all lines are known. */
static cg_str finding_line(lines *self, enum baseline_kind kind, const model_finding *it)
{
    model_place_text place = model_place_of(it->location, it->source);
    cg_str fields[] = {
        it->rule, sc_word(&words_model_finding_severity, it->severity), {0}, {0}, {0}, {0}};

    if (kind == BASELINE_FINGERPRINT)
        return make_line(self, CG_LIT("finding"), fields, 2);
    /* What is known of one that becomes graver or surer is not known of it any more. */
    if (kind == BASELINE_FINDINGS) {
        cg_str known[] = {it->rule,
                          sc_word(&words_model_finding_severity, it->severity),
                          sc_word(&words_model_confidence, it->confidence),
                          or_empty(place.file),
                          or_empty(it->function),
                          it->message};

        return make_line(self, CG_LIT("finding"), known, 6);
    }
    fields[1] = or_empty(place.file);
    fields[2] = or_empty(it->function);
    fields[3] = it->message;
    fields[4] = sc_word(&words_model_finding_severity, it->severity);
    fields[5] = sc_word(&words_model_confidence, it->confidence);
    return make_line(self, CG_LIT("finding"), fields, 6);
}

/* Sorted; with `is_counted` equal lines become one with their number as a last field. */
static void close_block(lines *self, size_t block, cg_str *at, size_t count, bool is_counted)
{
    sc_strs all = {at, count};
    cg_str *counted;
    size_t kept = 0;

    if (self->failed || count == 0)
        return;
    if (!is_counted) {
        self->failed = !texts_unique(&self->mem, &all);
        self->blocks[block] = all;
        return;
    }
    counted = arena_take(&self->mem, count * sizeof *counted);
    if (counted == NULL || !texts_sorted(&self->mem, &all)) {
        self->failed = true;
        return;
    }
    for (size_t i = 0; i < count;) {
        size_t end = i + 1;

        while (end < count && str_equal(all.at[end], all.at[i]))
            end++;
        if (!arena_format(&self->mem, &counted[kept++], "%.*s\t%zu", (int)all.at[i].len,
                          all.at[i].ptr, end - i))
            self->failed = true;
        i = end;
    }
    self->blocks[block] = (sc_strs){counted, kept};
}

static cg_str *room_for(lines *self, size_t count)
{
    cg_str *at = arena_take(&self->mem, (count + 1) * sizeof *at);

    if (at == NULL)
        self->failed = true;
    return at;
}

static void list_components(lines *self, const model_doc *doc, enum baseline_kind kind)
{
    cg_str *at = room_for(self, doc->components.count);

    for (size_t i = 0; !self->failed && i < doc->components.count; i++) {
        const model_component *it = MODEL_AT(doc->components, model_component, i);
        cg_str fields[] = {it->qualified_name, it->id};

        at[i] = make_line(self, CG_LIT("component"), fields, forms[kind][OF_COMPONENTS].fields);
    }
    close_block(self, OF_COMPONENTS, at, doc->components.count, false);
}

static void list_parameters(lines *self, const model_doc *doc, enum baseline_kind kind)
{
    cg_str *at = room_for(self, doc->parameters.count);
    text_index components = {0};

    if (!index_build(&components, self->heap, &doc->components, sizeof(model_component),
                     offsetof(model_component, id)))
        self->failed = true;
    for (size_t i = 0; !self->failed && i < doc->parameters.count; i++)
        at[i] = parameter_line(self, doc, &components, kind,
                               MODEL_AT(doc->parameters, model_parameter, i));
    index_free(&components);
    close_block(self, OF_PARAMETERS, at, doc->parameters.count, false);
}

static void list_entrypoints(lines *self, const model_doc *doc)
{
    cg_str *at = room_for(self, doc->functions.count);
    size_t count = 0;

    for (size_t i = 0; !self->failed && i < doc->functions.count; i++) {
        const model_function *it = MODEL_AT(doc->functions, model_function, i);

        if (it->is_entrypoint)
            at[count++] = make_line(self, CG_LIT("entrypoint"), &it->qualified_name, 1);
    }
    close_block(self, OF_ENTRYPOINTS, at, count, false);
}

static void list_findings(lines *self, const model_doc *doc, enum baseline_kind kind)
{
    cg_str *at = room_for(self, doc->findings.count);

    for (size_t i = 0; !self->failed && i < doc->findings.count; i++)
        at[i] = finding_line(self, kind, MODEL_AT(doc->findings, model_finding, i));
    close_block(self, OF_FINDINGS, at, doc->findings.count, kind != BASELINE_FINGERPRINT);
}

static bool list_all(lines *self, heap *from, const model_doc *doc, enum baseline_kind kind)
{
    *self = (lines){.heap = from};
    arena_init(&self->mem, from);
    if (kind != BASELINE_FINDINGS) {
        list_components(self, doc, kind);
        list_parameters(self, doc, kind);
        list_entrypoints(self, doc);
    }
    list_findings(self, doc, kind);
    return !self->failed;
}

cg_code baseline_write(heap *from, const model_doc *doc, enum baseline_kind kind, buf *out,
                       cg_err *reterr)
{
    lines all;
    bool is_listed = list_all(&all, from, doc, kind);

    buf_add(out, heads[kind]);
    buf_byte(out, '\n');
    for (size_t block = 0; is_listed && block < BLOCKS; block++) {
        for (size_t i = 0; i < all.blocks[block].count; i++) {
            buf_add(out, all.blocks[block].at[i]);
            buf_byte(out, '\n');
        }
    }
    arena_free(&all.mem);
    return is_listed && !out->failed ? CG_OK : err_nomem(reterr);
}

/* --- lines of a file --- */

static cg_str next_line(cg_str *rest)
{
    const char *end = rest->len > 0 ? memchr(rest->ptr, '\n', rest->len) : NULL;
    size_t len = end == NULL ? rest->len : (size_t)(end - rest->ptr);
    cg_str line = {rest->ptr, len};

    rest->ptr += end == NULL ? len : len + 1;
    rest->len -= end == NULL ? len : len + 1;
    return without_end(line);
}

cg_code baseline_kind_of(cg_str text, enum baseline_kind *ret, cg_err *reterr)
{
    cg_str line = next_line(&text);

    for (unsigned kind = 0; kind < KINDS; kind++) {
        if (str_equal(line, heads[kind])) {
            *ret = (enum baseline_kind)kind;
            return CG_OK;
        }
    }
    return cg_fail(reterr, PROBLEM_BASELINE,
                   "the first line is `%.*s`, expected `" FINGERPRINT_HEAD "`, `" READABLE_HEAD
                   "` or `" FINDINGS_HEAD "`",
                   ERR_STR(line));
}

static size_t block_of(enum baseline_kind kind, cg_str line)
{
    size_t block = 0;

    for (; block < BLOCKS; block++) {
        cg_str word = forms[kind][block].word;

        if (forms[kind][block].fields > 0 && str_starts_with(line, word) &&
            (line.len == word.len || line.ptr[word.len] == '\t'))
            break;
    }
    return block;
}

static cg_code sort_line(enum baseline_kind kind, cg_str line, uint64_t number, size_t *ret_block,
                         cg_err *reterr)
{
    *ret_block = block_of(kind, line);
    if (*ret_block < BLOCKS)
        return CG_OK;
    (void)cg_fail(reterr, PROBLEM_BASELINE, "`%.*s` is no record of a baseline", ERR_STR(line));
    err_at_line(reterr, number, 0);
    return CG_INPUT;
}

/* Two passes over the text: count, then take the lines of each block. */
static cg_code take_lines(enum baseline_kind kind, cg_str text, size_t counts[BLOCKS],
                          cg_str *at[BLOCKS], cg_err *reterr)
{
    uint64_t number = 1;

    memset(counts, 0, BLOCKS * sizeof *counts);
    (void)next_line(&text);
    while (text.len > 0) {
        cg_str line = next_line(&text);
        size_t block;

        number++;
        if (line.len == 0)
            continue;
        CG_TRY(sort_line(kind, line, number, &block, reterr));
        if (at != NULL)
            at[block][counts[block]] = line;
        counts[block]++;
    }
    return CG_OK;
}

static cg_code read_lines(lines *self, heap *from, enum baseline_kind kind, cg_str text,
                          cg_err *reterr)
{
    size_t counts[BLOCKS];
    cg_str *at[BLOCKS];

    *self = (lines){.heap = from};
    arena_init(&self->mem, from);
    CG_TRY(take_lines(kind, text, counts, NULL, reterr));
    for (size_t i = 0; i < BLOCKS; i++) {
        at[i] = room_for(self, counts[i]);
        if (at[i] == NULL)
            return err_nomem(reterr);
    }
    CG_TRY(take_lines(kind, text, counts, at, reterr));
    for (size_t i = 0; i < BLOCKS; i++)
        close_block(self, i, at[i], counts[i], false);
    return self->failed ? err_nomem(reterr) : CG_OK;
}

/* --- comparison --- */

typedef struct fields {
    cg_str at[FIELDS];
} fields;

/* Fields of a line behind its word; missing ones are empty. Texts stay escaped. */
static fields split(cg_str line)
{
    fields found = {0};
    size_t count = 0;
    size_t start = line.len;

    for (size_t i = 0; i < FIELDS; i++)
        found.at[i] = CG_LIT("");
    for (size_t i = 0; i < line.len; i++) {
        if (line.ptr[i] == '\t') {
            start = i + 1;
            break;
        }
    }
    for (size_t i = start; i <= line.len && start < line.len + 1 && count < FIELDS; i++) {
        if (i < line.len && line.ptr[i] != '\t')
            continue;
        found.at[count++] = (cg_str){line.ptr + start, i - start};
        start = i + 1;
    }
    return found;
}

static int compare_keys(const block_form *form, const fields *a, const fields *b)
{
    int order = 0;

    for (size_t i = 0; order == 0 && i < form->keys; i++)
        order = str_compare(a->at[i], b->at[i]);
    return order;
}

static void name_record(const block_form *form, const fields *record, buf *out)
{
    buf_add(out, form->word);
    for (size_t i = 0; i < form->keys; i++) {
        if (record->at[i].len > 0) {
            buf_byte(out, ' ');
            esc_tty(out, record->at[i]);
        }
    }
}

static void tell(const block_form *form, const fields *record, const char *what, buf *out)
{
    name_record(form, record, out);
    buf_addf(out, ": %s\n", what);
}

static void tell_changes(const block_form *form, const fields *was, const fields *is, buf *out)
{
    const char *between = ": ";

    for (size_t i = form->keys; i < form->fields; i++) {
        if (str_equal(was->at[i], is->at[i]))
            continue;
        if (between[0] == ':')
            name_record(form, is, out);
        buf_addf(out, "%s%s was `", between, form->details[i - form->keys]);
        esc_tty(out, was->at[i]);
        buf_add(out, CG_LIT("`, is `"));
        esc_tty(out, is->at[i]);
        buf_byte(out, '`');
        between = "; ";
    }
    if (between[0] == ';')
        buf_byte(out, '\n');
}

/* Both blocks are in the order of their lines, and so of their keys. */
static void compare_readable(const block_form *form, sc_strs was, sc_strs is, buf *out)
{
    size_t a = 0;
    size_t b = 0;

    while (a < was.count || b < is.count) {
        fields x = a < was.count ? split(was.at[a]) : (fields){0};
        fields y = b < is.count ? split(is.at[b]) : (fields){0};
        int order = a == was.count ? 1 : b == is.count ? -1 : compare_keys(form, &x, &y);

        if (order < 0)
            tell(form, &x, "gone", out);
        else if (order > 0)
            tell(form, &y, "new", out);
        else
            tell_changes(form, &x, &y, out);
        a += order <= 0;
        b += order >= 0;
    }
}

/* The lines of one list that the other lacks, with a sign before them. */
static void list_missing(sc_strs of, sc_strs in, const char *sign, buf *out)
{
    size_t at = 0;

    for (size_t i = 0; i < of.count; i++) {
        while (at < in.count && str_compare(in.at[at], of.at[i]) < 0)
            at++;
        if (at < in.count && str_equal(in.at[at], of.at[i]))
            continue;
        buf_addf(out, "%s ", sign);
        esc_tty(out, of.at[i]);
        buf_byte(out, '\n');
    }
}

static void compare_all(enum baseline_kind kind, const lines *was, const lines *is, buf *out)
{
    for (size_t i = 0; kind != BASELINE_FINGERPRINT && i < BLOCKS; i++)
        compare_readable(&forms[kind][i], was->blocks[i], is->blocks[i], out);
    for (size_t i = 0; kind == BASELINE_FINGERPRINT && i < BLOCKS; i++)
        list_missing(was->blocks[i], is->blocks[i], "-", out);
    for (size_t i = 0; kind == BASELINE_FINGERPRINT && i < BLOCKS; i++)
        list_missing(is->blocks[i], was->blocks[i], "+", out);
}

cg_code baseline_compare(heap *from, cg_str text, const model_doc *doc, bool *ret_is_equal,
                         buf *out, cg_err *reterr)
{
    enum baseline_kind kind = BASELINE_FINGERPRINT;
    size_t before = out->len;
    lines was;
    lines is;
    cg_code code;

    CG_TRY(baseline_kind_of(text, &kind, reterr));
    code = read_lines(&was, from, kind, text, reterr);
    if (code == CG_OK) {
        if (list_all(&is, from, doc, kind))
            compare_all(kind, &was, &is, out);
        else
            code = err_nomem(reterr);
        arena_free(&is.mem);
    }
    arena_free(&was.mem);
    if (code == CG_OK && out->failed)
        code = err_nomem(reterr);
    if (code == CG_OK)
        *ret_is_equal = out->len == before;
    return code;
}

/* --- findings that are known --- */

typedef struct known_work {
    lines lines;
    const cg_str *texts; /* by finding, without a number */
    uint32_t *order;     /* findings by text */
    bool *is_known;      /* by finding */
    size_t count, known, gone;
} known_work;

static bool is_text_before(const void *context, uint32_t a, uint32_t b)
{
    const cg_str *texts = context;
    int order = str_compare(texts[a], texts[b]);

    return order != 0 ? order < 0 : a < b;
}

static bool list_texts(known_work *self, const model_doc *doc)
{
    cg_str *texts = room_for(&self->lines, doc->findings.count);
    uint32_t *spare;

    self->count = doc->findings.count;
    self->order = arena_take(&self->lines.mem, (2 * self->count + 1) * sizeof *self->order);
    self->is_known = arena_zero(&self->lines.mem, self->count + 1);
    if (texts == NULL || self->order == NULL || self->is_known == NULL)
        return false;
    for (size_t i = 0; i < self->count; i++) {
        texts[i] = finding_line(&self->lines, BASELINE_FINDINGS,
                                MODEL_AT(doc->findings, model_finding, i));
        self->order[i] = (uint32_t)i;
    }
    self->texts = texts;
    spare = self->order + self->count;
    if (!self->lines.failed)
        sort_with(self->order, spare, self->count, is_text_before, texts);
    return !self->lines.failed;
}

/* A line of the file: the finding, and how often it is known; a line without a number counts 1. */
static cg_str split_number(cg_str line, uint64_t *ret_number)
{
    size_t end = line.len;
    uint64_t number = 0;

    *ret_number = 1;
    while (end > 0 && line.ptr[end - 1] != '\t')
        end--;
    if (end == 0 || !num_read_u64((cg_str){line.ptr + end, line.len - end}, &number))
        return line;
    *ret_number = number;
    return without_end((cg_str){line.ptr, end - 1});
}

static void mark_known(known_work *self, cg_str line)
{
    uint64_t number;
    cg_str text = split_number(line, &number);
    size_t low = 0;
    size_t high = self->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (str_compare(self->texts[self->order[middle]], text) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; number > 0 && low < self->count && str_equal(self->texts[self->order[low]], text);
         low++) {
        if (!self->is_known[self->order[low]]) {
            self->is_known[self->order[low]] = true;
            self->known++;
            number--;
        }
    }
    self->gone += number < SIZE_MAX - self->gone ? (size_t)number : SIZE_MAX - self->gone;
}

static cg_code take_known(known_work *self, heap *from, cg_str text, model_document *document,
                          cg_err *reterr)
{
    sc_records *findings = &document->doc.findings;
    model_finding *kept;
    size_t count = 0;

    CG_TRY(read_lines(&self->lines, from, BASELINE_FINDINGS, text, reterr));
    if (!list_texts(self, &document->doc))
        return err_nomem(reterr);
    for (size_t i = 0; i < self->lines.blocks[OF_FINDINGS].count; i++)
        mark_known(self, self->lines.blocks[OF_FINDINGS].at[i]);
    if (self->known == 0)
        return CG_OK;
    kept = arena_take(&document->mem, (findings->count + 1) * sizeof *kept);
    if (kept == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < findings->count; i++) {
        if (!self->is_known[i])
            kept[count++] = *MODEL_AT(*findings, model_finding, i);
    }
    *findings = (sc_records){kept, count};
    return model_normalise(document, reterr);
}

cg_code baseline_take_known(heap *from, cg_str text, model_document *document, size_t *ret_known,
                            size_t *ret_gone, cg_err *reterr)
{
    enum baseline_kind kind = BASELINE_FINGERPRINT;
    known_work self = {0};
    cg_code code = baseline_kind_of(text, &kind, reterr);

    if (code == CG_OK && kind != BASELINE_FINDINGS)
        code =
            cg_fail(reterr, PROBLEM_BASELINE, "this is a baseline of the model, not of findings");
    if (code != CG_OK)
        return code;
    code = take_known(&self, from, text, document, reterr);
    arena_free(&self.lines.mem);
    if (code != CG_OK)
        return code;
    *ret_known = self.known;
    *ret_gone = self.gone;
    return CG_OK;
}
