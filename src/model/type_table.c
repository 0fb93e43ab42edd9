#include "model/type_table.h"

bool type_table_init(types *self, program *over)
{
    model_type *none;
    type_ref *earlier;

    *self = (types){.program = over, .heap = over->heap, .seen_items = 1};
    arena_init(&self->mem, over->heap);
    number_map_init(&self->by_hash, over->heap);
    number_map_init(&self->self_types, over->heap);
    number_map_init(&self->first_for, over->heap);
    number_map_init(&self->last_for, over->heap);
    number_map_init(&self->first_of, over->heap);
    number_map_init(&self->last_of, over->heap);
    number_map_init(&self->opened, over->heap);
    number_map_init(&self->lists, over->heap);
    number_map_init(&self->methods, over->heap);
    none = vec_add(self->heap, &self->all);
    earlier = vec_add(self->heap, &self->chain);
    if (none == NULL || earlier == NULL || vec_add(self->heap, &self->impls) == NULL)
        return false;
    *none = (model_type){.kind = TYPE_UNKNOWN};
    *earlier = 0;
    self->impls.at[0] = (impl_entry){0};
    return true;
}

void type_table_free(types *self)
{
    vec_free(self->heap, &self->all);
    vec_free(self->heap, &self->chain);
    vec_free(self->heap, &self->impls);
    vec_free(self->heap, &self->listed);
    number_map_free(&self->by_hash);
    number_map_free(&self->self_types);
    number_map_free(&self->first_for);
    number_map_free(&self->last_for);
    number_map_free(&self->first_of);
    number_map_free(&self->last_of);
    number_map_free(&self->opened);
    number_map_free(&self->lists);
    number_map_free(&self->methods);
    vec_free(self->heap, &self->remembered);
    arena_free(&self->mem);
}

size_t type_parameters(const types *self, item_ref ref, sym ret[TYPE_ARGS])
{
    const program_item *item = &self->program->items.at[ref];
    const ast *tree = program_tree(self->program, item->file);
    ast_ref list = ast_child(tree, item->node, ROLE_TYPE_PARAMETERS);
    size_t count = 0;

    for (ast_ref at = list != 0 ? ast_at(tree, list)->first : 0; at != 0 && count < TYPE_ARGS;
         at = ast_at(tree, at)->next) {
        uint8_t kind = ast_kind_of(tree, at);
        ast_ref label = ast_child(tree, at, ROLE_NAME);

        if ((kind == AST_TYPE_PARAMETER || kind == AST_CONST_PARAMETER) && label != 0)
            ret[count++] = ast_at(tree, label)->text;
    }
    return count;
}

static uint64_t hash_of(const model_type *shape)
{
    uint64_t hash = (uint64_t)shape->kind << 56 | (uint64_t)shape->item << 24 | shape->arg_count;

    hash = (hash ^ shape->name) * UINT64_C(0xd6e8feb86659fd93);
    for (unsigned i = 0; i < shape->arg_count; i++)
        hash = ((hash ^ (hash >> 32)) + shape->args[i] + 1) * UINT64_C(0xd6e8feb86659fd93);
    hash ^= hash >> 32;
    return hash != 0 ? hash : 1;
}

static bool is_same(const model_type *a, const model_type *b)
{
    if (a->kind != b->kind || a->item != b->item || a->name != b->name ||
        a->arg_count != b->arg_count)
        return false;
    return a->arg_count == 0 || memcmp(a->args, b->args, a->arg_count * sizeof a->args[0]) == 0;
}

cg_code type_make(types *self, const model_type *shape, type_ref *ret, cg_err *reterr)
{
    uint32_t *last = number_map_put(&self->by_hash, hash_of(shape), 0);
    model_type made = *shape;
    model_type *place;
    type_ref *earlier;

    if (last == NULL)
        return err_nomem(reterr);
    for (type_ref at = *last; at != 0; at = self->chain.at[at]) {
        if (is_same(&self->all.at[at], shape)) {
            *ret = at;
            return CG_OK;
        }
    }
    if (made.arg_count > 0) {
        type_ref *args = arena_take(&self->mem, made.arg_count * sizeof *args);

        if (args == NULL)
            return err_nomem(reterr);
        memcpy(args, shape->args, made.arg_count * sizeof *args);
        made.args = args;
    }
    place = vec_add(self->heap, &self->all);
    earlier = vec_add(self->heap, &self->chain);
    if (place == NULL || earlier == NULL)
        return err_nomem(reterr);
    *place = made;
    *earlier = *last;
    *last = (type_ref)(self->all.count - 1);
    *ret = *last;
    return CG_OK;
}
