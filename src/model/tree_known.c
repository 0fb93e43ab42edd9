#include "model/tree_known.h"

#include "base/sort.h"

/* A fact before it is sorted; names of axes that disagree have the value 0. */
typedef struct facts {
    sc_count *at;
    size_t count;
} facts;

static bool is_name(cg_str text)
{
    if (text.len == 0 || (text.ptr[0] >= '0' && text.ptr[0] <= '9'))
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char byte = text.ptr[i];

        if (!(byte == '_' || byte == '.' || byte == ':' || (byte >= '0' && byte <= '9') ||
              (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z')))
            return false;
    }
    return true;
}

/* The axis behind `*at`, which moves on; false: there is no more. */
static bool next_axis(cg_str shape, size_t *at, cg_str *ret)
{
    size_t start = *at;
    int depth = 0;

    if (start > shape.len)
        return false;
    for (size_t i = start; i < shape.len; i++) {
        char byte = shape.ptr[i];

        depth += (byte == '(' || byte == '[' || byte == '{') -
                 (byte == ')' || byte == ']' || byte == '}');
        if (byte != ',' || depth != 0)
            continue;
        *ret = str_trim((cg_str){shape.ptr + start, i - start});
        *at = i + 1;
        return true;
    }
    *ret = str_trim((cg_str){shape.ptr + start, shape.len - start});
    *at = shape.len + 1;
    return ret->len > 0;
}

static cg_str without_brackets(cg_str shape)
{
    shape = str_trim(shape);
    if (shape.len > 1 && shape.ptr[0] == '(' && shape.ptr[shape.len - 1] == ')')
        shape = (cg_str){shape.ptr + 1, shape.len - 2};
    return shape;
}

static void add_axes(facts *to, const model_parameter *parameter)
{
    cg_str shape = without_brackets(parameter->symbolic_shape);
    size_t at = 0;
    cg_str axis;

    for (size_t i = 0; i < parameter->checkpoint_shape.count && next_axis(shape, &at, &axis); i++) {
        if (is_name(axis))
            to->at[to->count++] = (sc_count){axis, parameter->checkpoint_shape.at[i]};
    }
}

static size_t count_axes(const model_parameter *parameter)
{
    return parameter->checkpoint_shape.count;
}

/* `blocks.{i}` of `blocks.{i}.up.weight`: to the end of the segment of the last number. */
static cg_str member_of(cg_str key)
{
    size_t end = str_find_last(key, '}');

    if (end == SIZE_MAX)
        return (cg_str){0};
    while (end < key.len && key.ptr[end] != '.')
        end++;
    return (cg_str){key.ptr, end};
}

static bool fact_before(const void *context, uint32_t a, uint32_t b)
{
    const sc_count *all = context;
    int order = str_compare(all[a].key, all[b].key);

    return order != 0 ? order < 0 : all[a].value < all[b].value;
}

/* In order, one for each name: the largest value, or none where values must agree. */
static bool settle(arena *mem, const facts *from, bool must_agree, sc_counts *ret)
{
    uint32_t *order = arena_take(mem, (from->count + 1) * 2 * sizeof *order);
    sc_count *rows = arena_take(mem, (from->count + 1) * sizeof *rows);
    size_t kept = 0;

    if (order == NULL || rows == NULL)
        return false;
    for (size_t i = 0; i < from->count; i++)
        order[i] = (uint32_t)i;
    sort_with(order, order + from->count, from->count, fact_before, from->at);
    for (size_t i = 0, next; i < from->count; i = next) {
        sc_count last = from->at[order[i]];
        bool is_one = true;

        for (next = i + 1; next < from->count; next++) {
            sc_count other = from->at[order[next]];

            if (!str_equal(other.key, last.key))
                break;
            is_one &= other.value == last.value;
            last = other;
        }
        if (is_one || !must_agree)
            rows[kept++] = last;
    }
    *ret = (sc_counts){rows, kept};
    return true;
}

bool tree_known_make(arena *mem, const model_doc *doc, cg_str component, const tree_match *matches,
                     size_t match_count, tree_known *ret)
{
    facts sizes = {0};
    facts members = {0};
    size_t axes = 0;

    *ret = (tree_known){0};
    for (size_t i = 0; i < doc->parameters.count; i++)
        axes += count_axes(MODEL_AT(doc->parameters, model_parameter, i));
    if (axes == 0)
        return true;
    sizes.at = arena_take(mem, (axes + 1) * sizeof *sizes.at);
    members.at = arena_take(mem, (match_count + 1) * sizeof *members.at);
    if (sizes.at == NULL || members.at == NULL)
        return false;
    for (size_t i = 0; i < doc->parameters.count; i++) {
        const model_parameter *parameter = MODEL_AT(doc->parameters, model_parameter, i);

        if (str_equal(parameter->component, component))
            add_axes(&sizes, parameter);
    }
    for (size_t i = 0; i < match_count; i++) {
        const tree_match *match = &matches[i];
        cg_str member = member_of(match->key);

        if (match->tensors > 0 && member.ptr != NULL && str_equal(match->component, component))
            members.at[members.count++] = (sc_count){member, match->tensors};
    }
    return settle(mem, &sizes, true, &ret->sizes) && settle(mem, &members, false, &ret->members);
}

static uint64_t find(const sc_counts *all, cg_str name, bool *ret)
{
    size_t low = 0;
    size_t high = all->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = str_compare(all->at[middle].key, name);

        if (order == 0) {
            *ret = true;
            return all->at[middle].value;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *ret = false;
    return 0;
}

void tree_known_fill(const tree_known *self, size_term *term)
{
    size_t kept = 0;

    for (size_t i = 0; i < term->count; i++) {
        bool is_known;
        uint64_t value = find(&self->sizes, term->factors[i], &is_known);

        if (is_known)
            size_times_number(term, value);
        else
            term->factors[kept++] = term->factors[i];
    }
    term->count = kept;
}

uint64_t tree_known_members(const tree_known *self, cg_str key)
{
    cg_str member = member_of(key);
    bool is_known = false;

    return member.ptr == NULL ? 0 : find(&self->members, member, &is_known);
}
