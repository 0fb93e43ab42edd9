
#include <stdlib.h>
#include <string.h>

static bool text_add(cgpy_text *text, const char *bytes, size_t count)
{
    if (count > text->room - text->count) {
        size_t room = text->room < 4096 ? 4096 : text->room;

        while (count > room - text->count) {
            if (room > (size_t)-1 / 2) {
                return false;
            }
            room *= 2;
        }

        char *moved = realloc(text->bytes, room);

        if (moved == NULL) {
            return false;
        }
        text->bytes = moved;
        text->room = room;
    }
    if (count > 0) {
        memcpy(text->bytes + text->count, bytes, count);
        text->count += count;
    }
    return true;
}

static cg_code text_write(void *context, const char *bytes, size_t count)
{
    cgpy_text *text = context;

    if (!text_add(text, bytes, count)) {
        text->is_out_of_memory = true;
        return CG_OUTPUT;
    }
    return CG_OK;
}

cgpy_text *cgpy_text_new(void)
{
    return calloc(1, sizeof(cgpy_text));
}

void cgpy_text_free(cgpy_text *text)
{
    if (text != NULL) {
        free(text->bytes);
        free(text);
    }
}

cg_sink cgpy_text_sink(cgpy_text *text)
{
    cg_sink sink = {text, text_write};

    return sink;
}

void cgpy_spans_free(cgpy_spans *spans)
{
    if (spans == NULL) {
        return;
    }
    free(spans->start_ns);
    free(spans->is_closed);
    free(spans->ids.bytes);
    free(spans->names.bytes);
    free(spans->parents.bytes);
    free(spans);
}

/* One block for all numbers, one for all flags. */
static bool spans_room(cgpy_spans *spans, uint64_t count)
{
    size_t rows = count == 0 ? 1 : (size_t)count;
    uint64_t *numbers = calloc(rows, 7 * sizeof(uint64_t));
    bool *flags = calloc(rows, 4 * sizeof(bool));

    spans->start_ns = numbers;
    spans->is_closed = flags;
    if (numbers == NULL || flags == NULL) {
        return false;
    }
    spans->total_ns = numbers + rows;
    spans->self_ns = numbers + 2 * rows;
    spans->allocated_bytes = numbers + 3 * rows;
    spans->id_end = numbers + 4 * rows;
    spans->name_end = numbers + 5 * rows;
    spans->parent_end = numbers + 6 * rows;
    spans->is_measured = flags + rows;
    spans->has_allocated = flags + 2 * rows;
    spans->has_parent = flags + 3 * rows;
    return true;
}

cgpy_spans *cgpy_spans_of(const cg_run *run)
{
    cg_run_facts facts = {.size = sizeof facts};
    cgpy_spans *spans = calloc(1, sizeof *spans);
    cg_span span;

    cg_run_facts_of(run, &facts);
    if (spans == NULL || !spans_room(spans, facts.span_count)) {
        cgpy_spans_free(spans);
        return NULL;
    }
    for (uint64_t i = 0; i < facts.span_count && cg_run_span(run, i, &span); i++) {
        if (!text_add(&spans->ids, span.id.ptr, span.id.len) ||
            !text_add(&spans->names, span.name.ptr, span.name.len) ||
            !text_add(&spans->parents, span.parent_id.ptr, span.parent_id.len)) {
            cgpy_spans_free(spans);
            return NULL;
        }
        spans->id_end[i] = spans->ids.count;
        spans->name_end[i] = spans->names.count;
        spans->parent_end[i] = spans->parents.count;
        spans->has_parent[i] = span.parent_id.ptr != NULL;
        spans->start_ns[i] = span.start_ns;
        spans->total_ns[i] = span.total_ns;
        spans->self_ns[i] = span.self_ns;
        spans->is_closed[i] = span.is_closed;
        spans->is_measured[i] = span.is_measured;
        spans->has_allocated[i] = span.has_allocated;
        spans->allocated_bytes[i] = span.allocated_bytes;
        spans->count = i + 1;
    }
    return spans;
}
