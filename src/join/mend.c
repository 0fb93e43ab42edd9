#include "join/mend.h"

#include <inttypes.h>

#define TEXT(text) (int)(text).len, (text).ptr

const key_step *mend_step_of(const model_key *key, uint32_t segment)
{
    uint32_t piece = key->pattern->segments[segment].piece;
    uint32_t end = 0;

    for (size_t i = 0; i < key->from->step_count; i++) {
        end += key->from->steps[i].piece_count;
        if (piece < end)
            return &key->from->steps[i];
    }
    return NULL;
}

static bool is_same_call(const key_step *a, const key_step *b)
{
    return a == b || (a->line == b->line && a->byte_start == b->byte_start &&
                      a->byte_end == b->byte_end && str_equal(a->file, b->file));
}

static bool is_before(const key_step *a, const key_step *b)
{
    int order = str_compare(a->file, b->file);

    return order != 0 ? order < 0 : a->line < b->line;
}

/* The calls that add a segment of these keys. */
typedef struct calls {
    const key_step *first; /* in the order of files and lines */
    bool is_only;
    bool is_exact;  /* it adds the prefix and nothing else */
    bool is_shared; /* keys that the file has are made by it too */
} calls;

/* Does the call end with the prefix, and begin with it? */
static bool is_exact(const model_key *key, const key_step *call, uint32_t count)
{
    return count > 0 && mend_step_of(key, 0) == call && mend_step_of(key, count - 1) == call &&
           (count == key->name.count || mend_step_of(key, count) != call);
}

static bool is_shared(const difference *self, const key_step *call, uint32_t segment)
{
    for (size_t i = 0; i < self->key_count; i++) {
        const model_key *key = &self->keys[i];
        const key_step *other =
            key->tensor != NULL && segment < key->name.count ? mend_step_of(key, segment) : NULL;

        if (other != NULL && is_same_call(other, call))
            return true;
    }
    return false;
}

static calls find_calls(const difference *self, const key_pairs *pairs, uint32_t count)
{
    uint32_t segment = count > 0 ? count - 1 : 0;
    calls found = {.is_only = true};

    for (size_t i = 0; i < pairs->count; i++) {
        const model_key *key = &self->keys[pairs->at[i].key];
        const key_step *call = segment < key->name.count ? mend_step_of(key, segment) : NULL;

        if (call == NULL || (found.first != NULL && is_same_call(found.first, call)))
            continue;
        found.is_only = found.first == NULL;
        if (found.first == NULL || is_before(call, found.first)) {
            found.first = call;
            found.is_exact = is_exact(key, call, count);
        }
    }
    found.is_shared = found.first != NULL && is_shared(self, found.first, segment);
    return found;
}

static void say_place(buf *out, const calls *at)
{
    if (at->first->function.len > 0)
        buf_addf(out, "in `%.*s` ", ERR_STR(at->first->function));
    buf_addf(out, "(%.*s:%" PRIu64, ERR_STR(at->first->file), at->first->line);
    if (at->first->crate.len > 0)
        buf_addf(out, " of `%.*s`", ERR_STR(at->first->crate));
    buf_addf(out, "%s)", at->is_only ? "" : " and elsewhere");
}

/* The one call that builds the part all these keys are in; NULL: there is no such part. */
static const key_step *part_of(const difference *self, const key_pairs *pairs)
{
    const key_step *found = NULL;

    for (size_t i = 0; i < pairs->count; i++) {
        const key_step *part = &self->keys[pairs->at[i].key].from->part_at;

        if (part->file.len == 0 || (found != NULL && !is_same_call(found, part)))
            return NULL;
        found = part;
    }
    return found;
}

/* The file has something in front. */
static void say_added(buf *out, const mend_shift *by, const calls *at)
{
    buf_addf(out, "the file puts `%.*s.` in front; use `vb.pp(\"%.*s\")`", TEXT(by->file),
             TEXT(by->file));
    if (at->first == NULL)
        return;
    buf_add(out, CG_LIT(" "));
    say_place(out, at);
}

/* The code has something in front. */
static void say_left_out(buf *out, const mend_shift *by, const calls *at)
{
    buf_addf(out, "the code puts `%.*s.` in front, the file does not; ", TEXT(by->model));
    if (at->first == NULL) {
        buf_add(out, CG_LIT("leave it out, or rename with the key map"));
    } else if (at->is_shared) {
        buf_add(out, CG_LIT("other keys need it: build these from the builder before the call "));
        say_place(out, at);
    } else if (at->is_exact) {
        buf_addf(out, "leave out `.pp(\"%.*s\")` ", TEXT(by->model));
        say_place(out, at);
    } else {
        buf_add(out, CG_LIT("leave it out "));
        say_place(out, at);
    }
}

static void say_renamed(buf *out, const mend_shift *by, const calls *at)
{
    buf_addf(out, "what the code calls `%.*s` is `%.*s` in the file", TEXT(by->model),
             TEXT(by->file));
    if (at->first == NULL)
        return;
    buf_add(out, CG_LIT("; the code names it "));
    say_place(out, at);
}

cg_code mend_explain(difference *self, const mend_shift *by, const key_pairs *pairs, cg_str *ret,
                     const key_step **ret_call, cg_err *reterr)
{
    calls at = find_calls(self, pairs, by->model_count);
    bool is_done;
    buf text;

    buf_init(&text, self->heap, UINT32_MAX);
    /* What goes in front of many calls goes in once, where the builder is handed to them all. */
    if (by->model.len == 0 && !at.is_only && part_of(self, pairs) != NULL)
        at = (calls){.first = part_of(self, pairs), .is_only = true};
    if (by->model.len == 0)
        say_added(&text, by, &at);
    else if (by->file.len == 0)
        say_left_out(&text, by, &at);
    else
        say_renamed(&text, by, &at);
    is_done = !text.failed && arena_text(self->mem, buf_text(&text), ret);
    buf_free(&text);
    *ret_call = at.first;
    return is_done ? CG_OK : err_nomem(reterr);
}
