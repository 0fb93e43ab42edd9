#include "model/rescan.h"

#include "model/compute.h"
#include "model/coverage.h"
#include "model/mentions.h"
#include "model/moved.h"
#include "model/part_facts.h"
#include "model/walk.h"
#include "rust/kept.h"
#include "rust/words.h"
#include "schema/pack.h"

#define MOST_ROUNDS 3u /* a part grows by what names lead to */
#define WORTH_WHILE 4u /* the part is scanned twice, and compared: it must be that much smaller */
#define WORTH_ITEMS 2u /* the same, where evaluations are left out */

/* --- what is kept --- */

static uint32_t index_of(const rescan_base *base, cg_str path)
{
    for (size_t i = 0; i < base->file_count; i++) {
        if (str_equal(base->files[i].path, path))
            return (uint32_t)i;
    }
    return UINT32_MAX;
}

static bool is_own(const program *code_of, file_ref file)
{
    crate_ref crate = file ? code_of->files.at[file]->crate : 0;

    return crate && code_of->crates.at[crate].is_scanned;
}

/*
 * Is an item of the file found by other ways than names and the types of its own crate? Impls for
 * types of others and for parameters, and macros that every module sees.
 */
static cg_code mark_always(program *code_of, const uint32_t *places, rescan_base *base,
                           cg_err *reterr)
{
    for (item_ref i = 1; i < code_of->items.count; i++) {
        const program_item item = code_of->items.at[i];
        name_def def = {0};

        if (!is_own(code_of, item.file))
            continue;
        if (item.kind == ITEM_MACRO && item.is_exported)
            base->files[places[item.file]].is_always = true;
        if (item.kind != ITEM_IMPL)
            continue;
        CG_TRY(names_of_impl(code_of, i, false, &def, reterr));
        if (def.kind != DEF_ITEM)
            base->files[places[item.file]].is_always = true;
        /* Who has the type or the trait has the impl. */
        else if (!program_edge(code_of, code_of->items.at[def.item].file, item.file))
            return err_nomem(reterr);
        if (!ast_child(program_tree(code_of, item.file), item.node, ROLE_TRAIT))
            continue;
        CG_TRY(names_of_impl(code_of, i, true, &def, reterr));
        if (def.kind == DEF_ITEM &&
            !program_edge(code_of, code_of->items.at[def.item].file, item.file))
            return err_nomem(reterr);
    }
    return CG_OK;
}

/* A file is reached through the modules it stands in, whether anything names them or not. */
static void keep_above(const program *code_of, const uint32_t *places, rescan_base *base)
{
    for (module_ref i = 1; i < code_of->modules.count; i++) {
        const program_module *module = &code_of->modules.at[i];
        file_ref around = code_of->modules.at[module->parent].file;

        if (module->file && around && around != module->file &&
            places[module->file] != UINT32_MAX && places[around] != UINT32_MAX)
            base->files[places[module->file]].above = places[around];
    }
}

static bool keep_links(const program *code_of, const uint32_t *places, arena *mem,
                       rescan_base *base)
{
    const number_map *edges = &code_of->edges;

    base->links = arena_take(mem, (edges->count + 1) * sizeof *base->links);
    for (size_t i = 0; base->links && i < edges->slot_count; i++) {
        uint64_t key = edges->slots[i].key;
        uint32_t from = key ? places[key >> 32] : UINT32_MAX;
        uint32_t to = key ? places[(uint32_t)key] : UINT32_MAX;

        if (from != UINT32_MAX && to != UINT32_MAX && from != to)
            base->links[base->link_count++] = (rescan_link){from, to};
    }
    return base->links != NULL;
}

/* Paths are shown from the package they belong to: of two packages they can be the same. */
static void mark_alone(const program *code_of, const uint32_t *places, rescan_base *base)
{
    for (size_t i = 0; i < base->file_count; i++) {
        base->files[i].is_alone = true;
        for (file_ref k = 1; k < code_of->files.count && base->files[i].is_alone; k++)
            base->files[i].is_alone =
                places[k] == i ||
                !str_equal(code_of->files.at[k]->source.path, base->files[i].shown);
    }
}

/* Files with functions of evaluations that came near a budget. */
static void mark_near(const scan *from, const uint32_t *places, rescan_base *base)
{
    const program *code_of = scan_program(from);
    bool is_any = scan_extraction(from)->is_near || scan_compute((scan *)(uintptr_t)from)->is_near;

    for (size_t i = 0; i < code_of->runs.count; i++) {
        const program_run *run = &code_of->runs.at[i];

        for (uint32_t k = 0; run->is_near && k < run->count; k++) {
            item_ref function = code_of->ran.at[run->first + k];
            uint32_t place = places[code_of->items.at[function].file];

            if (place != UINT32_MAX)
                base->files[place].is_near = true;
        }
    }
    for (size_t i = 0; i < base->file_count; i++)
        base->files[i].is_near = base->files[i].is_near || is_any;
}

/* The filter of each file's words. */
static bool keep_words(arena *mem, rescan_base *base)
{
    for (size_t i = 0; i < base->file_count; i++) {
        uint64_t *filter = arena_zero(mem, WORDS_FILTER * sizeof *filter);

        if (!filter)
            return false;
        words_note(filter, base->files[i].text);
        base->files[i].words = filter;
    }
    return true;
}

static bool is_trait(const program_item *item)
{
    return item->kind == ITEM_TRAIT;
}

static bool is_listed(const program_item *item)
{
    return item->is_listed && item->kind == ITEM_STRUCT;
}

/* Names of items; those of dependencies that were read are like those of the scanned crates. */
static const cg_str *keep_names(const program *code_of, bool (*is_kept)(const program_item *),
                                arena *mem, size_t *ret_count)
{
    cg_str *names;
    size_t count = 0;

    for (item_ref i = 1; i < code_of->items.count; i++)
        count += is_kept(&code_of->items.at[i]);
    names = arena_take(mem, (count + 1) * sizeof *names);
    for (item_ref i = 1; names && i < code_of->items.count; i++) {
        if (is_kept(&code_of->items.at[i]))
            names[(*ret_count)++] = program_text(code_of, code_of->items.at[i].name);
    }
    return names;
}

cg_code rescan_keep(const scan *from, arena *mem, rescan_base *ret, cg_err *reterr)
{
    program *code_of = (program *)(uintptr_t)scan_program(from);
    size_t count = code_of->files.count;
    uint32_t *places = arena_take(mem, (count + 1) * sizeof *places);

    *ret = (rescan_base){.is_possible = code_of->cargo->root != CARGO_MISSING};
    ret->files = arena_zero(mem, (count + 1) * sizeof *ret->files);
    if (!places || !ret->files)
        return err_nomem(reterr);
    places[0] = UINT32_MAX;
    for (file_ref i = 1; i < count; i++) {
        const program_file *file = code_of->files.at[i];

        places[i] = is_own(code_of, i) ? index_of(ret, file->full_path) : UINT32_MAX;
        if (!is_own(code_of, i))
            continue;
        /* Remarks decide about findings of the whole crate. */
        ret->is_possible = ret->is_possible && file->tree.remarks.count == 0;
        if (places[i] != UINT32_MAX)
            continue;
        places[i] = (uint32_t)ret->file_count;
        ret->files[ret->file_count++] = (rescan_file){.path = file->full_path,
                                                      .above = RESCAN_NO_FILE,
                                                      .shown = file->source.path,
                                                      .bytes = file->source.text.len,
                                                      .tree = &file->tree,
                                                      .text = file->source.text};
    }
    CG_TRY(mark_always(code_of, places, ret, reterr));
    keep_above(code_of, places, ret);
    mark_alone(code_of, places, ret);
    mark_near(from, places, ret);
    ret->traits = keep_names(code_of, is_trait, mem, &ret->trait_count);
    ret->listed = keep_names(code_of, is_listed, mem, &ret->listed_count);
    if (!keep_links(code_of, places, mem, ret) || !keep_words(mem, ret) || !ret->traits ||
        !ret->listed)
        return err_nomem(reterr);
    CG_TRY(runs_keep(from, places, mem, &ret->runs, reterr));
    ret->inputs = code_of->inputs.at;
    ret->input_count = code_of->inputs.count;
    return CG_OK;
}

/* --- the part --- */

/* Records of sites, and what is known of them. */
typedef struct site_list {
    model_assembly *at;
    runs_site *met;
    size_t *from; /* in the list of their scan */
    size_t count;
} site_list;

/* The scan of the part as it was, as it is kept. */
typedef struct kept_part {
    bool is_there; /* none need be made */
    cg_str facts;  /* packed: model/part_facts */
    cg_str document;
} kept_part;

typedef struct rescanner {
    const rescan_work *work;
    const rescan_base *base;
    model_document *document;
    arena mem;
    runs_choice choice; /* with work->traced */
    uint64_t *spent;    /* by text, with work->traced */
    bool *is_part;      /* by file */
    size_t part_count, part_bytes;
    size_t all_bytes;
    program_part part;
    program_text_given *texts[2]; /* of the part, as it was, as it is */
    bool *is_loaded;              /* by file: what it was is in `loaded` */
    program_text_given *loaded;
    const program_text_given **today; /* by file: what it is; NULL: what it was */
    scan *scans[2];                   /* as it was (NULL: that is kept), as it is */
    uint8_t key[DIGEST_BYTES];        /* of the part as it was */
    kept_part kept;
    part_facts facts[2];
    model_document moved; /* of the first, with its places of today */
    const model_doc *docs[2];
    site_list own[2]; /* those that no evaluation makes that is left out */
    cg_err *reterr;
} rescanner;

static cg_code nomem(const rescanner *self)
{
    return err_nomem(self->reterr);
}

/* Everything reached over the links, one way or the other. */
static void spread(const rescan_base *base, bool *marks, bool is_backward)
{
    bool is_more = true;

    while (is_more) {
        is_more = false;
        for (size_t i = 0; i < base->link_count; i++) {
            uint32_t from = is_backward ? base->links[i].to : base->links[i].from;
            uint32_t to = is_backward ? base->links[i].from : base->links[i].to;

            if (!marks[from] || marks[to])
                continue;
            marks[to] = true;
            is_more = true;
        }
    }
}

/* What declares the modules of marked files; false: nothing more. */
static bool rise(const rescan_base *base, bool *marks)
{
    bool is_more = false;

    for (size_t i = 0; i < base->file_count; i++) {
        for (uint32_t at = (uint32_t)i; marks[at];) {
            uint32_t above = base->files[at].above;

            if (above == RESCAN_NO_FILE || marks[above])
                break;
            marks[above] = is_more = true;
            at = above;
        }
    }
    return is_more;
}

/* Constructors of one component belong together: what it is called after is the best of them. */
static bool gather(const runs *from, bool *components, bool *marks)
{
    bool is_more = false;

    for (size_t i = 0; i < from->count; i++) {
        const runs_one *one = &from->all[i];
        uint32_t file = from->functions[one->function].file;

        if (one->component == RUNS_NONE || marks[file] == components[one->component])
            continue;
        marks[file] = components[one->component] = is_more = true;
    }
    return is_more;
}

/* The evaluations that begin in the part. */
static cg_code choose_all(rescanner *self)
{
    runs_question about = {.files = self->is_part};

    runs_forget(&self->choice);
    return runs_choose(&self->base->runs, self->base->file_count, self->work->heap, about,
                       &self->choice, self->reterr);
}

/* All that the files of the part use. */
static cg_code close_part(rescanner *self)
{
    const rescan_base *base = self->base;
    bool *components = arena_zero(&self->mem, base->runs.component_count + 1);

    if (!components)
        return nomem(self);
    do
        spread(base, self->is_part, false);
    while (rise(base, self->is_part) || gather(&base->runs, components, self->is_part));
    return self->work->traced ? CG_OK : choose_all(self);
}

/* Functions that have changed, and where they stand. */
static void mark_changed(rescanner *self, bool *is_changed)
{
    const runs *from = &self->base->runs;

    for (size_t i = 0; i < self->work->changed_count; i++) {
        const rescan_change *change = &self->work->traced[i];

        for (size_t k = 0; k < change->edit.changed_count; k++) {
            self->is_part[change->file] = true;
            for (size_t f = 0; f < from->function_count; f++)
                is_changed[f] =
                    is_changed[f] || (from->functions[f].file == change->file &&
                                      from->functions[f].number == change->edit.changed[k]);
        }
    }
}

static bool has_items(const rescanner *self)
{
    for (size_t i = 0; self->work->traced && i < self->work->changed_count; i++) {
        if (self->work->traced[i].edit.has_items)
            return true;
    }
    return false;
}

/* Functions and components that can notice that items have changed. */
static cg_code mark_noticed(rescanner *self, runs_question *about, bool *is_changed,
                            bool *ret_is_known)
{
    mentions_question question = {
        .heap = self->work->heap,
        .base = self->base,
        .changes = self->work->traced,
        .change_count = self->work->changed_count,
        .listed = &self->document->doc.functions,
        .load = self->work->load,
        .context = self->work->context,
    };
    mentions found;

    CG_TRY(mentions_find(&question, &self->mem, &found, self->reterr));
    *ret_is_known = found.is_known;
    if (!found.is_known)
        return CG_OK;
    for (size_t i = 0; i < self->base->runs.function_count; i++)
        is_changed[i] = is_changed[i] || found.functions[i];
    for (size_t i = 0; i < self->base->file_count; i++)
        self->is_part[i] = self->is_part[i] || found.files[i];
    about->components = found.components;
    return CG_OK;
}

/* The evaluations that ran what has changed, and where they begin. */
static cg_code choose_roots(rescanner *self, bool *ret_is_known)
{
    const runs *from = &self->base->runs;
    bool *is_changed = arena_zero(&self->mem, from->function_count + 1);
    runs_question about = {.functions = is_changed};

    if (!is_changed)
        return nomem(self);
    mark_changed(self, is_changed);
    if (has_items(self))
        CG_TRY(mark_noticed(self, &about, is_changed, ret_is_known));
    if (!*ret_is_known)
        return CG_OK;
    CG_TRY(runs_choose(from, self->base->file_count, self->work->heap, about, &self->choice,
                       self->reterr));
    for (size_t i = 0; i < self->base->file_count; i++)
        self->is_part[i] = self->is_part[i] || self->choice.files[i];
    return CG_OK;
}

static cg_code find_part(rescanner *self, bool *ret_is_known)
{
    const rescan_base *base = self->base;
    size_t count = base->file_count + 1;

    self->is_part = arena_zero(&self->mem, count);
    self->is_loaded = arena_zero(&self->mem, count);
    self->loaded = arena_zero(&self->mem, count * sizeof *self->loaded);
    self->today = arena_zero(&self->mem, count * sizeof(void *));
    self->texts[0] = arena_take(&self->mem, count * sizeof(program_text_given));
    self->texts[1] = arena_take(&self->mem, count * sizeof(program_text_given));
    self->spent = arena_zero(&self->mem, count * sizeof *self->spent);
    if (!self->spent || !self->is_part || !self->is_loaded || !self->loaded || !self->today ||
        !self->texts[0] || !self->texts[1])
        return nomem(self);
    for (size_t i = 0; i < base->file_count; i++)
        self->all_bytes += base->files[i].bytes;
    *ret_is_known = true;
    for (size_t i = 0; i < self->work->changed_count; i++) {
        uint32_t file = index_of(base, self->work->changed[i].path);

        if (file == UINT32_MAX) {
            *ret_is_known = false;
            return CG_OK;
        }
        self->is_part[file] = !self->work->traced;
        self->today[file] = &self->work->changed[i];
    }
    if (self->work->traced)
        CG_TRY(choose_roots(self, ret_is_known));
    else
        spread(base, self->is_part, true);
    if (!*ret_is_known)
        return CG_OK;
    for (size_t i = 0; i < base->file_count; i++)
        self->is_part[i] = self->is_part[i] || base->files[i].is_always;
    return close_part(self);
}

static cg_code list_part(rescanner *self)
{
    const rescan_base *base = self->base;
    cg_str *wanted = arena_take(&self->mem, (base->file_count + 1) * sizeof *wanted);

    if (!wanted)
        return nomem(self);
    self->part_count = 0;
    self->part_bytes = 0;
    for (size_t i = 0; i < base->file_count; i++) {
        if (!self->is_part[i])
            continue;
        wanted[self->part_count++] = base->files[i].path;
        self->part_bytes += base->files[i].bytes;
    }
    self->part.wanted = wanted;
    self->part.wanted_count = self->part_count;
    self->part.left_bytes = self->all_bytes - self->part_bytes;
    return CG_OK;
}

/* What the files of the part were, and are. */
static cg_code load_part(rescanner *self)
{
    size_t count = 0;

    for (size_t i = 0; i < self->base->file_count; i++) {
        if (!self->is_part[i])
            continue;
        if (!self->is_loaded[i]) {
            CG_TRY(self->work->load(self->work->context, i, &self->loaded[i], self->reterr));
            self->loaded[i].path = self->base->files[i].path;
            self->is_loaded[i] = true;
        }
        self->spent[count] = self->choice.spent[i];
        self->texts[0][count] = self->loaded[i];
        self->texts[1][count++] = self->today[i] ? *self->today[i] : self->loaded[i];
    }
    self->part.text_count = count;
    self->part.spent = self->spent;
    self->part.roots = &self->choice.roots;
    return CG_OK;
}

/* Does the function stand in a file of the part? */
static bool is_inside(const rescanner *self, const model_function *function)
{
    const model_location *location = function->location;

    for (size_t i = 0; location && i < self->base->file_count; i++) {
        if (self->is_part[i] && str_equal(self->base->files[i].shown, location->file))
            return true;
    }
    return false;
}

static bool add_method(rescanner *self, intern *names, program_method *methods,
                       const model_function *function)
{
    sym name = intern_add(names, function->name);

    if (!name)
        return false;
    if (name > self->part.method_count) {
        methods[name - 1] = (program_method){intern_text_of(names, name), function->id};
        self->part.method_count = name;
    } else {
        methods[name - 1].id = (cg_str){0};
    }
    return true;
}

/* Methods of files that are left out: a name that only one method has leads to it. */
static cg_code list_methods(rescanner *self)
{
    const sc_records *list = &self->document->doc.functions;
    program_method *methods = arena_take(&self->mem, (list->count + 1) * sizeof *methods);
    intern names;
    bool is_good = methods && intern_init(&names, self->work->heap, 1);

    if (!is_good)
        return nomem(self);
    self->part.method_count = 0;
    for (size_t i = 0; is_good && i < list->count; i++) {
        const model_function *function = MODEL_AT(*list, model_function, i);
        const model_argument *arguments = function->parameters.at;

        if (function->parameters.count == 0 || is_inside(self, function) ||
            !str_equal(arguments[0].name, CG_LIT("self")))
            continue;
        is_good = add_method(self, &names, methods, function);
    }
    for (size_t i = 0; is_good && i < self->part.method_count; i++)
        is_good = arena_text(&self->mem, methods[i].name, &methods[i].name);
    intern_free(&names);
    self->part.methods = methods;
    return is_good ? CG_OK : nomem(self);
}

/* --- the two scans --- */

/* Files that were read late join the part. */
static void take_late(rescanner *self, const scan *one, bool *ret_is_grown)
{
    const program *code_of = scan_program(one);

    for (size_t i = 0; i < code_of->late.count; i++) {
        file_ref file = code_of->late.at[i];
        uint32_t place =
            file ? index_of(self->base, code_of->files.at[file]->full_path) : UINT32_MAX;

        if (place == UINT32_MAX || self->is_part[place])
            continue;
        self->is_part[place] = true;
        *ret_is_grown = true;
    }
}

static void free_scans(rescanner *self)
{
    for (size_t i = 0; i < 2; i++) {
        scan_free(self->scans[i]);
        self->scans[i] = NULL;
    }
}

static cg_code scan_part(rescanner *self, size_t which)
{
    scan_options options = self->work->options;

    options.part = &self->part;
    options.graph = self->work->graph;
    self->part.texts = self->texts[which];
    return scan_open(self->work->env, self->work->path, &options, &self->scans[which],
                     self->reterr);
}

/* What is scanned of the base: its files, and which evaluations. */
static cg_code key_of_part(rescanner *self)
{
    const intern *evaluated = &self->choice.evaluated;
    digest sum;

    CG_TRY(digest_start(&sum, self->reterr));
    for (size_t i = 0; i < self->part.wanted_count; i++) {
        digest_add(&sum, self->part.wanted[i].ptr, self->part.wanted[i].len);
        digest_add(&sum, "", 1);
    }
    digest_add(&sum, "", 1);
    for (sym i = 1; i < intern_count(evaluated); i++) {
        cg_str name = intern_text_of(evaluated, i);

        digest_add(&sum, name.ptr, name.len);
        digest_add(&sum, "", 1);
    }
    return digest_finish(&sum, self->key, self->reterr);
}

/* Facts, then the document, each packed; false: it is nothing that was kept. */
static bool open_kept(rescanner *self, cg_str bytes)
{
    pack_reader in;
    uint64_t len;

    if (bytes.len < sizeof len)
        return false;
    memcpy(&len, bytes.ptr, sizeof len);
    bytes = (cg_str){bytes.ptr + sizeof len, bytes.len - sizeof len};
    if (len > bytes.len)
        return false;
    self->kept.facts = (cg_str){bytes.ptr, (size_t)len};
    self->kept.document = (cg_str){bytes.ptr + len, bytes.len - (size_t)len};
    return pack_open(&in, &self->moved.mem, self->kept.facts) &&
           part_facts_take(&in, &self->facts[0]) && pack_is_done(&in);
}

static cg_code find_kept(rescanner *self)
{
    const rescan_work *work = self->work;
    cg_str bytes;
    cg_code code;

    self->kept.is_there = false;
    if (!work->traced || !work->find_part)
        return CG_OK;
    CG_TRY(key_of_part(self));
    code = work->find_part(work->context, self->key, &bytes, self->reterr);
    if (code == CG_OK)
        self->kept.is_there = open_kept(self, bytes);
    return code == CG_NOT_FOUND ? CG_OK : code;
}

/* The part as it was. */
static cg_code scan_first(rescanner *self, bool *ret_is_grown)
{
    CG_TRY(find_kept(self));
    if (self->kept.is_there)
        return CG_OK;
    CG_TRY(scan_part(self, 0));
    take_late(self, self->scans[0], ret_is_grown);
    return CG_OK;
}

/* Of evaluations that are made again it is known that most of the time is theirs. */
static bool is_worth_while(const rescanner *self)
{
    size_t factor = !self->work->traced ? WORTH_WHILE : has_items(self) ? WORTH_ITEMS : 0;

    return self->part_bytes * factor < self->all_bytes;
}

static cg_code scan_both(rescanner *self, bool *ret_is_stable)
{
    bool is_grown = true;

    for (unsigned round = 0; round < MOST_ROUNDS && is_grown; round++) {
        is_grown = false;
        free_scans(self);
        if (round > 0)
            CG_TRY(close_part(self));
        CG_TRY(list_part(self));
        *ret_is_stable = is_worth_while(self);
        if (!*ret_is_stable)
            return CG_OK;
        CG_TRY(load_part(self));
        CG_TRY(list_methods(self));
        CG_TRY(scan_first(self, &is_grown));
        if (is_grown)
            continue;
        CG_TRY(scan_part(self, 1));
        take_late(self, self->scans[1], &is_grown);
    }
    *ret_is_stable = !is_grown;
    return CG_OK;
}

/* --- has nothing but bodies changed? --- */

/* A function's body that declares nothing: what stands in it concerns only who evaluates it. */
static bool is_plain_body(const ast *tree, ast_ref node)
{
    const ast_node *at = ast_at(tree, node);

    if (at->kind != AST_BLOCK || at->role != ROLE_BODY ||
        ast_kind_of(tree, at->parent) != AST_FUNCTION_ITEM || (at->flags & AST_BROKEN))
        return false;
    for (ast_ref i = walk_next(tree, node, node); i; i = walk_next(tree, node, i)) {
        if (edit_declares(ast_kind_of(tree, i)))
            return false;
    }
    return true;
}

/* Text between nodes: blanks and comments do not count. */
static void add_gap(buf *out, cg_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        cg_str rest = {text.ptr + i, text.len - i};

        if (str_starts_with(rest, CG_LIT("//"))) {
            size_t end = str_find(rest, CG_LIT("\n"));

            i += end == SIZE_MAX ? rest.len : end;
        } else if (c != ' ' && c != '\n' && c != '\t' && c != '\r') {
            buf_byte(out, c);
        } else if (out->len && out->at[out->len - 1] != ' ') {
            buf_byte(out, ' ');
        }
    }
}

/* Everything of a file but plain bodies. */
static bool skeleton_of(const ast *tree, buf *out)
{
    cg_str text = tree->source->text;
    size_t done = 0;
    ast_ref at = 1;

    while (at) {
        const ast_node *node = ast_at(tree, at);
        bool is_skipped = is_plain_body(tree, at);
        bool is_leaf = !node->first && node->end > node->start;

        if ((is_skipped || is_leaf) && node->start >= done && !(node->flags & AST_EXPANDED)) {
            add_gap(out, (cg_str){text.ptr + done, node->start - done});
            if (is_skipped)
                buf_add(out, CG_LIT("{}"));
            else
                buf_add(out, (cg_str){text.ptr + node->start, node->end - node->start});
            done = node->end;
        }
        at = is_skipped ? walk_skip(tree, 1, at) : walk_next(tree, 1, at);
    }
    add_gap(out, (cg_str){text.ptr + done, text.len - done});
    return !out->failed;
}

static cg_code is_same_skeleton(heap *from, const ast *const trees[2], bool *ret, cg_err *reterr)
{
    buf texts[2];
    bool is_good = true;

    *ret = true;
    for (size_t k = 0; k < 2; k++) {
        buf_init(&texts[k], from, SIZE_MAX / 2);
        *ret = *ret && !trees[k]->remarks.count && !trees[k]->broken.count;
        is_good = !*ret || (is_good && skeleton_of(trees[k], &texts[k]));
    }
    *ret = *ret && str_equal(buf_text(&texts[0]), buf_text(&texts[1]));
    buf_free(&texts[0]);
    buf_free(&texts[1]);
    return is_good ? CG_OK : err_nomem(reterr);
}

/* --- what was edited --- */

typedef struct trees {
    const rescan_work *work;
    arena *mem;
    rust_parser *parser;
    intern names;
    rust_source *sources[2]; /* as it was, as it is */
    ast at[2];
    cg_err *reterr;
} trees;

static cg_code read_tree(trees *self, size_t which, const program_text_given *from)
{
    rust_source *source = arena_take(self->mem, sizeof *source);
    bool is_kept = false;

    if (!source || !source_init(source, self->mem, from->path, from->text))
        return err_nomem(self->reterr);
    self->sources[which] = source;
    if (from->tree.ptr)
        CG_TRY(kept_read(from->tree, source, &self->names, self->work->heap, &self->at[which],
                         &is_kept, self->reterr));
    return is_kept ? CG_OK
                   : rust_parse(self->parser, source, &self->names, &self->at[which], self->reterr);
}

/* The scan of today reads the tree, rather than parse the text again. */
static cg_code keep_tree(const trees *self, const ast *tree, program_text_given *ret)
{
    buf bytes;
    bool is_good = true;

    if (!kept_is_possible(tree))
        return CG_OK;
    buf_init(&bytes, self->work->heap, SIZE_MAX / 2);
    is_good = kept_write(tree, self->work->heap, &bytes) &&
              arena_text(self->mem, buf_text(&bytes), &ret->tree);
    buf_free(&bytes);
    return is_good ? CG_OK : err_nomem(self->reterr);
}

static cg_code compare_trees(trees *self, size_t index, rescan_change *ret, bool *ret_is_known)
{
    const rescan_work *work = self->work;
    program_text_given *now = &work->changed[index];
    program_text_given then = {0};
    const ast *both[2] = {&self->at[0], &self->at[1]};

    *ret = (rescan_change){.file = index_of(work->base, now->path)};
    *ret_is_known = false;
    if (ret->file == RESCAN_NO_FILE || memchr(now->text.ptr, '\0', now->text.len))
        return CG_OK;
    CG_TRY(work->load(work->context, ret->file, &then, self->reterr));
    then.path = now->path;
    CG_TRY(read_tree(self, 0, &then));
    CG_TRY(read_tree(self, 1, now));
    CG_TRY(edit_find(both[0], both[1], self->mem, &ret->edit, &ret->is_exact, self->reterr));
    ret->is_exact = ret->is_exact && work->base->files[ret->file].is_alone;
    *ret_is_known = ret->is_exact;
    if (!ret->is_exact)
        CG_TRY(is_same_skeleton(work->heap, both, ret_is_known, self->reterr));
    if (*ret_is_known && (!ret->is_exact || ret->edit.has_items || ret->edit.changed_count > 0))
        return keep_tree(self, both[1], now);
    return CG_OK;
}

cg_code rescan_compare(const rescan_work *work, arena *mem, rescan_change *ret, bool *ret_is_known,
                       cg_err *reterr)
{
    trees self = {.work = work, .mem = mem, .reterr = reterr};
    cg_code code = rust_parser_new(work->heap, &self.parser, reterr);

    *ret_is_known = code == CG_OK;
    if (code == CG_OK)
        rust_parser_watch(self.parser, work->env);
    for (size_t i = 0; code == CG_OK && *ret_is_known && i < work->changed_count; i++) {
        code = intern_init(&self.names, work->heap, 1)
                   ? compare_trees(&self, i, &ret[i], ret_is_known)
                   : err_nomem(reterr);
        for (size_t k = 0; k < 2; k++) {
            ast_free(&self.at[k]);
            self.at[k] = (ast){0};
        }
        intern_free(&self.names);
    }
    rust_parser_free(self.parser);
    return code;
}

/* Did both read the same files, all of which the whole scan had read? */
static bool is_same_inputs(const rescanner *self)
{
    const part_facts *a = &self->facts[0], *b = &self->facts[1];

    if (a->input_count != b->input_count)
        return false;
    for (size_t i = 0; i < a->input_count; i++) {
        const program_input *one = &a->inputs[i], *other = &b->inputs[i];
        bool is_known = false;

        if (one->kind != other->kind || !str_equal(one->path, other->path) ||
            memcmp(one->sum, other->sum, DIGEST_BYTES) != 0)
            return false;
        for (size_t k = 0; k < self->base->input_count && !is_known; k++)
            is_known = str_equal(self->base->inputs[k].path, one->path);
        if (!is_known)
            return false;
    }
    return true;
}

/* --- what was not evaluated --- */

/* The component of that name; NULL: there is none. */
static const part_component *component_called(const part_facts *from, cg_str qualified, size_t near)
{
    if (near < from->component_count && str_equal(from->components[near].qualified, qualified))
        return &from->components[near];
    for (size_t i = 0; i < from->component_count; i++) {
        if (str_equal(from->components[i].qualified, qualified))
            return &from->components[i];
    }
    return NULL;
}

/* Is there a struct or enum of that name in the file of the component? */
static bool has_type(const part_facts *one, const part_component *component)
{
    if (!component->type.ptr)
        return false;
    for (size_t i = 0; i < one->type_count; i++) {
        if (str_equal(one->types[i].name, component->type) &&
            str_equal(one->types[i].file, component->file))
            return true;
    }
    return false;
}

static bool has_same_roots(const part_component *a, const part_component *b)
{
    if (a->root_count != b->root_count)
        return false;
    for (size_t i = 0; i < a->root_count; i++) {
        if (!str_equal(a->roots[i], b->roots[i]))
            return false;
    }
    return true;
}

/*
 * Is what one of them did not evaluate the same in both? What is new was evaluated. Who holds a
 * type has an edge to its component, and who makes it a site for each of its builders: whether it
 * is one, and which these are, must be no news for those that were left out.
 */
static bool has_same_components(const rescanner *self)
{
    const part_facts *a = &self->facts[0], *b = &self->facts[1];
    size_t k = 0;

    for (size_t i = 0; i < a->component_count; i++) {
        const part_component *one = &a->components[i];
        const part_component *other = component_called(b, one->qualified, i);

        if (!other && (one->is_skipped || has_type(b, one)))
            return false;
        if (!other)
            continue;
        /* In the same order. */
        if (other->is_skipped != one->is_skipped || (size_t)(other - b->components) < k ||
            (!has_same_roots(one, other) && intern_find(&self->choice.made, one->qualified)))
            return false;
        k = (size_t)(other - b->components) + 1;
    }
    for (size_t i = 0; i < b->component_count; i++) {
        const part_component *one = &b->components[i];

        if (!component_called(a, one->qualified, i) && (one->is_skipped || has_type(a, one)))
            return false;
    }
    return true;
}

/* Who takes something else can be a constructor now, or no longer. */
static bool has_same_signature(const part_maker *a, const part_maker *b)
{
    if (!a->is_listed || !b->is_listed || a->type_count != b->type_count)
        return false;
    for (size_t i = 0; i < a->type_count; i++) {
        if (!str_equal(a->types[i], b->types[i]))
            return false;
    }
    return true;
}

/* Does the other scan say the same of all that make builders? */
static bool has_same_makers(const part_facts *one, const part_facts *other)
{
    for (size_t i = 0; i < one->maker_count; i++) {
        const part_maker *maker = &one->makers[i];
        size_t k = i;

        if (k >= other->maker_count || !str_equal(other->makers[k].id, maker->id)) {
            for (k = 0; k < other->maker_count && !str_equal(other->makers[k].id, maker->id);)
                k++;
        }
        if (k == other->maker_count || other->makers[k].is_itself != maker->is_itself ||
            other->makers[k].is_driver != maker->is_driver ||
            !has_same_signature(maker, &other->makers[k]))
            return false;
        /* Who calls it can be what model/makers finds. */
        if (!maker->is_driver)
            return false;
    }
    return true;
}

/*
 * Are the same components and drivers there, and do budgets not matter? Then what was left out
 * comes to what it came to.
 */
static bool is_same_rest(const rescanner *self)
{
    const part_facts *a = &self->facts[0], *b = &self->facts[1];

    return has_same_components(self) && has_same_makers(a, b) && has_same_makers(b, a) &&
           !a->is_near && !b->is_near;
}

/* What a program trains decides about its findings wherever they are; a part does not tell it. */
static bool is_same_purpose(const rescanner *self)
{
    const part_facts *then = &self->facts[0], *now = &self->facts[1];

    return !now->is_program ||
           (then->is_loading == now->is_loading && then->is_training == now->is_training &&
            !then->has_cut && !now->has_cut);
}

/* --- kept for the next edit --- */

static bool pack_facts(rescanner *self, buf *ret)
{
    pack_writer out;
    bool is_good = pack_begin(&out, self->work->heap, 1);

    if (!is_good)
        return false;
    part_facts_pack(&self->facts[0], &out);
    is_good = pack_end(&out, ret);
    pack_free(&out);
    return is_good;
}

static bool pack_first(rescanner *self, buf *ret)
{
    pack_writer out;
    bool is_good = pack_begin(&out, self->work->heap, 1);

    if (!is_good)
        return false;
    pack_record(&out, &table_model_doc, &scan_document(self->scans[0])->doc);
    is_good = pack_end(&out, ret);
    pack_free(&out);
    return is_good;
}

/* The document of the first scan, packed. */
static cg_code write_first(rescanner *self)
{
    buf bytes;
    bool is_good;

    if (self->kept.is_there)
        return CG_OK;
    buf_init(&bytes, self->work->heap, SIZE_MAX / 2);
    is_good = pack_first(self, &bytes) &&
              arena_text(&self->moved.mem, buf_text(&bytes), &self->kept.document);
    buf_free(&bytes);
    return is_good ? CG_OK : nomem(self);
}

/* Of a part that was good for an answer: the next edit may be of the same functions. */
static cg_code keep_first(rescanner *self)
{
    const rescan_work *work = self->work;
    uint64_t len = 0;
    cg_code code = CG_OK;
    buf bytes;

    if (!work->traced || !work->keep_part || self->kept.is_there)
        return CG_OK;
    buf_init(&bytes, work->heap, SIZE_MAX / 2);
    buf_add(&bytes, (cg_str){(const char *)&len, sizeof len});
    if (pack_facts(self, &bytes)) {
        len = bytes.len - sizeof len;
        memcpy(bytes.at, &len, sizeof len);
        buf_add(&bytes, self->kept.document);
    } else {
        bytes.failed = true;
    }
    code = bytes.failed ? nomem(self)
                        : work->keep_part(work->context, self->key, buf_text(&bytes), self->reterr);
    buf_free(&bytes);
    return code;
}

/* The document as it was, with the places of today: what did not change is the same in both. */
static cg_code move_first(rescanner *self, bool *ret_is_good)
{
    const rescan_work *work = self->work;
    moved_file *files = arena_take(&self->mem, (work->changed_count + 1) * sizeof *files);
    pack_reader in = {0};

    if (!files)
        return nomem(self);
    for (size_t i = 0; i < work->changed_count; i++)
        files[i] =
            (moved_file){self->base->files[work->traced[i].file].shown, &work->traced[i].edit};
    CG_TRY(write_first(self));
    *ret_is_good = pack_open(&in, &self->moved.mem, self->kept.document);
    if (*ret_is_good && !moved_texts(&in, files, work->changed_count, ret_is_good))
        return nomem(self);
    *ret_is_good = *ret_is_good && pack_take(&in, &table_model_doc, &self->moved.doc);
    if (in.is_short)
        return nomem(self);
    self->docs[0] = &self->moved.doc;
    return *ret_is_good ? moved_places(&self->moved, files, work->changed_count, self->reterr)
                        : CG_OK;
}

/* Does an evaluation that was left out run the function of that name? */
static bool is_shared(const rescanner *self, cg_str path)
{
    return intern_find(&self->choice.run, path) != 0;
}

/* Who is inside of whom: said of components that were not evaluated, too. */
static cg_code move_nested(rescanner *self, bool *ret_is_good)
{
    const part_facts *a = &self->facts[0], *b = &self->facts[1];
    sc_records *list = &self->document->doc.components;
    model_component *made = arena_take(&self->document->mem, (list->count + 1) * sizeof *made);

    if (!made)
        return nomem(self);
    if (list->count > 0)
        memcpy(made, list->at, list->count * sizeof *made);
    *list = (sc_records){made, list->count};
    for (size_t i = 0; i < a->component_count; i++) {
        const part_component *now = component_called(b, a->components[i].qualified, i);
        size_t at = 0;

        if (!now || !now->is_skipped || now->is_nested == a->components[i].is_nested)
            continue;
        while (at < list->count && !str_equal(made[at].qualified_name, now->qualified))
            at++;
        if (at == list->count || made[at].is_nested != (now->is_nested ? BOOL_FALSE : BOOL_TRUE)) {
            *ret_is_good = false;
            return CG_OK;
        }
        made[at].is_nested = now->is_nested ? BOOL_TRUE : BOOL_FALSE;
    }
    return CG_OK;
}

/* --- what differs --- */

static const void *record_at(const sc_records *list, const sc_table *table, size_t index)
{
    return (const char *)list->at + index * table->size;
}

/* Put copies of records that belong to a scan that will be freed into the document. */
static bool copy_records(rescanner *self, const sc_table *table, const void *const *records,
                         size_t count, char *to)
{
    pack_writer out;
    pack_reader in;
    cg_str text;
    buf bytes;
    bool is_good = pack_begin(&out, self->work->heap, 1);

    buf_init(&bytes, self->work->heap, SIZE_MAX / 2);
    for (size_t i = 0; is_good && i < count; i++)
        pack_record(&out, table, records[i]);
    is_good = is_good && pack_end(&out, &bytes) &&
              arena_text(&self->document->mem, buf_text(&bytes), &text) &&
              pack_open(&in, &self->document->mem, text);
    memset(to, 0, count * table->size);
    for (size_t i = 0; is_good && i < count; i++)
        is_good = pack_take(&in, table, to + i * table->size);
    buf_free(&bytes);
    pack_free(&out);
    return is_good;
}

/* What is to be done with one list of the document. */
typedef struct exchange {
    const sc_table *table;
    sc_records lists[2];
    sc_records *whole;
    bool *is_gone;      /* of the whole */
    uint32_t *before;   /* of what is added: in front of which of the whole */
    const void **added; /* in order */
    size_t added_count;
} exchange;

static size_t find_in(const sc_records *list, const sc_table *table, cg_str id)
{
    size_t low = 0, high = list->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (str_compare(model_id_at(list, table, middle), id) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static size_t find_id(const exchange *self, cg_str id, bool *ret_is_there)
{
    size_t low = find_in(self->whole, self->table, id);

    *ret_is_there =
        low < self->whole->count && str_equal(model_id_at(self->whole, self->table, low), id);
    return low;
}

/*
 * Does what is said in the end depend on evaluations that were left out? Of a component's own they
 * are listed; drivers that run the same can take a finding back.
 */
static bool is_open(const rescanner *self, const exchange *list, const void *record)
{
    const sc_records *functions = &self->document->doc.functions;
    const sc_table *table = model_list_table(MODEL_FUNCTIONS);
    const model_finding *finding = record;
    size_t at;

    if (!record || list->table != model_list_table(MODEL_FINDINGS) || finding->related.count > 0 ||
        !finding->function_id.ptr)
        return false;
    at = find_in(functions, table, finding->function_id);
    return at == functions->count ||
           is_shared(self, MODEL_AT(*functions, model_function, at)->qualified_name);
}

/* Lists in the order of ids, each id once. */
static bool compare_sorted(rescanner *self, exchange *list)
{
    const sc_records *a = &list->lists[0], *b = &list->lists[1];
    const sc_table *table = list->table;
    size_t i = 0, k = 0;

    while (i < a->count || k < b->count) {
        int order = i == a->count ? 1
                    : k == b->count
                        ? -1
                        : str_compare(model_id_at(a, table, i), model_id_at(b, table, k));
        const void *old = order <= 0 ? record_at(a, table, i) : NULL;
        const void *fresh = order >= 0 ? record_at(b, table, k) : NULL;
        bool is_there;
        size_t place;

        i += order <= 0;
        k += order >= 0;
        if (old && fresh && pack_equal(table, old, fresh))
            continue;
        if (is_open(self, list, old) || is_open(self, list, fresh))
            return false;
        place = find_id(list, *(const cg_str *)(old ? old : fresh), &is_there);
        if (is_there != (old != NULL) ||
            (old && !pack_equal(table, old, record_at(list->whole, table, place))))
            return false;
        if (old)
            list->is_gone[place] = true;
        if (fresh) {
            list->before[list->added_count] = (uint32_t)place;
            list->added[list->added_count++] = fresh;
        }
    }
    return true;
}

/* Where `count` records of the old list stand in the whole, in a row; SIZE_MAX: nowhere. */
static size_t find_row(const exchange *list, size_t first, size_t count)
{
    const sc_records *a = &list->lists[0];

    for (size_t at = 0; at + count <= list->whole->count; at++) {
        size_t i = 0;

        while (i < count && !list->is_gone[at + i] &&
               str_equal(model_id_at(list->whole, list->table, at + i),
                         model_id_at(a, list->table, first + i)) &&
               pack_equal(list->table, record_at(list->whole, list->table, at + i),
                          record_at(a, list->table, first + i)))
            i++;
        if (i == count)
            return at;
    }
    return SIZE_MAX;
}

static bool has_same_id(const exchange *list, size_t i, size_t k)
{
    return str_equal(model_id_at(&list->lists[0], list->table, i),
                     model_id_at(&list->lists[1], list->table, k));
}

static void add_record(exchange *list, size_t before, size_t k)
{
    size_t at = list->added_count++;

    for (; at > 0 && list->before[at - 1] > before; at--) {
        list->before[at] = list->before[at - 1];
        list->added[at] = list->added[at - 1];
    }
    list->before[at] = (uint32_t)before;
    list->added[at] = record_at(&list->lists[1], list->table, k);
}

/* One that stays where it is. */
static bool exchange_one(exchange *list, size_t i, size_t k)
{
    size_t place;

    if (pack_equal(list->table, record_at(&list->lists[0], list->table, i),
                   record_at(&list->lists[1], list->table, k)))
        return true;
    place = find_row(list, i, 1);
    if (place == SIZE_MAX)
        return false;
    list->is_gone[place] = true;
    add_record(list, place, k);
    return true;
}

/*
 * A list in the order of finding: with other ids is at most one row of it, which must stand in a
 * row in the whole, too.
 */
static bool compare_rows(exchange *list)
{
    size_t a = list->lists[0].count, b = list->lists[1].count;
    size_t first = 0, last = 0, place;

    while (first < a && first < b && has_same_id(list, first, first))
        first++;
    while (last < a - first && last < b - first && has_same_id(list, a - 1 - last, b - 1 - last))
        last++;
    if (a - first - last > 0) {
        place = find_row(list, first, a - first - last);
    } else if (b - first - last == 0) {
        place = 0;
    } else {
        /* Between two that are neighbours in the whole, too. */
        if (first == 0 || last == 0)
            return false;
        place = find_row(list, first - 1, 2);
        place += place != SIZE_MAX;
    }
    if (place == SIZE_MAX)
        return false;
    for (size_t i = 0; i < a - first - last; i++)
        list->is_gone[place + i] = true;
    for (size_t i = first; i < b - last; i++)
        add_record(list, place, i);
    for (size_t i = 0; i < first; i++) {
        if (!exchange_one(list, i, i))
            return false;
    }
    for (size_t i = 0; i < last; i++) {
        if (!exchange_one(list, a - 1 - i, b - 1 - i))
            return false;
    }
    return true;
}

/* The site at the same place in the whole; SIZE_MAX: there is none. */
static size_t find_place(const rescanner *self, const model_assembly *site)
{
    const sc_records *list = &self->document->doc.assembly_sites;
    const model_location *place = site->location;

    for (size_t i = 0; place && i < list->count; i++) {
        const model_assembly *other = MODEL_AT(*list, model_assembly, i);
        const model_location *there = other->location;

        if (there && str_equal(other->function, site->function) &&
            str_equal(there->file, place->file) && there->byte_start == place->byte_start &&
            there->byte_end == place->byte_end)
            return i;
    }
    return SIZE_MAX;
}

/*
 * A site in a function that others run, too: is it listed as one has it that was left out, and did
 * another one that was left out come by before those of the part do?
 */
static bool is_settled(const rescanner *self, const model_assembly *site, const runs_site *met)
{
    const runs *from = &self->base->runs;
    size_t at = find_place(self, site);
    uint32_t whole, part;

    if (at == SIZE_MAX || !from->sites[at].is_own || from->sites[at].is_of_driver ||
        intern_find(&self->choice.evaluated, site->function_name))
        return false;
    whole = runs_component(from, from->sites[at].met_by);
    part = met->is_of_driver ? RUNS_NONE : runs_component(from, met->met_by);
    return whole != RUNS_NONE && !self->choice.components[whole] &&
           (met->is_of_driver || (part != RUNS_NONE && part > whole));
}

static bool is_met_alike(const runs_site *a, const runs_site *b)
{
    return a->is_own == b->is_own && a->is_of_driver == b->is_of_driver &&
           str_equal(a->met_by, b->met_by);
}

static bool site_list_init(site_list *self, size_t most, arena *mem)
{
    self->at = arena_take(mem, (most + 1) * sizeof *self->at);
    self->met = arena_take(mem, (most + 1) * sizeof *self->met);
    self->from = arena_take(mem, (most + 1) * sizeof *self->from);
    self->count = 0;
    return self->at && self->met && self->from;
}

/* Those that only the evaluations of the part can make, and the others. */
static bool part_sites(rescanner *self, size_t which, site_list *own, site_list *shared)
{
    const sc_records *sites = &self->docs[which]->assembly_sites;

    if (!site_list_init(own, sites->count, &self->mem) ||
        !site_list_init(shared, sites->count, &self->mem))
        return false;
    for (size_t i = 0; i < sites->count; i++) {
        const model_assembly *site = MODEL_AT(*sites, model_assembly, i);
        site_list *to = is_shared(self, site->function_name) ? shared : own;

        to->at[to->count] = *site;
        to->from[to->count] = i;
        to->met[to->count++] = self->facts[which].sites[i];
    }
    return true;
}

/* Does the other list have the same one, of the same origin? */
static bool has_site(const site_list *from, size_t at, const site_list *other)
{
    const sc_table *table = model_list_table(MODEL_ASSEMBLY);

    for (size_t i = 0; i < other->count; i++) {
        if (str_equal(from->at[at].id, other->at[i].id) &&
            pack_equal(table, &from->at[at], &other->at[i]))
            return is_met_alike(&from->met[at], &other->met[i]);
    }
    return false;
}

/* The sites that others make as well are left alone, where that is right. */
static cg_code leave_shared(rescanner *self, sc_records lists[2], bool *ret_is_good)
{
    site_list *own = self->own, shared[2];

    for (size_t k = 0; k < 2; k++)
        *ret_is_good =
            *ret_is_good && self->facts[k].site_count == self->docs[k]->assembly_sites.count;
    *ret_is_good =
        *ret_is_good && self->base->runs.site_count == self->document->doc.assembly_sites.count;
    if (!*ret_is_good)
        return CG_OK;
    for (size_t k = 0; k < 2; k++) {
        if (!part_sites(self, k, &own[k], &shared[k]))
            return nomem(self);
        lists[k] = (sc_records){own[k].at, own[k].count};
    }
    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; *ret_is_good && i < shared[k].count; i++)
            *ret_is_good = has_site(&shared[k], i, &shared[!k]) ||
                           is_settled(self, &shared[k].at[i], &shared[k].met[i]);
    }
    return CG_OK;
}

/* --- where a new site stands --- */

static item_ref named_item(const extract_component *component)
{
    return component->type ? component->type : component->constructor;
}

/* Are they listed one behind the other in the whole, too, but for others of the file? */
static bool is_beside(const rescanner *self, const extract_component *a, const extract_component *b)
{
    const program *code_of = scan_program(self->scans[1]);

    return (a->type != 0) == (b->type != 0) &&
           code_of->items.at[named_item(a)].file == code_of->items.at[named_item(b)].file;
}

/* Components that are functions come first, in the order of files. */
static uint64_t order_of_function(const rescanner *self, const extract_component *component)
{
    const runs *from = &self->base->runs;
    const program *code_of = scan_program(self->scans[1]);
    file_ref file = code_of->items.at[component->constructor].file;
    uint32_t own = index_of(self->base, code_of->files.at[file]->full_path);
    uint64_t order = 0;

    for (size_t i = 0; i < from->count; i++) {
        const runs_one *one = &from->all[i];
        const runs_function *function = &from->functions[one->function];

        if (one->component != RUNS_NONE && function->file < own &&
            str_equal(function->path, from->components[one->component]) &&
            order < 2 * (uint64_t)one->component + 2)
            order = 2 * (uint64_t)one->component + 2;
    }
    return order;
}

/* The place of a component in the order of all; one that is new stands between others. */
static uint64_t order_of(const rescanner *self, cg_str name)
{
    const runs *from = &self->base->runs;
    const extraction *now = scan_extraction(self->scans[1]);
    uint32_t known = runs_component(from, name);
    size_t at = 0;

    if (known != RUNS_NONE)
        return 2 * (uint64_t)known + 1;
    while (at < now->components.count && !str_equal(now->components.at[at].qualified, name))
        at++;
    if (at == now->components.count)
        return UINT64_MAX;
    for (size_t i = at; i-- > 0 && known == RUNS_NONE;) {
        if (!is_beside(self, &now->components.at[i], &now->components.at[at]))
            break;
        known = runs_component(from, now->components.at[i].qualified);
    }
    if (known != RUNS_NONE)
        return 2 * (uint64_t)known + 2;
    for (size_t i = at + 1; i < now->components.count && known == RUNS_NONE; i++) {
        if (!is_beside(self, &now->components.at[i], &now->components.at[at]))
            break;
        known = runs_component(from, now->components.at[i].qualified);
    }
    if (known != RUNS_NONE)
        return 2 * (uint64_t)known;
    return now->components.at[at].type ? UINT64_MAX
                                       : order_of_function(self, &now->components.at[at]);
}

/* Of a record of the whole in the list of today's scan; SIZE_MAX: it is not there, or twice. */
static size_t place_now(const rescanner *self, cg_str id)
{
    const sc_records *list = &self->docs[1]->assembly_sites;
    size_t found = SIZE_MAX;

    for (size_t i = 0; i < list->count; i++) {
        if (!str_equal(MODEL_AT(*list, model_assembly, i)->id, id))
            continue;
        if (found != SIZE_MAX)
            return SIZE_MAX;
        found = i;
    }
    return found;
}

/*
 * In front of which record of the whole a new one stands: they are in the order of the components
 * that met them, and of one component in that of its evaluation. SIZE_MAX: not known.
 */
static size_t place_site(const rescanner *self, const exchange *list, size_t at)
{
    const site_list *own = &self->own[1];
    const runs *from = &self->base->runs;
    uint64_t order = own->met[at].is_of_driver ? UINT64_MAX : order_of(self, own->met[at].met_by);
    uint64_t other = UINT64_MAX;
    size_t place = 0;
    bool is_behind = false;

    if (order == UINT64_MAX)
        return SIZE_MAX;
    for (size_t i = 0; i < list->whole->count; i++) {
        const runs_site *met = &from->sites[i];
        bool is_before;

        if (met->is_of_driver)
            other = UINT64_MAX;
        else if (i == 0 || from->sites[i - 1].is_of_driver ||
                 !str_equal(met->met_by, from->sites[i - 1].met_by))
            other = order_of(self, met->met_by);
        if (list->is_gone[i])
            continue;
        is_before = other < order;
        if (other == order) {
            size_t now = place_now(self, model_id_at(list->whole, list->table, i));

            if (now == SIZE_MAX)
                return SIZE_MAX;
            is_before = now < own->from[at];
        }
        if (is_before && is_behind)
            return SIZE_MAX;
        is_behind = is_behind || !is_before;
        place = is_before ? i + 1 : place;
    }
    return place;
}

/* The same one, met by the same: it stays where it is. */
static bool is_same_site(const rescanner *self, size_t i, size_t k)
{
    const site_list *own = self->own;

    return str_equal(own[0].at[i].id, own[1].at[k].id) &&
           is_met_alike(&own[0].met[i], &own[1].met[k]);
}

static bool exchange_sites(rescanner *self, exchange *list)
{
    size_t counts[2] = {list->lists[0].count, list->lists[1].count}, first = 0, last = 0;

    while (first < counts[0] && first < counts[1] && is_same_site(self, first, first))
        first++;
    while (last < counts[0] - first && last < counts[1] - first &&
           is_same_site(self, counts[0] - 1 - last, counts[1] - 1 - last))
        last++;
    for (size_t i = first; i < counts[0] - last; i++) {
        size_t place = find_row(list, i, 1);

        if (place == SIZE_MAX)
            return false;
        list->is_gone[place] = true;
    }
    for (size_t i = first; i < counts[1] - last; i++) {
        size_t place = place_site(self, list, i);

        if (place == SIZE_MAX)
            return false;
        add_record(list, place, i);
    }
    for (size_t i = 0; i < first; i++) {
        if (!exchange_one(list, i, i))
            return false;
    }
    for (size_t i = 0; i < last; i++) {
        if (!exchange_one(list, counts[0] - 1 - i, counts[1] - 1 - i))
            return false;
    }
    return true;
}

static cg_code compare_list(rescanner *self, enum model_list which, exchange *ret,
                            bool *ret_is_good)
{
    sc_records lists[2];
    size_t most;

    for (size_t i = 0; i < 2; i++)
        lists[i] = *model_list_of((model_doc *)(uintptr_t)self->docs[i], which);
    *ret_is_good = true;
    if (which == MODEL_ASSEMBLY)
        CG_TRY(leave_shared(self, lists, ret_is_good));
    if (!*ret_is_good)
        return CG_OK;
    *ret = (exchange){
        .table = model_list_table(which),
        .lists = {lists[0], lists[1]},
        .whole = model_list_of(&self->document->doc, which),
    };
    most = ret->lists[1].count + 1;
    ret->is_gone = arena_zero(&self->mem, ret->whole->count + 1);
    ret->before = arena_take(&self->mem, most * sizeof *ret->before);
    ret->added = arena_take(&self->mem, most * sizeof *ret->added);
    if (!ret->is_gone || !ret->before || !ret->added)
        return nomem(self);
    *ret_is_good = which == MODEL_ASSEMBLY ? exchange_sites(self, ret)
                   : which == MODEL_STAGES ? compare_rows(ret)
                                           : compare_sorted(self, ret);
    return CG_OK;
}

/* The list with what came instead of what went. */
static cg_code apply_list(rescanner *self, const exchange *list)
{
    size_t size = list->table->size;
    size_t most = list->whole->count + list->added_count + 1;
    char *made = arena_take(&self->document->mem, most * size);
    char *fresh = arena_take(&self->mem, (list->added_count + 1) * size);
    size_t count = 0, next = 0;

    if (!made || !fresh || !copy_records(self, list->table, list->added, list->added_count, fresh))
        return nomem(self);
    for (size_t i = 0; i <= list->whole->count; i++) {
        for (; next < list->added_count && list->before[next] == i; next++)
            memcpy(made + count++ * size, fresh + next * size, size);
        if (i < list->whole->count && !list->is_gone[i])
            memcpy(made + count++ * size, record_at(list->whole, list->table, i), size);
    }
    *list->whole = (sc_records){made, count};
    return CG_OK;
}

static bool is_changed(const exchange *list)
{
    for (size_t i = 0; i < list->whole->count; i++) {
        if (list->is_gone[i])
            return true;
    }
    return list->added_count > 0;
}

static cg_code exchange_all(rescanner *self, bool *ret_is_done)
{
    exchange lists[MODEL_LIST_COUNT];
    model_coverage *coverage;
    bool is_good = true;

    for (enum model_list i = 0; i < MODEL_LIST_COUNT; i++) {
        CG_TRY(compare_list(self, i, &lists[i], &is_good));
        if (!is_good)
            return CG_OK;
    }
    for (enum model_list i = 0; i < MODEL_LIST_COUNT; i++) {
        if (is_changed(&lists[i]))
            CG_TRY(apply_list(self, &lists[i]));
    }
    CG_TRY(move_nested(self, &is_good));
    /* What stood in an item that went must have gone, too. */
    if (!is_good || (has_items(self) && !moved_is_whole(self->document)))
        return CG_OK;
    coverage = arena_zero(&self->document->mem, sizeof *coverage);
    if (!coverage)
        return nomem(self);
    CG_TRY(coverage_count(self->document, coverage, self->reterr));
    self->document->doc.coverage = coverage;
    *ret_is_done = true;
    return CG_OK;
}

static cg_code run(rescanner *self, bool *ret_is_done)
{
    bool is_good = false;

    CG_TRY(find_part(self, &is_good));
    if (!is_good)
        return CG_OK;
    CG_TRY(scan_both(self, &is_good));
    if (!is_good)
        return CG_OK;
    for (size_t i = self->kept.is_there; i < 2; i++)
        CG_TRY(part_facts_of(self->scans[i], &self->mem, &self->facts[i], self->reterr));
    if (!is_same_inputs(self) || !is_same_rest(self) || !is_same_purpose(self))
        return CG_OK;
    self->docs[1] = &scan_document(self->scans[1])->doc;
    if (self->work->traced)
        CG_TRY(move_first(self, &is_good));
    else
        self->docs[0] = &scan_document(self->scans[0])->doc;
    if (is_good)
        CG_TRY(exchange_all(self, ret_is_done));
    return *ret_is_done ? keep_first(self) : CG_OK;
}

cg_code rescan_run(const rescan_work *work, model_document *document, bool *ret_is_done,
                   cg_err *reterr)
{
    rescanner self = {.work = work, .base = work->base, .document = document, .reterr = reterr};
    cg_code code;

    *ret_is_done = false;
    if (!work->base->is_possible || !work->base->runs.is_whole || work->options.is_heuristic ||
        work->options.root.ptr)
        return CG_OK;
    arena_init(&self.mem, work->heap);
    self.moved.heap = work->heap;
    self.choice.evaluated.heap = self.choice.run.heap = self.choice.made.heap = work->heap;
    self.choice.left.heap = work->heap;
    arena_init(&self.choice.mem, work->heap);
    arena_init(&self.moved.mem, work->heap);
    code = run(&self, ret_is_done);
    free_scans(&self);
    runs_forget(&self.choice);
    arena_free(&self.moved.mem);
    arena_free(&self.mem);
    return code;
}
