#include "model/mentions.h"

#include "rust/kept.h"
#include "rust/words.h"

#define REACH(which) (1u << (which))

/* An item of a file, as it was: declarations one by one, functions with what they stand in. */
typedef struct unit {
    ast_ref node;
    ast_ref around;  /* the impl or trait it is a member of; 0: none */
    uint32_t number; /* of its first function, as rust/edit counts */
    uint32_t count;  /* of functions */
    bool is_said;    /* it has one of the words, */
    bool is_named;   /* and so in what others see of it */
} unit;

typedef struct unit_file {
    bool is_loaded;
    bool is_whole; /* its tree is known */
    rust_source source;
    ast tree;
    intern names;
    VEC(unit) units;
} unit_file;

typedef struct finder {
    const mentions_question *about;
    const rescan_base *base;
    arena *mem;
    intern words;
    VEC(uint8_t) reach; /* by word */
    unit_file *files;
    bool *users;  /* files that use something of one where something is said */
    bool *inside; /* modules of the files that have changed, and in them */
    bool is_more;
    mentions *out;
    cg_err *reterr;
} finder;

static cg_code nomem(const finder *self)
{
    return err_nomem(self->reterr);
}

/* --- words --- */

static bool is_among(cg_str name, const cg_str *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (str_equal(names[i], name))
            return true;
    }
    return false;
}

static bool say(finder *self, cg_str text, enum edit_reach reach)
{
    sym word;

    /* Who calls by a trait of a library has the type from somebody who names it. */
    if (reach == EDIT_BY_TRAIT && !is_among(text, self->base->traits, self->base->trait_count))
        return true;
    if (reach == EDIT_BY_TRAIT)
        reach = EDIT_BY_ANYONE;
    if (reach == EDIT_AS_LITERAL && is_among(text, self->base->listed, self->base->listed_count))
        reach = EDIT_BY_USERS;
    word = intern_add(&self->words, text);
    while (word && self->reach.count <= word) {
        uint8_t *slot = vec_add(self->about->heap, &self->reach);

        if (!slot)
            return false;
        *slot = 0;
    }
    if (word && !(self->reach.at[word] & REACH(reach))) {
        self->reach.at[word] |= (uint8_t)REACH(reach);
        self->is_more = self->is_more || reach != EDIT_AS_COMPONENT;
    }
    return word != 0;
}

/* Does the word mean in this file what has changed? */
static bool is_meant(const finder *self, uint32_t file, sym word)
{
    uint8_t reach = self->reach.at[word];

    return (reach & REACH(EDIT_BY_ANYONE)) ||
           ((reach & REACH(EDIT_BY_USERS)) && self->users[file]) ||
           ((reach & REACH(EDIT_IN_MODULE)) && self->inside[file]);
}

static bool has_word(const finder *self, uint32_t file, cg_str text)
{
    cg_str found;

    for (size_t at = 0; words_next(text, &at, &found);) {
        sym word = intern_find(&self->words, found);

        if (word && is_meant(self, file, word))
            return true;
    }
    return false;
}

/* Is it a struct that who writes it out must write in another way? */
static bool is_written(const finder *self, uint32_t file, sym word)
{
    return (self->reach.at[word] & REACH(EDIT_AS_LITERAL)) && self->users[file];
}

/* `S::new` asks for something else of a struct. */
static bool is_path(cg_str text, size_t at)
{
    cg_str rest = {text.ptr + at, text.len - at};
    char next = rest.len > 2 ? (char)(rest.ptr[2] | 32) : 0;

    return str_starts_with(rest, CG_LIT("::")) && next >= 'a' && next <= 'z';
}

/* Does a text say such a struct, but for paths that begin with it where those may be? */
static bool has_written(const finder *self, uint32_t file, cg_str text, bool may_be_path)
{
    cg_str found;

    for (size_t at = 0; words_next(text, &at, &found);) {
        sym word = intern_find(&self->words, found);

        if (word && is_written(self, file, word) && !(may_be_path && is_path(text, at)))
            return true;
    }
    return false;
}

static bool may_have_word(const finder *self, uint32_t file)
{
    for (sym i = 1; i < self->reach.count; i++) {
        if ((is_meant(self, file, i) || is_written(self, file, i)) &&
            words_may_have(self->base->files[file].words, intern_text_of(&self->words, i)))
            return true;
    }
    return false;
}

/* --- files --- */

/* Everything that uses a file, one over the other. */
static void add_users(finder *self, uint32_t file)
{
    const rescan_base *base = self->base;
    bool is_more = !self->users[file];

    self->users[file] = true;
    self->is_more = self->is_more || is_more;
    while (is_more) {
        is_more = false;
        for (size_t i = 0; i < base->link_count; i++) {
            if (!self->users[base->links[i].to] || self->users[base->links[i].from])
                continue;
            self->users[base->links[i].from] = is_more = true;
        }
    }
}

static void add_inside(finder *self, uint32_t file)
{
    const rescan_base *base = self->base;
    bool is_more = true;

    self->inside[file] = true;
    while (is_more) {
        is_more = false;
        for (size_t i = 0; i < base->file_count; i++) {
            uint32_t above = base->files[i].above;

            if (above == RESCAN_NO_FILE || !self->inside[above] || self->inside[i])
                continue;
            self->inside[i] = is_more = true;
        }
    }
}

/* --- units --- */

static bool is_name(uint8_t kind)
{
    return kind == AST_IDENTIFIER || kind == AST_TYPE_IDENTIFIER || kind == AST_FIELD_IDENTIFIER;
}

/* The first node behind everything inside of `top`. */
static ast_ref behind(const ast *tree, ast_ref top)
{
    for (ast_ref at = top; at; at = ast_at(tree, at)->parent) {
        if (ast_at(tree, at)->next)
            return ast_at(tree, at)->next;
    }
    return tree->parsed;
}

/* The list of items inside: of a module, an impl, a trait. */
static ast_ref items_in(const ast *tree, ast_ref item)
{
    ast_ref list = ast_child(tree, item, ROLE_BODY);

    return list && ast_kind_of(tree, list) == AST_DECLARATION_LIST ? list : 0;
}

static bool is_block(uint8_t kind)
{
    return kind == AST_IMPL_ITEM || kind == AST_TRAIT_ITEM;
}

static bool add_unit(const finder *self, unit_file *file, ast_ref node, uint32_t *number)
{
    const ast *tree = &file->tree;
    uint8_t kind = ast_kind_of(tree, node);
    ast_ref above = ast_at(tree, ast_at(tree, node)->parent)->parent;
    ast_ref end = is_block(kind) ? node : behind(tree, node);
    unit *to = vec_add(self->about->heap, &file->units);

    if (!to)
        return false;
    *to = (unit){.node = node,
                 .around = above && is_block(ast_kind_of(tree, above)) ? above : 0,
                 .number = *number};
    for (ast_ref i = node; i < end; i++)
        to->count += ast_kind_of(tree, i) == AST_FUNCTION_ITEM;
    *number += to->count;
    return true;
}

/* Nodes are in the order of the text: modules and blocks are entered, others passed. */
static bool list_units(const finder *self, unit_file *file)
{
    const ast *tree = &file->tree;
    uint32_t number = 0;

    for (ast_ref at = ast_at(tree, 1)->first; at && at < tree->parsed;) {
        uint8_t kind = ast_kind_of(tree, at);
        ast_ref list = kind == AST_MOD_ITEM || is_block(kind) ? items_in(tree, at) : 0;

        if (kind != AST_ATTRIBUTE_ITEM && kind != AST_INNER_ATTRIBUTE_ITEM &&
            kind != AST_MOD_ITEM && !add_unit(self, file, at, &number))
            return false;
        at = list ? list + 1 : behind(tree, at);
        /* An empty list has no node behind it that is its own. */
    }
    return true;
}

static cg_code load_units(finder *self, uint32_t which)
{
    unit_file *file = &self->files[which];
    program_text_given given = {0};

    if (file->is_loaded)
        return CG_OK;
    file->is_loaded = true;
    CG_TRY(self->about->load(self->about->context, which, &given, self->reterr));
    if (!intern_init(&file->names, self->about->heap, 1) ||
        !source_init(&file->source, self->mem, self->base->files[which].path, given.text))
        return nomem(self);
    if (given.tree.ptr)
        CG_TRY(kept_read(given.tree, &file->source, &file->names, self->about->heap, &file->tree,
                         &file->is_whole, self->reterr));
    return !file->is_whole || list_units(self, file) ? CG_OK : nomem(self);
}

static cg_str text_between(const ast *tree, uint32_t start, uint32_t end)
{
    return (cg_str){tree->source->text.ptr + start, end > start ? end - start : 0};
}

/* What others see of an item: all of it but the body of a function, the members of a block. */
static cg_str head_of(const ast *tree, ast_ref item)
{
    const ast_node *node = ast_at(tree, item);
    uint8_t kind = node->kind;
    ast_ref body =
        kind == AST_FUNCTION_ITEM || is_block(kind) ? ast_child(tree, item, ROLE_BODY) : 0;

    return text_between(tree, node->start, body ? ast_at(tree, body)->start : node->end);
}

static cg_str body_of(const ast *tree, ast_ref item)
{
    ast_ref body =
        ast_kind_of(tree, item) == AST_FUNCTION_ITEM ? ast_child(tree, item, ROLE_BODY) : 0;

    return body ? ast_text(tree, body) : (cg_str){0};
}

/* --- what a unit that says a word is called --- */

static bool say_name(finder *self, const ast *tree, ast_ref item, enum edit_reach reach)
{
    ast_ref name = ast_child(tree, item, ROLE_NAME);

    return !name || say(self, ast_text(tree, name), reach);
}

static bool say_names(finder *self, const ast *tree, ast_ref top, enum edit_reach reach)
{
    ast_ref end = top ? behind(tree, top) : 0;

    for (ast_ref at = top; at < end; at++) {
        if (is_name(ast_kind_of(tree, at)) && !say(self, ast_text(tree, at), reach))
            return false;
    }
    return true;
}

/* The fields or variants that say a word. */
static bool say_parts(finder *self, uint32_t which, const ast *tree, ast_ref item)
{
    ast_ref list = ast_child(tree, item, ROLE_BODY);

    for (ast_ref at = list ? ast_at(tree, list)->first : 0; at; at = ast_at(tree, at)->next) {
        if (ast_kind_of(tree, at) != AST_ATTRIBUTE_ITEM &&
            has_word(self, which, ast_text(tree, at)) && !say_name(self, tree, at, EDIT_BY_USERS))
            return false;
    }
    return say_name(self, tree, item, EDIT_BY_USERS);
}

static bool say_function(finder *self, const ast *tree, const unit *at)
{
    ast_ref around = at->around;

    if (!say_name(self, tree, at->node, EDIT_BY_USERS))
        return false;
    return !edit_words_may_make(tree, at->node) ||
           (say_names(self, tree, ast_child(tree, at->node, ROLE_RETURN_TYPE), EDIT_AS_COMPONENT) &&
            (!around || ast_kind_of(tree, around) != AST_IMPL_ITEM ||
             say_names(self, tree, ast_child(tree, around, ROLE_TYPE), EDIT_AS_COMPONENT)));
}

/* Other names that a `use` gives to what is written another way. */
static bool say_written(finder *self, uint32_t which, const ast *tree, ast_ref item)
{
    ast_ref end = behind(tree, item);

    for (ast_ref at = item; at < end; at++) {
        ast_ref alias =
            ast_kind_of(tree, at) == AST_USE_AS_CLAUSE ? ast_child(tree, at, ROLE_ALIAS) : 0;

        if (alias && has_written(self, which, ast_text(tree, at), false) &&
            !say(self, ast_text(tree, alias), EDIT_AS_LITERAL))
            return false;
    }
    return true;
}

/* Other names that a `use` gives. */
static bool say_aliases(finder *self, const ast *tree, ast_ref item)
{
    ast_ref end = behind(tree, item);

    for (ast_ref at = item; at < end; at++) {
        ast_ref alias =
            ast_kind_of(tree, at) == AST_USE_AS_CLAUSE ? ast_child(tree, at, ROLE_ALIAS) : 0;

        if (alias && !say(self, ast_text(tree, alias), EDIT_BY_USERS))
            return false;
    }
    return true;
}

static bool say_unit(finder *self, uint32_t which, const ast *tree, const unit *at)
{
    switch (ast_kind_of(tree, at->node)) {
    case AST_FUNCTION_ITEM: return say_function(self, tree, at);
    case AST_STRUCT_ITEM:
    case AST_ENUM_ITEM: return say_parts(self, which, tree, at->node);
    case AST_CONST_ITEM:
    case AST_STATIC_ITEM: return say_name(self, tree, at->node, EDIT_BY_USERS);
    case AST_TYPE_ITEM:
    case AST_ASSOCIATED_TYPE:
    case AST_FUNCTION_SIGNATURE_ITEM:
        return say_name(self, tree, at->node, EDIT_BY_USERS) &&
               (!at->around ||
                say_names(self, tree, ast_child(tree, at->around, ROLE_TYPE), EDIT_BY_USERS)) &&
               (!at->around || say_name(self, tree, at->around, EDIT_BY_USERS));
    case AST_TRAIT_ITEM: return say_name(self, tree, at->node, EDIT_BY_USERS);
    case AST_IMPL_ITEM:
        return say_names(self, tree, ast_child(tree, at->node, ROLE_TYPE), EDIT_BY_USERS);
    case AST_USE_DECLARATION: return say_aliases(self, tree, at->node);
    case AST_MACRO_DEFINITION: return say_name(self, tree, at->node, EDIT_BY_ANYONE);
    case AST_EMPTY_STATEMENT: return true;
    default: self->out->is_known = false; return true;
    }
}

/* --- one after the other --- */

/*
 * Is a word in what others see of the item, that makes it another one for them? A struct that is
 * written another way is the same type, for who holds one or takes one.
 */
static bool is_other(const finder *self, uint32_t which, const ast *tree, ast_ref item)
{
    cg_str head = head_of(tree, item);

    switch (ast_kind_of(tree, item)) {
    case AST_FUNCTION_ITEM:
    case AST_STRUCT_ITEM:
    case AST_ENUM_ITEM:
    case AST_IMPL_ITEM:
    case AST_USE_DECLARATION: return has_word(self, which, head);
    default: return has_word(self, which, head) || has_written(self, which, head, false);
    }
}

/* A function that may write such a struct, as `Self` too, or is given one. */
static bool is_writer(const finder *self, uint32_t which, const ast *tree, const unit *at)
{
    return ast_kind_of(tree, at->node) == AST_FUNCTION_ITEM &&
           (has_written(self, which, head_of(tree, at->node), false) ||
            has_written(self, which, body_of(tree, at->node), true) ||
            (at->around && has_written(self, which, head_of(tree, at->around), false)));
}

static bool look_at(finder *self, uint32_t which, unit *at)
{
    const ast *tree = &self->files[which].tree;

    if (!at->is_named && is_other(self, which, tree, at->node)) {
        at->is_named = at->is_said = true;
        add_users(self, which);
        if (!say_unit(self, which, tree, at))
            return false;
    }
    if (!at->is_named && ast_kind_of(tree, at->node) == AST_USE_DECLARATION &&
        !say_written(self, which, tree, at->node))
        return false;
    at->is_said = at->is_said || has_word(self, which, body_of(tree, at->node)) ||
                  (at->around && has_word(self, which, head_of(tree, at->around))) ||
                  is_writer(self, which, tree, at);
    self->out->files[which] = self->out->files[which] || at->is_said;
    return true;
}

static cg_code look_into(finder *self, uint32_t which)
{
    unit_file *file = &self->files[which];

    CG_TRY(load_units(self, which));
    if (!file->is_whole) {
        self->out->is_known = false;
        return CG_OK;
    }
    for (size_t i = 0; i < file->units.count; i++) {
        if (!look_at(self, which, &file->units.at[i]))
            return nomem(self);
    }
    return CG_OK;
}

static cg_code spread(finder *self)
{
    self->is_more = true;
    while (self->is_more && self->out->is_known) {
        self->is_more = false;
        for (uint32_t i = 0; i < self->base->file_count && self->out->is_known; i++) {
            if (may_have_word(self, i))
                CG_TRY(look_into(self, i));
        }
    }
    return CG_OK;
}

/* --- what has changed itself --- */

static bool begin(finder *self)
{
    for (size_t i = 0; i < self->about->change_count; i++) {
        const rescan_change *change = &self->about->changes[i];

        if (!change->edit.has_items)
            continue;
        add_users(self, change->file);
        add_inside(self, change->file);
        for (size_t k = 0; k < self->base->file_count; k++)
            self->users[k] = self->users[k] || self->base->files[change->file].is_always;
        for (size_t k = 0; k < change->edit.word_count; k++) {
            if (!say(self, change->edit.words[k].text, change->edit.words[k].reach))
                return false;
        }
        self->out->files[change->file] = true;
    }
    return true;
}

static size_t count_methods(const finder *self, cg_str name)
{
    const sc_records *list = self->about->listed;
    size_t count = 0;

    for (size_t i = 0; i < list->count; i++) {
        const model_function *function = MODEL_AT(*list, model_function, i);
        const model_argument *arguments = function->parameters.at;

        count += function->parameters.count > 0 && str_equal(function->name, name) &&
                 str_equal(arguments[0].name, CG_LIT("self"));
    }
    return count;
}

/*
 * A call of a method of which nobody knows the type is listed when only one function is called so:
 * files with such a call may get other rows.
 */
static void note_methods(finder *self, const edit *change)
{
    for (size_t k = 0; k < change->method_count; k++) {
        cg_str name = change->methods[k].name;
        bool is_rare = count_methods(self, name) < 2 + change->method_count;

        for (size_t i = 0; is_rare && i < self->base->file_count; i++)
            self->out->files[i] =
                self->out->files[i] || words_may_have(self->base->files[i].words, name);
    }
}

/* --- the evaluations --- */

static void mark_functions(finder *self)
{
    const runs *from = &self->base->runs;

    for (size_t i = 0; i < from->function_count; i++) {
        const runs_function *function = &from->functions[i];
        const unit_file *file = &self->files[function->file];

        for (size_t k = 0; k < file->units.count && !self->out->functions[i]; k++) {
            const unit *at = &file->units.at[k];

            /* Of those that a macro makes it is not known where they come from. */
            self->out->functions[i] =
                at->is_said &&
                (function->number == RUNS_NONE ||
                 (function->number >= at->number && function->number - at->number < at->count));
        }
    }
}

/* Its name as a word; 0: it is none. */
static sym word_of(const finder *self, cg_str component)
{
    size_t colon = str_find_last(component, ':');

    if (colon != SIZE_MAX)
        component = (cg_str){component.ptr + colon + 1, component.len - colon - 1};
    return intern_find(&self->words, component);
}

/* Functions elsewhere stand in for constructors: they must be there to be chosen. */
static void note_makers(finder *self)
{
    const runs *from = &self->base->runs;

    for (size_t i = 0; i < from->component_count; i++) {
        sym word = word_of(self, from->components[i]);

        if (!word || !(self->reach.at[word] & REACH(EDIT_AS_COMPONENT)))
            continue;
        for (size_t k = 0; k < self->base->file_count; k++)
            self->out->files[k] =
                self->out->files[k] ||
                (self->users[k] &&
                 words_may_have(self->base->files[k].words, intern_text_of(&self->words, word)));
    }
}

static void mark_components(finder *self)
{
    const runs *from = &self->base->runs;

    for (size_t i = 0; i < from->count; i++) {
        uint32_t component = from->all[i].component;
        uint32_t file = from->functions[from->all[i].function].file;
        sym word = component != RUNS_NONE ? word_of(self, from->components[component]) : 0;

        if (word && (is_meant(self, file, word) || is_written(self, file, word) ||
                     ((self->reach.at[word] & REACH(EDIT_AS_COMPONENT)) && self->users[file])))
            self->out->components[component] = true;
    }
}

static cg_code find(finder *self)
{
    size_t count = self->base->file_count + 1;

    self->files = arena_zero(self->mem, count * sizeof *self->files);
    self->users = arena_zero(self->mem, count);
    self->inside = arena_zero(self->mem, count);
    self->out->files = arena_zero(self->mem, count);
    self->out->functions = arena_zero(self->mem, self->base->runs.function_count + 1);
    self->out->components = arena_zero(self->mem, self->base->runs.component_count + 1);
    if (!self->files || !self->users || !self->inside || !self->out->files ||
        !self->out->functions || !self->out->components || !begin(self))
        return nomem(self);
    self->out->is_known = true;
    CG_TRY(spread(self));
    mark_functions(self);
    mark_components(self);
    note_makers(self);
    for (size_t i = 0; i < self->about->change_count; i++)
        note_methods(self, &self->about->changes[i].edit);
    return CG_OK;
}

cg_code mentions_find(const mentions_question *about, arena *mem, mentions *ret, cg_err *reterr)
{
    finder self = {.about = about, .base = about->base, .mem = mem, .out = ret, .reterr = reterr};
    cg_code code;

    *ret = (mentions){0};
    code = intern_init(&self.words, about->heap, 1) ? find(&self) : err_nomem(reterr);
    for (size_t i = 0; self.files && i < about->base->file_count; i++) {
        ast_free(&self.files[i].tree);
        if (self.files[i].names.heap)
            intern_free(&self.files[i].names);
        vec_free(about->heap, &self.files[i].units);
    }
    vec_free(about->heap, &self.reach);
    intern_free(&self.words);
    return code;
}
