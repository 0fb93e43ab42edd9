#include "join/checkpoint_choice.h"

#include "base/sort.h"
#include "join/checkpoint_part.h"

static bool is_called(cg_str name, cg_str wanted)
{
    size_t lead;

    if (!str_ends_with(name, wanted))
        return false;
    lead = name.len - wanted.len;
    return lead == 0 || (lead >= 2 && name.ptr[lead - 1] == ':' && name.ptr[lead - 2] == ':');
}

static bool has_root(const wanted_component *component, cg_str root)
{
    for (size_t i = 0; i < component->parameter_count; i++) {
        if (str_equal(component->parameters[i].root, root))
            return true;
    }
    return false;
}

/* What a program builds itself comes before what only a constructor tells of. */
static bool leads(const wanted_component *one, const wanted_component *other)
{
    if ((one->built_by != NULL) != (other->built_by != NULL))
        return one->built_by != NULL;
    return str_compare(one->name, other->name) < 0;
}

#define ROOTS_SEEN 16

/* How many of the builder's keys, with 0 for every number, are names in the file. */
static size_t count_fitting(arena *mem, const wanted_component *of, cg_str root,
                            const tensor_header *header)
{
    size_t fits = 0;

    for (size_t i = 0; i < of->parameter_count; i++) {
        const wanted_parameter *at = &of->parameters[i];
        cg_str text = {NULL, 0};
        bool is_good = str_equal(at->root, root);

        for (size_t k = 0; is_good && k < at->piece_count; k++) {
            cg_str more = at->pieces[k].is_number ? CG_LIT("0") : at->pieces[k].text;

            is_good = arena_format(mem, &text, "%.*s%.*s", (int)text.len, text.ptr ? text.ptr : "",
                                   (int)more.len, more.ptr);
        }
        fits += is_good && text.ptr != NULL && safetensors_find(header, text) != NULL;
    }
    return fits;
}

static cg_str default_root(arena *mem, const tensor_header *header,
                           const wanted_component *const *chosen, size_t count)
{
    const wanted_component *first = NULL;
    cg_str root = {0};
    cg_str seen[ROOTS_SEEN];
    size_t seen_count = 0;
    size_t most = 0;

    for (size_t i = 0; i < count; i++) {
        if (chosen[i]->parameter_count > 0 && (first == NULL || leads(chosen[i], first)))
            first = chosen[i];
    }
    for (size_t i = 0; first != NULL && i < first->parameter_count; i++) {
        size_t k = 0;

        while (k < seen_count && !str_equal(seen[k], first->parameters[i].root))
            k++;
        if (k == seen_count && seen_count < ROOTS_SEEN)
            seen[seen_count++] = first->parameters[i].root;
    }
    /* Of several builders the one that the file is of. */
    for (size_t i = 0; i < seen_count; i++) {
        size_t fits = seen_count > 1 ? count_fitting(mem, first, seen[i], header) : 0;

        if (root.ptr == NULL || fits > most || (fits == most && str_compare(seen[i], root) < 0)) {
            root = seen[i];
            most = fits;
        }
    }
    return root.ptr != NULL ? root : CG_LIT("vb");
}

static bool component_before(const void *context, uint32_t a, uint32_t b)
{
    const wanted_component *all = context;

    return str_compare(all[a].name, all[b].name) < 0;
}

cg_code checkpoint_choose(arena *mem, const wanted_component *components, size_t count,
                          const tensor_header *header, const checkpoint_choice *options,
                          const wanted_component ***ret, size_t *ret_count, cg_str *ret_root,
                          cg_err *reterr)
{
    const wanted_component **chosen = arena_take(mem, (count + 1) * sizeof(*chosen));
    uint32_t *order = checkpoint_order(mem, count);
    size_t kept = 0;
    size_t rooted = 0;

    if (chosen == NULL || order == NULL)
        return err_nomem(reterr);
    sort_with(order, order + count, count, component_before, components);
    for (size_t i = 0; i < count; i++) {
        const wanted_component *one = &components[order[i]];

        if (options->component.ptr != NULL ? is_called(one->name, options->component)
                                           : one->is_top_level)
            chosen[kept++] = one;
    }
    if (kept == 0 && options->component.ptr != NULL)
        return cg_fail(reterr, PROBLEM_COMPONENT, "no component `%.*s`",
                       ERR_STR(options->component));
    *ret_root = options->root.ptr != NULL ? options->root : default_root(mem, header, chosen, kept);
    for (size_t i = 0; options->component.ptr == NULL && i < kept; i++) {
        if (has_root(chosen[i], *ret_root))
            chosen[rooted++] = chosen[i];
    }
    *ret = chosen;
    *ret_count = options->component.ptr == NULL ? rooted : kept;
    return CG_OK;
}
