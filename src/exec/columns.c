#include "exec/columns.h"

#include "base/num.h"
#include "base/sort.h"

void *column_take(heap *from, size_t count, size_t size)
{
    size_t bytes = 0;

    if (!num_mul(count > 0 ? count : 1, size, &bytes))
        return NULL;
    return heap_resize(from, NULL, 0, bytes);
}

void *column_zero(heap *from, size_t count, size_t size)
{
    void *column = column_take(from, count, size);

    if (column != NULL)
        memset(column, 0, (count > 0 ? count : 1) * size);
    return column;
}

void column_free(heap *from, void *column, size_t count, size_t size)
{
    if (column != NULL)
        heap_resize(from, column, (count > 0 ? count : 1) * size, 0);
}

bool column_sort(heap *from, uint32_t *items, size_t count, const uint64_t *keys)
{
    size_t i = 1;
    uint32_t *room;

    while (i < count && keys[items[i - 1]] <= keys[items[i]])
        i++;
    if (i >= count)
        return true;
    room = column_take(from, count, sizeof *room);
    if (room == NULL)
        return false;
    sort_by_u64(items, room, count, keys);
    column_free(from, room, count, sizeof *room);
    return true;
}

bool column_rank(void *rows, size_t size, uint32_t most, uint32_t *count, uint32_t place)
{
    char *at = (char *)rows + place * size;

    if (place >= most)
        return false;
    if (*count < most)
        (*count)++;
    memmove(at + size, at, (*count - 1 - place) * size);
    return true;
}

bool ranks_init(ranks *self, heap *from, const intern *texts)
{
    *self = (ranks){.heap = from, .texts = texts, .count = intern_count(texts)};
    self->of = column_zero(from, self->count, sizeof *self->of);
    return self->of != NULL;
}

void ranks_add(ranks *self, const sym *at, size_t stride, size_t count)
{
    const char *place = (const char *)at;

    for (size_t i = 0; i < count; i++, place += stride)
        self->of[*(const sym *)(const void *)place] = 1;
}

bool ranks_finish(ranks *self)
{
    size_t count = 0;
    uint32_t *items;
    uint32_t *room;
    uint64_t *keys;

    self->of[0] = 0;
    for (size_t i = 1; i < self->count; i++)
        count += self->of[i];
    items = column_take(self->heap, count, sizeof *items);
    room = column_take(self->heap, count, sizeof *room);
    keys = column_take(self->heap, count, sizeof *keys);
    if (items != NULL && room != NULL && keys != NULL) {
        size_t filled = 0;

        for (size_t i = 1; i < self->count; i++) {
            if (self->of[i] != 0)
                items[filled++] = (uint32_t)i;
        }
        sort_symbols(items, room, keys, count, self->texts);
        for (size_t i = 0; i < count; i++)
            self->of[items[i]] = (uint32_t)(i + 1);
    }
    bool is_done = items != NULL && room != NULL && keys != NULL;

    column_free(self->heap, items, count, sizeof *items);
    column_free(self->heap, room, count, sizeof *room);
    column_free(self->heap, keys, count, sizeof *keys);
    return is_done;
}

void ranks_free(ranks *self)
{
    column_free(self->heap, self->of, self->count, sizeof *self->of);
    self->of = NULL;
}
