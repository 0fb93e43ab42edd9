#include "exec/gradient.h"

#include <inttypes.h>
#include <math.h>

#include "exec/columns.h"

/* --- digest --- */

#define DIGEST_ROOM 4096

/* Small pieces are gathered, so that the hash is not called for every eight bytes. */
typedef struct gather {
    digest hash;
    size_t used;
    uint8_t bytes[DIGEST_ROOM];
} gather;

static void gather_add(gather *self, const void *bytes, size_t count)
{
    if (count > DIGEST_ROOM - self->used) {
        digest_add(&self->hash, self->bytes, self->used);
        self->used = 0;
    }
    if (count > DIGEST_ROOM) {
        digest_add(&self->hash, bytes, count);
        return;
    }
    if (count > 0)
        memcpy(self->bytes + self->used, bytes, count);
    self->used += count;
}

static void gather_text(gather *self, cg_str text)
{
    uint8_t length[8];

    for (unsigned i = 0; i < 8; i++)
        length[i] = (uint8_t)((uint64_t)text.len >> (8 * i));
    gather_add(self, length, sizeof length);
    gather_add(self, text.ptr, text.len);
}

cg_code gradient_digest(const rec_gradient_contract *contract, char ret[GRADIENT_DIGEST_TEXT],
                        cg_err *reterr)
{
    static const char domain[] = "candle-graph/gradient-manifest/1"; /* its NUL is hashed too */
    const rec_manifest_entry *entries = contract->expected.at;
    uint8_t sum[DIGEST_BYTES];
    gather bytes;

    bytes.used = 0;
    CG_TRY(digest_start(&bytes.hash, reterr));
    gather_add(&bytes, domain, sizeof domain);
    for (size_t i = 0; i < contract->expected.count; i++) {
        gather_text(&bytes, entries[i].root);
        gather_text(&bytes, entries[i].key);
        gather_text(&bytes, entries[i].family);
    }
    digest_add(&bytes.hash, bytes.bytes, bytes.used);
    CG_TRY(digest_finish(&bytes.hash, sum, reterr));
    memcpy(ret, "sha256:", 7);
    digest_hex(sum, ret + 7);
    return CG_OK;
}

/* --- validity --- */

/* A name and its symbol: neighbours in a manifest mostly share root and family. */
typedef struct last_name {
    cg_str text;
    sym symbol;
} last_name;

typedef struct contract_work {
    arena *mem;
    const rec_manifest_entry *entries;
    size_t entry_count;
    const rec_family *families;
    size_t family_count;
    intern names; /* family names of the manifest */
    last_name last;
    uint32_t *slots; /* entry + 1 by hash of root and key; 0 = free */
    size_t slot_count;
    uint64_t seed;
    cg_str problem;
} contract_work;

/* State the broken rule. False only when memory ran out. */
#define BROKEN(self, ...) arena_format((self)->mem, &(self)->problem, __VA_ARGS__)

static sym find_name(contract_work *self, cg_str text)
{
    if (!str_equal(self->last.text, text))
        self->last = (last_name){text, intern_find(&self->names, text)};
    return self->last.symbol;
}

static uint64_t hash_more(uint64_t state, cg_str text)
{
    uint64_t word = 0;

    state ^= text.len;
    for (size_t at = 0; at < text.len; at += 8) {
        size_t size = text.len - at < 8 ? text.len - at : 8;

        word = 0;
        memcpy(&word, text.ptr + at, size);
        state = (state ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        state ^= state >> 29;
    }
    state *= UINT64_C(0xd6e8feb86659fd93);
    return state ^ state >> 32;
}

/* The slot of an earlier entry with the same root and key, or a free one. */
static uint32_t *slot_of(const contract_work *self, const rec_manifest_entry *entry)
{
    size_t mask = self->slot_count - 1;
    size_t at = (size_t)hash_more(hash_more(self->seed, entry->root), entry->key) & mask;

    for (; self->slots[at] != 0; at = (at + 1) & mask) {
        const rec_manifest_entry *other = &self->entries[self->slots[at] - 1];

        if (str_equal(other->key, entry->key) && str_equal(other->root, entry->root))
            break;
    }
    return &self->slots[at];
}

static bool check_entry(contract_work *self, size_t index)
{
    const rec_manifest_entry *entry = &self->entries[index];
    uint32_t *slot;

    if (str_is_blank(entry->root) || str_is_blank(entry->key) || str_is_blank(entry->family))
        return BROKEN(self, "entry %zu of the manifest has a blank root, key or family", index + 1);
    if (find_name(self, entry->family) == 0) {
        self->last.symbol = intern_add(&self->names, entry->family);
        if (self->last.symbol == 0)
            return false;
    }
    slot = slot_of(self, entry);
    if (*slot != 0)
        return BROKEN(self,
                      "entries %zu and %zu of the manifest are both key `%.*s` of root `%.*s`",
                      (size_t)*slot, index + 1, ERR_STR(entry->key), ERR_STR(entry->root));
    *slot = (uint32_t)index + 1;
    return true;
}

static bool check_family(contract_work *self, size_t index, const uint32_t *members,
                         uint8_t *is_declared)
{
    const rec_family *family = &self->families[index];
    sym name = find_name(self, family->family);
    uint32_t count = members[name];

    if (str_is_blank(family->family))
        return BROKEN(self, "family %zu has a blank name", index + 1);
    if (is_declared[name] != 0)
        return BROKEN(self, "family `%.*s` is declared twice", ERR_STR(family->family));
    if (count == 0)
        return BROKEN(self, "family `%.*s` has no key in the manifest", ERR_STR(family->family));
    is_declared[name] = 1;
    if (family->expectation == EXPECTATION_INACTIVE && family->min_present != 0)
        return BROKEN(self,
                      "inactive family `%.*s` asks for %" PRIu64 " present keys, it can ask "
                      "for none",
                      ERR_STR(family->family), family->min_present);
    if (family->expectation != EXPECTATION_INACTIVE &&
        (family->min_present == 0 || family->min_present > count))
        return BROKEN(self,
                      "family `%.*s` asks for %" PRIu64 " present keys, it can ask for 1 to "
                      "%" PRIu32,
                      ERR_STR(family->family), family->min_present, count);
    return true;
}

static bool check_families(contract_work *self)
{
    heap *from = self->mem->heap;
    size_t count = intern_count(&self->names);
    uint32_t *members = column_zero(from, count, sizeof *members);
    uint8_t *is_declared = column_zero(from, count, sizeof *is_declared);
    bool is_done = members != NULL && is_declared != NULL;

    for (size_t i = 0; is_done && i < self->entry_count; i++)
        members[find_name(self, self->entries[i].family)]++;
    for (size_t i = 0; is_done && self->problem.ptr == NULL && i < self->family_count; i++)
        is_done = check_family(self, i, members, is_declared);
    for (size_t i = 0; is_done && self->problem.ptr == NULL && i < self->entry_count; i++) {
        if (is_declared[find_name(self, self->entries[i].family)] == 0)
            is_done = BROKEN(self, "family `%.*s` of entry %zu of the manifest is not declared",
                             ERR_STR(self->entries[i].family), i + 1);
    }
    column_free(from, is_declared, count, sizeof *is_declared);
    column_free(from, members, count, sizeof *members);
    return is_done;
}

static bool check_entries(contract_work *self)
{
    heap *from = self->mem->heap;
    bool is_done;

    self->slot_count = 16;
    while (self->slot_count / 2 < self->entry_count)
        self->slot_count *= 2;
    self->slots = column_zero(from, self->slot_count, sizeof *self->slots);
    is_done = self->slots != NULL && self->entry_count < UINT32_MAX;
    for (size_t i = 0; is_done && self->problem.ptr == NULL && i < self->entry_count; i++)
        is_done = check_entry(self, i);
    column_free(from, self->slots, self->slot_count, sizeof *self->slots);
    return is_done;
}

static bool check_members(contract_work *self)
{
    bool is_done;

    /* Names of a hostile file must not be able to choose their places in the table. */
    self->seed = (uint64_t)(uintptr_t)self->entries * UINT64_C(0x9e3779b97f4a7c15);
    is_done = intern_init(&self->names, self->mem->heap, self->seed) && check_entries(self);
    if (is_done && self->problem.ptr == NULL)
        is_done = check_families(self);
    intern_free(&self->names);
    return is_done;
}

cg_code gradient_contract_check(arena *mem, const rec_gradient_contract *contract,
                                cg_str *ret_problem, cg_err *reterr)
{
    contract_work self = {.mem = mem,
                          .entries = contract->expected.at,
                          .entry_count = contract->expected.count,
                          .families = contract->families.at,
                          .family_count = contract->families.count};
    char text[GRADIENT_DIGEST_TEXT];
    cg_str computed = {text, sizeof text};
    bool is_done;

    *ret_problem = (cg_str){0};
    if (self.entry_count > 0 && self.family_count > 0)
        CG_TRY(gradient_digest(contract, text, reterr));
    if (self.entry_count == 0)
        is_done = BROKEN(&self, "the manifest lists no key");
    else if (self.family_count == 0)
        is_done = BROKEN(&self, "no family is declared");
    else if (!str_equal(contract->manifest_sha256, computed))
        is_done = BROKEN(&self, "the digest is `%.*s`, but the manifest gives `%.*s`",
                         ERR_STR(contract->manifest_sha256), (int)computed.len, computed.ptr);
    else
        is_done = check_members(&self);
    if (!is_done)
        return err_nomem(reterr);
    *ret_problem = self.problem;
    return CG_OK;
}

bool gradient_norm_fits(const trace_gradient *event)
{
    switch (event->state) {
    case GRADIENT_STATE_PRESENT: return event->has_norm && isfinite(event->norm) && event->norm > 0;
    case GRADIENT_STATE_ZERO: return event->has_norm && event->norm == 0 && !signbit(event->norm);
    case GRADIENT_STATE_MISSING:
    case GRADIENT_STATE_NON_FINITE: break;
    }
    return !event->has_norm;
}
