#include "model/trail.h"

#include <stdarg.h>
#include <stdio.h>

bool trail_init(trail *self, heap *from)
{
    *self = (trail){.heap = from};
    arena_init(&self->mem, from);
    number_map_init(&self->used_places, from);
    trail_reset(self);
    if (self->roots.count && self->instances.count && self->parameters.count &&
        self->repeats.count && self->conditions.count && self->faults.count && self->events.count)
        return true;
    trail_free(self);
    return false;
}

/* Entry 0 of a table is nothing. */
#define CLEAR_TABLE(self, table)                                                                   \
    do {                                                                                           \
        (self)->table.count = 0;                                                                   \
        if (vec_add((self)->heap, &(self)->table))                                                 \
            memset((self)->table.at, 0, sizeof *(self)->table.at);                                 \
    } while (0)

void trail_reset(trail *self)
{
    CLEAR_TABLE(self, roots);
    CLEAR_TABLE(self, instances);
    CLEAR_TABLE(self, parameters);
    CLEAR_TABLE(self, repeats);
    CLEAR_TABLE(self, conditions);
    CLEAR_TABLE(self, faults);
    CLEAR_TABLE(self, events);
    self->unused_steps.count = 0;
    number_map_free(&self->used_places);
    number_map_init(&self->used_places, self->heap);
    arena_free(&self->mem);
    arena_init(&self->mem, self->heap);
    self->steps = 0;
    self->instance = 0;
    self->repeat = 0;
    self->condition = 0;
}

void trail_free(trail *self)
{
    vec_free(self->heap, &self->roots);
    vec_free(self->heap, &self->instances);
    vec_free(self->heap, &self->parameters);
    vec_free(self->heap, &self->repeats);
    vec_free(self->heap, &self->conditions);
    vec_free(self->heap, &self->unused_steps);
    vec_free(self->heap, &self->faults);
    vec_free(self->heap, &self->events);
    number_map_free(&self->used_places);
    arena_free(&self->mem);
}

/* --- adding --- */

static uint64_t hash_bytes(uint64_t hash, const void *at, size_t count)
{
    const unsigned char *byte = at;

    for (size_t i = 0; i < count; i++)
        hash = (hash ^ byte[i]) * 0x100000001b3u;
    return hash;
}

static uint64_t hash_pieces(uint64_t hash, text_pieces pieces)
{
    for (size_t i = 0; i < pieces.count; i++) {
        unsigned char hole = pieces.at[i].is_hole ? 0xff : 0;

        /* Literals run together: `a` `.b` is `a.b`. */
        if (hole)
            hash = hash_bytes(hash, &hole, 1);
        hash = hash_bytes(hash, pieces.at[i].text.ptr, pieces.at[i].text.len);
        if (hole)
            hash = hash_bytes(hash, &hole, 1);
    }
    return hash;
}

static uint64_t hash_key(uint32_t root, text_pieces key)
{
    uint64_t hash = hash_pieces(hash_bytes(0xcbf29ce484222325u, &root, sizeof root), key);

    return hash ? hash : 1;
}

bool trail_add_parameter(trail *self, const trail_parameter *entry)
{
    trail_parameter *to = vec_add(self->heap, &self->parameters);
    expr *shape = NULL;

    if (!to)
        return false;
    *to = *entry;
    if (entry->rank) {
        shape = arena_take(&self->mem, entry->rank * sizeof *shape);
        if (!shape) {
            self->parameters.count--;
            return false;
        }
        memcpy(shape, entry->shape, entry->rank * sizeof *shape);
        to->shape = shape;
    }
    to->instance = self->instance;
    to->repeat = self->repeat;
    if (self->condition)
        to->condition = self->condition;
    if (!to->condition && entry->root < self->roots.count &&
        self->roots.at[entry->root].is_optional) {
        cg_str text;

        if (!arena_format(&self->mem, &text, "when %.*s is given",
                          (int)self->roots.at[entry->root].name.len,
                          self->roots.at[entry->root].name.ptr))
            return false;
        to->condition = trail_add_condition(self, text);
        if (!to->condition)
            return false;
    }
    to->hash = hash_key(entry->root, entry->key);
    return true;
}

#define FAULTS_MOST 1000u

bool trail_add_fault(trail *self, const char *rule, model_place place, const char *format, ...)
{
    char text[512];
    trail_fault *to;
    cg_str message;
    va_list args;
    int length;

    for (size_t i = 1; i < self->faults.count; i++) {
        const trail_fault *old = &self->faults.at[i];

        if (old->place.file == place.file && old->place.start == place.start &&
            old->place.end == place.end && strcmp(old->rule, rule) == 0)
            return true;
    }
    /* Somebody who reads a thousand knows enough. */
    if (self->faults.count > FAULTS_MOST)
        return true;
    va_start(args, format);
    length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (length < 0)
        length = 0;
    message = (cg_str){text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1};
    to = vec_add(self->heap, &self->faults);
    if (!to)
        return false;
    *to = (trail_fault){.rule = rule, .place = place, .instance = self->instance};
    if (arena_text(&self->mem, message, &to->message))
        return true;
    self->faults.count--;
    return false;
}

uint32_t trail_add_instance(trail *self, const trail_instance *entry)
{
    trail_instance *to = vec_add(self->heap, &self->instances);

    if (!to)
        return 0;
    *to = *entry;
    if (!to->parent)
        to->parent = self->instance;
    to->repeat = self->repeat;
    if (self->condition)
        to->condition = self->condition;
    return (uint32_t)(self->instances.count - 1);
}

uint32_t trail_add_root(trail *self, const trail_root *entry)
{
    trail_root *to = vec_add(self->heap, &self->roots);

    if (!to)
        return 0;
    *to = *entry;
    return (uint32_t)(self->roots.count - 1);
}

uint32_t trail_add_condition(trail *self, cg_str text)
{
    size_t last = self->conditions.count - 1;
    cg_str *to;

    if (last > 0 && str_equal(self->conditions.at[last], text))
        return (uint32_t)last;
    to = vec_add(self->heap, &self->conditions);
    if (!to)
        return 0;
    if (!arena_text(&self->mem, text.ptr ? text : CG_LIT(""), to)) {
        self->conditions.count--;
        return 0;
    }
    return (uint32_t)(self->conditions.count - 1);
}

uint32_t trail_add_repeat(trail *self, const trail_repeat *entry)
{
    trail_repeat *to = vec_add(self->heap, &self->repeats);

    if (!to)
        return 0;
    *to = *entry;
    to->around = self->repeat;
    if (!arena_text(&self->mem, entry->text, &to->text)) {
        self->repeats.count--;
        return 0;
    }
    return (uint32_t)(self->repeats.count - 1);
}

bool trail_add_event(trail *self, const trail_event *entry)
{
    trail_event *to = vec_add(self->heap, &self->events);

    if (!to)
        return false;
    *to = *entry;
    to->parameters = (uint32_t)(self->parameters.count - 1);
    if (self->condition)
        to->condition = self->condition;
    return true;
}

/* --- steps --- */

static uint64_t place_key(model_place place)
{
    return number_map_key(place.file + 1, place.end);
}

bool trail_step_made(trail *self, const builder_step *step)
{
    builder_step *to;

    if (number_map_find(&self->used_places, place_key(step->place)))
        return true;
    to = vec_add(self->heap, &self->unused_steps);
    if (!to)
        return false;
    *to = *step;
    return true;
}

void trail_step_used(trail *self, const builder_step *step)
{
    uint64_t key;
    size_t kept = 0;

    if (!step)
        return;
    key = place_key(step->place);
    if (number_map_find(&self->used_places, key))
        return;
    /* Without memory the step is only reported as unused once more than it should be. */
    (void)number_map_put(&self->used_places, key, 1);
    for (size_t i = 0; i < self->unused_steps.count; i++) {
        if (place_key(self->unused_steps.at[i].place) != key)
            self->unused_steps.at[kept++] = self->unused_steps.at[i];
    }
    self->unused_steps.count = kept;
}

/* --- alternatives --- */

trail_mark trail_position(const trail *self)
{
    return (trail_mark){self->parameters.count, self->instances.count, self->faults.count,
                        self->events.count};
}

void trail_forget(trail *self, trail_mark mark)
{
    self->parameters.count = mark.parameters;
    self->instances.count = mark.instances;
    self->faults.count = mark.faults;
    self->events.count = mark.events;
}

bool trail_arrange(trail *self, size_t begin, const trail_span *spans, size_t count)
{
    size_t total = self->parameters.count - begin, at = 0;
    arena_place place = arena_mark(&self->mem);
    trail_parameter *copy;

    if (!total)
        return true;
    copy = arena_take(&self->mem, total * sizeof *copy);
    if (!copy)
        return false;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = spans[i].start; j < spans[i].end && at < total; j++)
            copy[at++] = self->parameters.at[j];
    }
    memcpy(self->parameters.at + begin, copy, at * sizeof *copy);
    arena_reset(&self->mem, place);
    return true;
}

/* Entries of several ways that are the same. */
typedef struct join_group {
    size_t first;
    uint32_t last_way;
    uint32_t returning; /* ways that return and have it */
    uint32_t in_way;    /* condition within the last way */
    uint32_t condition; /* over the ways before */
} join_group;

typedef struct joining {
    trail *trail;
    const trail_mark *marks;
    size_t ways;
    const bool *returns;
    uint32_t returning;
    cg_str text;
    uint32_t condition; /* id of text, made when needed */
    bool failed;
} joining;

static uint32_t outer_condition(joining *self)
{
    if (self->trail->condition)
        return self->trail->condition;
    if (!self->condition) {
        self->condition = trail_add_condition(self->trail, self->text);
        self->failed |= !self->condition;
    }
    return self->condition;
}

static void group_in_way(joining *self, join_group *group, uint32_t way, uint32_t condition)
{
    if (condition == self->trail->condition)
        condition = 0;
    if (group->last_way == way) {
        /* Asked for twice: once for certain is certain. */
        if (!condition)
            group->in_way = 0;
        return;
    }
    if (self->returns[group->last_way] && group->in_way)
        group->condition = group->in_way;
    group->last_way = way;
    group->in_way = condition;
    group->returning += self->returns[way];
}

static uint32_t group_condition(joining *self, join_group *group)
{
    if (group->returning < self->returning || !self->returning)
        return outer_condition(self);
    if (self->returns[group->last_way] && group->in_way)
        group->condition = group->in_way;
    return group->condition ? group->condition : self->trail->condition;
}

static bool same_pieces(text_pieces a, text_pieces b)
{
    size_t i = 0, j = 0, x = 0, y = 0;

    /* Literals may be cut differently. */
    while (i < a.count && j < b.count) {
        const text_piece *left = &a.at[i], *right = &b.at[j];

        if (left->is_hole != right->is_hole)
            return false;
        if (left->is_hole) {
            if (!str_equal(left->text, right->text) || left->width != right->width ||
                left->fill != right->fill)
                return false;
            i++, j++, x = 0, y = 0;
            continue;
        }
        while (x < left->text.len && y < right->text.len) {
            if (left->text.ptr[x] != right->text.ptr[y])
                return false;
            x++, y++;
        }
        if (x == left->text.len)
            i++, x = 0;
        if (y == right->text.len)
            j++, y = 0;
    }
    while (i < a.count && !a.at[i].is_hole && a.at[i].text.len == 0)
        i++;
    while (j < b.count && !b.at[j].is_hole && b.at[j].text.len == 0)
        j++;
    return i == a.count && j == b.count;
}

static void merge_shapes(trail_parameter *to, const trail_parameter *other)
{
    to->is_mixed |= other->is_mixed;
    if (to->is_mixed)
        to->has_shape = false;
    if (!other->has_shape || to->is_mixed)
        return;
    if (!to->has_shape) {
        to->has_shape = true;
        to->shape = other->shape;
        to->rank = other->rank;
        return;
    }
    if (to->rank != other->rank) {
        to->has_shape = false;
        to->is_mixed = true;
        return;
    }
    for (uint32_t i = 0; i < to->rank; i++) {
        if (to->shape[i] != other->shape[i])
            ((expr *)to->shape)[i] = EXPR_NONE; /* a copy of ours, see trail_add_parameter */
    }
}

/* The groups of a table's entries; `map` leads from hashes to them. */
static join_group *group_of(joining *self, number_map *map, join_group *groups, size_t *count,
                            uint64_t hash, size_t first, uint32_t way)
{
    uint32_t *slot = number_map_put(map, hash, (uint32_t)*count);

    if (!slot) {
        self->failed = true;
        return NULL;
    }
    if (*slot == *count) {
        groups[(*count)++] = (join_group){.first = first, .last_way = way, .in_way = UINT32_MAX};
        groups[*slot].returning = self->returns[way];
    }
    return &groups[*slot];
}

static void join_parameters(joining *self)
{
    trail *track = self->trail;
    size_t begin = self->marks[0].parameters, end = self->marks[self->ways].parameters;
    size_t count = 0, to = begin;
    arena_place place = arena_mark(&track->mem);
    uint32_t had_condition = self->condition;
    number_map map;
    join_group *groups;

    if (begin == end)
        return;
    groups = arena_take(&track->mem, (end - begin) * sizeof *groups);
    uint32_t *group_by_entry = arena_take(&track->mem, (end - begin) * sizeof *group_by_entry);

    if (!groups || !group_by_entry) {
        self->failed = true;
        return;
    }
    number_map_init(&map, track->heap);
    for (uint32_t way = 0; way < self->ways; way++) {
        for (size_t i = self->marks[way].parameters; i < self->marks[way + 1].parameters; i++) {
            trail_parameter *entry = &track->parameters.at[i];
            join_group *group = group_of(self, &map, groups, &count, entry->hash, i, way);

            if (!group)
                break;
            group_by_entry[i - begin] = (uint32_t)(group - groups);
            if (group->in_way == UINT32_MAX) {
                group->in_way = entry->condition == track->condition ? 0 : entry->condition;
            } else if (!same_pieces(track->parameters.at[group->first].key, entry->key)) {
                group_by_entry[i - begin] = UINT32_MAX; /* hashes met by accident */
            } else {
                group_in_way(self, group, way, entry->condition);
            }
        }
    }
    for (size_t i = begin; i < end && !self->failed; i++) {
        trail_parameter *entry = &track->parameters.at[i];
        uint32_t which = group_by_entry[i - begin];

        if (which == UINT32_MAX) {
            entry->condition = outer_condition(self);
            track->parameters.at[to++] = *entry;
        } else if (groups[which].first == i) {
            entry->condition = group_condition(self, &groups[which]);
            groups[which].first = to;
            /* Later entries are met with `first` below their index. */
            track->parameters.at[to++] = *entry;
        } else {
            merge_shapes(&track->parameters.at[groups[which].first], entry);
        }
    }
    if (!self->failed) {
        size_t behind = track->parameters.count - end;

        memmove(track->parameters.at + to, track->parameters.at + end,
                behind * sizeof *track->parameters.at);
        track->parameters.count = to + behind;
    }
    if (self->condition == had_condition)
        arena_reset(&track->mem, place);
    number_map_free(&map);
}

static uint64_t hash_instance(const trail_instance *entry, uint32_t parent)
{
    uint64_t hash = hash_key(entry->root, entry->prefix);

    hash = hash_bytes(hash, &parent, sizeof parent);
    hash = hash_bytes(hash, &entry->type, sizeof entry->type);
    hash = hash_bytes(hash, &entry->constructor, sizeof entry->constructor);
    return hash ? hash : 1;
}

/* The same module on every way is one module. */
static void join_instances(joining *self)
{
    trail *track = self->trail;
    size_t begin = self->marks[0].instances, end = self->marks[self->ways].instances;
    size_t count = 0, to = begin, total = end - begin;
    number_map map;
    join_group *groups;
    uint32_t *moved, *group_by_entry;

    if (begin == end)
        return;
    groups = arena_take(&track->mem, total * sizeof *groups);
    moved = arena_take(&track->mem, total * sizeof *moved);
    group_by_entry = arena_take(&track->mem, total * sizeof *group_by_entry);
    if (!groups || !moved || !group_by_entry) {
        self->failed = true;
        return;
    }
    number_map_init(&map, track->heap);
    /* Parents stand before their children, so they are already grouped. */
    for (uint32_t way = 0; way < self->ways; way++) {
        for (size_t i = self->marks[way].instances; i < self->marks[way + 1].instances; i++) {
            trail_instance *entry = &track->instances.at[i];
            uint32_t parent = entry->parent;

            if (parent >= begin && parent < i)
                parent = (uint32_t)groups[group_by_entry[parent - begin]].first;
            join_group *group =
                group_of(self, &map, groups, &count, hash_instance(entry, parent), i, way);

            if (!group)
                break;
            group_by_entry[i - begin] = (uint32_t)(group - groups);
            if (group->in_way == UINT32_MAX)
                group->in_way = entry->condition == track->condition ? 0 : entry->condition;
            else
                group_in_way(self, group, way, entry->condition);
        }
    }
    for (size_t i = begin; i < end && !self->failed; i++) {
        trail_instance *entry = &track->instances.at[i];
        join_group *group = &groups[group_by_entry[i - begin]];

        if (group->first != i) {
            /* `first` is the new place already, below i: the entry there was moved to it. */
            moved[i - begin] = (uint32_t)group->first;
            continue;
        }
        entry->condition = group_condition(self, group);
        if (entry->parent >= begin && entry->parent < end)
            entry->parent = moved[entry->parent - begin];
        group->first = to;
        moved[i - begin] = (uint32_t)to;
        track->instances.at[to++] = *entry;
    }
    if (!self->failed && to < end) {
        size_t behind = track->instances.count - end;
        uint32_t less = (uint32_t)(end - to);

        memmove(track->instances.at + to, track->instances.at + end,
                behind * sizeof *track->instances.at);
        track->instances.count = to + behind;
        for (size_t i = to; i < track->instances.count; i++) {
            uint32_t *parent = &track->instances.at[i].parent;

            *parent = *parent >= end     ? *parent - less
                      : *parent >= begin ? moved[*parent - begin]
                                         : *parent;
        }
        for (size_t i = self->marks[0].parameters; i < track->parameters.count; i++) {
            uint32_t *instance = &track->parameters.at[i].instance;

            *instance = *instance >= end     ? *instance - less
                        : *instance >= begin ? moved[*instance - begin]
                                             : *instance;
        }
        for (size_t i = self->marks[0].faults; i < track->faults.count; i++) {
            uint32_t *instance = &track->faults.at[i].instance;

            *instance = *instance >= end     ? *instance - less
                        : *instance >= begin ? moved[*instance - begin]
                                             : *instance;
        }
    }
    number_map_free(&map);
}

bool trail_join(trail *self, const trail_mark *marks, size_t ways, const bool *returns,
                cg_str condition)
{
    joining work = {
        .trail = self, .marks = marks, .ways = ways, .returns = returns, .text = condition};

    for (size_t i = 0; i < ways; i++)
        work.returning += returns[i];
    if (ways < 2)
        return true;
    /* Instances first: marks of parameters stay good until theirs are joined. */
    join_instances(&work);
    join_parameters(&work);
    for (size_t i = marks[0].events; i < marks[ways].events && !work.failed; i++) {
        bool is_alone = false;

        for (size_t way = 0; way < ways; way++)
            is_alone |= work.returning == 1 && returns[way] && i >= marks[way].events &&
                        i < marks[way + 1].events;
        if (!is_alone && !self->events.at[i].condition)
            self->events.at[i].condition = outer_condition(&work);
    }
    return !work.failed;
}
