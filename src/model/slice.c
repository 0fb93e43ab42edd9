#include "model/slice.h"

#define NAMES_MOST 512u
#define USES_MOST  4096u

void slice_begin(slice *self, heap *from, const program *code_of, item_ref function)
{
    *self = (slice){.heap = from, .program = code_of};
    self->tree = program_tree(code_of, code_of->items.at[function].file);
    self->body = walk_body(code_of, function);
}

void slice_free(slice *self)
{
    vec_free(self->heap, &self->names);
    vec_free(self->heap, &self->fields);
    vec_free(self->heap, &self->nodes);
    vec_free(self->heap, &self->uses);
}

static bool is_detach(const slice *self, ast_ref at)
{
    ast_ref name = walk_called(self->tree, at);

    return name && walk_receiver(self->tree, at) &&
           str_equal(program_text(self->program, ast_at(self->tree, name)->text), CG_LIT("detach"));
}

static bool has_name(const sym *at, size_t count, sym name)
{
    for (size_t i = 0; i < count; i++) {
        if (at[i] == name)
            return true;
    }
    return false;
}

static bool add_name(slice *self, sym name, uint32_t start)
{
    slice_use *use = self->uses.count < USES_MOST ? vec_add(self->heap, &self->uses) : NULL;
    sym *slot;

    if (!use && self->uses.count < USES_MOST)
        return false;
    if (use)
        *use = (slice_use){name, start};
    if (self->names.count >= NAMES_MOST || has_name(self->names.at, self->names.count, name))
        return true;
    slot = vec_add(self->heap, &self->names);
    if (slot)
        *slot = name;
    return slot != NULL;
}

static bool add_field(slice *self, ast_ref at)
{
    ast_ref owner = ast_child(self->tree, at, ROLE_VALUE);
    ast_ref field = ast_child(self->tree, at, ROLE_FIELD);
    sym *slot;

    if (!owner || !field || ast_kind_of(self->tree, owner) != AST_SELF ||
        slice_has_field(self, ast_at(self->tree, field)->text))
        return true;
    slot = vec_add(self->heap, &self->fields);
    if (slot)
        *slot = ast_at(self->tree, field)->text;
    return slot != NULL;
}

bool slice_add(slice *self, ast_ref expression)
{
    ast_ref *node = vec_add(self->heap, &self->nodes);

    if (!node)
        return false;
    *node = expression;
    for (ast_ref at = expression; at;) {
        bool is_good = true, is_cut = is_detach(self, at);

        if (ast_kind_of(self->tree, at) == AST_IDENTIFIER)
            is_good = add_name(self, ast_at(self->tree, at)->text, ast_at(self->tree, at)->start);
        else if (ast_kind_of(self->tree, at) == AST_FIELD_EXPRESSION)
            is_good = add_field(self, at);
        if (!is_good)
            return false;
        at = is_cut ? walk_skip(self->tree, expression, at) : walk_next(self->tree, expression, at);
    }
    return true;
}

static bool is_binding(const slice *self, ast_ref at)
{
    uint8_t kind = ast_kind_of(self->tree, at);

    return kind == AST_IDENTIFIER || kind == AST_SHORTHAND_FIELD_IDENTIFIER;
}

static bool has_binding(const slice *self, ast_ref pattern, sym name)
{
    for (ast_ref at = pattern; at; at = walk_next(self->tree, pattern, at)) {
        if (is_binding(self, at) && ast_at(self->tree, at)->text == name)
            return true;
    }
    return false;
}

/* Does a `let` behind this one, in the same block, bind the name again before it is used? */
static bool is_hidden(const slice *self, ast_ref let, const slice_use *use)
{
    for (ast_ref at = ast_at(self->tree, let)->next; at; at = ast_at(self->tree, at)->next) {
        ast_ref pattern = ast_kind_of(self->tree, at) == AST_LET_DECLARATION
                              ? ast_child(self->tree, at, ROLE_PATTERN)
                              : 0;

        if (ast_at(self->tree, at)->end > use->start)
            return false;
        if (pattern && has_binding(self, pattern, use->name))
            return true;
    }
    return false;
}

/* Is a use of what the statement's pattern or place binds one of what it binds? */
static bool binds(const slice *self, ast_ref statement, ast_ref pattern)
{
    bool is_let = ast_kind_of(self->tree, statement) == AST_LET_DECLARATION;

    for (ast_ref at = pattern; at; at = walk_next(self->tree, pattern, at)) {
        for (size_t i = 0; is_binding(self, at) && i < self->uses.count; i++) {
            const slice_use *use = &self->uses.at[i];

            if (use->name == ast_at(self->tree, at)->text &&
                (!is_let || (use->start >= ast_at(self->tree, statement)->end &&
                             !is_hidden(self, statement, use))))
                return true;
        }
    }
    return false;
}

static bool is_taken(const slice *self, ast_ref expression)
{
    for (size_t i = 0; i < self->nodes.count; i++) {
        if (self->nodes.at[i] == expression)
            return true;
    }
    return false;
}

/* Where a statement's value stands and what it goes into. */
static ast_ref stored(const slice *self, ast_ref at, ast_ref *ret_into)
{
    switch (ast_kind_of(self->tree, at)) {
    case AST_LET_DECLARATION:
    case AST_LET_CONDITION:
    case AST_FOR_EXPRESSION:
        *ret_into = ast_child(self->tree, at, ROLE_PATTERN);
        return ast_child(self->tree, at, ROLE_VALUE);
    case AST_ASSIGNMENT_EXPRESSION:
    case AST_COMPOUND_ASSIGNMENT:
        *ret_into = ast_child(self->tree, at, ROLE_LEFT);
        return ast_child(self->tree, at, ROLE_RIGHT);
    default: return 0;
    }
}

bool slice_close(slice *self)
{
    size_t reached = SIZE_MAX;

    for (unsigned round = 0; self->nodes.count != reached && round < 64; round++) {
        reached = self->nodes.count;
        for (ast_ref at = self->body; at; at = walk_next(self->tree, self->body, at)) {
            ast_ref into = 0;
            ast_ref given = stored(self, at, &into);

            if (given && into && binds(self, at, into) && !is_taken(self, given) &&
                !slice_add(self, given))
                return false;
        }
    }
    return true;
}

bool slice_has(const slice *self, model_place place)
{
    for (size_t i = 0; i < self->nodes.count; i++) {
        ast_ref top = self->nodes.at[i];
        bool is_inside = ast_at(self->tree, top)->start <= place.start &&
                         ast_at(self->tree, top)->end >= place.end;

        for (ast_ref at = top; at && is_inside;) {
            const ast_node *node = ast_at(self->tree, at);
            bool is_around = node->start <= place.start && node->end >= place.end;

            if (is_around && is_detach(self, at)) {
                const ast_node *cut = ast_at(self->tree, walk_receiver(self->tree, at));

                is_inside = !(cut->start <= place.start && cut->end >= place.end);
            }
            at = is_around ? walk_next(self->tree, top, at) : walk_skip(self->tree, top, at);
        }
        if (is_inside)
            return true;
    }
    return false;
}

bool slice_has_field(const slice *self, sym field)
{
    return has_name(self->fields.at, self->fields.count, field);
}
