#include "model/expr.h"

#include <inttypes.h>

#define SEARCH_TOP (INT64_C(1) << 42) /* no size of a model is larger */
#define POWER_TOP  8                  /* constant exponents up to here are multiplied out */

/* --- nodes --- */

/* NULL as long as no expression of the pool has any. */
static const expr *first_operand(const expr_pool *self, const expr_node *node)
{
    return self->operands.at != NULL ? self->operands.at + node->first : NULL;
}

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

static expr compound(expr_pool *self, enum expr_kind kind, const expr *operands, size_t count)
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

/* --- order --- */

static unsigned rank_of(const expr_node *node)
{
    if (node->kind == EXPR_CALL)
        return EXPR_SYMBOL;
    return node->kind == EXPR_CONSTANT ? 255u : node->kind;
}

/*
 * A fixed order of expressions that depends on their text alone, not on the order of their making.
 * Different numbers are different expressions, so one pair of operands is followed: the depth is
 * bounded by EXPR_DEPTH.
 */
static int compare(const expr_pool *self, expr a, expr b)
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

/* --- polynomials: a list of terms, each a factor and a product of atoms --- */

typedef struct term {
    int64_t factor;
    expr product; /* EXPR_NONE: the constant term */
} term;

typedef struct terms {
    size_t count;
    bool is_over; /* too many, too large, or out of memory */
    term at[EXPR_TERMS];
} terms;

/* Instead of an initialiser, which clears all of the array. */
static void terms_begin(terms *self)
{
    self->count = 0;
    self->is_over = false;
}

static void terms_copy(terms *to, const terms *from)
{
    to->count = from->count;
    to->is_over = from->is_over;
    memcpy(to->at, from->at, from->count * sizeof *from->at);
}

static const expr *operands_of(const expr_pool *self, expr e, size_t *ret_count)
{
    *ret_count = self->nodes.at[e].count;
    return first_operand(self, &self->nodes.at[e]);
}

/* The atoms of a product without its factor, as a slice of the pool or of `single`. */
static size_t atoms_of(const expr_pool *self, const expr *product, const expr **ret)
{
    if (*product == EXPR_NONE)
        return 0;
    if (self->nodes.at[*product].kind == EXPR_PRODUCT) {
        size_t count;

        *ret = operands_of(self, *product, &count);
        return count;
    }
    *ret = product;
    return 1;
}

static int compare_products(const expr_pool *self, expr a, expr b)
{
    const expr *left = NULL;
    const expr *right = NULL;
    size_t left_count = atoms_of(self, &a, &left);
    size_t right_count = atoms_of(self, &b, &right);

    if (left_count != right_count)
        return left_count > right_count ? -1 : 1;
    for (size_t i = 0; i < left_count; i++) {
        if (left[i] != right[i])
            return compare(self, left[i], right[i]);
    }
    return 0;
}

/* Add to the term of this product, kept in order. */
static void terms_add(const expr_pool *self, terms *to, int64_t factor, expr product)
{
    size_t low = 0;
    size_t high = to->count;

    if (to->is_over || factor == 0)
        return;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = compare_products(self, to->at[middle].product, product);

        if (order == 0) {
            if (__builtin_add_overflow(to->at[middle].factor, factor, &to->at[middle].factor)) {
                to->is_over = true;
            } else if (to->at[middle].factor == 0) {
                memmove(to->at + middle, to->at + middle + 1,
                        (to->count - middle - 1) * sizeof *to->at);
                to->count--;
            }
            return;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (to->count == EXPR_TERMS) {
        to->is_over = true;
        return;
    }
    memmove(to->at + low + 1, to->at + low, (to->count - low) * sizeof *to->at);
    to->at[low] = (term){factor, product};
    to->count++;
}

static term term_of(expr_pool *self, expr e)
{
    const expr_node *node = &self->nodes.at[e];
    const expr *operands = first_operand(self, node);
    int64_t factor;

    if (node->kind == EXPR_CONSTANT)
        return (term){node->value, EXPR_NONE};
    if (node->kind != EXPR_PRODUCT || !expr_constant(self, operands[0], &factor))
        return (term){1, e};
    if (node->count == 2)
        return (term){factor, operands[1]};
    {
        expr rest[EXPR_TERMS]; /* the array of operands may move */
        size_t count = (size_t)node->count - 1;

        memcpy(rest, operands + 1, count * sizeof *rest);
        return (term){factor, compound(self, EXPR_PRODUCT, rest, count)};
    }
}

static void terms_of(expr_pool *self, expr e, int64_t sign, terms *to)
{
    size_t count = self->nodes.at[e].kind == EXPR_SUM ? self->nodes.at[e].count : 1;

    for (size_t i = 0; i < count; i++) {
        expr operand =
            self->nodes.at[e].kind == EXPR_SUM ? self->operands.at[self->nodes.at[e].first + i] : e;
        term part = term_of(self, operand);
        bool is_lost = part.product == EXPR_NONE && self->nodes.at[operand].kind != EXPR_CONSTANT;

        if (is_lost || __builtin_mul_overflow(part.factor, sign, &part.factor))
            to->is_over = true;
        terms_add(self, to, part.factor, part.product);
    }
}

static expr term_build(expr_pool *self, term part)
{
    expr room[EXPR_TERMS + 1];
    const expr *atoms = NULL;
    size_t count;

    if (part.product == EXPR_NONE)
        return expr_const(self, part.factor);
    if (part.factor == 1)
        return part.product;
    count = atoms_of(self, &part.product, &atoms);
    memcpy(room + 1, atoms, count * sizeof *room);
    room[0] = expr_const(self, part.factor);
    return room[0] == EXPR_NONE ? EXPR_NONE : compound(self, EXPR_PRODUCT, room, count + 1);
}

static expr terms_build(expr_pool *self, const terms *from)
{
    expr room[EXPR_TERMS];

    if (from->is_over)
        return EXPR_NONE;
    if (from->count == 0)
        return expr_const(self, 0);
    for (size_t i = 0; i < from->count; i++) {
        room[i] = term_build(self, from->at[i]);
        if (room[i] == EXPR_NONE)
            return EXPR_NONE;
    }
    return from->count == 1 ? room[0] : compound(self, EXPR_SUM, room, from->count);
}

/* Two products of atoms as one; false when it is too long. */
static bool multiply_products(expr_pool *self, expr a, expr b, expr *ret)
{
    expr room[EXPR_TERMS];
    const expr *left = NULL;
    const expr *right = NULL;
    size_t left_count = atoms_of(self, &a, &left);
    size_t right_count = atoms_of(self, &b, &right);
    size_t i = 0;
    size_t j = 0;

    *ret = left_count == 0 ? b : a;
    if (left_count == 0 || right_count == 0)
        return true;
    if (left_count + right_count > EXPR_TERMS)
        return false;
    while (i < left_count || j < right_count) {
        bool take_left =
            j == right_count || (i < left_count && compare(self, left[i], right[j]) <= 0);

        room[i + j] = take_left ? left[i] : right[j];
        if (take_left)
            i++;
        else
            j++;
    }
    *ret = compound(self, EXPR_PRODUCT, room, left_count + right_count);
    return *ret != EXPR_NONE;
}

/* a / b for products of atoms when every atom of b is one of a. */
static bool divide_products(expr_pool *self, expr a, expr b, expr *ret)
{
    expr room[EXPR_TERMS];
    const expr *left = NULL;
    const expr *right = NULL;
    size_t left_count = atoms_of(self, &a, &left);
    size_t right_count = atoms_of(self, &b, &right);
    size_t kept = 0;
    size_t j = 0;

    for (size_t i = 0; i < left_count; i++) {
        if (j < right_count && left[i] == right[j])
            j++;
        else
            room[kept++] = left[i];
    }
    if (j < right_count)
        return false;
    *ret = kept == 0 ? EXPR_NONE : room[0];
    if (kept < 2)
        return true;
    *ret = compound(self, EXPR_PRODUCT, room, kept);
    return *ret != EXPR_NONE;
}

static void terms_multiply(expr_pool *self, const terms *a, term by, int64_t sign, terms *to)
{
    if (__builtin_mul_overflow(by.factor, sign, &by.factor))
        to->is_over = true;
    for (size_t i = 0; i < a->count && !to->is_over; i++) {
        int64_t factor;
        expr product;

        if (__builtin_mul_overflow(a->at[i].factor, by.factor, &factor) ||
            !multiply_products(self, a->at[i].product, by.product, &product))
            to->is_over = true;
        else
            terms_add(self, to, factor, product);
    }
}

/*
 * Divide until nothing is left: the leading terms decide, as by hand. False when something stays;
 * the order of products is one that multiplication respects, so an exact quotient is found.
 */
static bool terms_divide(expr_pool *self, terms *rest, const terms *by, terms *ret)
{
    terms_begin(ret);
    for (unsigned steps = 0; rest->count > 0; steps++) {
        term first = rest->at[0];
        expr product;

        if (steps == EXPR_TERMS || (by->at[0].factor == -1 && first.factor == INT64_MIN) ||
            first.factor % by->at[0].factor != 0 ||
            !divide_products(self, first.product, by->at[0].product, &product))
            return false;
        first = (term){first.factor / by->at[0].factor, product};
        terms_add(self, ret, first.factor, first.product);
        terms_multiply(self, by, first, -1, rest);
        if (rest->is_over || ret->is_over)
            return false;
    }
    return true;
}

/* --- what cannot be negative --- */

static bool is_positive_or_zero(const expr_pool *self, expr e)
{
    const expr_node *node = &self->nodes.at[e];
    bool all = true;
    bool any = false;

    for (size_t i = 0; i < node->count; i++) {
        bool one = is_positive_or_zero(self, self->operands.at[node->first + i]);

        all = all && one;
        any = any || one;
    }
    switch ((enum expr_kind)node->kind) {
    case EXPR_UNKNOWN: return false;
    case EXPR_CONSTANT: return node->value >= 0;
    case EXPR_SYMBOL:
    case EXPR_CALL: return true;
    case EXPR_GREATEST: return any;
    case EXPR_POWER: return is_positive_or_zero(self, self->operands.at[node->first]);
    case EXPR_SUM:
    case EXPR_PRODUCT:
    case EXPR_QUOTIENT:
    case EXPR_REMAINDER:
    case EXPR_LEAST: return all;
    }
    return false;
}

/* --- operations --- */

static int64_t gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a < 0 && a != INT64_MIN ? -a : a;
}

static expr pair(expr_pool *self, enum expr_kind kind, expr a, expr b)
{
    expr operands[2] = {a, b};

    return compound(self, kind, operands, 2);
}

/*
 * Division by a constant above 1 when nothing is negative: what is divisible comes out of the
 * quotient and vanishes from the remainder.
 */
static void split_terms(expr_pool *self, const terms *from, int64_t by, terms *whole, terms *rest)
{
    for (size_t i = 0; i < from->count; i++) {
        term part = from->at[i];
        int64_t left = part.factor % by;

        if (part.product != EXPR_NONE && left != 0) {
            terms_add(self, rest, part.factor, part.product);
            continue;
        }
        terms_add(self, whole, part.factor / by, part.product);
        terms_add(self, rest, left, part.product);
    }
}

/* Both sides without their common factor: floor(g*a / (g*b)) is floor(a / b). */
static void cancel_common(expr_pool *self, terms *top, terms *bottom)
{
    int64_t common = 0;

    for (size_t i = 0; i < top->count; i++)
        common = gcd(common, top->at[i].factor);
    for (size_t i = 0; i < bottom->count; i++)
        common = gcd(common, bottom->at[i].factor);
    for (size_t i = 0; common > 1 && i < top->count; i++)
        top->at[i].factor /= common;
    for (size_t i = 0; common > 1 && i < bottom->count; i++)
        bottom->at[i].factor /= common;
    for (size_t at = 0; bottom->count == 1;) {
        const expr *atoms = NULL;
        size_t count = atoms_of(self, &bottom->at[0].product, &atoms);
        terms shorter;
        expr atom;
        bool fits = at < count;

        if (!fits)
            return;
        atom = atoms[at];
        terms_begin(&shorter);
        for (size_t i = 0; fits && i < top->count; i++) {
            expr product;

            fits = divide_products(self, top->at[i].product, atom, &product);
            if (fits)
                terms_add(self, &shorter, top->at[i].factor, product);
        }
        if (fits && divide_products(self, bottom->at[0].product, atom, &bottom->at[0].product))
            terms_copy(top, &shorter);
        else
            at++;
    }
}

static expr divide(expr_pool *self, expr a, expr b, bool is_remainder)
{
    enum expr_kind kind = is_remainder ? EXPR_REMAINDER : EXPR_QUOTIENT;
    terms top;
    terms bottom;
    terms rest;
    terms whole;
    int64_t by;
    expr quotient;

    terms_begin(&top);
    terms_begin(&bottom);
    terms_of(self, a, 1, &top);
    terms_of(self, b, 1, &bottom);
    if (top.is_over || bottom.is_over || bottom.count == 0)
        return EXPR_NONE;
    if (top.count == 0)
        return expr_const(self, 0);
    if (expr_constant(self, b, &by) && top.count == 1 && top.at[0].product == EXPR_NONE) {
        int64_t value = top.at[0].factor;

        if (by == -1)
            return is_remainder ? expr_const(self, 0)
                                : expr_binary(self, EXPR_SUB, expr_const(self, 0), a);
        return expr_const(self, is_remainder ? value % by : value / by);
    }
    terms_copy(&rest, &top);
    if (terms_divide(self, &rest, &bottom, &whole))
        return is_remainder ? expr_const(self, 0) : terms_build(self, &whole);
    if (expr_constant(self, b, &by) && by > 1 && is_positive_or_zero(self, a)) {
        terms_begin(&whole);
        terms_begin(&rest);
        split_terms(self, &top, by, &whole, &rest);
        a = terms_build(self, &rest);
        if (whole.count > 0 && a != EXPR_NONE) {
            quotient = expr_binary(self, is_remainder ? EXPR_REM : EXPR_DIV, a, b);
            return is_remainder ? quotient
                                : expr_binary(self, EXPR_ADD, terms_build(self, &whole), quotient);
        }
        terms_copy(&top, &rest);
    }
    if (!is_remainder) {
        cancel_common(self, &top, &bottom);
        a = terms_build(self, &top);
        b = terms_build(self, &bottom);
        if (a == EXPR_NONE || b == EXPR_NONE)
            return EXPR_NONE;
        if (expr_constant(self, b, &by) && by == 1)
            return a;
    }
    return a == EXPR_NONE ? EXPR_NONE : pair(self, kind, a, b);
}

static void take_operands(const expr_pool *self, expr e, enum expr_kind kind, terms *to)
{
    bool is_flat = self->nodes.at[e].kind == kind;
    size_t count = is_flat ? self->nodes.at[e].count : 1;

    for (size_t i = 0; i < count; i++) {
        if (to->count == EXPR_TERMS) {
            to->is_over = true;
            return;
        }
        to->at[to->count++].product = is_flat ? self->operands.at[self->nodes.at[e].first + i] : e;
    }
}

/* The least or greatest of operands that nobody can put in order. */
static expr extreme(expr_pool *self, enum expr_kind kind, expr a, expr b)
{
    expr kept[EXPR_TERMS];
    size_t count = 0;
    terms all;

    terms_begin(&all);
    take_operands(self, a, kind, &all);
    take_operands(self, b, kind, &all);
    if (all.is_over)
        return EXPR_NONE;
    for (size_t i = 0; i < all.count; i++) {
        expr one = all.at[i].product;
        size_t j = 0;
        int64_t by;
        bool is_beaten = false;

        for (; j < count; j++) {
            if (!expr_constant(self, expr_binary(self, EXPR_SUB, one, kept[j]), &by))
                continue;
            is_beaten = (kind == EXPR_LEAST) == (by >= 0);
            break;
        }
        if (is_beaten)
            continue;
        if (j < count) {
            memmove(kept + j, kept + j + 1, (count - j - 1) * sizeof *kept);
            count--;
        }
        for (j = count; j > 0 && compare(self, kept[j - 1], one) > 0; j--)
            kept[j] = kept[j - 1];
        kept[j] = one;
        count++;
    }
    if (count == 2 && kept[1] == expr_const(self, 0) && is_positive_or_zero(self, kept[0]))
        return kept[kind == EXPR_LEAST ? 1 : 0];
    return count == 1 ? kept[0] : compound(self, kind, kept, count);
}

static bool power_value(int64_t base, int64_t exponent, int64_t *ret)
{
    int64_t value = 1;

    if (exponent < 0)
        return false;
    if (base == 0 || base == 1) {
        *ret = exponent == 0 ? 1 : base;
        return true;
    }
    for (int64_t i = 0; i < exponent; i++) {
        if (i > 64 || __builtin_mul_overflow(value, base, &value))
            return false;
    }
    *ret = value;
    return true;
}

static expr power(expr_pool *self, expr a, expr b)
{
    int64_t base;
    int64_t exponent;
    expr result;

    if (!expr_constant(self, b, &exponent))
        return pair(self, EXPR_POWER, a, b);
    if (expr_constant(self, a, &base))
        return power_value(base, exponent, &base) ? expr_const(self, base) : EXPR_NONE;
    if (exponent < 0)
        return EXPR_NONE;
    if (exponent > POWER_TOP)
        return pair(self, EXPR_POWER, a, b);
    result = expr_const(self, 1);
    for (int64_t i = 0; i < exponent; i++)
        result = expr_binary(self, EXPR_MUL, result, a);
    return result;
}

static expr multiply(expr_pool *self, expr a, expr b)
{
    terms left;
    terms right;
    terms result;

    terms_begin(&left);
    terms_begin(&right);
    terms_begin(&result);
    terms_of(self, a, 1, &left);
    terms_of(self, b, 1, &right);
    result.is_over = left.is_over || right.is_over;
    for (size_t i = 0; i < right.count; i++)
        terms_multiply(self, &left, right.at[i], 1, &result);
    return terms_build(self, &result);
}

static expr add(expr_pool *self, expr a, expr b, int64_t sign)
{
    terms result;

    terms_begin(&result);
    terms_of(self, a, 1, &result);
    terms_of(self, b, sign, &result);
    return terms_build(self, &result);
}

/* Numbers, as most operands are: the sums of terms come to the same. False: not so. */
static bool binary_numbers(enum expr_op op, int64_t a, int64_t b, int64_t *ret)
{
    switch (op) {
    case EXPR_ADD: return !__builtin_add_overflow(a, b, ret);
    case EXPR_SUB: return b != INT64_MIN && !__builtin_sub_overflow(a, b, ret);
    case EXPR_MUL: return !__builtin_mul_overflow(a, b, ret);
    case EXPR_DIV:
    case EXPR_REM:
        if (b == 0 || b == -1)
            return false;
        *ret = op == EXPR_DIV ? a / b : a % b;
        return true;
    case EXPR_MIN:
    case EXPR_MAX:
        if (a == INT64_MIN || __builtin_sub_overflow(b, a, ret))
            return false;
        *ret = (op == EXPR_MIN) == (a < b) ? a : b;
        return true;
    case EXPR_POW: break;
    }
    return false;
}

expr expr_binary(expr_pool *self, enum expr_op op, expr a, expr b)
{
    int64_t left;
    int64_t right;

    if (a == EXPR_NONE || b == EXPR_NONE)
        return EXPR_NONE;
    if (expr_constant(self, a, &left) && expr_constant(self, b, &right) &&
        binary_numbers(op, left, right, &left))
        return expr_const(self, left);
    switch (op) {
    case EXPR_ADD: return add(self, a, b, 1);
    case EXPR_SUB: return add(self, a, b, -1);
    case EXPR_MUL: return multiply(self, a, b);
    case EXPR_DIV:
    case EXPR_REM: return divide(self, a, b, op == EXPR_REM);
    case EXPR_MIN: return extreme(self, EXPR_LEAST, a, b);
    case EXPR_MAX: return extreme(self, EXPR_GREATEST, a, b);
    case EXPR_POW: return power(self, a, b);
    }
    return EXPR_NONE;
}

bool expr_differs(expr_pool *self, expr a, expr b)
{
    int64_t by;

    return a != b && expr_constant(self, expr_binary(self, EXPR_SUB, a, b), &by) && by != 0;
}

/* --- values for symbols --- */

static expr bound_value(const expr_binding *bindings, size_t count, expr symbol)
{
    for (size_t i = 0; i < count; i++) {
        if (bindings[i].symbol == symbol)
            return bindings[i].value;
    }
    return EXPR_NONE;
}

static enum expr_op op_of(enum expr_kind kind)
{
    switch (kind) {
    case EXPR_SUM: return EXPR_ADD;
    case EXPR_PRODUCT: return EXPR_MUL;
    case EXPR_QUOTIENT: return EXPR_DIV;
    case EXPR_REMAINDER: return EXPR_REM;
    case EXPR_POWER: return EXPR_POW;
    case EXPR_LEAST: return EXPR_MIN;
    case EXPR_GREATEST:
    case EXPR_UNKNOWN:
    case EXPR_CONSTANT:
    case EXPR_SYMBOL:
    case EXPR_CALL: break;
    }
    return EXPR_MAX;
}

/* Depth is bounded by EXPR_DEPTH, time by EXPR_SIZE. */
expr expr_substitute(expr_pool *self, expr e, const expr_binding *bindings, size_t count)
{
    expr_node node = self->nodes.at[e];
    expr result = EXPR_NONE;

    if (node.count == 0) {
        result = node.kind == EXPR_CONSTANT ? EXPR_NONE : bound_value(bindings, count, e);
        return result != EXPR_NONE ? result : e;
    }
    for (size_t i = 0; i < node.count; i++) {
        expr operand = expr_substitute(self, self->operands.at[node.first + i], bindings, count);

        if (operand == EXPR_NONE)
            return EXPR_NONE;
        result =
            i == 0 ? operand : expr_binary(self, op_of((enum expr_kind)node.kind), result, operand);
    }
    return result;
}

static bool apply(enum expr_kind kind, int64_t a, int64_t b, int64_t *ret)
{
    switch (kind) {
    case EXPR_SUM: return !__builtin_add_overflow(a, b, ret);
    case EXPR_PRODUCT: return !__builtin_mul_overflow(a, b, ret);
    case EXPR_QUOTIENT:
    case EXPR_REMAINDER:
        if (b == 0 || (b == -1 && a == INT64_MIN))
            return false;
        *ret = kind == EXPR_QUOTIENT ? a / b : a % b;
        return true;
    case EXPR_POWER: return power_value(a, b, ret);
    case EXPR_LEAST: *ret = a < b ? a : b; return true;
    case EXPR_GREATEST: *ret = a > b ? a : b; return true;
    case EXPR_UNKNOWN:
    case EXPR_CONSTANT:
    case EXPR_SYMBOL:
    case EXPR_CALL: break;
    }
    return false;
}

/* Values of symbols: the bindings, and one more that need not be in the pool. */
typedef struct values {
    const expr_binding *bindings;
    size_t count;
    expr free;
    int64_t free_value;
} values;

static bool evaluate(const expr_pool *self, expr e, const values *from, int64_t *ret)
{
    const expr_node *node = &self->nodes.at[e];
    int64_t result = 0;

    if (node->count == 0) {
        if (node->kind == EXPR_CONSTANT)
            result = node->value;
        else if (e == from->free && e != EXPR_NONE)
            result = from->free_value;
        else if (!expr_constant(self, bound_value(from->bindings, from->count, e), &result))
            return false;
        *ret = result;
        return true;
    }
    for (size_t i = 0; i < node->count; i++) {
        int64_t value;

        if (!evaluate(self, self->operands.at[node->first + i], from, &value))
            return false;
        if (i == 0)
            result = value;
        else if (!apply((enum expr_kind)node->kind, result, value, &result))
            return false;
    }
    *ret = result;
    return true;
}

bool expr_evaluate(const expr_pool *self, expr e, const expr_binding *bindings, size_t count,
                   int64_t *ret)
{
    return evaluate(self, e, &(values){bindings, count, EXPR_NONE, 0}, ret);
}

bool expr_symbols(const expr_pool *self, expr e, expr_list *ret)
{
    const expr_node *node = &self->nodes.at[e];

    if (node->kind == EXPR_SYMBOL || node->kind == EXPR_CALL) {
        expr *added;

        for (size_t i = 0; i < ret->count; i++) {
            if (ret->at[i] == e)
                return true;
        }
        added = vec_add(self->heap, ret);
        if (added == NULL)
            return false;
        *added = e;
    }
    for (size_t i = 0; i < node->count; i++) {
        if (!expr_symbols(self, self->operands.at[node->first + i], ret))
            return false;
    }
    return true;
}

/* --- solving --- */

/* Does a larger value of any symbol never make `e` smaller, and is it never negative? */
static bool is_rising(const expr_pool *self, expr e, bool may_be_negative)
{
    const expr_node *node = &self->nodes.at[e];
    const expr *operands = first_operand(self, node);

    switch ((enum expr_kind)node->kind) {
    case EXPR_CONSTANT: return may_be_negative || node->value >= 0;
    case EXPR_SYMBOL:
    case EXPR_CALL: return true;
    case EXPR_QUOTIENT:
        return self->nodes.at[operands[1]].kind == EXPR_CONSTANT &&
               self->nodes.at[operands[1]].value > 0 &&
               is_rising(self, operands[0], may_be_negative);
    case EXPR_POWER:
        return self->nodes.at[operands[1]].kind == EXPR_CONSTANT &&
               is_rising(self, operands[0], false);
    case EXPR_SUM:
    case EXPR_LEAST:
    case EXPR_GREATEST:
        for (size_t i = 0; i < node->count; i++) {
            if (!is_rising(self, operands[i], may_be_negative))
                return false;
        }
        return true;
    case EXPR_PRODUCT:
        for (size_t i = 0; i < node->count; i++) {
            if (!is_rising(self, operands[i], false))
                return false;
        }
        return true;
    case EXPR_UNKNOWN:
    case EXPR_REMAINDER: break;
    }
    return false;
}

/* The smallest value of the free symbol that makes `e` at least `number`, else SEARCH_TOP. */
static int64_t search(const expr_pool *self, expr e, values from, int64_t number)
{
    int64_t low = 0;
    int64_t high = SEARCH_TOP;

    while (low < high) {
        int64_t value;

        from.free_value = low + (high - low) / 2;
        if (!evaluate(self, e, &from, &value) || value >= number)
            high = from.free_value;
        else
            low = from.free_value + 1;
    }
    return low;
}

static enum expr_answer bind_symbol(expr_pool *self, expr symbol, int64_t value, expr_binding *ret)
{
    expr constant = expr_const(self, value);

    if (constant == EXPR_NONE)
        return EXPR_OPEN;
    *ret = (expr_binding){symbol, constant};
    return EXPR_BINDS;
}

static enum expr_answer solve_rising(expr_pool *self, expr e, int64_t number, values from,
                                     expr_binding *ret)
{
    int64_t least = search(self, e, from, number);
    int64_t value;

    if (least == SEARCH_TOP)
        return EXPR_FALSE;
    from.free_value = least;
    if (!evaluate(self, e, &from, &value))
        return EXPR_OPEN;
    if (value != number)
        return EXPR_FALSE;
    if (number == INT64_MAX || search(self, e, from, number + 1) != least + 1)
        return EXPR_OPEN;
    return bind_symbol(self, from.free, least, ret);
}

/* factor * symbol + offset == number */
static enum expr_answer solve_line(expr_pool *self, const terms *line, int64_t number,
                                   expr_binding *ret)
{
    int64_t offset = line->count == 2 ? line->at[1].factor : 0;
    int64_t factor = line->at[0].factor;
    int64_t left;

    if (__builtin_sub_overflow(number, offset, &left) || (factor == -1 && left == INT64_MIN))
        return EXPR_OPEN;
    if (left % factor != 0 || left / factor < 0)
        return EXPR_FALSE;
    return bind_symbol(self, line->at[0].product, left / factor, ret);
}

/* No value of several symbols: a common factor that does not divide, or all too large already. */
static bool is_impossible(const expr_pool *self, const terms *from, int64_t number)
{
    int64_t common = 0;
    int64_t left = number;
    bool is_positive = true;

    for (size_t i = 0; i < from->count; i++) {
        if (from->at[i].product == EXPR_NONE) {
            if (__builtin_sub_overflow(number, from->at[i].factor, &left))
                return false;
            continue;
        }
        common = gcd(common, from->at[i].factor);
        is_positive =
            is_positive && from->at[i].factor > 0 && is_positive_or_zero(self, from->at[i].product);
    }
    return (common > 1 && left % common != 0) || (is_positive && left < 0);
}

enum expr_answer expr_solve(expr_pool *self, expr e, int64_t number, const expr_binding *bindings,
                            size_t count, expr_binding *ret)
{
    expr_list symbols = {0};
    expr bound = expr_substitute(self, e, bindings, count);
    terms sum;
    bool is_listed;
    expr free = EXPR_NONE;
    int64_t value;

    if (bound == EXPR_NONE)
        return EXPR_OPEN;
    if (expr_constant(self, bound, &value))
        return value == number ? EXPR_HOLDS : EXPR_FALSE;
    is_listed = expr_symbols(self, bound, &symbols);
    if (!is_listed)
        self->failed = true;
    if (is_listed && symbols.count == 1)
        free = symbols.at[0];
    vec_free(self->heap, &symbols);
    terms_begin(&sum);
    terms_of(self, bound, 1, &sum);
    if (!is_listed || sum.is_over)
        return EXPR_OPEN;
    if (free == EXPR_NONE)
        return is_impossible(self, &sum, number) ? EXPR_FALSE : EXPR_OPEN;
    if (sum.at[0].product == free && (sum.count == 1 || sum.at[1].product == EXPR_NONE))
        return solve_line(self, &sum, number, ret);
    if (is_rising(self, bound, true))
        return solve_rising(self, bound, number, (values){NULL, 0, free, 0}, ret);
    return is_impossible(self, &sum, number) ? EXPR_FALSE : EXPR_OPEN;
}

/* --- text --- */

/* How tightly a text holds together: what needs parentheses where. */
enum strength { STRENGTH_SUM, STRENGTH_PRODUCT, STRENGTH_MINUS, STRENGTH_METHOD };

static enum strength strength_of(const expr_pool *self, expr e)
{
    const expr_node *node = &self->nodes.at[e];
    int64_t factor;
    unsigned depth = 0;
    cg_str text;

    switch ((enum expr_kind)node->kind) {
    case EXPR_CONSTANT: return node->value < 0 ? STRENGTH_MINUS : STRENGTH_METHOD;
    case EXPR_CALL:
        text = expr_text(self, e);
        for (size_t i = 0; i < text.len; i++) {
            char byte = text.ptr[i];

            if (byte == '(' || byte == '[' || byte == '{')
                depth++;
            else if ((byte == ')' || byte == ']' || byte == '}') && depth > 0)
                depth--;
            else if (byte == ' ' && depth == 0)
                return STRENGTH_SUM;
        }
        return STRENGTH_METHOD;
    case EXPR_SUM: return STRENGTH_SUM;
    case EXPR_PRODUCT:
        if (expr_constant(self, self->operands.at[node->first], &factor) && factor == -1 &&
            node->count == 2)
            return STRENGTH_MINUS;
        return STRENGTH_PRODUCT;
    case EXPR_QUOTIENT:
    case EXPR_REMAINDER: return STRENGTH_PRODUCT;
    case EXPR_UNKNOWN:
    case EXPR_SYMBOL:
    case EXPR_POWER:
    case EXPR_LEAST:
    case EXPR_GREATEST: break;
    }
    return STRENGTH_METHOD;
}

static void print_in(const expr_pool *self, expr e, enum strength least, buf *out)
{
    bool is_weak = strength_of(self, e) < least;

    if (is_weak)
        buf_byte(out, '(');
    expr_print(self, e, out);
    if (is_weak)
        buf_byte(out, ')');
}

/* A product; `is_plain`: leave out the sign, the caller wrote it. */
static void print_product(const expr_pool *self, expr e, bool is_plain, buf *out)
{
    const expr_node *node = &self->nodes.at[e];
    const expr *operands = first_operand(self, node);
    int64_t factor = 1;
    size_t i = 0;

    if (node->kind == EXPR_CONSTANT || node->kind != EXPR_PRODUCT) {
        if (expr_constant(self, e, &factor) && factor < 0 && is_plain)
            buf_addf(out, "%" PRIu64, -(uint64_t)factor);
        else
            print_in(self, e, STRENGTH_PRODUCT, out);
        return;
    }
    if (expr_constant(self, operands[0], &factor)) {
        uint64_t size = factor < 0 ? -(uint64_t)factor : (uint64_t)factor;

        if (factor < 0 && !is_plain)
            buf_byte(out, '-');
        if (size != 1)
            buf_addf(out, "%" PRIu64 " * ", size);
        i = 1;
    }
    for (size_t first = i; i < node->count; i++) {
        bool is_first = i == first && (first == 0 || factor == -1);

        if (i > first)
            buf_add(out, CG_LIT(" * "));
        print_in(self, operands[i], is_first ? STRENGTH_PRODUCT : STRENGTH_METHOD, out);
    }
}

static bool is_below_zero(const expr_pool *self, expr e)
{
    const expr_node *node = &self->nodes.at[e];
    int64_t factor = 0;

    if (node->kind == EXPR_PRODUCT)
        e = self->operands.at[node->first];
    return expr_constant(self, e, &factor) && factor < 0;
}

static void print_sum(const expr_pool *self, const expr_node *node, buf *out)
{
    const expr *operands = first_operand(self, node);
    size_t first = 0;

    /* `1 - n` rather than `-n + 1` */
    while (first < node->count && is_below_zero(self, operands[first]))
        first++;
    first = first == node->count ? 0 : first;
    print_product(self, operands[first], false, out);
    for (size_t i = 0; i < node->count; i++) {
        bool is_minus = is_below_zero(self, operands[i]);

        if (i == first)
            continue;
        buf_add(out, is_minus ? CG_LIT(" - ") : CG_LIT(" + "));
        print_product(self, operands[i], is_minus, out);
    }
}

static void print_method(const expr_pool *self, const expr_node *node, const char *name, buf *out)
{
    const expr *operands = first_operand(self, node);

    print_in(self, operands[0], STRENGTH_METHOD, out);
    if (self->nodes.at[operands[0]].kind == EXPR_CONSTANT)
        buf_add(out, CG_LIT("_usize"));
    for (size_t i = 1; i < node->count; i++) {
        buf_addf(out, ".%s(", name);
        expr_print(self, operands[i], out);
        buf_byte(out, ')');
    }
}

void expr_print(const expr_pool *self, expr e, buf *out)
{
    const expr_node *node = &self->nodes.at[e];
    const expr *operands = first_operand(self, node);

    switch ((enum expr_kind)node->kind) {
    case EXPR_UNKNOWN: buf_byte(out, '?'); break;
    case EXPR_CONSTANT: buf_addf(out, "%" PRId64, node->value); break;
    case EXPR_SYMBOL:
    case EXPR_CALL: buf_add(out, expr_text(self, e)); break;
    case EXPR_SUM: print_sum(self, node, out); break;
    case EXPR_PRODUCT: print_product(self, e, false, out); break;
    case EXPR_QUOTIENT:
    case EXPR_REMAINDER:
        print_in(self, operands[0], STRENGTH_PRODUCT, out);
        buf_add(out, node->kind == EXPR_QUOTIENT ? CG_LIT(" / ") : CG_LIT(" % "));
        print_in(self, operands[1], STRENGTH_MINUS, out);
        break;
    case EXPR_POWER: print_method(self, node, "pow", out); break;
    case EXPR_LEAST: print_method(self, node, "min", out); break;
    case EXPR_GREATEST: print_method(self, node, "max", out); break;
    }
}
