/* The files a crate reads and writes, by the texts that name them: part of model/pipeline. */
#include "model/pipeline.h"

#include "model/ids.h"
#include "model/place.h"
#include "model/walk.h"

#define TEXT_MOST 256u

typedef struct bound {
    sym name;
    model_artifact *artifact;
} bound;

typedef struct collector {
    pipeline *all;
    const function_fact *fact;
    VEC(model_artifact *) artifacts;
    VEC(bound) locals; /* of the function */
} collector;

static cg_code nomem(collector *self)
{
    return err_nomem(self->all->reterr);
}

static const struct {
    cg_str suffix;
    uint8_t kind;
} suffixes[] = {
    {{".safetensors", 12}, MODEL_ARTIFACT_KIND_CHECKPOINT},
    {{".safetensor", 11}, MODEL_ARTIFACT_KIND_CHECKPOINT},
    {{".bin", 4}, MODEL_ARTIFACT_KIND_CHECKPOINT},
    {{".pt", 3}, MODEL_ARTIFACT_KIND_CHECKPOINT},
    {{".pth", 4}, MODEL_ARTIFACT_KIND_CHECKPOINT},
    {{".gguf", 5}, MODEL_ARTIFACT_KIND_CHECKPOINT},
    {{".parquet", 8}, MODEL_ARTIFACT_KIND_DATASET},
    {{".arrow", 6}, MODEL_ARTIFACT_KIND_DATASET},
    {{".json", 5}, MODEL_ARTIFACT_KIND_CONFIGURATION},
    {{".jsonl", 6}, MODEL_ARTIFACT_KIND_UNKNOWN},
};

static bool is_file(cg_str text, uint8_t *ret_kind)
{
    bool is_report = str_find(text, CG_LIT("eval")) != SIZE_MAX ||
                     str_find(text, CG_LIT("report")) != SIZE_MAX ||
                     str_find(text, CG_LIT("metric")) != SIZE_MAX;

    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        if (text.len <= suffixes[i].suffix.len || !str_ends_with(text, suffixes[i].suffix))
            continue;
        *ret_kind = suffixes[i].kind;
        if (is_report && *ret_kind != MODEL_ARTIFACT_KIND_CHECKPOINT &&
            *ret_kind != MODEL_ARTIFACT_KIND_DATASET)
            *ret_kind = MODEL_ARTIFACT_KIND_EVALUATION_REPORT;
        return true;
    }
    return false;
}

static cg_str file_below(const collector *self, const ast *tree, ast_ref top, uint8_t *ret_kind)
{
    for (ast_ref at = top; at; at = walk_next(tree, top, at)) {
        uint8_t kind = ast_kind_of(tree, at);
        cg_str text = kind == AST_STRING_LITERAL || kind == AST_RAW_STRING_LITERAL
                          ? program_text(self->all->program, ast_at(tree, at)->text)
                          : (cg_str){0};

        if (text.ptr && is_file(text, ret_kind))
            return text;
    }
    return (cg_str){0};
}

enum use { USE_NONE, USE_READS, USE_WRITES };

static enum use use_of(cg_str name)
{
    static const char *const writes[] = {"save", "write", "serialize_to_file", "create"};
    static const char *const reads[] = {"load",
                                        "read",
                                        "open",
                                        "mmap",
                                        "read_to_string",
                                        "from_mmaped_safetensors",
                                        "from_buffered_safetensors",
                                        "from_pth",
                                        "from_npz",
                                        "from_gguf",
                                        "load_buffer"};

    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++) {
        if (str_is(name, writes[i]))
            return USE_WRITES;
    }
    for (size_t i = 0; i < sizeof reads / sizeof *reads; i++) {
        if (str_is(name, reads[i]))
            return USE_READS;
    }
    return USE_NONE;
}

static cg_code artifact_for(collector *self, cg_str identity, cg_str text, cg_str name,
                            uint8_t kind, model_place place, cg_str callee, model_artifact **ret)
{
    arena *mem = &self->all->draft->mem;
    cg_str id, detail;
    model_artifact **slot;

    if (!id_make(mem, MODEL_ID_KIND_ARTIFACT, ID_PARTS(identity), &id))
        return nomem(self);
    for (size_t i = 0; i < self->artifacts.count; i++) {
        if (str_equal(self->artifacts.at[i]->id, id)) {
            *ret = self->artifacts.at[i];
            return CG_OK;
        }
    }
    *ret = draft_artifact(self->all->draft);
    slot = vec_add(self->all->draft->heap, &self->artifacts);
    if (!*ret || !slot)
        return nomem(self);
    *slot = *ret;
    (*ret)->id = id;
    (*ret)->name = name;
    (*ret)->kind = kind;
    (*ret)->path_expr = text;
    (*ret)->source = place_label(self->all->program, place, mem);
    if (!(*ret)->source.ptr ||
        !arena_format(mem, &detail, "path passed to `%.*s`", (int)callee.len, callee.ptr) ||
        !draft_evidence(self->all->draft, &(*ret)->evidence, MODEL_EVIDENCE_KIND_SOURCE,
                        MODEL_CONFIDENCE_HEURISTIC, (*ret)->source, detail))
        return nomem(self);
    return CG_OK;
}

static bool add_once(collector *self, sc_strs *list, cg_str text)
{
    for (size_t i = 0; i < list->count; i++) {
        if (str_equal(list->at[i], text))
            return true;
    }
    return draft_text(self->all->draft, list, text);
}

static cg_code link_stage(collector *self, model_artifact *artifact, enum use how)
{
    uint32_t index = (uint32_t)(self->fact - self->all->functions->all.at);
    uint32_t number = self->all->stage_of[index];
    model_stage *stage = number ? self->all->stages.at[number - 1] : NULL;
    bool is_good;

    if (!stage)
        return CG_OK;
    is_good = how == USE_WRITES ? add_once(self, &artifact->produced_by, stage->id) &&
                                      add_once(self, &stage->produces, artifact->id)
                                : add_once(self, &artifact->consumed_by, stage->id) &&
                                      add_once(self, &stage->consumes, artifact->id);
    return is_good ? CG_OK : nomem(self);
}

static model_artifact *local_named(const collector *self, sym name)
{
    for (size_t i = self->locals.count; i > 0; i--) {
        if (self->locals.at[i - 1].name == name)
            return self->locals.at[i - 1].artifact;
    }
    return NULL;
}

/* `let report = "eval.json"`, `path: "model.safetensors"`. */
static cg_code collect_binding(collector *self, const ast *tree, ast_ref at, bool is_field)
{
    file_ref file = self->all->program->items.at[self->fact->item].file;
    ast_ref name = ast_child(tree, at, is_field ? ROLE_FIELD : ROLE_PATTERN);
    ast_ref given = ast_child(tree, at, ROLE_VALUE);
    arena *mem = &self->all->draft->mem;
    cg_str literal, text, whole, label;
    uint8_t kind = 0;
    model_artifact *artifact;
    bound *local;

    if (!name || !given || (!is_field && ast_kind_of(tree, name) != AST_IDENTIFIER) ||
        ast_at(tree, given)->end - ast_at(tree, given)->start > TEXT_MOST)
        return CG_OK;
    /* The call that loads it says more than the variable it ends up in. */
    for (ast_ref inner = given; inner; inner = walk_next(tree, given, inner)) {
        ast_ref called = walk_called(tree, inner);

        if (called &&
            use_of(program_text(self->all->program, ast_at(tree, called)->text)) != USE_NONE)
            return CG_OK;
    }
    literal = file_below(self, tree, given, &kind);
    if (!literal.ptr)
        return CG_OK;
    label = program_text(self->all->program, ast_at(tree, name)->text);
    if (!ast_printed(tree, given, mem, &text) ||
        !arena_format(mem, &whole, "%.*s = %.*s", (int)label.len, label.ptr, (int)text.len,
                      text.ptr))
        return nomem(self);
    model_place place = {file, ast_at(tree, at)->start, ast_at(tree, at)->end, self->fact->item};

    CG_TRY(
        artifact_for(self, label, whole, literal, kind, place, CG_LIT("path_binding"), &artifact));
    local = vec_add(self->all->draft->heap, &self->locals);
    if (!local)
        return nomem(self);
    *local = (bound){ast_at(tree, name)->text, artifact};
    return CG_OK;
}

static cg_code collect_part(collector *self, const ast *tree, ast_ref part, cg_str callee,
                            enum use how)
{
    file_ref file = self->all->program->items.at[self->fact->item].file;
    ast_ref bare = walk_bare(self->all->program, tree, part);
    cg_str literal, text;
    uint8_t kind = 0;
    model_artifact *artifact = ast_kind_of(tree, bare) == AST_IDENTIFIER
                                   ? local_named(self, ast_at(tree, bare)->text)
                                   : NULL;

    if (artifact)
        return link_stage(self, artifact, how);
    if (ast_at(tree, part)->end - ast_at(tree, part)->start > TEXT_MOST)
        return CG_OK;
    literal = file_below(self, tree, part, &kind);
    if (!literal.ptr)
        return CG_OK;
    if (!ast_printed(tree, part, &self->all->draft->mem, &text))
        return nomem(self);
    model_place place = {file, ast_at(tree, part)->start, ast_at(tree, part)->end,
                         self->fact->item};

    CG_TRY(artifact_for(self, text, text, literal, kind, place, callee, &artifact));
    return link_stage(self, artifact, how);
}

static cg_code collect_call(collector *self, const ast *tree, ast_ref call)
{
    ast_ref name = walk_called(tree, call);
    ast_ref receiver = name ? walk_receiver(tree, call) : 0;
    cg_str callee = name ? program_text(self->all->program, ast_at(tree, name)->text) : (cg_str){0};
    enum use how = name ? use_of(callee) : USE_NONE;

    if (how == USE_NONE)
        return CG_OK;
    if (!receiver &&
        !ast_printed(tree, ast_child(tree, call, ROLE_FUNCTION), &self->all->draft->mem, &callee))
        return nomem(self);
    if (receiver)
        CG_TRY(collect_part(self, tree, receiver, callee, how));
    for (size_t i = 0; i < 8; i++) {
        ast_ref argument = walk_argument(tree, call, i);

        if (!argument)
            break;
        CG_TRY(collect_part(self, tree, argument, callee, how));
    }
    return CG_OK;
}

static cg_code collect(collector *self)
{
    const ast *tree =
        program_tree(self->all->program, self->all->program->items.at[self->fact->item].file);
    ast_ref body = walk_body(self->all->program, self->fact->item);

    self->locals.count = 0;
    for (ast_ref at = body; at; at = walk_next(tree, body, at)) {
        switch (ast_kind_of(tree, at)) {
        case AST_LET_DECLARATION: CG_TRY(collect_binding(self, tree, at, false)); break;
        case AST_FIELD_INITIALIZER: CG_TRY(collect_binding(self, tree, at, true)); break;
        case AST_CALL_EXPRESSION: CG_TRY(collect_call(self, tree, at)); break;
        default: break;
        }
    }
    return CG_OK;
}

/* Who consumes waits for who produces and comes before. */
static cg_code add_waits(collector *self)
{
    for (size_t i = 0; i < self->all->stages.count; i++) {
        model_stage *stage = self->all->stages.at[i];

        for (size_t j = 0; j < self->artifacts.count; j++) {
            const model_artifact *artifact = self->artifacts.at[j];
            bool is_read = false;

            /* The same file by another expression is the same file. */
            for (size_t k = 0; k < self->artifacts.count && !is_read; k++) {
                const model_artifact *other = self->artifacts.at[k];

                for (size_t l = 0; str_equal(other->name, artifact->name) &&
                                   l < other->consumed_by.count && !is_read;
                     l++)
                    is_read = str_equal(other->consumed_by.at[l], stage->id);
            }
            for (size_t k = 0; is_read && k < self->all->stages.count; k++) {
                const model_stage *before = self->all->stages.at[k];
                bool is_made = false;

                for (size_t l = 0; l < artifact->produced_by.count; l++)
                    is_made = is_made || str_equal(artifact->produced_by.at[l], before->id);
                if (is_made && before->order.is_set && stage->order.is_set &&
                    before->order.value < stage->order.value &&
                    !add_once(self, &stage->depends_on, before->id))
                    return nomem(self);
            }
        }
    }
    return CG_OK;
}

cg_code pipeline_artifacts(pipeline *self)
{
    collector all = {.all = self};
    cg_code code = CG_OK;

    for (size_t i = 0; code == CG_OK && i < self->functions->all.count; i++) {
        all.fact = &self->functions->all.at[i];
        if (!walk_is_test(self->program, all.fact->item))
            code = collect(&all);
    }
    if (code == CG_OK)
        code = add_waits(&all);
    vec_free(self->draft->heap, &all.artifacts);
    vec_free(self->draft->heap, &all.locals);
    return code;
}
