#include "model/part_facts.h"

#include "model/inference.h"

typedef struct teller {
    scan *scan;
    const program *program;
    arena *mem;
    part_facts *out;
    cg_err *reterr;
} teller;

static cg_code nomem(const teller *self)
{
    return err_nomem(self->reterr);
}

/* --- of a scan --- */

static bool has_near(const teller *self)
{
    const extraction *from = scan_extraction(self->scan);

    for (size_t i = 0; i < self->program->runs.count; i++) {
        if (self->program->runs.at[i].is_near)
            return true;
    }
    return from->is_near || from->has_makers;
}

static bool has_cut(const teller *self)
{
    const sc_records *list = &scan_document(self->scan)->doc.findings;

    for (size_t i = 0; i < list->count; i++) {
        if (str_equal(MODEL_AT(*list, model_finding, i)->rule, CG_LIT("gradient-cut")))
            return true;
    }
    return false;
}

static cg_str file_of(const teller *self, item_ref item)
{
    return self->program->files.at[self->program->items.at[item].file]->full_path;
}

static cg_code tell_components(teller *self)
{
    const extraction *from = scan_extraction(self->scan);
    size_t count = from->components.count;
    part_component *all = arena_zero(self->mem, (count + 1) * sizeof *all);

    self->out->components = all;
    self->out->component_count = count;
    if (!all)
        return nomem(self);
    for (size_t i = 0; i < count; i++) {
        const extract_component *at = &from->components.at[i];

        all[i] = (part_component){.qualified = at->qualified,
                                  .roots = at->roots,
                                  .root_count = at->root_count,
                                  .is_skipped = at->is_skipped,
                                  .is_nested = at->is_nested};
        if (at->type) {
            all[i].type = at->name;
            all[i].file = file_of(self, at->type);
        }
    }
    return CG_OK;
}

static bool is_type(const program_item *item)
{
    return item->kind == ITEM_STRUCT || item->kind == ITEM_ENUM;
}

static cg_code tell_types(teller *self)
{
    const program *code_of = self->program;
    size_t count = 0;
    part_type *all;

    for (item_ref i = 1; i < code_of->items.count; i++)
        count += is_type(&code_of->items.at[i]);
    all = arena_take(self->mem, (count + 1) * sizeof *all);
    self->out->types = all;
    if (!all)
        return nomem(self);
    for (item_ref i = 1; i < code_of->items.count; i++) {
        if (is_type(&code_of->items.at[i]))
            all[self->out->type_count++] =
                (part_type){program_text(code_of, code_of->items.at[i].name), file_of(self, i)};
    }
    return CG_OK;
}

/* The record of a function; NULL: it is not listed. */
static const model_function *record_of(const teller *self, cg_str id)
{
    const sc_records *list = &scan_document(self->scan)->doc.functions;

    for (size_t i = 0; i < list->count; i++) {
        if (str_equal(MODEL_AT(*list, model_function, i)->id, id))
            return MODEL_AT(*list, model_function, i);
    }
    return NULL;
}

static cg_code tell_signature(teller *self, part_maker *maker)
{
    const model_function *record = record_of(self, maker->id);
    const model_argument *arguments = record ? record->parameters.at : NULL;
    cg_str *names;

    maker->is_listed = record != NULL;
    if (!record)
        return CG_OK;
    names = arena_take(self->mem, (record->parameters.count + 1) * sizeof *names);
    if (!names)
        return nomem(self);
    for (size_t i = 0; i < record->parameters.count; i++)
        names[i] = arguments[i].type_name;
    maker->types = names;
    maker->type_count = record->parameters.count;
    return CG_OK;
}

static cg_code tell_makers(teller *self)
{
    const function_facts *from = scan_functions(self->scan);
    const drivers *known = scan_drivers(self->scan);
    part_maker *all;
    size_t count = 0;

    for (size_t i = 0; i < from->all.count; i++)
        count += from->all.at[i].makes || known->makes[i];
    all = arena_zero(self->mem, (count + 1) * sizeof *all);
    self->out->makers = all;
    if (!all)
        return nomem(self);
    for (size_t i = 0; i < from->all.count; i++) {
        part_maker *to = &all[self->out->maker_count];

        if (!from->all.at[i].makes && !known->makes[i])
            continue;
        to->id = from->all.at[i].id;
        to->is_itself = from->all.at[i].makes;
        to->is_driver = known->makes[i];
        self->out->maker_count++;
        CG_TRY(tell_signature(self, to));
    }
    return CG_OK;
}

cg_code part_facts_of(scan *from, arena *mem, part_facts *ret, cg_err *reterr)
{
    teller self = {
        .scan = from, .program = scan_program(from), .mem = mem, .out = ret, .reterr = reterr};
    inference_facts purpose = inference_find(self.program);

    *ret = (part_facts){.is_near = has_near(&self),
                        .is_program = purpose.is_program,
                        .is_loading = purpose.loads,
                        .is_training = purpose.trains,
                        .has_cut = has_cut(&self),
                        .inputs = self.program->inputs.at,
                        .input_count = self.program->inputs.count};
    CG_TRY(tell_components(&self));
    CG_TRY(tell_types(&self));
    CG_TRY(tell_makers(&self));
    return runs_sites(from, mem, &ret->sites, &ret->site_count, reterr);
}

/* --- kept --- */

static void pack_texts(const cg_str *texts, size_t count, pack_writer *out)
{
    pack_number(out, count);
    for (size_t i = 0; i < count; i++)
        pack_text(out, texts[i]);
}

static const cg_str *take_texts(pack_reader *in, size_t *ret_count)
{
    cg_str *texts = pack_take_list(in, sizeof *texts, ret_count);

    for (size_t i = 0; texts && i < *ret_count; i++) {
        if (!pack_take_text(in, &texts[i]))
            return NULL;
    }
    return texts;
}

static bool take_flags(pack_reader *in, bool *const *flags, size_t count)
{
    uint64_t number;

    if (!pack_take_number(in, &number))
        return false;
    for (size_t i = 0; i < count; i++)
        *flags[i] = (number >> i & 1) != 0;
    return true;
}

static uint64_t flags_of(const bool *flags, size_t count)
{
    uint64_t number = 0;

    for (size_t i = 0; i < count; i++)
        number |= (uint64_t)flags[i] << i;
    return number;
}

/* Texts are compared: an absent one would be equal to an empty one, and is never written. */
static bool take_name(pack_reader *in, cg_str *ret)
{
    return pack_take_text(in, ret) && ret->ptr != NULL;
}

static void pack_inputs(const part_facts *self, pack_writer *out)
{
    pack_number(out, self->input_count);
    for (size_t i = 0; i < self->input_count; i++) {
        uint64_t words[DIGEST_BYTES / sizeof(uint64_t)];

        pack_text(out, self->inputs[i].path);
        pack_number(out, self->inputs[i].kind);
        memcpy(words, self->inputs[i].sum, sizeof words);
        for (size_t k = 0; k < sizeof words / sizeof words[0]; k++)
            pack_number(out, words[k]);
    }
}

static bool take_inputs(pack_reader *in, part_facts *ret)
{
    program_input *inputs = pack_take_list(in, sizeof *inputs, &ret->input_count);
    uint64_t kind, words[DIGEST_BYTES / sizeof(uint64_t)];

    ret->inputs = inputs;
    for (size_t i = 0; inputs && i < ret->input_count; i++) {
        if (!take_name(in, &inputs[i].path) || !pack_take_number(in, &kind) || kind > UINT8_MAX)
            return false;
        inputs[i].kind = (uint8_t)kind;
        for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
            if (!pack_take_number(in, &words[k]))
                return false;
        }
        memcpy(inputs[i].sum, words, sizeof words);
    }
    return inputs != NULL;
}

static void pack_components(const part_facts *self, pack_writer *out)
{
    pack_number(out, self->component_count);
    for (size_t i = 0; i < self->component_count; i++) {
        const part_component *at = &self->components[i];
        bool flags[] = {at->is_skipped, at->is_nested};

        pack_text(out, at->qualified);
        pack_text(out, at->type);
        pack_text(out, at->file);
        pack_texts(at->roots, at->root_count, out);
        pack_number(out, flags_of(flags, 2));
    }
}

static bool take_components(pack_reader *in, part_facts *ret)
{
    part_component *all = pack_take_list(in, sizeof *all, &ret->component_count);

    ret->components = all;
    for (size_t i = 0; all && i < ret->component_count; i++) {
        part_component *at = &all[i];
        bool *const flags[] = {&at->is_skipped, &at->is_nested};

        if (!take_name(in, &at->qualified) || !pack_take_text(in, &at->type) ||
            !pack_take_text(in, &at->file))
            return false;
        at->roots = take_texts(in, &at->root_count);
        if (!at->roots || !take_flags(in, flags, 2))
            return false;
    }
    return all != NULL;
}

static void pack_types(const part_facts *self, pack_writer *out)
{
    pack_number(out, self->type_count);
    for (size_t i = 0; i < self->type_count; i++) {
        pack_text(out, self->types[i].name);
        pack_text(out, self->types[i].file);
    }
}

static bool take_types(pack_reader *in, part_facts *ret)
{
    part_type *all = pack_take_list(in, sizeof *all, &ret->type_count);

    ret->types = all;
    for (size_t i = 0; all && i < ret->type_count; i++) {
        if (!take_name(in, &all[i].name) || !take_name(in, &all[i].file))
            return false;
    }
    return all != NULL;
}

static void pack_makers(const part_facts *self, pack_writer *out)
{
    pack_number(out, self->maker_count);
    for (size_t i = 0; i < self->maker_count; i++) {
        const part_maker *at = &self->makers[i];
        bool flags[] = {at->is_itself, at->is_driver, at->is_listed};

        pack_text(out, at->id);
        pack_texts(at->types, at->type_count, out);
        pack_number(out, flags_of(flags, 3));
    }
}

static bool take_makers(pack_reader *in, part_facts *ret)
{
    part_maker *all = pack_take_list(in, sizeof *all, &ret->maker_count);

    ret->makers = all;
    for (size_t i = 0; all && i < ret->maker_count; i++) {
        part_maker *at = &all[i];
        bool *const flags[] = {&at->is_itself, &at->is_driver, &at->is_listed};

        if (!take_name(in, &at->id))
            return false;
        at->types = take_texts(in, &at->type_count);
        if (!at->types || !take_flags(in, flags, 3))
            return false;
    }
    return all != NULL;
}

void part_facts_pack(const part_facts *self, pack_writer *out)
{
    bool flags[] = {self->is_near, self->is_program, self->is_loading, self->is_training,
                    self->has_cut};

    pack_number(out, flags_of(flags, 5));
    pack_inputs(self, out);
    pack_components(self, out);
    pack_types(self, out);
    pack_makers(self, out);
    runs_pack_sites(self->sites, self->site_count, out);
}

bool part_facts_take(pack_reader *in, part_facts *ret)
{
    bool *const flags[] = {&ret->is_near, &ret->is_program, &ret->is_loading, &ret->is_training,
                           &ret->has_cut};

    *ret = (part_facts){0};
    return take_flags(in, flags, 5) && take_inputs(in, ret) && take_components(in, ret) &&
           take_types(in, ret) && take_makers(in, ret) &&
           runs_take_sites(in, &ret->sites, &ret->site_count);
}
