#include "support/parameter_list.h"

#include <stdio.h>
#include <stdlib.h>

#define MOST_COMPONENTS 8
#define MOST_PARAMETERS 4096
#define MOST_PIECES     32
#define MOST_STEPS      8
#define MOST_AXES       8

static void *room(arena *mem, size_t size)
{
    void *at = arena_zero(mem, size);

    if (at == NULL)
        abort();
    return at;
}

static cg_str cut(cg_str *text, cg_str mark)
{
    size_t at = str_find(*text, mark);
    cg_str part = *text;

    if (at == SIZE_MAX) {
        *text = (cg_str){0};
        return part;
    }
    part.len = at;
    *text = (cg_str){text->ptr + at + mark.len, text->len - at - mark.len};
    return str_trim(part);
}

static uint64_t number_of(cg_str text)
{
    uint64_t value = 0;

    for (size_t i = 0; i < text.len; i++)
        value = value * 10 + (uint64_t)(text.ptr[i] - '0');
    return value;
}

static expr read_axis(expr_pool *pool, cg_str text)
{
    expr axis = expr_const(pool, 1);

    while (text.ptr != NULL) {
        cg_str factor = str_trim(cut(&text, CG_LIT("*")));
        bool is_number = factor.len > 0 && factor.ptr[0] >= '0' && factor.ptr[0] <= '9';

        if (str_equal(factor, CG_LIT("?")))
            return EXPR_NONE;
        axis = expr_binary(pool, EXPR_MUL, axis,
                           is_number ? expr_const(pool, (int64_t)number_of(factor))
                                     : expr_symbol(pool, factor));
    }
    return axis;
}

static enum parameter_use use_of(cg_str word)
{
    static const char *const words[] = {"any",        "linear", "embedding", "norm",
                                        "batch_norm", "conv",   "running"};

    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (str_equal(word, str_from(words[i])))
            return (enum parameter_use)i;
    }
    fprintf(stderr, "no use `%.*s`\n", (int)word.len, word.ptr);
    abort();
}

static void read_key(arena *mem, cg_str text, wanted_parameter *to)
{
    key_piece *pieces = room(mem, MOST_PIECES * sizeof *pieces);

    to->pieces = pieces;
    while (text.len > 0 && to->piece_count < MOST_PIECES) {
        size_t open = str_find(text, CG_LIT("{"));
        size_t close = str_find(text, CG_LIT("}"));
        key_piece *piece = &pieces[to->piece_count++];

        if (open == 0) {
            *piece = (key_piece){
                .text = {text.ptr + 1, close - 1}, .is_number = true, .first = {0, true}};
            text = (cg_str){text.ptr + close + 1, text.len - close - 1};
            continue;
        }
        if (open == SIZE_MAX)
            open = text.len;
        *piece = (key_piece){.text = {text.ptr, open}};
        text = (cg_str){text.ptr + open, text.len - open};
    }
}

static void read_parameter(arena *mem, expr_pool *pool, cg_str line, wanted_parameter *to)
{
    cg_str root = cut(&line, CG_LIT(" "));
    cg_str shape = line;
    cg_str key = cut(&shape, CG_LIT("="));
    cg_str use = shape.ptr != NULL ? shape : key;

    *to = (wanted_parameter){.root = root, .is_certain = true};
    if (str_ends_with(root, CG_LIT("?"))) {
        to->root.len--;
        to->is_certain = false;
    }
    if (shape.ptr != NULL) {
        expr *axes = room(mem, MOST_AXES * sizeof *axes);
        cg_str list = cut(&use, CG_LIT(":"));

        while (list.ptr != NULL && str_trim(list).len > 0 && to->rank < MOST_AXES)
            axes[to->rank++] = read_axis(pool, cut(&list, CG_LIT(",")));
        to->shape = axes;
        to->has_rank = true;
    } else {
        key = cut(&use, CG_LIT(":"));
    }
    if (use.ptr != NULL)
        to->use = use_of(str_trim(use));
    read_key(mem, str_trim(key), to);
}

static void read_step(arena *mem, cg_str line, wanted_parameter *to)
{
    key_step *steps = to->step_count == 0 ? room(mem, MOST_STEPS * sizeof *steps) : NULL;
    key_step step = {0};

    step.function = cut(&line, CG_LIT(" "));
    step.file = cut(&line, CG_LIT(" "));
    step.line = number_of(cut(&line, CG_LIT(" ")));
    step.piece_count = (uint32_t)number_of(str_trim(line));
    if (steps != NULL)
        to->steps = steps;
    memcpy((char *)(uintptr_t)(const void *)(to->steps + to->step_count), &step, sizeof step);
    to->step_count++;
}

void parameter_list_read(arena *mem, expr_pool *pool, cg_str text, parameter_list *ret)
{
    wanted_component *component = NULL;
    wanted_parameter *parameters = NULL;

    *ret = (parameter_list){.pool = pool, .mem = mem};
    ret->components = room(mem, MOST_COMPONENTS * sizeof *ret->components);
    while (text.ptr != NULL) {
        cg_str line = str_trim(cut(&text, CG_LIT("\n")));

        if (line.len == 0)
            continue;
        if (str_starts_with(line, CG_LIT("component ")) || component == NULL) {
            bool is_named = str_starts_with(line, CG_LIT("component "));

            if (ret->count == MOST_COMPONENTS)
                abort();
            component = &ret->components[ret->count++];
            parameters = room(mem, MOST_PARAMETERS * sizeof *parameters);
            *component = (wanted_component){
                .name = CG_LIT("Model"), .is_top_level = true, .parameters = parameters};
            if (is_named) {
                cut(&line, CG_LIT(" "));
                component->name = line;
                continue;
            }
        }
        if (str_starts_with(line, CG_LIT("step "))) {
            cut(&line, CG_LIT(" "));
            read_step(mem, line, &parameters[component->parameter_count - 1]);
            continue;
        }
        if (component->parameter_count == MOST_PARAMETERS)
            abort();
        read_parameter(mem, pool, line, &parameters[component->parameter_count++]);
    }
}
