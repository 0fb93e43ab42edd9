#include "cargo/lock.h"

#include <stdlib.h>

#include "cargo/version.h"
#include "codec/toml.h"

typedef struct reading {
    arena *mem;
    heap *heap;
    VEC(lock_package) packages;
    VEC(cg_str) entries; /* of the list being read */
    bool is_refused;     /* not the way Cargo writes it */
    bool is_out_of_memory;
} reading;

/* --- the way Cargo writes it --- */

static cg_str next_line(cg_str *text)
{
    cg_str line = *text;
    const char *end = memchr(text->ptr, '\n', text->len);

    if (end != NULL)
        line.len = (size_t)(end - line.ptr);
    *text = (cg_str){line.ptr + line.len, text->len - line.len};
    if (text->len > 0)
        *text = (cg_str){text->ptr + 1, text->len - 1};
    if (line.len > 0 && line.ptr[line.len - 1] == '\r')
        line.len--;
    return line;
}

/* What stands between the quotes of `"text"`; false when it is more than that. */
static bool unquote(cg_str text, cg_str *ret)
{
    if (text.len < 2 || text.ptr[0] != '"' || text.ptr[text.len - 1] != '"')
        return false;
    *ret = (cg_str){text.ptr + 1, text.len - 2};
    return memchr(ret->ptr, '"', ret->len) == NULL && memchr(ret->ptr, '\\', ret->len) == NULL;
}

static bool keep(reading *self, cg_str text, cg_str *ret)
{
    bool is_kept = arena_text(self->mem, text, ret);

    self->is_out_of_memory = self->is_out_of_memory || !is_kept;
    return is_kept;
}

/* The lines up to `]`, each a quoted text and a comma. */
static void read_list(reading *self, cg_str *text, lock_package *to)
{
    cg_str *at;

    self->entries.count = 0;
    for (;;) {
        cg_str line;
        cg_str *entry;

        if (text->len == 0) {
            self->is_refused = true;
            return;
        }
        line = next_line(text);
        if (str_equal(line, CG_LIT("]")))
            break;
        line = str_trim(line);
        if (line.len > 0 && line.ptr[line.len - 1] == ',')
            line.len--;
        entry = vec_add(self->heap, &self->entries);
        if (entry == NULL) {
            self->is_out_of_memory = true;
            return;
        }
        if (!unquote(line, entry)) {
            self->is_refused = true;
            return;
        }
        if (!keep(self, *entry, entry))
            return;
    }
    at = arena_take(self->mem, (self->entries.count + 1) * sizeof *at);
    if (at == NULL) {
        self->is_out_of_memory = true;
        return;
    }
    if (self->entries.count > 0)
        memcpy(at, self->entries.at, self->entries.count * sizeof *at);
    to->dependencies = (cargo_strs){at, self->entries.count};
}

/* `key = "value"` of a package. */
static void read_pair(reading *self, cg_str line, lock_package *to)
{
    size_t split = str_find(line, CG_LIT(" = "));
    cg_str key = line;
    cg_str value;

    if (split == SIZE_MAX ||
        !unquote((cg_str){line.ptr + split + 3, line.len - split - 3}, &value)) {
        self->is_refused = true;
        return;
    }
    key.len = split;
    if (str_equal(key, CG_LIT("name")))
        keep(self, value, &to->name);
    else if (str_equal(key, CG_LIT("version")))
        keep(self, value, &to->version);
    else if (str_equal(key, CG_LIT("source")))
        keep(self, value, &to->source);
    else if (!str_equal(key, CG_LIT("checksum")) && !str_equal(key, CG_LIT("replace")))
        self->is_refused = true;
}

static void read_lines(reading *self, cg_str text)
{
    enum { AT_TOP, IN_PACKAGE, IN_OTHER } where = AT_TOP;

    if (str_utf8_error(text) != SIZE_MAX)
        self->is_refused = true;
    while (text.len > 0 && !self->is_refused && !self->is_out_of_memory) {
        cg_str line = next_line(&text);
        lock_package *last =
            self->packages.count > 0 ? &self->packages.at[self->packages.count - 1] : NULL;

        if (line.len == 0 || line.ptr[0] == '#')
            continue;
        if (str_equal(line, CG_LIT("[[package]]")) || str_equal(line, CG_LIT("[root]"))) {
            lock_package *to = vec_add(self->heap, &self->packages);

            self->is_out_of_memory = to == NULL;
            if (to != NULL)
                *to = (lock_package){0};
            where = IN_PACKAGE;
        } else if (str_equal(line, CG_LIT("[metadata]")) ||
                   str_equal(line, CG_LIT("[[patch.unused]]"))) {
            where = IN_OTHER; /* checksums of the first format; patches that nothing uses */
        } else if (where == AT_TOP && str_starts_with(line, CG_LIT("version = "))) {
            continue;
        } else if (where == IN_PACKAGE && str_equal(line, CG_LIT("dependencies = ["))) {
            read_list(self, &text, last);
        } else if (where == IN_PACKAGE) {
            read_pair(self, line, last);
        } else if (where != IN_OTHER || line.ptr[0] == '[') {
            self->is_refused = true;
        }
    }
}

/* --- any other way --- */

static bool take(reading *self, const toml_document *doc, uint32_t table, cg_str key, cg_str *ret)
{
    return keep(self, toml_text(doc, toml_get(doc, table, key)), ret);
}

static bool add_package(reading *self, const toml_document *doc, uint32_t table)
{
    lock_package *to = vec_add(self->heap, &self->packages);
    uint32_t list = toml_get(doc, table, CG_LIT("dependencies"));
    cg_str *at;
    size_t count = 0;

    if (to == NULL)
        return false;
    *to = (lock_package){0};
    if (!take(self, doc, table, CG_LIT("name"), &to->name) ||
        !take(self, doc, table, CG_LIT("version"), &to->version) ||
        !take(self, doc, table, CG_LIT("source"), &to->source))
        return false;
    if (!toml_is(doc, list, TOML_ARRAY))
        return true;
    at = arena_take(self->mem, (doc->nodes.at[list].count + 1) * sizeof *at);
    if (at == NULL)
        return false;
    for (uint32_t i = doc->nodes.at[list].first; i != TOML_NONE; i = doc->nodes.at[i].next) {
        if (toml_is(doc, i, TOML_STRING) && !keep(self, doc->nodes.at[i].text, &at[count++]))
            return false;
    }
    to->dependencies = (cargo_strs){at, count};
    return true;
}

static bool add_packages(reading *self, const toml_document *doc)
{
    uint32_t root = toml_get(doc, TOML_ROOT, CG_LIT("root"));
    uint32_t list = toml_get(doc, TOML_ROOT, CG_LIT("package"));

    if (toml_is(doc, root, TOML_TABLE) && !add_package(self, doc, root))
        return false;
    if (!toml_is(doc, list, TOML_ARRAY))
        return true;
    for (uint32_t i = doc->nodes.at[list].first; i != TOML_NONE; i = doc->nodes.at[i].next) {
        if (!add_package(self, doc, i))
            return false;
    }
    return true;
}

/* --- the whole --- */

static int by_name(const void *a, const void *b)
{
    const lock_package *x = a;
    const lock_package *y = b;
    int order = str_compare(x->name, y->name);

    return order != 0 ? order : version_compare_text(x->version, y->version);
}

/* Only what has a name and a version, in order. */
static bool settle(reading *self, cargo_lock *ret)
{
    lock_package *at = arena_take(self->mem, self->packages.count * sizeof *at + 1);
    size_t count = 0;

    if (at == NULL)
        return false;
    for (size_t i = 0; i < self->packages.count; i++) {
        if (self->packages.at[i].name.len > 0 && self->packages.at[i].version.len > 0)
            at[count++] = self->packages.at[i];
    }
    qsort(at, count, sizeof *at, by_name);
    *ret = (cargo_lock){at, count};
    return true;
}

cg_code lock_read(const cg_env *env, arena *mem, heap *from, cg_str text, cargo_lock *ret,
                  cg_err *reterr)
{
    reading self = {.mem = mem, .heap = from};
    toml_document *doc = NULL;
    cg_code code = CG_OK;

    if (text.len > LOCK_BYTES)
        return cg_fail(reterr, PROBLEM_LIMIT, "a lock file of more than %zu bytes",
                       (size_t)LOCK_BYTES);
    read_lines(&self, text);
    if (self.is_refused && !self.is_out_of_memory) {
        self.packages.count = 0;
        code = toml_read(env, from, text, &doc, reterr);
        if (code == CG_OK && !add_packages(&self, doc))
            self.is_out_of_memory = true;
        toml_free(doc);
    }
    if (code == CG_OK && (self.is_out_of_memory || !settle(&self, ret)))
        code = err_nomem(reterr);
    vec_free(from, &self.packages);
    vec_free(from, &self.entries);
    return code;
}

/* --- asking --- */

size_t lock_find(const cargo_lock *self, cg_str name, size_t *ret_first)
{
    size_t low = 0;
    size_t high = self->count;
    size_t end;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (str_compare(self->packages[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (end = low; end < self->count && str_equal(self->packages[end].name, name);)
        end++;
    *ret_first = low;
    return end - low;
}

size_t lock_find_version(const cargo_lock *self, cg_str name, cg_str number)
{
    size_t first = 0;
    size_t count = lock_find(self, name, &first);

    for (size_t i = count; i > 0; i--) {
        if (number.ptr == NULL || str_equal(self->packages[first + i - 1].version, number))
            return first + i - 1;
    }
    return LOCK_NONE;
}

cg_str lock_entry_name(cg_str entry, cg_str *ret_version)
{
    const char *space = entry.len > 0 ? memchr(entry.ptr, ' ', entry.len) : NULL;
    cg_str name = entry;
    const char *end;

    *ret_version = (cg_str){0};
    if (space == NULL)
        return name;
    name.len = (size_t)(space - entry.ptr);
    *ret_version = (cg_str){space + 1, entry.len - name.len - 1};
    end = memchr(ret_version->ptr, ' ', ret_version->len);
    if (end != NULL)
        ret_version->len = (size_t)(end - ret_version->ptr);
    return name;
}

size_t lock_resolve(const cargo_lock *self, size_t of, cg_str name, cg_str requirement)
{
    const cargo_strs *list = of < self->count ? &self->packages[of].dependencies : NULL;
    size_t first = 0;
    size_t count = lock_find(self, name, &first);
    size_t named = LOCK_NONE;

    for (size_t i = 0; list != NULL && i < list->count; i++) {
        cg_str number;
        size_t found;

        if (!str_equal(lock_entry_name(list->at[i], &number), name))
            continue;
        found = lock_find_version(self, name, number);
        if (found != LOCK_NONE &&
            (named == LOCK_NONE || version_text_fits(requirement, self->packages[found].version)))
            named = found;
    }
    if (named != LOCK_NONE || list != NULL)
        return named;
    for (size_t i = count; i > 0; i--) {
        if (version_text_fits(requirement, self->packages[first + i - 1].version))
            return first + i - 1;
    }
    return LOCK_NONE;
}
