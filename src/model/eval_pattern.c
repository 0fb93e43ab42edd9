/* Patterns: does a value fit, and what do the variables hold then? */
#include "model/eval_state.h"

#define PATTERN_DEPTH 64u

static cg_code match(eval *self, ast_ref pattern, val which, unsigned depth, enum verdict *ret);

static enum verdict least(enum verdict a, enum verdict b)
{
    return a < b ? a : b;
}

static val nothing_known(eval *self)
{
    return value_unknown(self->values, 0, (cg_str){NULL, 0});
}

sym pattern_name(const eval *self, ast_ref pattern)
{
    const ast *tree = eval_tree(self);

    for (unsigned i = 0; i < 16 && pattern; i++) {
        const ast_node *at = ast_at(tree, pattern);

        if (at->kind == AST_IDENTIFIER)
            return at->text;
        pattern = at->kind == AST_PARAMETER ? ast_child(tree, pattern, ROLE_PATTERN) : at->first;
        while (pattern && (ast_at(tree, pattern)->kind == AST_WILDCARD_PATTERN ||
                           ast_at(tree, pattern)->kind == AST_ATTRIBUTE_ITEM))
            pattern = ast_at(tree, pattern)->next;
    }
    return 0;
}

static bool has_word(const eval *self, ast_ref pattern, sym name, unsigned depth)
{
    const ast_node *at = eval_node(self, pattern);

    if (depth > 8)
        return false;
    if (at->role == ROLE_TYPE && at->kind == AST_IDENTIFIER)
        return at->text == name;
    for (ast_ref i = at->first; i; i = eval_node(self, i)->next) {
        if (eval_node(self, i)->role != ROLE_CONDITION && has_word(self, i, name, depth + 1))
            return true;
    }
    return false;
}

bool pattern_has_word(const eval *self, ast_ref pattern, enum word word)
{
    return pattern && has_word(self, pattern, eval_word(self, word), 0);
}

static cg_code bind(eval *self, sym name, val which)
{
    return name == eval_word(self, WORD_UNDERSCORE) ? CG_OK : cell_add(self, name, which);
}

/* Every variable of a pattern that could not be looked into is something unknown. */
static cg_code bind_unknown(eval *self, ast_ref pattern, unsigned depth)
{
    const ast_node *at = eval_node(self, pattern);
    cg_str text = program_text(self->program, at->text);
    bool is_typish = at->role == ROLE_TYPE || at->role == ROLE_PATH;

    if (depth > PATTERN_DEPTH || is_typish)
        return CG_OK;
    if ((at->kind == AST_IDENTIFIER && text.len && !(text.ptr[0] >= 'A' && text.ptr[0] <= 'Z')) ||
        at->kind == AST_SHORTHAND_FIELD_IDENTIFIER) {
        val fresh = value_unknown(self->values, 0, text);

        return fresh ? bind(self, at->text, fresh) : err_nomem(self->reterr);
    }
    if (at->kind == AST_SCOPED_IDENTIFIER || at->kind == AST_FIELD_IDENTIFIER)
        return CG_OK;
    for (ast_ref i = at->first; i; i = eval_node(self, i)->next)
        CG_TRY(bind_unknown(self, i, depth + 1));
    return CG_OK;
}

/* The variables bound since `top` of a further alternative join those bound before it. */
static cg_code merge_cells(eval *self, cell *top, cell *first_end)
{
    frame *scope = self->state->frame;

    for (cell *at = scope->top; at && at != first_end; at = at->before) {
        for (cell *old = first_end; old && old != top; old = old->before) {
            if (old->name != at->name)
                continue;
            old->value = value_join(self->values, old->value, at->value);
            if (!old->value)
                return err_nomem(self->reterr);
            break;
        }
    }
    scope->top = first_end;
    return CG_OK;
}

/* A pattern with a shape against one of several values. */
static cg_code match_choice(eval *self, ast_ref pattern, const value *choice, unsigned depth,
                            enum verdict *ret)
{
    frame *scope = self->state->frame;
    cell *top = scope->top, *first_end = NULL;
    bool has_all = true, has_any = false;

    for (size_t i = 0; i < choice->count; i++) {
        cell *before = scope->top;
        enum verdict one = MATCH_NO;

        CG_TRY(match(self, pattern, choice->as.items[i], depth + 1, &one));
        has_all &= one == MATCH_YES;
        if (one == MATCH_NO) {
            scope->top = before;
            continue;
        }
        if (has_any)
            CG_TRY(merge_cells(self, top, first_end));
        else
            first_end = scope->top;
        has_any = true;
    }
    *ret = !has_any ? MATCH_NO : has_all ? MATCH_YES : MATCH_MAYBE;
    return CG_OK;
}

static bool is_skipped(const ast_node *at)
{
    return at->role == ROLE_TYPE || at->kind == AST_ATTRIBUTE_ITEM;
}

/* `..`, or `rest @ ..` */
static bool is_rest(const eval *self, ast_ref pattern)
{
    const ast_node *at = eval_node(self, pattern);
    ast_ref inner = at->first ? eval_node(self, at->first)->next : 0;

    return at->kind == AST_REMAINING_FIELD_PATTERN ||
           (at->kind == AST_CAPTURED_PATTERN && inner &&
            eval_node(self, inner)->kind == AST_REMAINING_FIELD_PATTERN);
}

/* The patterns in `first`.. against the items; `..` stands for any number. */
static cg_code match_items(eval *self, ast_ref first, const val *items, size_t count,
                           unsigned depth, enum verdict *ret)
{
    size_t patterns = 0, before_rest = SIZE_MAX, index = 0;
    enum verdict all = MATCH_YES;

    for (ast_ref i = first; i; i = eval_node(self, i)->next) {
        if (is_skipped(eval_node(self, i)))
            continue;
        if (is_rest(self, i))
            before_rest = patterns;
        else
            patterns++;
    }
    if (before_rest == SIZE_MAX ? patterns != count : patterns > count) {
        *ret = MATCH_NO;
        return CG_OK;
    }
    for (ast_ref i = first; i; i = eval_node(self, i)->next) {
        enum verdict one = MATCH_YES;

        if (is_skipped(eval_node(self, i)))
            continue;
        if (is_rest(self, i)) {
            size_t until = count - (patterns - before_rest);

            if (eval_node(self, i)->kind == AST_CAPTURED_PATTERN) {
                val rest = value_list(self->values, VALUE_LIST, items + index, until - index);

                if (!rest)
                    return err_nomem(self->reterr);
                CG_TRY(bind(self, eval_node(self, eval_node(self, i)->first)->text, rest));
            }
            index = until;
            continue;
        }
        CG_TRY(match(self, i, items[index++], depth + 1, &one));
        all = least(all, one);
    }
    *ret = all;
    return CG_OK;
}

static cg_code match_unknown(eval *self, ast_ref pattern, enum verdict *ret)
{
    *ret = MATCH_MAYBE;
    return bind_unknown(self, pattern, 0);
}

static cg_code match_tuple(eval *self, ast_ref pattern, val which, unsigned depth,
                           enum verdict *ret)
{
    const value *at = value_at(self->values, which);

    if (at->kind == VALUE_TUPLE || at->kind == VALUE_UNIT)
        return match_items(self, eval_node(self, pattern)->first, at->as.items, at->count, depth,
                           ret);
    CG_TRY(match_unknown(self, pattern, ret));
    *ret = MATCH_YES; /* tuples always fit, as far as one knows */
    return CG_OK;
}

static cg_code match_slice(eval *self, ast_ref pattern, val which, unsigned depth,
                           enum verdict *ret)
{
    const value *at = value_at(self->values, which);
    bool is_plain = at->kind == VALUE_LIST;

    for (size_t i = 0; is_plain && i < at->count; i++)
        is_plain = value_kind_of(self->values, at->as.items[i]) != VALUE_REPEAT;
    if (!is_plain) {
        val list = 0, item = 0;
        enum verdict one;

        if (at->kind == VALUE_LIST && at->count) {
            list = at->as.items[0];
            item = value_kind_of(self->values, list) == VALUE_REPEAT
                       ? value_at(self->values, list)->as.repeat.items[0]
                       : list;
        }
        if (!item)
            return match_unknown(self, pattern, ret);
        for (ast_ref i = eval_node(self, pattern)->first; i; i = eval_node(self, i)->next) {
            if (!is_rest(self, i))
                CG_TRY(match(self, i, item, depth + 1, &one));
            else
                CG_TRY(bind_unknown(self, i, depth));
        }
        *ret = MATCH_MAYBE;
        return CG_OK;
    }
    /* `[first, rest @ ..]`: the rest is bound below, with the others as they are. */
    return match_items(self, eval_node(self, pattern)->first, at->as.items, at->count, depth, ret);
}

/* The one pattern inside `Some(..)`, 0 none. */
static ast_ref inner_pattern(const eval *self, ast_ref pattern)
{
    for (ast_ref i = eval_node(self, pattern)->first; i; i = eval_node(self, i)->next) {
        if (!is_skipped(eval_node(self, i)) && eval_node(self, i)->role != ROLE_FUNCTION)
            return i;
    }
    return 0;
}

static cg_code match_word(eval *self, ast_ref pattern, enum word word, val which, unsigned depth,
                          enum verdict *ret)
{
    const value *at = value_at(self->values, which);
    ast_ref inner = word == WORD_NONE ? 0 : inner_pattern(self, pattern);
    val item = which;

    *ret = MATCH_YES;
    if (inner && eval_node(self, inner)->kind == AST_ARGUMENTS)
        inner = eval_node(self, inner)->first;
    if (at->kind == VALUE_CHOICE && word != WORD_OK && word != WORD_ERR)
        return match_choice(self, pattern, at, depth, ret);
    switch (word) {
    case WORD_SOME:
        if (at->kind == VALUE_NOTHING) {
            *ret = MATCH_NO;
            return CG_OK;
        }
        if (at->kind == VALUE_SOME)
            item = at->as.items[0];
        else
            return match_unknown(self, pattern, ret);
        break;
    case WORD_NONE:
        *ret = at->kind == VALUE_NOTHING   ? MATCH_YES
               : at->kind == VALUE_UNKNOWN ? MATCH_MAYBE
                                           : MATCH_NO;
        return CG_OK;
    case WORD_OK:
        if (at->kind == VALUE_ERROR) {
            *ret = MATCH_NO;
            return CG_OK;
        }
        *ret = MATCH_MAYBE; /* a Result is its value, but it need not be one */
        break;
    default:
        if (at->kind != VALUE_ERROR)
            *ret = MATCH_MAYBE;
        item = nothing_known(self);
        if (!item)
            return err_nomem(self->reterr);
        break;
    }
    if (inner) {
        enum verdict one = MATCH_YES;

        CG_TRY(match(self, inner, item, depth + 1, &one));
        *ret = least(*ret, one);
    }
    return CG_OK;
}

static cg_code field_patterns(eval *self, ast_ref pattern, val which, unsigned depth,
                              enum verdict *ret)
{
    enum verdict all = MATCH_YES;

    for (ast_ref i = eval_node(self, pattern)->first; i; i = eval_node(self, i)->next) {
        const ast_node *at = eval_node(self, i);
        ast_ref name, inner;
        val field;
        enum verdict one = MATCH_YES;

        if (at->kind != AST_FIELD_PATTERN)
            continue;
        name = ast_child(eval_tree(self), i, ROLE_NAME);
        inner = ast_child(eval_tree(self), i, ROLE_PATTERN);
        if (!name)
            continue;
        sym word = eval_node(self, name)->text;

        field = value_field_of(self->values, which, word);
        if (!field)
            field = value_unknown(self->values, 0, program_text(self->program, word));
        if (!field)
            return err_nomem(self->reterr);
        if (inner)
            CG_TRY(match(self, inner, field, depth + 1, &one));
        else
            CG_TRY(bind(self, word, field));
        all = least(all, one);
    }
    *ret = all;
    return CG_OK;
}

/* Positional patterns behind a path: `Kind::A(x, ..)`. */
static cg_code positional(eval *self, ast_ref pattern, const value *fields, unsigned depth,
                          enum verdict *ret)
{
    val items[64];
    size_t count = fields->count < 64 ? fields->count : 64;
    ast_ref first = eval_node(self, pattern)->first;

    for (size_t i = 0; i < count; i++)
        items[i] = fields->as.fields[i].value;
    while (first &&
           (is_skipped(eval_node(self, first)) || eval_node(self, first)->role == ROLE_FUNCTION))
        first = eval_node(self, first)->next;
    if (first && eval_node(self, first)->kind == AST_ARGUMENTS)
        first = eval_node(self, first)->first;
    CG_TRY(match_items(self, first, items, count, depth, ret));
    if (*ret == MATCH_NO && fields->count == 0)
        return match_unknown(self, pattern, ret);
    return CG_OK;
}

/* `which` against a variant or struct, with patterns for its fields or without. */
static cg_code match_item(eval *self, ast_ref pattern, item_ref item, type_ref type, bool is_named,
                          bool is_bare, val which, unsigned depth, enum verdict *ret)
{
    const value *at = value_at(self->values, which);
    bool is_variant = self->program->items.at[item].kind == ITEM_VARIANT;
    sym variant = self->program->items.at[item].name;
    enum verdict outer = MATCH_YES;
    val fields = which;

    if (at->kind == VALUE_CHOICE)
        return match_choice(self, pattern, at, depth, ret);
    if (is_variant && at->kind == VALUE_ENUM) {
        if (at->variant != variant) {
            *ret = MATCH_NO;
            return CG_OK;
        }
    } else if (at->kind != VALUE_STRUCT || is_variant) {
        /* An enum nobody knows: it may be this variant. */
        cg_str text = at->text;

        if (at->kind != VALUE_UNKNOWN) {
            *ret = MATCH_MAYBE;
            return is_bare ? CG_OK : bind_unknown(self, pattern, 0);
        }
        outer = is_variant ? MATCH_MAYBE : MATCH_YES;
        if (at->type)
            type = at->type;
        if (is_bare) {
            *ret = outer;
            return CG_OK;
        }
        CG_TRY(eval_item_fields(self, item, type, text, true, &fields));
    }
    if (is_bare) {
        *ret = MATCH_YES;
        return CG_OK;
    }
    if (is_named)
        CG_TRY(field_patterns(self, pattern, fields, depth, ret));
    else
        CG_TRY(positional(self, pattern, value_at(self->values, fields), depth, ret));
    *ret = least(outer, *ret);
    return CG_OK;
}

/* A variant of an enum of a library: only its name can be compared. */
static cg_code match_external(eval *self, ast_ref pattern, sym path, bool is_bare, val which,
                              unsigned depth, enum verdict *ret)
{
    const value *at = value_at(self->values, which);
    cg_str text = program_text(self->program, path);
    size_t colon = str_find_last(text, ':');
    cg_str last = colon == SIZE_MAX ? text : (cg_str){text.ptr + colon + 1, text.len - colon - 1};

    if (at->kind == VALUE_CHOICE)
        return match_choice(self, pattern, at, depth, ret);
    if ((at->kind == VALUE_DTYPE || at->kind == VALUE_DEVICE) && at->is_known) {
        *ret = str_equal_nocase(at->text, last) || str_equal(at->text, last) ? MATCH_YES : MATCH_NO;
        /* `cpu` is `Cpu` */
        if (*ret == MATCH_NO && at->kind == VALUE_DEVICE && at->text.len == last.len)
            *ret = MATCH_MAYBE;
        return is_bare ? CG_OK : bind_unknown(self, pattern, 0);
    }
    if (at->kind == VALUE_ENUM) {
        bool is_same = at->variant && str_equal(program_text(self->program, at->variant), last);

        *ret = is_same ? MATCH_YES : MATCH_NO;
        if (is_bare || !is_same)
            return CG_OK;
        return positional(self, pattern, at, depth, ret);
    }
    if (at->kind == VALUE_STRUCT && !is_bare && at->count) {
        *ret = MATCH_YES;
        return eval_node(self, pattern)->kind == AST_STRUCT_PATTERN
                   ? field_patterns(self, pattern, which, depth, ret)
                   : positional(self, pattern, at, depth, ret);
    }
    *ret = MATCH_MAYBE;
    return is_bare ? CG_OK : bind_unknown(self, pattern, 0);
}

static cg_code match_path(eval *self, ast_ref pattern, ast_ref path, bool is_named, bool is_bare,
                          val which, unsigned depth, enum verdict *ret)
{
    target to;
    val constant = 0, answer = 0;
    int truth;

    *ret = MATCH_MAYBE;
    if (eval_node(self, path)->kind == AST_TYPE_IDENTIFIER ||
        eval_node(self, path)->kind == AST_SCOPED_TYPE_IDENTIFIER ||
        eval_node(self, path)->kind == AST_GENERIC_TYPE) {
        /* A struct pattern: a struct, or a variant with named fields. */
        type_ref type = 0;
        ast_ref owner = ast_child(eval_tree(self), path, ROLE_PATH);
        ast_ref name = ast_child(eval_tree(self), path, ROLE_NAME);

        if (owner && name)
            CG_TRY(eval_path_type(self, owner, &type));
        item_ref variant = type ? eval_variant(self, type, eval_node(self, name)->text) : 0;

        if (variant)
            return match_item(self, pattern, variant, type, true, false, which, depth, ret);
        CG_TRY(eval_path_type(self, path, &type));
        if (!type || type_at(self->types, type)->kind != TYPE_ITEM) {
            name_def def = {0};
            frame *scope = self->state->frame;

            CG_TRY(names_resolve(self->program, scope->module, scope->file, path, SPACE_VALUE, &def,
                                 self->reterr));
            if (def.kind == DEF_ITEM && !def.rest &&
                self->program->items.at[def.item].kind == ITEM_VARIANT) {
                CG_TRY(type_of_item(self->types, self->program->items.at[def.item].owner, &type,
                                    self->reterr));
                return match_item(self, pattern, def.item, type, true, false, which, depth, ret);
            }
            CG_TRY(field_patterns(self, pattern, which, depth, ret));
            return CG_OK;
        }
        return match_item(self, pattern, type_at(self->types, type)->item, type, true, false, which,
                          depth, ret);
    }
    CG_TRY(eval_target(self, path, &to));
    if (to.kind == TARGET_WORD)
        return match_word(self, pattern, to.word, which, depth, ret);
    if (to.kind == TARGET_MEMBER) {
        item_ref variant = eval_variant(self, to.type, to.name);

        if (variant)
            return match_item(self, pattern, variant, to.type, is_named, is_bare, which, depth,
                              ret);
        enum type_kind kind = (enum type_kind)type_at(self->types, to.type)->kind;

        if (kind == TYPE_EXTERNAL) {
            sym whole = eval_member_path(self, to.type, to.name);

            return whole ? match_external(self, pattern, whole, is_bare, which, depth, ret)
                         : err_nomem(self->reterr);
        }
    }
    if (to.kind == TARGET_ITEM) {
        uint8_t kind = self->program->items.at[to.item].kind;

        if (kind == ITEM_VARIANT || kind == ITEM_STRUCT) {
            type_ref type = to.type;

            if (!type)
                CG_TRY(type_of_item(self->types,
                                    kind == ITEM_VARIANT ? self->program->items.at[to.item].owner
                                                         : to.item,
                                    &type, self->reterr));
            return match_item(self, pattern, to.item, type, is_named, is_bare, which, depth, ret);
        }
    }
    if (to.kind == TARGET_EXTERNAL) {
        cg_str text = program_text(self->program, to.path);
        size_t colon = str_find_last(text, ':');
        size_t first = colon == SIZE_MAX ? 0 : colon + 1;
        bool is_constant = false;

        /* SHOUTED names are constants, others variants. */
        for (size_t i = first; i < text.len && !is_constant; i++)
            is_constant = text.ptr[i] == '_';
        if (!is_constant)
            return match_external(self, pattern, to.path, is_bare, which, depth, ret);
    }
    if (!is_bare)
        return bind_unknown(self, pattern, 0);
    if (to.kind == TARGET_NONE || to.kind == TARGET_LOCAL)
        return CG_OK;
    CG_TRY(eval_target_value(self, &to, path, &constant));
    CG_TRY(eval_binary(self, OP_EQ, which, constant, pattern, &answer));
    truth = value_truth(self->values, answer);
    *ret = truth < 0 ? MATCH_MAYBE : truth ? MATCH_YES : MATCH_NO;
    return CG_OK;
}

static cg_code match_literal(eval *self, ast_ref pattern, val which, unsigned depth,
                             enum verdict *ret)
{
    val literal = eval_literal(self, pattern), answer = 0;
    int truth;

    if (!literal)
        return err_nomem(self->reterr);
    if (value_kind_of(self->values, which) == VALUE_CHOICE)
        return match_choice(self, pattern, value_at(self->values, which), depth, ret);
    if (value_kind_of(self->values, which) == VALUE_BOOL) {
        int is = value_truth(self->values, which);

        *ret = is < 0                                     ? MATCH_MAYBE
               : is == value_truth(self->values, literal) ? MATCH_YES
                                                          : MATCH_NO;
        return CG_OK;
    }
    CG_TRY(eval_binary(self, OP_EQ, which, literal, pattern, &answer));
    truth = value_truth(self->values, answer);
    *ret = truth < 0 ? MATCH_MAYBE : truth ? MATCH_YES : MATCH_NO;
    return CG_OK;
}

static cg_code match_bounds(eval *self, ast_ref pattern, val which, enum verdict *ret)
{
    ast_ref low = ast_child(eval_tree(self), pattern, ROLE_LEFT);
    ast_ref high = ast_child(eval_tree(self), pattern, ROLE_RIGHT);
    bool is_open = eval_node(self, pattern)->op == OP_RANGE;
    val bound = 0, answer = 0;
    enum verdict all = MATCH_YES;

    for (unsigned i = 0; i < 2; i++) {
        ast_ref node = i ? high : low;
        int truth;

        if (!node)
            continue;
        CG_TRY(evaluate(self, node, &bound));
        CG_TRY(eval_binary(self, i ? (is_open ? OP_LT : OP_LE) : OP_GE, which, bound, pattern,
                           &answer));
        truth = value_truth(self->values, answer);
        all = least(all, truth < 0 ? MATCH_MAYBE : truth ? MATCH_YES : MATCH_NO);
    }
    *ret = all;
    return CG_OK;
}

static cg_code match_either(eval *self, ast_ref first, ast_ref second, val which, unsigned depth,
                            enum verdict *ret)
{
    frame *scope = self->state->frame;
    cell *top = scope->top, *first_end = NULL;
    enum verdict all = MATCH_NO;

    for (ast_ref i = first; i && all != MATCH_YES;
         i = second ? (i == second ? 0 : second) : eval_node(self, i)->next) {
        cell *before = scope->top;
        enum verdict one = MATCH_NO;

        CG_TRY(match(self, i, which, depth + 1, &one));
        if (one == MATCH_NO) {
            scope->top = before;
            continue;
        }
        if (all == MATCH_NO)
            first_end = scope->top;
        else
            CG_TRY(merge_cells(self, top, first_end));
        all = one > all ? one : all;
    }
    *ret = all;
    return CG_OK;
}

static cg_code match_name(eval *self, ast_ref pattern, val which, unsigned depth, enum verdict *ret)
{
    sym name = eval_node(self, pattern)->text;
    cg_str text = program_text(self->program, name);

    *ret = MATCH_YES;
    if (text.len && text.ptr[0] >= 'A' && text.ptr[0] <= 'Z') {
        target to;
        cell *top = self->state->frame->top;

        /* A constant or a variant; never a variable. */
        self->state->frame->top = NULL;
        cg_code code = eval_target(self, pattern, &to);

        self->state->frame->top = top;
        CG_TRY(code);
        if (to.kind != TARGET_NONE && to.kind != TARGET_LOCAL)
            return match_path(self, pattern, pattern, false, true, eval_deref(self, which), depth,
                              ret);
    }
    return bind(self, name, which);
}

static cg_code match(eval *self, ast_ref pattern, val which, unsigned depth, enum verdict *ret)
{
    ast_node at = *eval_node(self, pattern);
    ast_ref first = at.first;

    *ret = MATCH_YES;
    if (!pattern)
        return CG_OK;
    if (depth > PATTERN_DEPTH || !which) {
        *ret = MATCH_MAYBE;
        return CG_OK;
    }
    if (value_kind_of(self->values, which) == VALUE_REFERENCE && at.kind != AST_IDENTIFIER &&
        at.kind != AST_MUT_PATTERN && at.kind != AST_CAPTURED_PATTERN)
        which = eval_deref(self, which);
    while (first && is_skipped(eval_node(self, first)) && eval_node(self, first)->role != ROLE_TYPE)
        first = eval_node(self, first)->next;
    switch ((enum ast_kind)at.kind) {
    case AST_IDENTIFIER: return match_name(self, pattern, which, depth, ret);
    case AST_WILDCARD_PATTERN:
    case AST_REMAINING_FIELD_PATTERN: return CG_OK;
    case AST_MUT_PATTERN:
    case AST_REF_PATTERN:
    case AST_REFERENCE_PATTERN:
    case AST_REFERENCE_EXPRESSION: return first ? match(self, first, which, depth + 1, ret) : CG_OK;
    case AST_CAPTURED_PATTERN: {
        ast_ref inner = first ? eval_node(self, first)->next : 0;

        if (inner)
            CG_TRY(match(self, inner, which, depth + 1, ret));
        return first ? bind(self, eval_node(self, first)->text, which) : CG_OK;
    }
    case AST_GENERIC_PATTERN: {
        ast_ref path = ast_child(eval_tree(self), pattern, ROLE_TYPE);

        return path ? match_path(self, pattern, path, false, true, which, depth, ret)
                    : match_unknown(self, pattern, ret);
    }
    case AST_TUPLE_PATTERN:
    case AST_TUPLE_EXPRESSION:
        /* `(p)` is `p`. */
        if (first && !eval_node(self, first)->next && !is_rest(self, first) &&
            (value_kind_of(self->values, which) != VALUE_TUPLE ||
             value_at(self->values, which)->count != 1))
            return match(self, first, which, depth + 1, ret);
        if (value_kind_of(self->values, which) == VALUE_CHOICE)
            return match_choice(self, pattern, value_at(self->values, which), depth, ret);
        return match_tuple(self, pattern, which, depth, ret);
    case AST_SLICE_PATTERN:
        if (value_kind_of(self->values, which) == VALUE_CHOICE)
            return match_choice(self, pattern, value_at(self->values, which), depth, ret);
        return match_slice(self, pattern, which, depth, ret);
    case AST_TUPLE_STRUCT_PATTERN: {
        ast_ref path = ast_child(eval_tree(self), pattern, ROLE_TYPE);

        if (path && eval_node(self, path)->kind == AST_GENERIC_TYPE)
            path = eval_node(self, path)->first;
        return path ? match_path(self, pattern, path, false, false, which, depth, ret)
                    : match_unknown(self, pattern, ret);
    }
    case AST_CALL_EXPRESSION: {
        ast_ref path = ast_child(eval_tree(self), pattern, ROLE_FUNCTION);

        return path ? match_path(self, pattern, path, false, false, which, depth, ret)
                    : match_unknown(self, pattern, ret);
    }
    case AST_STRUCT_PATTERN: {
        ast_ref path = ast_child(eval_tree(self), pattern, ROLE_TYPE);

        return path ? match_path(self, pattern, path, true, false, which, depth, ret)
                    : match_unknown(self, pattern, ret);
    }
    case AST_SCOPED_IDENTIFIER:
        return match_path(self, pattern, pattern, false, true, which, depth, ret);
    case AST_INTEGER_LITERAL:
    case AST_FLOAT_LITERAL:
    case AST_STRING_LITERAL:
    case AST_RAW_STRING_LITERAL:
    case AST_CHAR_LITERAL:
    case AST_BOOLEAN_LITERAL:
    case AST_NEGATIVE_LITERAL: return match_literal(self, pattern, which, depth, ret);
    case AST_RANGE_PATTERN:
    case AST_RANGE_EXPRESSION: return match_bounds(self, pattern, which, ret);
    case AST_OR_PATTERN: return match_either(self, first, 0, which, depth, ret);
    case AST_BINARY_EXPRESSION:
        /* Inside matches!(..), where `A | B` was read as an expression. */
        if (at.op == OP_BIT_OR)
            return match_either(self, ast_child(eval_tree(self), pattern, ROLE_LEFT),
                                ast_child(eval_tree(self), pattern, ROLE_RIGHT), which, depth, ret);
        return match_unknown(self, pattern, ret);
    case AST_MATCH_PATTERN: return first ? match(self, first, which, depth + 1, ret) : CG_OK;
    default: return match_unknown(self, pattern, ret);
    }
}

cg_code eval_match(eval *self, ast_ref pattern, val which, enum verdict *ret)
{
    return match(self, pattern, which, 0, ret);
}
