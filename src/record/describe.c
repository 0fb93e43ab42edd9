#include "record/describe.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/num.h"
#include "record/sha256.h"
#include "schema/record.def"
#include "schema/trace.def"

/* `"key":` of every field, by table. */
#define E(type, member, key, rule, sub) META_KEY_##member,
enum { META_FIELDS(E) RECORDER_META_FIELDS(E) META_KEYS };
#undef E
#define E(type, member, key, rule, sub) CONTRACT_KEY_##member,
enum { CONTRACT_FIELDS(E) CONTRACT_KEYS };
#undef E
#define E(type, member, key, rule, sub) EXACT_KEY_##member,
enum { GRADIENT_CONTRACT_FIELDS(E) EXACT_KEYS };
#undef E
#define E(type, member, key, rule, sub) ENTRY_KEY_##member,
enum { MANIFEST_ENTRY_FIELDS(E) ENTRY_KEYS };
#undef E
#define E(type, member, key, rule, sub) FAMILY_KEY_##member,
enum { FAMILY_FIELDS(E) FAMILY_KEYS };
#undef E
#define E(type, member, key, rule, sub) IDENTITY_KEY_##member,
enum { IDENTITY_FIELDS(E) IDENTITY_KEYS };
#undef E
#define E(type, member, key, rule, sub) CALIBRATION_KEY_##member,
enum { CALIBRATION_FIELDS(E) CALIBRATION_KEYS };
#undef E
#define E(type, member, key, rule, sub) LOSS_KEY_##member,
enum { RECORDER_LOSS_FIELDS(E) LOSS_KEYS };
#undef E

#define F(type, member, key, rule, sub) {"\"" key "\":", sizeof(key) + 2},
static const cg_str meta_keys[] = {META_FIELDS(F) RECORDER_META_FIELDS(F)};
static const cg_str contract_keys[] = {CONTRACT_FIELDS(F)};
static const cg_str exact_keys[] = {GRADIENT_CONTRACT_FIELDS(F)};
static const cg_str entry_keys[] = {MANIFEST_ENTRY_FIELDS(F)};
static const cg_str family_keys[] = {FAMILY_FIELDS(F)};
static const cg_str identity_keys[] = {IDENTITY_FIELDS(F)};
static const cg_str calibration_keys[] = {CALIBRATION_FIELDS(F)};
static const cg_str loss_keys[] = {RECORDER_LOSS_FIELDS(F)};
#undef F

#define W(name, word) {"\"" word "\"", sizeof(word) + 1},
static const cg_str describe_phases[] = {PHASE_WORDS(W)};
static const cg_str describe_modes[] = {TIMING_MODE_WORDS(W)};
static const cg_str describe_scopes[] = {SCOPE_WORDS(W)};
static const cg_str describe_levels[] = {LEVEL_WORDS(W)};
static const cg_str describe_expectations[] = {EXPECTATION_WORDS(W)};
static const cg_str describe_tags[] = {RECORDER_TAGS(W)};
#undef W

/* The numbers of record.h are those of the tables. */
#define W(name, word) SAME_##name,
enum { PHASE_WORDS(W) };
enum { SCOPE_WORDS(W) };
enum { LEVEL_WORDS(W) };
enum { EXPECTATION_WORDS(W) };
#undef W
_Static_assert((int)SAME_INFER == CG_RECORD_INFER, "phase words");
_Static_assert((int)SAME_PROFILED_WORK == CG_RECORD_PROFILED_WORK, "scope words");
_Static_assert((int)SAME_PARTIAL == CG_RECORD_PARTIAL, "level words");
_Static_assert((int)SAME_DATA_CONDITIONAL == CG_RECORD_DATA_CONDITIONAL, "expectation words");

/* JSON already. */
#define DESCRIBE_SCHEMA "\"" CG_RECORD_TRACE_SCHEMA "\""
static const cg_str describe_schema = {DESCRIBE_SCHEMA, sizeof DESCRIBE_SCHEMA - 1};
static const cg_str describe_kind = {"\"meta\"", 6};

cg_code rec_fail(cg_err *reterr, cg_code code, const char *problem, const char *format, ...)
{
    if (reterr != NULL && reterr->code == CG_OK) {
        char raw[sizeof reterr->text];
        size_t to = 0;
        size_t at = 0;
        va_list list;

        va_start(list, format);
        vsnprintf(raw, sizeof raw, format, list);
        va_end(list);
        reterr->code = code;
        reterr->problem = problem;
        /* Names of the program may hold anything; a terminal must not act on it. */
        cg_str text = str_from(raw);
        while (at < text.len && to + STR_SAFE_ROOM < sizeof reterr->text) {
            to += str_next_safe(text, &at, reterr->text + to);
        }
        reterr->text[to] = '\0';
    }
    return code;
}

cg_code rec_cannot(cg_err *reterr, const char *what, const char *path, int error)
{
    return error == ENOMEM
               ? rec_fail(reterr, CG_NOMEM, "out-of-memory", "no memory to %s `%s`", what, path)
               : rec_fail(reterr, CG_OUTPUT, "record-output", "cannot %s `%s`: %s", what, path,
                          strerror(error));
}

#define BREAKS(...) rec_fail(reterr, CG_USAGE, "record-description", __VA_ARGS__)

static bool is_blank(const char *text)
{
    return text == NULL || str_is_blank(str_from(text));
}

static void add_key_text(rec_text *to, cg_str key, const char *value)
{
    text_add(to, CG_LIT(","));
    text_add(to, key);
    text_add_json(to, str_from(value));
}

static void add_key_u64(rec_text *to, cg_str key, uint64_t value)
{
    text_add(to, CG_LIT(","));
    text_add(to, key);
    text_add_u64(to, value);
}

static void add_key_f64(rec_text *to, cg_str key, double value)
{
    text_add(to, CG_LIT(","));
    text_add(to, key);
    text_add_f64(to, value);
}

static void add_key_word(rec_text *to, cg_str key, cg_str word)
{
    text_add(to, CG_LIT(","));
    text_add(to, key);
    text_add(to, word);
}

/* --- gradient manifest --- */

static void digest_text(sha256 *sum, const char *value)
{
    uint64_t length = strlen(value);
    uint8_t bytes[8];

    for (unsigned i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(length >> (8 * i));
    }
    sha256_add(sum, bytes, sizeof bytes);
    sha256_add(sum, value, (size_t)length);
}

void describe_digest(const cg_record_gradients *manifest, char ret[72])
{
    static const char name[] = CG_RECORD_GRADIENT_MANIFEST_SCHEMA; /* the NUL is part of it */
    sha256 sum;

    sha256_init(&sum);
    sha256_add(&sum, name, sizeof name);
    for (size_t i = 0; i < manifest->expected_count; i++) {
        digest_text(&sum, manifest->expected[i].root);
        digest_text(&sum, manifest->expected[i].key);
        digest_text(&sum, manifest->expected[i].family);
    }
    memcpy(ret, "sha256:", 7);
    sha256_hex(&sum, ret + 7);
}

static int compare_entries(const void *a, const void *b)
{
    const cg_record_gradient_entry *one = *(const cg_record_gradient_entry *const *)a;
    const cg_record_gradient_entry *two = *(const cg_record_gradient_entry *const *)b;
    int order = strcmp(one->root, two->root);

    return order != 0 ? order : strcmp(one->key, two->key);
}

static int compare_members(const void *a, const void *b)
{
    return strcmp((*(const cg_record_gradient_entry *const *)a)->family,
                  (*(const cg_record_gradient_entry *const *)b)->family);
}

static cg_code check_entries(const cg_record_gradients *manifest,
                             const cg_record_gradient_entry **sorted, cg_err *reterr)
{
    for (size_t i = 0; i < manifest->expected_count; i++) {
        const cg_record_gradient_entry *entry = &manifest->expected[i];

        if (is_blank(entry->root) || is_blank(entry->key) || is_blank(entry->family)) {
            return BREAKS("entry %zu of the gradient manifest has a blank root, key or family", i);
        }
        sorted[i] = entry;
    }
    qsort(sorted, manifest->expected_count, sizeof *sorted, compare_entries);
    for (size_t i = 1; i < manifest->expected_count; i++) {
        if (compare_entries(&sorted[i - 1], &sorted[i]) == 0) {
            return BREAKS("gradient `%s` of root `%s` is expected twice", sorted[i]->key,
                          sorted[i]->root);
        }
    }
    return CG_OK;
}

/* `sorted` by family: members of one stand together. */
static uint64_t count_members(const cg_record_gradient_entry *const *sorted, size_t count,
                              const char *family)
{
    size_t low = 0;
    size_t high = count;
    uint64_t members = 0;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (strcmp(sorted[middle]->family, family) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (; low < count && strcmp(sorted[low]->family, family) == 0; low++) {
        members++;
    }
    return members;
}

static cg_code check_families(const cg_record_gradients *manifest,
                              const cg_record_gradient_entry **sorted, cg_err *reterr)
{
    uint64_t placed = 0;

    qsort(sorted, manifest->expected_count, sizeof *sorted, compare_members);
    for (size_t i = 0; i < manifest->family_count; i++) {
        const cg_record_family *family = &manifest->families[i];
        bool is_inactive = family->expectation == CG_RECORD_INACTIVE;

        if (is_blank(family->family) || family->expectation > CG_RECORD_DATA_CONDITIONAL) {
            return BREAKS("family %zu of the gradient manifest has a blank name or no expectation",
                          i);
        }
        for (size_t j = 0; j < i; j++) {
            if (strcmp(manifest->families[j].family, family->family) == 0) {
                return BREAKS("gradient family `%s` is declared twice", family->family);
            }
        }
        uint64_t members = count_members(sorted, manifest->expected_count, family->family);
        if (members == 0) {
            return BREAKS("gradient family `%s` has no member", family->family);
        }
        if (is_inactive ? family->min_present != 0
                        : family->min_present < 1 || family->min_present > members) {
            return BREAKS("gradient family `%s` has %llu members and cannot ask for %llu",
                          family->family, (unsigned long long)members,
                          (unsigned long long)family->min_present);
        }
        placed += members;
    }
    return placed == manifest->expected_count
               ? CG_OK
               : BREAKS("a gradient of the manifest belongs to a family that is not declared");
}

static cg_code check_manifest(const cg_record_gradients *manifest, cg_err *reterr)
{
    if (manifest->expected_count == 0 || manifest->family_count == 0) {
        return BREAKS("the gradient manifest is empty");
    }
    const cg_record_gradient_entry **sorted =
        rec_take(manifest->expected_count * sizeof(const cg_record_gradient_entry *));
    if (sorted == NULL) {
        return rec_fail(reterr, CG_NOMEM, "out-of-memory", "no memory for the gradient manifest");
    }
    cg_code code = check_entries(manifest, sorted, reterr);
    if (code == CG_OK) {
        code = check_families(manifest, sorted, reterr);
    }
    rec_free(sorted);
    return code;
}

static void add_manifest(rec_text *to, const cg_record_gradients *manifest)
{
    char digest[72];

    describe_digest(manifest, digest);
    text_add(to, CG_LIT(","));
    text_add(to, contract_keys[CONTRACT_KEY_gradient_contract]);
    text_add(to, CG_LIT("{"));
    text_add(to, exact_keys[EXACT_KEY_manifest_sha256]);
    text_add_json(to, str_from(digest));
    text_add(to, CG_LIT(","));
    text_add(to, exact_keys[EXACT_KEY_expected]);
    for (size_t i = 0; i < manifest->expected_count; i++) {
        text_add(to, i == 0 ? CG_LIT("[{") : CG_LIT(",{"));
        text_add(to, entry_keys[ENTRY_KEY_root]);
        text_add_json(to, str_from(manifest->expected[i].root));
        add_key_text(to, entry_keys[ENTRY_KEY_key], manifest->expected[i].key);
        add_key_text(to, entry_keys[ENTRY_KEY_family], manifest->expected[i].family);
        text_add(to, CG_LIT("}"));
    }
    text_add(to, CG_LIT("],"));
    text_add(to, exact_keys[EXACT_KEY_families]);
    for (size_t i = 0; i < manifest->family_count; i++) {
        const cg_record_family *family = &manifest->families[i];

        text_add(to, i == 0 ? CG_LIT("[{") : CG_LIT(",{"));
        text_add(to, family_keys[FAMILY_KEY_family]);
        text_add_json(to, str_from(family->family));
        add_key_word(to, family_keys[FAMILY_KEY_expectation],
                     describe_expectations[family->expectation]);
        add_key_u64(to, family_keys[FAMILY_KEY_min_present], family->min_present);
        text_add(to, CG_LIT("}"));
    }
    text_add(to, CG_LIT("]}"));
}

/* --- contract --- */

static bool list_has(const char *const *list, size_t count, const char *label)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i], label) == 0) {
            return true;
        }
    }
    return false;
}

static cg_code check_labels(const char *what, const char *const *list, size_t count, cg_err *reterr)
{
    for (size_t i = 0; i < count; i++) {
        if (is_blank(list[i])) {
            return BREAKS("%s semantic label %zu is blank", what, i);
        }
        if (list_has(list, i, list[i])) {
            return BREAKS("%s semantic label `%s` is given twice", what, list[i]);
        }
    }
    return CG_OK;
}

static cg_code check_classes(const cg_record_contract *contract, cg_err *reterr)
{
    cg_code code = check_labels("GPU", contract->gpu_labels, contract->gpu_label_count, reterr);

    if (code == CG_OK) {
        code = check_labels("CPU", contract->cpu_labels, contract->cpu_label_count, reterr);
    }
    for (size_t i = 0; i < contract->gpu_label_count && code == CG_OK; i++) {
        const char *label = contract->gpu_labels[i];

        if (!list_has(contract->required_labels, contract->required_label_count, label)) {
            return BREAKS("GPU semantic label `%s` is not required", label);
        }
        if (list_has(contract->cpu_labels, contract->cpu_label_count, label)) {
            return BREAKS("semantic label `%s` is in both classes", label);
        }
    }
    for (size_t i = 0; i < contract->cpu_label_count && code == CG_OK; i++) {
        if (!list_has(contract->required_labels, contract->required_label_count,
                      contract->cpu_labels[i])) {
            return BREAKS("CPU semantic label `%s` is not required", contract->cpu_labels[i]);
        }
    }
    if (code == CG_OK && contract->gpu_label_count + contract->cpu_label_count > 0 &&
        contract->gpu_label_count + contract->cpu_label_count != contract->required_label_count) {
        return BREAKS("the label classes do not cover the required semantic labels");
    }
    return code;
}

static cg_code check_contract(const cg_record_contract *contract, cg_err *reterr)
{
    const uint32_t levels[] = {contract->operations,      contract->tensors,
                               contract->gradients,       contract->logical_memory,
                               contract->physical_memory, contract->device_timing};

    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        if (levels[i] > CG_RECORD_COMPLETE) {
            return BREAKS("a coverage level is not one of the three");
        }
    }
    if (contract->measurement_scope > CG_RECORD_PRODUCTION_EQUIVALENT) {
        return BREAKS("the measurement scope is not one of the three");
    }
    cg_code code =
        check_labels("required", contract->required_labels, contract->required_label_count, reterr);
    if (code == CG_OK) {
        code = check_classes(contract, reterr);
    }
    if (code != CG_OK) {
        return code;
    }
    if ((contract->gradients == CG_RECORD_COMPLETE) != (contract->gradient_manifest != NULL)) {
        return BREAKS("gradients are `complete` exactly when there is a gradient manifest");
    }
    return contract->gradient_manifest == NULL
               ? CG_OK
               : check_manifest(contract->gradient_manifest, reterr);
}

static void add_labels(rec_text *to, cg_str key, const char *const *list, size_t count)
{
    text_add(to, CG_LIT(","));
    text_add(to, key);
    text_add(to, CG_LIT("["));
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            text_add(to, CG_LIT(","));
        }
        text_add_json(to, str_from(list[i]));
    }
    text_add(to, CG_LIT("]"));
}

static void add_contract(description *ret, const cg_record_contract *contract)
{
    rec_text *to = &ret->pieces[0];

    add_key_word(to, meta_keys[META_KEY_contract], CG_LIT("{"));
    text_add(to, contract_keys[CONTRACT_KEY_measurement_scope]);
    text_add(to, describe_scopes[contract->measurement_scope]);
    ret->levels[SPOOL_OPERATIONS] = (uint8_t)contract->operations;
    ret->levels[SPOOL_TENSORS] = (uint8_t)contract->tensors;
    ret->levels[SPOOL_GRADIENTS] = (uint8_t)contract->gradients;
    ret->levels[SPOOL_LOGICAL_MEMORY] = (uint8_t)contract->logical_memory;
    ret->levels[SPOOL_PHYSICAL_MEMORY] = (uint8_t)contract->physical_memory;
    ret->levels[SPOOL_DEVICE_TIMING] = (uint8_t)contract->device_timing;
    if (contract->gradient_manifest != NULL) {
        add_manifest(&ret->pieces[1], contract->gradient_manifest);
    }
    to = &ret->pieces[2];
    add_labels(to, contract_keys[CONTRACT_KEY_required_semantic_labels], contract->required_labels,
               contract->required_label_count);
    if (contract->gpu_label_count > 0) {
        add_labels(to, contract_keys[CONTRACT_KEY_gpu_expected_semantic_labels],
                   contract->gpu_labels, contract->gpu_label_count);
    }
    if (contract->cpu_label_count > 0) {
        add_labels(to, contract_keys[CONTRACT_KEY_cpu_only_semantic_labels], contract->cpu_labels,
                   contract->cpu_label_count);
    }
    text_add(to, CG_LIT("}"));
}

/* --- identity and tags --- */

static cg_code check_identity(const cg_record_identity *identity, cg_err *reterr)
{
    const struct {
        const char *name;
        const char *value;
        bool is_optional;
    } texts[] = {{"workload", identity->workload_id, false},
                 {"model", identity->model_id, false},
                 {"configuration", identity->config_id, false},
                 {"data", identity->data_id, false},
                 {"seed policy", identity->seed_policy, false},
                 {"numeric format", identity->precision, false},
                 {"state of the device", identity->device_state, false},
                 {"implementation", identity->implementation_id, true},
                 {"pair", identity->pair_id, true}};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if ((texts[i].value != NULL || !texts[i].is_optional) && is_blank(texts[i].value)) {
            return BREAKS("the comparison identity has a blank %s", texts[i].name);
        }
    }
    if (identity->physical_batch == 0 || identity->accumulation_steps == 0) {
        return BREAKS("the comparison identity has a batch or an accumulation of 0");
    }
    return CG_OK;
}

static void add_identity(rec_text *to, const cg_record_identity *identity)
{
    size_t first = 0;

    add_key_word(to, meta_keys[META_KEY_identity], CG_LIT("{"));
    first = to->len;
    if (identity->implementation_id != NULL) {
        add_key_text(to, identity_keys[IDENTITY_KEY_implementation_id],
                     identity->implementation_id);
    }
    add_key_text(to, identity_keys[IDENTITY_KEY_workload_id], identity->workload_id);
    add_key_text(to, identity_keys[IDENTITY_KEY_model_id], identity->model_id);
    add_key_text(to, identity_keys[IDENTITY_KEY_config_id], identity->config_id);
    add_key_text(to, identity_keys[IDENTITY_KEY_data_id], identity->data_id);
    add_key_text(to, identity_keys[IDENTITY_KEY_seed_policy], identity->seed_policy);
    add_key_u64(to, identity_keys[IDENTITY_KEY_physical_batch], identity->physical_batch);
    add_key_u64(to, identity_keys[IDENTITY_KEY_accumulation_steps], identity->accumulation_steps);
    add_key_text(to, identity_keys[IDENTITY_KEY_precision], identity->precision);
    add_key_text(to, identity_keys[IDENTITY_KEY_device_state], identity->device_state);
    if (identity->pair_id != NULL) {
        add_key_text(to, identity_keys[IDENTITY_KEY_pair_id], identity->pair_id);
    }
    text_add(to, CG_LIT("}"));
    if (!to->failed) {
        to->at[first] = ' '; /* the comma of the first member */
        memmove(to->at + first, to->at + first + 1, to->len - first - 1);
        to->len--;
    }
}

static int compare_tags(const void *a, const void *b)
{
    return strcmp((*(const cg_record_tag *const *)a)->key, (*(const cg_record_tag *const *)b)->key);
}

static cg_code add_tags(description *ret, const cg_record_run *run, cg_err *reterr)
{
    const cg_record_tag **sorted = rec_take(run->tag_count * sizeof(const cg_record_tag *));
    cg_code code = CG_OK;

    if (sorted == NULL) {
        return rec_fail(reterr, CG_NOMEM, "out-of-memory", "no memory for the tags");
    }
    for (size_t i = 0; i < run->tag_count && code == CG_OK; i++) {
        sorted[i] = &run->tags[i];
        if (run->tags[i].key == NULL || run->tags[i].value == NULL) {
            code = BREAKS("tag %zu has no key or no value", i);
        } else if (str_starts_with(str_from(run->tags[i].key), CG_LIT(RECORDER_TAG_PREFIX))) {
            code = BREAKS("tags `" RECORDER_TAG_PREFIX "...` are the recorder's own");
        }
    }
    if (code == CG_OK && run->tag_count > 0) {
        qsort(sorted, run->tag_count, sizeof *sorted, compare_tags);
    }
    for (size_t i = 0; i < run->tag_count && code == CG_OK; i++) {
        bool is_after = strcmp(sorted[i]->key, RECORDER_TAG_PREFIX) > 0;
        rec_text *to = &ret->pieces[is_after ? 4 : 3];

        if (i > 0 && strcmp(sorted[i - 1]->key, sorted[i]->key) == 0) {
            code = BREAKS("tag `%s` is given twice", sorted[i]->key);
        }
        if (to->len > 0) {
            text_add(to, CG_LIT(","));
        }
        text_add_json(to, str_from(sorted[i]->key));
        text_add(to, CG_LIT(":"));
        text_add_json(to, str_from(sorted[i]->value));
    }
    rec_free(sorted);
    return code;
}

/* --- the whole --- */

static cg_code check_run(const cg_record_run *run, cg_err *reterr)
{
    if (run == NULL || run->size < sizeof *run) {
        return BREAKS("the description of the run is missing or of another version");
    }
    if ((run->run_id != NULL && is_blank(run->run_id)) ||
        (run->correlation_id != NULL && is_blank(run->correlation_id))) {
        return BREAKS("the run or correlation id is blank");
    }
    if (is_blank(run->entrypoint) || is_blank(run->device)) {
        return BREAKS("the entry point or the device is blank");
    }
    if (run->capture_step == 0) {
        return BREAKS("capture steps are counted from 1");
    }
    if (run->warmup_steps >= run->capture_step) {
        return BREAKS("%llu warm-up steps cannot come before step %llu",
                      (unsigned long long)run->warmup_steps, (unsigned long long)run->capture_step);
    }
    if (run->phase > CG_RECORD_INFER || run->timing_mode > CG_RECORD_DEVICE_SYNCHRONIZED) {
        return BREAKS("the phase or the timing mode is not one of the two");
    }
    if (run->identity != NULL) {
        if (run->identity->size < sizeof *run->identity) {
            return BREAKS("the comparison identity is of another version");
        }
        cg_code code = check_identity(run->identity, reterr);
        if (code != CG_OK) {
            return code;
        }
    }
    if (run->contract != NULL && run->contract->size < sizeof *run->contract) {
        return BREAKS("the capture contract is of another version");
    }
    return run->contract != NULL ? check_contract(run->contract, reterr) : CG_OK;
}

static void add_run(rec_text *to, const cg_record_run *run, const struct timespec *now, long pid)
{
    char scratch[64];
    struct tm utc;
    rec_text correlation = {0};

    text_add(to, CG_LIT("{"));
    text_add(to, meta_keys[META_KEY_tag]);
    text_add(to, describe_kind);
    add_key_word(to, meta_keys[META_KEY_schema], describe_schema);
    snprintf(scratch, sizeof scratch, "run-%ld-%lld", pid,
             (long long)now->tv_sec * 1000000000 + now->tv_nsec);
    add_key_text(to, meta_keys[META_KEY_run_id], run->run_id != NULL ? run->run_id : scratch);
    if (run->correlation_id != NULL) {
        text_add(&correlation, str_from(run->correlation_id));
    } else {
        text_add(&correlation, str_from(run->entrypoint));
        text_add(&correlation,
                 run->phase == CG_RECORD_TRAIN ? CG_LIT("/update-") : CG_LIT("/inference-"));
        text_add_u64(&correlation, run->capture_step);
    }
    text_add(to, CG_LIT(","));
    text_add(to, meta_keys[META_KEY_correlation_id]);
    text_add_json(to, text_str(&correlation));
    to->failed |= correlation.failed;
    text_free(&correlation);
    add_key_text(to, meta_keys[META_KEY_entrypoint], run->entrypoint);
    add_key_word(to, meta_keys[META_KEY_phase], describe_phases[run->phase]);
    if (gmtime_r(&now->tv_sec, &utc) == NULL) {
        memset(&utc, 0, sizeof utc);
    }
    size_t length = strftime(scratch, sizeof scratch, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(scratch + length, sizeof scratch - length, ".%03ldZ", now->tv_nsec / 1000000);
    add_key_text(to, meta_keys[META_KEY_timestamp], scratch);
    add_key_u64(to, meta_keys[META_KEY_capture_step], run->capture_step);
    add_key_u64(to, meta_keys[META_KEY_warmup_steps], run->warmup_steps);
    add_key_text(to, meta_keys[META_KEY_device], run->device);
    add_key_word(to, meta_keys[META_KEY_is_device_synchronized],
                 run->is_device_synchronized ? CG_LIT("true") : CG_LIT("false"));
    add_key_word(to, meta_keys[META_KEY_timing_mode], describe_modes[run->timing_mode]);
}

cg_code describe(description *ret, const cg_record_run *run, const struct timespec *now, long pid,
                 cg_err *reterr)
{
    static const cg_record_contract nothing = {.size = sizeof nothing};
    cg_code code = check_run(run, reterr);

    *ret = (description){0};
    if (code != CG_OK) {
        return code;
    }
    add_run(&ret->pieces[0], run, now, pid);
    add_contract(ret, run->contract != NULL ? run->contract : &nothing);
    if (run->identity != NULL) {
        add_identity(&ret->pieces[2], run->identity);
    }
    add_key_word(&ret->pieces[2], meta_keys[META_KEY_tags], CG_LIT("{"));
    code = add_tags(ret, run, reterr);
    for (unsigned i = 0; i < SPOOL_PIECES; i++) {
        if (ret->pieces[i].failed && code == CG_OK) {
            code = rec_fail(reterr, CG_NOMEM, "out-of-memory", "no memory for the description");
        }
    }
    if (code != CG_OK) {
        description_free(ret);
    }
    return code;
}

void description_free(description *self)
{
    for (unsigned i = 0; i < SPOOL_PIECES; i++) {
        text_free(&self->pieces[i]);
    }
}

static cg_str piece(const spool *source, unsigned index)
{
    return (cg_str){source->pieces[index], (size_t)source->header->piece_bytes[index]};
}

static void add_level(rec_text *to, const meta_facts *facts, cg_str key, enum spool_level level)
{
    add_key_word(to, key, describe_levels[facts->levels[level]]);
}

static void add_own_tags(rec_text *to, const spool *source, const meta_facts *facts)
{
    const uint64_t values[] = {facts->dropped, facts->late, facts->refused};
    const cg_str keys[] = {describe_tags[0], describe_tags[2], describe_tags[1]};
    bool has_any = piece(source, 3).len > 0;

    text_add(to, piece(source, 3));
    for (unsigned i = 0; i < 3; i++) { /* bytewise order of the keys */
        if (values[i] > 0) {
            text_add(to, has_any ? CG_LIT(",") : CG_LIT(""));
            text_add(to, keys[i]);
            text_add(to, CG_LIT(":\""));
            text_add_u64(to, values[i]);
            text_add(to, CG_LIT("\""));
            has_any = true;
        }
    }
    if (has_any && piece(source, 4).len > 0) {
        text_add(to, CG_LIT(","));
    }
    text_add(to, piece(source, 4));
}

void describe_meta(rec_text *ret, const spool *source, const meta_facts *facts)
{
    const spool_header *header = source->header;

    text_add(ret, piece(source, 0));
    add_level(ret, facts, contract_keys[CONTRACT_KEY_operations], SPOOL_OPERATIONS);
    add_level(ret, facts, contract_keys[CONTRACT_KEY_tensors], SPOOL_TENSORS);
    add_level(ret, facts, contract_keys[CONTRACT_KEY_gradients], SPOOL_GRADIENTS);
    if (facts->has_gradient_contract) {
        text_add(ret, piece(source, 1));
    }
    add_level(ret, facts, contract_keys[CONTRACT_KEY_logical_memory], SPOOL_LOGICAL_MEMORY);
    add_level(ret, facts, contract_keys[CONTRACT_KEY_physical_memory], SPOOL_PHYSICAL_MEMORY);
    add_level(ret, facts, contract_keys[CONTRACT_KEY_device_timing], SPOOL_DEVICE_TIMING);
    text_add(ret, piece(source, 2));
    add_own_tags(ret, source, facts);
    text_add(ret, CG_LIT("}"));

    add_key_word(ret, meta_keys[META_KEY_calibration], CG_LIT("{"));
    text_add(ret, calibration_keys[CALIBRATION_KEY_counter]);
    text_add_json(ret, str_from(clock_name((enum clock_kind)header->clock)));
    add_key_f64(ret, calibration_keys[CALIBRATION_KEY_span_ns], header->span_ns);
    add_key_f64(ret, calibration_keys[CALIBRATION_KEY_op_ns], header->op_ns);
    add_key_f64(ret, calibration_keys[CALIBRATION_KEY_tensor_ns], header->tensor_ns);
    add_key_f64(ret, calibration_keys[CALIBRATION_KEY_scalar_ns], header->scalar_ns);
    add_key_u64(ret, calibration_keys[CALIBRATION_KEY_measured_records], facts->measured_records);
    add_key_u64(ret, calibration_keys[CALIBRATION_KEY_measured_overhead_ns],
                facts->measured_overhead_ns);
    text_add(ret, CG_LIT("}"));
    if (facts->dropped + facts->refused + facts->late > 0) {
        add_key_word(ret, meta_keys[META_KEY_recorder_loss], CG_LIT("{"));
        text_add(ret, loss_keys[LOSS_KEY_dropped_records]);
        text_add_u64(ret, facts->dropped);
        add_key_u64(ret, loss_keys[LOSS_KEY_refused_records], facts->refused);
        add_key_u64(ret, loss_keys[LOSS_KEY_late_span_ends], facts->late);
        text_add(ret, CG_LIT("}"));
    }
    text_add(ret, CG_LIT("}\n"));
}
