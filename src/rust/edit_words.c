#include "rust/edit_words.h"

#include "base/buf.h"

void edit_words_free(edit_words *self)
{
    vec_free(self->heap, &self->all);
    vec_free(self->heap, &self->methods);
}

static bool is_among(cg_str word, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (str_is(word, list[i]))
            return true;
    }
    return false;
}

#define AMONG(word, list) is_among(word, list, sizeof(list) / sizeof *(list))

/* --- what is said --- */

static void say(edit_words *self, cg_str text, enum edit_reach reach)
{
    edit_word *slot = vec_add(self->heap, &self->all);

    self->is_short = self->is_short || slot == NULL;
    if (slot != NULL)
        *slot = (edit_word){text, (uint8_t)reach};
}

static bool is_name(uint8_t kind)
{
    return kind == AST_IDENTIFIER || kind == AST_TYPE_IDENTIFIER || kind == AST_FIELD_IDENTIFIER ||
           kind == AST_SHORTHAND_FIELD_IDENTIFIER;
}

/* The first node behind everything inside of `top`: nodes are in the order of the text. */
static ast_ref behind(const ast *tree, ast_ref top)
{
    for (ast_ref at = top; at; at = ast_at(tree, at)->parent) {
        if (ast_at(tree, at)->next)
            return ast_at(tree, at)->next;
    }
    return tree->parsed;
}

/* All names in a part of the tree. */
static void say_names(edit_words *self, const ast *tree, ast_ref top, enum edit_reach reach)
{
    ast_ref end = top ? behind(tree, top) : 0;

    for (ast_ref at = top; at < end; at++) {
        if (is_name(ast_kind_of(tree, at)))
            say(self, ast_text(tree, at), reach);
    }
}

static void say_name(edit_words *self, const ast *tree, ast_ref item, enum edit_reach reach)
{
    ast_ref name = ast_child(tree, item, ROLE_NAME);

    if (name)
        say(self, ast_text(tree, name), reach);
    else
        self->is_open = true;
}

/* The impl an item is a member of; 0: none. */
static ast_ref impl_of(const ast *tree, ast_ref item)
{
    ast_ref list = ast_at(tree, item)->parent;
    ast_ref owner = list ? ast_at(tree, list)->parent : 0;

    return owner && ast_kind_of(tree, owner) == AST_IMPL_ITEM ? owner : 0;
}

/* Whoever has the type of the impl, or calls by its trait. */
static void say_impl(edit_words *self, const ast *tree, ast_ref impl)
{
    ast_ref trait = ast_child(tree, impl, ROLE_TRAIT);

    say_names(self, tree, ast_child(tree, impl, ROLE_TYPE), EDIT_BY_USERS);
    if (trait)
        say_names(self, tree, trait, EDIT_BY_TRAIT);
}

/* --- functions --- */

static bool has_self(const ast *tree, ast_ref function)
{
    ast_ref list = ast_child(tree, function, ROLE_PARAMETERS);

    for (ast_ref at = list ? ast_at(tree, list)->first : 0; at; at = ast_at(tree, at)->next) {
        ast_ref pattern = ast_child(tree, at, ROLE_PATTERN);

        if (ast_kind_of(tree, at) == AST_SELF_PARAMETER ||
            (pattern && ast_kind_of(tree, pattern) == AST_SELF))
            return true;
    }
    return false;
}

bool edit_words_may_make(const ast *tree, ast_ref function)
{
    ast_ref list = ast_child(tree, function, ROLE_PARAMETERS);
    bool is_given = false;

    for (ast_ref at = list ? ast_at(tree, list)->first : 0; at; at = ast_at(tree, at)->next) {
        ast_ref pattern = ast_child(tree, at, ROLE_PATTERN);

        is_given = is_given || (ast_kind_of(tree, at) == AST_PARAMETER &&
                                !(pattern && ast_kind_of(tree, pattern) == AST_SELF));
    }
    return is_given && ast_child(tree, function, ROLE_RETURN_TYPE);
}

static void note_method(edit_words *self, const ast *tree, ast_ref function, bool is_new)
{
    ast_ref name = ast_child(tree, function, ROLE_NAME);
    edit_method *slot;

    if (!name || !has_self(tree, function))
        return;
    slot = vec_add(self->heap, &self->methods);
    self->is_short = self->is_short || slot == NULL;
    if (slot != NULL)
        *slot = (edit_method){ast_text(tree, name), is_new};
}

static void say_function(edit_words *self, const ast *tree, ast_ref function, bool is_new)
{
    ast_ref impl = impl_of(tree, function);
    ast_ref list = ast_child(tree, function, ROLE_PARAMETERS);
    ast_ref name = ast_child(tree, function, ROLE_NAME);

    say_name(self, tree, function, is_new && !impl ? EDIT_BY_ANYONE : EDIT_BY_USERS);
    self->is_open = self->is_open || !name || str_equal(ast_text(tree, name), CG_LIT("main"));
    if (edit_words_may_make(tree, function)) {
        say_names(self, tree, ast_child(tree, function, ROLE_RETURN_TYPE), EDIT_AS_COMPONENT);
        if (impl)
            say_names(self, tree, ast_child(tree, impl, ROLE_TYPE), EDIT_AS_COMPONENT);
    }
    if (!impl)
        return;
    /* What is made of nothing is an example of its type, for all who have one. */
    if (ast_child(tree, impl, ROLE_TRAIT) || !list || !ast_at(tree, list)->first)
        say_impl(self, tree, impl);
}

/* --- structs and the like --- */

/* The list of fields or variants; 0: none. */
static ast_ref parts_of(const ast *tree, ast_ref item)
{
    return ast_child(tree, item, ROLE_BODY);
}

static bool is_part(uint8_t kind)
{
    return kind == AST_FIELD_DECLARATION || kind == AST_ENUM_VARIANT;
}

/* Is there a field or variant of the same text? */
static bool has_part(const ast *tree, ast_ref list, cg_str text)
{
    for (ast_ref at = list ? ast_at(tree, list)->first : 0; at; at = ast_at(tree, at)->next) {
        if (is_part(ast_kind_of(tree, at)) && str_equal(ast_text(tree, at), text))
            return true;
    }
    return false;
}

/* A field without a name is called by its number. */
static void say_numbers(edit_words *self, const ast *tree, ast_ref list)
{
    static const char digits[] = "0 1 2 3 4 5 6 7 8 9";
    size_t count = 0;

    for (ast_ref at = ast_at(tree, list)->first; at; at = ast_at(tree, at)->next)
        count += ast_at(tree, at)->role == ROLE_TYPE;
    self->is_open = self->is_open || count > 10;
    for (size_t i = 0; i < count && i < 10; i++)
        say(self, (cg_str){digits + 2 * i, 1}, EDIT_BY_USERS);
}

/* Fields and variants that the other one does not have. */
static void say_parts(edit_words *self, const ast *tree, ast_ref item, const ast *other,
                      ast_ref other_item)
{
    ast_ref list = parts_of(tree, item), theirs = parts_of(other, other_item);

    if (list && ast_kind_of(tree, list) == AST_ORDERED_FIELD_DECLARATION_LIST)
        say_numbers(self, tree, list);
    for (ast_ref at = list ? ast_at(tree, list)->first : 0; at; at = ast_at(tree, at)->next) {
        ast_ref inner = 0;

        if (!is_part(ast_kind_of(tree, at)) || has_part(other, theirs, ast_text(tree, at)))
            continue;
        say_name(self, tree, at, EDIT_BY_USERS);
        inner = ast_kind_of(tree, at) == AST_ENUM_VARIANT ? parts_of(tree, at) : 0;
        if (inner)
            say_names(self, tree, inner, EDIT_BY_USERS);
    }
}

static void say_variants(edit_words *self, const ast *tree, ast_ref item)
{
    ast_ref list = ast_kind_of(tree, item) == AST_ENUM_ITEM ? parts_of(tree, item) : 0;

    for (ast_ref at = list ? ast_at(tree, list)->first : 0; at; at = ast_at(tree, at)->next) {
        if (ast_kind_of(tree, at) == AST_ENUM_VARIANT)
            say_name(self, tree, at, EDIT_BY_USERS);
    }
}

/* --- impls --- */

/* What the evaluation of other text does without a word of it being there. */
static const char *const OPERATORS[] = {
    "Deref",     "DerefMut",  "Index",     "IndexMut", "From",       "Into",         "TryFrom",
    "TryInto",   "FromStr",   "AsRef",     "AsMut",    "Borrow",     "Add",          "Sub",
    "Mul",       "Div",       "Rem",       "Neg",      "Not",        "AddAssign",    "SubAssign",
    "MulAssign", "DivAssign", "RemAssign", "BitAnd",   "BitOr",      "BitXor",       "Shl",
    "Shr",       "Fn",        "FnMut",     "FnOnce",   "Iterator",   "IntoIterator", "FromIterator",
    "Extend",    "PartialEq", "Eq",        "Ord",      "PartialOrd", "Drop",         "Sum",
    "Product",   "ToOwned",   "Hash",      "ToString", "Error",      "Try",
};

static ast_ref leaf_of(const ast *tree, ast_ref type)
{
    while (type && ast_kind_of(tree, type) == AST_GENERIC_TYPE)
        type = ast_child(tree, type, ROLE_TYPE);
    if (type && ast_kind_of(tree, type) == AST_SCOPED_TYPE_IDENTIFIER)
        type = ast_child(tree, type, ROLE_NAME);
    return type;
}

/* Is it a struct or enum of the file, then and now or newly so? */
static bool is_own_type(const edit_words *self, enum edit_side side, cg_str name)
{
    const ast *tree = self->trees[side];

    for (ast_ref at = 1; at < tree->parsed; at++) {
        ast_ref word = 0;

        if (ast_kind_of(tree, at) == AST_STRUCT_ITEM || ast_kind_of(tree, at) == AST_ENUM_ITEM)
            word = ast_child(tree, at, ROLE_NAME);
        if (word && str_equal(ast_text(tree, word), name))
            return true;
    }
    return false;
}

/* Is the name one of the impl's own parameters? */
static bool is_parameter(const ast *tree, ast_ref impl, cg_str name)
{
    ast_ref list = ast_child(tree, impl, ROLE_TYPE_PARAMETERS);

    for (ast_ref at = list ? ast_at(tree, list)->first : 0; at; at = ast_at(tree, at)->next) {
        ast_ref word = ast_child(tree, at, ROLE_NAME);

        if (word && str_equal(ast_text(tree, word), name))
            return true;
    }
    return false;
}

static void say_member(edit_words *self, const ast *tree, ast_ref member, bool is_new)
{
    switch (ast_kind_of(tree, member)) {
    case AST_FUNCTION_ITEM:
        say_function(self, tree, member, is_new);
        note_method(self, tree, member, is_new);
        break;
    case AST_CONST_ITEM:
    case AST_TYPE_ITEM: say_name(self, tree, member, EDIT_BY_USERS); break;
    case AST_ATTRIBUTE_ITEM:
        self->is_open = self->is_open || !edit_words_is_idle(tree, member);
        break;
    default: self->is_open = true;
    }
}

static void say_block(edit_words *self, enum edit_side side, ast_ref impl)
{
    const ast *tree = self->trees[side];
    ast_ref trait = ast_child(tree, impl, ROLE_TRAIT);
    ast_ref type = leaf_of(tree, ast_child(tree, impl, ROLE_TYPE));
    ast_ref list = ast_child(tree, impl, ROLE_BODY);
    ast_ref leaf = leaf_of(tree, trait);

    self->is_open = self->is_open || !list || !type ||
                    ast_kind_of(tree, type) != AST_TYPE_IDENTIFIER ||
                    is_parameter(tree, impl, ast_text(tree, type)) ||
                    !is_own_type(self, side, ast_text(tree, type)) ||
                    (trait && (!leaf || AMONG(ast_text(tree, leaf), OPERATORS)));
    if (self->is_open)
        return;
    if (trait)
        say_impl(self, tree, impl);
    for (ast_ref at = ast_at(tree, list)->first; at; at = ast_at(tree, at)->next)
        say_member(self, tree, at, side == EDIT_NOW);
}

/* --- items --- */

bool edit_words_is_idle(const ast *tree, ast_ref attribute)
{
    static const char *const idle[] = {"allow",   "inline", "doc",           "must_use",
                                       "warn",    "expect", "deprecated",    "derive",
                                       "rustfmt", "serde",  "non_exhaustive"};
    ast_ref inner = ast_at(tree, attribute)->first;
    cg_str text = inner ? ast_text(tree, inner) : (cg_str){0};
    size_t end = 0;

    while (end < text.len &&
           ((text.ptr[end] >= 'a' && text.ptr[end] <= 'z') || text.ptr[end] == '_'))
        end++;
    return AMONG(((cg_str){text.ptr, end}), idle);
}

/* A member of an impl belongs to its type, and to its trait. */
static void say_owner(edit_words *self, const ast *tree, ast_ref item)
{
    ast_ref impl = impl_of(tree, item);

    if (impl && ast_child(tree, impl, ROLE_TRAIT))
        say_impl(self, tree, impl);
}

void edit_words_come(edit_words *self, enum edit_side side, ast_ref item)
{
    const ast *tree = self->trees[side];
    bool is_new = side == EDIT_NOW;
    ast_ref impl = impl_of(tree, item);

    switch (ast_kind_of(tree, item)) {
    case AST_FUNCTION_ITEM: say_member(self, tree, item, is_new); break;
    case AST_STRUCT_ITEM:
    case AST_ENUM_ITEM:
    case AST_CONST_ITEM:
    case AST_STATIC_ITEM:
    case AST_TYPE_ITEM:
        say_name(self, tree, item, is_new && !impl ? EDIT_BY_ANYONE : EDIT_BY_USERS);
        say_variants(self, tree, item);
        say_owner(self, tree, item);
        break;
    case AST_IMPL_ITEM: say_block(self, side, item); break;
    case AST_EMPTY_STATEMENT: break;
    default: self->is_open = true;
    }
}

/* Who can see it is another one now. */
static bool is_seen_otherwise(const edit_words *self, ast_ref before, ast_ref after)
{
    ast_ref a = ast_child_kind(self->trees[EDIT_THEN], before, AST_VISIBILITY_MODIFIER);
    ast_ref b = ast_child_kind(self->trees[EDIT_NOW], after, AST_VISIBILITY_MODIFIER);
    cg_str then = a ? ast_text(self->trees[EDIT_THEN], a) : CG_LIT("");
    cg_str now = b ? ast_text(self->trees[EDIT_NOW], b) : CG_LIT("");

    return !str_equal(then, now);
}

/* A field of a number, a `bool` or a `char`, without attributes. */
static bool is_plain_field(const ast *tree, ast_ref field)
{
    ast_ref type = ast_child(tree, field, ROLE_TYPE), around = ast_before(tree, field);

    return ast_kind_of(tree, field) == AST_FIELD_DECLARATION && type &&
           ast_kind_of(tree, type) == AST_PRIMITIVE_TYPE &&
           !(around && ast_kind_of(tree, around) == AST_ATTRIBUTE_ITEM);
}

/* Are the fields that only the first one has plain, and all others in the order of the second? */
static bool has_more_plain(const ast *tree, ast_ref list, const ast *other, ast_ref theirs)
{
    ast_ref k = ast_at(other, theirs)->first;

    for (ast_ref i = ast_at(tree, list)->first; i; i = ast_at(tree, i)->next) {
        if (k && str_equal(ast_text(tree, i), ast_text(other, k)))
            k = ast_at(other, k)->next;
        else if (!is_plain_field(tree, i))
            return false;
    }
    return !k;
}

/* Has a struct nothing but plain fields more, or nothing but plain fields less? */
static bool has_other_plain(const edit_words *self, ast_ref before, ast_ref after)
{
    const ast *then = self->trees[EDIT_THEN], *now = self->trees[EDIT_NOW];
    ast_ref a = parts_of(then, before), b = parts_of(now, after);
    cg_str heads[2];

    if (ast_kind_of(now, after) != AST_STRUCT_ITEM || !a || !b ||
        ast_kind_of(then, a) != AST_FIELD_DECLARATION_LIST ||
        ast_kind_of(now, b) != AST_FIELD_DECLARATION_LIST)
        return false;
    heads[0] = ast_text(then, before);
    heads[0].len = ast_at(then, a)->start - ast_at(then, before)->start;
    heads[1] = ast_text(now, after);
    heads[1].len = ast_at(now, b)->start - ast_at(now, after)->start;
    return str_equal(heads[0], heads[1]) &&
           (has_more_plain(then, a, now, b) || has_more_plain(now, b, then, a));
}

void edit_words_change_all(edit_words *self, ast_ref before, ast_ref after)
{
    if (ast_kind_of(self->trees[EDIT_NOW], after) == AST_STRUCT_ITEM)
        say_name(self, self->trees[EDIT_NOW], after, EDIT_BY_USERS);
    else
        edit_words_change(self, before, after);
}

void edit_words_change(edit_words *self, ast_ref before, ast_ref after)
{
    const ast *then = self->trees[EDIT_THEN], *now = self->trees[EDIT_NOW];
    bool is_new = is_seen_otherwise(self, before, after);

    switch (ast_kind_of(now, after)) {
    case AST_FUNCTION_ITEM:
        say_function(self, then, before, false);
        say_function(self, now, after, is_new);
        if (has_self(then, before) != has_self(now, after)) {
            note_method(self, then, before, false);
            note_method(self, now, after, true);
        }
        break;
    case AST_STRUCT_ITEM:
    case AST_ENUM_ITEM:
        say_parts(self, then, before, now, after);
        say_parts(self, now, after, then, before);
        say_name(self, now, after,
                 is_new                                 ? EDIT_BY_ANYONE
                 : has_other_plain(self, before, after) ? EDIT_AS_LITERAL
                                                        : EDIT_BY_USERS);
        break;
    case AST_CONST_ITEM:
    case AST_STATIC_ITEM:
    case AST_TYPE_ITEM:
        say_name(self, now, after, is_new ? EDIT_BY_ANYONE : EDIT_BY_USERS);
        say_owner(self, now, after);
        break;
    default: self->is_open = true;
    }
}

/* --- `use` --- */

/* What one leaf of a `use` brings. */
typedef struct brought {
    cg_str whole; /* its path, and its other name */
    cg_str name;
} brought;

typedef struct brought_list {
    arena mem;
    VEC(brought) all;
} brought_list;

static bool is_leaf(const ast *tree, ast_ref at)
{
    const ast_node *node = ast_at(tree, at);
    uint8_t around = ast_kind_of(tree, node->parent);

    if (node->kind == AST_SCOPED_USE_LIST || node->kind == AST_USE_LIST)
        return false;
    return around == AST_USE_LIST || (around == AST_USE_DECLARATION && node->role == ROLE_ARGUMENT);
}

/* The last name of a path; of `a::b::{self}` it is that of the list around. */
static cg_str last_name(const ast *tree, ast_ref path)
{
    for (unsigned depth = 0; path && depth < 100; depth++) {
        switch (ast_kind_of(tree, path)) {
        case AST_SCOPED_IDENTIFIER: path = ast_child(tree, path, ROLE_NAME); break;
        case AST_USE_AS_CLAUSE: path = ast_child(tree, path, ROLE_PATH); break;
        case AST_SELF:
            path = ast_at(tree, ast_at(tree, path)->parent)->parent;
            path = path ? ast_child(tree, path, ROLE_PATH) : 0;
            break;
        default: return is_name(ast_kind_of(tree, path)) ? ast_text(tree, path) : (cg_str){0};
        }
    }
    return (cg_str){0};
}

static void bring(edit_words *self, brought_list *list, const ast *tree, ast_ref leaf)
{
    ast_ref alias =
        ast_kind_of(tree, leaf) == AST_USE_AS_CLAUSE ? ast_child(tree, leaf, ROLE_ALIAS) : 0;
    brought *slot = vec_add(self->heap, &list->all);
    buf path;

    self->is_short = self->is_short || slot == NULL;
    if (slot == NULL)
        return;
    *slot = (brought){.name = last_name(tree, leaf)};
    if (alias && is_name(ast_kind_of(tree, alias)) &&
        !str_equal(ast_text(tree, alias), CG_LIT("_")))
        slot->name = ast_text(tree, alias);
    self->is_open = self->is_open || !slot->name.ptr;
    buf_init(&path, self->heap, SIZE_MAX / 2);
    buf_add(&path, ast_text(tree, leaf));
    for (ast_ref at = ast_at(tree, leaf)->parent; at; at = ast_at(tree, at)->parent) {
        ast_ref before =
            ast_kind_of(tree, at) == AST_SCOPED_USE_LIST ? ast_child(tree, at, ROLE_PATH) : 0;

        buf_add(&path, CG_LIT(" in "));
        if (before)
            buf_add(&path, ast_text(tree, before));
        if (ast_kind_of(tree, at) == AST_USE_DECLARATION)
            break;
    }
    self->is_short =
        self->is_short || path.failed || !arena_text(&list->mem, buf_text(&path), &slot->whole);
    buf_free(&path);
}

static void bring_all(edit_words *self, brought_list *list, const ast *tree, const ast_ref *uses,
                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ast_ref end = behind(tree, uses[i]);

        for (ast_ref at = uses[i] + 1; at < end && !self->is_short; at++) {
            uint8_t kind = ast_kind_of(tree, at);

            self->is_open = self->is_open || kind == AST_USE_WILDCARD ||
                            kind == AST_VISIBILITY_MODIFIER || kind == AST_OTHER;
            if (is_leaf(tree, at))
                bring(self, list, tree, at);
        }
    }
}

static void say_brought(edit_words *self, const brought_list *from, const brought_list *other)
{
    for (size_t i = 0; i < from->all.count; i++) {
        bool is_there = false;

        for (size_t k = 0; k < other->all.count && !is_there; k++)
            is_there = str_equal(from->all.at[i].whole, other->all.at[k].whole);
        if (!is_there)
            say(self, from->all.at[i].name, EDIT_IN_MODULE);
    }
}

void edit_words_uses(edit_words *self, const ast_ref *before, size_t before_count,
                     const ast_ref *after, size_t after_count)
{
    brought_list lists[2] = {0};

    for (size_t i = 0; i < 2; i++)
        arena_init(&lists[i].mem, self->heap);
    bring_all(self, &lists[EDIT_THEN], self->trees[EDIT_THEN], before, before_count);
    bring_all(self, &lists[EDIT_NOW], self->trees[EDIT_NOW], after, after_count);
    if (!self->is_short && !self->is_open) {
        say_brought(self, &lists[EDIT_THEN], &lists[EDIT_NOW]);
        say_brought(self, &lists[EDIT_NOW], &lists[EDIT_THEN]);
    }
    for (size_t i = 0; i < 2; i++) {
        vec_free(self->heap, &lists[i].all);
        arena_free(&lists[i].mem);
    }
}
