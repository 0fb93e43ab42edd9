#include "model/training.h"

#include "model/assemble.h"
#include "model/place.h"
#include "model/slice.h"

/* One thing to say about one place, after all drivers that came by were asked. */
typedef struct verdict {
    const char *rule;
    model_place place;
    cg_str name; /* of the map */
    const driver *driver;
    uint32_t map;
    uint32_t first; /* keys of the map before this number are in order */
    bool is_conditional;
} verdict;

typedef struct trainer {
    const drivers *from;
    program *program;
    types *types;
    const function_facts *functions;
    model_draft *draft;
    VEC(verdict) bad;
    VEC(model_place) good; /* places where some driver found nothing wrong */
    VEC(const char *) good_rules;
    cg_err *reterr;
} trainer;

static cg_code nomem(trainer *self)
{
    return err_nomem(self->reterr);
}

static bool same_place(model_place a, model_place b)
{
    return a.file == b.file && a.start == b.start && a.end == b.end;
}

static cg_code say(trainer *self, const verdict *what)
{
    verdict *slot = vec_add(self->draft->heap, &self->bad);

    if (!slot)
        return nomem(self);
    *slot = *what;
    return CG_OK;
}

static cg_code clear(trainer *self, const char *rule, model_place place)
{
    model_place *slot = vec_add(self->draft->heap, &self->good);
    const char **name = vec_add(self->draft->heap, &self->good_rules);

    if (!slot || !name)
        return nomem(self);
    *slot = place;
    *name = rule;
    return CG_OK;
}

/* --- questions about a driver --- */

static size_t key_count(const driver *at, uint32_t map)
{
    return map < at->maps.count ? at->maps.at[map].key_count : 0;
}

/* Was a file read into the map, on some way; or on every way, when it held something? */
static bool is_loaded(const driver *at, uint32_t map, bool is_certain)
{
    for (size_t i = 0; i < at->loads.count; i++) {
        const driver_load *load = &at->loads.at[i];

        if (load->map == map && (!is_certain || (!load->is_conditional && load->asked > 0)))
            return true;
    }
    return false;
}

static const driver_share *share_of(const driver_optimizer *optimizer, uint32_t map)
{
    for (size_t i = 0; i < optimizer->share_count; i++) {
        if (optimizer->shares[i].map == map)
            return &optimizer->shares[i];
    }
    return NULL;
}

static cg_str name_at(const driver *at, const driver_optimizer *optimizer, uint32_t map)
{
    for (size_t i = 0; i < optimizer->holder_count; i++) {
        if (optimizer->holders[i].map == map)
            return optimizer->holders[i].name;
    }
    return at->maps.at[map].name;
}

/* --- does a map take part in what is trained? --- */

/* Fields of the module that one of its methods detaches. */
static cg_code detached_fields(trainer *self, item_ref type, slice *ret)
{
    const item_ref *impls;
    size_t count = 0;

    CG_TRY(type_impls_for(self->types, type, &impls, &count, self->reterr));
    for (size_t i = 0; i < count; i++) {
        item_ref member = self->program->items.at[impls[i]].first_in_owner;

        for (; member; member = self->program->items.at[member].next_in_owner) {
            slice one;
            bool is_good = true;

            if (self->program->items.at[member].kind != ITEM_FUNCTION)
                continue;
            slice_begin(&one, self->draft->heap, self->program, member);
            for (ast_ref at = one.body; at && is_good; at = walk_next(one.tree, one.body, at)) {
                ast_ref name = walk_called(one.tree, at);
                ast_ref receiver = name ? walk_receiver(one.tree, at) : 0;

                if (receiver && str_equal(program_text(self->program, ast_at(one.tree, name)->text),
                                          CG_LIT("detach")))
                    is_good = slice_add(&one, receiver);
            }
            is_good = is_good && slice_close(&one);
            for (size_t j = 0; is_good && j < one.fields.count; j++) {
                sym *slot = vec_add(ret->heap, &ret->fields);

                is_good = slot != NULL;
                if (slot)
                    *slot = one.fields.at[j];
            }
            slice_free(&one);
            if (!is_good)
                return nomem(self);
        }
    }
    return CG_OK;
}

/* Is a part of the key called like one of the fields? */
static bool is_below(const trainer *self, const slice *fields, const driver_key *key)
{
    cg_str rest = key->key;

    if (key->field && slice_has_field(fields, key->field))
        return true;
    while (rest.len > 0) {
        size_t dot = 0;

        while (dot < rest.len && rest.ptr[dot] != '.')
            dot++;
        for (size_t i = 0; i < fields->fields.count; i++) {
            if (str_equal(program_text(self->program, fields->fields.at[i]),
                          (cg_str){rest.ptr, dot}))
                return true;
        }
        dot += dot < rest.len;
        rest = (cg_str){rest.ptr + dot, rest.len - dot};
    }
    return false;
}

static const driver_site *site_of(const driver *at, uint32_t instance)
{
    for (size_t i = 0; i < at->sites.count; i++) {
        if (at->sites.at[i].instance == instance)
            return &at->sites.at[i];
    }
    return NULL;
}

/* Does one module have parameters of both: the map, not detached, and what the optimizer has? */
static cg_code shares_module(trainer *self, const driver *at, const driver_optimizer *optimizer,
                             uint32_t map, bool *ret)
{
    *ret = false;
    for (size_t i = 0; i < at->keys.count && !*ret; i++) {
        const driver_key *key = &at->keys.at[i];
        const driver_site *site =
            key->map == map && key->instance ? site_of(at, key->instance) : NULL;
        bool is_shared = false;

        if (!site)
            continue;
        for (size_t j = 0; j < site->builder_count && !is_shared; j++)
            is_shared =
                site->builders[j].map != map && share_of(optimizer, site->builders[j].map) != NULL;
        if (!is_shared)
            continue;
        slice fields = {.heap = self->draft->heap};
        cg_code code = site->type ? detached_fields(self, site->type, &fields) : CG_OK;

        *ret = code == CG_OK && !is_below(self, &fields, key);
        slice_free(&fields);
        if (code != CG_OK)
            return code;
    }
    return CG_OK;
}

/* Does a variable among those names hold the module? */
static bool is_named(const trainer *self, const slice *names, const driver_optimizer *optimizer,
                     uint32_t instance)
{
    for (size_t i = 0; instance && i < optimizer->holder_count; i++) {
        const driver_holder *holder = &optimizer->holders[i];

        for (size_t j = 0; holder->instance == instance && j < names->names.count; j++) {
            if (str_equal(program_text(self->program, names->names.at[j]), holder->name))
                return true;
        }
    }
    return false;
}

/* Is a module of the map made where the losses of the optimizer's function come from? */
static cg_code reaches_loss(trainer *self, const driver *at, const driver_optimizer *optimizer,
                            uint32_t map, bool *ret)
{
    item_ref function = optimizer->place.function;
    slice loss;
    bool is_good = true;

    *ret = false;
    if (!function)
        return CG_OK;
    slice_begin(&loss, self->draft->heap, self->program, function);
    for (ast_ref node = loss.body; node && is_good; node = walk_next(loss.tree, loss.body, node)) {
        ast_ref name = walk_called(loss.tree, node);
        cg_str word =
            name ? program_text(self->program, ast_at(loss.tree, name)->text) : (cg_str){0};
        ast_ref of = 0;

        if (!name || !walk_receiver(loss.tree, node))
            continue;
        if (str_equal(word, CG_LIT("backward_step")))
            of = walk_argument(loss.tree, node, 0);
        else if (str_equal(word, CG_LIT("backward")))
            of = walk_receiver(loss.tree, node);
        is_good = !of || slice_add(&loss, of);
    }
    is_good = is_good && slice_close(&loss);
    for (size_t i = 0; is_good && i < at->keys.count && !*ret; i++) {
        const driver_key *key = &at->keys.at[i];
        const driver_site *site = key->instance ? site_of(at, key->instance) : NULL;
        model_place place = site ? site->place : key->place;

        *ret = key->map == map &&
               (place.function == function ? slice_has(&loss, place)
                                           : is_named(self, &loss, optimizer, key->instance));
    }
    slice_free(&loss);
    return is_good ? CG_OK : nomem(self);
}

/* --- the three rules --- */

static cg_code check_loads(trainer *self, const driver *at)
{
    for (size_t i = 0; i < at->loads.count; i++) {
        const driver_load *load = &at->loads.at[i];

        if (load->asked > 0 || load->may_hold) {
            CG_TRY(clear(self, "load-before-build", load->place));
            continue;
        }
        CG_TRY(say(self, &(verdict){.rule = "load-before-build",
                                    .place = load->place,
                                    .name = load->name,
                                    .driver = at,
                                    .map = load->map,
                                    .is_conditional = load->is_conditional}));
    }
    return CG_OK;
}

static cg_code check_missed(trainer *self, const driver *at)
{
    const char *rule = "optimizer-misses-parameter";

    for (size_t i = 0; i < at->optimizers.count; i++) {
        if (!at->optimizers.at[i].is_known)
            return CG_OK;
    }
    for (size_t i = 0; i < at->optimizers.count; i++) {
        const driver_optimizer *optimizer = &at->optimizers.at[i];
        bool is_clean = true;

        for (uint32_t map = 0; map < at->maps.count; map++) {
            const driver_share *share = share_of(optimizer, map);
            size_t count = key_count(at, map);
            bool is_elsewhere = false, is_trained = share != NULL;

            for (size_t j = 0; j < at->optimizers.count; j++)
                is_elsewhere = is_elsewhere || (j != i && share_of(&at->optimizers.at[j], map));
            /* A map that is called frozen is left out on purpose. */
            is_elsewhere = is_elsewhere || (!share && str_find(name_at(at, optimizer, map),
                                                               CG_LIT("frozen")) != SIZE_MAX);
            if (count == 0 || is_elsewhere || (!share && is_loaded(at, map, false)) ||
                (share && (share->is_partial || share->asked >= count)))
                continue;
            if (!share)
                CG_TRY(shares_module(self, at, optimizer, map, &is_trained));
            if (!is_trained)
                CG_TRY(reaches_loss(self, at, optimizer, map, &is_trained));
            if (!is_trained)
                continue;
            is_clean = false;
            CG_TRY(say(self, &(verdict){.rule = rule,
                                        .place = optimizer->place,
                                        .name = name_at(at, optimizer, map),
                                        .driver = at,
                                        .map = map,
                                        .first = share ? share->asked : 0,
                                        .is_conditional = optimizer->is_conditional || !share}));
        }
        if (is_clean)
            CG_TRY(clear(self, rule, optimizer->place));
    }
    return CG_OK;
}

static cg_code check_frozen(trainer *self, const driver *at)
{
    const char *rule = "optimizer-trains-frozen";

    for (size_t i = 0; i < at->optimizers.count; i++) {
        const driver_optimizer *optimizer = &at->optimizers.at[i];
        bool has_fresh = false, is_clean = true;

        for (uint32_t map = 0; map < at->maps.count; map++)
            has_fresh = has_fresh || (key_count(at, map) > 0 && !is_loaded(at, map, false));
        for (size_t j = 0; j < optimizer->share_count; j++) {
            const driver_share *share = &optimizer->shares[j];

            if (!has_fresh || share->is_partial || !is_loaded(at, share->map, true))
                continue;
            is_clean = false;
            CG_TRY(say(self, &(verdict){.rule = rule,
                                        .place = optimizer->place,
                                        .name = name_at(at, optimizer, share->map),
                                        .driver = at,
                                        .map = share->map,
                                        .is_conditional = true}));
        }
        if (is_clean)
            CG_TRY(clear(self, rule, optimizer->place));
    }
    return CG_OK;
}

/* --- saying it --- */

static bool is_cleared(const trainer *self, const verdict *what)
{
    for (size_t i = 0; i < self->good.count; i++) {
        if (same_place(self->good.at[i], what->place) &&
            strcmp(self->good_rules.at[i], what->rule) == 0)
            return true;
    }
    return false;
}

static bool has_text(sc_records groups, cg_str name, cg_str key)
{
    for (size_t i = 0; i < groups.count; i++) {
        const model_keys *group = (const model_keys *)groups.at + i;

        if (!str_equal(group->name, name))
            continue;
        for (size_t j = 0; j < group->keys.count; j++) {
            if (str_equal(group->keys.at[j], key))
                return true;
        }
    }
    return false;
}

static cg_code add_keys(trainer *self, const verdict *what, model_finding *finding)
{
    const driver *at = what->driver;
    bool is_load = strcmp(what->rule, "load-before-build") == 0;
    uint32_t number = 0;
    cg_str name, key;

    if (!arena_text(&self->draft->mem, what->name, &name))
        return nomem(self);
    for (size_t i = 0; i < at->keys.count; i++) {
        const driver_key *from = &at->keys.at[i];

        if (from->map != what->map || number++ < what->first ||
            (!is_load && from->is_running_state) || has_text(finding->keys, name, from->key))
            continue;
        if (!arena_text(&self->draft->mem, from->key, &key) ||
            !draft_key(self->draft, &finding->keys, name, key))
            return nomem(self);
    }
    return CG_OK;
}

static cg_code message_of(trainer *self, const verdict *what, cg_str *ret)
{
    size_t count = key_count(what->driver, what->map);
    size_t missed = count > what->first ? count - what->first : 0;
    bool is_load = strcmp(what->rule, "load-before-build") == 0;
    bool is_frozen = strcmp(what->rule, "optimizer-trains-frozen") == 0;
    arena *mem = &self->draft->mem;
    bool is_good;

    if (is_load)
        is_good = arena_format(mem, ret,
                               "`%.*s` holds no variable yet: nothing of the file is read, and "
                               "that is no error",
                               (int)what->name.len, what->name.ptr);
    else if (is_frozen)
        is_good = arena_format(mem, ret,
                               "the optimizer moves what was loaded into `%.*s`, next to "
                               "variables that start fresh (%zu parameters)",
                               (int)what->name.len, what->name.ptr, count);
    else
        is_good = arena_format(mem, ret,
                               "the optimizer does not have %zu parameters of `%.*s`: they keep "
                               "their first values",
                               missed, (int)what->name.len, what->name.ptr);
    return is_good ? CG_OK : nomem(self);
}

static cg_code report(trainer *self, size_t index)
{
    const verdict *what = &self->bad.at[index];
    cg_str message;
    bool is_conditional = true;
    model_finding *finding;

    if (is_cleared(self, what))
        return CG_OK;
    for (size_t i = 0; i < index; i++) {
        if (same_place(self->bad.at[i].place, what->place) &&
            strcmp(self->bad.at[i].rule, what->rule) == 0 &&
            (strcmp(what->rule, "load-before-build") == 0 ||
             str_equal(self->bad.at[i].name, what->name)))
            return CG_OK; /* said with the first one */
    }
    for (size_t i = index; i < self->bad.count; i++) {
        const verdict *other = &self->bad.at[i];

        if (same_place(other->place, what->place) && strcmp(other->rule, what->rule) == 0)
            is_conditional = is_conditional && other->is_conditional;
    }
    CG_TRY(message_of(self, what, &message));
    finding =
        assemble_finding(self->program, self->functions, self->draft, what->rule,
                         is_conditional ? MODEL_CONFIDENCE_CONDITIONAL : MODEL_CONFIDENCE_PROVEN,
                         message, what->place);
    if (!finding)
        return nomem(self);
    for (size_t i = index; i < self->bad.count; i++) {
        const verdict *other = &self->bad.at[i];

        if (same_place(other->place, what->place) && strcmp(other->rule, what->rule) == 0 &&
            str_equal(other->name, what->name))
            CG_TRY(add_keys(self, other, finding));
    }
    return CG_OK;
}

cg_code training_check(const eval *interpreter, const drivers *from,
                       const function_facts *functions, model_draft *draft, cg_err *reterr)
{
    trainer self = {
        .from = from,
        .program = interpreter->program,
        .types = interpreter->types,
        .functions = functions,
        .draft = draft,
        .reterr = reterr,
    };
    cg_code code = CG_OK;

    for (size_t i = 0; code == CG_OK && i < from->all.count; i++) {
        code = check_loads(&self, &from->all.at[i]);
        if (code == CG_OK)
            code = check_missed(&self, &from->all.at[i]);
        if (code == CG_OK)
            code = check_frozen(&self, &from->all.at[i]);
    }
    for (size_t i = 0; code == CG_OK && i < self.bad.count; i++)
        code = report(&self, i);
    vec_free(draft->heap, &self.bad);
    vec_free(draft->heap, &self.good);
    vec_free(draft->heap, &self.good_rules);
    return code;
}
