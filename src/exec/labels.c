#include "base/sort.h"
#include "exec/questions.h"

/* The words of the records that carry the labels. */
cg_str label_kind_word(uint8_t kind)
{
    switch ((enum label_kind)kind) {
    case LABEL_SPAN: return CG_LIT("span");
    case LABEL_OP: return table_op.tag;
    case LABEL_TENSOR: return table_tensor_event.tag;
    case LABEL_TENSOR_STATS: return table_stats_event.tag;
    case LABEL_GRADIENT: return table_gradient.tag;
    case LABEL_DEVICE_INTERVAL: return table_device_interval.tag;
    case LABEL_KIND_COUNT: break;
    }
    return (cg_str){NULL, 0};
}

/* Counting by symbol: one round per kind of label, over one table of texts. */
typedef struct label_count {
    uint64_t count;
    sym first_span_id;
    uint32_t first_order;
} label_count;

typedef struct label_round {
    heap *heap;
    const intern *texts;
    VEC(label_count) counts; /* by symbol */
    VEC(sym) seen;
} label_round;

static bool label_see(label_round *round, sym label, sym span_id, uint32_t order)
{
    label_count *at;

    if (label == 0)
        return true;
    while (round->counts.count <= label) {
        label_count *fresh = vec_add(round->heap, &round->counts);

        if (fresh == NULL)
            return false;
        *fresh = (label_count){0};
    }
    at = &round->counts.at[label];
    if (at->count == 0) {
        sym *seen = vec_add(round->heap, &round->seen);

        if (seen == NULL)
            return false;
        *seen = label;
    }
    if (at->count == 0 || order < at->first_order) {
        at->first_span_id = span_id;
        at->first_order = order;
    }
    at->count++;
    return true;
}

/* `device clock`: what tells one time line of device intervals from the next. */
static sym label_joined(intern *texts, buf *text, cg_str left, char between, cg_str right)
{
    buf_clear(text);
    buf_add(text, left);
    buf_byte(text, between);
    buf_add(text, right);
    return text->failed ? 0 : intern_add(texts, buf_text(text));
}

static bool label_see_gradients(label_round *round, const trace_doc *trace, intern *joined,
                                buf *text)
{
    for (uint32_t i = 0; i < trace->gradients.count; i++) {
        const trace_gradient *event = &trace->gradients.at[i];
        sym label = label_joined(joined, text, trace_text(trace, event->root), '/',
                                 trace_text(trace, event->key));

        if (label == 0 || !label_see(round, label, 0, i))
            return false;
    }
    return true;
}

static bool label_see_intervals(label_round *round, const trace_doc *trace, intern *joined,
                                buf *text)
{
    for (uint32_t i = 0; i < trace->intervals.count; i++) {
        const trace_interval *event = &trace->intervals.at[i];
        sym label = label_joined(joined, text, trace_text(trace, event->device), ' ',
                                 trace_text(trace, event->clock_id));

        if (label == 0 || !label_see(round, label, event->span_id, i))
            return false;
    }
    return true;
}

static bool label_see_kind(label_round *round, const trace_doc *trace, enum label_kind kind,
                           intern *joined, buf *text)
{
    bool is_fine = true;

    switch (kind) {
    case LABEL_SPAN:
        for (uint32_t i = 0; is_fine && i < trace->spans.count; i++)
            is_fine = label_see(round, trace->spans.at[i].name, trace->spans.at[i].id,
                                trace->spans.at[i].order);
        return is_fine;
    case LABEL_OP:
        for (uint32_t i = 0; is_fine && i < trace->ops.count; i++)
            is_fine = label_see(round, trace->ops.at[i].name, trace->ops.at[i].span_id, i);
        return is_fine;
    case LABEL_TENSOR:
        for (uint32_t i = 0; is_fine && i < trace->tensors.count; i++)
            is_fine = label_see(round, trace->tensors.at[i].label, trace->tensors.at[i].span_id, i);
        return is_fine;
    case LABEL_TENSOR_STATS:
        for (uint32_t i = 0; is_fine && i < trace->stats.count; i++)
            is_fine = label_see(round, trace->stats.at[i].label, trace->stats.at[i].span_id, i);
        return is_fine;
    case LABEL_GRADIENT: return label_see_gradients(round, trace, joined, text);
    case LABEL_DEVICE_INTERVAL: return label_see_intervals(round, trace, joined, text);
    case LABEL_KIND_COUNT: break;
    }
    return true;
}

/* Rows of one kind, by label; texts of joined labels move into the list. */
static bool label_list_round(label_round *round, uint8_t kind, bool is_joined, label_list *list)
{
    size_t count = round->seen.count;
    arena work;
    uint32_t *room;
    uint64_t *keys;
    bool is_fine;

    arena_init(&work, round->heap);
    room = arena_take(&work, count * sizeof *room);
    keys = arena_take(&work, count * sizeof *keys);
    is_fine = room != NULL && keys != NULL &&
              vec_reserve(round->heap, &list->rows, list->rows.count + count);
    if (is_fine)
        sort_symbols(round->seen.at, room, keys, count, round->texts);
    for (size_t i = 0; is_fine && i < count; i++) {
        label_count *at = &round->counts.at[round->seen.at[i]];
        label_row *row = &list->rows.at[list->rows.count];

        *row = (label_row){.kind = kind,
                           .label = intern_text_of(round->texts, round->seen.at[i]),
                           .count = at->count,
                           .first_span_id = at->first_span_id};
        is_fine = !is_joined || arena_text(&list->arena, row->label, &row->label);
        list->rows.count++;
        *at = (label_count){0};
    }
    round->seen.count = 0;
    arena_free(&work);
    return is_fine;
}

static bool label_list_kinds(const trace_doc *trace, label_list *list)
{
    label_round plain = {.heap = list->heap, .texts = &trace->texts};
    label_round mixed = {.heap = list->heap};
    bool is_fine = true;

    for (uint8_t kind = 0; is_fine && kind < LABEL_KIND_COUNT; kind++) {
        bool is_joined = kind == LABEL_GRADIENT || kind == LABEL_DEVICE_INTERVAL;
        label_round *round = is_joined ? &mixed : &plain;
        intern joined;
        buf text;

        if (is_joined) {
            if (!intern_init(&joined, list->heap, trace->texts.seed)) {
                is_fine = false;
                break;
            }
            buf_init(&text, list->heap, SIZE_MAX);
            mixed.texts = &joined;
        }
        is_fine = label_see_kind(round, trace, kind, &joined, &text) &&
                  (round->seen.count == 0 || label_list_round(round, kind, is_joined, list));
        if (is_joined) {
            buf_free(&text);
            intern_free(&joined);
        }
    }
    vec_free(list->heap, &plain.counts);
    vec_free(list->heap, &plain.seen);
    vec_free(list->heap, &mixed.counts);
    vec_free(list->heap, &mixed.seen);
    return is_fine;
}

cg_code labels_build(heap *into, const evidence *from, label_list *ret, cg_err *reterr)
{
    label_list list = {.heap = into};

    arena_init(&list.arena, into);
    if (!label_list_kinds(from->trace, &list)) {
        labels_free(&list);
        return err_nomem(reterr);
    }
    *ret = list;
    return CG_OK;
}

void labels_free(label_list *list)
{
    vec_free(list->heap, &list->rows);
    arena_free(&list->arena);
}
