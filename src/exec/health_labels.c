#include "exec/health_labels.h"

#include "exec/columns.h"

/* Every label of the three lists gets a symbol of its own. */
static bool intern_labels(check *self, const rec_contract *contract)
{
    const sc_strs lists[] = {contract->required_semantic_labels,
                             contract->gpu_expected_semantic_labels,
                             contract->cpu_only_semantic_labels};

    for (size_t list = 0; list < sizeof lists / sizeof *lists; list++) {
        for (size_t i = 0; i < lists[list].count; i++) {
            if (intern_add(&self->labels, lists[list].at[i]) == 0)
                return false;
        }
    }
    return true;
}

/* counts[label] = number of spans of that name; O(spans + labels). */
static bool count_names(check *self, uint32_t *counts)
{
    const trace_doc *trace = self->trace;
    size_t count = intern_count(&trace->texts);
    uint32_t *by_name = column_zero(self->heap, count, sizeof *by_name);

    if (by_name == NULL)
        return false;
    for (size_t i = 0; i < trace->spans.count; i++)
        by_name[trace->spans.at[i].name]++;
    by_name[0] = 0;
    for (size_t i = 1; i < intern_count(&self->labels); i++)
        counts[i] = by_name[intern_find(&trace->texts, intern_text_of(&self->labels, (sym)i))];
    column_free(self->heap, by_name, count, sizeof *by_name);
    return true;
}

static void check_required(check *self, sc_strs labels, const uint32_t *counts, uint8_t *flags)
{
    for (size_t i = 0; i < labels.count && self->has_room; i++) {
        sym label = intern_find(&self->labels, labels.at[i]);

        if (str_is_blank(labels.at[i]))
            health_by_outcome(self, HEALTH_LABEL_EMPTY, (uint32_t)i, 0);
        if (flags[label] & LABEL_REQUIRED) {
            health_by_outcome(self, HEALTH_LABEL_TWICE, (uint32_t)i, 0);
            self->report->are_labels_exact = false;
        }
        flags[label] |= LABEL_REQUIRED;
        if (counts[label] != 1) {
            health_by_outcome(self, HEALTH_LABEL_CARDINALITY, (uint32_t)i, counts[label]);
            self->report->are_labels_exact = false;
        }
    }
}

/* `b` of a class issue tells the list: LABEL_GPU or LABEL_CPU. */
static void check_class(check *self, sc_strs labels, uint8_t class, uint8_t *flags)
{
    for (size_t i = 0; i < labels.count && self->has_room; i++) {
        sym label = intern_find(&self->labels, labels.at[i]);

        if (str_is_blank(labels.at[i]))
            health_by_outcome(self, HEALTH_CLASS_EMPTY, (uint32_t)i, class);
        if (flags[label] & class)
            health_by_outcome(self, HEALTH_CLASS_TWICE, (uint32_t)i, class);
        if (!(flags[label] & LABEL_REQUIRED))
            health_by_outcome(self, HEALTH_CLASS_UNREQUIRED, (uint32_t)i, class);
        if (flags[label] & LABEL_CLASSES)
            health_by_outcome(self, HEALTH_CLASS_OVERLAP, (uint32_t)i, class);
        flags[label] |= class;
    }
}

static void check_partition(check *self, const rec_contract *contract, uint8_t *flags)
{
    uint32_t unclassified = 0;
    uint32_t unrequired = 0;

    if (contract->gpu_expected_semantic_labels.count == 0 &&
        contract->cpu_only_semantic_labels.count == 0)
        return;
    check_class(self, contract->gpu_expected_semantic_labels, LABEL_GPU, flags);
    check_class(self, contract->cpu_only_semantic_labels, LABEL_CPU, flags);
    for (size_t i = 1; i < intern_count(&self->labels); i++) {
        bool is_required = (flags[i] & LABEL_REQUIRED) != 0;
        bool is_classified = (flags[i] & LABEL_CLASSES) != 0;

        unclassified += is_required && !is_classified;
        unrequired += is_classified && !is_required;
    }
    if (unclassified > 0 || unrequired > 0)
        health_by_outcome(self, HEALTH_CLASS_INCOMPLETE, unclassified, unrequired);
}

bool health_check_labels(check *self)
{
    const rec_contract *contract = self->trace->run.contract;
    uint32_t *counts;
    uint8_t *flags;
    size_t count;
    bool is_done;

    self->report->are_labels_exact = true;
    if (contract->required_semantic_labels.count == 0 &&
        contract->gpu_expected_semantic_labels.count == 0 &&
        contract->cpu_only_semantic_labels.count == 0)
        return true;
    if (!intern_init(&self->labels, self->heap, self->trace->texts.seed) ||
        !intern_labels(self, contract))
        return false;
    count = intern_count(&self->labels);
    counts = column_zero(self->heap, count, sizeof *counts);
    flags = column_zero(self->heap, count, sizeof *flags);
    is_done = counts != NULL && flags != NULL && count_names(self, counts);
    if (is_done) {
        check_required(self, contract->required_semantic_labels, counts, flags);
        check_partition(self, contract, flags);
    }
    column_free(self->heap, flags, count, sizeof *flags);
    column_free(self->heap, counts, count, sizeof *counts);
    return is_done;
}
