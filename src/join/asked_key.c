#include "join/asked_key.h"

#include "model/expr_values.h"
#include "model/index_text.h"

/* Where in a key the next piece is taken from. */
typedef struct reading {
    arena *mem;
    expr_pool *exprs;
    const extract_parameter *parameter;
    const char *printed; /* what is left of the key as documents print it */
    size_t printed_len;
    size_t piece;
    size_t offset; /* in that piece, when it is text */
    key_piece *to;
    size_t count;
    bool is_open; /* a text of it is not known */
} reading;

/* What stands between the braces of the next hole. */
static cg_str hole_name(const reading *self)
{
    cg_str rest = {self->printed, self->printed_len};
    size_t end = str_find(rest, CG_LIT("}"));

    if (rest.len < 2 || rest.ptr[0] != '{' || end == SIZE_MAX)
        return CG_LIT("_");
    return (cg_str){rest.ptr + 1, end - 1};
}

static void skip_printed(reading *self, size_t count)
{
    if (count > self->printed_len)
        count = self->printed_len;
    self->printed += count;
    self->printed_len -= count;
}

/* Is it what stands before `in` in the loop around: `i` of `(i, w) in dims.windows(2)`? */
static bool is_counter(const reading *self, cg_str name)
{
    cg_str head = self->parameter->repeat;
    size_t end = head.ptr != NULL ? str_find(head, CG_LIT(" in ")) : SIZE_MAX;

    head.len = end == SIZE_MAX ? 0 : end;
    return index_text_mentions(head, name);
}

static bool is_loop_symbol(const reading *self, expr symbol)
{
    for (uint32_t i = 0; i < self->parameter->loop_count; i++) {
        if (self->parameter->loops[i].symbol == symbol)
            return true;
    }
    return false;
}

/* Does the symbol change from round to round: a counter, or what names one (`cfg.at[i]`)? */
static bool changes(const reading *self, expr symbol)
{
    for (uint32_t i = 0; i < self->parameter->loop_count; i++) {
        if (index_text_mentions(expr_text(self->exprs, symbol),
                                expr_text(self->exprs, self->parameter->loops[i].symbol)))
            return true;
    }
    return false;
}

static bool has_symbol(const reading *self, expr of, expr symbol)
{
    expr_list symbols = {0};
    bool is_there = !expr_symbols(self->exprs, of, &symbols);

    for (size_t i = 0; i < symbols.count; i++)
        is_there = is_there || symbols.at[i] == symbol;
    vec_free(self->exprs->heap, &symbols);
    return is_there;
}

/*
 * Are the values of the number, for a counter from 0 on, one behind the other without a gap? What
 * lies so lies so after a number is added, after a division, and cut off at a number.
 */
static bool is_dense(const reading *self, expr number, expr counter)
{
    expr_binding zero = {counter, expr_const(self->exprs, 0)};

    for (unsigned depth = 0; number != counter && depth < 2 * EXPR_DEPTH; depth++) {
        const expr_node *node = &self->exprs->nodes.at[number];
        const expr *operands = expr_operands(self->exprs, node);
        expr inside = EXPR_NONE;
        int64_t first;

        for (uint16_t i = 0; i < node->count; i++) {
            if (!has_symbol(self, operands[i], counter))
                continue;
            if (inside != EXPR_NONE)
                return false;
            inside = operands[i];
        }
        switch ((enum expr_kind)node->kind) {
        case EXPR_SUM:
        case EXPR_LEAST:
        case EXPR_GREATEST: break;
        case EXPR_QUOTIENT:
            if (inside != operands[0])
                return false;
            break;
        case EXPR_REMAINDER:
            if (inside != operands[0] || !expr_evaluate(self->exprs, inside, &zero, 1, &first) ||
                first != 0)
                return false;
            break;
        case EXPR_PRODUCT:
            if (node->count != 2 || !expr_constant(self->exprs, operands[0], &first) || first != -1)
                return false;
            break;
        case EXPR_UNKNOWN:
        case EXPR_CONSTANT:
        case EXPR_SYMBOL:
        case EXPR_CALL:
        case EXPR_POWER: return false;
        }
        number = inside;
    }
    return number == counter;
}

static expr difference_of(reading *self, expr number, expr counter)
{
    expr_binding next = {counter,
                         expr_binary(self->exprs, EXPR_ADD, counter, expr_const(self->exprs, 1))};

    return expr_binary(self->exprs, EXPR_SUB, expr_substitute(self->exprs, number, &next, 1),
                       number);
}

/*
 * Counters in each other: `j * m + i` is every number when `i` goes to `m`, and so is any such sum
 * whose steps are the products of the counts further in.
 */
static bool is_mixed_radix(reading *self, expr number, const expr *counters, size_t count)
{
    const extract_loop *loops = self->parameter->loops;
    expr wanted = expr_const(self->exprs, 1);
    size_t met = 0;

    for (uint32_t i = 0; i < self->parameter->loop_count && met < count; i++) {
        bool is_counter = false;

        for (size_t j = 0; j < count; j++)
            is_counter = is_counter || counters[j] == loops[i].symbol;
        if (!is_counter)
            continue;
        if (wanted == EXPR_NONE || difference_of(self, number, loops[i].symbol) != wanted)
            return false;
        wanted = expr_binary(self->exprs, EXPR_MUL, wanted, loops[i].count);
        met++;
    }
    return met == count;
}

/* Which numbers a hole is, by the symbols that change. */
static enum key_spacing spacing_of(reading *self, expr number, const expr *changing, size_t count,
                                   opt_u64 *step)
{
    expr between;
    int64_t known;

    for (size_t i = 0; i < count; i++) {
        if (!is_loop_symbol(self, changing[i]))
            return KEY_NAMED;
    }
    if (count == 0)
        return KEY_NAMED;
    if (count > 1) {
        *step = (opt_u64){1, true};
        return is_mixed_radix(self, number, changing, count) ? KEY_STEPS : KEY_NAMED;
    }
    between = difference_of(self, number, changing[0]);
    if (expr_constant(self->exprs, between, &known) && known != INT64_MIN && known != 0) {
        *step = (opt_u64){known < 0 ? (uint64_t)-known : (uint64_t)known, true};
        return KEY_STEPS;
    }
    if (between != EXPR_NONE && !has_symbol(self, between, changing[0]))
        return KEY_EVEN;
    *step = (opt_u64){1, true};
    return is_dense(self, number, changing[0]) ? KEY_STEPS : KEY_NAMED;
}

/*
 * What the counters of loops make of a hole: which numbers it is, and the one in the first round,
 * when it only grows. Counters go from 0.
 */
static bool count_hole(reading *self, expr number, key_piece *ret)
{
    expr_list symbols = {0};
    size_t changing = 0;
    int64_t first, second;
    bool is_good = expr_symbols(self->exprs, number, &symbols);
    bool is_single = symbols.count == 1;

    for (size_t i = 0; is_good && i < symbols.count && ret->counter == EXPR_NONE; i++) {
        if (is_counter(self, expr_text(self->exprs, symbols.at[i])))
            ret->counter = symbols.at[i];
    }
    for (size_t i = 0; is_good && i < symbols.count; i++) {
        if (changes(self, symbols.at[i]))
            symbols.at[changing++] = symbols.at[i];
    }
    if (is_good)
        ret->spacing = (uint8_t)spacing_of(self, number, symbols.at, changing, &ret->step);
    if (is_good && changing == 1 && is_single && ret->spacing != KEY_NAMED) {
        expr_binding zero = {symbols.at[0], expr_const(self->exprs, 0)};
        expr_binding one = {symbols.at[0], expr_const(self->exprs, 1)};

        if (expr_evaluate(self->exprs, number, &zero, 1, &first) &&
            expr_evaluate(self->exprs, number, &one, 1, &second) && first >= 0 && second > first)
            ret->first = (opt_u64){(uint64_t)first, true};
    }
    vec_free(self->exprs->heap, &symbols);
    return is_good && !self->exprs->failed;
}

/* Take a hole. false: out of memory. */
static bool take_hole(reading *self)
{
    const text_piece *from = &self->parameter->key.at[self->piece];
    key_piece *to = &self->to[self->count++];
    cg_str name = hole_name(self);

    *to = (key_piece){.text = name,
                      .is_number = from->number != EXPR_NONE,
                      .number = from->number,
                      .width = from->width,
                      .fill = from->fill};
    skip_printed(self, name.len + 2);
    self->piece++;
    self->offset = 0;
    if (to->is_number)
        return count_hole(self, from->number, to);
    /*
     * A text nobody knows is shown as it is and equals no name: what it asks for is not certain.
     * What has no text either is mostly a number that was lost.
     */
    self->is_open = true;
    if (str_equal(name, CG_LIT("_"))) {
        to->is_number = true;
        to->spacing = KEY_NAMED;
        return true;
    }
    return arena_format(self->mem, &to->text, "{%.*s}", (int)name.len, name.ptr);
}

/* Take `count` bytes of text, which must be there. */
static void take_text(reading *self, size_t count)
{
    cg_str text = self->parameter->key.at[self->piece].text;

    self->to[self->count++] = (key_piece){.text = {text.ptr + self->offset, count}};
    skip_printed(self, count);
    self->offset += count;
    if (self->offset == text.len) {
        self->piece++;
        self->offset = 0;
    }
}

static bool is_next_text(const reading *self, cg_str text)
{
    const text_piece *piece = &self->parameter->key.at[self->piece];

    return self->piece < self->parameter->key.count && !piece->is_hole &&
           piece->text.len - self->offset >= text.len &&
           memcmp(piece->text.ptr + self->offset, text.ptr, text.len) == 0;
}

/* What one call added; *ret_is_met false: the key goes on otherwise, and nothing more is told. */
static bool take_step(reading *self, text_pieces added, bool *ret_is_met)
{
    *ret_is_met = false;
    if (self->count > 0 && added.count > 0) {
        if (!is_next_text(self, CG_LIT(".")))
            return true;
        take_text(self, 1);
    }
    for (size_t i = 0; i < added.count; i++) {
        if (added.at[i].is_hole) {
            if (self->piece >= self->parameter->key.count ||
                !self->parameter->key.at[self->piece].is_hole)
                return true;
            if (!take_hole(self))
                return false;
        } else if (added.at[i].text.len > 0) {
            if (!is_next_text(self, added.at[i].text))
                return true;
            take_text(self, added.at[i].text.len);
        }
    }
    *ret_is_met = true;
    return true;
}

bool asked_step(arena *mem, const program *code_of, const function_facts *functions,
                model_place place, key_step *to)
{
    if (place.function != 0 && functions != NULL) {
        const function_fact *fact = function_of(functions, place.function);

        if (fact != NULL)
            to->function = fact->spelled;
    }
    if (place.file == 0)
        return true;

    const program_file *file = code_of->files.at[place.file];
    const program_crate *crate = &code_of->crates.at[file->crate];
    const rust_source *source = &file->source;
    rust_place at = source_place(source, place.start);

    if (!crate->is_scanned)
        to->crate = program_text(code_of, crate->name);
    to->line = at.line;
    to->column = at.column;
    to->byte_start = place.start;
    to->byte_end = place.end;
    return arena_text(mem, source->path, &to->file);
}

#define STEPS_MOST 256u

static cg_code take_key(reading *self, const extraction *from, const function_facts *functions,
                        wanted_parameter *to, cg_err *reterr)
{
    const builder_step *chain[STEPS_MOST];
    size_t depth = 0;
    size_t room = 2 * self->parameter->key.count + 2;
    key_step *steps;
    bool is_met = true;

    for (const builder_step *at = self->parameter->last; at != NULL && depth < STEPS_MOST;
         at = at->before) {
        chain[depth++] = at;
        room += 2 * at->added.count + 1;
    }
    steps = arena_zero(self->mem, (depth + 1) * sizeof *steps);
    self->to = arena_zero(self->mem, room * sizeof *self->to);
    if (steps == NULL || self->to == NULL)
        return err_nomem(reterr);
    to->steps = steps;
    while (depth > 0 && is_met) {
        const builder_step *step = chain[--depth];
        size_t before = self->count;

        if (!take_step(self, step->added, &is_met))
            return err_nomem(reterr);
        if (!is_met || self->count == before)
            continue;
        steps[to->step_count].piece_count = (uint32_t)(self->count - before);
        if (!asked_step(self->mem, from->eval->program, functions, step->place,
                        &steps[to->step_count]))
            return err_nomem(reterr);
        to->step_count++;
    }
    while (self->piece < self->parameter->key.count) {
        const text_piece *piece = &self->parameter->key.at[self->piece];

        if (piece->is_hole) {
            if (!take_hole(self))
                return err_nomem(reterr);
        } else if (piece->text.len > self->offset) {
            take_text(self, piece->text.len - self->offset);
        } else {
            self->piece++;
            self->offset = 0;
        }
    }
    to->pieces = self->to;
    to->piece_count = self->count;
    return CG_OK;
}

cg_code asked_key_make(arena *mem, const extraction *from, const function_facts *functions,
                       const extract_parameter *parameter, wanted_parameter *to, bool *ret_is_open,
                       cg_err *reterr)
{
    reading reader = {.mem = mem,
                      .exprs = from->eval->exprs,
                      .parameter = parameter,
                      .printed = parameter->printed.ptr,
                      .printed_len = parameter->printed.len};

    CG_TRY(take_key(&reader, from, functions, to, reterr));
    *ret_is_open = reader.is_open;
    return CG_OK;
}
