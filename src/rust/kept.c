#include "rust/kept.h"

#include "base/number_map.h"

/* What stands for the text of a node: none, one that follows, or the nth that did. */
#define TEXT_NONE  0u
#define TEXT_FRESH 1u
#define TEXT_FIRST 2u

#define LEAST_BYTES 10u /* of a node */

/* --- writing --- */

/* Seven bits a byte, the lowest first. */
static void put(buf *out, uint32_t number)
{
    while (number >= 0x80) {
        buf_byte(out, (char)(number | 0x80));
        number >>= 7;
    }
    buf_byte(out, (char)number);
}

/* Small numbers of either sign become small ones. */
static uint32_t fold(uint32_t difference)
{
    return difference << 1 ^ (0u - (difference >> 31));
}

static uint32_t unfold(uint32_t folded)
{
    return folded >> 1 ^ (0u - (folded & 1));
}

static bool put_text(const ast *tree, sym text, number_map *numbers, buf *out)
{
    uint32_t *number;
    cg_str bytes;

    if (text == 0) {
        put(out, TEXT_NONE);
        return true;
    }
    number = number_map_put(numbers, text, 0);
    if (number == NULL)
        return false;
    if (*number != 0) {
        put(out, *number);
        return true;
    }
    *number = TEXT_FIRST + (uint32_t)numbers->count - 1;
    bytes = intern_text_of(tree->names, text);
    put(out, TEXT_FRESH);
    put(out, (uint32_t)bytes.len);
    buf_add(out, bytes);
    return true;
}

/* Where a link leads, as a distance; what was added later does not count. */
static uint32_t distance(const ast *tree, ast_ref from, ast_ref to)
{
    return to != 0 && to < tree->parsed ? to - from : 0;
}

bool kept_write(const ast *tree, heap *from, buf *ret)
{
    uint32_t before = 0;
    number_map numbers;
    bool is_good = kept_is_possible(tree);

    number_map_init(&numbers, from);
    put(ret, tree->parsed);
    for (ast_ref i = 1; is_good && i < tree->parsed; i++) {
        const ast_node *node = ast_at(tree, i);

        put(ret, fold(node->start - before));
        put(ret, node->end - node->start);
        put(ret, i - node->parent);
        put(ret, distance(tree, i, node->first));
        put(ret, distance(tree, i, node->next));
        buf_byte(ret, (char)node->kind);
        buf_byte(ret, (char)node->role);
        buf_byte(ret, (char)node->op);
        buf_byte(ret, (char)(node->flags & ~AST_OPAQUE));
        is_good = put_text(tree, node->text, &numbers, ret);
        before = node->start;
    }
    number_map_free(&numbers);
    return is_good && !ret->failed;
}

/* --- reading --- */

typedef struct reader {
    const unsigned char *at;
    const unsigned char *end;
    cg_str text; /* of the file */
    intern *names;
    heap *heap;
    VEC(sym) texts; /* in the order in which they came */
    ast_ref count;
    bool is_short; /* of memory */
} reader;

static bool take_long(reader *self, uint32_t *ret)
{
    uint32_t number = 0;

    for (unsigned shift = 0; shift < 35 && self->at < self->end; shift += 7) {
        unsigned char byte = *self->at++;

        number |= (uint32_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *ret = number;
            return shift < 28 || byte < 0x10;
        }
    }
    return false;
}

/* Most numbers are one byte. */
static inline bool take(reader *self, uint32_t *ret)
{
    const unsigned char *at = self->at;

    if (at >= self->end || *at >= 0x80)
        return take_long(self, ret);
    *ret = *at;
    self->at = at + 1;
    return true;
}

static bool take_text(reader *self, sym *ret)
{
    uint32_t number, len;
    cg_str bytes;
    sym *place;

    *ret = 0;
    if (!take(self, &number))
        return false;
    if (number == TEXT_NONE)
        return true;
    if (number != TEXT_FRESH) {
        if (number - TEXT_FIRST >= self->texts.count)
            return false;
        *ret = self->texts.at[number - TEXT_FIRST];
        return true;
    }
    if (!take(self, &len) || len > (size_t)(self->end - self->at))
        return false;
    bytes = (cg_str){(const char *)self->at, len};
    self->at += len;
    if (str_utf8_error(bytes) != SIZE_MAX)
        return false;
    *ret = intern_add(self->names, bytes);
    place = vec_add(self->heap, &self->texts);
    self->is_short = *ret == 0 || place == NULL;
    if (self->is_short)
        return false;
    *place = *ret;
    return true;
}

/* Does no character reach over this place? */
static bool is_between(cg_str text, uint32_t at)
{
    return at == text.len || ((unsigned char)text.ptr[at] & 0xc0) != 0x80;
}

static bool take_link(reader *self, ast_ref from, ast_ref *ret)
{
    uint32_t far;

    if (!take(self, &far) || far >= self->count - from)
        return false;
    *ret = far != 0 ? from + far : 0;
    return true;
}

static bool take_node(reader *self, ast_ref ref, uint32_t before, ast_node *ret)
{
    const unsigned char *last;
    uint32_t start, len, up;

    if (!take(self, &start) || !take(self, &len) || !take(self, &up) || up > ref || up == 0 ||
        !take_link(self, ref, &ret->first) || !take_link(self, ref, &ret->next) ||
        self->end - self->at < 4)
        return false;
    ret->start = before + unfold(start);
    if (ret->start > self->text.len || len > self->text.len - ret->start)
        return false;
    ret->end = ret->start + len;
    ret->parent = ref - up;
    last = self->at;
    ret->kind = last[0];
    ret->role = last[1];
    ret->op = last[2];
    ret->flags = last[3];
    self->at = last + 4;
    return ret->kind < AST_KIND_COUNT && ret->role <= ROLE_VALUE && ret->op <= OP_RANGE_INCLUSIVE &&
           !(ret->flags & (AST_BROKEN | AST_OPAQUE | AST_EXPANDED)) && ret->flags < 128 &&
           is_between(self->text, ret->start) && is_between(self->text, ret->end) &&
           take_text(self, &ret->text);
}

/* Children know their parent, so that nothing is reached twice, and lie inside of it. */
static bool is_tree(const ast *tree)
{
    for (ast_ref i = 1; i < tree->nodes.count; i++) {
        const ast_node *node = ast_at(tree, i);
        const ast_node *around = ast_at(tree, node->parent);

        if (node->parent != 0 &&
            (node->kind == AST_NONE || node->start < around->start || node->end > around->end))
            return false;
        if ((node->first != 0 && ast_at(tree, node->first)->parent != i) ||
            (node->next != 0 && ast_at(tree, node->next)->parent != node->parent))
            return false;
    }
    return ast_kind_of(tree, 1) == AST_SOURCE_FILE && ast_at(tree, 1)->parent == 0 &&
           ast_at(tree, 1)->next == 0;
}

static bool take_tree(reader *self, ast *tree)
{
    uint32_t before = 0;

    if (!take(self, &self->count) || self->count < 2 ||
        self->count - 1 > (size_t)(self->end - self->at) / LEAST_BYTES)
        return false;
    self->is_short = !vec_reserve(tree->heap, &tree->nodes, (size_t)self->count);
    if (self->is_short)
        return false;
    tree->nodes.at[0] = (ast_node){0};
    for (ast_ref i = 1; i < self->count; i++) {
        if (!take_node(self, i, before, &tree->nodes.at[i]))
            return false;
        before = tree->nodes.at[i].start;
    }
    tree->nodes.count = self->count;
    tree->parsed = self->count;
    return self->at == self->end && is_tree(tree);
}

cg_code kept_read(cg_str bytes, const rust_source *source, intern *names, heap *from, ast *ret,
                  bool *ret_fits, cg_err *reterr)
{
    reader self = {.at = (const unsigned char *)bytes.ptr,
                   .end = (const unsigned char *)bytes.ptr + bytes.len,
                   .text = source->text,
                   .names = names,
                   .heap = from};
    ast tree = {.heap = from, .source = source, .names = names};

    *ret_fits = take_tree(&self, &tree);
    vec_free(from, &self.texts);
    if (*ret_fits) {
        *ret = tree;
        return CG_OK;
    }
    vec_free(from, &tree.nodes);
    return self.is_short ? err_nomem(reterr) : CG_OK;
}
