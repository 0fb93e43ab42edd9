#include "rust/edit.h"

#include "base/buf.h"
#include "base/vec.h"
#include "rust/words.h"

#define SHORT_TEXT 64u /* to copy it is no work */

/* Two nodes that should say the same; `is_end`: what is inside of them has been compared. */
typedef struct pair {
    ast_ref before;
    ast_ref after;
    bool is_end;
    bool is_item; /* it may be another one of that name */
} pair;

typedef struct comparer {
    const ast *before;
    const ast *after;
    arena *mem;
    heap *heap;
    VEC(pair) open;
    VEC(edit_run) runs;
    VEC(uint32_t) changed;
    edit_words words;
    buf gaps[2];
    bool has_items;
    bool has_idle;
    bool is_same; /* so far */
    bool is_short;
} comparer;

static const ast_node *node_of(const ast *tree, ast_ref ref)
{
    return ref ? ast_at(tree, ref) : NULL;
}

static void add_run(comparer *self, uint32_t start, uint32_t end, uint32_t now)
{
    edit_run *run = vec_add(self->heap, &self->runs);

    self->is_short = self->is_short || run == NULL;
    if (run != NULL)
        *run = (edit_run){start, end, now};
}

static void push(comparer *self, pair what)
{
    pair *entry = vec_add(self->heap, &self->open);

    self->is_short = self->is_short || entry == NULL;
    if (entry != NULL)
        *entry = what;
}

static void add_changed(comparer *self, uint32_t function)
{
    uint32_t *slot = vec_add(self->heap, &self->changed);

    self->is_short = self->is_short || slot == NULL;
    if (slot != NULL)
        *slot = function;
}

/* Functions are counted from 0 in the order of the file, nested ones too. */
static uint32_t edit_function(const ast *tree, ast_ref item)
{
    uint32_t count = 0;

    for (ast_ref i = 1; i < item && i < tree->parsed; i++)
        count += ast_kind_of(tree, i) == AST_FUNCTION_ITEM;
    return count;
}

/* --- bodies --- */

bool edit_declares(uint8_t kind)
{
    switch (kind) {
    case AST_FUNCTION_ITEM:
    case AST_STRUCT_ITEM:
    case AST_ENUM_ITEM:
    case AST_UNION_ITEM:
    case AST_TRAIT_ITEM:
    case AST_IMPL_ITEM:
    case AST_MOD_ITEM:
    case AST_FOREIGN_MOD_ITEM:
    case AST_MACRO_DEFINITION:
    case AST_EXTERN_CRATE_DECLARATION: return true;
    default: return false;
    }
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

static bool is_body(const ast *tree, ast_ref node)
{
    const ast_node *at = ast_at(tree, node);

    return at->kind == AST_BLOCK && at->role == ROLE_BODY &&
           ast_kind_of(tree, at->parent) == AST_FUNCTION_ITEM;
}

static bool declares_nothing(const ast *tree, ast_ref body)
{
    ast_ref end = behind(tree, body);

    for (ast_ref i = body + 1; i < end; i++) {
        if (edit_declares(ast_kind_of(tree, i)))
            return false;
    }
    return true;
}

static bool is_literal(const ast *tree, ast_ref value)
{
    const ast_node *at = ast_at(tree, value);

    switch (at->kind) {
    case AST_INTEGER_LITERAL:
    case AST_FLOAT_LITERAL:
    case AST_BOOLEAN_LITERAL:
    case AST_CHAR_LITERAL: return !at->first;
    case AST_STRING_LITERAL: return !at->first && at->end - at->start <= SHORT_TEXT;
    default: return false;
    }
}

/* How often a word stands in a text, whatever it means there. */
static size_t count_word(cg_str text, cg_str word)
{
    size_t count = 0;
    cg_str found;

    for (size_t at = 0; words_next(text, &at, &found);)
        count += str_equal(found, word);
    return count;
}

/* A statement of a body that whoever runs it cannot notice. */
static bool is_idle(const ast *tree, ast_ref body, ast_ref statement)
{
    ast_ref pattern = ast_child(tree, statement, ROLE_PATTERN);
    ast_ref value = ast_child(tree, statement, ROLE_VALUE);
    ast_ref type = ast_child(tree, statement, ROLE_TYPE);
    ast_ref before = ast_before(tree, statement);
    size_t count = 0;
    cg_str name;

    if (ast_kind_of(tree, statement) != AST_LET_DECLARATION || !pattern || !value ||
        ast_kind_of(tree, pattern) != AST_IDENTIFIER || !is_literal(tree, value) ||
        (type && ast_kind_of(tree, type) != AST_PRIMITIVE_TYPE) ||
        (before && ast_kind_of(tree, before) == AST_ATTRIBUTE_ITEM))
        return false;
    for (ast_ref i = ast_at(tree, statement)->first; i; i = ast_at(tree, i)->next)
        count++;
    name = ast_text(tree, pattern);
    /* Others can be constants, which a pattern compares with. */
    return count == 2u + (type != 0) && name.len > 0 &&
           (name.ptr[0] == '_' || (name.ptr[0] >= 'a' && name.ptr[0] <= 'z')) &&
           count_word(ast_text(tree, body), name) == 1;
}

/* --- what stands between nodes --- */

/* How long a comment is that a text begins with; they may stand in each other. */
static size_t comment_at(cg_str text)
{
    size_t depth = 0, at = 0;

    if (str_starts_with(text, CG_LIT("//"))) {
        size_t line = str_find(text, CG_LIT("\n"));

        return line == SIZE_MAX ? text.len : line;
    }
    do {
        cg_str rest = {text.ptr + at, text.len - at};

        if (str_starts_with(rest, CG_LIT("/*"))) {
            depth++;
            at += 2;
        } else if (depth > 0 && str_starts_with(rest, CG_LIT("*/"))) {
            depth--;
            at += 2;
        } else {
            at += depth > 0;
        }
    } while (depth > 0 && at < text.len);
    return at;
}

/* Without blanks and comments. */
static void add_gap(buf *out, const ast *tree, uint32_t start, uint32_t end)
{
    cg_str text = {tree->source->text.ptr + start, end > start ? end - start : 0};

    for (size_t i = 0; i < text.len;) {
        char c = text.ptr[i];
        size_t comment = comment_at((cg_str){text.ptr + i, text.len - i});

        if (comment == 0 && c != ' ' && c != '\n' && c != '\t' && c != '\r')
            buf_byte(out, c);
        i += comment > 0 ? comment : 1;
    }
}

static bool is_same_text(const comparer *self, ast_range a, ast_range b)
{
    return a.end - a.start == b.end - b.start &&
           memcmp(self->before->source->text.ptr + a.start, self->after->source->text.ptr + b.start,
                  a.end - a.start) == 0;
}

static bool is_same_gap(comparer *self, bool is_loose, ast_range a, ast_range b)
{
    if (is_same_text(self, a, b) || !is_loose)
        return is_same_text(self, a, b);
    buf_clear(&self->gaps[0]);
    buf_clear(&self->gaps[1]);
    add_gap(&self->gaps[0], self->before, a.start, a.end);
    add_gap(&self->gaps[1], self->after, b.start, b.end);
    return str_equal(buf_text(&self->gaps[0]), buf_text(&self->gaps[1]));
}

/* Nodes of which the kind of thing they are is the same; what is inside of them may differ. */
static bool is_same_head(const ast_node *a, const ast_node *b)
{
    return a->kind == b->kind && a->role == b->role && a->op == b->op && a->flags == b->flags;
}

static bool is_same_node(const comparer *self, ast_ref before, ast_ref after)
{
    const ast_node *a = node_of(self->before, before), *b = node_of(self->after, after);

    return a && b && is_same_head(a, b) &&
           is_same_text(self, (ast_range){a->start, a->end}, (ast_range){b->start, b->end});
}

static void add_same(comparer *self, ast_ref before, ast_ref after)
{
    const ast_node *a = ast_at(self->before, before);

    add_run(self, a->start, a->end, ast_at(self->after, after)->start);
}

/* --- two bodies --- */

/* One of the two, and how far it has been compared. */
typedef struct side {
    const ast *tree;
    ast_ref body;
    ast_ref at;   /* the next statement, 0: none */
    uint32_t end; /* of the one before */
    size_t idle;  /* statements that were passed over, */
    size_t busy;  /* and others */
    buf *gaps;
} side;

static side side_of(const ast *tree, ast_ref body, buf *gaps)
{
    const ast_node *node = ast_at(tree, body);

    buf_clear(gaps);
    return (side){.tree = tree, .body = body, .at = node->first, .end = node->start, .gaps = gaps};
}

static void skip(side *self, bool is_idle_one)
{
    const ast_node *node = ast_at(self->tree, self->at);

    add_gap(self->gaps, self->tree, self->end, node->start);
    if (!is_idle_one)
        buf_byte(self->gaps, '\1');
    self->idle += is_idle_one;
    self->busy += !is_idle_one;
    self->end = node->end;
    self->at = node->next;
}

/* Statements at the end that are the same, where those before them are not. */
static void keep_rest(comparer *self, const side *a, const side *b)
{
    VEC(ast_ref) rest[2] = {{0}, {0}};
    size_t same = 0;

    for (unsigned k = 0; k < 2; k++) {
        const side *from = k ? b : a;

        for (ast_ref i = from->at; i; i = ast_at(from->tree, i)->next) {
            ast_ref *slot = vec_add(self->heap, &rest[k]);

            self->is_short = self->is_short || slot == NULL;
            if (slot != NULL)
                *slot = i;
        }
    }
    while (same < rest[0].count && same < rest[1].count &&
           is_same_node(self, rest[0].at[rest[0].count - 1 - same],
                        rest[1].at[rest[1].count - 1 - same]))
        same++;
    for (; same > 0; same--)
        add_same(self, rest[0].at[rest[0].count - same], rest[1].at[rest[1].count - same]);
    vec_free(self->heap, &rest[0]);
    vec_free(self->heap, &rest[1]);
}

static void compare_bodies(comparer *self, ast_ref before, ast_ref after)
{
    const ast_node *nodes[2] = {ast_at(self->before, before), ast_at(self->after, after)};
    side a = side_of(self->before, before, &self->gaps[0]);
    side b = side_of(self->after, after, &self->gaps[1]);

    add_run(self, nodes[0]->start, nodes[0]->start, nodes[1]->start);
    while (a.at || b.at) {
        if (is_same_node(self, a.at, b.at)) {
            add_same(self, a.at, b.at);
            skip(&a, false);
            skip(&b, false);
        } else if (b.at && is_idle(b.tree, b.body, b.at)) {
            skip(&b, true);
        } else if (a.at && is_idle(a.tree, a.body, a.at)) {
            skip(&a, true);
        } else {
            break;
        }
    }
    if (!a.at && !b.at) {
        add_gap(a.gaps, a.tree, a.end, nodes[0]->end);
        add_gap(b.gaps, b.tree, b.end, nodes[1]->end);
    }
    self->has_idle = self->has_idle || a.idle + b.idle > 0;
    /* One step more for some that are done anyway: what came nowhere near a budget never will. */
    if (a.at || b.at || !str_equal(buf_text(a.gaps), buf_text(b.gaps)) || a.busy == 0 ||
        a.idle > b.idle + 1 || b.idle > a.idle + 1) {
        add_changed(self, edit_function(self->before, nodes[0]->parent));
        self->is_same =
            declares_nothing(self->before, before) && declares_nothing(self->after, after);
        keep_rest(self, &a, &b);
    }
    add_run(self, nodes[0]->end, nodes[0]->end, nodes[1]->end);
}

/* --- two files --- */

/* What can hold functions, or be written on many lines: compared child by child. */
static bool is_opened(uint8_t kind)
{
    switch (kind) {
    case AST_SOURCE_FILE:
    case AST_MOD_ITEM:
    case AST_IMPL_ITEM:
    case AST_TRAIT_ITEM:
    case AST_DECLARATION_LIST:
    case AST_FUNCTION_ITEM:
    case AST_STRUCT_ITEM:
    case AST_ENUM_ITEM:
    case AST_ENUM_VARIANT_LIST:
    case AST_FIELD_DECLARATION_LIST: return true;
    default: return false;
    }
}

/* Nobody prints these as they are written. */
static bool is_loose(uint8_t kind)
{
    return kind == AST_SOURCE_FILE || kind == AST_DECLARATION_LIST ||
           kind == AST_ENUM_VARIANT_LIST || kind == AST_FIELD_DECLARATION_LIST;
}

/* The first of what was pushed comes next. */
static void turn(comparer *self, size_t first)
{
    for (size_t low = first, high = self->open.count; low + 1 < high; low++, high--) {
        pair other = self->open.at[low];

        self->open.at[low] = self->open.at[high - 1];
        self->open.at[high - 1] = other;
    }
}

static void open_children(comparer *self, ast_ref before, ast_ref after)
{
    const ast_node *a = ast_at(self->before, before), *b = ast_at(self->after, after);
    bool loose = is_loose(a->kind);
    ast_range gap_a = {a->start, a->start}, gap_b = {b->start, b->start};
    ast_ref i = a->first, j = b->first;
    size_t first;

    add_run(self, a->start, a->start, b->start);
    push(self, (pair){.before = before, .after = after, .is_end = true});
    first = self->open.count;
    for (; i && j && self->is_same;
         i = node_of(self->before, i)->next, j = node_of(self->after, j)->next) {
        gap_a.end = ast_at(self->before, i)->start;
        gap_b.end = ast_at(self->after, j)->start;
        self->is_same = is_same_gap(self, loose, gap_a, gap_b);
        gap_a.start = ast_at(self->before, i)->end;
        gap_b.start = ast_at(self->after, j)->end;
        push(self, (pair){.before = i, .after = j});
    }
    gap_a.end = a->end;
    gap_b.end = b->end;
    self->is_same = self->is_same && !i && !j && is_same_gap(self, loose, gap_a, gap_b);
    turn(self, first);
}

/* --- lists of items --- */

/* An item with the attributes before it. */
typedef struct group {
    ast_ref first;
    ast_ref item;
    cg_str key;     /* of two with the same, one is the other */
    size_t partner; /* in the other list; SIZE_MAX: none */
} group;

typedef struct group_list {
    const ast *tree;
    VEC(group) all;
} group_list;

static cg_str key_of(const ast *tree, ast_ref item)
{
    ast_ref name = 0, body;

    switch (ast_kind_of(tree, item)) {
    case AST_FUNCTION_ITEM:
    case AST_STRUCT_ITEM:
    case AST_ENUM_ITEM:
    case AST_TRAIT_ITEM:
    case AST_CONST_ITEM:
    case AST_STATIC_ITEM:
    case AST_TYPE_ITEM:
    case AST_MOD_ITEM: name = ast_child(tree, item, ROLE_NAME); break;
    case AST_IMPL_ITEM:
        body = ast_child(tree, item, ROLE_BODY);
        if (body)
            return (cg_str){ast_text(tree, item).ptr,
                            ast_at(tree, body)->start - ast_at(tree, item)->start};
        break;
    default: break;
    }
    return ast_text(tree, name ? name : item);
}

static bool list_groups(comparer *self, group_list *list, ast_ref top)
{
    const ast *tree = list->tree;
    ast_ref first = 0;

    for (ast_ref at = ast_at(tree, top)->first; at; at = ast_at(tree, at)->next) {
        group *slot;

        first = first ? first : at;
        if (ast_kind_of(tree, at) == AST_ATTRIBUTE_ITEM && ast_at(tree, at)->next)
            continue;
        slot = vec_add(self->heap, &list->all);
        if (slot == NULL)
            return false;
        *slot = (group){first, at, key_of(tree, at), SIZE_MAX};
        first = 0;
    }
    return true;
}

static bool is_same_group(const comparer *self, const group *a, const group *b)
{
    return is_same_text(
        self,
        (ast_range){ast_at(self->before, a->first)->start, ast_at(self->before, a->item)->end},
        (ast_range){ast_at(self->after, b->first)->start, ast_at(self->after, b->item)->end});
}

static bool is_of_key(const group_list *a, const group *one, const group_list *b,
                      const group *other)
{
    return ast_kind_of(a->tree, one->item) == ast_kind_of(b->tree, other->item) &&
           str_equal(one->key, other->key);
}

static void join(group_list *a, size_t i, group_list *b, size_t k)
{
    a->all.at[i].partner = k;
    b->all.at[k].partner = i;
}

/* What is the same at both ends, and between it what has the same name, in order. */
static void join_groups(const comparer *self, group_list *a, group_list *b)
{
    size_t first = 0, ends[2] = {a->all.count, b->all.count};

    while (first < ends[0] && first < ends[1] &&
           is_same_group(self, &a->all.at[first], &b->all.at[first])) {
        join(a, first, b, first);
        first++;
    }
    while (ends[0] > first && ends[1] > first &&
           is_same_group(self, &a->all.at[ends[0] - 1], &b->all.at[ends[1] - 1])) {
        ends[0]--;
        ends[1]--;
        join(a, ends[0], b, ends[1]);
    }
    for (size_t i = first, next = first; i < ends[0]; i++) {
        for (size_t k = next; k < ends[1]; k++) {
            if (is_of_key(a, &a->all.at[i], b, &b->all.at[k])) {
                join(a, i, b, k);
                next = k + 1;
                break;
            }
        }
    }
}

/* What stands before a group, and behind the last one. */
static ast_range gap_before(const group_list *list, ast_ref top, size_t index)
{
    const ast *tree = list->tree;

    return (ast_range){index > 0 ? ast_at(tree, list->all.at[index - 1].item)->end
                                 : ast_at(tree, top)->start,
                       index < list->all.count ? ast_at(tree, list->all.at[index].first)->start
                                               : ast_at(tree, top)->end};
}

static bool is_empty_gap(comparer *self, const ast *tree, ast_range gap)
{
    buf_clear(&self->gaps[0]);
    add_gap(&self->gaps[0], tree, gap.start, gap.end);
    return self->gaps[0].len == 0;
}

/* What stands before the first and behind the last one, one or none of which may be there. */
static bool has_same_ends(comparer *self, const group_list *a, const group_list *b, pair top)
{
    for (size_t k = 0; k < 2; k++) {
        const group_list *list = k ? b : a;
        ast_ref at = k ? top.after : top.before;
        ast_range ends[2] = {gap_before(list, at, 0), gap_before(list, at, list->all.count)};

        buf_clear(&self->gaps[k]);
        for (size_t i = 0; i < 2 && (i == 0 || list->all.count > 0); i++)
            add_gap(&self->gaps[k], list->tree, ends[i].start, ends[i].end);
    }
    return str_equal(buf_text(&self->gaps[0]), buf_text(&self->gaps[1]));
}

/* Nothing but blanks and comments, where it is not what it was. */
static bool are_same_gaps(comparer *self, const group_list *a, const group_list *b, pair top)
{
    bool is_good = has_same_ends(self, a, b, top);

    for (size_t i = 1; i < a->all.count && is_good; i++) {
        size_t k = a->all.at[i].partner;

        if (k != SIZE_MAX && k > 0 && a->all.at[i - 1].partner == k - 1)
            is_good =
                is_same_gap(self, true, gap_before(a, top.before, i), gap_before(b, top.after, k));
        else
            is_good = is_empty_gap(self, a->tree, gap_before(a, top.before, i));
    }
    for (size_t k = 1; k < b->all.count && is_good; k++) {
        size_t i = b->all.at[k].partner;

        if (i == SIZE_MAX || i == 0 || b->all.at[k - 1].partner != i - 1)
            is_good = is_empty_gap(self, b->tree, gap_before(b, top.after, k));
    }
    return is_good;
}

/* Do attributes say nothing about what the items mean? What is derived, their users notice. */
static bool are_idle(const comparer *self, const group *a, const group *b)
{
    for (ast_ref i = a->first; i != a->item; i = ast_at(self->before, i)->next) {
        if (!edit_words_is_idle(self->before, i))
            return false;
    }
    for (ast_ref i = b->first; i != b->item; i = ast_at(self->after, i)->next) {
        if (!edit_words_is_idle(self->after, i))
            return false;
    }
    return true;
}

/* Attributes before items of the same name; false: they say another thing. */
static bool push_attributes(comparer *self, const group *a, const group *b)
{
    ast_ref i = a->first, k = b->first;

    for (; i != a->item && k != b->item; i = ast_at(self->before, i)->next) {
        if (!is_same_node(self, i, k))
            return false;
        push(self, (pair){.before = i, .after = k});
        k = ast_at(self->after, k)->next;
    }
    return i == a->item && k == b->item;
}

static bool compare_attributes(comparer *self, const group *a, const group *b)
{
    size_t open = self->open.count;

    if (push_attributes(self, a, b))
        return true;
    self->open.count = open;
    if (!are_idle(self, a, b))
        return false;
    self->has_items = true;
    edit_words_change_all(&self->words, a->item, b->item);
    return !self->words.is_open;
}

/* An item that is only there on one side. */
static void note_alone(comparer *self, enum edit_side which, const group *at)
{
    const ast *tree = which == EDIT_THEN ? self->before : self->after;
    ast_ref end = behind(tree, at->item);

    self->has_items = true;
    for (ast_ref i = at->first; i != at->item; i = ast_at(tree, i)->next)
        self->is_same = self->is_same && edit_words_is_idle(tree, i);
    for (ast_ref i = at->item; i < end; i++) {
        if (ast_kind_of(tree, i) != AST_FUNCTION_ITEM)
            continue;
        if (which == EDIT_THEN)
            add_changed(self, edit_function(tree, i));
        self->is_same = self->is_same && declares_nothing(tree, ast_child(tree, i, ROLE_BODY));
    }
    edit_words_come(&self->words, which, at->item);
}

static size_t list_uses(const group_list *list, ast_ref *ret)
{
    size_t count = 0;

    for (size_t i = 0; i < list->all.count; i++) {
        const group *at = &list->all.at[i];

        if (at->partner == SIZE_MAX && ast_kind_of(list->tree, at->item) == AST_USE_DECLARATION)
            ret[count++] = at->item;
    }
    return count;
}

static void note_uses(comparer *self, const group_list *lists)
{
    ast_ref *uses[2];
    size_t counts[2] = {0};

    for (size_t i = 0; i < 2; i++) {
        uses[i] = arena_take(self->mem, (lists[i].all.count + 1) * sizeof *uses[i]);
        self->is_short = self->is_short || uses[i] == NULL;
        if (uses[i] != NULL)
            counts[i] = list_uses(&lists[i], uses[i]);
    }
    if (self->is_short || counts[0] + counts[1] == 0)
        return;
    self->has_items = true;
    edit_words_uses(&self->words, uses[0], counts[0], uses[1], counts[1]);
}

static void note_single(comparer *self, const group_list *lists)
{
    for (enum edit_side which = EDIT_THEN; which <= EDIT_NOW; which++) {
        for (size_t i = 0; i < lists[which].all.count && self->is_same; i++) {
            const group *at = &lists[which].all.at[i];

            if (at->partner != SIZE_MAX)
                continue;
            if (ast_kind_of(lists[which].tree, at->item) != AST_USE_DECLARATION)
                note_alone(self, which, at);
            else if (at->first != at->item)
                self->is_same = false;
        }
    }
    note_uses(self, lists);
    self->is_same = self->is_same && !self->words.is_open;
}

/* Items may come and go, and be other ones of the same name. */
static void open_items(comparer *self, pair top)
{
    group_list lists[2] = {{.tree = self->before}, {.tree = self->after}};
    const ast_node *a = ast_at(self->before, top.before), *b = ast_at(self->after, top.after);
    size_t first;

    self->is_short = self->is_short || !list_groups(self, &lists[0], top.before) ||
                     !list_groups(self, &lists[1], top.after);
    if (!self->is_short) {
        join_groups(self, &lists[0], &lists[1]);
        self->is_same = are_same_gaps(self, &lists[0], &lists[1], top);
    }
    add_run(self, a->start, a->start, b->start);
    push(self, (pair){.before = top.before, .after = top.after, .is_end = true});
    first = self->open.count;
    for (size_t i = 0; i < lists[0].all.count && self->is_same && !self->is_short; i++) {
        const group *at = &lists[0].all.at[i];

        if (at->partner == SIZE_MAX)
            continue;
        self->is_same = compare_attributes(self, at, &lists[1].all.at[at->partner]);
        push(self, (pair){.before = at->item,
                          .after = lists[1].all.at[at->partner].item,
                          .is_item = true});
    }
    turn(self, first);
    if (self->is_same && !self->is_short)
        note_single(self, lists);
    for (size_t i = 0; i < 2; i++)
        vec_free(self->heap, &lists[i].all);
}

/* An item of which more than a body has changed. */
static void note_changed(comparer *self, pair at)
{
    ast_ref names[2] = {ast_child(self->before, at.before, ROLE_NAME),
                        ast_child(self->after, at.after, ROLE_NAME)};
    ast_ref bodies[2] = {ast_child(self->before, at.before, ROLE_BODY),
                         ast_child(self->after, at.after, ROLE_BODY)};
    bool is_function = ast_kind_of(self->before, at.before) == AST_FUNCTION_ITEM;

    self->has_items = true;
    self->is_same = names[0] && names[1];
    if (!self->is_same)
        return;
    edit_words_change(&self->words, at.before, at.after);
    add_same(self, names[0], names[1]);
    if (is_function) {
        size_t known = self->changed.count;

        compare_bodies(self, bodies[0], bodies[1]);
        if (self->changed.count == known)
            add_changed(self, edit_function(self->before, at.before));
    }
    self->is_same = self->is_same && !self->words.is_open;
}

/* Do items stand in it that are found by their names? */
static bool holds_items(const ast *tree, ast_ref list)
{
    uint8_t around = ast_kind_of(tree, ast_at(tree, list)->parent);

    return ast_kind_of(tree, list) == AST_SOURCE_FILE ||
           (ast_kind_of(tree, list) == AST_DECLARATION_LIST &&
            (around == AST_IMPL_ITEM || around == AST_MOD_ITEM));
}

static void compare_pair(comparer *self, pair at)
{
    const ast_node *a = ast_at(self->before, at.before), *b = ast_at(self->after, at.after);

    if (at.is_end)
        add_run(self, a->end, a->end, b->end);
    else if (is_same_node(self, at.before, at.after))
        add_same(self, at.before, at.after);
    else if (!is_same_head(a, b))
        self->is_same = false;
    else if (is_body(self->before, at.before) && is_body(self->after, at.after))
        compare_bodies(self, at.before, at.after);
    else if (holds_items(self->before, at.before))
        open_items(self, at);
    else if (is_opened(a->kind))
        open_children(self, at.before, at.after);
    else
        self->is_same = false;
}

/* Blocks are compared item by item; of others it is seen first whether they are the same. */
static void compare_item(comparer *self, pair at)
{
    size_t runs = self->runs.count, changed = self->changed.count, open = self->open.count;
    uint8_t kind = ast_kind_of(self->before, at.before);

    at.is_item = false;
    if (kind == AST_IMPL_ITEM || kind == AST_MOD_ITEM || kind == AST_TRAIT_ITEM) {
        compare_pair(self, at);
        return;
    }
    push(self, at);
    while (self->is_same && !self->is_short && self->open.count > open)
        compare_pair(self, self->open.at[--self->open.count]);
    if (self->is_same || self->is_short)
        return;
    self->is_same = true;
    self->runs.count = runs;
    self->changed.count = changed;
    self->open.count = open;
    note_changed(self, at);
}

static void compare_files(comparer *self)
{
    const ast_node *a = ast_at(self->before, 1), *b = ast_at(self->after, 1);
    uint32_t ends[2] = {(uint32_t)self->before->source->text.len,
                        (uint32_t)self->after->source->text.len};

    self->is_same =
        ends[0] < ends[1] + EDIT_MOST_MOVED && ends[1] < ends[0] + EDIT_MOST_MOVED &&
        self->before->broken.count + self->after->broken.count == 0 &&
        self->before->remarks.count + self->after->remarks.count == 0 &&
        is_same_gap(self, true, (ast_range){0, a->start}, (ast_range){0, b->start}) &&
        is_same_gap(self, true, (ast_range){a->end, ends[0]}, (ast_range){b->end, ends[1]});
    push(self, (pair){.before = 1, .after = 1});
    while (self->is_same && !self->is_short && self->open.count > 0) {
        pair at = self->open.at[--self->open.count];

        if (at.is_item)
            compare_item(self, at);
        else
            compare_pair(self, at);
    }
    self->is_short =
        self->is_short || self->words.is_short || self->gaps[0].failed || self->gaps[1].failed;
}

static bool keep(comparer *self, edit *ret)
{
    edit_run *runs = arena_take(self->mem, (self->runs.count + 1) * sizeof *runs);
    uint32_t *changed = arena_take(self->mem, (self->changed.count + 1) * sizeof *changed);
    const edit_words *from = &self->words;
    edit_word *words = arena_take(self->mem, (from->all.count + 1) * sizeof *words);
    edit_method *methods = arena_take(self->mem, (from->methods.count + 1) * sizeof *methods);

    if (runs == NULL || changed == NULL || words == NULL || methods == NULL)
        return false;
    if (from->all.count > 0)
        memcpy(words, from->all.at, from->all.count * sizeof *words);
    if (from->methods.count > 0)
        memcpy(methods, from->methods.at, from->methods.count * sizeof *methods);
    if (self->runs.count > 0)
        memcpy(runs, self->runs.at, self->runs.count * sizeof *runs);
    if (self->changed.count > 0)
        memcpy(changed, self->changed.at, self->changed.count * sizeof *changed);
    *ret = (edit){.before = self->before->source,
                  .after = self->after->source,
                  .runs = runs,
                  .run_count = self->runs.count,
                  .changed = changed,
                  .changed_count = self->changed.count,
                  .has_items = self->has_items,
                  .has_idle = self->has_idle,
                  .words = words,
                  .word_count = from->all.count,
                  .methods = methods,
                  .method_count = from->methods.count};
    return true;
}

cg_code edit_find(const ast *before, const ast *after, arena *mem, edit *ret, bool *ret_is_known,
                  cg_err *reterr)
{
    comparer self = {.before = before,
                     .after = after,
                     .mem = mem,
                     .heap = after->heap,
                     .words = {.heap = after->heap, .trees = {before, after}}};
    edit made = {0};

    buf_init(&self.gaps[0], self.heap, SIZE_MAX / 2);
    buf_init(&self.gaps[1], self.heap, SIZE_MAX / 2);
    if (before->parsed > 1 && after->parsed > 1)
        compare_files(&self);
    self.is_short = self.is_short || !keep(&self, &made);
    vec_free(self.heap, &self.open);
    vec_free(self.heap, &self.runs);
    vec_free(self.heap, &self.changed);
    edit_words_free(&self.words);
    buf_free(&self.gaps[0]);
    buf_free(&self.gaps[1]);
    if (self.is_short)
        return err_nomem(reterr);
    *ret = made;
    *ret_is_known = self.is_same;
    return CG_OK;
}

/* --- places --- */

/* The first run that ends at or behind a place. */
static size_t first_run(const edit *self, uint32_t offset)
{
    size_t low = 0, high = self->run_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (self->runs[middle].end < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint32_t moved(const edit_run *run, uint32_t offset)
{
    return run->now + (offset - run->start);
}

bool edit_start(const edit *self, uint32_t offset, uint32_t *ret)
{
    const edit_run *found = NULL;

    for (size_t i = first_run(self, offset); i < self->run_count; i++) {
        const edit_run *run = &self->runs[i];

        if (run->start > offset)
            break;
        /* What begins here is meant, rather than what ends here. */
        if (found == NULL || offset < run->end || run->start == offset)
            found = run;
        if (offset < run->end)
            break;
    }
    if (found != NULL)
        *ret = moved(found, offset);
    return found != NULL;
}

bool edit_end(const edit *self, uint32_t offset, uint32_t *ret)
{
    const edit_run *found = NULL;

    for (size_t i = first_run(self, offset); i < self->run_count && found == NULL; i++) {
        if (self->runs[i].start > offset)
            break;
        found = &self->runs[i];
    }
    if (found != NULL)
        *ret = moved(found, offset);
    return found != NULL;
}

bool edit_line(const edit *self, uint32_t line, uint32_t *ret, bool *ret_is_torn)
{
    const rust_source *text = self->before;
    uint32_t start, end, found = 0;

    *ret_is_torn = false;
    if (line == 0 || line > text->line_count)
        return false;
    start = text->lines[line - 1];
    end = line < text->line_count ? text->lines[line] : (uint32_t)text->text.len + 1;
    for (size_t i = first_run(self, start); i < self->run_count; i++) {
        const edit_run *run = &self->runs[i];
        uint32_t from = run->start > start ? run->start : start, now;

        if (run->start >= end)
            break;
        /* One that only ends with the line before. */
        if (run->end <= start && run->start < run->end)
            continue;
        now = source_place(self->after, moved(run, from)).line;
        *ret_is_torn = *ret_is_torn || (found && found != now);
        found = now;
    }
    *ret = found;
    return found != 0;
}
