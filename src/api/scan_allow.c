/*
 * What the project allowed: comments in its sources, levels in candle-graph.toml beside its
 * manifest, or in [package.metadata.candle-graph].
 *
 * The file or the table has `NAME = "allow"` (information, warning, error), directly or below
 * `levels`:
 *
 *   [levels]
 *   builder-unused = "allow"
 *   gradient-cut = "error"
 */
#include "api/scan.h"
#include "model/findings_out.h"

#include <string.h>

#define LEVELS_FILE "candle-graph.toml"

typedef struct allowing {
    cg_scan *scan;
    arena *mem; /* of the document: findings about unused ones keep texts */
    heap *heap;
    enum scan_origin origin;
    VEC(suppress_comment) comments;
    VEC(suppress_level) levels;
    cg_err *reterr;
} allowing;

enum scan_origin scan_origin_of(cg_str rule)
{
    static const struct {
        cg_str word;
        enum scan_origin origin;
    } origins[] = {{{"checkpoint", 10}, ORIGIN_CHECKPOINT}, {{"runtime", 7}, ORIGIN_RUNTIME}};

    for (size_t i = 0; i < sizeof origins / sizeof origins[0]; i++) {
        cg_str word = origins[i].word;

        if (str_starts_with(rule, word) && (rule.len == word.len || rule.ptr[word.len] == '-'))
            return origins[i].origin;
    }
    return ORIGIN_SOURCE;
}

/* Does the word name rules of this origin? Then it is nothing for the others. */
static bool is_ours(const allowing *self, cg_str word)
{
    return scan_origin_of(str_trim(word)) == self->origin;
}

/* --- comments --- */

/* The comment on this line of the text: where it is, and whether code stands before it. */
static void locate(const rust_source *source, uint32_t line, suppress_comment *ret)
{
    cg_str text = source->text;
    size_t start = 0;
    size_t end;
    size_t at;

    for (uint32_t i = 1; i < line; i++) {
        size_t next = str_find((cg_str){text.ptr + start, text.len - start}, CG_LIT("\n"));

        if (next == SIZE_MAX)
            return;
        start += next + 1;
    }
    end = str_find((cg_str){text.ptr + start, text.len - start}, CG_LIT("\n"));
    end = end == SIZE_MAX ? text.len : start + end;
    at = str_find((cg_str){text.ptr + start, end - start}, CG_LIT("candle-graph:"));
    at = at == SIZE_MAX ? end : start + at;
    while (at > start && text.ptr[at] != '/')
        at--;
    at -= at > start; /* the first of two slashes */
    ret->is_trailing = str_trim((cg_str){text.ptr + start, at - start}).len > 0;
    ret->column = source_place(source, (uint32_t)at).column;
    ret->byte_start = at;
    ret->byte_end = end;
}

static cg_code add_comment(allowing *self, const rust_source *source, uint32_t line, cg_str code)
{
    cg_str file = source->path;
    suppress_comment *added;

    if (!is_ours(self, code))
        return CG_OK;
    added = vec_add(self->heap, &self->comments);
    if (added == NULL || !arena_text(self->mem, file, &added->file) ||
        !arena_text(self->mem, str_trim(code), &added->code))
        return err_nomem(self->reterr);
    added->line = line;
    locate(source, line, added);
    return CG_OK;
}

/* `allow(code, code) reason`; anything else is no suppression. */
static cg_code read_remark(allowing *self, const rust_source *file, const ast_remark *remark)
{
    const cg_str word = CG_LIT("allow");
    cg_str rest;
    size_t end;
    size_t start = 0;

    if (!str_starts_with(remark->text, word))
        return CG_OK;
    rest = str_trim((cg_str){remark->text.ptr + word.len, remark->text.len - word.len});
    end = str_find(rest, CG_LIT(")"));
    if (rest.len == 0 || rest.ptr[0] != '(' || end == SIZE_MAX)
        return CG_OK;
    rest = (cg_str){rest.ptr + 1, end - 1};
    for (size_t at = 0; at <= rest.len; at++) {
        if (at < rest.len && rest.ptr[at] != ',')
            continue;
        if (at > start)
            CG_TRY(add_comment(self, file, remark->line, (cg_str){rest.ptr + start, at - start}));
        start = at + 1;
    }
    return CG_OK;
}

static cg_code read_comments(allowing *self)
{
    const program *code_of = scan_program(self->scan->of);

    for (size_t i = 1; i < code_of->files.count; i++) {
        const program_file *file = code_of->files.at[i];

        if (file->crate == 0 || !code_of->crates.at[file->crate].is_scanned)
            continue;
        for (size_t k = 0; k < file->tree.remarks.count; k++)
            CG_TRY(read_remark(self, &file->source, &file->tree.remarks.at[k]));
    }
    return CG_OK;
}

/* --- levels --- */

static cg_code add_level(allowing *self, const toml_document *from, uint32_t node, cg_str file)
{
    const toml_node *at = &from->nodes.at[node];
    int word = suppress_word_of(toml_text(from, node));
    suppress_level *added;

    if (word < 0) {
        cg_fail(self->reterr, PROBLEM_LEVEL,
                "the level of `%.*s` is allow, information, warning or error", ERR_STR(at->key));
        err_in_file(self->reterr, file);
        err_at_line(self->reterr, at->line, 0);
        return CG_INPUT;
    }
    if (!is_ours(self, at->key))
        return CG_OK;
    added = vec_add(self->heap, &self->levels);
    if (added == NULL || !arena_text(self->mem, at->key, &added->code) ||
        !arena_format(self->mem, &added->source, "%.*s:%u", (int)file.len, file.ptr,
                      (unsigned)at->line))
        return err_nomem(self->reterr);
    added->word = (uint8_t)word;
    return CG_OK;
}

static cg_code read_levels(allowing *self, const toml_document *from, uint32_t table, cg_str file)
{
    if (!toml_is(from, table, TOML_TABLE))
        return CG_OK;
    for (uint32_t i = from->nodes.at[table].first; i != TOML_NONE; i = from->nodes.at[i].next) {
        const toml_node *node = &from->nodes.at[i];

        if (node->kind == TOML_STRING) {
            CG_TRY(add_level(self, from, i, file));
            continue;
        }
        if (node->kind != TOML_TABLE || !str_equal(node->key, CG_LIT("levels")))
            continue;
        for (uint32_t k = node->first; k != TOML_NONE; k = from->nodes.at[k].next)
            CG_TRY(add_level(self, from, k, file));
    }
    return CG_OK;
}

static cg_code read_levels_file(allowing *self, cg_str folder, cg_str path, bool *ret_is_there)
{
    toml_document *document = NULL;
    enum os_kind kind;
    buf text;
    cg_code code;

    /* A file that is not there is no fault; that it cannot be looked for is one of the folder. */
    if (os_kind_of(self->scan->env, path, true, &kind, NULL) != CG_OK) {
        code =
            cg_fail(self->reterr, PROBLEM_INPUT_UNREADABLE, "cannot be searched for " LEVELS_FILE);
        err_in_file(self->reterr, folder);
        return code;
    }
    *ret_is_there = kind == OS_FILE;
    if (!*ret_is_there)
        return CG_OK;
    buf_init(&text, self->heap, TOML_BYTES);
    code = os_read_whole(self->scan->env, path, &text, self->reterr);
    if (code == CG_OK)
        code = toml_read(self->scan->env, self->heap, buf_text(&text), &document, self->reterr);
    if (code == CG_OK)
        code = read_levels(self, document, TOML_ROOT, CG_LIT(LEVELS_FILE));
    if (code != CG_OK)
        err_in_file(self->reterr, path);
    toml_free(document);
    buf_free(&text);
    return code;
}

static cg_code read_project(allowing *self)
{
    const cargo_graph *graph = scan_program(self->scan->of)->cargo;
    bool is_there = false;
    cg_str path;

    if (!arena_format(self->mem, &path, "%.*s/" LEVELS_FILE, (int)graph->scan_root.len,
                      graph->scan_root.ptr))
        return err_nomem(self->reterr);
    /* Those of the manifest first: the file, which is closer to the tool, has the last word. */
    if (graph->manifest != NULL && graph->metadata != TOML_NONE)
        CG_TRY(read_levels(self, graph->manifest, graph->metadata, CG_LIT("Cargo.toml")));
    return read_levels_file(self, graph->scan_root, path, &is_there);
}

cg_code scan_allow(cg_scan *self, enum scan_origin origin, cg_err *reterr)
{
    allowing work = {.scan = self,
                     .mem = &self->document->mem,
                     .heap = &self->heap,
                     .origin = origin,
                     .reterr = reterr};
    size_t gone = 0;
    cg_code code = read_comments(&work);

    if (code == CG_OK)
        code = read_project(&work);
    if (code == CG_OK && work.comments.count + work.levels.count > 0) {
        suppress_list list = {work.comments.at, work.comments.count, work.levels.at,
                              work.levels.count};

        code = suppress_apply(self->document, &list, &gone, reterr);
    }
    vec_free(work.heap, &work.comments);
    vec_free(work.heap, &work.levels);
    return code;
}
