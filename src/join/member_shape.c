#include "join/member_shape.h"

#include <inttypes.h>

#include "model/expr_solve.h"
#include "model/index_text.h"

/* One counter of a loop that the name tells about. */
typedef struct counter {
    expr symbol;
    expr value; /* EXPR_NONE: the name does not settle it */
} counter;

typedef struct member {
    heap *heap;
    expr_pool *pool;
    const key_pattern *pattern;
    const key_numbers *numbers;
    VEC(counter) counters;
} member;

static bool is_bound(const member *self, uint32_t number)
{
    return (self->numbers->bound >> number & 1) != 0;
}

static bool add_counter(member *self, expr symbol, expr value)
{
    counter *added;

    for (size_t i = 0; i < self->counters.count; i++) {
        if (self->counters.at[i].symbol != symbol)
            continue;
        if (self->counters.at[i].value == EXPR_NONE)
            self->counters.at[i].value = value;
        return true;
    }
    added = vec_add(self->heap, &self->counters);
    if (added != NULL)
        *added = (counter){symbol, value};
    return added != NULL;
}

/* What the number in the name says about the counter it is made of. */
static bool hear_number(member *self, uint32_t which)
{
    const key_piece *piece = self->pattern->numbers[which];
    expr number = piece->number != EXPR_NONE ? piece->number : expr_symbol(self->pool, piece->text);
    uint64_t value = self->numbers->at[which];
    expr_list symbols = {0};
    expr_binding binding;
    bool is_done = expr_symbols(self->pool, number, &symbols);

    if (symbols.count == 1 && value <= INT64_MAX &&
        expr_solve(self->pool, number, (int64_t)value, NULL, 0, &binding) == EXPR_BINDS)
        is_done = is_done && add_counter(self, binding.symbol, binding.value);
    else if (symbols.count == 1)
        is_done = is_done && add_counter(self, symbols.at[0], EXPR_NONE);
    else if (piece->counter != EXPR_NONE)
        is_done = is_done && add_counter(self, piece->counter, EXPR_NONE);
    vec_free(self->pool->heap, &symbols);
    return is_done;
}

/* `index`, `index2`: a loop whose counter the source gives no name. */
static bool mentions_unnamed(cg_str text)
{
    char name[6] = {'i', 'n', 'd', 'e', 'x', '2'};

    if (index_text_mentions(text, (cg_str){name, 5}))
        return true;
    for (; name[5] <= '9'; name[5]++) {
        if (index_text_mentions(text, (cg_str){name, 6}))
            return true;
    }
    return false;
}

/* A size of its own: the text, and what the numbers of this member are. */
static expr own_symbol(const member *self, cg_str text)
{
    expr made = EXPR_NONE;
    bool is_first = true;
    buf own;

    buf_init(&own, self->heap, UINT32_MAX);
    buf_add(&own, text);
    for (uint32_t i = 0; i < self->pattern->number_count && i < KEY_NUMBERS; i++) {
        cg_str name = self->pattern->numbers[i]->text;

        if (!is_bound(self, i))
            continue;
        buf_addf(&own, "%s%.*s = %" PRIu64, is_first ? MEMBER_SIZE_AT : ", ", (int)name.len,
                 name.ptr, self->numbers->at[i]);
        is_first = false;
    }
    if (!own.failed)
        made = expr_symbol(self->pool, buf_text(&own));
    buf_free(&own);
    return made;
}

/* What a symbol is for this member; itself when it does not change. */
static expr localise(member *self, expr symbol)
{
    cg_str text = expr_text(self->pool, symbol);
    bool is_own = false;
    buf now;
    expr ret = symbol;

    buf_init(&now, self->heap, UINT32_MAX);
    buf_add(&now, text);
    for (size_t i = 0; i < self->counters.count; i++) {
        const counter *at = &self->counters.at[i];
        cg_str name = expr_text(self->pool, at->symbol);
        buf next;

        if (symbol == at->symbol && at->value != EXPR_NONE) {
            buf_free(&now);
            return at->value;
        }
        if (!index_text_mentions(buf_text(&now), name))
            continue;
        if (at->value != EXPR_NONE && index_choice_is(buf_text(&now)) && i == 0 &&
            self->counters.count == 1) {
            ret = index_choice_at(self->pool, buf_text(&now), name, at->value);
            buf_free(&now);
            return ret;
        }
        if (at->value == EXPR_NONE) {
            is_own = true;
            continue;
        }
        buf_init(&next, self->heap, UINT32_MAX);
        next.failed |= !index_text_replace(self->pool, buf_text(&now), name, at->value, &next);
        buf_free(&now);
        now = next;
        is_own |= index_text_mentions(buf_text(&now), name);
    }
    if (!now.failed && (is_own || mentions_unnamed(buf_text(&now))))
        ret = own_symbol(self, text);
    else if (!now.failed && !str_equal(buf_text(&now), text))
        ret = expr_symbol(self->pool, buf_text(&now));
    self->pool->failed |= now.failed;
    buf_free(&now);
    return ret;
}

cg_code member_shape_make(heap *from, arena *mem, expr_pool *pool,
                          const wanted_parameter *parameter, const key_pattern *pattern,
                          const key_numbers *numbers, const expr **ret, cg_err *reterr)
{
    member self = {.heap = from, .pool = pool, .pattern = pattern, .numbers = numbers};
    VEC(expr_binding) bindings = {0};
    expr_list symbols = {0};
    bool is_done = true;
    expr *shape = NULL;

    *ret = parameter->shape;
    if (!parameter->has_rank || numbers->bound == 0)
        return CG_OK;
    for (uint32_t i = 0; is_done && i < pattern->number_count && i < KEY_NUMBERS; i++)
        is_done = !is_bound(&self, i) || hear_number(&self, i);
    for (uint32_t i = 0; is_done && i < parameter->rank; i++)
        is_done = expr_symbols(pool, parameter->shape[i], &symbols);
    for (size_t i = 0; is_done && i < symbols.count; i++) {
        expr value = localise(&self, symbols.at[i]);
        expr_binding *added = value != symbols.at[i] ? vec_add(from, &bindings) : NULL;

        is_done = value == symbols.at[i] || added != NULL;
        if (added != NULL)
            *added = (expr_binding){symbols.at[i], value};
    }
    if (is_done && bindings.count > 0) {
        shape = arena_take(mem, (parameter->rank + 1) * sizeof *shape);
        is_done = shape != NULL;
        for (uint32_t i = 0; is_done && i < parameter->rank; i++)
            shape[i] = expr_substitute(pool, parameter->shape[i], bindings.at, bindings.count);
        *ret = is_done ? shape : *ret;
    }
    vec_free(pool->heap, &symbols);
    vec_free(from, &bindings);
    vec_free(from, &self.counters);
    return is_done && !pool->failed ? CG_OK : err_nomem(reterr);
}
