#include "model/draft.h"

#include <inttypes.h>

#include "model/id_order.h"
#include "model/ids.h"
#include "model/index.h"
#include "model/normalise.h"

void model_draft_init(model_draft *self, heap *from)
{
    *self = (model_draft){.heap = from};
    arena_init(&self->mem, from);
    for (size_t i = 0; i < MODEL_LIST_COUNT; i++)
        arena_init(&self->records[i], from);
}

void model_draft_free(model_draft *self)
{
    for (size_t i = 0; i < MODEL_LIST_COUNT; i++) {
        heap_resize(self->heap, self->bulk[i].at, self->bulk[i].bytes, 0);
        self->bulk[i] = (draft_bulk){0};
        self->bulk_count[i] = 0;
        vec_free(self->heap, &self->lists[i]);
        arena_free(&self->records[i]);
        arena_init(&self->records[i], self->heap);
    }
    arena_free(&self->mem);
    arena_init(&self->mem, self->heap);
    self->filler = NULL;
}

/* Lists grow when their length is a power of two, to twice that: no capacity needs to be kept. */
static bool grow(arena *mem, const void **at, size_t count, size_t size)
{
    void *more;

    if ((count & (count - 1)) != 0)
        return true;
    more = arena_take(mem, (count == 0 ? 1 : 2 * count) * size);
    if (more == NULL)
        return false;
    if (count > 0)
        memcpy(more, *at, count * size);
    *at = more;
    return true;
}

bool draft_text(model_draft *self, sc_strs *list, cg_str text)
{
    const void *at = list->at;

    if (!grow(&self->mem, &at, list->count, sizeof text))
        return false;
    list->at = at;
    memcpy((char *)at + list->count * sizeof text, &text, sizeof text);
    list->count++;
    return true;
}

void *draft_record(model_draft *self, sc_records *list, const sc_table *table)
{
    char *record;

    if (!grow(&self->mem, &list->at, list->count, table->size))
        return NULL;
    record = (char *)list->at + list->count * table->size;
    memset(record, 0, table->size);
    list->count++;
    return record;
}

bool draft_evidence(model_draft *self, sc_records *list, uint8_t kind, uint8_t confidence,
                    cg_str source, cg_str detail)
{
    model_evidence *entry = draft_record(self, list, &table_model_evidence);

    if (entry == NULL)
        return false;
    *entry = (model_evidence){kind, confidence, source, detail};
    return true;
}

bool draft_key(model_draft *self, sc_records *groups, cg_str name, cg_str key)
{
    model_keys *at = (model_keys *)groups->at;
    model_keys *group = NULL;

    for (size_t i = 0; i < groups->count && group == NULL; i++) {
        if (str_equal(at[i].name, name))
            group = &at[i];
    }
    if (group == NULL) {
        group = draft_record(self, groups, &table_model_keys);
        if (group == NULL)
            return false;
        group->name = name;
    }
    return draft_text(self, &group->keys, key);
}

bool draft_shape(model_draft *self, sc_records *shapes, cg_str operand, sc_strs axes)
{
    model_operand_shape *shape = draft_record(self, shapes, &table_model_operand_shape);

    if (shape == NULL)
        return false;
    *shape = (model_operand_shape){operand, axes};
    return true;
}

bool draft_device(model_draft *self, sc_records *devices, cg_str operand, sc_tagged device)
{
    model_operand_device *entry = draft_record(self, devices, &table_model_operand_device);

    if (entry == NULL)
        return false;
    *entry = (model_operand_device){operand, device};
    return true;
}

bool draft_cuda(model_draft *self, opt_u64 ordinal, sc_tagged *ret)
{
    model_cuda *cuda = arena_zero(&self->mem, sizeof *cuda);
    model_device_data *data = arena_zero(&self->mem, sizeof *data);

    if (cuda == NULL || data == NULL)
        return false;
    cuda->ordinal = ordinal;
    data->cuda = cuda;
    *ret = (sc_tagged){.record = data};
    return true;
}

bool draft_same_device(model_draft *self, cg_str expression, sc_tagged *ret)
{
    model_device_data *data = arena_zero(&self->mem, sizeof *data);

    if (data == NULL)
        return false;
    data->same_as = expression;
    *ret = (sc_tagged){.record = data};
    return true;
}

bool draft_same_layout(model_draft *self, cg_str expression, sc_tagged *ret)
{
    model_layout_data *data = arena_zero(&self->mem, sizeof *data);

    if (data == NULL)
        return false;
    data->same_as = expression;
    *ret = (sc_tagged){.record = data};
    return true;
}

/* --- finish --- */

typedef struct filler filler;

static bool fill_list(filler *self, const sc_table *table, char *at, size_t count);

/* Is there anything to fill in a field like this? */
static bool is_fillable(const sc_field *field)
{
    switch ((enum sc_type)field->type) {
    case SC_STR: return field->rule == SC_REQUIRED || field->rule == SC_DEFAULTED;
    case SC_RECORD:
    case SC_ENTRIES:
    case SC_RECORDS: return true;
    case SC_U64:
    case SC_OPT_U64:
    case SC_F64:
    case SC_OPT_F64:
    case SC_BOOL:
    case SC_OPT_BOOL:
    case SC_WORD:
    case SC_U64S:
    case SC_STRS:
    case SC_AXES:
    case SC_MAP:
    case SC_COUNTS:
    case SC_TAGGED:
    case SC_TAG:
    case SC_STREAM: return false;
    }
    return false;
}

/* The fields of a table that may have to be filled. */
typedef struct fillable {
    const sc_table *of;
    size_t count;
    const sc_field *at[SC_MAX_FIELDS];
} fillable;

#define FILLER_TABLES 12u /* that are remembered: most records are of few tables */

struct filler {
    arena *mem;
    size_t count;
    fillable known[FILLER_TABLES + 1]; /* the last one is anybody's */
};

static const fillable *fillable_of(filler *self, const sc_table *table)
{
    fillable *found = &self->known[0];

    for (size_t i = 0; i < self->count; i++) {
        if (self->known[i].of == table)
            return &self->known[i];
    }
    found = &self->known[self->count];
    if (self->count < FILLER_TABLES)
        self->count++;
    found->of = table;
    found->count = 0;
    for (unsigned i = 0; i < table->count; i++) {
        if (is_fillable(&table->fields[i]))
            found->at[found->count++] = &table->fields[i];
    }
    return found;
}

/* `before`: the same member of a record that was filled, or NULL. Many share what is in it. */
static bool fill_member(filler *self, const sc_field *field, void *member, const void *before)
{
    if (field->type == SC_STR) {
        cg_str *text = member;

        if (text->ptr == NULL)
            *text = CG_LIT("");
    } else if (field->type == SC_RECORD) {
        const sc_table *sub = field->sub;
        void *record = *(void **)member;

        if (record == NULL && field->rule != SC_REQUIRED)
            return true;
        if (before != NULL && record != NULL && record == *(void *const *)before)
            return true;
        if (record == NULL) {
            record = arena_zero(self->mem, sub->size);
            if (record == NULL)
                return false;
            *(const void **)member = record;
        }
        return fill_list(self, sub, record, 1);
    } else {
        const sc_records *list = member;
        const sc_records *other = before;

        if (other == NULL || other->at != list->at || other->count < list->count)
            return fill_list(self, field->sub, (char *)(uintptr_t)list->at, list->count);
    }
    return true;
}

/* `before`: another record of the table that was filled, or NULL. */
static bool fill_record(filler *self, const sc_table *table, char *record, const char *before)
{
    const fillable *fields = fillable_of(self, table);

    for (size_t i = 0; i < fields->count; i++) {
        size_t offset = fields->at[i]->offset;

        if (!fill_member(self, fields->at[i], record + offset,
                         before != NULL ? before + offset : NULL))
            return false;
        if (fields->of != table)
            fields = fillable_of(self, table);
    }
    return true;
}

/* What must be written is there: empty texts, cleared records. Tables nest as deep as we say. */
static bool fill_list(filler *self, const sc_table *table, char *at, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!fill_record(self, table, at + i * table->size,
                         i > 0 ? at + (i - 1) * table->size : NULL))
            return false;
    }
    return true;
}

static bool fill_records(const sc_table *table, void *const *records, size_t count, arena *mem)
{
    filler self;

    self.mem = mem;
    self.count = 0;
    for (size_t i = 0; i < count; i++) {
        if (!fill_record(&self, table, records[i], i > 0 ? records[i - 1] : NULL))
            return false;
    }
    return true;
}

/* What is one of its kind. */
static bool fill_one(const sc_table *table, const void *record, arena *mem)
{
    void *one = (void *)(uintptr_t)record;

    return record == NULL || fill_records(table, &one, 1, mem);
}

/* Those that are so many that a second copy of them would be felt. */
static bool is_bulk(enum model_list list)
{
    return list == MODEL_TENSORS || list == MODEL_OPERATIONS;
}

#define BULK_FIRST ((size_t)16384)

static char *bulk_record(const draft_bulk *self, size_t index, size_t size)
{
    return self->at + ARENA_HEAD + index * size;
}

/* Complete the last one: nobody writes into it any more, and it is still at hand. */
static bool fill_last(model_draft *self, enum model_list list, arena *mem)
{
    const sc_table *table = model_list_table(list);
    const draft_bulk *bulk = &self->bulk[list];
    size_t count = self->bulk_count[list];

    if (count == 0)
        return true;
    if (self->filler == NULL) {
        self->filler = arena_zero(mem, sizeof *self->filler);
        if (self->filler == NULL)
            return false;
    }
    self->filler->mem = mem;
    return fill_record(self->filler, table, bulk_record(bulk, count - 1, table->size),
                       count > 1 ? bulk_record(bulk, count - 2, table->size) : NULL);
}

static void *add_bulk(draft_bulk *self, heap *from, size_t count, size_t size)
{
    size_t at = ARENA_HEAD + count * size; /* of what there is room for */
    size_t wanted = self->bytes + self->bytes / 2;
    char *moved;

    if (at + size > self->bytes) {
        if (wanted < BULK_FIRST)
            wanted = BULK_FIRST;
        moved = heap_resize(from, self->at, self->bytes, wanted);
        if (moved == NULL)
            return NULL;
        *self = (draft_bulk){moved, wanted};
    }
    return memset(self->at + at, 0, size);
}

void *draft_add(model_draft *self, enum model_list list)
{
    size_t size = model_list_table(list)->size;
    void *record;
    void **place;

    if (is_bulk(list)) {
        if (!fill_last(self, list, &self->mem))
            return NULL;
        record = add_bulk(&self->bulk[list], self->heap, self->bulk_count[list], size);
        self->bulk_count[list] += record != NULL;
        return record;
    }
    record = arena_zero(&self->records[list], size);
    place = record == NULL ? NULL : vec_add(self->heap, &self->lists[list]);
    if (place == NULL)
        return NULL;
    *place = record;
    return record;
}

/* Those that are ordered by ids they have already. Findings get theirs later. */
static bool is_by_id(enum model_list list)
{
    return list != MODEL_STAGES && list != MODEL_ASSEMBLY && list != MODEL_FINDINGS;
}

/* Pointers to the records of such a list, as the others have them. */
static bool point_at_bulk(model_draft *self, enum model_list list)
{
    size_t count = self->bulk_count[list];
    size_t size = model_list_table(list)->size;

    if (!vec_reserve(self->heap, &self->lists[list], count))
        return false;
    for (size_t i = 0; i < count; i++)
        self->lists[list].at[i] = bulk_record(&self->bulk[list], i, size);
    self->lists[list].count = count;
    return true;
}

/* The records, one behind the other in order. */
static char *copy_records(void *const *from, const uint32_t *order, size_t count, size_t size,
                          arena *mem)
{
    char *at = arena_take(mem, (count > 0 ? count : 1) * size);

    for (size_t i = 0; i < count && at != NULL; i++)
        memcpy(at + i * size, from[order[i]], size);
    return at;
}

/*
 * Put records in order where they are, along the circles of the permutation. The first `count` of
 * `order` are kept; it names each of `all` places once, and is used up.
 */
static void order_in_place(char *at, uint32_t *order, size_t all, size_t size, char *room)
{
    for (uint32_t first = 0; first < all; first++) {
        uint32_t to = first;

        if (order[first] == first)
            continue;
        memcpy(room, at + first * size, size);
        while (order[to] != first) {
            uint32_t from = order[to];

            memcpy(at + to * size, at + from * size, size);
            order[to] = to;
            to = from;
        }
        memcpy(at + to * size, room, size);
        order[to] = to;
    }
}

/* Those that were left out of the order, behind it: `mark` has room for a bit of each. */
static void complete_order(uint32_t *order, size_t count, size_t all, unsigned char *mark)
{
    memset(mark, 0, all);
    for (size_t i = 0; i < count; i++)
        mark[order[i]] = 1;
    for (uint32_t i = 0; i < all; i++) {
        if (!mark[i])
            order[count++] = i;
    }
}

/* As copy_records, of a list that is bulk: no copy, and what it does not need is given back. */
static char *settle_bulk(model_draft *self, enum model_list list, uint32_t *order, size_t count,
                         arena *mem)
{
    draft_bulk *bulk = &self->bulk[list];
    size_t all = self->bulk_count[list];
    size_t size = model_list_table(list)->size;
    size_t bytes = ARENA_HEAD + count * size;
    char *room = arena_take(mem, size);
    char *kept;

    if (room == NULL)
        return NULL;
    if (all == 0)
        return room;
    if (count < all)
        complete_order(order, count, all, (unsigned char *)(order + all));
    order_in_place(bulk->at + ARENA_HEAD, order, all, size, room);
    kept = heap_resize(self->heap, bulk->at, bulk->bytes, bytes);
    if (kept != NULL)
        *bulk = (draft_bulk){kept, bytes};
    kept = bulk->at;
    arena_adopt(mem, kept, bulk->bytes);
    *bulk = (draft_bulk){0};
    return kept + ARENA_HEAD;
}

/* The records of a list as they stay: in order, copied once. */
static bool gather_list(model_draft *self, enum model_list list, model_document *to)
{
    const sc_table *table = model_list_table(list);
    bool is_good = !is_bulk(list) || (fill_last(self, list, &to->mem) && point_at_bulk(self, list));
    size_t count = self->lists[list].count;
    size_t bytes = (2 * count + 1) * sizeof(uint32_t);
    void *const *from = self->lists[list].at;
    uint32_t *order = heap_resize(self->heap, NULL, 0, bytes);
    char *at = NULL;

    is_good =
        is_good && order != NULL && (is_bulk(list) || fill_records(table, from, count, &to->mem));
    for (size_t i = 0; i < count && is_good; i++)
        order[i] = (uint32_t)i;
    if (is_good && is_by_id(list))
        is_good = id_order(self->heap, from, count, order, &count);
    if (is_good)
        at = is_bulk(list) ? settle_bulk(self, list, order, count, &to->mem)
                           : copy_records(from, order, count, table->size, &to->mem);
    *model_list_of(&to->doc, list) = (sc_records){at, count};
    heap_resize(self->heap, order, order != NULL ? bytes : 0, 0);
    return at != NULL;
}

static bool gather(model_draft *self, model_document *to)
{
    for (enum model_list list = 0; list < MODEL_LIST_COUNT; list++) {
        if (!gather_list(self, list, to))
            return false;
        /* What is copied is given back before the next is. */
        vec_free(self->heap, &self->lists[list]);
        arena_free(&self->records[list]);
        arena_init(&self->records[list], self->heap);
    }
    return true;
}

static bool name_findings(model_document *to)
{
    model_finding *at = (model_finding *)to->doc.findings.at;

    for (size_t i = 0; i < to->doc.findings.count; i++) {
        const model_location *place = at[i].location;
        cg_str source;

        if (at[i].source.ptr == NULL && place != NULL &&
            !arena_format(&to->mem, &at[i].source, "%.*s:%" PRIu64, (int)place->file.len,
                          place->file.ptr, place->line))
            return false;
        source = at[i].source.ptr != NULL ? at[i].source : CG_LIT("");
        if (!id_make(&to->mem, MODEL_ID_KIND_FINDING, ID_PARTS(at[i].rule, source, at[i].message),
                     &at[i].id))
            return false;
    }
    return true;
}

static void name_dtypes(model_document *to)
{
    model_tensor *at = (model_tensor *)to->doc.tensors.at;

    for (size_t i = 0; i < to->doc.tensors.count; i++) {
        if (at[i].dtype.len == 0)
            at[i].dtype = CG_LIT(MODEL_NO_DTYPE);
    }
}

/* --- what belongs to a component --- */

enum { OF_MODULES, OF_PARAMETERS, OF_ENTRYPOINTS, OF_COUNT };

static sc_strs *list_of(model_component *component, size_t kind)
{
    if (kind == OF_MODULES)
        return &component->modules;
    return kind == OF_PARAMETERS ? &component->parameters : &component->entrypoints;
}

/* One record and the component it belongs to; false: to none. */
static bool owner_of(const model_doc *doc, size_t kind, size_t record, const text_index *ids,
                     const text_index *names, size_t *ret_component, cg_str *ret_id)
{
    if (kind == OF_MODULES) {
        const model_module *module = MODEL_AT(doc->modules, model_module, record);

        *ret_id = module->id;
        *ret_component = index_find(ids, module->component);
    } else if (kind == OF_PARAMETERS) {
        const model_parameter *parameter = MODEL_AT(doc->parameters, model_parameter, record);

        *ret_id = parameter->id;
        *ret_component = index_find(ids, parameter->component);
    } else {
        const model_function *function = MODEL_AT(doc->functions, model_function, record);

        *ret_id = function->id;
        *ret_component =
            function->is_entrypoint ? index_find(names, function->owner_type) : INDEX_NONE;
    }
    return *ret_component != INDEX_NONE;
}

static size_t count_of(const model_doc *doc, size_t kind)
{
    if (kind == OF_MODULES)
        return doc->modules.count;
    return kind == OF_PARAMETERS ? doc->parameters.count : doc->functions.count;
}

/* The ids of one kind, added to what the components already list. */
static bool list_members(model_document *to, size_t kind, const text_index *ids,
                         const text_index *names, size_t *counts)
{
    model_component *components = (model_component *)to->doc.components.at;
    size_t count = to->doc.components.count;
    size_t component;
    cg_str id;

    for (size_t i = 0; i < count; i++)
        counts[i] = list_of(&components[i], kind)->count;
    for (size_t i = 0; i < count_of(&to->doc, kind); i++) {
        if (owner_of(&to->doc, kind, i, ids, names, &component, &id))
            counts[component]++;
    }
    for (size_t i = 0; i < count; i++) {
        sc_strs *list = list_of(&components[i], kind);
        cg_str *at = arena_take(&to->mem, (counts[i] + 1) * sizeof *at);

        if (at == NULL)
            return false;
        if (list->count > 0)
            memcpy(at, list->at, list->count * sizeof *at);
        list->at = at;
    }
    for (size_t i = 0; i < count_of(&to->doc, kind); i++) {
        if (owner_of(&to->doc, kind, i, ids, names, &component, &id)) {
            sc_strs *list = list_of(&components[component], kind);

            ((cg_str *)list->at)[list->count++] = id;
        }
    }
    return true;
}

static bool list_all_members(model_document *to)
{
    text_index ids = {0};
    text_index names = {0};
    size_t size = (to->doc.components.count + 1) * sizeof(size_t);
    size_t *counts = heap_resize(to->heap, NULL, 0, size);
    bool is_done = counts != NULL &&
                   index_build(&ids, to->heap, &to->doc.components, sizeof(model_component),
                               offsetof(model_component, id)) &&
                   index_build(&names, to->heap, &to->doc.components, sizeof(model_component),
                               offsetof(model_component, qualified_name));

    for (size_t kind = 0; is_done && kind < OF_COUNT; kind++)
        is_done = list_members(to, kind, &ids, &names, counts);
    index_free(&ids);
    index_free(&names);
    heap_resize(to->heap, counts, counts != NULL ? size : 0, 0);
    return is_done;
}

static bool complete(model_draft *self, model_document *to)
{
    model_coverage *coverage = arena_zero(&to->mem, sizeof *coverage);

    if (coverage == NULL || !gather(self, to) || !name_findings(to) || !list_all_members(to))
        return false;
    name_dtypes(to);
    coverage->runtime_observations = self->runtime_observations;
    to->doc.schema = CG_LIT(MODEL_SCHEMA);
    to->doc.analysis_id = self->analysis_id.ptr != NULL ? self->analysis_id : CG_LIT("");
    to->doc.coverage = coverage;
    to->doc.cargo = self->cargo;
    to->doc.runtime = self->runtime;
    return fill_one(&table_model_cargo, self->cargo, &to->mem) &&
           fill_one(&table_model_runtime, self->runtime, &to->mem);
}

cg_code model_finish(model_draft *self, model_document *ret, cg_err *reterr)
{
    model_document made = {.heap = self->heap, .mem = self->mem};
    cg_code code = CG_OK;

    arena_init(&self->mem, self->heap);
    code =
        complete(self, &made) ? model_normalise_lists(&made, is_by_id, reterr) : err_nomem(reterr);
    model_draft_free(self);
    if (code != CG_OK) {
        arena_free(&made.mem);
        return code;
    }
    *ret = made;
    return CG_OK;
}
