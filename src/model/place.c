#include "model/place.h"

/* The call with exactly these bytes inside the function, 0: none. */
static ast_ref call_at(const ast *tree, ast_ref top, model_place place)
{
    ast_ref low = top, high = tree->parsed, found = 0;

    /* Nodes of a file lie in the order in which they begin. */
    while (low < high) {
        ast_ref middle = low + (high - low) / 2;

        if (ast_at(tree, middle)->start < place.start)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < tree->parsed && ast_at(tree, low)->start == place.start; low++) {
        const ast_node *node = ast_at(tree, low);

        if (node->end == place.end && node->kind == AST_CALL_EXPRESSION)
            found = low;
    }
    return found;
}

/* A method may stand lines below its receiver: what is called says the line. */
static uint32_t named_at(const program *code_of, model_place place)
{
    const program_item *function = &code_of->items.at[place.function];
    const ast *tree = program_tree(code_of, place.file);
    ast_ref call, callee, name;

    if (!place.function || function->file != place.file)
        return place.start;
    call = call_at(tree, function->node, place);
    callee = call ? ast_child(tree, call, ROLE_FUNCTION) : 0;
    if (callee && ast_kind_of(tree, callee) == AST_GENERIC_FUNCTION)
        callee = ast_child(tree, callee, ROLE_FUNCTION);
    if (!callee || ast_kind_of(tree, callee) != AST_FIELD_EXPRESSION)
        return place.start;
    name = ast_child(tree, callee, ROLE_FIELD);
    return name ? ast_at(tree, name)->start : place.start;
}

cg_str place_label(const program *code_of, model_place place, arena *mem)
{
    const rust_source *source = &code_of->files.at[place.file]->source;
    rust_place at = source_place(source, named_at(code_of, place));
    cg_str label = {0};

    if (!arena_format(mem, &label, "%.*s:%u", (int)source->path.len, source->path.ptr,
                      (unsigned)at.line))
        return (cg_str){0};
    return label;
}

const model_location *place_location(const program *code_of, model_place place, model_draft *draft)
{
    const rust_source *source = &code_of->files.at[place.file]->source;
    rust_place at = source_place(source, named_at(code_of, place));
    model_location *location = arena_zero(&draft->mem, sizeof *location);

    if (!location || !arena_text(&draft->mem, source->path, &location->file))
        return NULL;
    location->line = at.line;
    location->column = at.column;
    location->byte_start = place.start;
    location->byte_end = place.end;
    return location;
}
