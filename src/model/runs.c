#include "model/runs.h"

/* --- keeping --- */

typedef struct keeper {
    program *program;
    const extraction *components;
    const uint32_t *places;
    arena *mem;
    uint32_t *numbers; /* by item: its function + 1 */
    runs *out;
    cg_err *reterr;
} keeper;

static cg_code nomem(const keeper *self)
{
    return err_nomem(self->reterr);
}

static bool is_function_of(const keeper *self, item_ref item)
{
    return self->places[self->program->items.at[item].file] != RUNS_NONE;
}

/* Functions of the scanned crates that some evaluation ran, in the order of items. */
static cg_code keep_functions(keeper *self)
{
    const program *code_of = self->program;
    runs_function *functions;
    size_t count = 0;
    file_ref file = 0;
    ast_ref seen = 1;
    uint32_t number = 0;

    for (size_t i = 0; i < code_of->ran.count; i++) {
        item_ref item = code_of->ran.at[i];

        count += self->numbers[item] == 0 && is_function_of(self, item);
        self->numbers[item] = is_function_of(self, item);
    }
    functions = arena_take(self->mem, (count + 1) * sizeof *functions);
    self->out->functions = functions;
    if (!functions)
        return nomem(self);
    for (item_ref item = 1; item < code_of->items.count; item++) {
        const program_item at = code_of->items.at[item];
        const ast *tree;

        if (!self->numbers[item])
            continue;
        tree = program_tree(code_of, at.file);
        if (at.file != file || at.node < seen) {
            file = at.file;
            seen = 1;
            number = 0;
        }
        for (; seen < at.node && seen < tree->parsed; seen++)
            number += ast_kind_of(tree, seen) == AST_FUNCTION_ITEM;
        runs_function *to = &functions[self->out->function_count++];

        *to = (runs_function){.file = self->places[at.file],
                              .number = at.node < tree->parsed ? number : RUNS_NONE};
        if (!program_item_path(self->program, item, &to->path))
            return nomem(self);
        self->numbers[item] = (uint32_t)self->out->function_count;
    }
    return CG_OK;
}

static cg_code keep_runs(keeper *self)
{
    const program *code_of = self->program;
    runs_one *all = arena_take(self->mem, (code_of->runs.count + 1) * sizeof *all);
    uint32_t *ran = arena_take(self->mem, (code_of->ran.count + 1) * sizeof *ran);
    runs *out = self->out;

    out->all = all;
    out->ran = ran;
    if (!all || !ran)
        return nomem(self);
    for (size_t i = 0; i < code_of->runs.count; i++) {
        const program_run *run = &code_of->runs.at[i];
        runs_one one = {
            .component = run->component, .steps = run->steps, .first = (uint32_t)out->ran_count};

        for (uint32_t k = 0; k < run->count; k++) {
            uint32_t which = self->numbers[code_of->ran.at[run->first + k]];

            if (which)
                ran[out->ran_count++] = which - 1;
        }
        one.count = (uint32_t)out->ran_count - one.first;
        out->is_whole = out->is_whole && !run->is_near && self->numbers[run->function];
        if (!self->numbers[run->function])
            continue;
        one.function = self->numbers[run->function] - 1;
        all[out->count++] = one;
    }
    return CG_OK;
}

static item_ref named_item(const extract_component *component)
{
    return component->type ? component->type : component->constructor;
}

/* Which component makes which inside of it; every pair once. */
static cg_code keep_made(keeper *self, number_map *by_item, number_map *pairs)
{
    const extraction *from = self->components;
    const types *known = from->eval->types;
    uint64_t *made;

    for (size_t i = 0; i < from->components.count; i++) {
        if (!number_map_put(by_item, named_item(&from->components.at[i]), (uint32_t)i))
            return nomem(self);
    }
    for (size_t i = 0; i < from->components.count; i++) {
        const extract_component *component = &from->components.at[i];

        for (size_t j = 0; j < component->instances.count; j++) {
            const extract_instance *instance = &component->instances.at[j];
            const model_type *type = type_at(known, instance->type);
            item_ref items[2] = {
                type->kind == TYPE_ITEM && type->item != component->type ? type->item : 0,
                instance->constructor != component->constructor ? instance->constructor : 0};

            for (size_t k = 0; instance->parent != UINT32_MAX && k < 2; k++) {
                const uint32_t *to = items[k] ? number_map_find(by_item, items[k]) : NULL;

                /* Keys are never 0. */
                if (to && !number_map_put(pairs, number_map_key((uint32_t)i, *to) + 1, 1))
                    return nomem(self);
            }
        }
    }
    made = arena_take(self->mem, (pairs->count + 1) * sizeof *made);
    self->out->made = made;
    if (!made)
        return nomem(self);
    for (size_t i = 0; i < pairs->slot_count; i++) {
        if (pairs->slots[i].key)
            made[self->out->made_count++] = pairs->slots[i].key - 1;
    }
    return CG_OK;
}

static cg_code keep_components(keeper *self)
{
    size_t count = self->components->components.count;
    cg_str *names = arena_take(self->mem, (count + 1) * sizeof *names);
    number_map by_item, pairs;
    intern seen;
    cg_code code;

    self->out->components = names;
    self->out->component_count = count;
    if (!names || !intern_init(&seen, self->program->heap, 1))
        return nomem(self);
    for (size_t i = 0; i < count; i++) {
        names[i] = self->components->components.at[i].qualified;
        /* Two of one name could not be told apart. */
        self->out->is_whole = self->out->is_whole && intern_add(&seen, names[i]) == i + 1;
    }
    intern_free(&seen);
    number_map_init(&by_item, self->program->heap);
    number_map_init(&pairs, self->program->heap);
    code = keep_made(self, &by_item, &pairs);
    number_map_free(&by_item);
    number_map_free(&pairs);
    return code;
}

cg_code runs_sites(const scan *from, arena *mem, const runs_site **ret, size_t *ret_count,
                   cg_err *reterr)
{
    program *code_of = (program *)(uintptr_t)scan_program(from);
    const extraction *known = scan_extraction(from);
    runs_site *sites = arena_zero(mem, (code_of->sites.count + 1) * sizeof *sites);

    if (!sites)
        return err_nomem(reterr);
    for (size_t i = 0; i < code_of->sites.count; i++) {
        const program_site *site = &code_of->sites.at[i];

        sites[i].is_own = site->is_own;
        sites[i].is_of_driver = site->met_by == UINT32_MAX;
        if (!sites[i].is_of_driver)
            sites[i].met_by = known->components.at[site->met_by].qualified;
        else if (!program_item_path(code_of, site->driver, &sites[i].met_by))
            return err_nomem(reterr);
    }
    *ret = sites;
    *ret_count = code_of->sites.count;
    return CG_OK;
}

cg_code runs_keep(const scan *from, const uint32_t *places, arena *mem, runs *ret, cg_err *reterr)
{
    program *code_of = (program *)(uintptr_t)scan_program(from);
    keeper self = {.program = code_of,
                   .components = scan_extraction(from),
                   .places = places,
                   .mem = mem,
                   .numbers = arena_zero(mem, (code_of->items.count + 1) * sizeof(uint32_t)),
                   .out = ret,
                   .reterr = reterr};

    /* What makes its builders itself is a component by what is in its body. */
    *ret =
        (runs){.is_whole = !scan_extraction(from)->is_near && !scan_extraction(from)->has_makers};
    if (!self.numbers)
        return nomem(&self);
    CG_TRY(keep_functions(&self));
    CG_TRY(keep_runs(&self));
    CG_TRY(runs_sites(from, mem, &ret->sites, &ret->site_count, reterr));
    return keep_components(&self);
}

void runs_pack_sites(const runs_site *sites, size_t count, pack_writer *out)
{
    pack_number(out, count);
    for (size_t i = 0; i < count; i++) {
        pack_text(out, sites[i].met_by);
        pack_number(out, (uint64_t)sites[i].is_of_driver << 1 | sites[i].is_own);
    }
}

void runs_pack(const runs *self, pack_writer *out)
{
    pack_number(out, self->is_whole);
    pack_number(out, self->function_count);
    for (size_t i = 0; i < self->function_count; i++) {
        const runs_function *function = &self->functions[i];

        pack_text(out, function->path);
        pack_number(out, number_map_key(function->file, function->number));
    }
    pack_number(out, self->count);
    for (size_t i = 0; i < self->count; i++) {
        pack_number(out, number_map_key(self->all[i].function, self->all[i].component));
        pack_number(out, number_map_key(self->all[i].first, self->all[i].count));
        pack_number(out, self->all[i].steps);
    }
    pack_number(out, self->ran_count);
    for (size_t i = 0; i < self->ran_count; i++)
        pack_number(out, self->ran[i]);
    pack_number(out, self->component_count);
    for (size_t i = 0; i < self->component_count; i++)
        pack_text(out, self->components[i]);
    runs_pack_sites(self->sites, self->site_count, out);
    pack_number(out, self->made_count);
    for (size_t i = 0; i < self->made_count; i++)
        pack_number(out, self->made[i]);
}

/* --- reading --- */

static bool take_functions(pack_reader *in, size_t file_count, runs *ret)
{
    runs_function *functions = pack_take_list(in, sizeof *functions, &ret->function_count);
    uint64_t place;

    ret->functions = functions;
    for (size_t i = 0; functions && i < ret->function_count; i++) {
        if (!pack_take_text(in, &functions[i].path) || functions[i].path.ptr == NULL ||
            !pack_take_number(in, &place) || place >> 32 >= file_count)
            return false;
        functions[i].file = (uint32_t)(place >> 32);
        functions[i].number = (uint32_t)place;
    }
    return functions != NULL;
}

static bool take_runs(pack_reader *in, runs *ret)
{
    runs_one *all = pack_take_list(in, sizeof *all, &ret->count);
    uint32_t *ran;
    uint64_t who, what, number;

    ret->all = all;
    for (size_t i = 0; all && i < ret->count; i++) {
        if (!pack_take_number(in, &who) || !pack_take_number(in, &what) ||
            !pack_take_number(in, &all[i].steps) || who >> 32 >= ret->function_count)
            return false;
        all[i].function = (uint32_t)(who >> 32);
        all[i].component = (uint32_t)who;
        all[i].first = (uint32_t)(what >> 32);
        all[i].count = (uint32_t)what;
    }
    ran = all ? pack_take_list(in, sizeof *ran, &ret->ran_count) : NULL;
    ret->ran = ran;
    for (size_t i = 0; ran && i < ret->ran_count; i++) {
        if (!pack_take_number(in, &number) || number >= ret->function_count)
            return false;
        ran[i] = (uint32_t)number;
    }
    for (size_t i = 0; ran && i < ret->count; i++) {
        if (all[i].first > ret->ran_count || all[i].count > ret->ran_count - all[i].first)
            return false;
    }
    return ran != NULL;
}

bool runs_take_sites(pack_reader *in, const runs_site **ret, size_t *ret_count)
{
    runs_site *sites = pack_take_list(in, sizeof *sites, ret_count);
    uint64_t about;

    *ret = sites;
    for (size_t i = 0; sites && i < *ret_count; i++) {
        if (!pack_take_text(in, &sites[i].met_by) || sites[i].met_by.ptr == NULL ||
            !pack_take_number(in, &about))
            return false;
        sites[i].is_of_driver = (about & 2) != 0;
        sites[i].is_own = (about & 1) != 0;
    }
    return sites != NULL;
}

static bool take_components(pack_reader *in, runs *ret)
{
    cg_str *names = pack_take_list(in, sizeof *names, &ret->component_count);
    uint64_t *made;

    ret->components = names;
    for (size_t i = 0; names && i < ret->component_count; i++) {
        if (!pack_take_text(in, &names[i]) || names[i].ptr == NULL)
            return false;
    }
    for (size_t i = 0; names && i < ret->count; i++) {
        if (ret->all[i].component != RUNS_NONE && ret->all[i].component >= ret->component_count)
            return false;
    }
    if (names && !runs_take_sites(in, &ret->sites, &ret->site_count))
        return false;
    made = names ? pack_take_list(in, sizeof *made, &ret->made_count) : NULL;
    ret->made = made;
    for (size_t i = 0; made && i < ret->made_count; i++) {
        if (!pack_take_number(in, &made[i]) || made[i] >> 32 >= ret->component_count ||
            (uint32_t)made[i] >= ret->component_count)
            return false;
    }
    return made != NULL;
}

bool runs_take(pack_reader *in, size_t file_count, runs *ret)
{
    uint64_t is_whole;

    *ret = (runs){0};
    if (!pack_take_number(in, &is_whole) || !take_functions(in, file_count, ret) ||
        !take_runs(in, ret) || !take_components(in, ret))
        return false;
    ret->is_whole = is_whole == 1;
    return true;
}

/* --- choosing --- */

static bool is_concerned(const runs *self, const runs_one *one, runs_question about)
{
    bool is_so =
        (about.files && about.files[self->functions[one->function].file]) ||
        (about.components && one->component != RUNS_NONE && about.components[one->component]);

    for (uint32_t i = 0; about.functions && i < one->count && !is_so; i++)
        is_so = about.functions[self->ran[one->first + i]];
    return is_so;
}

/* All evaluations of one component, and all of one name, are made again or none is. */
static bool close_choice(const runs *self, runs_choice *choice, bool *is_chosen, bool *components)
{
    bool is_more = true, is_good = true;

    while (is_more && is_good) {
        is_more = false;
        for (size_t i = 0; i < self->count && is_good; i++) {
            const runs_one *one = &self->all[i];
            cg_str path = self->functions[one->function].path;
            bool has_component = one->component != RUNS_NONE;
            bool is_asked = is_chosen[i] || (has_component && components[one->component]) ||
                            intern_find(&choice->evaluated, path);

            if (!is_asked)
                continue;
            is_more = is_more || !is_chosen[i] || !intern_find(&choice->evaluated, path) ||
                      (has_component && !components[one->component]);
            is_chosen[i] = true;
            if (has_component)
                components[one->component] = true;
            is_good = intern_add(&choice->evaluated, path) != 0;
        }
    }
    return is_good;
}

static bool name_others(const runs *self, runs_choice *choice, const bool *is_chosen,
                        const bool *components)
{
    for (size_t i = 0; i < self->count; i++) {
        const runs_one *one = &self->all[i];

        for (uint32_t k = 0; !is_chosen[i] && k < one->count; k++) {
            if (!intern_add(&choice->run, self->functions[self->ran[one->first + k]].path))
                return false;
        }
    }
    for (size_t i = 0; i < self->component_count; i++) {
        if (!components[i] && !intern_add(&choice->left, self->components[i]))
            return false;
    }
    for (size_t i = 0; i < self->made_count; i++) {
        if (!components[self->made[i] >> 32] &&
            !intern_add(&choice->made, self->components[(uint32_t)self->made[i]]))
            return false;
    }
    return true;
}

cg_code runs_choose(const runs *self, size_t file_count, heap *from, runs_question about,
                    runs_choice *ret, cg_err *reterr)
{
    bool *is_chosen, *components, *files;
    uint64_t *spent;

    *ret = (runs_choice){.evaluated = {.heap = from},
                         .run = {.heap = from},
                         .made = {.heap = from},
                         .left = {.heap = from},
                         .roots = {&ret->evaluated, &ret->run, &ret->made, &ret->left, 0}};
    arena_init(&ret->mem, from);
    is_chosen = arena_zero(&ret->mem, self->count + 1);
    components = arena_zero(&ret->mem, self->component_count + 1);
    files = arena_zero(&ret->mem, file_count + 1);
    spent = arena_zero(&ret->mem, (file_count + 1) * sizeof *spent);
    if (!is_chosen || !components || !files || !spent || !intern_init(&ret->evaluated, from, 1) ||
        !intern_init(&ret->run, from, 1) || !intern_init(&ret->made, from, 1) ||
        !intern_init(&ret->left, from, 1))
        return err_nomem(reterr);
    for (size_t i = 0; i < self->count; i++)
        is_chosen[i] = is_concerned(self, &self->all[i], about);
    if (!close_choice(self, ret, is_chosen, components) ||
        !name_others(self, ret, is_chosen, components))
        return err_nomem(reterr);
    for (size_t i = 0; i < self->count; i++) {
        uint32_t file = self->functions[self->all[i].function].file;

        if (is_chosen[i])
            files[file] = true;
        else
            spent[file] += self->all[i].steps;
        ret->roots.spent += is_chosen[i] ? 0 : self->all[i].steps;
    }
    ret->components = components;
    ret->files = files;
    ret->spent = spent;
    return CG_OK;
}

void runs_forget(runs_choice *self)
{
    intern_free(&self->evaluated);
    intern_free(&self->run);
    intern_free(&self->made);
    intern_free(&self->left);
    arena_free(&self->mem);
}

uint32_t runs_component(const runs *self, cg_str name)
{
    for (size_t i = 0; i < self->component_count; i++) {
        if (str_equal(self->components[i], name))
            return (uint32_t)i;
    }
    return RUNS_NONE;
}
