/* What paths mean where they stand: variables, items, members of types, things of libraries. */
#include "model/eval_state.h"

/* Every path is resolved once per place. */
static cg_code resolve(eval *self, ast_ref path, enum name_space space, name_def *ret)
{
    frame *scope = self->state->frame;
    node_fact *fact = eval_fact(self, scope->file, path);

    if (!fact)
        return err_nomem(self->reterr);
    if (!fact->has_def[space]) {
        name_def def = {0};

        CG_TRY(names_resolve(self->program, scope->module, scope->file, path, space, &def,
                             self->reterr));
        fact = eval_fact(self, scope->file, path);
        if (!fact)
            return err_nomem(self->reterr);
        memset(fact->has_def, 0, sizeof fact->has_def);
        fact->has_def[space] = true;
        fact->def = def;
    }
    *ret = fact->def;
    return CG_OK;
}

static cg_code external_type(eval *self, enum type_kind kind, sym path, type_ref *ret)
{
    model_type shape = {.kind = (uint8_t)kind, .name = path};

    return type_make(self->types, &shape, ret, self->reterr);
}

static type_ref bound_type(const frame *scope, sym name)
{
    for (size_t i = 0; i < scope->bindings.count; i++) {
        if (scope->bindings.names[i] == name)
            return scope->bindings.types[i];
    }
    return 0;
}

static cg_code item_type(eval *self, item_ref item, type_ref *ret)
{
    const program_item *at = &self->program->items.at[item];

    *ret = 0;
    if (at->kind == ITEM_TYPE_ALIAS) {
        ast_ref node = ast_child(program_tree(self->program, at->file), at->node, ROLE_TYPE);

        return node ? type_lower(self->types, at->module, at->file, node, NULL, ret, self->reterr)
                    : CG_OK;
    }
    if (at->kind == ITEM_VARIANT)
        return item_type(self, at->owner, ret);
    if (at->kind != ITEM_STRUCT && at->kind != ITEM_ENUM && at->kind != ITEM_UNION)
        return CG_OK;
    return type_of_item(self->types, item, ret, self->reterr);
}

cg_code eval_path_type(eval *self, ast_ref path, type_ref *ret)
{
    frame *scope = self->state->frame;
    const ast_node *node = eval_node(self, path);
    name_def def;

    *ret = 0;
    if (node->kind != AST_IDENTIFIER && node->kind != AST_SCOPED_IDENTIFIER)
        return eval_type(self, path, ret);
    if (node->kind == AST_IDENTIFIER) {
        if (node->text == eval_word(self, WORD_SELF_TYPE)) {
            *ret = scope->bindings.self_type;
            return CG_OK;
        }
        *ret = bound_type(scope, node->text);
        if (*ret)
            return CG_OK;
    }
    CG_TRY(resolve(self, path, SPACE_TYPE, &def));
    switch ((enum def_kind)def.kind) {
    case DEF_ITEM: return def.rest ? CG_OK : item_type(self, def.item, ret);
    case DEF_EXTERNAL: return external_type(self, TYPE_EXTERNAL, def.path, ret);
    case DEF_PRIMITIVE: return external_type(self, TYPE_PRIMITIVE, def.path, ret);
    case DEF_SELF_TYPE: *ret = def.rest ? 0 : scope->bindings.self_type; return CG_OK;
    case DEF_NONE:
    case DEF_MODULE: break;
    }
    return CG_OK;
}

item_ref eval_variant(const eval *self, type_ref type, sym name)
{
    const model_type *shape = type_at(self->types, type);
    const program_item *at;

    if (!type || shape->kind != TYPE_ITEM || !shape->item)
        return 0;
    at = &self->program->items.at[shape->item];
    if (at->kind != ITEM_ENUM)
        return 0;
    for (item_ref i = at->first_in_owner; i; i = self->program->items.at[i].next_in_owner) {
        if (self->program->items.at[i].kind == ITEM_VARIANT &&
            self->program->items.at[i].name == name)
            return i;
    }
    return 0;
}

sym eval_member_path(eval *self, type_ref type, sym name)
{
    const model_type *shape = type_at(self->types, type);
    arena_place place = arena_mark(&self->values->mem);
    cg_str path = {0};
    sym made;

    if (!type)
        return 0;
    if (shape->kind == TYPE_EXTERNAL || shape->kind == TYPE_PRIMITIVE) {
        path = program_text(self->program, shape->name);
    } else if (shape->kind == TYPE_ITEM && shape->item) {
        const program_item *at = &self->program->items.at[shape->item];
        sym crate = self->program->crates.at[self->program->modules.at[at->module].crate].name;
        cg_str inner;

        if (!program_item_path(self->program, shape->item, &inner) ||
            !value_name(self->values, program_text(self->program, crate), "::", inner, &path))
            return 0;
    } else {
        return 0;
    }
    if (!value_name(self->values, path, "::", program_text(self->program, name), &path))
        return 0;
    made = intern_add(&self->program->names, path);
    arena_reset(&self->values->mem, place);
    return made;
}

static cg_str last_segment(cg_str path)
{
    size_t at = str_find_last(path, ':');

    return at == SIZE_MAX ? path : (cg_str){path.ptr + at + 1, path.len - at - 1};
}

/* Is it one of the four constructors everybody knows? */
static bool is_word(eval *self, sym path, target *ret)
{
    cg_str whole = program_text(self->program, path);
    cg_str last = last_segment(whole);
    static const enum word words[] = {WORD_SOME, WORD_NONE, WORD_OK, WORD_ERR};

    if (last.len > 4 ||
        (last.len != whole.len && !str_starts_with(whole, CG_LIT("std::")) &&
         !str_starts_with(whole, CG_LIT("core::")) && !str_starts_with(whole, CG_LIT("anyhow::"))))
        return false;
    for (size_t i = 0; i < 4; i++) {
        if (str_equal(last, program_text(self->program, eval_word(self, words[i])))) {
            ret->kind = TARGET_WORD;
            ret->word = words[i];
            return true;
        }
    }
    return false;
}

static cg_code bracket_target(eval *self, ast_ref bracket, target *ret)
{
    ast_ref inner = eval_node(self, bracket)->first;
    ast_ref node = inner;

    if (inner && eval_node(self, inner)->kind == AST_QUALIFIED_TYPE) {
        ast_ref trait_node = ast_child(eval_tree(self), inner, ROLE_ALIAS);
        type_ref trait_type = 0;

        node = ast_child(eval_tree(self), inner, ROLE_TYPE);
        if (trait_node)
            CG_TRY(eval_type(self, trait_node, &trait_type));
        if (trait_type && type_at(self->types, trait_type)->kind == TYPE_TRAIT)
            ret->trait_item = type_at(self->types, trait_type)->item;
    }
    ret->kind = TARGET_MEMBER;
    return node ? eval_type(self, node, &ret->type) : CG_OK;
}

static cg_code item_target(eval *self, const name_def *def, ast_ref prefix, target *ret)
{
    const program_item *at = &self->program->items.at[def->item];

    ret->item = def->item;
    if (def->rest == 0) {
        ret->kind = TARGET_ITEM;
        return CG_OK;
    }
    if (def->rest > 1)
        return CG_OK;
    if (at->kind == ITEM_TRAIT) {
        ret->kind = TARGET_TRAIT;
        ret->trait_item = def->item;
        return CG_OK;
    }
    ret->kind = TARGET_MEMBER;
    if (prefix)
        CG_TRY(eval_path_type(self, prefix, &ret->type));
    return ret->type ? CG_OK : item_type(self, def->item, &ret->type);
}

/*
 * The type that a path begins with, where that is a generic parameter nobody gave yet, or a type
 * that hangs on one or on `Self`: `N` of `N::new`, `L::Norm` of `L::Norm::new`.
 */
static cg_code open_type(eval *self, ast_ref prefix, type_ref *ret)
{
    ast_ref first = prefix;
    enum type_kind kind;

    *ret = 0;
    while (first && eval_node(self, first)->kind == AST_SCOPED_IDENTIFIER)
        first = ast_child(eval_tree(self), first, ROLE_PATH);
    if (!first)
        return CG_OK;
    if (eval_node(self, first)->kind != AST_BRACKETED_TYPE) {
        type_ref head = 0;

        if (eval_node(self, first)->kind != AST_IDENTIFIER)
            return CG_OK;
        CG_TRY(eval_type(self, first, &head));
        kind = (enum type_kind)type_at(self->types, head)->kind;
        if (kind != TYPE_PARAMETER && kind != TYPE_SELF &&
            eval_node(self, first)->text != eval_word(self, WORD_SELF_TYPE) &&
            !bound_type(self->state->frame, eval_node(self, first)->text))
            return CG_OK;
    }
    return eval_type(self, prefix, ret);
}

cg_code eval_target(eval *self, ast_ref path, target *ret)
{
    frame *scope = self->state->frame;
    ast_node node = *eval_node(self, path);
    name_def def = {0};
    ast_ref prefix, name;

    *ret = (target){.kind = TARGET_NONE};
    if (node.kind == AST_GENERIC_FUNCTION) {
        ret->arguments = ast_child(eval_tree(self), path, ROLE_TYPE_ARGUMENTS);
        path = ast_child(eval_tree(self), path, ROLE_FUNCTION);
        if (!path)
            return CG_OK;
        node = *eval_node(self, path);
    }
    if (node.kind == AST_IDENTIFIER || node.kind == AST_SELF) {
        cell *local =
            cell_find(scope, node.kind == AST_SELF ? eval_word(self, WORD_SELF) : node.text);

        if (local) {
            local->read_before = local->read;
            local->read = ++self->state->clock;
            ret->kind = TARGET_LOCAL;
            ret->value = local->value;
            return CG_OK;
        }
    }
    prefix = ast_child(eval_tree(self), path, ROLE_PATH);
    name = ast_child(eval_tree(self), path, ROLE_NAME);
    ret->name = name ? eval_node(self, name)->text : node.text;
    if (prefix && eval_node(self, prefix)->kind == AST_BRACKETED_TYPE)
        return bracket_target(self, prefix, ret);
    /* A generic parameter hides what has its name outside. */
    if (prefix && eval_node(self, prefix)->kind == AST_IDENTIFIER) {
        ret->type = bound_type(scope, eval_node(self, prefix)->text);
        /* Where nobody says what it is, its bounds say what it can. */
        if (ret->type && type_at(self->types, ret->type)->kind == TYPE_UNKNOWN) {
            node_fact *fact;

            CG_TRY(eval_type(self, prefix, &ret->type));
            fact = eval_fact(self, scope->file, prefix);
            if (!fact)
                return err_nomem(self->reterr);
            ret->type = fact->type;
        }
        if (ret->type) {
            ret->kind = TARGET_MEMBER;
            return CG_OK;
        }
    }
    CG_TRY(resolve(self, path, SPACE_VALUE, &def));
    if (prefix && (def.kind == DEF_EXTERNAL || def.kind == DEF_NONE ||
                   (def.kind == DEF_SELF_TYPE && def.rest > 1))) {
        CG_TRY(open_type(self, prefix, &ret->type));
        if (ret->type && type_at(self->types, ret->type)->kind != TYPE_UNKNOWN) {
            ret->kind = TARGET_MEMBER;
            return CG_OK;
        }
        ret->type = 0;
    }
    switch ((enum def_kind)def.kind) {
    case DEF_ITEM: return item_target(self, &def, prefix, ret);
    case DEF_EXTERNAL:
        ret->path = def.path;
        if (!is_word(self, def.path, ret))
            ret->kind = TARGET_EXTERNAL;
        return CG_OK;
    case DEF_PRIMITIVE:
        if (def.rest) {
            type_ref type = 0;

            CG_TRY(external_type(self, TYPE_PRIMITIVE, def.path, &type));
            ret->kind = TARGET_EXTERNAL;
            ret->path = eval_member_path(self, type, ret->name);
        }
        return CG_OK;
    case DEF_SELF_TYPE:
        ret->type = scope->bindings.self_type;
        if (def.rest == 1) {
            ret->kind = TARGET_MEMBER;
        } else if (!def.rest && ret->type && type_at(self->types, ret->type)->kind == TYPE_ITEM) {
            ret->kind = TARGET_ITEM;
            ret->item = type_at(self->types, ret->type)->item;
        }
        return CG_OK;
    case DEF_NONE:
    case DEF_MODULE: break;
    }
    if (prefix) {
        CG_TRY(eval_path_type(self, prefix, &ret->type));
        if (ret->type)
            ret->kind = TARGET_MEMBER;
        return CG_OK;
    }
    if (node.text)
        (void)is_word(self, node.text, ret);
    return CG_OK;
}

/* --- fields of declarations --- */

cg_code eval_item_fields(eval *self, item_ref item, type_ref owner, cg_str text, bool is_typed,
                         val *ret)
{
    const program_item *at = &self->program->items.at[item];
    file_ref file = at->file;
    module_ref module = at->module;
    bool is_variant = at->kind == ITEM_VARIANT;
    sym variant = is_variant ? at->name : 0;
    const ast *tree = program_tree(self->program, file);
    ast_ref body = ast_child(tree, at->node, ROLE_BODY);
    value_field fields[64];
    size_t count = 0;
    const model_type *shape = type_at(self->types, owner);
    type_bindings bindings = {.self_type = owner};
    sym names[16];
    type_ref types_of[16];
    ast_ref declared = is_variant ? self->program->items.at[at->owner].node : at->node;
    ast_ref generics = ast_child(tree, declared, ROLE_TYPE_PARAMETERS);

    self->program->items.at[item].is_listed = true;
    for (ast_ref i = generics ? ast_at(tree, generics)->first : 0; i && bindings.count < 16;
         i = ast_at(tree, i)->next) {
        ast_ref name = ast_child(tree, i, ROLE_NAME);

        if (ast_kind_of(tree, i) != AST_TYPE_PARAMETER || !name)
            continue;
        if (shape->kind != TYPE_ITEM || bindings.count >= shape->arg_count)
            break;
        names[bindings.count] = ast_at(tree, name)->text;
        types_of[bindings.count] = shape->args[bindings.count];
        bindings.count++;
    }
    bindings.names = names;
    bindings.types = types_of;
    for (ast_ref i = body ? ast_at(tree, body)->first : 0; i && count < 64;) {
        const ast_node *node;
        ast_ref type_node = 0;
        sym name = 0;
        type_ref type = 0;
        cg_str inner;

        tree = program_tree(self->program, file);
        node = ast_at(tree, i);
        if (node->kind == AST_FIELD_DECLARATION) {
            ast_ref label = ast_child(tree, i, ROLE_NAME);

            name = label ? ast_at(tree, label)->text : 0;
            type_node = ast_child(tree, i, ROLE_TYPE);
        } else if (node->role == ROLE_TYPE) {
            type_node = i;
        }
        i = node->next;
        if (!type_node)
            continue;
        CG_TRY(type_lower(self->types, module, file, type_node, &bindings, &type, self->reterr));
        if (name) {
            if (!value_name(self->values, text, ".", program_text(self->program, name), &inner))
                return err_nomem(self->reterr);
        } else {
            char digit = (char)('0' + count % 10);

            if (!value_name(self->values, text, ".", (cg_str){&digit, 1}, &inner))
                return err_nomem(self->reterr);
        }
        fields[count].name = name;
        if (is_typed) {
            fields[count].value = value_of_type(self->values, type, inner);
            if (!fields[count].value)
                return err_nomem(self->reterr);
        } else {
            model_place place = {0};

            CG_TRY(eval_default(self, type, place, &fields[count].value));
        }
        count++;
    }
    value made = {.kind = is_variant ? VALUE_ENUM : VALUE_STRUCT,
                  .is_known = true,
                  .type = owner,
                  .variant = variant,
                  .count = (uint16_t)count,
                  .text = is_typed ? text : (cg_str){NULL, 0}};

    made.as.fields = fields;
    return eval_give(self, value_make(self->values, &made), ret);
}

/* --- paths as values --- */

static val function_value(eval *self, item_ref item, const type_bindings *bindings, type_ref type)
{
    value made = {.kind = VALUE_FUNCTION, .is_known = true, .type = type};

    if (bindings) {
        type_bindings *copy = arena_take(&self->values->mem, sizeof *copy);

        if (!copy)
            return 0;
        *copy = *bindings;
        made.as.function.bindings = copy;
    }
    made.as.function.item = item;
    return value_make(self->values, &made);
}

static cg_code item_value(eval *self, item_ref item, type_ref type, val *ret)
{
    const program_item *at = &self->program->items.at[item];
    const ast *tree = program_tree(self->program, at->file);
    ast_ref body = ast_child(tree, at->node, ROLE_BODY);

    switch ((enum item_kind)at->kind) {
    case ITEM_CONST: return eval_constant(self, item, ret);
    case ITEM_STRUCT:
    case ITEM_VARIANT:
        if (!type)
            CG_TRY(item_type(self, item, &type));
        if (body)
            return eval_give(self, function_value(self, item, NULL, type), ret);
        value made = {.kind = at->kind == ITEM_VARIANT ? VALUE_ENUM : VALUE_STRUCT,
                      .is_known = true,
                      .type = type,
                      .variant = at->kind == ITEM_VARIANT ? at->name : 0};

        return eval_give(self, value_make(self->values, &made), ret);
    case ITEM_FUNCTION: return eval_give(self, function_value(self, item, NULL, 0), ret);
    case ITEM_NONE:
    case ITEM_ENUM:
    case ITEM_UNION:
    case ITEM_TRAIT:
    case ITEM_TYPE_ALIAS:
    case ITEM_IMPL:
    case ITEM_MACRO:
    case ITEM_MODULE: break;
    }
    return eval_give(self, value_unknown(self->values, 0, program_text(self->program, at->name)),
                     ret);
}

static item_ref constant_among(const eval *self, item_ref first, sym name)
{
    for (item_ref i = first; i; i = self->program->items.at[i].next_in_owner) {
        if (self->program->items.at[i].kind == ITEM_CONST &&
            self->program->items.at[i].name == name)
            return i;
    }
    return 0;
}

/* `Self::KEY` in a trait of the crate, where `Self` is a library's type that implements it. */
static cg_code find_trait_constant(eval *self, type_ref type, sym name, item_ref *ret)
{
    item_ref function = self->state->frame->function;
    item_ref owner = function ? self->program->items.at[function].owner : 0;
    const item_ref *impls = NULL;
    size_t count = 0;

    if (owner && self->program->items.at[owner].kind == ITEM_IMPL) {
        name_def def = {0};

        CG_TRY(names_of_impl(self->program, owner, true, &def, self->reterr));
        owner = def.kind == DEF_ITEM ? def.item : 0;
    }
    if (!owner || self->program->items.at[owner].kind != ITEM_TRAIT)
        return CG_OK;
    CG_TRY(type_impls_of(self->types, owner, 0, &impls, &count, self->reterr));
    for (size_t i = 0; i < count && !*ret; i++) {
        const program_item impl = self->program->items.at[impls[i]];
        ast_ref node = ast_child(program_tree(self->program, impl.file), impl.node, ROLE_TYPE);
        type_ref of = 0;

        if (node)
            CG_TRY(type_lower(self->types, impl.module, impl.file, node, NULL, &of, self->reterr));
        if (of == type)
            *ret = constant_among(self, impl.first_in_owner, name);
    }
    if (!*ret)
        *ret = constant_among(self, self->program->items.at[owner].first_in_owner, name);
    return CG_OK;
}

static cg_code find_constant(eval *self, type_ref type, sym name, item_ref *ret)
{
    const model_type *shape = type_at(self->types, type);
    const item_ref *impls = NULL;
    size_t count = 0;

    *ret = 0;
    if (type && shape->kind == TYPE_EXTERNAL)
        return find_trait_constant(self, type, name, ret);
    if (!type || shape->kind != TYPE_ITEM || !shape->item)
        return CG_OK;
    CG_TRY(type_impls_for(self->types, shape->item, &impls, &count, self->reterr));
    for (size_t i = 0; i < count && !*ret; i++)
        *ret = constant_among(self, self->program->items.at[impls[i]].first_in_owner, name);
    for (size_t i = 0; i < count && !*ret; i++) {
        name_def def = {0};

        CG_TRY(names_of_impl(self->program, impls[i], true, &def, self->reterr));
        if (def.kind == DEF_ITEM)
            *ret = constant_among(self, self->program->items.at[def.item].first_in_owner, name);
    }
    return CG_OK;
}

static bool is_upper(cg_str text)
{
    return text.len > 0 && text.ptr[0] >= 'A' && text.ptr[0] <= 'Z';
}

static bool is_shouted(cg_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] >= 'a' && text.ptr[i] <= 'z')
            return false;
    }
    return true;
}

static cg_code external_value(eval *self, sym path, val *ret)
{
    cg_str text = program_text(self->program, path);
    cg_str last = last_segment(text);
    bool is_known = false;

    CG_TRY(candle_constant(self, path, &is_known, ret));
    if (!is_known)
        CG_TRY(std_constant(self, path, &is_known, ret));
    if (is_known)
        return CG_OK;
    if (is_upper(last) && last.len + 2 < text.len && !(is_shouted(last) && last.len > 3)) {
        cg_str owner = {text.ptr, text.len - last.len - 2};

        if (is_upper(last_segment(owner))) {
            value made = {.kind = VALUE_ENUM, .is_known = true};

            CG_TRY(external_type(self, TYPE_EXTERNAL, intern_add(&self->program->names, owner),
                                 &made.type));
            made.variant = intern_add(&self->program->names, last);
            return eval_give(self, value_make(self->values, &made), ret);
        }
    }
    if (is_shouted(last))
        return eval_give(self, value_unknown(self->values, 0, text), ret);
    value made = {.kind = VALUE_FUNCTION, .is_known = true, .text = text};

    return eval_give(self, value_make(self->values, &made), ret);
}

static cg_code member_value(eval *self, const target *at, val *ret)
{
    item_ref item = eval_variant(self, at->type, at->name);
    enum type_kind kind = (enum type_kind)type_at(self->types, at->type)->kind;

    if (item)
        return item_value(self, item, at->type, ret);
    CG_TRY(find_constant(self, at->type, at->name, &item));
    if (item)
        return eval_constant(self, item, ret);
    if (kind == TYPE_EXTERNAL || kind == TYPE_PRIMITIVE) {
        sym path = eval_member_path(self, at->type, at->name);

        return path ? external_value(self, path, ret) : err_nomem(self->reterr);
    }
    method_found found = {0};

    if (at->type)
        CG_TRY(type_find_method(self->types, at->type, at->name, &found, self->reterr));
    if (found.function) {
        found.bindings.self_type = at->type;
        return eval_give(self, function_value(self, found.function, &found.bindings, 0), ret);
    }
    return eval_give(self, value_unknown(self->values, 0, program_text(self->program, at->name)),
                     ret);
}

cg_code eval_target_value(eval *self, const target *at, ast_ref node, val *ret)
{
    switch ((enum target_kind)at->kind) {
    case TARGET_LOCAL: return eval_give(self, eval_deref(self, at->value), ret);
    case TARGET_ITEM: return item_value(self, at->item, at->type, ret);
    case TARGET_MEMBER: return member_value(self, at, ret);
    case TARGET_TRAIT: {
        /* `Module::forward` as a function: the method of whatever it is given. */
        value made = {.kind = VALUE_FUNCTION,
                      .is_known = true,
                      .text = program_text(self->program, at->name)};

        return eval_give(self, value_make(self->values, &made), ret);
    }
    case TARGET_EXTERNAL: return external_value(self, at->path, ret);
    case TARGET_WORD: {
        value made = {.kind = VALUE_FUNCTION,
                      .is_known = true,
                      .text = program_text(self->program, eval_word(self, at->word))};

        if (at->word == WORD_NONE)
            return eval_give(self, eval_plain(self, VALUE_NOTHING), ret);
        return eval_give(self, value_make(self->values, &made), ret);
    }
    case TARGET_NONE: break;
    }
    return eval_give(self, value_unknown(self->values, 0, eval_source(self, "", node)), ret);
}

cg_code eval_constant(eval *self, item_ref constant, val *ret)
{
    eval_state *state = self->state;
    const program_item *at = &self->program->items.at[constant];
    frame *caller = state->frame;
    frame *scope;
    cg_str name = program_text(self->program, at->name);
    ast_ref node, type_node;
    type_ref type = 0;
    val made = 0;

    if (caller && !program_edge(self->program, caller->file, at->file))
        return err_nomem(self->reterr);
    while (state->constants.count <= constant) {
        val *slot = vec_add(self->program->heap, &state->constants);

        if (!slot)
            return err_nomem(self->reterr);
        *slot = 0;
    }
    *ret = state->constants.at[constant];
    if (*ret)
        return CG_OK;
    node = ast_child(program_tree(self->program, at->file), at->node, ROLE_VALUE);
    type_node = ast_child(program_tree(self->program, at->file), at->node, ROLE_TYPE);
    scope = frame_new(self, &(frame){.caller = caller,
                                     .file = at->file,
                                     .module = at->module,
                                     .function = constant,
                                     .first_pending = state->pendings.count});
    if (!scope)
        return err_nomem(self->reterr);
    if (at->owner) {
        name_def def = {0};

        if (self->program->items.at[at->owner].kind == ITEM_IMPL)
            CG_TRY(names_of_impl(self->program, at->owner, false, &def, self->reterr));
        if (def.kind == DEF_ITEM)
            CG_TRY(item_type(self, def.item, &scope->bindings.self_type));
    }
    /* What refers to itself is not known. */
    state->constants.at[constant] = value_unknown(self->values, 0, name);
    CG_TRY(eval_made(self, constant));
    state->frame = scope;
    if (type_node)
        CG_TRY(eval_type(self, type_node, &type));
    state->expected = type;
    if (node)
        CG_TRY(evaluate(self, node, &made));
    state->expected = 0;
    state->frame = caller;
    if (!made || eval_is_never(self, made))
        made = value_unknown(self->values, 0, name);
    made = made ? value_with_type(self->values, made, type) : 0;
    state->constants.at[constant] = made;
    return eval_give(self, made, ret);
}
