#include "rust/expand.h"

#include "rust/rules.h"

#define TEXT_FREE     ((uint64_t)1 << 20)
#define TEXT_PER_BYTE 64

/* Is there still room for a text of this length? Then it is taken. */
static bool take_room(ast *tree, size_t len)
{
    uint64_t room = TEXT_FREE + (uint64_t)tree->source->text.len * TEXT_PER_BYTE;

    if (len > room || tree->expanded_bytes > room - len)
        return false;
    tree->expanded_bytes += len;
    return true;
}

/* A new last child of `parent`, 0 when out of memory. */
static ast_ref add_child(ast *tree, ast_ref parent, uint8_t kind, ast_range place, ast_ref *last)
{
    ast_ref ref = (ast_ref)tree->nodes.count;
    ast_node *node;

    if (tree->nodes.count >= UINT32_MAX - 1)
        return 0;
    node = vec_add(tree->heap, &tree->nodes);
    if (node == NULL)
        return 0;
    *node = (ast_node){.start = place.start, .end = place.end, .parent = parent, .kind = kind};
    if (*last != 0)
        tree->nodes.at[*last].next = ref;
    else
        tree->nodes.at[parent].first = ref;
    *last = ref;
    return ref;
}

/* Forget the nodes from `count` on, all of them below `parent` behind `last`. */
static void drop_nodes(ast *tree, size_t count, ast_ref parent, ast_ref last)
{
    tree->nodes.count = count;
    if (last != 0)
        tree->nodes.at[last].next = 0;
    else
        tree->nodes.at[parent].first = 0;
}

static ast_ref last_child(const ast *tree, ast_ref parent)
{
    ast_ref last = 0;

    for (ast_ref at = ast_at(tree, parent)->first; at != 0; at = ast_at(tree, at)->next)
        last = at;
    return last;
}

/* --- arguments --- */

typedef struct argument_list {
    rust_parser *parser;
    ast *tree;
    intern *names;
    cg_str text;
    ast_range place; /* of the text, as rust_parse_piece has it */
    ast_ref node;
    ast_ref last;
} argument_list;

/* One expression, or nothing is added. */
static cg_code add_expression(argument_list *self, size_t start, size_t end, bool *ret_fits,
                              cg_err *reterr)
{
    cg_str text = {self->text.ptr + start, end - start};
    ast_range place = self->place;
    size_t count = self->tree->nodes.count;
    ast_ref before = self->last;
    ast_ref first;

    if (place.start == place.end)
        place.start = place.end = place.start + (uint32_t)start;
    CG_TRY(rust_parse_piece(self->parser, RUST_WRAP_LIST, text, place, self->names, self->tree,
                            self->node, &self->last, ret_fits, reterr));
    if (!*ret_fits)
        return CG_OK;
    first = before != 0 ? ast_at(self->tree, before)->next : ast_at(self->tree, self->node)->first;
    if (first != 0 && first == self->last)
        return CG_OK;
    drop_nodes(self->tree, count, self->node, before);
    self->last = before;
    *ret_fits = false;
    return CG_OK;
}

/* What of an argument is an expression, when not all: behind `name =` and one of `%` and `?`. */
static size_t behind_sigils(cg_str text, size_t start, size_t end)
{
    cg_str part = {text.ptr, end};
    size_t depth = 0;
    size_t at = start;
    rust_token token;

    while (token_next(part, &at, &token)) {
        if (token.kind == RUST_OPEN)
            depth++;
        else if (token.kind == RUST_CLOSE && depth > 0)
            depth--;
        else if (depth == 0 && token.mark == '=' && token_operator(part, token.start) == 1) {
            start = at;
            break;
        } else if (token.kind == RUST_MARK && token.is_joint) {
            at = token.start + token_operator(part, token.start);
        }
    }
    at = start;
    if (token_next(part, &at, &token) && (token.mark == '%' || token.mark == '?'))
        start = at;
    return start;
}

/* An argument of its own: the whole of it, part of it, or something that is no expression. */
static cg_code add_argument(argument_list *self, size_t start, size_t end, bool *has_any,
                            cg_err *reterr)
{
    ast_range place = self->place;
    bool fits = false;
    size_t inner;

    CG_TRY(add_expression(self, start, end, &fits, reterr));
    if (!fits) {
        inner = behind_sigils(self->text, start, end);
        if (inner != start)
            CG_TRY(add_expression(self, inner, end, &fits, reterr));
    }
    if (fits) {
        *has_any = true;
        return CG_OK;
    }
    if (place.start == place.end)
        place = (ast_range){place.start + (uint32_t)start, place.start + (uint32_t)end};
    return add_child(self->tree, self->node, AST_ERROR, place, &self->last) != 0
               ? CG_OK
               : err_nomem(reterr);
}

/* The tokens cut at commas. */
static cg_code add_arguments(argument_list *self, bool *ret_has_any, cg_err *reterr)
{
    rust_token token;
    size_t depth = 0;
    size_t start = SIZE_MAX;
    size_t end = 0;
    size_t at = 0;

    *ret_has_any = false;
    while (token_next(self->text, &at, &token)) {
        if (token.mark == ',' && depth == 0) {
            if (start != SIZE_MAX)
                CG_TRY(add_argument(self, start, end, ret_has_any, reterr));
            start = SIZE_MAX;
            continue;
        }
        if (token.kind == RUST_OPEN)
            depth++;
        else if (token.kind == RUST_CLOSE && depth > 0)
            depth--;
        if (start == SIZE_MAX)
            start = token.start;
        end = token.end;
    }
    if (start != SIZE_MAX)
        CG_TRY(add_argument(self, start, end, ret_has_any, reterr));
    return CG_OK;
}

cg_code expand_arguments(rust_parser *parser, ast *tree, intern *names, ast_ref invocation,
                         ast_ref *ret, cg_err *reterr)
{
    ast_ref tokens = ast_child_kind(tree, invocation, AST_TOKEN_TREE);
    argument_list list = {.parser = parser, .tree = tree, .names = names};
    size_t count = tree->nodes.count;
    ast_ref before;
    ast_node node;
    bool fits = false;

    *ret = tokens != 0 ? ast_child_kind(tree, tokens, AST_MACRO_ARGUMENTS) : 0;
    if (tokens == 0 || *ret != 0)
        return CG_OK;
    node = *ast_at(tree, tokens);
    list.text = ast_tokens(tree, tokens);
    if ((node.flags & (AST_OPAQUE | AST_BROKEN)) != 0 || !take_room(tree, list.text.len))
        return CG_OK;
    list.place = (ast_range){node.start, node.end};
    if (node.text == 0)
        list.place.start = list.place.end = node.start + 1;
    before = list.node = last_child(tree, tokens);
    list.node =
        add_child(tree, tokens, AST_MACRO_ARGUMENTS, (ast_range){node.start, node.end}, &list.node);
    if (list.node == 0)
        return err_nomem(reterr);
    CG_TRY(rust_parse_piece(parser, RUST_WRAP_LIST, list.text, list.place, names, tree, list.node,
                            &list.last, &fits, reterr));
    if (!fits)
        CG_TRY(add_arguments(&list, &fits, reterr));
    if (!fits) {
        drop_nodes(tree, count, tokens, before);
        tree->nodes.at[tokens].flags |= AST_OPAQUE;
        return CG_OK;
    }
    *ret = list.node;
    return CG_OK;
}

/* --- rules --- */

/* What the place of an invocation asks for. */
static enum rust_wrap wrap_of(const ast *tree, ast_ref invocation)
{
    for (ast_ref at = ast_at(tree, invocation)->parent; at != 0; at = ast_at(tree, at)->parent) {
        switch (ast_kind_of(tree, at)) {
        case AST_SOURCE_FILE: return RUST_WRAP_ITEMS;
        case AST_DECLARATION_LIST:
            return ast_kind_of(tree, ast_at(tree, at)->parent) == AST_MOD_ITEM ? RUST_WRAP_ITEMS
                                                                               : RUST_WRAP_MEMBERS;
        case AST_BLOCK: return RUST_WRAP_STATEMENTS;
        case AST_EXPRESSION_STATEMENT:
        case AST_MACRO_BODY:
        case AST_MACRO_INVOCATION:
        case AST_TOKEN_TREE: continue;
        default: return RUST_WRAP_LIST;
        }
    }
    return RUST_WRAP_ITEMS;
}

typedef struct expansion {
    rust_parser *parser;
    ast *tree;
    intern *names;
    ast_ref tokens; /* of the invocation */
    enum rust_wrap wrap;
} expansion;

/* The text as AST_MACRO_BODY, 0 when it is not what is wanted. */
static cg_code add_body(const expansion *self, enum rust_wrap wrap, cg_str text, ast_ref *ret,
                        cg_err *reterr)
{
    ast *tree = self->tree;
    size_t count = tree->nodes.count;
    ast_ref before = last_child(tree, self->tokens);
    ast_ref last_of_tokens = before;
    ast_node around = *ast_at(tree, ast_at(tree, self->tokens)->parent);
    ast_range place = {around.start, around.end};
    ast_ref body = add_child(tree, self->tokens, AST_MACRO_BODY, place, &last_of_tokens);
    ast_ref last = 0;
    bool fits;

    *ret = 0;
    if (body == 0)
        return err_nomem(reterr);
    CG_TRY(rust_parse_piece(self->parser, wrap, text, place, self->names, tree, body, &last, &fits,
                            reterr));
    if (fits && wrap == RUST_WRAP_LIST) {
        fits = last != 0 && ast_at(tree, body)->first == last;
        if (fits)
            tree->nodes.at[last].role = ROLE_VALUE;
    }
    if (fits)
        *ret = body;
    else
        drop_nodes(tree, count, self->tokens, before);
    return CG_OK;
}

static cg_code add_expansion(const expansion *self, cg_str text, ast_ref *ret, cg_err *reterr)
{
    *ret = 0;
    if (!take_room(self->tree, text.len))
        return CG_OK;
    CG_TRY(add_body(self, self->wrap, text, ret, reterr));
    if (*ret == 0 && self->wrap == RUST_WRAP_LIST)
        return add_body(self, RUST_WRAP_STATEMENTS, text, ret, reterr);
    return CG_OK;
}

/* The first rule that fits and whose text is what the place asks for. */
static cg_code try_rules(const expansion *self, rules_work *work, const ast *rules,
                         ast_ref definition, ast_ref *ret, cg_err *reterr)
{
    for (ast_ref at = ast_at(rules, definition)->first; at != 0; at = ast_at(rules, at)->next) {
        ast_ref left = ast_child(rules, at, ROLE_LEFT);
        ast_ref right = ast_child(rules, at, ROLE_RIGHT);
        bool fits;

        if (ast_kind_of(rules, at) != AST_MACRO_RULE || left == 0 || right == 0)
            continue;
        if (!rules_apply(work, ast_tokens(rules, left), ast_tokens(rules, right), &fits))
            return err_nomem(reterr);
        if (fits)
            CG_TRY(add_expansion(self, buf_text(&work->out), ret, reterr));
        if (*ret != 0)
            return CG_OK;
    }
    return CG_OK;
}

cg_code expand_rules(rust_parser *parser, const ast *rules, ast_ref definition, ast *tree,
                     intern *names, arena *mem, ast_ref invocation, ast_ref *ret, cg_err *reterr)
{
    ast_ref tokens = ast_child_kind(tree, invocation, AST_TOKEN_TREE);
    expansion made = {.parser = parser, .tree = tree, .names = names, .tokens = tokens};
    arena_place mark = arena_mark(mem);
    rules_work work;
    cg_code code;

    *ret = tokens != 0 ? ast_child_kind(tree, tokens, AST_MACRO_BODY) : 0;
    if (tokens == 0 || *ret != 0 || (ast_at(tree, tokens)->flags & AST_BROKEN) != 0)
        return CG_OK;
    made.wrap = wrap_of(tree, invocation);
    if (rules_begin(&work, tree->heap, mem, ast_tokens(tree, tokens)))
        code = try_rules(&made, &work, rules, definition, ret, reterr);
    else
        code = err_nomem(reterr);
    rules_end(&work);
    arena_reset(mem, mark);
    return code;
}
