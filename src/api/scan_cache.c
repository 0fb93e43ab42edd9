#include "api/scan_cache.h"

#include <string.h>

#include "candlegraph/version.h"
#include "api/scan_sources.h"
#include "base/os_dir.h"
#include "base/os_run.h"
#include "base/os_stamp.h"
#include "model/fingerprint.h"
#include "model/moved.h"
#include "rust/words.h"
#include "schema/pack.h"

/* In front of what pack writes; whoever changes what is kept or what a scan finds changes it. */
#define CACHE_FORMAT  "candle-graph cache 9 " CG_VERSION_TEXT
#define CACHE_CEILING ((size_t)4 << 30)
#define LIST_CEILING  1000000u
#define PART_FILES    8u  /* so many parts are kept, each where its key says */
#define MOST_CHANGED  16u /* of more the crate is scanned again */

/* Is this a failure that a cache must not hide? */
static bool is_fatal(cg_code code)
{
    return code == CG_NOMEM || code == CG_INTERRUPTED;
}

/* Everything but memory and interruption is "no". */
static cg_code as_answer(cg_code code, const cg_err *cause, bool *ret_is_good, cg_err *reterr)
{
    *ret_is_good = code == CG_OK;
    if (!is_fatal(code))
        return CG_OK;
    if (reterr != NULL && reterr->code == CG_OK)
        *reterr = *cause;
    return code;
}

/* --- what it depends on --- */

static void add_text(digest *sum, cg_str text)
{
    uint64_t len = text.ptr != NULL ? text.len : UINT64_MAX;

    digest_add(sum, &len, sizeof len);
    if (text.ptr != NULL)
        digest_add(sum, text.ptr, text.len);
}

static void add_number(digest *sum, uint64_t number)
{
    digest_add(sum, &number, sizeof number);
}

static void add_texts(digest *sum, cargo_strs texts)
{
    add_number(sum, texts.count);
    for (size_t i = 0; i < texts.count; i++)
        add_text(sum, texts.at[i]);
}

static void add_options(digest *sum, cg_str path, const scan_options *options)
{
    const cargo_options *cargo = &options->cargo;

    add_text(sum, CG_LIT(CACHE_FORMAT));
    add_text(sum, CG_LIT(MODEL_SCHEMA));
    add_text(sum, path);
    add_text(sum, options->root);
    add_number(sum, options->is_heuristic);
    add_number(sum, options->is_structure);
    add_texts(sum, cargo->features);
    add_number(sum, cargo->is_all_features);
    add_number(sum, cargo->is_no_default_features);
    add_text(sum, cargo->target);
    add_text(sum, cargo->cargo_target);
    add_text(sum, cargo->package);
    add_texts(sum, cargo->sources);
    add_text(sum, cargo->cargo_home);
    add_number(sum, cargo->is_asking);
}

static void add_package(digest *sum, const cargo_package *package)
{
    add_text(sum, package->name);
    add_text(sum, package->version);
    add_text(sum, package->edition);
    add_text(sum, package->root);
    add_texts(sum, package->features);
    add_texts(sum, package->cfg.lines);
    add_number(sum, package->target_count);
    for (size_t i = 0; i < package->target_count; i++) {
        add_number(sum, package->targets[i].kind);
        add_text(sum, package->targets[i].name);
        add_text(sum, package->targets[i].path);
    }
    add_number(sum, package->dependency_count);
    for (size_t i = 0; i < package->dependency_count; i++) {
        const cargo_dependency *dependency = &package->dependencies[i];

        add_text(sum, dependency->extern_name);
        add_text(sum, dependency->package_name);
        add_number(sum, dependency->is_active);
        add_number(sum, dependency->package);
    }
}

static void add_graph(digest *sum, const cargo_graph *graph)
{
    add_number(sum, graph->root);
    add_text(sum, graph->scan_root);
    add_text(sum, graph->scan_file);
    add_text(sum, graph->workspace_root);
    add_text(sum, graph->selected_target);
    add_text(sum, graph->target);
    add_number(sum, graph->cfg_source);
    add_texts(sum, graph->active_cfg);
    for (size_t i = 0; i < graph->selected_count; i++)
        add_number(sum, graph->selected[i]);
    for (size_t i = 0; i < graph->packages.count; i++)
        add_package(sum, &graph->packages.at[i]);
    for (size_t i = 0; i < graph->diagnostics.count; i++)
        add_text(sum, graph->diagnostics.at[i].message);
    for (size_t i = 0; i < graph->inputs.count; i++) {
        add_text(sum, graph->inputs.at[i].path);
        add_number(sum, graph->inputs.at[i].is_missing);
        digest_add(sum, graph->inputs.at[i].sum, DIGEST_BYTES);
    }
}

static cg_code find(cache_place *self, cg_str directory, cg_str path, const scan_options *options,
                    cg_err *reterr)
{
    char hex[DIGEST_HEX];
    digest sum;
    cg_str place;

    CG_TRY(os_real_path(path, self->mem, &place, reterr));
    CG_TRY(digest_start(&sum, reterr));
    add_options(&sum, place, options);
    CG_TRY(digest_finish(&sum, self->key, reterr));
    CG_TRY(cargo_graph_open(self->env, self->heap, path, &options->cargo, &self->graph, reterr));
    CG_TRY(digest_start(&sum, reterr));
    add_graph(&sum, self->graph);
    CG_TRY(digest_finish(&sum, self->cargo, reterr));
    digest_hex(self->key, hex);
    return arena_format(self->mem, &self->levels_file, "%.*s/candle-graph.toml",
                        (int)self->graph->scan_root.len, self->graph->scan_root.ptr) &&
                   arena_format(self->mem, &self->file, "%.*s/scan-%.40s", (int)directory.len,
                                directory.ptr, hex) &&
                   arena_format(self->mem, &self->sources_file, "%.*s.sources", (int)self->file.len,
                                self->file.ptr)
               ? CG_OK
               : err_nomem(reterr);
}

cg_code cache_find(const cg_env *env, heap *from, arena *mem, cg_str directory, cg_str path,
                   const scan_options *options, cache_place *ret, cg_err *reterr)
{
    cg_err cause = {0};
    bool is_good;

    *ret = (cache_place){.env = env,
                         .heap = from,
                         .mem = mem,
                         .path = path,
                         .options = options,
                         .began_ns = os_wall_ns()};
    CG_TRY(as_answer(find(ret, directory, path, options, &cause), &cause, &is_good, reterr));
    if (!is_good)
        ret->file = (cg_str){0};
    return CG_OK;
}

void cache_end(cache_place *self)
{
    cargo_graph_free(self->graph);
    self->graph = NULL;
}

/* --- is what was read then still there? --- */

static cg_code sum_of(const void *bytes, size_t count, uint8_t ret[DIGEST_BYTES], cg_err *reterr)
{
    digest sum;

    CG_TRY(digest_start(&sum, reterr));
    digest_add(&sum, bytes, count);
    return digest_finish(&sum, ret, reterr);
}

static cg_code sum_of_file(const cache_place *self, cg_str path, buf *room,
                           uint8_t ret[DIGEST_BYTES], cg_err *reterr)
{
    os_file file;
    cg_code code;

    CG_TRY(os_open_read(self->env, path, &file, reterr));
    buf_clear(room);
    /* As whoever read it then: pipes and devices count as missing. */
    code = file.is_regular ? os_read_to_end(&file, room, reterr) : CG_NOT_FOUND;
    os_close(&file);
    return code == CG_OK ? sum_of(room->at, room->len, ret, reterr) : code;
}

static cg_code sum_of_directory(const cache_place *self, cg_str path, uint8_t ret[DIGEST_BYTES],
                                cg_err *reterr)
{
    arena_place mark = arena_mark(self->mem);
    os_entries list = {0};
    digest sum;
    os_dir dir;
    cg_code code;

    CG_TRY(os_dir_open(self->env, path, &dir, reterr));
    code = os_dir_list(&dir, self->heap, self->mem, LIST_CEILING, &list, reterr);
    os_dir_close(&dir);
    if (code == CG_OK)
        code = digest_start(&sum, reterr);
    if (code == CG_OK) {
        for (size_t i = 0; i < list.count; i++) {
            digest_add(&sum, list.at[i].name.ptr, list.at[i].name.len);
            digest_add(&sum, "", 1);
        }
        code = digest_finish(&sum, ret, reterr);
    }
    arena_reset(self->mem, mark);
    return code;
}

/* --- what was read, and what was kept of it --- */

/* One file, directory, or what was looked for in vain. */
typedef struct entry {
    program_input input;
    os_stamp stamp; /* OS_OTHER: look into it */
} entry;

typedef struct stored {
    entry *entries; /* Cargo's files first, the project's levels last */
    size_t entry_count;
    rescan_base base;
    kept_place *places;                     /* of the base's files */
    program_text_given given[MOST_CHANGED]; /* what is not as it was */
    size_t given_count;
    uint8_t identity[DIGEST_BYTES]; /* of all that was read */
} stored;

static cg_code sum_of_input(const cache_place *self, const program_input *input, buf *room,
                            uint8_t ret[DIGEST_BYTES], cg_err *reterr)
{
    return input->kind == INPUT_DIRECTORY ? sum_of_directory(self, input->path, ret, reterr)
                                          : sum_of_file(self, input->path, room, ret, reterr);
}

/* A file that is not as it was: its text of today, if a rescan could do with that. */
static cg_code note_change(const cache_place *self, stored *from, entry *at, const buf *text,
                           const uint8_t sum[DIGEST_BYTES], bool *ret_is_usable, cg_err *reterr)
{
    program_text_given *given = &from->given[from->given_count];
    bool is_own = false;

    *ret_is_usable = false;
    for (size_t i = 0; i < from->base.file_count && !is_own; i++)
        is_own = str_equal(from->base.files[i].path, at->input.path);
    if (!is_own || !from->base.is_possible || from->given_count == MOST_CHANGED)
        return CG_OK;
    given->path = at->input.path;
    if (!arena_text(self->mem, buf_text(text), &given->text))
        return err_nomem(reterr);
    from->given_count++;
    memcpy(at->input.sum, sum, DIGEST_BYTES);
    *ret_is_usable = true;
    return CG_OK;
}

static cg_code check_entry(const cache_place *self, stored *from, entry *at, buf *room,
                           bool *ret_is_usable, cg_err *reterr)
{
    uint8_t sum[DIGEST_BYTES] = {0};
    cg_err cause = {0};
    os_stamp stamp;
    bool is_there;

    *ret_is_usable = true;
    os_stamp_of(self->env, at->input.path, &stamp);
    if (os_stamp_equal(&stamp, &at->stamp))
        return CG_OK;
    CG_TRY(as_answer(sum_of_input(self, &at->input, room, sum, &cause), &cause, &is_there, reterr));
    if (is_there == (at->input.kind != INPUT_MISSING) &&
        memcmp(sum, at->input.sum, DIGEST_BYTES) == 0)
        return CG_OK;
    *ret_is_usable = false;
    if (is_there && at->input.kind == INPUT_FILE)
        return note_change(self, from, at, room, sum, ret_is_usable, reterr);
    return CG_OK;
}

static cg_code check_all(const cache_place *self, stored *from, bool *ret_is_usable, cg_err *reterr)
{
    cg_code code = CG_OK;
    buf room;

    *ret_is_usable = true;
    buf_init(&room, self->heap, CACHE_CEILING);
    for (size_t i = 0; code == CG_OK && *ret_is_usable && i < from->entry_count; i++) {
        if (!env_progress(self->env, "looking for changes", i, from->entry_count))
            code = cg_fail(reterr, PROBLEM_INTERRUPTED, "stopped while looking for changes");
        else
            code = check_entry(self, from, &from->entries[i], &room, ret_is_usable, reterr);
    }
    buf_free(&room);
    return code;
}

/* --- reading --- */

static bool take_sum(pack_reader *in, uint8_t ret[DIGEST_BYTES])
{
    for (size_t i = 0; i < DIGEST_BYTES; i += sizeof(uint64_t)) {
        uint64_t number;

        if (!pack_take_number(in, &number))
            return false;
        memcpy(ret + i, &number, sizeof number);
    }
    return true;
}

/* A list's length; every item takes at least a number. */
static bool take_count(pack_reader *in, size_t *ret)
{
    uint64_t count;

    if (!pack_take_number(in, &count) || count > (size_t)(in->end - in->at) / sizeof count)
        return false;
    *ret = (size_t)count;
    return true;
}

static bool take_entry(pack_reader *in, entry *ret)
{
    uint64_t kind;

    if (!pack_take_text(in, &ret->input.path) || ret->input.path.ptr == NULL ||
        !pack_take_number(in, &kind) || kind > INPUT_DIRECTORY || !take_sum(in, ret->input.sum))
        return false;
    ret->input.kind = (uint8_t)kind;
    return pack_take_number(in, &ret->stamp.kind) && pack_take_number(in, &ret->stamp.size) &&
           pack_take_number(in, &ret->stamp.inode) && pack_take_number(in, &ret->stamp.device) &&
           pack_take_number(in, &ret->stamp.modified_ns) &&
           pack_take_number(in, &ret->stamp.changed_ns);
}

static bool take_file(pack_reader *in, size_t file_count, rescan_file *ret, kept_place *place)
{
    uint64_t above, is_always, is_near, is_alone;

    if (!pack_take_text(in, &ret->path) || !pack_take_text(in, &ret->shown) ||
        !pack_take_number(in, &above) || (above >= file_count && above != RESCAN_NO_FILE) ||
        !pack_take_number(in, &is_always) || !pack_take_number(in, &is_near) ||
        !pack_take_number(in, &is_alone) || !pack_take_number(in, &place->start) ||
        !pack_take_number(in, &place->text_bytes) || !pack_take_number(in, &place->tree_bytes) ||
        !take_sum(in, place->sum) || ret->path.ptr == NULL || ret->shown.ptr == NULL)
        return false;
    ret->above = (uint32_t)above;
    ret->is_always = is_always == 1;
    ret->is_near = is_near == 1;
    ret->is_alone = is_alone == 1;
    ret->bytes = place->text_bytes;
    return true;
}

/* The filter of its words. */
static bool take_words(pack_reader *in, rescan_file *ret)
{
    uint64_t *filter = arena_take(in->mem, WORDS_FILTER * sizeof *filter);

    in->is_short = in->is_short || filter == NULL;
    for (size_t i = 0; filter != NULL && i < WORDS_FILTER; i++) {
        if (!pack_take_number(in, &filter[i]))
            return false;
    }
    ret->words = filter;
    return filter != NULL;
}

static bool take_names(pack_reader *in, const cg_str **ret, size_t *ret_count)
{
    cg_str *names;

    if (!take_count(in, ret_count))
        return false;
    names = arena_take(in->mem, (*ret_count + 1) * sizeof *names);
    in->is_short = in->is_short || names == NULL;
    for (size_t i = 0; names != NULL && i < *ret_count; i++) {
        if (!pack_take_text(in, &names[i]) || names[i].ptr == NULL)
            return false;
    }
    *ret = names;
    return names != NULL;
}

static bool take_base(pack_reader *in, rescan_base *ret, kept_place **ret_places)
{
    uint64_t is_possible, number;
    kept_place *places;

    if (!pack_take_number(in, &is_possible) || !take_count(in, &ret->file_count))
        return false;
    ret->is_possible = is_possible == 1;
    ret->files = arena_zero(in->mem, (ret->file_count + 1) * sizeof *ret->files);
    places = arena_take(in->mem, (ret->file_count + 1) * sizeof *places);
    in->is_short = ret->files == NULL || places == NULL;
    for (size_t i = 0; !in->is_short && i < ret->file_count; i++) {
        if (!take_file(in, ret->file_count, &ret->files[i], &places[i]) ||
            !take_words(in, &ret->files[i]))
            return false;
    }
    *ret_places = places;
    if (in->is_short || !take_names(in, &ret->traits, &ret->trait_count) ||
        !take_names(in, &ret->listed, &ret->listed_count) ||
        !runs_take(in, ret->file_count, &ret->runs) || !take_count(in, &ret->link_count))
        return false;
    ret->links = arena_take(in->mem, (ret->link_count + 1) * sizeof *ret->links);
    for (size_t i = 0; ret->links != NULL && i < ret->link_count; i++) {
        if (!pack_take_number(in, &number) || number >> 32 >= ret->file_count ||
            (uint32_t)number >= ret->file_count)
            return false;
        ret->links[i] = (rescan_link){(uint32_t)(number >> 32), (uint32_t)number};
    }
    in->is_short = in->is_short || ret->links == NULL;
    return !in->is_short;
}

static bool take_head(const cache_place *self, pack_reader *in, stored *ret)
{
    uint8_t sum[DIGEST_BYTES];
    program_input *inputs;
    cg_str format;

    if (!pack_take_text(in, &format) || !str_equal(format, CG_LIT(CACHE_FORMAT)) ||
        !take_sum(in, sum) || memcmp(sum, self->key, DIGEST_BYTES) != 0 || !take_sum(in, sum) ||
        memcmp(sum, self->cargo, DIGEST_BYTES) != 0 || !take_count(in, &ret->entry_count))
        return false;
    ret->entries = arena_zero(in->mem, (ret->entry_count + 1) * sizeof *ret->entries);
    inputs = arena_take(in->mem, (ret->entry_count + 1) * sizeof *inputs);
    in->is_short = ret->entries == NULL || inputs == NULL;
    for (size_t i = 0; !in->is_short && i < ret->entry_count; i++) {
        if (!take_entry(in, &ret->entries[i]))
            return false;
        inputs[i] = ret->entries[i].input;
    }
    if (in->is_short || ret->entry_count == 0 || !take_base(in, &ret->base, &ret->places))
        return false;
    ret->base.inputs = inputs;
    ret->base.input_count = ret->entry_count;
    return true;
}

/* The digest over everything that was read, as it is now. */
static cg_code renew_fingerprint(const cache_place *self, const stored *from, model_document *ret,
                                 cg_err *reterr)
{
    size_t count = from->entry_count - 1; /* the levels are no input of the scan */
    program_input *inputs = arena_take(&ret->mem, (count + 1) * sizeof *inputs);
    model_cargo *cargo = arena_take(&ret->mem, sizeof *cargo);

    if (inputs == NULL || cargo == NULL || ret->doc.cargo == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < count; i++)
        inputs[i] = from->entries[i].input;
    *cargo = *(const model_cargo *)ret->doc.cargo;
    if (!fingerprint_of(self->graph->scan_root, inputs, count, &ret->mem,
                        &cargo->source_fingerprint))
        return err_nomem(reterr);
    ret->doc.cargo = cargo;
    return CG_OK;
}

/* The whole of what was written. */
static cg_code read_file(const cache_place *self, cg_str path, arena *mem, cg_str *ret,
                         cg_err *reterr)
{
    os_file file;
    size_t len = 0, part = 1;
    cg_code code = CG_OK;
    char *bytes = NULL;

    CG_TRY(os_open_read(self->env, path, &file, reterr));
    if (!file.is_regular || file.size > CACHE_CEILING)
        code = CG_NOT_FOUND;
    else if ((bytes = arena_bytes(mem, (size_t)file.size + 1)) == NULL)
        code = err_nomem(reterr);
    while (code == CG_OK && part > 0 && len < file.size) {
        code = os_read(&file, bytes + len, (size_t)file.size - len, &part, reterr);
        len += part;
    }
    os_close(&file);
    *ret = (cg_str){bytes, len};
    return code;
}

/* What model/rescan asks for. */
typedef struct follower {
    const cache_place *place;
    const stored *from;
    sources texts;
    program_text_given *read; /* by file of the base: what is asked for more than once */
} follower;

static cg_code load_source(void *context, size_t file, program_text_given *ret, cg_err *reterr)
{
    follower *self = context;

    if (self->read[file].text.ptr == NULL)
        CG_TRY(sources_read(&self->texts, file, &self->read[file], reterr));
    *ret = self->read[file];
    return CG_OK;
}

/* In front of what is kept of a part: of which base, and which part. */
typedef struct part_head {
    uint8_t identity[DIGEST_BYTES];
    uint8_t key[DIGEST_BYTES];
} part_head;

static part_head head_of_part(const follower *self, const uint8_t key[DIGEST_BYTES])
{
    part_head head;

    memcpy(head.identity, self->from->identity, DIGEST_BYTES);
    memcpy(head.key, key, DIGEST_BYTES);
    return head;
}

/* Who works on one function comes back to others: each part has its place, whatever was there. */
static cg_code name_part(const follower *self, const uint8_t key[DIGEST_BYTES], cg_str *ret,
                         cg_err *reterr)
{
    const cg_str file = self->place->file;

    return arena_format(self->place->mem, ret, "%.*s.%u.part", (int)file.len, file.ptr,
                        key[0] % PART_FILES)
               ? CG_OK
               : err_nomem(reterr);
}

static cg_code find_part(void *context, const uint8_t key[DIGEST_BYTES], cg_str *ret,
                         cg_err *reterr)
{
    const follower *self = context;
    part_head wanted = head_of_part(self, key), found;
    cg_err cause = {0};
    bool is_there = false;
    cg_str name, bytes;

    CG_TRY(name_part(self, key, &name, reterr));
    CG_TRY(as_answer(read_file(self->place, name, self->place->mem, &bytes, &cause), &cause,
                     &is_there, reterr));
    if (!is_there || bytes.len < sizeof found)
        return CG_NOT_FOUND;
    memcpy(&found, bytes.ptr, sizeof found);
    if (memcmp(&found, &wanted, sizeof wanted) != 0)
        return CG_NOT_FOUND;
    *ret = (cg_str){bytes.ptr + sizeof found, bytes.len - sizeof found};
    return CG_OK;
}

static cg_code write_part(const follower *self, const part_head *head, cg_str bytes, cg_err *reterr)
{
    os_output file;
    cg_str name;
    cg_code code;

    CG_TRY(name_part(self, head->key, &name, reterr));
    CG_TRY(os_output_open(self->place->env, self->place->heap, name, true, &file, reterr));
    file.is_passing = true;
    code = os_output_write(&file, head, sizeof *head, reterr);
    if (code == CG_OK)
        code = os_output_write(&file, bytes.ptr, bytes.len, reterr);
    if (code == CG_OK)
        return os_output_commit(&file, reterr);
    os_output_drop(&file);
    return code;
}

/* What cannot be written is made again. */
static cg_code keep_part(void *context, const uint8_t key[DIGEST_BYTES], cg_str bytes,
                         cg_err *reterr)
{
    const follower *self = context;
    part_head head = head_of_part(self, key);
    cg_err cause = {0};
    bool is_kept;

    return as_answer(write_part(self, &head, bytes, &cause), &cause, &is_kept, reterr);
}

static cg_code take_document(pack_reader *in, model_document *ret, cg_err *reterr)
{
    if (pack_take(in, &table_model_doc, &ret->doc) && pack_is_done(in))
        return CG_OK;
    return in->is_short ? err_nomem(reterr) : CG_NOT_FOUND;
}

/*
 * Nothing but places has changed: is the document that of today, with its places moved? What
 * functions compute speaks of statements, too.
 */
static bool is_moved_only(const stored *from, const rescan_change *changes, bool is_structure)
{
    for (size_t i = 0; i < from->given_count; i++) {
        if (!changes[i].is_exact || changes[i].edit.has_items ||
            (!is_structure && changes[i].edit.has_idle) || changes[i].edit.changed_count > 0 ||
            from->base.files[changes[i].file].is_near)
            return false;
    }
    return true;
}

/* Is it known which evaluations ran what has changed, and where all else stands now? */
static bool is_traced(const stored *from, const rescan_change *changes)
{
    bool is_exact = from->base.runs.is_whole;

    for (size_t i = 0; i < from->given_count; i++)
        is_exact = is_exact && changes[i].is_exact;
    return is_exact;
}

/* Have items changed? Then only what is traced can be followed. */
static bool has_items(const stored *from, const rescan_change *changes)
{
    for (size_t i = 0; i < from->given_count; i++) {
        if (changes[i].is_exact && changes[i].edit.has_items)
            return true;
    }
    return false;
}

static cg_code take_moved(const stored *from, const rescan_change *changes, pack_reader *in,
                          model_document *ret, bool *ret_is_done, cg_err *reterr)
{
    moved_file files[MOST_CHANGED];
    bool is_good;

    for (size_t i = 0; i < from->given_count; i++)
        files[i] = (moved_file){from->base.files[changes[i].file].shown, &changes[i].edit};
    if (!moved_texts(in, files, from->given_count, &is_good))
        return err_nomem(reterr);
    if (!is_good)
        return CG_OK;
    *ret_is_done = true;
    CG_TRY(take_document(in, ret, reterr));
    return moved_places(ret, files, from->given_count, reterr);
}

/* CG_NOT_FOUND: the crate must be scanned again. */
static cg_code follow_changes(cache_place *self, stored *from, pack_reader *in, model_document *ret,
                              cg_err *reterr)
{
    follower context = {
        .place = self,
        .from = from,
        .texts = {.env = self->env,
                  .mem = self->mem,
                  .path = self->sources_file,
                  .places = from->places},
        .read = arena_zero(self->mem, (from->base.file_count + 1) * sizeof(program_text_given))};
    rescan_work work = {
        .env = self->env,
        .heap = self->heap,
        .path = self->path,
        .options = *self->options,
        .graph = self->graph,
        .base = &from->base,
        .changed = from->given,
        .changed_count = from->given_count,
        .load = load_source,
        .find_part = find_part,
        .keep_part = keep_part,
        .context = &context,
    };
    rescan_change changes[MOST_CHANGED];
    bool is_structure = self->options->is_structure;
    bool is_known = false, is_done = false, is_run = false, is_moved = false;
    cg_code code;

    if (context.read == NULL)
        return err_nomem(reterr);
    code = rescan_compare(&work, self->mem, changes, &is_known, reterr);
    if (code == CG_OK && is_known && is_moved_only(from, changes, is_structure))
        code = take_moved(from, changes, in, ret, &is_done, reterr);
    /* What functions compute can depend on files that no function of the part leads to. */
    is_known = is_known && is_structure;
    if (code == CG_OK && is_known && !is_done && is_traced(from, changes)) {
        pack_reader first = *in;

        is_run = true;
        work.traced = changes;
        code = take_moved(from, changes, &first, ret, &is_moved, reterr);
        if (code == CG_OK && is_moved)
            code = rescan_run(&work, ret, &is_done, reterr);
        work.traced = NULL;
    }
    if (code == CG_OK && is_known && !is_done && !has_items(from, changes)) {
        is_run = true;
        code = take_document(in, ret, reterr);
        if (code == CG_OK)
            code = rescan_run(&work, ret, &is_done, reterr);
    }
    sources_close(&context.texts);
    if (is_run && (code != CG_OK || !is_done)) {
        /* It has loaded packages in another order than a whole scan does. */
        cargo_graph_free(self->graph);
        self->graph = NULL;
    }
    CG_TRY(code);
    return is_done && ret->doc.cargo != NULL ? renew_fingerprint(self, from, ret, reterr)
                                             : CG_NOT_FOUND;
}

/* Before anything of today is looked at. */
static cg_code find_identity(const cache_place *self, stored *from, cg_err *reterr)
{
    digest sum;

    CG_TRY(digest_start(&sum, reterr));
    digest_add(&sum, self->key, DIGEST_BYTES);
    digest_add(&sum, self->cargo, DIGEST_BYTES);
    for (size_t i = 0; i < from->entry_count; i++) {
        add_text(&sum, from->entries[i].input.path);
        add_number(&sum, from->entries[i].input.kind);
        digest_add(&sum, from->entries[i].input.sum, DIGEST_BYTES);
    }
    return digest_finish(&sum, from->identity, reterr);
}

static cg_code read_document(cache_place *self, model_document *ret, cg_err *reterr)
{
    stored from = {0};
    bool is_usable;
    pack_reader in;
    cg_str bytes;

    /* Where the document will lie. */
    CG_TRY(read_file(self, self->file, &ret->mem, &bytes, reterr));
    if (!pack_open(&in, &ret->mem, bytes) || !take_head(self, &in, &from))
        return in.is_short ? err_nomem(reterr) : CG_NOT_FOUND;
    CG_TRY(find_identity(self, &from, reterr));
    CG_TRY(check_all(self, &from, &is_usable, reterr));
    if (!is_usable)
        return CG_NOT_FOUND;
    return from.given_count > 0 ? follow_changes(self, &from, &in, ret, reterr)
                                : take_document(&in, ret, reterr);
}

cg_code cache_read(cache_place *self, model_document *ret, bool *ret_is_there, cg_err *reterr)
{
    model_document made = {.heap = self->heap};
    cg_err cause = {0};
    cg_code code;

    *ret_is_there = false;
    if (self->file.ptr == NULL)
        return CG_OK;
    arena_init(&made.mem, self->heap);
    code = read_document(self, &made, &cause);
    if (code == CG_OK)
        *ret = made;
    else
        arena_free(&made.mem);
    return as_answer(code, &cause, ret_is_there, reterr);
}

/* --- writing --- */

static void put_sum(pack_writer *out, const uint8_t sum[DIGEST_BYTES])
{
    for (size_t i = 0; i < DIGEST_BYTES; i += sizeof(uint64_t)) {
        uint64_t number;

        memcpy(&number, sum + i, sizeof number);
        pack_number(out, number);
    }
}

/*
 * The stamp is taken after the file was read: it is worth something only if nothing has touched the
 * file since before the scan began.
 */
static void put_entry(const cache_place *self, pack_writer *out, const program_input *input)
{
    os_stamp stamp;

    os_stamp_of(self->env, input->path, &stamp);
    if (!os_stamp_is_settled(&stamp, self->began_ns))
        stamp = (os_stamp){.kind = OS_OTHER};
    pack_text(out, input->path);
    pack_number(out, input->kind);
    put_sum(out, input->sum);
    pack_number(out, stamp.kind);
    pack_number(out, stamp.size);
    pack_number(out, stamp.inode);
    pack_number(out, stamp.device);
    pack_number(out, stamp.modified_ns);
    pack_number(out, stamp.changed_ns);
}

/* What was read, and the levels of the project as they are now. */
static cg_code put_inputs(const cache_place *self, pack_writer *out, const program *code_of,
                          bool *ret_has_levels, cg_err *reterr)
{
    const cargo_inputs *manifests = &code_of->cargo->inputs;
    program_input levels = {.path = self->levels_file, .kind = INPUT_FILE};
    cg_err cause = {0};
    cg_code code;
    buf room;

    pack_number(out, manifests->count + code_of->inputs.count + 1);
    for (size_t i = 0; i < manifests->count; i++) {
        program_input input = {.path = manifests->at[i].path,
                               .kind = manifests->at[i].is_missing ? INPUT_MISSING : INPUT_FILE};

        memcpy(input.sum, manifests->at[i].sum, DIGEST_BYTES);
        put_entry(self, out, &input);
    }
    for (size_t i = 0; i < code_of->inputs.count; i++)
        put_entry(self, out, &code_of->inputs.at[i]);
    buf_init(&room, self->heap, CACHE_CEILING);
    code = sum_of_file(self, levels.path, &room, levels.sum, &cause);
    buf_free(&room);
    CG_TRY(as_answer(code, &cause, ret_has_levels, reterr));
    if (!*ret_has_levels)
        levels.kind = INPUT_MISSING;
    put_entry(self, out, &levels);
    *ret_has_levels = *ret_has_levels || code_of->cargo->metadata != TOML_NONE;
    return CG_OK;
}

static void put_names(pack_writer *out, const cg_str *names, size_t count)
{
    pack_number(out, count);
    for (size_t i = 0; i < count; i++)
        pack_text(out, names[i]);
}

static void put_base(pack_writer *out, const rescan_base *base, const kept_place *places)
{
    pack_number(out, base->is_possible);
    pack_number(out, base->file_count);
    for (size_t i = 0; i < base->file_count; i++) {
        pack_text(out, base->files[i].path);
        pack_text(out, base->files[i].shown);
        pack_number(out, base->files[i].above);
        pack_number(out, base->files[i].is_always);
        pack_number(out, base->files[i].is_near);
        pack_number(out, base->files[i].is_alone);
        pack_number(out, places[i].start);
        pack_number(out, places[i].text_bytes);
        pack_number(out, places[i].tree_bytes);
        put_sum(out, places[i].sum);
        for (size_t k = 0; k < WORDS_FILTER; k++)
            pack_number(out, base->files[i].words[k]);
    }
    put_names(out, base->traits, base->trait_count);
    put_names(out, base->listed, base->listed_count);
    runs_pack(&base->runs, out);
    pack_number(out, base->link_count);
    for (size_t i = 0; i < base->link_count; i++)
        pack_number(out, number_map_key(base->links[i].from, base->links[i].to));
}

/* Texts and trees, for a document that can be brought up to date. */
static cg_code write_sources(const cache_place *self, rescan_base *base, kept_place **ret,
                             cg_err *reterr)
{
    kept_place *places = arena_zero(self->mem, (base->file_count + 1) * sizeof *places);

    if (places == NULL)
        return err_nomem(reterr);
    *ret = places;
    for (size_t i = 0; base->is_possible && i < base->file_count; i++)
        base->is_possible = str_utf8_error(base->files[i].text) == SIZE_MAX;
    return base->is_possible
               ? sources_write(self->env, self->heap, self->sources_file, base, places, reterr)
               : CG_OK;
}

static cg_code put_all(const cache_place *self, pack_writer *out, const scan *from,
                       const model_document *document, cg_err *reterr)
{
    bool has_levels = false;
    kept_place *places = NULL;
    rescan_base base;

    pack_text(out, CG_LIT(CACHE_FORMAT));
    put_sum(out, self->key);
    put_sum(out, self->cargo);
    CG_TRY(put_inputs(self, out, scan_program(from), &has_levels, reterr));
    CG_TRY(rescan_keep(from, self->mem, &base, reterr));
    base.is_possible = base.is_possible && !has_levels;
    CG_TRY(write_sources(self, &base, &places, reterr));
    put_base(out, &base, places);
    pack_record(out, &table_model_doc, &document->doc);
    return CG_OK;
}

static cg_code write_all(const cache_place *self, const scan *from, const model_document *document,
                         cg_err *reterr)
{
    pack_writer out;
    os_output file;
    buf bytes;
    cg_code code;

    buf_init(&bytes, self->heap, CACHE_CEILING);
    code = pack_begin(&out, self->heap, os_random(self->env))
               ? put_all(self, &out, from, document, reterr)
               : err_nomem(reterr);
    if (code == CG_OK && !pack_end(&out, &bytes))
        code = err_nomem(reterr);
    pack_free(&out);
    if (code == CG_OK)
        code = os_output_open(self->env, self->heap, self->file, true, &file, reterr);
    if (code == CG_OK) {
        code = os_output_write(&file, bytes.at, bytes.len, reterr);
        if (code == CG_OK)
            code = os_output_commit(&file, reterr);
        else
            os_output_drop(&file);
    }
    buf_free(&bytes);
    return code;
}

cg_code cache_write(const cache_place *self, const scan *from, const model_document *document,
                    cg_err *reterr)
{
    cg_err cause = {0};
    bool is_good;

    if (self->file.ptr == NULL)
        return CG_OK;
    return as_answer(write_all(self, from, document, &cause), &cause, &is_good, reterr);
}
