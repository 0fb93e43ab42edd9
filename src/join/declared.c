#include "join/declared.h"

#include "base/sort.h"

#define NONE DECLARED_NONE

#define ENDS 16u /* segments of the longest end of a path that is looked up */

#define RECORD(self, list, type, place) MODEL_AT((self)->doc->list, type, place)

/* --- names --- */

void declared_squeeze(cg_str name, buf *out)
{
    for (size_t i = 0; i < name.len; i++) {
        char byte = name.ptr[i];

        if (byte >= 'A' && byte <= 'Z')
            byte = (char)(byte - 'A' + 'a');
        if (byte != '_' && byte != '-' && byte != ' ')
            buf_byte(out, byte);
    }
}

/* Cut off the last segment of a path; the rest moves into `name`. */
static cg_str take_last(cg_str *name)
{
    size_t at = name->len;
    cg_str last;

    while (at > 0 && name->ptr[at - 1] != ':' && name->ptr[at - 1] != '.' &&
           name->ptr[at - 1] != '/')
        at--;
    last = (cg_str){name->ptr + at, name->len - at};
    while (at > 0 &&
           (name->ptr[at - 1] == ':' || name->ptr[at - 1] == '.' || name->ptr[at - 1] == '/'))
        at--;
    name->len = at;
    return last;
}

void declared_operation_name(cg_str name, buf *out)
{
    cg_str last = take_last(&name);

    if (name.len > 0 && str_equal(last, CG_LIT("forward")))
        last = take_last(&name);
    declared_squeeze(last, out);
}

/* --- items --- */

uint8_t declared_kind(const declared *self, uint32_t item)
{
    uint8_t kind = 0;

    while (item >= self->first[kind + 1])
        kind++;
    return kind;
}

static bool take_columns(declared *self)
{
    size_t items = declared_count(self) + self->doc->parameters.count + 1;
    uint32_t **columns[] = {&self->component_of,  &self->parent_of,        &self->function_of,
                            &self->layer_of,      &self->next_in_function, &self->next_of_name,
                            &self->next_in_layer, &self->first_held};

    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        *columns[i] = arena_take(&self->mem, items * sizeof **columns[i]);
        if (*columns[i] == NULL)
            return false;
        memset(*columns[i], 0xff, items * sizeof **columns[i]);
    }
    self->is_home = arena_zero(&self->mem, (self->doc->operations.count + 1) * sizeof(bool));
    return self->is_home != NULL;
}

static bool begin(declared *self, uint64_t seed)
{
    const model_doc *doc = self->doc;
    const size_t counts[] = {doc->components.count, doc->modules.count,    doc->functions.count,
                             doc->operations.count, doc->parameters.count, doc->tensors.count};

    for (size_t kind = 0; kind < JOIN_ITEM_WORD_COUNT; kind++)
        self->first[kind + 1] = self->first[kind] + (uint32_t)counts[kind];
    self->first[DECLARED_KINDS] = self->first[DECLARED_LAYER];
    return path_index_init(&self->keys, self->heap, seed) &&
           path_index_init(&self->key_ends, self->heap, seed) &&
           path_index_init(&self->modules, self->heap, seed) &&
           path_index_init(&self->module_ends, self->heap, seed) &&
           path_index_init(&self->fields, self->heap, seed) &&
           path_index_init(&self->field_ends, self->heap, seed) &&
           path_index_init(&self->functions, self->heap, seed) &&
           path_index_init(&self->types, self->heap, seed) &&
           intern_init(&self->names, self->heap, seed) && take_columns(self) &&
           index_build(&self->component_ids, self->heap, &doc->components, sizeof(model_component),
                       offsetof(model_component, id)) &&
           index_build(&self->module_ids, self->heap, &doc->modules, sizeof(model_module),
                       offsetof(model_module, id)) &&
           index_build(&self->function_ids, self->heap, &doc->functions, sizeof(model_function),
                       offsetof(model_function, id));
}

static uint32_t find_id(const text_index *ids, cg_str id)
{
    size_t at = id.ptr != NULL && id.len > 0 ? index_find(ids, id) : INDEX_NONE;

    return at == INDEX_NONE ? NONE : (uint32_t)at;
}

/* --- paths --- */

static bool add_alias(declared *self, path_index *to, cg_str path, declared_alias alias)
{
    declared_alias *fresh = vec_add(self->heap, &self->aliases);

    if (fresh == NULL)
        return false;
    *fresh = alias;
    return path_index_add(to, path, (uint32_t)(self->aliases.count - 1));
}

static bool is_separator(char byte)
{
    return byte == '.' || byte == ':' || byte == '/';
}

/* What follows each of the last separators of a path, from `least` segments on. */
static bool add_ends(declared *self, path_index *to, cg_str path, unsigned least,
                     declared_alias alias)
{
    unsigned segments = 0;

    for (size_t at = path.len; at-- > 1 && segments < ENDS;) {
        if (!is_separator(path.ptr[at - 1]) || is_separator(path.ptr[at]))
            continue;
        if (++segments >= least &&
            !add_alias(self, to, (cg_str){path.ptr + at, path.len - at}, alias))
            return false;
    }
    return true;
}

static bool join_path(declared *self, cg_str prefix, cg_str path, cg_str *ret)
{
    *ret = path;
    if (prefix.len == 0)
        return true;
    if (path.len == 0) {
        *ret = prefix;
        return true;
    }
    return arena_format(&self->mem, ret, "%.*s.%.*s", (int)prefix.len, prefix.ptr, (int)path.len,
                        path.ptr);
}

/* --- units: builders, and prefixes that a driver puts in front --- */

static bool add_unit(declared *self, uint32_t component, cg_str root, cg_str prefix)
{
    declared_unit *fresh;

    for (size_t i = self->units.count; i-- > 0 && self->units.at[i].component == component;) {
        if (str_equal(self->units.at[i].root, root) && str_equal(self->units.at[i].prefix, prefix))
            return true;
    }
    fresh = vec_add(self->heap, &self->units);
    if (fresh == NULL)
        return false;
    *fresh = (declared_unit){component, root, prefix};
    return true;
}

static bool prefix_of(declared *self, const model_assembly *site, cg_str *ret)
{
    *ret = CG_LIT("");
    for (size_t i = 0; i < site->prefix_chain.count; i++) {
        if (!join_path(self, *ret, site->prefix_chain.at[i], ret))
            return false;
    }
    return true;
}

/* Records of the document by component: the first of each, and who follows whom. */
typedef struct by_component {
    uint32_t *first, *next;
} by_component;

static bool by_component_make(declared *self, size_t count, by_component *ret)
{
    size_t components = self->doc->components.count + 1;

    ret->first = arena_take(&self->mem, components * sizeof *ret->first);
    ret->next = arena_take(&self->mem, (count + 1) * sizeof *ret->next);
    if (ret->first == NULL || ret->next == NULL)
        return false;
    memset(ret->first, 0xff, components * sizeof *ret->first);
    return true;
}

/* Before all that were added: from the last record to the first. */
static void by_component_add(declared *self, by_component *to, cg_str component, uint32_t record)
{
    uint32_t at = find_id(&self->component_ids, component);

    to->next[record] = at != NONE ? to->first[at] : NONE;
    if (at != NONE)
        to->first[at] = record;
}

static bool group_sites(declared *self, by_component *sites)
{
    if (!by_component_make(self, self->doc->assembly_sites.count, sites))
        return false;
    for (uint32_t i = (uint32_t)self->doc->assembly_sites.count; i-- > 0;)
        by_component_add(self, sites, RECORD(self, assembly_sites, model_assembly, i)->component,
                         i);
    return true;
}

static bool group_parameters(declared *self, by_component *parameters)
{
    if (!by_component_make(self, self->doc->parameters.count, parameters))
        return false;
    for (uint32_t i = (uint32_t)self->doc->parameters.count; i-- > 0;)
        by_component_add(self, parameters, RECORD(self, parameters, model_parameter, i)->component,
                         i);
    return true;
}

/* What a driver puts in front; what is part of another component is found below that one. */
static bool add_prefixes(declared *self, uint32_t component, const by_component *sites)
{
    if (RECORD(self, components, model_component, component)->is_nested == BOOL_TRUE)
        return true;
    for (uint32_t site = sites->first[component]; site != NONE; site = sites->next[site]) {
        const model_assembly *from = RECORD(self, assembly_sites, model_assembly, site);
        cg_str prefix;

        if (!prefix_of(self, from, &prefix) ||
            !add_unit(self, component, from->builder_root, prefix))
            return false;
    }
    return true;
}

static bool make_units(declared *self)
{
    by_component sites;
    by_component parameters;

    if (!group_sites(self, &sites) || !group_parameters(self, &parameters))
        return false;
    for (uint32_t i = 0; i < self->doc->components.count; i++) {
        const model_component *component = RECORD(self, components, model_component, i);
        const model_builder *builders = component->builders.at;

        for (size_t k = 0; k < component->builders.count; k++) {
            if (!add_unit(self, i, builders[k].name, CG_LIT("")))
                return false;
        }
        for (uint32_t at = parameters.first[i]; at != NONE; at = parameters.next[at]) {
            if (!add_unit(self, i, RECORD(self, parameters, model_parameter, at)->builder_root,
                          CG_LIT("")))
                return false;
        }
        if (!add_prefixes(self, i, &sites))
            return false;
    }
    return true;
}

/* --- modules, parameters and their layers --- */

static bool add_path(declared *self, path_index *to, uint32_t item, cg_str path, cg_str root,
                     uint32_t component, const uint32_t *first_unit)
{
    if (component == NONE)
        return true;
    for (uint32_t at = first_unit[component]; at < first_unit[component + 1]; at++) {
        cg_str whole;

        if (!str_equal(self->units.at[at].root, root))
            continue;
        if (!join_path(self, self->units.at[at].prefix, path, &whole) ||
            !add_alias(self, to, whole, (declared_alias){.item = item, .unit = at}))
            return false;
        if (self->units.at[at].prefix.len == 0 &&
            !add_ends(self, to == &self->keys ? &self->key_ends : &self->module_ends, whole,
                      to == &self->keys ? 2 : 1, (declared_alias){.item = item, .unit = at}))
            return false;
    }
    return true;
}

static bool make_modules(declared *self, const uint32_t *first_unit)
{
    for (uint32_t i = 0; i < self->doc->modules.count; i++) {
        const model_module *module = RECORD(self, modules, model_module, i);
        uint32_t item = declared_item(self, JOIN_ITEM_MODULE, i);
        uint32_t component = find_id(&self->component_ids, module->component);

        self->component_of[item] = component;
        self->parent_of[item] = find_id(&self->module_ids, module->parent);
        if (!add_path(self, &self->modules, item, module->prefix, module->builder_root, component,
                      first_unit))
            return false;
        buf_clear(&self->room);
        declared_squeeze(module->type_name, &self->room);
        if (module->parent.ptr != NULL &&
            (self->room.failed || !add_alias(self, &self->types, buf_text(&self->room),
                                             (declared_alias){.item = item, .unit = NONE})))
            return false;
    }
    return true;
}

/* What counts the copies of a module, with its dots: `.{i}` of `model.layers.{i}`. */
static cg_str copies_of(cg_str prefix)
{
    size_t at = prefix.len;

    while (at > 0 && prefix.ptr[at - 1] == '}') {
        size_t open = at;

        while (open > 0 && prefix.ptr[open - 1] != '.')
            open--;
        if (open == 0 || prefix.ptr[open] != '{')
            break;
        at = open - 1;
    }
    return (cg_str){prefix.ptr + at, prefix.len - at};
}

#define FIELDS 16u /* modules inside each other, of which the fields make a path */

/* The fields from the outermost module to this one: `layers.{i}.attention`. Empty: it has none. */
static void put_fields(const declared *self, const model_module *module, buf *out)
{
    const model_module *around[FIELDS];
    size_t count = 0;

    while (module->field.ptr != NULL && module->field.len > 0 && count < FIELDS) {
        uint32_t parent = find_id(&self->module_ids, module->parent);

        around[count++] = module;
        if (parent == NONE)
            break;
        module = RECORD(self, modules, model_module, parent);
    }
    while (count-- > 0) {
        if (out->len > 0)
            buf_byte(out, '.');
        buf_add(out, around[count]->field);
        buf_add(out, copies_of(around[count]->prefix));
    }
}

static bool add_fields(declared *self, uint32_t item, cg_str path)
{
    declared_alias alias = {.item = item, .unit = NONE};
    cg_str kept;

    if (self->room.failed || !arena_text(&self->mem, path, &kept))
        return false;
    return add_alias(self, &self->fields, kept, alias) &&
           add_ends(self, &self->field_ends, kept, 1, alias);
}

/* A module is called by its field too, below the fields around it or below the path of its parent,
   and the copies of one by the field alone. */
static bool make_fields(declared *self)
{
    for (uint32_t i = 0; i < self->doc->modules.count; i++) {
        const model_module *module = RECORD(self, modules, model_module, i);
        uint32_t item = declared_item(self, JOIN_ITEM_MODULE, i);
        uint32_t parent = self->parent_of[item];
        cg_str copies = copies_of(module->prefix);
        buf *room = &self->room;

        if (module->field.ptr == NULL || module->field.len == 0 || parent == NONE)
            continue;
        buf_clear(room);
        put_fields(self, module, room);
        if (!add_fields(self, item, buf_text(room)) ||
            (copies.len > 0 && !add_fields(self, item, (cg_str){room->at, room->len - copies.len})))
            return false;
        buf_clear(room);
        buf_add(room, RECORD(self, modules, model_module, parent)->prefix);
        if (room->len == 0)
            continue;
        buf_byte(room, '.');
        buf_add(room, module->field);
        buf_add(room, copies);
        if (!add_fields(self, item, buf_text(room)))
            return false;
    }
    return true;
}

static cg_str parent_path(cg_str key)
{
    size_t dot = str_find_last(key, '.');

    return dot == SIZE_MAX ? CG_LIT("") : (cg_str){key.ptr, dot};
}

/* The layer at `prefix` of a component's builder; made when it is new. */
static uint32_t layer_at(declared *self, number_map *known, intern *paths, uint32_t unit,
                         cg_str prefix)
{
    sym path = intern_add(paths, prefix);
    uint32_t *at = path != 0 ? number_map_put(known, number_map_key(unit + 1, path), NONE) : NULL;
    declared_layer *fresh;

    if (at == NULL)
        return NONE;
    if (*at == NONE) {
        fresh = vec_add(self->heap, &self->layers);
        if (fresh == NULL)
            return NONE;
        *fresh = (declared_layer){prefix, unit, NONE};
        *at = (uint32_t)(self->layers.count - 1);
    }
    return *at;
}

static bool make_parameters(declared *self, const uint32_t *first_unit, intern *paths,
                            number_map *known)
{
    for (uint32_t i = (uint32_t)self->doc->parameters.count; i-- > 0;) {
        const model_parameter *parameter = RECORD(self, parameters, model_parameter, i);
        uint32_t item = declared_item(self, JOIN_ITEM_PARAMETER, i);
        uint32_t component = find_id(&self->component_ids, parameter->component);
        uint32_t module = find_id(&self->module_ids, parameter->module);
        cg_str prefix = parent_path(parameter->key);
        uint32_t at;
        uint32_t end;
        uint32_t layer;

        self->component_of[item] = component;
        self->parent_of[item] = module;
        if (component == NONE)
            continue;
        at = first_unit[component];
        end = first_unit[component + 1];
        while (at < end && (!str_equal(self->units.at[at].root, parameter->builder_root) ||
                            self->units.at[at].prefix.len > 0))
            at++;
        if (prefix.len == 0 || at == end ||
            (module != NONE &&
             str_equal(RECORD(self, modules, model_module, module)->prefix, prefix))) {
            if (module != NONE)
                self->first_held[module] = i;
            continue;
        }
        layer = layer_at(self, known, paths, at, prefix);
        if (layer == NONE)
            return false;
        self->layer_of[i] = layer;
        self->next_in_layer[i] = self->layers.at[layer].first;
        self->layers.at[layer].first = i;
    }
    for (uint32_t i = 0; i < self->doc->parameters.count; i++) {
        const model_parameter *parameter = RECORD(self, parameters, model_parameter, i);
        uint32_t item = declared_item(self, JOIN_ITEM_PARAMETER, i);

        if (!add_path(self, &self->keys, item, parameter->key, parameter->builder_root,
                      self->component_of[item], first_unit))
            return false;
    }
    return true;
}

static bool make_layers(declared *self, const uint32_t *first_unit)
{
    self->first[DECLARED_KINDS] = self->first[DECLARED_LAYER] + (uint32_t)self->layers.count;
    for (uint32_t i = 0; i < self->layers.count; i++) {
        const declared_layer *layer = &self->layers.at[i];
        const declared_unit *unit = &self->units.at[layer->unit];
        uint32_t item = declared_item(self, DECLARED_LAYER, i);

        self->component_of[item] = unit->component;
        self->parent_of[item] =
            self->parent_of[declared_item(self, JOIN_ITEM_PARAMETER, layer->first)];
        if (!add_path(self, &self->modules, item, layer->prefix, unit->root, unit->component,
                      first_unit))
            return false;
    }
    return true;
}

static bool make_paths(declared *self, uint64_t seed)
{
    uint32_t components = (uint32_t)self->doc->components.count;
    uint32_t *first_unit = arena_take(&self->mem, (components + 1) * sizeof *first_unit);
    number_map known;
    intern paths;
    uint32_t at = 0;
    bool is_good;

    if (first_unit == NULL || !intern_init(&paths, self->heap, seed))
        return false;
    number_map_init(&known, self->heap);
    for (uint32_t i = 0; i <= components; i++) {
        while (at < self->units.count && self->units.at[at].component < i)
            at++;
        first_unit[i] = at;
    }
    is_good = make_modules(self, first_unit) && make_fields(self) &&
              make_parameters(self, first_unit, &paths, &known) && make_layers(self, first_unit);
    number_map_free(&known);
    intern_free(&paths);
    return is_good;
}

/* --- components and functions --- */

static bool make_components(declared *self)
{
    for (uint32_t i = 0; i < self->doc->components.count; i++) {
        const model_component *component = RECORD(self, components, model_component, i);
        uint32_t item = declared_item(self, JOIN_ITEM_COMPONENT, i);

        self->component_of[item] = i;
        buf_clear(&self->room);
        declared_squeeze(component->name, &self->room);
        if (self->room.failed || !add_alias(self, &self->types, buf_text(&self->room),
                                            (declared_alias){.item = item, .unit = NONE}))
            return false;
    }
    return true;
}

/* Functions by the name of their owner, so that each finds its component in one step. */
static bool make_functions(declared *self, uint64_t seed)
{
    const model_doc *doc = self->doc;
    VEC(uint32_t) by_name = {0};
    intern owners;
    bool is_good = intern_init(&owners, self->heap, seed);

    if (!is_good)
        return false;
    for (uint32_t i = 0; is_good && i < doc->components.count; i++) {
        sym name =
            intern_add(&owners, RECORD(self, components, model_component, i)->qualified_name);

        is_good = name != 0 && vec_reserve(self->heap, &by_name, (size_t)name + 1);
        while (is_good && by_name.count <= name)
            by_name.at[by_name.count++] = NONE;
        if (is_good && by_name.at[name] == NONE)
            by_name.at[name] = i;
    }
    for (uint32_t i = 0; is_good && i < doc->functions.count; i++) {
        const model_function *function = RECORD(self, functions, model_function, i);
        uint32_t item = declared_item(self, JOIN_ITEM_FUNCTION, i);
        cg_str owner = function->qualified_name;
        declared_alias alias = {.item = item, .unit = NONE, .is_whole = true};
        (void)take_last(&owner);
        sym name = function->owner_type.ptr != NULL ? intern_find(&owners, owner) : 0;

        if (name != 0 && name < by_name.count)
            self->component_of[item] = by_name.at[name];
        is_good = add_alias(self, &self->functions, function->qualified_name, alias);
        alias.is_whole = false;
        is_good = is_good && add_ends(self, &self->functions, function->qualified_name, 1, alias);
    }
    vec_free(self->heap, &by_name);
    intern_free(&owners);
    return is_good;
}

/* --- operations and tensors --- */

static bool link_name(declared *self, number_map *map, uint32_t scope, cg_str name, uint32_t item,
                      uint32_t *next)
{
    sym symbol = intern_add(&self->names, name);
    uint32_t *head =
        symbol != 0 ? number_map_put(map, number_map_key(scope + 1, symbol), NONE) : NULL;

    if (head == NULL)
        return false;
    next[item] = *head;
    *head = item;
    return true;
}

/* Where functions begin, file by file, so that the one around a place is found by halves. */
typedef struct function_place {
    cg_str file;
    uint64_t start;
    uint32_t function;
} function_place;

static bool place_before(const void *context, uint32_t a, uint32_t b)
{
    const function_place *places = context;
    int order = str_compare(places[a].file, places[b].file);

    return order != 0 ? order < 0 : places[a].start < places[b].start;
}

/* The last function that begins at or before the place; NONE: there is none in its file. */
static uint32_t function_around(const function_place *places, const uint32_t *order, size_t count,
                                const model_location *at)
{
    size_t low = 0;
    size_t high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const function_place *place = &places[order[middle]];
        int file = str_compare(place->file, at->file);

        if (file < 0 || (file == 0 && place->start <= at->byte_start))
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && str_equal(places[order[low - 1]].file, at->file)
               ? places[order[low - 1]].function
               : NONE;
}

static bool find_homes(declared *self)
{
    size_t functions = self->doc->functions.count;
    function_place *places = arena_take(&self->mem, (functions + 1) * sizeof *places);
    uint32_t *order = arena_take(&self->mem, (functions + 1) * sizeof *order);
    uint32_t *room = arena_take(&self->mem, (functions + 1) * sizeof *room);
    size_t count = 0;

    if (places == NULL || order == NULL || room == NULL)
        return false;
    for (uint32_t i = 0; i < functions; i++) {
        const model_location *at = RECORD(self, functions, model_function, i)->location;

        if (at == NULL)
            continue;
        places[count] = (function_place){at->file, at->byte_start, i};
        order[count] = (uint32_t)count;
        count++;
    }
    sort_with(order, room, count, place_before, places);
    for (uint32_t i = 0; i < self->doc->operations.count; i++) {
        const model_location *at = RECORD(self, operations, model_operation, i)->location;
        uint32_t function = self->function_of[declared_item(self, JOIN_ITEM_OPERATION, i)];

        self->is_home[i] =
            at != NULL && function != NONE && function_around(places, order, count, at) == function;
    }
    return true;
}

static bool make_operations(declared *self)
{
    const model_doc *doc = self->doc;

    for (uint32_t i = 0; i < doc->operations.count; i++)
        self->function_of[declared_item(self, JOIN_ITEM_OPERATION, i)] =
            find_id(&self->function_ids, RECORD(self, operations, model_operation, i)->function);
    if (!find_homes(self))
        return false;
    /* From the last to the first, so that a chain begins with the first. */
    for (uint32_t i = (uint32_t)doc->operations.count; i-- > 0;) {
        const model_operation *operation = RECORD(self, operations, model_operation, i);
        uint32_t item = declared_item(self, JOIN_ITEM_OPERATION, i);
        uint32_t function = self->function_of[item];

        if (function == NONE)
            continue;
        self->component_of[item] =
            self->component_of[declared_item(self, JOIN_ITEM_FUNCTION, function)];
        buf_clear(&self->room);
        declared_operation_name(operation->name, &self->room);
        if (self->room.failed || !link_name(self, &self->by_function, function,
                                            buf_text(&self->room), item, self->next_in_function))
            return false;
        if (self->is_home[i] &&
            !link_name(self, &self->by_name, 0, buf_text(&self->room), item, self->next_of_name))
            return false;
    }
    return true;
}

/* Contract tensors only: those of the dataflow have names that the analysis gave. */
static bool is_contract(const model_tensor *tensor)
{
    return str_starts_with(tensor->id, CG_LIT("tensor:function%3A"));
}

static bool make_tensors(declared *self)
{
    for (uint32_t i = (uint32_t)self->doc->tensors.count; i-- > 0;) {
        const model_tensor *tensor = RECORD(self, tensors, model_tensor, i);
        uint32_t item = declared_item(self, JOIN_ITEM_TENSOR, i);
        uint32_t function = find_id(&self->function_ids, tensor->owner_function);

        self->function_of[item] = function;
        if (function == NONE)
            continue;
        self->component_of[item] =
            self->component_of[declared_item(self, JOIN_ITEM_FUNCTION, function)];
        if (!is_contract(tensor))
            continue;
        /* A name of its own kind: a tensor and an operation may share one. */
        buf_clear(&self->room);
        buf_byte(&self->room, '=');
        buf_add(&self->room, tensor->name);
        if (self->room.failed || !link_name(self, &self->by_function, function,
                                            buf_text(&self->room), item, self->next_in_function))
            return false;
    }
    return true;
}

/* --- the whole --- */

cg_code declared_make(declared *self, heap *from, const model_doc *doc, uint64_t seed,
                      cg_err *reterr)
{
    bool is_good;

    memset(self, 0, sizeof *self);
    self->heap = from;
    self->doc = doc;
    arena_init(&self->mem, from);
    buf_init(&self->room, from, SIZE_MAX / 2);
    number_map_init(&self->by_function, from);
    number_map_init(&self->by_name, from);
    is_good = begin(self, seed) && make_units(self) && make_components(self) &&
              make_paths(self, seed) && make_functions(self, seed) && make_operations(self) &&
              make_tensors(self);
    if (is_good)
        return CG_OK;
    declared_free(self);
    return err_nomem(reterr);
}

void declared_free(declared *self)
{
    if (self->heap == NULL)
        return;
    path_index_free(&self->keys);
    path_index_free(&self->key_ends);
    path_index_free(&self->modules);
    path_index_free(&self->module_ends);
    path_index_free(&self->fields);
    path_index_free(&self->field_ends);
    path_index_free(&self->functions);
    path_index_free(&self->types);
    if (self->names.heap != NULL)
        intern_free(&self->names);
    index_free(&self->component_ids);
    index_free(&self->module_ids);
    index_free(&self->function_ids);
    number_map_free(&self->by_function);
    number_map_free(&self->by_name);
    vec_free(self->heap, &self->layers);
    vec_free(self->heap, &self->units);
    vec_free(self->heap, &self->aliases);
    buf_free(&self->room);
    arena_free(&self->mem);
    self->heap = NULL;
}

uint32_t declared_in_function(declared *self, uint32_t function, cg_str name, bool is_operation)
{
    uint32_t *head;
    sym symbol;

    buf_clear(&self->room);
    if (is_operation) {
        declared_operation_name(name, &self->room);
    } else {
        buf_byte(&self->room, '=');
        buf_add(&self->room, name);
    }
    symbol = self->room.failed ? 0 : intern_find(&self->names, buf_text(&self->room));
    head = symbol != 0 ? number_map_find(&self->by_function, number_map_key(function + 1, symbol))
                       : NULL;
    return head != NULL ? *head : NONE;
}

uint32_t declared_operation(declared *self, cg_str name)
{
    uint32_t *head;
    sym symbol;

    buf_clear(&self->room);
    declared_operation_name(name, &self->room);
    symbol = self->room.failed ? 0 : intern_find(&self->names, buf_text(&self->room));
    head = symbol != 0 ? number_map_find(&self->by_name, number_map_key(1, symbol)) : NULL;
    return head != NULL ? *head : NONE;
}
