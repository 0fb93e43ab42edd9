#include "join/diagnosis.h"

#include <inttypes.h>

#include "base/sort.h"
#include "join/absent_layers.h"
#include "join/likeness.h"
#include "join/prefix.h"
#include "join/projection.h"
#include "join/rename.h"

static cg_str last_segment(const key_name *name)
{
    return name->segments[name->count - 1];
}

static cg_str module_segment(const key_name *name)
{
    return name->count > 1 ? name->segments[name->count - 2] : (cg_str){"", 0};
}

static cg_str lead_of(const key_name *name, uint32_t count)
{
    size_t len = 0;

    for (uint32_t i = 0; i < count; i++)
        len += name->segments[i].len + (i > 0);
    return (cg_str){name->text.ptr, len};
}

/* --- shards --- */

static cg_code explain_shard(difference *self, cg_str shard, bool is_absent, cg_err *reterr)
{
    key_pairs pairs = {0};
    doc_diagnosis *row = NULL;
    cg_code code = CG_OK;

    for (uint32_t i = 0; code == CG_OK && i < self->key_count; i++) {
        const model_key *key = &self->keys[i];

        if (key_is_open(key) && key->shard.ptr != NULL && str_equal(key->shard, shard))
            code = difference_add_pair(self, &pairs, i, KEY_NOWHERE, reterr);
    }
    if (code == CG_OK)
        code = difference_add_row(
            self, is_absent ? DIAGNOSIS_MISSING_SHARD : DIAGNOSIS_UNEXPLAINED, &pairs, false,
            is_absent
                ? difference_text(self, "the index has these in `%.*s`, which is not there",
                                  (int)shard.len, shard.ptr)
                : difference_text(self, "the index promises these in `%.*s`, which lacks them",
                                  (int)shard.len, shard.ptr),
            &row, reterr);
    if (code == CG_OK)
        row->shard = shard;
    vec_free(self->heap, &pairs);
    return code;
}

static cg_code find_shards(difference *self, cg_err *reterr)
{
    for (size_t i = 0; i < self->key_count; i++) {
        if (key_is_open(&self->keys[i]) && self->keys[i].shard.ptr != NULL)
            CG_TRY(explain_shard(self, self->keys[i].shard, self->keys[i].is_shard_absent, reterr));
    }
    return CG_OK;
}

/* --- shapes --- */

/* Are the axes of the one the axes of the other in another order? */
static bool is_turned(difference *self, const model_key *key, const tensor_row *row)
{
    uint64_t turned[3];
    static const uint8_t orders[][4] = {/* two axes */ {2, 1, 0, 0},
                                        /* three: all others, four: HWIO and its kind as three */
                                        {3, 2, 1, 0},
                                        {3, 0, 2, 1},
                                        {3, 1, 0, 2},
                                        {3, 1, 2, 0},
                                        {3, 2, 0, 1}};

    if (row->rank < 2 || row->rank > 3 || !key->from->has_rank)
        return false;
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        if (orders[i][0] != row->rank)
            continue;
        for (uint32_t j = 0; j < row->rank; j++)
            turned[j] = row->shape[orders[i][j + 1]];
        if (shape_compare(self->pool, key->shape, key->from->rank, turned, row->rank,
                          key->values) != SHAPE_OTHER)
            return true;
    }
    return false;
}

/* Kernels: input and output channels behind the window, as TensorFlow stores them, or changed. */
static bool is_turned_kernel(difference *self, const model_key *key, const tensor_row *row)
{
    const uint64_t *s = row->shape;

    if (row->rank != 4 || !key->from->has_rank)
        return false;
    {
        const uint64_t orders[3][4] = {
            {s[3], s[2], s[0], s[1]}, {s[1], s[0], s[2], s[3]}, {s[0], s[3], s[1], s[2]}};

        for (size_t i = 0; i < 3; i++) {
            if (shape_compare(self->pool, key->shape, key->from->rank, orders[i], 4, key->values) !=
                SHAPE_OTHER)
                return true;
        }
    }
    return false;
}

static cg_code add_shape_rows(difference *self, const key_pairs *turned, const key_pairs *other,
                              cg_err *reterr)
{
    if (turned->count > 0)
        CG_TRY(difference_add_row(
            self, DIAGNOSIS_TRANSPOSED, turned, false,
            CG_LIT("the file stores these with their axes in another order; transpose them"), NULL,
            reterr));
    if (other->count > 0)
        CG_TRY(difference_add_row(
            self, DIAGNOSIS_SHAPE_MISMATCH, other, false,
            CG_LIT("these have other sizes in the file than the code asks for; is the "
                   "configuration that of the file?"),
            NULL, reterr));
    return CG_OK;
}

/* Tensors of another shape: those of the same name, or those a shifted prefix leads to. */
static cg_code find_shapes(difference *self, bool is_shifted, cg_err *reterr)
{
    key_pairs turned = {0};
    key_pairs other = {0};
    cg_code code = CG_OK;

    for (uint32_t i = 0; code == CG_OK && i < self->key_count; i++) {
        const model_key *key = &self->keys[i];
        const tensor_row *row = key->has_other_shape ? key->tensor : NULL;
        uint32_t spare = KEY_NOWHERE;
        bool is_transposed;

        if (is_shifted && key_is_open(key) && !key->is_template) {
            spare = difference_find_spare(self, difference_shifted(self, key->name.text));
            row = spare != KEY_NOWHERE ? self->spare[spare].row : NULL;
        }
        if (row == NULL || key->is_explained)
            continue;
        is_transposed = is_turned(self, key, row) || is_turned_kernel(self, key, row);
        code = difference_add_pair(self, is_transposed ? &turned : &other, i, spare, reterr);
    }
    if (code == CG_OK)
        code = add_shape_rows(self, &turned, &other, reterr);
    vec_free(self->heap, &turned);
    vec_free(self->heap, &other);
    return code;
}

/* --- ties --- */

static bool is_head_key(const model_key *key)
{
    return key->from->use != PARAMETER_EMBEDDING && likeness_is_head(module_segment(&key->name));
}

static bool is_table_key(const model_key *key)
{
    return key->from->use == PARAMETER_EMBEDDING ||
           (key->from->use == PARAMETER_ANY && likeness_is_table(module_segment(&key->name)));
}

/* The tensor that serves this key: its own, or the one a row says was meant. */
static const tensor_row *tensor_of(const difference *self, const model_key *key)
{
    if (key->tensor != NULL)
        return key->has_other_shape ? NULL : key->tensor;
    return key->partner != KEY_NOWHERE ? self->spare[key->partner].row : NULL;
}

/* Could `source` be used for `key`? Both ends of a tie are known for what they are. */
static bool is_tie(difference *self, const model_key *key, const model_key *source)
{
    const tensor_row *row = tensor_of(self, source);
    bool is_linear = key->from->use == PARAMETER_LINEAR || key->from->use == PARAMETER_ANY;

    if (row == NULL || row->rank != 2 || (key->from->has_rank && key->from->rank != 2) ||
        difference_shape(self, key, row) == SHAPE_OTHER)
        return false;
    if (is_table_key(source))
        return is_table_key(key) || is_head_key(key) ||
               (is_linear && difference_shape(self, key, row) == SHAPE_EQUAL);
    return is_table_key(key) && is_head_key(source);
}

static uint32_t common_lead(const key_name *a, const key_name *b)
{
    uint32_t count = 0;

    while (count < a->count && count < b->count &&
           str_equal(a->segments[count], b->segments[count]))
        count++;
    return count;
}

/* Is there a tensor nobody claims that could be this key itself? */
static bool has_own_tensor(difference *self, const model_key *key)
{
    for (size_t i = 0; i < self->spare_count; i++) {
        const spare_tensor *spare = &self->spare[i];
        cg_str module = module_segment(&spare->name);
        enum shape_answer answer;

        if (spare->is_explained || !str_equal(last_segment(&spare->name), last_segment(&key->name)))
            continue;
        answer = difference_shape(self, key, spare->row);
        if (answer != SHAPE_OTHER &&
            (likeness_is_head(module) || str_equal(module, module_segment(&key->name)) ||
             (is_table_key(key) && likeness_is_table(module))))
            return true;
        /* Code that never ties is no hint of a tie: the file may have another head instead. */
        if (key->is_certain && is_head_key(key) &&
            (answer == SHAPE_EQUAL || likeness_is_head(module)))
            return true;
    }
    return false;
}

#define MOST_TIE_SOURCES 1024 /* a file with more tables than this has none that stands out */

typedef struct tie_sources {
    VEC(uint32_t) keys; /* positions of those whose tensor another key could share */
} tie_sources;

static cg_code list_tie_sources(difference *self, tie_sources *ret, cg_err *reterr)
{
    for (uint32_t i = 0; i < self->key_count && ret->keys.count <= MOST_TIE_SOURCES; i++) {
        const model_key *key = &self->keys[i];
        const tensor_row *row = tensor_of(self, key);
        uint32_t *place;

        if (row == NULL || row->rank != 2 || !(is_table_key(key) || is_head_key(key)))
            continue;
        place = vec_add(self->heap, &ret->keys);
        if (place == NULL)
            return err_nomem(reterr);
        *place = i;
    }
    return CG_OK;
}

static uint32_t find_tie(difference *self, const tie_sources *sources, const model_key *key)
{
    uint32_t best = KEY_NOWHERE;
    uint32_t best_lead = 0;
    bool is_tied = false;

    for (size_t at = 0; at < sources->keys.count; at++) {
        uint32_t i = sources->keys.at[at];
        const model_key *source = &self->keys[i];
        uint32_t lead;

        if (source == key || !is_tie(self, key, source))
            continue;
        lead = common_lead(&key->name, &source->name);
        if (best == KEY_NOWHERE || lead > best_lead) {
            best = i;
            best_lead = lead;
            is_tied = false;
        } else if (lead == best_lead) {
            is_tied = true;
        }
    }
    return is_tied ? KEY_NOWHERE : best;
}

static cg_code add_tie(difference *self, uint32_t index, const model_key *source, cg_err *reterr)
{
    key_pair pair = {index, KEY_NOWHERE};
    key_pairs pairs = {&pair, 1, 1};
    cg_str *file = arena_take(self->mem, sizeof *file);
    cg_str key = self->keys[index].name.text;
    doc_diagnosis *row = NULL;
    cg_str text;

    if (file == NULL)
        return err_nomem(reterr);
    *file = tensor_of(self, source)->name;
    if (self->keys[index].is_certain)
        text = difference_text(
            self,
            "the file has no `%.*s`; a model that shares it with `%.*s` saves one of the two. The "
            "code ties nothing here and asks for both in every run: take the tensor of the other",
            (int)key.len, key.ptr, (int)source->name.text.len, source->name.text.ptr);
    else
        text = difference_text(self, "`%.*s` shares its tensor with `%.*s`; the file has it once",
                               (int)key.len, key.ptr, (int)source->name.text.len,
                               source->name.text.ptr);
    CG_TRY(difference_add_row(self, DIAGNOSIS_TIED_WEIGHT, &pairs, false, text, &row, reterr));
    row->file_keys = (sc_strs){file, 1};
    return CG_OK;
}

static cg_code find_ties(difference *self, cg_err *reterr)
{
    tie_sources sources = {0};
    cg_code code = list_tie_sources(self, &sources, reterr);
    bool is_searched =
        code == CG_OK && sources.keys.count > 0 && sources.keys.count <= MOST_TIE_SOURCES;

    for (uint32_t i = 0; is_searched && code == CG_OK && i < self->key_count; i++) {
        const model_key *key = &self->keys[i];
        uint32_t source;

        /* A table that may be asked for is another name for one more often than the same one. */
        if (!key_is_open(key) || key->is_template || key->from->use == PARAMETER_CONVOLUTION ||
            (!key->is_certain && !is_head_key(key)))
            continue;
        source = find_tie(self, &sources, key);
        if (source != KEY_NOWHERE && !has_own_tensor(self, key))
            code = add_tie(self, i, &self->keys[source], reterr);
    }
    vec_free(self->heap, &sources.keys);
    return code;
}

/* --- running statistics --- */

static bool is_running_key(const model_key *key)
{
    return key->from->use == PARAMETER_RUNNING ||
           (str_starts_with(last_segment(&key->name), CG_LIT("running_")) &&
            likeness_is_running(last_segment(&key->name)));
}

/* Has the module of this key something that the file holds? A norm that is absent altogether is not
 * a matter of its statistics. */
static bool has_served_sibling(const difference *self, size_t index)
{
    const key_name *name = &self->keys[index].name;
    cg_str lead = lead_of(name, name->count - 1);

    for (size_t i = index; i-- > 0;) {
        if (!str_starts_with(self->keys[i].name.text, lead))
            break;
        if (self->keys[i].name.count == name->count && tensor_of(self, &self->keys[i]) != NULL)
            return true;
    }
    for (size_t i = index + 1; i < self->key_count; i++) {
        if (!str_starts_with(self->keys[i].name.text, lead))
            break;
        if (self->keys[i].name.count == name->count && tensor_of(self, &self->keys[i]) != NULL)
            return true;
    }
    return false;
}

static cg_code find_running(difference *self, cg_err *reterr)
{
    key_pairs pairs = {0};
    size_t key_count = 0;
    cg_code code = CG_OK;

    for (uint32_t i = 0; code == CG_OK && i < self->key_count; i++) {
        if (!key_is_open(&self->keys[i]) || !is_running_key(&self->keys[i]) ||
            !has_served_sibling(self, i))
            continue;
        key_count++;
        code = difference_add_pair(self, &pairs, i, KEY_NOWHERE, reterr);
    }
    for (uint32_t i = 0; code == CG_OK && i < self->spare_count; i++) {
        if (!self->spare[i].is_explained && likeness_is_counter(last_segment(&self->spare[i].name)))
            code = difference_add_pair(self, &pairs, KEY_NOWHERE, i, reterr);
    }
    if (code == CG_OK && pairs.count > 0)
        code = difference_add_row(
            self, DIAGNOSIS_RUNNING_STATE_ONLY, &pairs, false,
            key_count > 0
                ? CG_LIT("only running statistics of batch norms are absent: the parameters are "
                         "there, the model can be trained but not evaluated")
                : CG_LIT("counters of seen batches, which Candle does not use; harmless"),
            NULL, reterr);
    vec_free(self->heap, &pairs);
    return code;
}

/* --- another variant --- */

typedef struct modules {
    cg_str *at;
    size_t count;
} modules;

static void add_module(modules *to, cg_str text)
{
    for (size_t i = 0; i < to->count; i++) {
        if (str_equal(to->at[i], text))
            return;
    }
    to->at[to->count++] = text;
}

/* Does the model have a key that begins with these segments? */
static bool model_has_prefix(const difference *self, const key_name *name, uint32_t count)
{
    for (size_t i = 0; i < self->key_count; i++) {
        const model_key *key = &self->keys[i];
        key_numbers numbers = key->numbers;
        uint32_t at = 0;

        if (key->name.count < count)
            continue;
        if (!key->is_template && count > 0 && key->name.segments[0].len == name->segments[0].len &&
            !str_equal(key->name.segments[0], name->segments[0]))
            continue;
        while (at < count &&
               (key->is_template ? key_segment_match(key->pattern, at, name->segments[at], &numbers)
                                 : str_equal(key->name.segments[at], name->segments[at])))
            at++;
        if (at == count)
            return true;
    }
    return false;
}

/* The outermost module on the way that the other side lacks; absent when it is only a leaf. */
static cg_str foreign_module(const difference *self, const key_name *name, bool is_model)
{
    for (uint32_t i = 1; i < name->count; i++) {
        cg_str lead = lead_of(name, i);
        bool is_there =
            is_model ? difference_has_prefix(self, lead) : model_has_prefix(self, name, i);
        /* A list is named, not its members. */
        bool is_list = str_find(name->segments[i - 1], CG_LIT("{")) != SIZE_MAX;

        if (!is_there)
            return is_list && i > 1 ? lead_of(name, i - 1) : lead;
    }
    return (cg_str){0};
}

static cg_code collect_modules(difference *self, modules *ret_model, modules *ret_file,
                               cg_err *reterr)
{
    cg_str last = {0};

    ret_model->at = arena_take(self->mem, (self->key_count + 1) * sizeof *ret_model->at);
    ret_file->at = arena_take(self->mem, (self->spare_count + 1) * sizeof *ret_file->at);
    if (ret_model->at == NULL || ret_file->at == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < self->key_count; i++) {
        cg_str module;

        if (!key_is_open(&self->keys[i]))
            continue;
        module = foreign_module(self, &self->keys[i].name, true);
        if (module.ptr != NULL)
            add_module(ret_model, module);
    }
    for (size_t i = 0; i < self->spare_count; i++) {
        const key_name *name = &self->spare[i].name;

        if (self->spare[i].is_explained ||
            (last.ptr != NULL && str_starts_with(name->text, last) && name->text.len > last.len &&
             name->text.ptr[last.len] == '.'))
            continue;
        last = foreign_module(self, name, false);
        if (last.ptr != NULL)
            add_module(ret_file, last);
    }
    return CG_OK;
}

static void list_some(buf *out, const modules *from)
{
    for (size_t i = 0; i < from->count && i < 5; i++)
        buf_addf(out, "%s`%.*s`", i > 0 ? ", " : "", (int)from->at[i].len, from->at[i].ptr);
    if (from->count > 5)
        buf_addf(out, " and %zu more", from->count - 5);
}

static cg_str explain_variant(difference *self, const modules *model, const modules *file)
{
    cg_str kept = {0};
    buf text;

    buf_init(&text, self->heap, UINT32_MAX);
    buf_add(&text, CG_LIT("this is the file of another model or variant: the code asks for "));
    list_some(&text, model);
    buf_add(&text, CG_LIT(", the file has "));
    list_some(&text, file);
    if (text.failed || !arena_text(self->mem, buf_text(&text), &kept))
        kept = (cg_str){0};
    buf_free(&text);
    return kept;
}

/* Most of what the code asks for, or most of what the file has, is of no use for the other. */
static bool is_most_foreign(const difference *self)
{
    size_t keys = 0;
    size_t tensors = 0;

    for (size_t i = 0; i < self->key_count; i++)
        keys += key_is_open(&self->keys[i]);
    for (size_t i = 0; i < self->spare_count; i++)
        tensors += !self->spare[i].is_explained;
    return keys > 0 && tensors > 0 &&
           (keys * 2 >= self->key_count || (tensors * 2 >= self->header->tensor_count && keys > 1));
}

static cg_code add_rest(difference *self, bool has_keys, bool has_spare, key_pairs *to,
                        cg_err *reterr)
{
    for (uint32_t i = 0; has_keys && i < self->key_count; i++) {
        if (key_is_open(&self->keys[i]))
            CG_TRY(difference_add_pair(self, to, i, KEY_NOWHERE, reterr));
    }
    for (uint32_t i = 0; has_spare && i < self->spare_count; i++) {
        if (!self->spare[i].is_explained)
            CG_TRY(difference_add_pair(self, to, KEY_NOWHERE, i, reterr));
    }
    return CG_OK;
}

static cg_code find_variant(difference *self, cg_err *reterr)
{
    modules model = {0};
    modules file = {0};
    key_pairs pairs = {0};
    doc_diagnosis *row = NULL;
    cg_code code;

    if (!is_most_foreign(self))
        return CG_OK;
    CG_TRY(collect_modules(self, &model, &file, reterr));
    if (model.count == 0 || file.count == 0)
        return CG_OK;
    code = add_rest(self, true, true, &pairs, reterr);
    if (code == CG_OK)
        code = difference_add_row(self, DIAGNOSIS_WRONG_VARIANT, &pairs, false,
                                  explain_variant(self, &model, &file), &row, reterr);
    if (code == CG_OK) {
        row->model_modules = (sc_strs){model.at, model.count};
        row->file_modules = (sc_strs){file.at, file.count};
    }
    vec_free(self->heap, &pairs);
    return code;
}

/* --- what is left --- */

/* `model-00001-of-00003.safetensors` read alone. */
static bool is_one_of_several(const tensor_header *header)
{
    cg_str name;
    size_t at;

    if (header->is_indexed || header->file_count == 0)
        return false;
    name = header->files[0].name;
    at = str_find(name, CG_LIT("-of-"));
    return at != SIZE_MAX && at > 0 && name.ptr[at - 1] >= '0' && name.ptr[at - 1] <= '9';
}

/* Keys that nothing is said about: those of every run, or those of some configurations. */
static cg_code add_missing(difference *self, bool is_certain, cg_str explanation, cg_err *reterr)
{
    key_pairs pairs = {0};
    cg_code code = CG_OK;

    for (uint32_t i = 0; code == CG_OK && i < self->key_count; i++) {
        if (key_is_open(&self->keys[i]) && self->keys[i].is_certain == is_certain)
            code = difference_add_pair(self, &pairs, i, KEY_NOWHERE, reterr);
    }
    if (code == CG_OK && pairs.count > 0)
        code = difference_add_row(self, DIAGNOSIS_UNEXPLAINED, &pairs, false, explanation, NULL,
                                  reterr);
    vec_free(self->heap, &pairs);
    return code;
}

static cg_code find_rest(difference *self, cg_err *reterr)
{
    bool is_part = is_one_of_several(self->header);
    cg_str parts = CG_LIT("the file is one of several parts; name the index or the folder");
    key_pairs pairs = {0};
    cg_code code;

    CG_TRY(add_missing(
        self, true,
        is_part ? parts
                : CG_LIT("the code asks for these, and nothing in the file looks like them"),
        reterr));
    CG_TRY(add_missing(self, false,
                       is_part ? parts
                               : CG_LIT("only some configurations ask for these, and nothing in "
                                        "the file looks like them"),
                       reterr));
    code = add_rest(self, false, true, &pairs, reterr);
    if (code == CG_OK && pairs.count > 0)
        code = difference_add_row(self, DIAGNOSIS_UNEXPLAINED, &pairs, false,
                                  CG_LIT("the file holds these, and the code asks for none of "
                                         "them"),
                                  NULL, reterr);
    vec_free(self->heap, &pairs);
    return code;
}

/* --- dtypes --- */

static bool is_matched(const model_key *key)
{
    return key->tensor != NULL && !key->has_other_shape;
}

/* The dtype of more than half of the matched tensors; TENSOR_DTYPE_COUNT when there is none. */
static unsigned common_dtype(const difference *self)
{
    size_t counts[TENSOR_DTYPE_COUNT] = {0};
    size_t total = 0;

    for (size_t i = 0; i < self->key_count; i++) {
        if (!is_matched(&self->keys[i]))
            continue;
        counts[self->keys[i].tensor->dtype]++;
        total++;
    }
    for (unsigned i = 0; i < TENSOR_DTYPE_COUNT; i++) {
        if (counts[i] * 2 > total)
            return i;
    }
    return TENSOR_DTYPE_COUNT;
}

static cg_code find_dtypes(difference *self, cg_err *reterr)
{
    unsigned common = common_dtype(self);
    key_pairs pairs = {0};
    cg_code code = CG_OK;

    for (uint32_t i = 0; common < TENSOR_DTYPE_COUNT && code == CG_OK && i < self->key_count; i++) {
        if (is_matched(&self->keys[i]) && self->keys[i].tensor->dtype != common)
            code = difference_add_pair(self, &pairs, i, KEY_NOWHERE, reterr);
    }
    if (code == CG_OK && pairs.count > 0) {
        cg_str name = tensor_dtype_name((enum tensor_dtype)common);

        code = difference_add_row(
            self, DIAGNOSIS_DTYPE_ONLY, &pairs, false,
            difference_text(self,
                            "these are stored in another dtype than the rest (%.*s); Candle "
                            "converts them when it loads",
                            (int)name.len, name.ptr),
            NULL, reterr);
    }
    vec_free(self->heap, &pairs);
    return code;
}

/* --- order --- */

static int code_rank(const doc_diagnosis *row)
{
    for (int i = 0; i < DIAGNOSIS_COUNT; i++) {
        if (str_equal(diagnosis_words[i], row->code))
            return i;
    }
    return DIAGNOSIS_COUNT;
}

static bool row_before(const void *context, uint32_t a, uint32_t b)
{
    const doc_diagnosis *all = context;
    int left = code_rank(&all[a]);
    int right = code_rank(&all[b]);

    return left < right;
}

static cg_code order_rows(difference *self, cg_err *reterr)
{
    size_t count = self->rows.count;
    uint32_t *order = arena_take(self->mem, (count + 1) * 2 * sizeof *order);
    doc_diagnosis *rows = arena_take(self->mem, (count + 1) * sizeof *rows);

    if (order == NULL || rows == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < count; i++) {
        order[i] = (uint32_t)i;
        rows[i] = self->rows.at[i];
    }
    sort_with(order, order + count, count, row_before, rows);
    for (size_t i = 0; i < count; i++)
        self->rows.at[i] = rows[order[i]];
    return CG_OK;
}

/* Names that are settled can leave a prefix in sight, and that in turn other names. */
static cg_code find_renamed(difference *self, cg_err *reterr)
{
    size_t shift_count = self->shifts.count;
    size_t row_count = self->rows.count;

    CG_TRY(rename_find(self, reterr));
    if (self->rows.count == row_count)
        return CG_OK;
    CG_TRY(prefix_find_shifted(self, reterr));
    return self->shifts.count == shift_count ? CG_OK : rename_find(self, reterr);
}

/* Names that are changed on the way say nothing about prefixes and variants. */
static cg_code say_renamed(difference *self, cg_err *reterr)
{
    const key_step *call = self->renamed_by;
    key_pairs pairs = {0};
    doc_diagnosis *row = NULL;
    cg_code code = add_rest(self, true, true, &pairs, reterr);

    if (code == CG_OK)
        code = difference_add_row(
            self, DIAGNOSIS_UNEXPLAINED, &pairs, false,
            difference_text(self,
                            "names are changed between the file and the builder of `%.*s` "
                            "(%.*s:%" PRIu64 "), which was not followed: compare what it asks for "
                            "with the changed names",
                            (int)call->function.len, call->function.ptr, (int)call->file.len,
                            call->file.ptr, call->line),
            &row, reterr);
    vec_free(self->heap, &pairs);
    return code;
}

cg_code diagnosis_run(difference *self, cg_err *reterr)
{
    CG_TRY(find_shards(self, reterr));
    if (self->renamed_by != NULL && difference_is_open(self))
        return say_renamed(self, reterr);

    CG_TRY(find_shapes(self, false, reterr));
    CG_TRY(prefix_find_repeated(self, reterr));
    CG_TRY(prefix_find_shifted(self, reterr));
    if (self->shifts.count > 0)
        CG_TRY(find_shapes(self, true, reterr));
    CG_TRY(projection_find_fused(self, reterr));
    CG_TRY(projection_find_split(self, reterr));
    CG_TRY(find_ties(self, reterr));
    CG_TRY(find_renamed(self, reterr));
    CG_TRY(prefix_find_single(self, reterr));
    CG_TRY(find_ties(self, reterr));
    CG_TRY(find_running(self, reterr));
    CG_TRY(absent_layers_find(self, reterr));
    CG_TRY(find_variant(self, reterr));
    CG_TRY(find_rest(self, reterr));
    CG_TRY(find_dtypes(self, reterr));
    return order_rows(self, reterr);
}
