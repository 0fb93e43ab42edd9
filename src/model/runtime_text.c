#include "model/runtime_text.h"

#include <inttypes.h>

#include "base/sort.h"
#include "codec/escape.h"
#include "model/index.h"
#include "model/runtime_merge.h"

#define INDENT 2u

typedef struct page {
    const model_doc *doc;
    const runtime_facts *facts;
    const runtime_style *style;
    arena mem;
    buf *out;
} page;

static cg_str traced(const page *self, sym symbol)
{
    return runtime_text(self->facts->trace, symbol);
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* --- columns --- */

static size_t cells_of(cg_str text)
{
    size_t at = 0;
    size_t cells = 0;

    while (at < text.len)
        cells += str_cells(str_next(text, &at));
    return cells;
}

static void put_column(buf *out, cg_str text, size_t width)
{
    size_t cells = cells_of(text);

    esc_tty(out, text);
    buf_fill(out, ' ', cells < width ? width - cells : 0);
}

static void put_right(buf *out, const char *text, size_t width)
{
    size_t cells = cells_of(str_from(text));

    buf_fill(out, ' ', cells < width ? width - cells : 0);
    buf_add(out, str_from(text));
}

typedef struct time_text {
    char at[32];
} time_text;

static time_text time_of(uint64_t ns)
{
    static const struct {
        const char *unit;
        double size;
    } units[] = {{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}};
    time_text ret;

    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if ((double)ns >= units[i].size) {
            (void)snprintf(ret.at, sizeof ret.at, "%.2f %s", (double)ns / units[i].size,
                           units[i].unit);
            return ret;
        }
    }
    (void)snprintf(ret.at, sizeof ret.at, "%" PRIu64 " ns", ns);
    return ret;
}

/* --- gradients by module --- */

enum moved { NEVER_MOVED, NOT_FINITE, STOPPED, IN_DOUBT, MOVED, MOVED_COUNT };

static const char *const headings[MOVED_COUNT] = {
    "never moved", "not finite", "had a gradient, and lost it", "in doubt", "moved"};

typedef struct entry {
    enum moved moved;
    cg_str root;
    cg_str module;
    cg_str leaf;
    const gradient_fact *fact;
} entry;

static enum moved judge(const gradient_fact *fact)
{
    if (fact->states[GRADIENT_STATE_NON_FINITE] > 0 &&
        (fact->first_nonfinite != NULL ||
         (fact->headline != NULL && fact->headline->state == GRADIENT_STATE_NON_FINITE)))
        return NOT_FINITE;
    if (fact->headline == NULL || fact->disputed != NULL)
        return IN_DOUBT;
    if (fact->states[GRADIENT_STATE_PRESENT] == 0)
        return NEVER_MOVED;
    return fact->headline->state == GRADIENT_STATE_PRESENT ? MOVED : STOPPED;
}

static entry entry_of(const page *self, const gradient_fact *fact)
{
    cg_str key = traced(self, fact->key);
    size_t dot = str_find_last(key, '.');
    size_t start = dot == SIZE_MAX ? 0 : dot + 1;

    return (entry){.moved = judge(fact),
                   .root = traced(self, fact->root),
                   .module = {key.ptr, dot == SIZE_MAX ? 0 : dot},
                   .leaf = {key.ptr + start, key.len - start},
                   .fact = fact};
}

static bool entry_before(const void *context, uint32_t a, uint32_t b)
{
    const entry *x = (const entry *)context + a;
    const entry *y = (const entry *)context + b;
    int order;

    if (x->moved != y->moved)
        return x->moved < y->moved;
    order = str_compare(x->root, y->root);
    if (order == 0)
        order = str_compare(x->module, y->module);
    return order != 0 ? order < 0 : str_compare(x->leaf, y->leaf) < 0;
}

static bool list_entries(page *self, entry **ret)
{
    size_t count = self->facts->gradient_count;
    entry *found = arena_take(&self->mem, (count + 1) * sizeof *found);
    entry *sorted = arena_take(&self->mem, (count + 1) * sizeof *sorted);
    uint32_t *items = arena_take(&self->mem, (2 * count + 1) * sizeof *items);

    if (found == NULL || sorted == NULL || items == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        found[i] = entry_of(self, &self->facts->gradients[i]);
        items[i] = (uint32_t)i;
    }
    sort_with(items, items + count, count, entry_before, found);
    for (size_t i = 0; i < count; i++)
        sorted[i] = found[items[i]];
    *ret = sorted;
    return true;
}

static bool is_same_module(const entry *a, const entry *b)
{
    return a->moved == b->moved && str_equal(a->root, b->root) && str_equal(a->module, b->module);
}

static void say_fact(page *self, const entry *of)
{
    const gradient_fact *fact = of->fact;
    const runtime_gradient *at = fact->headline;
    buf *out = self->out;

    switch (of->moved) {
    case NEVER_MOVED:
        buf_byte(out, ' ');
        buf_add(out, runtime_state_word(at->state));
        break;
    case NOT_FINITE:
        if (fact->first_nonfinite != NULL)
            at = fact->first_nonfinite;
        if (at->has_step)
            buf_addf(out, " at step %" PRIu64, at->step);
        if (fact->first_nonfinite != NULL && fact->headline != NULL) {
            buf_add(out, CG_LIT(", later "));
            buf_add(out, runtime_state_word(fact->headline->state));
        }
        break;
    case STOPPED:
        buf_byte(out, ' ');
        buf_add(out, runtime_state_word(at->state));
        if (at->has_step)
            buf_addf(out, " at step %" PRIu64, at->step);
        break;
    case IN_DOUBT:
        if (fact->disputed != NULL && fact->disputed->has_step)
            buf_addf(out, " at step %" PRIu64, fact->disputed->step);
        break;
    case MOVED:
    case MOVED_COUNT: break;
    }
}

static void put_module_name(page *self, const entry *at, size_t width)
{
    cg_str module = at->module.len > 0 ? at->module : CG_LIT("(top)");
    size_t cells = cells_of(at->root) + 1 + cells_of(module);

    buf_fill(self->out, ' ', INDENT);
    esc_tty(self->out, at->root);
    buf_byte(self->out, ':');
    esc_tty(self->out, module);
    buf_fill(self->out, ' ', cells < width ? width - cells : 0);
    buf_add(self->out, CG_LIT("  "));
}

/* The parameters of one module, in as many lines as they take. */
static void put_module(page *self, const entry *at, size_t count, size_t width)
{
    size_t column = INDENT + width + 2;
    size_t used = column;

    put_module_name(self, at, width);
    if (at->moved == MOVED) {
        buf_addf(self->out, "%zu parameter%s\n", count, plural(count));
        return;
    }
    for (size_t i = 0; i < count; i++) {
        size_t before = self->out->len;
        size_t cells;

        if (i > 0)
            buf_add(self->out, CG_LIT(", "));
        esc_tty(self->out, at[i].leaf);
        say_fact(self, &at[i]);
        cells = self->out->len - before;
        if (i > 0 && used + cells > self->style->width && !self->out->failed) {
            /* Too long for this line: again, on the next one. */
            self->out->len = before;
            buf_add(self->out, CG_LIT(",\n"));
            buf_fill(self->out, ' ', column);
            esc_tty(self->out, at[i].leaf);
            say_fact(self, &at[i]);
            used = column;
        }
        used += cells;
    }
    buf_byte(self->out, '\n');
}

#define WIDEST_MODULE 48u

static size_t module_width(const entry *at, size_t count)
{
    size_t width = 0;

    for (size_t i = 0; i < count; i++) {
        size_t cells =
            cells_of(at[i].root) + 1 + (at[i].module.len > 0 ? cells_of(at[i].module) : 5);

        width = cells > width ? cells : width;
    }
    return width < WIDEST_MODULE ? width : WIDEST_MODULE;
}

static void put_part(page *self, const entry *at, size_t count)
{
    size_t width = module_width(at, count);
    size_t modules = 0;
    size_t shown = 0;

    buf_addf(self->out, "\n%s (%zu):\n", headings[at->moved], count);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i; end < count && is_same_module(&at[i], &at[end]);)
            end++;
        modules++;
        if (modules > self->style->rows)
            continue;
        put_module(self, &at[i], end - i, width);
        shown = end;
    }
    if (modules > self->style->rows)
        buf_addf(self->out, "  ... and %zu more in %zu modules (--rows)\n", count - shown,
                 modules - self->style->rows);
}

/* What is wrong first; what is not is not said. */
static void put_answer(page *self, const size_t *of, size_t count)
{
    static const char *const says[MOVED_COUNT] = {"never moved", "not finite", "lost the gradient",
                                                  "in doubt", "moved"};
    unsigned said = 0;

    if (of[MOVED] == count) {
        buf_addf(self->out, "every one of %zu parameter%s had a gradient\n", count, plural(count));
        return;
    }
    buf_addf(self->out, "of %zu parameter%s: ", count, plural(count));
    for (unsigned i = 0; i < MOVED_COUNT; i++) {
        if (of[i] > 0)
            buf_addf(self->out, "%s%zu %s", said++ > 0 ? ", " : "", of[i], says[i]);
    }
    buf_byte(self->out, '\n');
}

static void put_gradients(page *self)
{
    size_t count = self->facts->gradient_count;
    size_t of[MOVED_COUNT] = {0};
    entry *all = NULL;

    if (!list_entries(self, &all)) {
        self->out->failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++)
        of[all[i].moved]++;
    put_answer(self, of, count);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i; end < count && all[end].moved == all[i].moved;)
            end++;
        put_part(self, &all[i], end - i);
    }
}

/* --- the run --- */

static void put_findings(page *self)
{
    uint64_t count = 0;

    for (size_t i = 0; i < self->doc->findings.count; i++)
        count += str_starts_with(MODEL_AT(self->doc->findings, model_finding, i)->rule,
                                 CG_LIT(RUNTIME_RULES));
    if (count > 0)
        buf_addf(self->out,
                 "%" PRIu64 " finding%s about the run: query findings --select runtime-\n", count,
                 plural(count));
}

static void put_run(page *self)
{
    const model_runtime *run = self->doc->runtime;
    buf *out = self->out;

    esc_tty(out, run->entrypoint);
    buf_add(out, CG_LIT(", "));
    esc_tty(out, run->profile);
    if (run->execution_phase != MODEL_PHASE_NONE) {
        buf_add(out, CG_LIT(", "));
        buf_add(out, sc_word(&words_model_phase, run->execution_phase));
    }
    buf_add(out, CG_LIT(" ("));
    esc_tty(out, run->trace_schema);
    buf_add(out, CG_LIT("). True of this run, not of every one.\n"));
}

static void put_mismatches(page *self)
{
    for (size_t i = 0; i < self->doc->findings.count; i++) {
        const model_finding *at = MODEL_AT(self->doc->findings, model_finding, i);

        if (!str_equal(at->rule, CG_LIT("runtime-identity")))
            continue;
        esc_tty(self->out, at->message);
        buf_byte(self->out, '\n');
    }
}

static void put_counts(page *self)
{
    const model_runtime *run = self->doc->runtime;
    buf *out = self->out;

    buf_addf(out, "tensors     %" PRIu64 " observation%s, %" PRIu64 " conflict%s\n",
             run->tensor_observations, plural(run->tensor_observations), run->tensor_conflicts,
             plural(run->tensor_conflicts));
    buf_addf(out, "gradients   %" PRIu64 " observation%s, %" PRIu64 " conflict%s",
             run->gradient_observations, plural(run->gradient_observations),
             run->gradient_conflicts, plural(run->gradient_conflicts));
    if (run->first_non_finite_step.is_set)
        buf_addf(out, ", first not finite at step %" PRIu64, run->first_non_finite_step.value);
    buf_addf(out, "\nvalues      %" PRIu64 " observation%s, %" PRIu64 " saturating source%s\n",
             run->value_observations, plural(run->value_observations), run->saturating_activations,
             plural(run->saturating_activations));
    buf_addf(out, "operations  %" PRIu64 " observation%s", run->operation_observations,
             plural(run->operation_observations));
    if (run->avg_operation_duration_ns.is_set)
        buf_addf(out, ", mean %s (query profile)",
                 time_of(run->avg_operation_duration_ns.value).at);
    buf_byte(out, '\n');
}

static void put_nothing(page *self)
{
    buf_add(self->out, CG_LIT("no run: give what one recorded with --runtime-trace FILE\n"));
}

static page open_page(const model_doc *doc, const runtime_facts *facts, const runtime_style *style,
                      buf *out)
{
    page self = {.doc = doc, .facts = facts, .style = style, .out = out};

    arena_init(&self.mem, out->heap);
    return self;
}

void runtime_text_run(const model_doc *doc, const runtime_facts *facts, const runtime_style *style,
                      buf *out)
{
    page self = open_page(doc, facts, style, out);

    if (doc->runtime == NULL || facts == NULL) {
        put_nothing(&self);
        return;
    }
    put_mismatches(&self);
    if (facts->gradient_count > 0) {
        put_gradients(&self);
        buf_byte(out, '\n');
    }
    put_run(&self);
    put_counts(&self);
    put_findings(&self);
    arena_free(&self.mem);
}

/* --- times --- */

/* An operation with a time: of the model, or only in the trace. */
typedef struct timed {
    const model_timing *timing;
    const model_operation *of; /* NULL: the model has none of that id */
    cg_str name;
    cg_str id;
} timed;

static bool slower(const void *context, uint32_t a, uint32_t b)
{
    const timed *all = context;

    return all[a].timing->avg_ns > all[b].timing->avg_ns;
}

static void put_times(buf *out, const model_timing *timing)
{
    put_right(out, time_of(timing->avg_ns).at, 11);
    put_right(out, time_of(timing->min_ns).at, 11);
    put_right(out, time_of(timing->max_ns).at, 11);
    buf_addf(out, "  %8" PRIu64 "  ", timing->samples);
}

static void put_head(buf *out, const char *what)
{
    put_right(out, "mean", 11);
    put_right(out, "min", 11);
    put_right(out, "max", 11);
    buf_addf(out, "   samples  %s\n", what);
}

static bool list_timed(page *self, timed **ret, size_t *ret_count, size_t *ret_unknown)
{
    const sc_records *operations = &self->doc->operations;
    size_t most = operations->count + self->facts->operation_count;
    timed *found = arena_take(&self->mem, (most + 1) * sizeof *found);
    timed *sorted = arena_take(&self->mem, (most + 1) * sizeof *sorted);
    uint32_t *items = arena_take(&self->mem, (2 * most + 1) * sizeof *items);
    text_index ids = {0};
    size_t count = 0;

    *ret_unknown = 0;
    if (found == NULL || sorted == NULL || items == NULL ||
        !index_build(&ids, self->mem.heap, operations, sizeof(model_operation),
                     offsetof(model_operation, id)))
        return false;
    for (size_t i = 0; i < self->facts->operation_count; i++) {
        const operation_fact *fact = &self->facts->operations[i];
        cg_str id = traced(self, fact->static_id);
        size_t at = index_find(&ids, id);
        timed row = {&fact->timing, NULL, traced(self, operation_fact_at(self->facts, fact, 0)->op),
                     id};

        if (fact->timing.samples == 0)
            continue;
        if (at != INDEX_NONE) {
            row.of = MODEL_AT(*operations, model_operation, at);
            row.name = row.of->name;
        }
        *ret_unknown += at == INDEX_NONE;
        items[count] = (uint32_t)count;
        found[count++] = row;
    }
    index_free(&ids);
    sort_with(items, items + most, count, slower, found);
    for (size_t i = 0; i < count; i++)
        sorted[i] = found[items[i]];
    *ret = sorted;
    *ret_count = count;
    return true;
}

static cg_str function_name(const page *self, cg_str id)
{
    for (size_t i = 0; i < self->doc->functions.count; i++) {
        const model_function *at = MODEL_AT(self->doc->functions, model_function, i);

        if (str_equal(at->id, id))
            return at->qualified_name;
    }
    return id;
}

static void put_slowest(page *self)
{
    timed *rows = NULL;
    size_t count = 0;
    size_t unknown = 0;
    size_t shown;

    if (!list_timed(self, &rows, &count, &unknown)) {
        self->out->failed = true;
        return;
    }
    shown = count < self->style->rows ? count : self->style->rows;
    if (count == 0) {
        buf_add(self->out, CG_LIT("no operation with an id was timed\n"));
        return;
    }
    put_head(self->out, "operation");
    for (size_t i = 0; i < shown; i++) {
        put_times(self->out, rows[i].timing);
        put_column(self->out, rows[i].name, 16);
        buf_add(self->out, CG_LIT("  "));
        esc_tty(self->out,
                rows[i].of != NULL ? function_name(self, rows[i].of->function) : rows[i].id);
        if (rows[i].of != NULL) {
            buf_add(self->out, CG_LIT("  @"));
            esc_tty(self->out, rows[i].of->source);
        } else {
            buf_add(self->out, CG_LIT("  (not in this model)"));
        }
        buf_byte(self->out, '\n');
    }
    if (shown < count)
        buf_addf(self->out, "  ... and %zu more (--rows)\n", count - shown);
    if (unknown > 0)
        buf_addf(self->out,
                 "%zu of %zu ids are not in this model: scan with the features of the run\n",
                 unknown, count);
}

static void put_edges(page *self)
{
    size_t count = self->facts->edge_count;
    size_t shown = count < self->style->rows ? count : self->style->rows;

    if (count == 0)
        return;
    buf_byte(self->out, '\n');
    put_head(self->out, "edge");
    for (size_t i = 0; i < shown; i++) {
        const edge_fact *at = &self->facts->edges[i];

        put_times(self->out, &at->timing);
        esc_tty(self->out, traced(self, at->from));
        buf_add(self->out, CG_LIT(" -> "));
        esc_tty(self->out, traced(self, at->to));
        buf_byte(self->out, '\n');
    }
    if (shown < count)
        buf_addf(self->out, "  ... and %zu more (--rows)\n", count - shown);
}

void runtime_text_profile(const model_doc *doc, const runtime_facts *facts,
                          const runtime_style *style, buf *out)
{
    page self = open_page(doc, facts, style, out);
    const model_runtime *run = doc->runtime;

    if (run == NULL || facts == NULL) {
        put_nothing(&self);
        return;
    }
    put_mismatches(&self);
    if (run->avg_operation_duration_ns.is_set)
        buf_addf(out,
                 "%" PRIu64 " operation%s recorded, mean %s of host time; where the device is "
                 "not waited for, the time of the launch\n\n",
                 run->operation_observations, plural(run->operation_observations),
                 time_of(run->avg_operation_duration_ns.value).at);
    put_slowest(&self);
    put_edges(&self);
    buf_byte(out, '\n');
    put_run(&self);
    buf_add(out,
            CG_LIT("next: query graph-train, query graph-infer, query operation --select ID\n"));
    arena_free(&self.mem);
}
