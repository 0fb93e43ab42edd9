#include "model/walk.h"

ast_ref walk_skip(const ast *tree, ast_ref top, ast_ref at)
{
    while (at != top && !ast_at(tree, at)->next)
        at = ast_at(tree, at)->parent;
    return at == top ? 0 : ast_at(tree, at)->next;
}

ast_ref walk_next(const ast *tree, ast_ref top, ast_ref at)
{
    return ast_at(tree, at)->first ? ast_at(tree, at)->first : walk_skip(tree, top, at);
}

ast_ref walk_call_at(const ast *tree, ast_ref top, model_place place)
{
    for (ast_ref at = top; at;) {
        const ast_node *node = ast_at(tree, at);

        if (node->kind == AST_CALL_EXPRESSION && node->start == place.start &&
            node->end == place.end)
            return at;
        at = node->start <= place.start && node->end >= place.end ? walk_next(tree, top, at)
                                                                  : walk_skip(tree, top, at);
    }
    return 0;
}

ast_ref walk_body(const program *code_of, item_ref function)
{
    const program_item *item = &code_of->items.at[function];

    return function ? ast_child(program_tree(code_of, item->file), item->node, ROLE_BODY) : 0;
}

/* The function of a call, without its type arguments. */
static ast_ref callee_of(const ast *tree, ast_ref call)
{
    ast_ref callee =
        ast_kind_of(tree, call) == AST_CALL_EXPRESSION ? ast_child(tree, call, ROLE_FUNCTION) : 0;

    while (callee && ast_kind_of(tree, callee) == AST_GENERIC_FUNCTION)
        callee = ast_child(tree, callee, ROLE_FUNCTION);
    return callee;
}

ast_ref walk_called(const ast *tree, ast_ref call)
{
    ast_ref callee = callee_of(tree, call);

    switch (ast_kind_of(tree, callee)) {
    case AST_FIELD_EXPRESSION: return ast_child(tree, callee, ROLE_FIELD);
    case AST_SCOPED_IDENTIFIER: return ast_child(tree, callee, ROLE_NAME);
    case AST_IDENTIFIER: return callee;
    default: return 0;
    }
}

ast_ref walk_receiver(const ast *tree, ast_ref call)
{
    ast_ref callee = callee_of(tree, call);

    return ast_kind_of(tree, callee) == AST_FIELD_EXPRESSION ? ast_child(tree, callee, ROLE_VALUE)
                                                             : 0;
}

ast_ref walk_argument(const ast *tree, ast_ref call, size_t index)
{
    ast_ref list = ast_child(tree, call, ROLE_ARGUMENTS);

    for (ast_ref at = list ? ast_at(tree, list)->first : 0; at; at = ast_at(tree, at)->next) {
        if (ast_kind_of(tree, at) == AST_ATTRIBUTE_ITEM)
            continue;
        if (index-- == 0)
            return at;
    }
    return 0;
}

ast_ref walk_bare(const program *code_of, const ast *tree, ast_ref at)
{
    static const char *const transparent[] = {"clone",  "as_ref", "as_mut",   "unwrap",
                                              "expect", "into",   "to_owned", "borrow"};
    bool is_moving = true;

    while (at && is_moving) {
        ast_ref inner = 0;
        ast_ref name = walk_called(tree, at);
        ast_ref receiver = name ? walk_receiver(tree, at) : 0;

        switch (ast_kind_of(tree, at)) {
        case AST_REFERENCE_EXPRESSION:
        case AST_TRY_EXPRESSION:
        case AST_AWAIT_EXPRESSION: inner = ast_child(tree, at, ROLE_VALUE); break;
        case AST_UNSAFE_BLOCK: inner = ast_child(tree, at, ROLE_BODY); break;
        case AST_BLOCK: inner = ast_child(tree, at, ROLE_VALUE); break;
        default: break;
        }
        for (size_t i = 0; receiver && i < sizeof transparent / sizeof *transparent; i++) {
            if (str_equal(program_text(code_of, ast_at(tree, name)->text),
                          str_from(transparent[i])))
                inner = receiver;
        }
        is_moving = inner != 0;
        at = inner ? inner : at;
    }
    return at;
}

bool walk_is_test(const program *code_of, item_ref function)
{
    const program_item *item = &code_of->items.at[function];

    for (size_t i = 0; i < item->cfg_predicates.count; i++) {
        if (str_equal(item->cfg_predicates.at[i], CG_LIT("test")))
            return true;
    }
    for (module_ref at = item->module; at; at = code_of->modules.at[at].parent) {
        cg_str name = code_of->modules.at[at].name
                          ? program_text(code_of, code_of->modules.at[at].name)
                          : (cg_str){0};

        if (name.ptr && (str_equal(name, CG_LIT("test")) || str_equal(name, CG_LIT("tests"))))
            return true;
    }
    /* `#[test]`, `#[tokio::test]`: attributes stand before the item. */
    const ast *tree = program_tree(code_of, item->file);

    for (ast_ref at = ast_before(tree, item->node);
         at && ast_kind_of(tree, at) == AST_ATTRIBUTE_ITEM; at = ast_before(tree, at)) {
        cg_str text = ast_text(tree, at);

        if (str_ends_with(text, CG_LIT("[test]")) || str_ends_with(text, CG_LIT("::test]")))
            return true;
    }
    return false;
}
