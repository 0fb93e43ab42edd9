#include "join/as_called.h"

#include "base/vec.h"
#include "model/expr_solve.h"

/* A parameter of the constructor, and what a call makes of it. */
typedef struct fact {
    key_pattern pattern;
    cg_str printed;
    uint32_t met;               /* parameters of the call that are it */
    bool is_sure;               /* all these are asked for on every way */
    uint64_t ends[KEY_NUMBERS]; /* one past the highest number; 0: not known */
} fact;

/* One prefix, and what all calls with it agree in. */
typedef struct view {
    const extract_use *use;
    fact *facts; /* by parameter of the component */
    VEC(expr_binding) sizes;
    VEC(expr) refuted; /* symbols that have several values */
    size_t matches;    /* names of the file */
    bool is_many;      /* calls with this prefix ask for different things */
} view;

typedef struct caller {
    const as_called *self;
    const extract_component *component;
    const wanted_parameter *parameters;
    expr_pool *pool;
    cg_err *reterr;
} caller;

static cg_code nomem(const caller *self)
{
    return err_nomem(self->reterr);
}

/* --- which parameter of the constructor a parameter of the call is --- */

/* The key without the prefix; absent when it does not begin with it. */
static cg_str below(const extract_use *use, cg_str key)
{
    size_t lead = use->printed.len;

    if (use->prefix.count == 0)
        return key;
    return key.len > lead && key.ptr[lead] == '.' && str_starts_with(key, use->printed)
               ? (cg_str){key.ptr + lead + 1, key.len - lead - 1}
               : (cg_str){0};
}

static size_t find_fact(const caller *self, const view *of, cg_str key, key_numbers *numbers,
                        cg_code *code)
{
    size_t count = self->component->parameters.count;
    key_name name;

    for (size_t i = 0; i < count; i++) {
        if (str_equal(of->facts[i].printed, key))
            return i;
    }
    if (!key_name_make(self->self->mem, key, &name)) {
        *code = nomem(self);
        return count;
    }
    for (size_t i = 0; i < count; i++) {
        *numbers = (key_numbers){0};
        if (of->facts[i].pattern.number_count > 0 && of->facts[i].pattern.count == name.count &&
            key_pattern_match(&of->facts[i].pattern, 0, &name, 0, numbers))
            return i;
    }
    return count;
}

/* --- sizes --- */

static bool is_refuted(const view *of, expr symbol)
{
    for (size_t i = 0; i < of->refuted.count; i++) {
        if (of->refuted.at[i] == symbol)
            return true;
    }
    return false;
}

static cg_code refute(const caller *self, view *of, expr symbol)
{
    expr *slot;

    for (size_t i = 0; i < of->sizes.count; i++) {
        if (of->sizes.at[i].symbol == symbol)
            of->sizes.at[i] = of->sizes.at[--of->sizes.count];
    }
    if (is_refuted(of, symbol))
        return CG_OK;
    slot = vec_add(self->self->heap, &of->refuted);
    if (!slot)
        return nomem(self);
    *slot = symbol;
    return CG_OK;
}

static cg_code bind(const caller *self, view *of, expr_binding one)
{
    int64_t known, now;

    for (size_t i = 0; i < of->sizes.count; i++) {
        if (of->sizes.at[i].symbol != one.symbol)
            continue;
        return expr_constant(self->pool, of->sizes.at[i].value, &known) &&
                       expr_constant(self->pool, one.value, &now) && known == now
                   ? CG_OK
                   : refute(self, of, one.symbol);
    }
    if (is_refuted(of, one.symbol))
        return CG_OK;
    expr_binding *slot = vec_add(self->self->heap, &of->sizes);

    if (!slot)
        return nomem(self);
    *slot = one;
    return CG_OK;
}

/* What is asked for with another size than the bindings say: its symbols say nothing. */
static cg_code refute_all(const caller *self, view *of, expr axis)
{
    expr_list symbols = {0};
    cg_code code = expr_symbols(self->pool, axis, &symbols) ? CG_OK : nomem(self);

    for (size_t i = 0; code == CG_OK && i < symbols.count; i++)
        code = refute(self, of, symbols.at[i]);
    vec_free(self->pool->heap, &symbols);
    return code;
}

typedef enum look { LOOK_PLAIN, LOOK_SOLVED, LOOK_AGAIN } look;

/*
 * Plain: what is a symbol by itself. Solved: what follows from these (`heads * dim == 512`). Again:
 * does everything hold?
 */
static cg_code read_axis(const caller *self, view *of, expr axis, expr called, look how)
{
    expr_list symbols = {0};
    expr_binding one;
    int64_t number, told;
    cg_code code = CG_OK;

    if (axis == EXPR_NONE || called == EXPR_NONE || !expr_constant(self->pool, called, &number))
        return axis == EXPR_NONE || how != LOOK_PLAIN || axis == called
                   ? CG_OK
                   : refute_all(self, of, axis);
    if (how == LOOK_AGAIN) {
        expr with = expr_substitute(self->pool, axis, of->sizes.at, of->sizes.count);

        return expr_constant(self->pool, with, &told) && told != number ? refute_all(self, of, axis)
                                                                        : CG_OK;
    }
    if (how == LOOK_SOLVED)
        return expr_solve(self->pool, axis, number, of->sizes.at, of->sizes.count, &one) ==
                       EXPR_BINDS
                   ? bind(self, of, one)
                   : CG_OK;
    if (!expr_symbols(self->pool, axis, &symbols))
        code = nomem(self);
    if (code == CG_OK && symbols.count == 1 && symbols.at[0] == axis)
        code = bind(self, of, (expr_binding){axis, called});
    vec_free(self->pool->heap, &symbols);
    return code;
}

/* --- one call --- */

static cg_code read_parameter(const caller *self, view *of, const extract_parameter *from, look how)
{
    key_numbers numbers = {0};
    cg_code code = CG_OK;
    size_t at = find_fact(self, of, from->printed, &numbers, &code);

    if (code != CG_OK || at == self->component->parameters.count)
        return code;
    const extract_parameter *own = &self->component->parameters.at[at];
    fact *to = &of->facts[at];

    if (how == LOOK_PLAIN) {
        to->is_sure = (to->met == 0 || to->is_sure) && !from->condition.ptr;
        to->met++;
        for (uint32_t i = 0; i < to->pattern.number_count && i < KEY_NUMBERS; i++) {
            if ((numbers.bound >> i & 1) && numbers.at[i] + 1 > to->ends[i])
                to->ends[i] = numbers.at[i] + 1;
        }
    }
    if (!own->has_shape || !from->has_shape || own->rank != from->rank)
        return CG_OK;
    for (uint32_t i = 0; code == CG_OK && i < own->rank; i++)
        code = read_axis(self, of, own->shape[i], from->shape[i], how);
    return code;
}

/*
 * Of `layers.{i}.weight` the call may ask for 0, 3 and 7 alone: then the numbers say nothing about
 * how many there are, nor that each of them is there.
 */
static void settle_family(fact *of)
{
    uint64_t all = 1;

    for (uint32_t i = 0; i < of->pattern.number_count && i < KEY_NUMBERS; i++)
        all = of->ends[i] > of->met ? 0 : all * of->ends[i];
    if (of->pattern.number_count == 0 || all == of->met)
        return;
    memset(of->ends, 0, sizeof of->ends);
    of->is_sure = false;
}

static cg_code read_use(const caller *self, const extract_use *use, view *of)
{
    size_t count = self->component->parameters.count;
    cg_code code = CG_OK;

    of->use = use;
    of->facts = arena_zero(self->self->mem, (count + 1) * sizeof *of->facts);
    if (!of->facts)
        return nomem(self);
    for (size_t i = 0; i < count; i++) {
        of->facts[i].printed = self->component->parameters.at[i].printed;
        if (!key_pattern_make(self->self->mem, self->parameters[i].pieces,
                              self->parameters[i].piece_count, &of->facts[i].pattern))
            return nomem(self);
    }
    for (unsigned how = LOOK_PLAIN; how <= LOOK_AGAIN; how++) {
        for (size_t i = 0; code == CG_OK && i < use->count; i++) {
            extract_parameter relative = use->parameters[i];

            relative.printed = below(use, relative.printed);
            if (relative.printed.ptr)
                code = read_parameter(self, of, &relative, (look)how);
        }
    }
    for (size_t i = 0; code == CG_OK && i < count; i++)
        settle_family(&of->facts[i]);
    return code;
}

/* Was everything met that is asked for on every way, and is the prefix a text? */
static bool is_whole(const caller *self, const view *of)
{
    for (size_t i = 0; i < of->use->prefix.count; i++) {
        if (of->use->prefix.at[i].is_hole)
            return false;
    }
    for (size_t i = 0; i < self->component->parameters.count; i++) {
        if (self->parameters[i].is_certain && of->facts[i].met == 0)
            return false;
    }
    return true;
}

static bool is_same_call(const extract_use *a, const extract_use *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        const extract_parameter *x = &a->parameters[i], *y = &b->parameters[i];

        if (!str_equal(x->printed, y->printed) || x->has_shape != y->has_shape ||
            x->rank != y->rank || (x->condition.ptr != NULL) != (y->condition.ptr != NULL))
            return false;
        for (uint32_t k = 0; x->has_shape && k < x->rank; k++) {
            if (x->shape[k] != y->shape[k])
                return false;
        }
    }
    return true;
}

/* Another call with the same prefix: what it says otherwise nobody knows. */
static cg_code merge_views(const caller *self, view *to, const view *from)
{
    to->is_many = to->is_many || !is_same_call(to->use, from->use);
    for (size_t i = 0; i < self->component->parameters.count; i++) {
        fact *a = &to->facts[i];
        const fact *b = &from->facts[i];

        a->is_sure = a->is_sure && b->is_sure && b->met > 0;
        for (size_t k = 0; k < KEY_NUMBERS; k++)
            a->ends[k] = a->ends[k] == b->ends[k] ? a->ends[k] : 0;
    }
    for (size_t i = 0; i < from->refuted.count; i++)
        CG_TRY(refute(self, to, from->refuted.at[i]));
    for (size_t i = to->sizes.count; i-- > 0;) {
        bool is_there = false;

        for (size_t k = 0; k < from->sizes.count; k++)
            is_there = is_there || (from->sizes.at[k].symbol == to->sizes.at[i].symbol &&
                                    from->sizes.at[k].value == to->sizes.at[i].value);
        if (!is_there)
            CG_TRY(refute(self, to, to->sizes.at[i].symbol));
    }
    return CG_OK;
}

/* --- which prefix --- */

static cg_code count_matches(const caller *self, view *of)
{
    const tensor_header *header = self->self->header;
    cg_code code = CG_OK;

    for (size_t i = 0; code == CG_OK && i < header->tensor_count; i++) {
        cg_str rest = of->use ? below(of->use, header->tensors[i].name) : header->tensors[i].name;
        key_numbers numbers = {0};

        if (rest.ptr &&
            find_fact(self, of, rest, &numbers, &code) < self->component->parameters.count)
            of->matches++;
    }
    return code;
}

/* How many names of the file all calls of the function that makes this one have. */
static size_t matches_of(const view *views, size_t count, item_ref function)
{
    size_t matches = 0;

    for (size_t i = 0; i < count; i++)
        matches += views[i].use->function == function ? views[i].matches : 0;
    return matches;
}

static cg_code choose(const caller *self, view *views, size_t count, view **ret)
{
    const program_item *item =
        &self->self->from->eval->program->items.at[self->component->constructor];
    bool is_open = !self->self->is_program && item->visibility == VISIBLE_PUBLIC;
    view *best = NULL;
    size_t most = 0;

    for (size_t i = 0; i < count; i++)
        CG_TRY(count_matches(self, &views[i]));
    for (size_t i = 0; i < count; i++) {
        size_t matches = matches_of(views, count, views[i].use->function);

        if (!best || matches > most ||
            (matches == most && views[i].matches > best->matches &&
             views[i].use->function == best->use->function)) {
            best = &views[i];
            most = matches;
        }
    }
    if (is_open && best) {
        view bare = {.facts = best->facts};

        CG_TRY(count_matches(self, &bare));
        if (bare.matches >= most)
            best = NULL;
    }
    *ret = best;
    return CG_OK;
}

/* --- what follows --- */

static cg_code change(const caller *self, const view *of, size_t at, const key_step *step,
                      wanted_parameter *to)
{
    arena *mem = self->self->mem;
    size_t lead = of->use->prefix.count ? 2 : 0;
    key_piece *pieces = arena_zero(mem, (to->piece_count + lead + 1) * sizeof *pieces);
    key_step *steps = arena_zero(mem, (to->step_count + 2) * sizeof *steps);
    expr *shape = arena_take(mem, (to->rank + 1) * sizeof *shape);
    const fact *known = &of->facts[at];

    if (!pieces || !steps || !shape)
        return nomem(self);
    if (lead) {
        pieces[0].text = of->use->printed;
        pieces[1].text = CG_LIT(".");
        steps[0] = *step;
        steps[0].piece_count = 1;
    }
    memcpy(pieces + lead, to->pieces, to->piece_count * sizeof *pieces);
    for (size_t i = 0; i < to->piece_count; i++) {
        for (uint32_t k = 0; to->pieces[i].is_number && k < known->pattern.number_count; k++) {
            if (k < KEY_NUMBERS && known->ends[k] &&
                str_equal(known->pattern.numbers[k]->text, to->pieces[i].text))
                pieces[lead + i].end = (opt_u64){known->ends[k], true};
        }
    }
    if (to->step_count)
        memcpy(steps + lead / 2, to->steps, to->step_count * sizeof *steps);
    if (lead && to->step_count)
        steps[1].piece_count++;
    for (uint32_t i = 0; to->has_rank && i < to->rank; i++)
        shape[i] = to->shape[i] == EXPR_NONE
                       ? EXPR_NONE
                       : expr_substitute(self->pool, to->shape[i], of->sizes.at, of->sizes.count);
    to->pieces = pieces;
    to->piece_count += lead;
    to->steps = steps;
    to->step_count += lead / 2;
    if (to->has_rank)
        to->shape = shape;
    to->is_certain = to->is_certain || (known->met > 0 && known->is_sure);
    return self->pool->failed ? nomem(self) : CG_OK;
}

static cg_code read_all(const caller *self, size_t component, view *views, size_t *ret_count)
{
    const extraction *from = self->self->from;
    size_t count = 0;
    cg_code code = CG_OK;

    for (size_t i = 0; code == CG_OK && i < from->uses.count; i++) {
        const extract_use *use = &from->uses.at[i];
        view *to = &views[count];
        size_t same = 0;

        if (use->component != component)
            continue;
        code = read_use(self, use, to);
        if (code != CG_OK || !is_whole(self, to)) {
            vec_free(self->self->heap, &to->sizes);
            vec_free(self->self->heap, &to->refuted);
            *to = (view){0};
            continue;
        }
        while (same < count && !(str_equal(views[same].use->printed, use->printed) &&
                                 views[same].use->prefix.count == use->prefix.count))
            same++;
        if (same == count) {
            count++;
            continue;
        }
        code = merge_views(self, &views[same], to);
        vec_free(self->self->heap, &to->sizes);
        vec_free(self->self->heap, &to->refuted);
        *to = (view){0};
    }
    *ret_count = count;
    return code;
}

/* A key asked for again is one variable: certain if it is once, of a shape that is known. */
static bool is_listed(const extract_parameter *again, const extract_parameter **asked, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!str_equal(asked[i]->printed, again->printed))
            continue;
        if ((asked[i]->condition.ptr && !again->condition.ptr) ||
            (!asked[i]->has_shape && again->has_shape))
            asked[i] = again;
        return true;
    }
    return false;
}

/* What one call asks for, behind what is there already. */
static cg_code list_asked(const caller *self, const view *of, const extract_parameter **asked,
                          uint32_t *sources, size_t *count)
{
    cg_code code = CG_OK;

    for (size_t i = 0; code == CG_OK && i < of->use->count; i++) {
        cg_str key = below(of->use, of->use->parameters[i].printed);
        key_numbers numbers;
        size_t at =
            key.ptr ? find_fact(self, of, key, &numbers, &code) : self->component->parameters.count;

        if (is_listed(&of->use->parameters[i], asked, *count))
            continue;
        asked[*count] = &of->use->parameters[i];
        sources[(*count)++] = at < self->component->parameters.count ? (uint32_t)at : UINT32_MAX;
    }
    return code;
}

/* All that the function asks for by its calls; nothing where a prefix is that of several calls. */
static cg_code list_all(const caller *self, const view *views, size_t count, const view *best,
                        as_called_result *ret)
{
    const extract_parameter **asked;
    uint32_t *sources;
    size_t room = 0;

    for (size_t i = 0; i < count; i++) {
        if (views[i].use->function != best->use->function)
            continue;
        if (views[i].is_many)
            return CG_OK;
        room += views[i].use->count;
    }
    asked = arena_take(self->self->mem, (room + 1) * sizeof *asked);
    sources = arena_take(self->self->mem, (room + 1) * sizeof *sources);
    if (!asked || !sources)
        return nomem(self);
    for (size_t i = 0; i < count; i++) {
        if (views[i].use->function == best->use->function)
            CG_TRY(list_asked(self, &views[i], asked, sources, &ret->count));
    }
    ret->asked = asked;
    ret->sources = sources;
    return CG_OK;
}

/* The use that all calls agree with about this builder; NULL: none, or nobody knows. */
static const extract_use *agreed(const as_called *self, size_t component, cg_str root)
{
    const extract_use *first = NULL;

    for (size_t i = 0; i < self->from->uses.count; i++) {
        const extract_use *use = &self->from->uses.at[i];

        if (use->component != component || !str_equal(use->given, root))
            continue;
        for (size_t k = 0; k < use->prefix.count; k++) {
            if (use->prefix.at[k].is_hole)
                return NULL;
        }
        if (!use->printed.ptr || (first && !str_equal(first->printed, use->printed)))
            return NULL;
        first = use;
    }
    return first;
}

static cg_code put_prefix(const caller *self, const extract_use *use, const key_step *step,
                          wanted_parameter *to)
{
    arena *mem = self->self->mem;
    key_piece *pieces = arena_zero(mem, (to->piece_count + 2) * sizeof *pieces);
    key_step *steps = arena_zero(mem, (to->step_count + 1) * sizeof *steps);

    if (!pieces || !steps)
        return nomem(self);
    pieces[0].text = use->printed;
    pieces[1].text = CG_LIT(".");
    steps[0] = *step;
    steps[0].piece_count = 1;
    if (to->piece_count)
        memcpy(pieces + 2, to->pieces, to->piece_count * sizeof *pieces);
    if (to->step_count) {
        memcpy(steps + 1, to->steps, to->step_count * sizeof *steps);
        steps[1].piece_count++;
    }
    to->pieces = pieces;
    to->piece_count += 2;
    to->steps = steps;
    to->step_count++;
    return CG_OK;
}

/* A constructor with several builders: each has the prefix that all who call it give it. */
static cg_code apply_given(const caller *self, size_t component, wanted_parameter *parameters,
                           const key_step *steps, as_called_result *ret)
{
    const extract_component *of = self->component;
    const program_item *item = &self->self->from->eval->program->items.at[of->constructor];
    const extract_use **given =
        arena_zero(self->self->mem, (of->parameters.count + 1) * sizeof *given);

    if (!given)
        return nomem(self);
    if (!self->self->is_program && item->visibility == VISIBLE_PUBLIC)
        return CG_OK;
    for (size_t i = 0; i < of->parameters.count; i++) {
        given[i] = i > 0 && str_equal(of->parameters.at[i - 1].root, of->parameters.at[i].root)
                       ? given[i - 1]
                       : agreed(self->self, component, of->parameters.at[i].root);
        if (given[i] && given[i]->prefix.count)
            CG_TRY(put_prefix(self, given[i], &steps[given[i] - self->self->from->uses.at],
                              &parameters[i]));
    }
    ret->given = given;
    return CG_OK;
}

/* The only call, if its keys went through renamers that were followed; NULL: it is not so. */
static const extract_use *renamed_use(const caller *self, size_t component)
{
    const extraction *from = self->self->from;
    const program_item *item = &from->eval->program->items.at[self->component->constructor];
    const extract_use *only = NULL;

    if (!self->self->is_program && item->visibility == VISIBLE_PUBLIC)
        return NULL;
    for (size_t i = 0; i < from->uses.count; i++) {
        if (from->uses.at[i].component != component)
            continue;
        if (only)
            return NULL;
        only = &from->uses.at[i];
    }
    return only && only->is_followed ? only : NULL;
}

static cg_code list_renamed(const caller *self, const extract_use *use, as_called_result *ret)
{
    const extract_parameter **asked = arena_take(self->self->mem, (use->count + 1) * sizeof *asked);
    uint32_t *sources = arena_take(self->self->mem, (use->count + 1) * sizeof *sources);
    bool is_alike = use->count == self->component->parameters.count;

    if (!asked || !sources)
        return nomem(self);
    for (size_t i = 0; i < use->count; i++) {
        if (is_listed(&use->parameters[i], asked, ret->count))
            continue;
        asked[ret->count] = &use->parameters[i];
        sources[ret->count++] = is_alike ? (uint32_t)i : UINT32_MAX;
    }
    for (size_t i = 0; is_alike && i < use->count; i++) {
        const extract_parameter *own = &self->component->parameters.at[i];

        is_alike = use->parameters[i].place.file == own->place.file &&
                   use->parameters[i].place.start == own->place.start;
    }
    for (size_t i = 0; !is_alike && i < ret->count; i++)
        sources[i] = UINT32_MAX;
    ret->use = use;
    ret->asked = asked;
    ret->sources = sources;
    return CG_OK;
}

cg_code as_called_apply(const as_called *self, size_t component, wanted_parameter *parameters,
                        const key_step *steps, as_called_result *ret, cg_err *reterr)
{
    const extract_component *of = &self->from->components.at[component];
    caller work = {self, of, parameters, self->from->eval->exprs, reterr};
    as_called_result got = {0};
    view *views, *best = NULL;
    size_t count = 0;
    cg_code code;

    *ret = got;
    if (of->is_maker || of->is_nested || self->from->uses.count == 0)
        return CG_OK;
    if (of->root_count > 1)
        return apply_given(&work, component, parameters, steps, ret);
    if (renamed_use(&work, component))
        return list_renamed(&work, renamed_use(&work, component), ret);
    views = arena_zero(self->mem, (self->from->uses.count + 1) * sizeof *views);
    if (!views)
        return err_nomem(reterr);
    code = read_all(&work, component, views, &count);
    if (code == CG_OK)
        code = choose(&work, views, count, &best);
    if (code == CG_OK && best) {
        got.use = best->use;
        code = list_all(&work, views, count, best, &got);
    }
    for (size_t i = 0; code == CG_OK && best && !got.asked && i < of->parameters.count; i++)
        code = change(&work, best, i, &steps[best->use - self->from->uses.at], &parameters[i]);
    for (size_t i = 0; i < count; i++) {
        vec_free(self->heap, &views[i].sizes);
        vec_free(self->heap, &views[i].refuted);
    }
    if (code == CG_OK)
        *ret = got;
    return code;
}
