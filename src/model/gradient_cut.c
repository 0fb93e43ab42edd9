#include "model/gradient_cut.h"

#include "base/sort.h"
#include "model/assemble.h"
#include "model/key_set.h"
#include "model/normalise.h"

/* Parameters of a module, and how many of them are severed. */
typedef struct module_count {
    uint32_t count, lost;
} module_count;

/* A finding and the call it is about. */
typedef struct reported_cut {
    model_place place;
    model_finding *finding;
    size_t count; /* parameters that are severed */
} reported_cut;

typedef struct reporter {
    const learning *from;
    const extraction *of;
    const function_facts *functions;
    program *program;
    model_draft *draft;
    const uint32_t *order;      /* cuts by call */
    VEC(uint32_t) chosen;       /* entries of the call at work */
    VEC(module_count) inside;   /* by instance of the component at work */
    VEC(reported_cut) reported; /* by place */
    key_set severed, trained;
    cg_err *reterr;
} reporter;

static cg_code nomem(const reporter *self)
{
    return err_nomem(self->reterr);
}

static const learning_cut *cut_at(const reporter *self, size_t index)
{
    return &self->from->cuts.at[self->order[index]];
}

static int compare_places(model_place a, model_place b)
{
    if (a.file != b.file)
        return a.file < b.file ? -1 : 1;
    if (a.start != b.start)
        return a.start < b.start ? -1 : 1;
    return a.end == b.end ? 0 : a.end < b.end ? -1 : 1;
}

static bool cut_before(const void *context, uint32_t a, uint32_t b)
{
    const learning *from = context;
    int order = compare_places(from->cuts.at[a].place, from->cuts.at[b].place);

    return order ? order < 0 : from->cuts.at[a].entry < from->cuts.at[b].entry;
}

/* Running state, and what comes from a file, is no variable. */
static bool is_variable(const reporter *self, size_t component, size_t key)
{
    const extract_component *of = &self->of->components.at[component];
    const extract_parameter *at = &of->parameters.at[key];

    return !at->is_running_state && !extract_is_loaded(self->of, of, at->root);
}

/* --- which entries count --- */

static bool does_run(const learning_entry *entry, item_ref function)
{
    size_t lo = 0, hi = entry->run_count;

    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;

        if (entry->runs[middle] == function)
            return true;
        if (entry->runs[middle] < function)
            lo = middle + 1;
        else
            hi = middle;
    }
    return false;
}

/* Does another of these entries run this one? With `is_foreign` one of another component. */
static bool is_inner(const reporter *self, const uint32_t *all, size_t count, uint32_t which,
                     bool is_foreign)
{
    const learning_entry *entry = &self->from->entries.at[which];

    for (size_t i = 0; i < count; i++) {
        const learning_entry *other = &self->from->entries.at[all[i]];

        /* Makers run models of others without knowing their parameters. */
        if (all[i] != which && !other->is_maker &&
            (!is_foreign || other->component != entry->component) &&
            does_run(other, entry->function->item))
            return true;
    }
    return false;
}

/* Entries of training among the cuts begin..end: losses, else all; without those run by others. */
static cg_code choose_entries(reporter *self, size_t begin, size_t end)
{
    VEC(uint32_t) all = {0};
    bool has_loss = false;
    cg_code code = CG_OK;

    self->chosen.count = 0;
    for (unsigned round = 0; round < 2; round++) {
        for (size_t i = begin; code == CG_OK && i < end; i++) {
            uint32_t which = cut_at(self, i)->entry;
            const learning_entry *entry = &self->from->entries.at[which];

            if (!(entry->phases & PHASES_TRAIN) || entry->component == SIZE_MAX ||
                (entry->is_maker && (round == 0 || cut_at(self, i)->key_count == 0)))
                continue;
            if (round == 0) {
                has_loss = has_loss || entry->is_loss;
                continue;
            }
            if ((has_loss && !entry->is_loss && !entry->is_maker) ||
                (all.count > 0 && all.at[all.count - 1] == which))
                continue;
            uint32_t *slot = vec_add(self->draft->heap, &all);

            if (slot)
                *slot = which;
            else
                code = nomem(self);
        }
    }
    for (size_t i = 0; code == CG_OK && i < all.count; i++) {
        uint32_t *slot;

        if (!self->from->entries.at[all.at[i]].is_maker &&
            is_inner(self, all.at, all.count, all.at[i], true))
            continue;
        slot = vec_add(self->draft->heap, &self->chosen);
        if (slot)
            *slot = all.at[i];
        else
            code = nomem(self);
    }
    vec_free(self->draft->heap, &all);
    return code;
}

static bool is_chosen(const reporter *self, uint32_t entry)
{
    for (size_t i = 0; i < self->chosen.count; i++) {
        if (self->chosen.at[i] == entry)
            return true;
    }
    return false;
}

/* --- which keys --- */

/*
 * Does the parameter get a gradient from some chosen entry, for sure or at least maybe? What is
 * only maybe in an entry that another one runs is known better there.
 */
static bool gets_some(const reporter *self, size_t component, uint32_t key, uint8_t least)
{
    for (size_t i = 0; i < self->chosen.count; i++) {
        uint32_t which = self->chosen.at[i];
        const learning_entry *entry = &self->from->entries.at[which];

        if (entry->component != component || entry->states[key] < least)
            continue;
        if (entry->states[key] == LEARNING_GETS ||
            !is_inner(self, self->chosen.at, self->chosen.count, which, false))
            return true;
    }
    return false;
}

static cg_code collect_keys(reporter *self, size_t begin, size_t end, bool is_proven)
{
    uint8_t least = is_proven ? LEARNING_MAYBE : LEARNING_GETS;

    self->severed.at.count = 0;
    self->trained.at.count = 0;
    for (size_t i = begin; i < end; i++) {
        const learning_cut *cut = cut_at(self, i);
        size_t component = self->from->entries.at[cut->entry].component;

        if (cut->is_proven < is_proven || !is_chosen(self, cut->entry))
            continue;
        for (size_t k = 0; k < cut->key_count; k++) {
            if (is_variable(self, component, cut->keys[k]) &&
                !gets_some(self, component, cut->keys[k], least) &&
                !key_set_add(&self->severed, self->of, component, cut->keys[k]))
                return nomem(self);
        }
    }
    for (size_t i = 0; i < self->chosen.count; i++) {
        const learning_entry *entry = &self->from->entries.at[self->chosen.at[i]];

        for (size_t k = 0; k < entry->state_count; k++) {
            if (entry->states[k] == LEARNING_GETS && is_variable(self, entry->component, k) &&
                !key_set_add(&self->trained, self->of, entry->component, k))
                return nomem(self);
        }
    }
    if (!key_set_sort(&self->severed) || !key_set_sort(&self->trained))
        return nomem(self);
    /* Of two models that use one name: who has a gradient in one of them has one. */
    size_t kept = 0;

    for (size_t i = 0; i < self->severed.at.count; i++) {
        key_entry at = self->severed.at.at[i];

        if (!key_set_has(&self->trained, at.root, at.key))
            self->severed.at.at[kept++] = at;
    }
    self->severed.at.count = kept;
    return CG_OK;
}

/* --- how bad it is --- */

static bool is_own_type(const reporter *self, type_ref type)
{
    const model_type *shape = type_at(self->of->eval->types, type);
    const program *code_of = self->program;

    return shape->kind == TYPE_ITEM &&
           code_of->crates.at[code_of->modules.at[code_of->items.at[shape->item].module].crate]
               .is_scanned;
}

/* A parameter counts for the module it is in and for all around that. */
static void count_parameter(reporter *self, const extract_component *component, uint32_t instance,
                            bool is_lost)
{
    for (size_t depth = 0; instance != UINT32_MAX && depth <= component->instances.count; depth++) {
        self->inside.at[instance].count++;
        self->inside.at[instance].lost += is_lost;
        instance = component->instances.at[instance].parent;
    }
}

/* Are all parameters of some module of the crate severed? */
static cg_code is_whole_module(reporter *self, size_t index, bool *ret)
{
    const extract_component *component = &self->of->components.at[index];
    size_t count = component->instances.count;

    if (count == 0)
        return CG_OK;
    if (!vec_reserve(self->draft->heap, &self->inside, count))
        return nomem(self);
    memset(self->inside.at, 0, count * sizeof *self->inside.at);
    for (size_t k = 0; k < component->parameters.count; k++) {
        const extract_parameter *at = &component->parameters.at[k];

        if (is_variable(self, index, k))
            count_parameter(self, component, at->instance,
                            key_set_has(&self->severed, at->root, at->printed));
    }
    for (size_t i = 0; i < count && !*ret; i++)
        *ret = self->inside.at[i].count > 0 &&
               self->inside.at[i].count == self->inside.at[i].lost &&
               (i == 0 || is_own_type(self, component->instances.at[i].type));
    return CG_OK;
}

static cg_code find_severity(reporter *self, uint8_t *ret)
{
    bool is_whole = false;

    for (size_t i = 0; i < self->chosen.count && !is_whole; i++)
        CG_TRY(
            is_whole_module(self, self->from->entries.at[self->chosen.at[i]].component, &is_whole));
    *ret = is_whole ? MODEL_FINDING_SEVERITY_ERROR : MODEL_FINDING_SEVERITY_WARNING;
    return CG_OK;
}

/* --- the finding --- */

/* `RmsNorm::forward` of `candle_nn::RmsNorm::forward`; a function without its modules. */
static cg_str short_name(cg_str path)
{
    size_t last = str_find_last(path, ':');
    size_t begin = last;

    if (last == SIZE_MAX || last < 2)
        return path;
    cg_str owner = {path.ptr, last - 1};
    size_t before = str_find_last(owner, ':');

    before = before == SIZE_MAX ? 0 : before + 1;
    begin = before < owner.len && owner.ptr[before] >= 'A' && owner.ptr[before] <= 'Z' ? before
                                                                                       : last + 1;
    return (cg_str){path.ptr + begin, path.len - begin};
}

static cg_code write_message(const reporter *self, const learning_cut *cut, bool is_proven,
                             cg_str *ret)
{
    cg_str name = short_name(cut->operation);
    size_t count = self->severed.at.count;
    const char *noun = count == 1 ? "parameter gets" : "parameters get";
    bool is_good;

    if (cut->stops)
        is_good = arena_format(&self->draft->mem, ret,
                               "the backward pass stops with an error at `%.*s`: %zu %s no "
                               "gradient",
                               (int)name.len, name.ptr, count, noun);
    else if (is_proven)
        is_good = arena_format(&self->draft->mem, ret,
                               "`%.*s` lets no gradient through here: %zu %s none", (int)name.len,
                               name.ptr, count, noun);
    else
        is_good = arena_format(&self->draft->mem, ret,
                               "`%.*s` lets no gradient through when its input is contiguous: "
                               "%zu %s none then",
                               (int)name.len, name.ptr, count, noun);
    return is_good ? CG_OK : nomem(self);
}

/* Of a call in a dependency: in which of its files it stands. */
static cg_code write_inside(const reporter *self, const learning_cut *cut, cg_str *message)
{
    const program_file *file = self->program->files.at[cut->inside.file];
    cg_str crate = program_text(self->program, self->program->crates.at[file->crate].name);
    rust_place at = source_place(&file->source, cut->inside.start);

    return arena_format(&self->draft->mem, message, "%.*s (%.*s:%u of `%.*s`)", (int)message->len,
                        message->ptr, (int)file->source.path.len, file->source.path.ptr, at.line,
                        (int)crate.len, crate.ptr)
               ? CG_OK
               : nomem(self);
}

#define UNDER_SHOWN 120u

/* What it depends on besides, as the source says it. */
static cg_code write_under(const reporter *self, const learning_cut *cut, cg_str *message)
{
    cg_str under = cut->under;

    if (under.len > UNDER_SHOWN)
        under = CG_LIT("on some ways only");
    return arena_format(&self->draft->mem, message, "%.*s (%.*s)", (int)message->len, message->ptr,
                        under.len > 0 ? (int)under.len : 17,
                        under.len > 0 ? under.ptr : "on some ways only")
               ? CG_OK
               : nomem(self);
}

static cg_code write_help(const reporter *self, const learning_cut *cut, model_finding *finding)
{
    /* No method of the layer does it, so there is no twin; a function with its tensors does. */
    if (!cut->alternative && str_equal(short_name(cut->operation), CG_LIT("LayerNorm::forward")))
        finding->help = CG_LIT("while training, call `candle_nn::ops::layer_norm_slow` with the "
                               "layer's weight, bias and epsilon instead");
    if (!cut->alternative)
        return CG_OK;
    return arena_format(&self->draft->mem, &finding->help, "while training, call `%s` instead",
                        cut->alternative)
               ? CG_OK
               : nomem(self);
}

static cg_code keep_reported(reporter *self, model_place place, model_finding *finding)
{
    reported_cut *slot = vec_add(self->draft->heap, &self->reported);

    if (!slot)
        return nomem(self);
    *slot = (reported_cut){place, finding, self->severed.at.count};
    return CG_OK;
}

static cg_code report(reporter *self, size_t begin, size_t end, bool is_proven)
{
    const learning_cut *cut = NULL;
    const learning_cut *under = NULL;
    model_finding *finding;
    cg_str message;

    for (size_t i = begin; i < end; i++) {
        const learning_cut *at = cut_at(self, i);

        if (at->is_proven < is_proven || !is_chosen(self, at->entry) || !at->key_count)
            continue;
        if (!cut)
            cut = at;
        if (!under && at->is_conditional)
            under = at;
    }
    if (!cut)
        return CG_OK;
    CG_TRY(write_message(self, cut, is_proven, &message));
    if (cut->inside.file)
        CG_TRY(write_inside(self, cut, &message));
    if (under)
        CG_TRY(write_under(self, under, &message));
    finding = assemble_finding(self->program, self->functions, self->draft, "gradient-cut",
                               !is_proven || under ? MODEL_CONFIDENCE_CONDITIONAL
                                                   : MODEL_CONFIDENCE_PROVEN,
                               message, cut->place);
    if (!finding)
        return nomem(self);
    CG_TRY(find_severity(self, &finding->severity));
    CG_TRY(keep_reported(self, cut->place, finding));
    finding->operation = cut->operation;
    finding->condition = str_from(cut->condition);
    if (cut->alternative)
        finding->alternative = str_from(cut->alternative);
    finding->effect = cut->stops ? MODEL_EFFECT_STOPS : MODEL_EFFECT_NO_GRADIENT;
    CG_TRY(write_help(self, cut, finding));
    for (size_t i = 0; i < self->chosen.count; i++) {
        cg_str name = self->from->entries.at[self->chosen.at[i]].function->spelled;

        if (!draft_text(self->draft, &finding->entries, name))
            return nomem(self);
    }
    return texts_unique(&self->draft->mem, &finding->entries) &&
                   key_set_write(&self->severed, self->draft, &finding->severed) &&
                   key_set_write(&self->trained, self->draft, &finding->still_trained) &&
                   key_set_ids(&self->severed, self->of, self->draft, &finding->related)
               ? CG_OK
               : nomem(self);
}

static cg_code look_at_call(reporter *self, size_t begin, size_t end)
{
    CG_TRY(choose_entries(self, begin, end));
    if (self->chosen.count == 0)
        return CG_OK;
    CG_TRY(collect_keys(self, begin, end, true));
    if (self->severed.at.count > 0)
        return report(self, begin, end, true);
    CG_TRY(collect_keys(self, begin, end, false));
    return self->severed.at.count > 0 ? report(self, begin, end, false) : CG_OK;
}

/* --- where nothing is left that learns --- */

/* Is the loss of the entry known whole, and gets no parameter a gradient from it? */
static bool is_dead_loss(const reporter *self, const learning_entry *entry)
{
    bool is_lost = false;

    if (!entry->is_loss || entry->is_cut || entry->component == SIZE_MAX ||
        !(entry->phases & PHASES_TRAIN))
        return false;
    for (size_t k = 0; k < entry->state_count; k++) {
        if ((entry->states[k] == LEARNING_GETS || entry->states[k] == LEARNING_MAYBE) &&
            is_variable(self, entry->component, k))
            return false;
        is_lost = is_lost ||
                  (entry->states[k] == LEARNING_LOST && is_variable(self, entry->component, k));
    }
    return is_lost;
}

/* Does some other loss of the component teach it something, or may it? */
static bool has_other_loss(const reporter *self, uint32_t which)
{
    const learning_entry *entry = &self->from->entries.at[which];

    for (size_t i = 0; i < self->from->entries.count; i++) {
        const learning_entry *other = &self->from->entries.at[i];

        if (i != which && other->component == entry->component && other->is_loss &&
            !is_dead_loss(self, other))
            return true;
    }
    return false;
}

static reported_cut *find_reported(const reporter *self, model_place place)
{
    for (size_t i = 0; i < self->reported.count; i++) {
        if (compare_places(self->reported.at[i].place, place) == 0)
            return &self->reported.at[i];
    }
    return NULL;
}

/*
 * Calls that sever a part each may leave nothing that learns: then the one that severs most is an
 * error, unless one is already. All of it must be severed for sure.
 */
static cg_code judge_entry(reporter *self, uint32_t which)
{
    const learning_entry *entry = &self->from->entries.at[which];
    bool *is_severed;
    reported_cut *most = NULL;
    bool has_others = false;

    if (!is_dead_loss(self, entry) || has_other_loss(self, which))
        return CG_OK;
    is_severed = arena_zero(&self->draft->mem, entry->state_count + 1);
    if (!is_severed)
        return nomem(self);
    for (size_t i = 0; i < self->from->cuts.count; i++) {
        const learning_cut *cut = &self->from->cuts.at[i];
        reported_cut *said = cut->entry == which && cut->is_proven && !cut->is_conditional
                                 ? find_reported(self, cut->place)
                                 : NULL;

        if (!said || said->finding->confidence != MODEL_CONFIDENCE_PROVEN)
            continue;
        if (said->finding->severity == MODEL_FINDING_SEVERITY_ERROR)
            return CG_OK;
        for (size_t k = 0; k < cut->key_count; k++)
            is_severed[cut->keys[k]] = true;
        has_others = has_others || (most && said != most);
        if (!most || said->count > most->count)
            most = said;
    }
    for (size_t k = 0; k < entry->state_count; k++) {
        if (entry->states[k] == LEARNING_LOST && !is_severed[k] &&
            is_variable(self, entry->component, k))
            return CG_OK;
    }
    if (!most)
        return CG_OK;
    most->finding->severity = MODEL_FINDING_SEVERITY_ERROR;
    return arena_format(&self->draft->mem, &most->finding->message,
                        "%.*s; %snothing is left that learns from this loss",
                        (int)most->finding->message.len, most->finding->message.ptr,
                        has_others ? "with the other cuts " : "")
               ? CG_OK
               : nomem(self);
}

cg_code gradient_cut_report(const learning *from, const extraction *components,
                            const function_facts *functions, model_draft *draft, cg_err *reterr)
{
    size_t count = from->cuts.count;
    uint32_t *order = arena_take(&draft->mem, (2 * count + 1) * sizeof *order);
    reporter self = {
        .from = from,
        .of = components,
        .functions = functions,
        .program = components->eval->program,
        .draft = draft,
        .order = order,
        .severed = {.heap = draft->heap},
        .trained = {.heap = draft->heap},
        .reterr = reterr,
    };
    cg_code code = CG_OK;

    if (!order)
        return err_nomem(reterr);
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    sort_with(order, order + count, count, cut_before, from);
    for (size_t i = 0; code == CG_OK && i < count;) {
        size_t end = i + 1;

        while (end < count &&
               compare_places(cut_at(&self, i)->place, cut_at(&self, end)->place) == 0)
            end++;
        code = look_at_call(&self, i, end);
        i = end;
    }
    for (uint32_t i = 0; code == CG_OK && i < from->entries.count; i++)
        code = judge_entry(&self, i);
    vec_free(draft->heap, &self.reported);
    vec_free(draft->heap, &self.chosen);
    vec_free(draft->heap, &self.inside);
    key_set_free(&self.severed);
    key_set_free(&self.trained);
    return code;
}
