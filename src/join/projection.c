#include "join/projection.h"

#include <inttypes.h>

#include "base/num.h"
#include "model/expr_solve.h"

#define PARTS_MOST 16

enum role { ROLE_QUERY = 1, ROLE_KEY = 2, ROLE_VALUE = 4, ROLE_GATE = 8, ROLE_UP = 16 };
#define ROLES_ATTENTION ((unsigned)(ROLE_QUERY | ROLE_KEY | ROLE_VALUE))

/* A name taken apart: `h.0.attn` + `q` + `weight`, `attn` + `in_proj` + `weight`. */
typedef struct piece {
    cg_str parent; /* text before the module */
    cg_str module;
    cg_str leaf;
    unsigned roles;
    uint32_t parent_hash;
    uint32_t number_hash; /* of the numbers on the way */
} piece;

typedef struct pieces {
    piece *keys;  /* by key */
    piece *spare; /* by spare tensor */
} pieces;

/* --- names --- */

static char lower(char byte)
{
    return byte >= 'A' && byte <= 'Z' ? (char)(byte - 'A' + 'a') : byte;
}

static bool is_upper(char byte)
{
    return byte >= 'A' && byte <= 'Z';
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* The letters q, k and v and nothing else, perhaps behind a `w`: `qkv`, `wq`, `kv`. */
static unsigned roles_of_letters(cg_str token)
{
    unsigned roles = 0;

    if (token.len > 1 && token.ptr[0] == 'w')
        token = (cg_str){token.ptr + 1, token.len - 1};
    for (size_t i = 0; i < token.len; i++) {
        unsigned one = token.ptr[i] == 'q'   ? ROLE_QUERY
                       : token.ptr[i] == 'k' ? ROLE_KEY
                       : token.ptr[i] == 'v' ? ROLE_VALUE
                                             : 0u;

        if (one == 0 || (roles & one) != 0)
            return 0;
        roles |= one;
    }
    return roles;
}

static unsigned roles_of_token(cg_str token)
{
    static const struct {
        cg_str word;
        unsigned roles;
    } words[] = {
        {{"query", 5}, ROLE_QUERY},
        {{"queries", 7}, ROLE_QUERY},
        {{"key", 3}, ROLE_KEY},
        {{"keys", 4}, ROLE_KEY},
        {{"value", 5}, ROLE_VALUE},
        {{"values", 6}, ROLE_VALUE},
        {{"gate", 4}, ROLE_GATE},
        {{"up", 2}, ROLE_UP},
        {{"w1", 2}, ROLE_GATE},
        {{"w3", 2}, ROLE_UP},
        {{"w13", 3}, ROLE_GATE | ROLE_UP},
    };

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (str_equal(words[i].word, token))
            return words[i].roles;
    }
    return roles_of_letters(token);
}

/* What the words of a module's name say that it holds; 0: nothing known. */
static unsigned roles_of(cg_str module)
{
    char word[24];
    size_t len = 0;
    unsigned roles = 0;

    for (size_t i = 0; i <= module.len; i++) {
        char byte = i < module.len ? module.ptr[i] : '_';
        bool is_border =
            byte == '_' || byte == '-' || (i > 0 && is_upper(byte) && !is_upper(module.ptr[i - 1]));

        if (is_border) {
            unsigned one = roles_of_token((cg_str){word, len});

            if ((roles & one) != 0)
                return 0;
            roles |= one;
            len = 0;
        }
        if (byte != '_' && byte != '-' && len < sizeof word)
            word[len++] = lower(byte);
    }
    return roles;
}

static bool is_numbered(cg_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (!is_digit(text.ptr[i]))
            return false;
    }
    return text.len > 0;
}

static cg_str lead_of(const key_name *name, uint32_t count)
{
    size_t len = 0;

    for (uint32_t i = 0; i < count; i++)
        len += name->segments[i].len + (i > 0);
    return (cg_str){name->text.ptr, len};
}

static uint32_t hash_of(cg_str text, uint32_t hash)
{
    for (size_t i = 0; i < text.len; i++)
        hash = (hash ^ (unsigned char)text.ptr[i]) * 16777619u;
    return hash * 31 + 1;
}

static piece take_apart(const key_name *name)
{
    piece self = {.number_hash = 1};
    cg_str last = name->segments[name->count - 1];
    static const cg_str leaves[] = {{"_weight", 7}, {"_bias", 5}};

    for (uint32_t i = 0; i < name->count; i++) {
        cg_str segment = name->segments[i];

        if (is_numbered(segment))
            self.number_hash = hash_of(segment, self.number_hash);
    }
    for (size_t i = 0; i < sizeof leaves / sizeof leaves[0]; i++) {
        if (last.len > leaves[i].len && str_ends_with(last, leaves[i])) {
            self.parent = lead_of(name, name->count - 1);
            self.module = (cg_str){last.ptr, last.len - leaves[i].len};
            self.leaf = (cg_str){leaves[i].ptr + 1, leaves[i].len - 1};
            self.roles = roles_of(self.module);
            self.parent_hash = hash_of(self.parent, 1);
            return self;
        }
    }
    if (name->count < 2)
        return self;
    self.parent = lead_of(name, name->count - 2);
    self.module = name->segments[name->count - 2];
    self.leaf = last;
    self.roles = roles_of(self.module);
    self.parent_hash = hash_of(self.parent, 1);
    return self;
}

static cg_code take_all_apart(difference *self, pieces *ret, cg_err *reterr)
{
    ret->keys = arena_zero(self->mem, (self->key_count + 1) * sizeof *ret->keys);
    ret->spare = arena_zero(self->mem, (self->spare_count + 1) * sizeof *ret->spare);
    if (ret->keys == NULL || ret->spare == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < self->key_count; i++) {
        key_name name = {0};

        if (!key_is_open(&self->keys[i]) || self->keys[i].is_template)
            continue;
        if (!key_name_make(self->mem, difference_shifted(self, self->keys[i].name.text), &name))
            return err_nomem(reterr);
        ret->keys[i] = take_apart(&name);
    }
    for (size_t i = 0; i < self->spare_count; i++) {
        if (!self->spare[i].is_explained)
            ret->spare[i] = take_apart(&self->spare[i].name);
    }
    return CG_OK;
}

/* --- shapes --- */

enum sum { SUM_NEVER, SUM_PERHAPS, SUM_EXACT };

static enum sum weaker(enum sum sum, enum expr_answer answer)
{
    if (answer == EXPR_FALSE)
        return SUM_NEVER;
    return answer == EXPR_HOLDS ? sum : (sum == SUM_EXACT ? SUM_PERHAPS : sum);
}

static enum expr_answer ask(difference *self, const model_key *key, expr axis, uint64_t number)
{
    expr_binding binding;

    if (axis == EXPR_NONE || number > INT64_MAX)
        return EXPR_OPEN;
    return expr_solve(self->pool, axis, (int64_t)number, key->values->at, key->values->count,
                      &binding);
}

/* Do the keys lie side by side along this axis of the tensor? */
static enum sum keys_make(difference *self, const uint32_t *keys, size_t count,
                          const tensor_row *row, uint32_t axis)
{
    enum sum sum = SUM_EXACT;
    expr total = EXPR_NONE;

    for (size_t i = 0; i < count; i++) {
        const model_key *key = &self->keys[keys[i]];

        if (!key->from->has_rank) {
            sum = sum == SUM_NEVER ? sum : SUM_PERHAPS;
            total = EXPR_NONE;
            continue;
        }
        if (key->from->rank != row->rank)
            return SUM_NEVER;
        for (uint32_t j = 0; j < row->rank; j++) {
            if (j != axis)
                sum = weaker(sum, ask(self, key, key->shape[j], row->shape[j]));
            if (sum == SUM_NEVER)
                return sum;
        }
        total =
            i == 0 ? key->shape[axis] : expr_binary(self->pool, EXPR_ADD, total, key->shape[axis]);
    }
    return weaker(sum, ask(self, &self->keys[keys[0]], total, row->shape[axis]));
}

static enum sum tensors_make(difference *self, const uint32_t *spare, size_t count,
                             const model_key *key, uint32_t axis)
{
    enum sum sum = SUM_EXACT;
    uint64_t total = 0;

    for (size_t i = 0; i < count; i++) {
        const tensor_row *row = self->spare[spare[i]].row;

        if (key->from->has_rank && key->from->rank != row->rank)
            return SUM_NEVER;
        if (axis >= row->rank || row->rank != self->spare[spare[0]].row->rank)
            return SUM_NEVER;
        for (uint32_t j = 0; j < row->rank; j++) {
            if (j == axis)
                continue;
            if (row->shape[j] != self->spare[spare[0]].row->shape[j])
                return SUM_NEVER;
            if (key->from->has_rank)
                sum = weaker(sum, ask(self, key, key->shape[j], row->shape[j]));
        }
        total = num_sat_add(total, row->shape[axis]);
    }
    if (!key->from->has_rank)
        return SUM_PERHAPS;
    return sum == SUM_NEVER ? sum : weaker(sum, ask(self, key, key->shape[axis], total));
}

/* --- one whole, several parts --- */

/* Names ask for it: the whole says what it holds, and the parts are just that. */
static bool is_named(unsigned whole, unsigned parts, size_t count)
{
    unsigned bits = 0;

    for (unsigned i = 0; i < 5; i++)
        bits += parts >> i & 1;
    return bits == count && (whole == parts || (whole == 0 && parts == ROLES_ATTENTION));
}

typedef struct gathering {
    uint32_t at[PARTS_MOST];
    size_t count;
    unsigned roles;
    bool is_over;
} gathering;

static void gather(gathering *to, uint32_t index, unsigned roles)
{
    if (to->count == PARTS_MOST || (to->roles & roles) != 0)
        to->is_over = true;
    else
        to->at[to->count++] = index;
    to->roles |= roles;
}

/*
 * The parts of `whole` below one parent. With a word for what the whole holds, those with just
 * these roles, else all siblings.
 */
static void gather_below(const piece *all, size_t count, const piece *whole, cg_str parent,
                         bool by_role, gathering *ret)
{
    uint32_t hash = hash_of(parent, 1);

    *ret = (gathering){.count = 0};
    for (size_t i = 0; i < count && !ret->is_over; i++) {
        bool is_part = all[i].parent_hash == hash && all[i].module.ptr != NULL &&
                       str_equal(all[i].leaf, whole->leaf) && str_equal(all[i].parent, parent);
        unsigned wanted = whole->roles != 0 ? whole->roles : ROLES_ATTENTION;

        if (is_part && by_role &&
            (all[i].roles == 0 || (all[i].roles & ~wanted) != 0 || all[i].roles == wanted))
            is_part = false;
        if (is_part)
            gather(ret, (uint32_t)i, by_role ? all[i].roles : 0);
    }
}

/* Along which axis; `is_exact` asks for sizes that are known. */
static bool find_axis(difference *self, const gathering *parts, uint32_t whole, bool is_fused,
                      bool is_exact, uint32_t *ret)
{
    uint32_t rank = is_fused ? self->spare[whole].row->rank : self->spare[parts->at[0]].row->rank;

    for (uint32_t axis = 0; axis < rank; axis++) {
        enum sum sum = is_fused
                           ? keys_make(self, parts->at, parts->count, self->spare[whole].row, axis)
                           : tensors_make(self, parts->at, parts->count, &self->keys[whole], axis);

        if (sum == SUM_EXACT || (sum == SUM_PERHAPS && !is_exact)) {
            *ret = axis;
            return true;
        }
    }
    return false;
}

static cg_code add_row(difference *self, const gathering *parts, uint32_t whole, bool is_fused,
                       uint32_t axis, cg_err *reterr)
{
    key_pairs pairs = {0};
    cg_str name = is_fused ? self->spare[whole].name.text : self->keys[whole].name.text;
    doc_diagnosis *row = NULL;
    cg_str text;
    cg_code code = difference_add_pair(self, &pairs, is_fused ? KEY_NOWHERE : whole,
                                       is_fused ? whole : KEY_NOWHERE, reterr);

    for (size_t i = 0; code == CG_OK && i < parts->count; i++)
        code = difference_add_pair(self, &pairs, is_fused ? parts->at[i] : KEY_NOWHERE,
                                   is_fused ? KEY_NOWHERE : parts->at[i], reterr);
    text = is_fused ? difference_text(self,
                                      "the file holds %zu keys as one tensor, `%.*s`; split it "
                                      "along axis %" PRIu32,
                                      parts->count, (int)name.len, name.ptr, axis)
                    : difference_text(self,
                                      "the code asks for one tensor, `%.*s`, that the file holds "
                                      "in %zu parts; join them along axis %" PRIu32,
                                      (int)name.len, name.ptr, parts->count, axis);
    if (code == CG_OK)
        code = difference_add_row(
            self, is_fused ? DIAGNOSIS_FUSED_PROJECTION : DIAGNOSIS_SPLIT_PROJECTION, &pairs, false,
            text, &row, reterr);
    if (code == CG_OK)
        row->axis = (opt_u64){axis, true};
    vec_free(self->heap, &pairs);
    return code;
}

static bool try_parent(difference *self, const piece *parts, size_t count, const piece *whole,
                       uint32_t index, cg_str parent, bool is_fused, bool by_role, gathering *found,
                       uint32_t *axis)
{
    gather_below(parts, count, whole, parent, by_role, found);
    if (found->is_over || found->count < 2)
        return false;
    if (by_role && !is_named(whole->roles, found->roles, found->count))
        return false;
    return find_axis(self, found, index, is_fused, !by_role || whole->roles == 0, axis);
}

/* Parents of the same layer that have such parts; exactly one, or it is not settled. */
static bool find_other_parent(difference *self, const piece *parts, size_t count,
                              const piece *whole, uint32_t index, bool is_fused, gathering *found,
                              uint32_t *axis)
{
    cg_str only = {0};

    for (size_t i = 0; i < count; i++) {
        gathering tried;
        uint32_t at;

        if (parts[i].module.ptr == NULL || parts[i].number_hash != whole->number_hash ||
            (parts[i].roles & whole->roles) == 0 || !str_equal(parts[i].leaf, whole->leaf) ||
            (only.ptr != NULL && str_equal(only, parts[i].parent)))
            continue;
        if (!try_parent(self, parts, count, whole, index, parts[i].parent, is_fused, true, &tried,
                        &at))
            continue;
        if (only.ptr != NULL)
            return false;
        only = parts[i].parent;
        *found = tried;
        *axis = at;
    }
    return only.ptr != NULL;
}

static bool is_several(unsigned roles)
{
    return (roles & (roles - 1)) != 0;
}

static cg_code find_parts(difference *self, pieces *all, uint32_t index, bool is_fused,
                          cg_err *reterr)
{
    piece *whole = is_fused ? &all->spare[index] : &all->keys[index];
    piece *parts = is_fused ? all->keys : all->spare;
    size_t count = is_fused ? self->key_count : self->spare_count;
    gathering found;
    uint32_t axis;

    if (whole->module.ptr == NULL || (whole->roles != 0 && !is_several(whole->roles)))
        return CG_OK;
    if (!try_parent(self, parts, count, whole, index, whole->parent, is_fused, true, &found,
                    &axis) &&
        !try_parent(self, parts, count, whole, index, whole->parent, is_fused, false, &found,
                    &axis) &&
        (whole->roles == 0 ||
         !find_other_parent(self, parts, count, whole, index, is_fused, &found, &axis)))
        return CG_OK;
    CG_TRY(add_row(self, &found, index, is_fused, axis, reterr));
    whole->module = (cg_str){0};
    for (size_t i = 0; i < found.count; i++)
        parts[found.at[i]].module = (cg_str){0};
    return CG_OK;
}

cg_code projection_find_fused(difference *self, cg_err *reterr)
{
    pieces all;

    if (!difference_is_open(self))
        return CG_OK;
    CG_TRY(take_all_apart(self, &all, reterr));
    for (uint32_t i = 0; i < self->spare_count; i++)
        CG_TRY(find_parts(self, &all, i, true, reterr));
    return CG_OK;
}

cg_code projection_find_split(difference *self, cg_err *reterr)
{
    pieces all;

    if (!difference_is_open(self))
        return CG_OK;
    CG_TRY(take_all_apart(self, &all, reterr));
    for (uint32_t i = 0; i < self->key_count; i++)
        CG_TRY(find_parts(self, &all, i, false, reterr));
    return CG_OK;
}
