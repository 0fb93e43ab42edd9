#include "view/text_section.h"

#include "base/num.h"
#include "base/sort.h"

void section_open(sections *self, const evidence *from, const text_style *style, cg_sink sink)
{
    self->from = from;
    self->trace = from->trace;
    self->heap = *from->heap;
    page_open(&self->page, &self->heap, style, sink);
}

cg_code section_close(sections *self, cg_err *reterr)
{
    return page_close(&self->page, reterr);
}

void section_more(sections *self, uint64_t count, const char *how)
{
    if (count == 0)
        return;
    page_ink(&self->page, INK_DIM);
    page_putf(&self->page, "  … and %llu more; %s", (unsigned long long)count, how);
    page_ink(&self->page, INK_PLAIN);
    page_end(&self->page);
}

static void say(sections *self, const char *text)
{
    buf_add(&self->page.say, str_from(text));
}

static void say_name(sections *self, cg_str name)
{
    buf_byte(&self->page.say, '`');
    safe_add(&self->page.say, name, 60);
    buf_byte(&self->page.say, '`');
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* --- verdict ----------------------------------------------------------- */

static bool is_cpu(cg_str device)
{
    cg_str text = str_trim(device);

    return text.len >= 3 && str_equal_nocase((cg_str){text.ptr, 3}, CG_LIT("cpu"));
}

static void say_what_it_is(sections *self)
{
    const rec_run *run = &self->trace->run;

    say(self, run->phase == PHASE_TRAIN ? "training capture " : "inference capture ");
    say_name(self, run->entrypoint);
    buf_addf(&self->page.say, ", step %llu of run ", (unsigned long long)run->capture_step);
    buf_byte(&self->page.say, '`');
    safe_add(&self->page.say, run->run_id, 18);
    say(self, "` on ");
    safe_add(&self->page.say, run->device, 30);
}

static void measured_region(sections *self)
{
    const rec_run *run = &self->trace->run;
    const graph *tree = &self->from->graph;

    say(self, "measured region ");
    say_name(self, trace_text(self->trace, self->trace->spans.at[tree->measured].name));
    say(self, " ");
    number_time(&self->page.say, tree->total_ns[tree->measured]);
    say(self, ", host clock; ");
    if (is_cpu(run->device))
        say(self, "on the CPU host time is the time of the work");
    else if (!run->is_device_synchronized)
        say(self, "device not synchronised: host launch time, not device time");
    else if (run->timing_mode == TIMING_MODE_HOST)
        say(self, "device synchronised at its ends only: its spans show host launch time, not "
                  "device time");
    else
        say(self, "device synchronised: waits for the device are inside");
    page_paragraph(&self->page, INK_PLAIN, 0, 2);
}

void section_verdict(sections *self)
{
    const health_report *health = &self->from->health;
    enum ink ink = INK_GOOD;

    if (!health->is_valid) {
        buf_addf(&self->page.say,
                 "✗ not valid, %llu error%s: nothing may be concluded from this %s",
                 (unsigned long long)health->error_count, plural(health->error_count),
                 health->is_complete ? "" : "failed ");
        ink = INK_BAD;
    } else if (!health->is_complete) {
        say(self, "! failed, valid up to its end: ");
        ink = INK_WARN;
    } else if (!self->from->has_graph) {
        say(self, "! valid and complete, but without a derived graph: ");
        ink = INK_WARN;
    } else {
        say(self, "✓ valid, complete ");
    }
    say_what_it_is(self);
    page_paragraph(&self->page, ink, 0, 2);
    if (self->from->has_graph)
        measured_region(self);
}

/* --- health ------------------------------------------------------------ */

/* Each of these is of a family of its own: the first says nothing of the others. */
static bool is_of_a_family(uint8_t code)
{
    return code == HEALTH_FAMILY_NON_FINITE || code == HEALTH_FAMILY_ACTIVE_LOW ||
           code == HEALTH_FAMILY_LEAK || code == HEALTH_FAMILY_CONDITIONAL_LOW;
}

#define NAMED_KEYS   8u    /* of a family at fault; the query for gradients lists all */
#define FAMILY_CELLS 2000u /* keys are names of the trace, of any length */

void section_issues(sections *self, bool errors, size_t most)
{
    const health_report *health = &self->from->health;
    uint64_t count = errors ? health->error_count : health->warning_count;
    uint64_t counts[HEALTH_CODE_COUNT] = {0};
    size_t families[HEALTH_CODE_COUNT] = {0};
    size_t shown = 0;
    uint64_t hidden = 0;

    if (count == 0)
        return;
    for (size_t i = 0; i < health->issues.count; i++) {
        if (health->issues.at[i].is_error == errors)
            counts[health->issues.at[i].code]++;
    }
    page_lead(&self->page, errors ? "Errors" : "Warnings");
    buf_addf(&self->page.say, "(%llu)", (unsigned long long)count);
    page_paragraph(&self->page, INK_PLAIN, 0, 0);
    for (size_t i = 0; i < health->issues.count; i++) {
        const health_issue *issue = &health->issues.at[i];
        buf message;

        if (issue->is_error != errors || counts[issue->code] == 0)
            continue;
        if (is_of_a_family(issue->code) ? families[issue->code] == most : shown == most) {
            hidden += counts[issue->code];
            counts[issue->code] = 0;
            continue;
        }
        buf_init(&message, &self->heap, (size_t)1 << 24);
        health_message_short(health, issue, NAMED_KEYS, &message);
        say(self, errors ? "✗ " : "! ");
        buf_add(&self->page.say, health_code_word(issue->code));
        if (counts[issue->code] > 1 && !is_of_a_family(issue->code))
            buf_addf(&self->page.say, " (%llu times, the first)",
                     (unsigned long long)counts[issue->code]);
        say(self, ": ");
        safe_add(&self->page.say, buf_text(&message),
                 is_of_a_family(issue->code) ? FAMILY_CELLS : 400);
        page_check(&self->page, &message);
        buf_free(&message);
        page_paragraph(&self->page, errors ? INK_BAD : INK_WARN, 2, 4);
        if (errors && families[issue->code] == 0) {
            say(self, "mend: ");
            buf_add(&self->page.say, health_rows[issue->code].mend);
            page_paragraph(&self->page, INK_GOOD, 4, 10);
        }
        if (is_of_a_family(issue->code)) {
            families[issue->code]++;
            counts[issue->code]--;
        } else {
            counts[issue->code] = 0;
            shown++;
        }
    }
    section_more(self, hidden, "`import --format json` lists all of them");
}

void section_warnings_in_short(sections *self)
{
    const health_report *health = &self->from->health;
    uint64_t counts[HEALTH_CODE_COUNT] = {0};
    unsigned named = 0;

    if (health->warning_count == 0)
        return;
    for (size_t i = 0; i < health->issues.count; i++) {
        if (!health->issues.at[i].is_error)
            counts[health->issues.at[i].code]++;
    }
    buf_addf(&self->page.say, "! %llu warning%s:", (unsigned long long)health->warning_count,
             plural(health->warning_count));
    for (size_t i = 0; i < health->issues.count && named < 6; i++) {
        uint8_t code = health->issues.at[i].code;

        if (health->issues.at[i].is_error || counts[code] == 0)
            continue;
        say(self, named++ > 0 ? ", " : " ");
        buf_add(&self->page.say, health_code_word(code));
        if (counts[code] > 1)
            buf_addf(&self->page.say, " ×%llu", (unsigned long long)counts[code]);
        counts[code] = 0;
    }
    say(self, "; `summary` explains");
    page_paragraph(&self->page, INK_WARN, 2, 4);
}

void section_failure(sections *self)
{
    const trace_doc *trace = self->trace;
    uint64_t open_count = 0;

    if (trace->outcome != OUTCOME_FAILED)
        return;
    say(self, "reason: ");
    safe_add(&self->page.say, trace->failure_reason, 600);
    page_paragraph(&self->page, INK_TITLE, 0, 2);
    say(self, "stopped after ");
    number_time(&self->page.say, trace->terminal_ns);
    for (size_t i = 0; i < trace->spans.count; i++)
        open_count += !trace->spans.at[i].is_closed;
    if (open_count == 0) {
        say(self, " (host clock), no span was open");
    } else {
        uint64_t named = 0;

        buf_addf(&self->page.say,
                 " (host clock), %llu span%s open:", (unsigned long long)open_count,
                 open_count == 1 ? " was" : "s were");
        for (size_t i = 0; i < trace->spans.count && named < 8; i++) {
            if (trace->spans.at[i].is_closed)
                continue;
            say(self, named > 0 ? ", " : " ");
            say_name(self, trace_text(trace, trace->spans.at[i].name));
            named++;
        }
        if (open_count > named)
            buf_addf(&self->page.say, " and %llu more", (unsigned long long)(open_count - named));
    }
    page_paragraph(&self->page, INK_PLAIN, 0, 2);
    buf_addf(&self->page.say,
             "recorded until then: %zu span%s, %zu operation%s, %zu tensor%s, %zu statistic%s, %zu "
             "memory event%s, %zu gradient%s",
             trace->spans.count, plural(trace->spans.count), trace->ops.count,
             plural(trace->ops.count), trace->tensors.count, plural(trace->tensors.count),
             trace->stats.count, plural(trace->stats.count), trace->memory.count,
             plural(trace->memory.count), trace->gradients.count, plural(trace->gradients.count));
    page_paragraph(&self->page, INK_PLAIN, 0, 2);
}

/* --- host time --------------------------------------------------------- */

typedef struct name_sum {
    uint64_t own_ns;
    uint64_t total_ns; /* of the outermost ones of a name */
    uint64_t count;
} name_sum;

/* Spans in the first half of `sums`, operations in the second: a name may be both. */
static void sum_names(const sections *self, name_sum *sums)
{
    const graph *tree = &self->from->graph;
    name_sum *op_sums = sums + intern_count(&self->trace->texts);

    for (uint32_t i = 0; i < tree->span_count; i++) {
        const trace_span *span = &self->trace->spans.at[i];
        name_sum *sum = &sums[span->name];

        if (!tree->in_subtree[i])
            continue;
        sum->own_ns = num_sat_add(sum->own_ns, tree->self_ns[i]);
        sum->count++;
        if (span->parent == TRACE_NONE || self->trace->spans.at[span->parent].name != span->name)
            sum->total_ns = num_sat_add(sum->total_ns, tree->total_ns[i]);
    }
    for (size_t i = 0; i < self->trace->ops.count; i++) {
        const trace_op *op = &self->trace->ops.at[i];
        uint32_t span = trace_span_of(self->trace, op->span_id);

        if (span == TRACE_NONE || !tree->in_subtree[span])
            continue;
        op_sums[op->name].own_ns = num_sat_add(op_sums[op->name].own_ns, op->duration_ns);
        op_sums[op->name].total_ns = op_sums[op->name].own_ns;
        op_sums[op->name].count++;
    }
}

static size_t slowest_name(const name_sum *sums, size_t count)
{
    size_t best = 0;

    for (size_t i = 1; i < count; i++) {
        if (sums[i].count > 0 && (best == 0 || sums[i].own_ns > sums[best].own_ns))
            best = i;
    }
    return best;
}

static void slowest_table(sections *self, name_sum *sums, size_t most)
{
    size_t texts = intern_count(&self->trace->texts);
    size_t count = 2 * texts;
    uint64_t measured_ns = self->from->graph.total_ns[self->from->graph.measured];
    unit in = unit_time(measured_ns);
    uint64_t names = 0;
    uint64_t shown = 0;
    table rows;

    for (size_t i = 1; i < count; i++)
        names += sums[i].count > 0;
    page_title(&self->page, "Slowest by own time", "(host clock)");
    table_open(&rows, &self->page, 2);
    table_column(&rows, COLUMN_NAME, "name");
    table_column(&rows, COLUMN_WORD, "what");
    table_column(&rows, COLUMN_NUMBER, "own %s", in.word);
    table_column(&rows, COLUMN_NUMBER, "of region");
    table_column(&rows, COLUMN_BAR, " ");
    table_may_go(&rows, 2);
    table_column(&rows, COLUMN_NUMBER, "total %s", in.word);
    table_may_go(&rows, 1);
    table_column(&rows, COLUMN_NUMBER, "count");
    for (; shown < most && shown < names; shown++) {
        size_t best = slowest_name(sums, count);
        double share = measured_ns > 0 ? (double)sums[best].own_ns / (double)measured_ns : 0;

        table_name(&rows, "", trace_text(self->trace, (sym)(best % texts)));
        table_text(&rows, best < texts ? "span" : "operation");
        table_amount(&rows, (opt_u64){sums[best].own_ns, true}, in);
        table_share(&rows, (opt_f64){share, measured_ns > 0});
        table_bar(&rows, share);
        table_amount(&rows, (opt_u64){sums[best].total_ns, true}, in);
        table_number(&rows, sums[best].count);
        table_row(&rows);
        sums[best].count = 0;
    }
    table_close(&rows);
    section_more(self, names - shown, "`query --kind module-tree` shows all");
}

/* Spans of other threads: beside the region, not part of it. */
static void concurrent_line(sections *self)
{
    const graph *tree = &self->from->graph;
    unsigned named = 0;

    for (uint32_t i = 0; i < tree->host_count; i++) {
        const graph_host_row *row = &tree->host[i];

        if (!row->is_concurrent)
            continue;
        say(self, named++ == 0 ? "beside it, in parallel (not in the shares): " : ", ");
        say_name(self, trace_text(self->trace, self->trace->spans.at[row->span].name));
        say(self, " ");
        number_time(&self->page.say, row->clipped_self_ns);
    }
    if (named > 0)
        page_paragraph(&self->page, INK_PLAIN, 2, 4);
}

void section_slowest(sections *self, size_t most)
{
    size_t count = 2 * intern_count(&self->trace->texts);
    name_sum *sums;

    if (!self->from->has_graph)
        return;
    sums = heap_resize(&self->heap, NULL, 0, count * sizeof *sums);
    if (sums == NULL) {
        self->page.code = CG_NOMEM;
        return;
    }
    memset(sums, 0, count * sizeof *sums);
    sum_names(self, sums);
    slowest_table(self, sums, most);
    heap_resize(&self->heap, sums, count * sizeof *sums, 0);
    concurrent_line(self);
}

void section_device_time(sections *self)
{
    const timing_plane *timing = &self->from->timing;

    for (size_t i = 0; i < timing->clocks.count && i < 8; i++) {
        const timing_row *row = &timing->clocks.at[i];

        if (i == 0)
            page_title(&self->page, "Device time",
                       "(each on its own clock; never added to host time)");
        safe_add(&self->page.say, trace_text(self->trace, row->device), 40);
        say(self, ", clock ");
        say_name(self, trace_text(self->trace, row->clock_id));
        say(self, ": busy ");
        number_time(&self->page.say, row->busy_ns);
        buf_addf(&self->page.say, " in %llu interval%s", (unsigned long long)row->interval_count,
                 plural(row->interval_count));
        page_paragraph(&self->page, INK_PLAIN, 2, 4);
    }
}

/* --- memory ------------------------------------------------------------ */

static void say_categories(sections *self, const uint64_t bytes[CATEGORY_COUNT])
{
    const char *gap = ": ";

    for (unsigned i = 0; i < CATEGORY_COUNT; i++) {
        if (bytes[i] == 0)
            continue;
        say(self, gap);
        buf_add(&self->page.say, sc_word(&words_category, (uint8_t)i));
        say(self, " ");
        number_bytes(&self->page.say, bytes[i]);
        gap = ", ";
    }
}

static void add_lifetime(const sections *self, size_t index, uint64_t bytes[CATEGORY_COUNT],
                         uint64_t *total)
{
    const memory_lifetime *life = &self->from->memory.lifetimes.at[index];
    const trace_memory *event = &self->trace->memory.at[life->alloc_event];

    bytes[event->category] = num_sat_add(bytes[event->category], event->bytes);
    *total = num_sat_add(*total, event->bytes);
}

static void logical_memory(sections *self)
{
    const memory_plane *plane = &self->from->memory;
    uint64_t peak[CATEGORY_COUNT] = {0};
    uint64_t left[CATEGORY_COUNT] = {0};
    uint64_t peak_total = 0;
    uint64_t left_total = 0;
    uint64_t left_count = 0;

    for (size_t i = 0; i < plane->lifetimes.count; i++) {
        const memory_lifetime *life = &plane->lifetimes.at[i];

        if (life->start_ns <= plane->peak_ns &&
            !(life->is_closed && life->end_ns <= plane->peak_ns))
            add_lifetime(self, i, peak, &peak_total);
        if (!life->is_closed) {
            add_lifetime(self, i, left, &left_total);
            left_count++;
        }
    }
    page_title(&self->page, "Logical storage", "(what the program held, not what the device gave)");
    if (plane->has_peak) {
        say(self, "peak ");
        number_bytes(&self->page.say, plane->peak_live_bytes);
        say(self, " at ");
        number_time(&self->page.say, plane->peak_ns);
        say_categories(self, peak);
        page_paragraph(&self->page, INK_PLAIN, 2, 4);
    }
    if (left_count == 0) {
        say(self, "nothing was left at the end; ");
    } else {
        buf_addf(&self->page.say, "left at the end: %llu storage%s, ",
                 (unsigned long long)left_count, plural(left_count));
        number_bytes(&self->page.say, left_total);
        say_categories(self, left);
        say(self, "; ");
    }
    buf_addf(&self->page.say, "%llu allocation%s in all, ",
             (unsigned long long)plane->allocation_count, plural(plane->allocation_count));
    number_bytes(&self->page.say, plane->allocated_bytes);
    page_paragraph(&self->page, INK_PLAIN, 2, 4);
}

static void say_optional(sections *self, const char *what, opt_u64 bytes)
{
    if (!bytes.is_set)
        return;
    say(self, what);
    number_bytes(&self->page.say, bytes.value);
    say(self, ", ");
}

static void physical_memory(sections *self)
{
    const physical_plane *plane = &self->from->physical;

    page_title(&self->page, "Physical memory", "(samples of the device)");
    for (size_t i = 0; i < plane->devices.count && i < 8; i++) {
        const physical_device *row = &plane->devices.at[i];

        safe_add(&self->page.say, trace_text(self->trace, row->device), 40);
        say(self, ": ");
        say_optional(self, "peak used ", row->peak_used);
        say_optional(self, "reserved ", row->peak_reserved);
        say_optional(self, "least free ", row->minimum_free);
        say_optional(self, "capacity ", row->maximum_capacity);
        buf_addf(&self->page.say, "%llu sample%s", (unsigned long long)row->sample_count,
                 plural(row->sample_count));
        page_paragraph(&self->page, INK_PLAIN, 2, 4);
    }
}

void section_memory(sections *self)
{
    if (self->trace->memory.count > 0)
        logical_memory(self);
    if (self->trace->samples.count > 0)
        physical_memory(self);
}

/* --- gradients --------------------------------------------------------- */

typedef struct gradient_group {
    cg_str name;
    uint64_t counts[4]; /* by GRADIENT_STATE_ */
    uint64_t members;
    uint64_t min_present;
    uint8_t expectation;
    bool is_family;
} gradient_group;

typedef struct gradient_groups {
    intern names;
    VEC(gradient_group) rows; /* by symbol of `names`; 0 unused */
    intern keys;              /* root NUL key -> number, with a contract */
    VEC(uint32_t) family_of;  /* by symbol of `keys` */
    buf key;
    bool failed;
} gradient_groups;

static uint32_t group_of(sections *self, gradient_groups *groups, cg_str name)
{
    sym symbol = intern_add(&groups->names, name);

    while (symbol != 0 && groups->rows.count <= symbol) {
        gradient_group *row = vec_add(&self->heap, &groups->rows);

        if (row == NULL)
            symbol = 0;
        else
            memset(row, 0, sizeof *row);
    }
    if (symbol == 0) {
        groups->failed = true;
        return 0;
    }
    groups->rows.at[symbol].name = intern_text_of(&groups->names, symbol);
    return symbol;
}

static cg_str whole_key(gradient_groups *groups, cg_str root, cg_str key)
{
    buf_clear(&groups->key);
    buf_add(&groups->key, root);
    buf_byte(&groups->key, '\0');
    buf_add(&groups->key, key);
    if (groups->key.failed)
        groups->failed = true;
    return buf_text(&groups->key);
}

static void declare_families(sections *self, gradient_groups *groups,
                             const rec_gradient_contract *contract)
{
    const rec_family *families = contract->families.at;
    const rec_manifest_entry *entries = contract->expected.at;

    for (size_t i = 0; i < contract->families.count && !groups->failed; i++) {
        uint32_t at = group_of(self, groups, families[i].family);

        if (at == 0)
            return;
        groups->rows.at[at].is_family = true;
        groups->rows.at[at].expectation = families[i].expectation;
        groups->rows.at[at].min_present = families[i].min_present;
    }
    for (size_t i = 0; i < contract->expected.count && !groups->failed; i++) {
        uint32_t at = group_of(self, groups, entries[i].family);
        sym key = intern_add(&groups->keys, whole_key(groups, entries[i].root, entries[i].key));

        if (at == 0 || key == 0 || !vec_reserve(&self->heap, &groups->family_of, (size_t)key + 1)) {
            groups->failed = true;
            return;
        }
        while (groups->family_of.count <= key)
            groups->family_of.at[groups->family_of.count++] = 0;
        if (groups->family_of.at[key] == 0)
            groups->rows.at[at].members++;
        groups->family_of.at[key] = at;
    }
}

/* Without a contract parameters are grouped by module: the key up to its last dot. */
static cg_str module_of(cg_str key)
{
    size_t dot = str_find_last(key, '.');

    return dot == SIZE_MAX ? key : (cg_str){key.ptr, dot};
}

static void count_states(sections *self, gradient_groups *groups, bool has_contract)
{
    for (size_t i = 0; i < self->trace->gradients.count && !groups->failed; i++) {
        const trace_gradient *event = &self->trace->gradients.at[i];
        cg_str key = trace_text(self->trace, event->key);
        uint32_t at = 0;

        if (has_contract) {
            sym symbol = intern_find(&groups->keys,
                                     whole_key(groups, trace_text(self->trace, event->root), key));

            at = symbol != 0 ? groups->family_of.at[symbol] : 0;
        }
        if (at == 0)
            at = group_of(self, groups, module_of(key));
        if (at == 0)
            return;
        groups->rows.at[at].counts[event->state]++;
    }
}

enum { TROUBLE_NON_FINITE, TROUBLE_BROKEN, TROUBLE_MISSING, TROUBLE_ZERO, TROUBLE_NONE };

static unsigned group_trouble(const gradient_group *row)
{
    uint64_t present = row->counts[GRADIENT_STATE_PRESENT];

    if (row->counts[GRADIENT_STATE_NON_FINITE] > 0)
        return TROUBLE_NON_FINITE;
    if (row->is_family && row->expectation == EXPECTATION_INACTIVE)
        return present + row->counts[GRADIENT_STATE_ZERO] > 0 && present > 0 ? TROUBLE_BROKEN
                                                                             : TROUBLE_NONE;
    if (row->is_family && present < row->min_present)
        return TROUBLE_BROKEN;
    if (row->counts[GRADIENT_STATE_MISSING] > 0)
        return TROUBLE_MISSING;
    return row->counts[GRADIENT_STATE_ZERO] > 0 ? TROUBLE_ZERO : TROUBLE_NONE;
}

static bool group_before(const void *context, uint32_t a, uint32_t b)
{
    const gradient_group *rows = context;

    return group_trouble(&rows[a]) < group_trouble(&rows[b]);
}

static void group_verdict(table *rows, const gradient_group *group, bool is_whole)
{
    unsigned trouble = group_trouble(group);

    /* What a failed capture did not get to see says nothing. */
    if (!is_whole && (trouble == TROUBLE_BROKEN || trouble == TROUBLE_NONE)) {
        table_text(rows, "so far");
        return;
    }
    switch (trouble) {
    case TROUBLE_NON_FINITE:
        table_ink(rows, INK_BAD);
        table_text(rows, "✗ non-finite");
        break;
    case TROUBLE_BROKEN:
        table_ink(rows, INK_BAD);
        table_text(rows, group->expectation == EXPECTATION_INACTIVE ? "✗ not inactive"
                                                                    : "✗ below the minimum");
        break;
    case TROUBLE_MISSING:
        table_ink(rows, INK_WARN);
        table_text(rows, group->is_family ? "! some missing" : "! missing");
        break;
    case TROUBLE_ZERO:
        table_ink(rows, INK_WARN);
        table_text(rows, "! zero");
        break;
    default:
        table_ink(rows, INK_GOOD);
        table_text(rows, group->is_family && group->expectation == EXPECTATION_INACTIVE
                             ? "✓ as declared"
                             : "✓ all present");
        break;
    }
}

static void group_row(table *rows, const gradient_group *group, bool has_contract, bool is_whole)
{
    table_name(rows, "", group->name);
    if (has_contract) {
        buf *text = table_cell_text(rows);

        if (!group->is_family)
            buf_add(text, CG_LIT("—"));
        else
            buf_add(text, sc_word(&words_expectation, group->expectation));
        if (group->is_family && group->expectation != EXPECTATION_INACTIVE)
            buf_addf(text, ", at least %llu of %llu", (unsigned long long)group->min_present,
                     (unsigned long long)group->members);
        table_end_cell(rows);
    }
    table_number(rows, group->counts[GRADIENT_STATE_PRESENT]);
    table_number(rows, group->counts[GRADIENT_STATE_MISSING]);
    table_number(rows, group->counts[GRADIENT_STATE_ZERO]);
    table_number(rows, group->counts[GRADIENT_STATE_NON_FINITE]);
    group_verdict(rows, group, is_whole);
    table_row(rows);
}

static void print_groups(sections *self, gradient_groups *groups, bool has_contract, size_t most)
{
    size_t count = groups->rows.count > 0 ? groups->rows.count - 1 : 0;
    uint32_t *items = heap_resize(&self->heap, NULL, 0, (2 * count + 1) * sizeof *items);
    table rows;
    size_t shown = count < most ? count : most;
    char note[64];

    if (items == NULL) {
        groups->failed = true;
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        items[i] = i + 1;
    sort_with(items, items + count, count, group_before, groups->rows.at);
    (void)snprintf(note, sizeof note, "(%zu parameter%s, by %s)", self->trace->gradients.count,
                   plural(self->trace->gradients.count),
                   has_contract ? "declared family" : "module");
    page_title(&self->page, "Gradients", note);
    table_open(&rows, &self->page, 2);
    table_column(&rows, COLUMN_NAME, has_contract ? "family" : "module");
    if (has_contract)
        table_column(&rows, COLUMN_WORD, "declared");
    table_column(&rows, COLUMN_NUMBER, "present");
    table_column(&rows, COLUMN_NUMBER, "missing");
    table_column(&rows, COLUMN_NUMBER, "zero");
    table_may_go(&rows, 1); /* the verdict says so as well */
    table_column(&rows, COLUMN_NUMBER, "non-finite");
    table_may_go(&rows, 2);
    table_column(&rows, COLUMN_WORD, " ");
    for (size_t i = 0; i < shown; i++)
        group_row(&rows, &groups->rows.at[items[i]], has_contract, self->from->health.is_complete);
    table_close(&rows);
    section_more(self, count - shown, "`query --kind gradients` lists all");
    heap_resize(&self->heap, items, (2 * count + 1) * sizeof *items, 0);
}

void section_gradients(sections *self, size_t most)
{
    const rec_contract *contract = self->trace->run.contract;
    bool has_contract = contract != NULL && contract->gradient_contract != NULL;
    gradient_groups groups;

    if (self->trace->gradients.count == 0)
        return;
    memset(&groups, 0, sizeof groups);
    buf_init(&groups.key, &self->heap, SIZE_MAX / 4);
    groups.failed = !intern_init(&groups.names, &self->heap, self->trace->texts.seed);
    if (!groups.failed && !intern_init(&groups.keys, &self->heap, self->trace->texts.seed)) {
        intern_free(&groups.names);
        groups.failed = true;
    } else if (!groups.failed) {
        if (has_contract)
            declare_families(self, &groups, contract->gradient_contract);
        count_states(self, &groups, has_contract);
        if (!groups.failed)
            print_groups(self, &groups, has_contract, most);
        intern_free(&groups.keys);
        intern_free(&groups.names);
    }
    if (groups.failed && self->page.code == CG_OK)
        self->page.code = CG_NOMEM;
    vec_free(&self->heap, &groups.rows);
    vec_free(&self->heap, &groups.family_of);
    buf_free(&groups.key);
}

/* --- statistics, capabilities, findings, gaps ---------------------------- */

void section_statistics(sections *self)
{
    const trace_doc *trace = self->trace;
    const trace_stats *first = NULL;
    uint64_t bad = 0;

    if (trace->stats.count == 0)
        return;
    for (size_t i = 0; i < trace->stats.count; i++) {
        if (trace->stats.at[i].non_finite == 0)
            continue;
        if (first == NULL)
            first = &trace->stats.at[i];
        bad++;
    }
    page_lead(&self->page, "Tensor statistics:");
    buf_addf(&self->page.say, "%zu recorded", trace->stats.count);
    if (first == NULL) {
        say(self, ", every value finite");
        page_paragraph(&self->page, INK_PLAIN, 0, 2);
        return;
    }
    buf_addf(&self->page.say, ", %llu with non-finite values, the first ", (unsigned long long)bad);
    say_name(self, trace_text(trace, first->label));
    buf_addf(&self->page.say,
             " (%llu of %llu values); `query --kind nan-origin` looks for where they were made",
             (unsigned long long)first->non_finite, (unsigned long long)first->elements);
    page_paragraph(&self->page, INK_BAD, 0, 2);
}

typedef struct level_look {
    const char *mark;
    const char *word;
    uint8_t ink;
} level_look;

static const level_look looks[] = {
    [CAPABILITY_INVALID] = {"✗", "invalid", INK_BAD},
    [CAPABILITY_UNAVAILABLE] = {"–", "unavailable", INK_DIM},
    [CAPABILITY_PARTIAL] = {"◐", "partial", INK_WARN},
    [CAPABILITY_COMPLETE] = {"✓", "complete", INK_GOOD},
};

static void capabilities_by_level(sections *self)
{
    const capability_set *set = &self->from->capabilities;

    for (unsigned i = 0; i < sizeof looks / sizeof *looks; i++) {
        unsigned level = CAPABILITY_COMPLETE - i;
        unsigned named = 0;

        for (unsigned kind = 0; kind < CAPABILITY_COUNT; kind++) {
            if (set->at[kind].level != level)
                continue;
            if (named++ == 0)
                buf_addf(&self->page.say, "%s %s: ", looks[level].mark, looks[level].word);
            else
                say(self, ", ");
            buf_add(&self->page.say, capability_title((enum capability_kind)kind));
        }
        if (named > 0)
            page_paragraph(&self->page, (enum ink)looks[level].ink, 2, 4);
    }
}

void section_capabilities(sections *self, bool with_reasons)
{
    const capability_set *set = &self->from->capabilities;

    page_title(&self->page, "What this capture may be used for", NULL);
    if (!with_reasons) {
        capabilities_by_level(self);
        return;
    }
    for (unsigned kind = 0; kind < CAPABILITY_COUNT; kind++) {
        const capability *row = &set->at[kind];
        const level_look *look = &looks[row->level];
        cg_str title = capability_title((enum capability_kind)kind);

        page_put(&self->page, "  ");
        page_ink(&self->page, (enum ink)look->ink);
        page_putf(&self->page, "%s %-11s", look->mark, look->word);
        page_ink(&self->page, INK_PLAIN);
        page_put(&self->page, "  ");
        buf_add(&self->page.out, title);
        page_end(&self->page);
        if (row->level == CAPABILITY_COMPLETE || row->reason.len == 0)
            continue;
        safe_add(&self->page.say, row->reason, 400);
        page_paragraph(&self->page, INK_DIM, 17, 17);
    }
}

void section_findings(sections *self)
{
    const evidence *from = self->from;

    for (size_t i = 0; i < from->finding_count; i++) {
        const evidence_finding *row = &from->findings[i];

        if (i == 0)
            page_title(&self->page, "Findings", NULL);
        safe_add(&self->page.say, row->summary, 300);
        say(self, " (");
        buf_add(&self->page.say, capability_level_word(row->qualification));
        say(self, ")");
        page_paragraph(&self->page, INK_PLAIN, 2, 4);
    }
}

void section_gaps(sections *self, size_t most)
{
    static const uint8_t levels[] = {CAPABILITY_INVALID, CAPABILITY_PARTIAL,
                                     CAPABILITY_UNAVAILABLE};
    const capability_set *set = &self->from->capabilities;
    size_t shown = 0;
    size_t count = 0;

    for (size_t i = 0; i < sizeof levels; i++) {
        for (unsigned kind = 0; kind < CAPABILITY_COUNT; kind++) {
            if (set->at[kind].level != levels[i] || count++ >= most)
                continue;
            if (shown++ == 0)
                page_title(&self->page, "Gaps", "(what cannot be concluded, and why)");
            buf_add(&self->page.say, capability_title((enum capability_kind)kind));
            say(self, ": ");
            safe_add(&self->page.say, set->at[kind].reason, 400);
            page_put(&self->page, "  ");
            page_name(&self->page, buf_text(&self->page.say), self->page.style->width - 2);
            page_end(&self->page);
            page_check(&self->page, &self->page.say);
            buf_clear(&self->page.say);
        }
    }
    section_more(self, count - shown, "`summary` gives every reason");
}
