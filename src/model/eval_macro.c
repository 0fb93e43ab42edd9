/*
 * Macros: those of the crate are expanded, those of std are asked for, all others' arguments seen.
 */
#include "model/eval_state.h"

#define CAPTURES 32u

static cg_code unknown(eval *self, ast_ref node, val *ret)
{
    return eval_give(self, value_unknown(self->values, 0, eval_source(self, "", node)), ret);
}

/* What stands for an invocation of one of the crate's own macros. */
static cg_code expand(eval *self, ast_ref node, item_ref item, ast_ref *ret)
{
    frame *scope = self->state->frame;
    program_item at = self->program->items.at[item];
    ast *tree = &self->program->files.at[scope->file]->tree;
    const ast *rules = program_tree(self->program, at.file);

    return expand_rules(self->program->parser, rules, at.node, tree, &self->program->names,
                        &self->program->mem, node, ret, self->reterr);
}

static cg_code evaluate_body(eval *self, ast_ref body, bool is_statement, type_ref expected,
                             val *ret)
{
    frame *scope = self->state->frame;
    cell *top = scope->top;
    cg_code code;

    if (self->state->nesting >= self->limits.nesting) {
        CG_TRY(eval_cut(self, body, "macros are nested too deeply and were cut off here"));
        return unknown(self, body, ret);
    }
    self->state->nesting++;
    self->state->expected = expected;
    code = evaluate_statements(self, eval_node(self, body)->first, ret);
    self->state->nesting--;
    if (!is_statement)
        scope->top = top;
    return code;
}

/* --- tokens nobody understands --- */

static bool is_word_byte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_' ||
           (byte >= '0' && byte <= '9');
}

/* Does a variable that holds a builder stand among the tokens? */
static bool mentions_builder(eval *self, ast_ref node, val *ret)
{
    cg_str text = ast_text(eval_tree(self), node);

    for (size_t i = 0; i < text.len;) {
        size_t start = i;
        sym name;
        cell *local;

        while (i < text.len && is_word_byte(text.ptr[i]))
            i++;
        if (i == start) {
            i++;
            continue;
        }
        name = intern_find(&self->program->names, (cg_str){text.ptr + start, i - start});
        local = name ? cell_find(self->state->frame, name) : NULL;
        if (local && value_at(self->values, eval_deref(self, local->value))->has_builder) {
            *ret = eval_deref(self, local->value);
            return true;
        }
    }
    return false;
}

/* --- arguments --- */

typedef struct macro_arguments {
    val *at;
    size_t count;
    sym names[CAPTURES];
    val named[CAPTURES];
    size_t named_count;
    bool has_format;
    cg_str format;
    val never;
} macro_arguments;

static cg_code add_named(eval *self, macro_arguments *to, sym name, val which)
{
    (void)self;
    for (size_t i = 0; i < to->named_count; i++) {
        if (to->names[i] == name)
            return CG_OK;
    }
    if (to->named_count < CAPTURES) {
        to->names[to->named_count] = name;
        to->named[to->named_count++] = which;
    }
    return CG_OK;
}

static cg_code evaluate_all(eval *self, ast_ref list, macro_arguments *ret)
{
    size_t room = 0;
    bool has_attribute = false;
    ast_ref length = list ? ast_child(eval_tree(self), list, ROLE_LENGTH) : 0;

    for (ast_ref i = list ? eval_node(self, list)->first : 0; i; i = eval_node(self, i)->next)
        room++;
    ret->at = arena_take(&self->values->mem, (room + 2) * sizeof *ret->at);
    if (!ret->at)
        return err_nomem(self->reterr);
    for (ast_ref i = list ? eval_node(self, list)->first : 0; i; i = eval_node(self, i)->next) {
        ast_node at = *eval_node(self, i);
        val made = 0;

        if (eval_is_left_out(self, i, &has_attribute))
            continue;
        if (at.kind == AST_ASSIGNMENT_EXPRESSION) {
            ast_ref left = ast_child(eval_tree(self), i, ROLE_LEFT);
            ast_ref right = ast_child(eval_tree(self), i, ROLE_RIGHT);

            if (left && right && eval_node(self, left)->kind == AST_IDENTIFIER) {
                sym name = eval_node(self, left)->text;

                CG_TRY(evaluate(self, right, &made));
                if (eval_is_never(self, made)) {
                    ret->never = made;
                    return CG_OK;
                }
                CG_TRY(add_named(self, ret, name, made));
                continue;
            }
        }
        CG_TRY(evaluate(self, i, &made));
        if (eval_is_never(self, made)) {
            ret->never = made;
            return CG_OK;
        }
        if (i == length) {
            value range = {.kind = VALUE_RANGE, .is_known = true};
            val bounds[2] = {value_int(self->values, expr_const(self->exprs, 0)), made};

            range.as.items = bounds;
            made = bounds[0] ? value_make(self->values, &range) : 0;
            if (!made)
                return err_nomem(self->reterr);
        }
        if (!ret->has_format &&
            (at.kind == AST_STRING_LITERAL || at.kind == AST_RAW_STRING_LITERAL)) {
            ret->has_format = true;
            ret->format = program_text(self->program, at.text);
        }
        ret->at[ret->count++] = made;
    }
    return CG_OK;
}

/* Variables a format string names: `"layers.{i}"`. */
static cg_code add_captures(eval *self, macro_arguments *to)
{
    frame *scope = self->state->frame;
    sym names[CAPTURES];
    size_t count;

    if (to->has_format && str_find(to->format, CG_LIT("{")) != SIZE_MAX) {
        count = std_captures(self, to->format, names, CAPTURES);
        for (size_t i = 0; i < count && i < CAPTURES; i++) {
            cell *local = cell_find(scope, names[i]);
            val made = 0;

            if (local) {
                local->read_before = local->read;
                local->read = ++self->state->clock;
                made = eval_deref(self, local->value);
            } else {
                name_def def = {0};

                CG_TRY(names_find(self->program, scope->module, names[i], SPACE_VALUE, &def,
                                  self->reterr));
                if (def.kind == DEF_ITEM && !def.rest &&
                    self->program->items.at[def.item].kind == ITEM_CONST)
                    CG_TRY(eval_constant(self, def.item, &made));
            }
            if (made)
                CG_TRY(add_named(self, to, names[i], made));
        }
    }
    if (!to->named_count)
        return CG_OK;
    value_field fields[CAPTURES];

    for (size_t i = 0; i < to->named_count; i++)
        fields[i] = (value_field){to->names[i], to->named[i]};
    to->at[to->count] = value_struct(self->values, 0, fields, to->named_count);
    return to->at[to->count++] ? CG_OK : err_nomem(self->reterr);
}

/* --- macros that look at their tokens --- */

static cg_code evaluate_cfg(eval *self, ast_ref node, val *ret)
{
    frame *scope = self->state->frame;
    ast_ref tokens = ast_child_kind(eval_tree(self), node, AST_TOKEN_TREE);
    cg_str text = tokens ? ast_text(eval_tree(self), tokens) : CG_LIT("");
    crate_ref crate = self->program->files.at[scope->file]->crate;
    enum cfg_truth truth = CFG_UNDECIDED;
    value made = {.kind = VALUE_BOOL, .text = eval_source(self, "", node)};

    if (self->program->cargo && text.len > 1)
        truth = cargo_cfg_eval(self->program->cargo, self->program->crates.at[crate].package,
                               (cg_str){text.ptr + 1, text.len - 2});
    if (truth != CFG_UNDECIDED)
        return eval_give(self, self->values->truth[truth == CFG_TRUE], ret);
    return eval_give(self, value_make(self->values, &made), ret);
}

static cg_code evaluate_matches(eval *self, ast_ref node, ast_ref list, val *ret)
{
    ast_ref scrutinee = list ? eval_node(self, list)->first : 0;
    ast_ref pattern = scrutinee ? eval_node(self, scrutinee)->next : 0;
    cell *top = self->state->frame->top;
    enum verdict verdict = MATCH_MAYBE;
    value made = {.kind = VALUE_BOOL, .text = eval_source(self, "", node)};
    val which = 0;

    if (!scrutinee)
        return eval_give(self, value_make(self->values, &made), ret);
    CG_TRY(evaluate(self, scrutinee, &which));
    if (eval_is_never(self, which)) {
        *ret = which;
        return CG_OK;
    }
    if (pattern && eval_node(self, pattern)->kind != AST_ERROR) {
        CG_TRY(eval_match(self, pattern, which, &verdict));
        self->state->frame->top = top;
    }
    if (verdict != MATCH_MAYBE)
        return eval_give(self, self->values->truth[verdict == MATCH_YES], ret);
    return eval_give(self, value_make(self->values, &made), ret);
}

static cg_code evaluate_unknown(eval *self, ast_ref node, const macro_arguments *args, sym name,
                                bool is_blind, val *ret)
{
    cg_str text = program_text(self->program, name);
    val holder = 0;
    cg_str shown;

    if (is_blind && mentions_builder(self, node, &holder)) {
        if (!value_name(self->values, text, "!", CG_LIT(""), &shown))
            return err_nomem(self->reterr);
        return eval_unknown_call(self, shown, 0, &holder, 1, eval_place(self, node), ret);
    }
    if (!value_name(self->values, text, "!", CG_LIT(""), &shown))
        return err_nomem(self->reterr);
    return eval_unknown_call(self, shown, 0, args->at, args->count, eval_place(self, node), ret);
}

/* Macros that never come back: their message is not worth parsing. */
static bool is_diverging(const eval *self, sym name)
{
    static const char *const names[] = {"bail", "panic", "todo", "unimplemented", "unreachable"};
    cg_str text = program_text(self->program, name);

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (str_is(text, names[i]))
            return true;
    }
    return false;
}

/* `stringify!(tokens)` */
static cg_code evaluate_stringify(eval *self, ast_ref node, val *ret)
{
    ast_ref tokens = ast_child_kind(eval_tree(self), node, AST_TOKEN_TREE);
    const ast_node *at = eval_node(self, tokens);
    cg_str text = {NULL, 0};

    if (!tokens)
        return unknown(self, node, ret);
    text = (at->flags & AST_EXPANDED) ? program_text(self->program, at->text)
                                      : ast_text(eval_tree(self), tokens);
    if (text.len < 2)
        return unknown(self, node, ret);
    text = str_trim((cg_str){text.ptr + 1, text.len - 2});
    return eval_give(self, value_text(self->values, text), ret);
}

/* `write!(text, "..", ..)`: what the text becomes goes back to where it is kept. */
static cg_code store_written(eval *self, ast_ref list, val written)
{
    ast_ref holder = list ? eval_node(self, list)->first : 0;
    place_value place;

    while (holder && eval_node(self, holder)->kind == AST_REFERENCE_EXPRESSION)
        holder = ast_child(eval_tree(self), holder, ROLE_VALUE);
    return written && holder && spot_of(self, holder, &place) ? spot_write(self, &place, written)
                                                              : CG_OK;
}

cg_code evaluate_macro(eval *self, ast_ref node, bool is_statement, val *ret)
{
    frame *scope = self->state->frame;
    type_ref expected = self->state->expected;
    ast_ref path = ast_child(eval_tree(self), node, ROLE_MACRO);
    ast_ref list = 0, last;
    macro_arguments args = {0};
    name_def def = {0};
    bool is_known = false;
    sym name;

    self->state->expected = 0;
    if (!path)
        return unknown(self, node, ret);
    last = ast_child(eval_tree(self), path, ROLE_NAME);
    name = eval_node(self, last ? last : path)->text;
    CG_TRY(names_resolve(self->program, scope->module, scope->file, path, SPACE_MACRO, &def,
                         self->reterr));
    if (def.kind == DEF_ITEM && self->program->items.at[def.item].kind == ITEM_MACRO) {
        ast_ref body = 0;

        CG_TRY(expand(self, node, def.item, &body));
        if (body)
            return evaluate_body(self, body, is_statement, expected, ret);
    } else if (name == eval_word(self, WORD_CFG)) {
        return evaluate_cfg(self, node, ret);
    } else if (name == eval_word(self, WORD_STRINGIFY)) {
        return evaluate_stringify(self, node, ret);
    }
    if (def.kind != DEF_ITEM && is_diverging(self, name))
        return eval_leave(self, JUMP_ERROR, 0, ret);
    CG_TRY(expand_arguments(self->program->parser, &self->program->files.at[scope->file]->tree,
                            &self->program->names, node, &list, self->reterr));
    if (name == eval_word(self, WORD_MATCHES) && def.kind != DEF_ITEM)
        return evaluate_matches(self, node, list, ret);
    CG_TRY(evaluate_all(self, list, &args));
    if (args.never) {
        *ret = args.never;
        return CG_OK;
    }
    if (def.kind == DEF_ITEM)
        return evaluate_unknown(self, node, &args, name, !list, ret);
    CG_TRY(add_captures(self, &args));
    self->wanted = expected;
    self->updated_receiver = 0;
    CG_TRY(std_macro(self, def.kind == DEF_EXTERNAL ? def.path : 0, name, args.at, args.count,
                     eval_place(self, node), &is_known, ret));
    self->wanted = 0;
    CG_TRY(store_written(self, list, is_known ? self->updated_receiver : 0));
    self->updated_receiver = 0;
    if (!is_known)
        return evaluate_unknown(self, node, &args, name, !list, ret);
    if (!*ret)
        return err_nomem(self->reterr);
    if (eval_is_never(self, *ret) || value_kind_of(self->values, *ret) == VALUE_ERROR) {
        if (eval_is_never(self, *ret))
            self->state->jump = JUMP_ERROR;
    }
    return CG_OK;
}
