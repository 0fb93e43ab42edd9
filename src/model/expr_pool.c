#include "model/expr_pool.h"

static uint32_t hash_mix(uint32_t hash, uint64_t value)
{
    uint64_t mixed = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);

    return (uint32_t)(mixed ^ mixed >> 29 ^ mixed >> 47);
}

static bool grow_slots(expr_pool *self)
{
    size_t count = self->slot_count == 0 ? 256 : self->slot_count * 2;
    uint32_t *slots = heap_resize(self->heap, NULL, 0, count * sizeof *slots);

    if (slots == NULL)
        return false;
    memset(slots, 0, count * sizeof *slots);
    for (size_t i = 1; i < self->nodes.count; i++) {
        size_t at = self->nodes.at[i].hash & (count - 1);

        while (slots[at] != 0)
            at = (at + 1) & (count - 1);
        slots[at] = (uint32_t)i;
    }
    heap_resize(self->heap, self->slots, self->slot_count * sizeof *slots, 0);
    self->slots = slots;
    self->slot_count = count;
    return true;
}

static expr refuse_memory(expr_pool *self)
{
    self->failed = true;
    return EXPR_NONE;
}

static bool is_same(const expr_pool *self, const expr_node *a, const expr_node *b,
                    const expr *operands)
{
    return a->hash == b->hash && a->kind == b->kind && a->count == b->count && a->text == b->text &&
           a->value == b->value &&
           (a->count == 0 || memcmp(self->operands.at + a->first, operands,
                                    (size_t)a->count * sizeof *operands) == 0);
}

/* The node with these operands, the one that is there or a new one. */
static expr intern_node(expr_pool *self, expr_node node, const expr *operands)
{
    uint32_t hash = hash_mix(node.kind, (uint64_t)node.value);
    expr_node *added;
    size_t at;

    hash = hash_mix(hash, node.text);
    for (size_t i = 0; i < node.count; i++)
        hash = hash_mix(hash, operands[i]);
    node.hash = hash;
    if (self->nodes.count * 2 >= self->slot_count && !grow_slots(self))
        return refuse_memory(self);
    at = hash & (self->slot_count - 1);
    for (; self->slots[at] != 0; at = (at + 1) & (self->slot_count - 1)) {
        if (is_same(self, &self->nodes.at[self->slots[at]], &node, operands))
            return self->slots[at];
    }
    node.first = (uint32_t)self->operands.count;
    if (self->nodes.count >= UINT32_MAX / 2 || self->operands.count >= UINT32_MAX / 2 ||
        !vec_reserve(self->heap, &self->operands, self->operands.count + node.count))
        return refuse_memory(self);
    added = vec_add(self->heap, &self->nodes);
    if (added == NULL)
        return refuse_memory(self);
    if (node.count > 0)
        memcpy(self->operands.at + self->operands.count, operands,
               (size_t)node.count * sizeof *operands);
    self->operands.count += node.count;
    *added = node;
    self->slots[at] = (uint32_t)(self->nodes.count - 1);
    return (expr)(self->nodes.count - 1);
}

expr expr_compound(expr_pool *self, enum expr_kind kind, const expr *operands, size_t count)
{
    expr_node node = {.kind = (uint8_t)kind, .count = (uint16_t)count, .size = 1};
    unsigned depth = 0;

    if (count > EXPR_TERMS)
        return EXPR_NONE;
    for (size_t i = 0; i < count; i++) {
        const expr_node *operand = &self->nodes.at[operands[i]];

        depth = operand->depth > depth ? operand->depth : depth;
        node.size += operand->size;
    }
    if (kind != EXPR_SUM && kind != EXPR_PRODUCT)
        depth++;
    if (depth > EXPR_DEPTH || node.size > EXPR_SIZE)
        return EXPR_NONE;
    node.depth = (uint8_t)depth;
    return intern_node(self, node, operands);
}

bool expr_pool_init(expr_pool *self, heap *from)
{
    expr_node *none;

    *self = (expr_pool){.heap = from};
    if (!intern_init(&self->texts, from, UINT64_C(0x2545f4914f6cdd1d)))
        return false;
    none = vec_add(from, &self->nodes);
    if (none == NULL || !grow_slots(self)) {
        expr_pool_free(self);
        return false;
    }
    *none = (expr_node){.kind = EXPR_UNKNOWN};
    return true;
}

void expr_pool_free(expr_pool *self)
{
    if (self->heap == NULL)
        return;
    intern_free(&self->texts);
    vec_free(self->heap, &self->nodes);
    vec_free(self->heap, &self->operands);
    heap_resize(self->heap, self->slots, self->slot_count * sizeof *self->slots, 0);
    *self = (expr_pool){0};
}

expr expr_const(expr_pool *self, int64_t value)
{
    return intern_node(self, (expr_node){.kind = EXPR_CONSTANT, .value = value, .size = 1}, NULL);
}

static expr named(expr_pool *self, enum expr_kind kind, cg_str text)
{
    sym symbol;

    if (text.ptr == NULL)
        return EXPR_NONE;
    symbol = intern_add(&self->texts, text);
    if (symbol == 0)
        return refuse_memory(self);
    return intern_node(self, (expr_node){.kind = (uint8_t)kind, .text = symbol, .size = 1}, NULL);
}

expr expr_symbol(expr_pool *self, cg_str text)
{
    return named(self, EXPR_SYMBOL, text);
}

expr expr_call(expr_pool *self, cg_str text)
{
    return named(self, EXPR_CALL, text);
}

bool expr_constant(const expr_pool *self, expr e, int64_t *ret)
{
    if (self->nodes.at[e].kind != EXPR_CONSTANT)
        return false;
    *ret = self->nodes.at[e].value;
    return true;
}

cg_str expr_text(const expr_pool *self, expr e)
{
    const expr_node *node = &self->nodes.at[e];

    if (node->kind != EXPR_SYMBOL && node->kind != EXPR_CALL)
        return (cg_str){0};
    return intern_text_of(&self->texts, node->text);
}

static unsigned rank_of(const expr_node *node)
{
    if (node->kind == EXPR_CALL)
        return EXPR_SYMBOL;
    return node->kind == EXPR_CONSTANT ? 255u : node->kind;
}

/*
 * Different numbers are different expressions, so one pair of operands is followed: the depth is
 * bounded by EXPR_DEPTH.
 */
int expr_order(const expr_pool *self, expr a, expr b)
{
    while (a != b) {
        const expr_node *left = &self->nodes.at[a];
        const expr_node *right = &self->nodes.at[b];
        size_t i = 0;

        if (rank_of(left) != rank_of(right))
            return rank_of(left) < rank_of(right) ? -1 : 1;
        if (left->kind == EXPR_CONSTANT)
            return left->value < right->value ? -1 : 1;
        if (left->count == 0) {
            int order = str_compare(expr_text(self, a), expr_text(self, b));

            return order != 0 ? order : (left->kind < right->kind ? -1 : 1);
        }
        while (i < left->count && i < right->count &&
               self->operands.at[left->first + i] == self->operands.at[right->first + i])
            i++;
        if (i == left->count || i == right->count)
            return left->count < right->count ? -1 : 1;
        a = self->operands.at[left->first + i];
        b = self->operands.at[right->first + i];
    }
    return 0;
}
