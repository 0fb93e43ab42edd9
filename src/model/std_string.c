/* Strings: handlers of std_functions.def. */
#include "base/num.h"
#include "model/std_handlers.h"
#include "model/std_text.h"

/* The receiver, when it is a string without holes. */
static cg_str self_text(const library_call *call)
{
    return std_text_pattern(call->eval, call->receiver);
}

static cg_str arg_text(const library_call *call, size_t which)
{
    val arg = std_arg(call, which);

    return arg == 0 ? (cg_str){NULL, 0} : std_text_pattern(call->eval, arg);
}

static cg_code give_part(library_call *call, cg_str part)
{
    return std_give(call, value_text(call->eval->values, part));
}

static cg_code give_opaque_text(library_call *call)
{
    std_text text;
    val opaque;

    CG_TRY(std_give_opaque(call, VALUE_UNKNOWN, 0));
    opaque = call->result;
    std_text_begin(&text, call->eval);
    std_text_value(&text, opaque);
    return std_give(call, std_text_end(&text));
}

/* `to_string` of anything that is printed. */
cg_code any_to_string(library_call *call)
{
    std_text text;

    std_text_begin(&text, call->eval);
    std_text_value(&text, call->receiver);
    return std_give(call, std_text_end(&text));
}

/* `String::from(x)`, `"a".into()`: the argument as a string. */
cg_code string_from(library_call *call)
{
    std_text text;

    if (call->count != 1)
        return CG_OK;
    std_text_begin(&text, call->eval);
    std_text_value(&text, call->args[0]);
    return std_give(call, std_text_end(&text));
}

cg_code string_new(library_call *call)
{
    return give_part(call, CG_LIT(""));
}

static val joined(eval *self, const val *args, size_t count, const void *context)
{
    std_text text;

    (void)context;
    std_text_begin(&text, self);
    for (size_t i = 0; i < count; i++)
        std_text_value(&text, args[i]);
    return std_text_end(&text);
}

/* push_str, push: the receiver grows. */
cg_code string_push(library_call *call)
{
    val both[2] = {call->receiver, std_arg(call, 0)};

    if (both[1] == 0)
        return CG_OK;
    call->updated = std_each_choice(call->eval, both, 2, joined, NULL);
    return call->updated == 0 ? err_nomem(call->eval->reterr) : any_unit(call);
}

/* write!, writeln!: into a text; what else is written to nobody reads. */
cg_code string_write(library_call *call)
{
    std_text text;

    if (call->count == 0 || std_kind(call, call->args[0]) != VALUE_TEXT)
        return any_unit(call);
    std_text_begin(&text, call->eval);
    std_text_value(&text, call->args[0]);
    if (call->count > 1) {
        val added = std_text_format(call->eval, call->args + 1, call->count - 1);

        if (added == 0) {
            text.failed = true;
        } else {
            std_text_value(&text, added);
        }
    }
    if (str_starts_with(call->name, CG_LIT("writeln")))
        std_text_add(&text, CG_LIT("\n"));
    call->updated = std_text_end(&text);
    return call->updated == 0 ? err_nomem(call->eval->reterr) : any_unit(call);
}

/* `a.add(b)`, `+`. */
cg_code string_add(library_call *call)
{
    val both[2] = {call->receiver, std_arg(call, 0)};

    return both[1] == 0 ? CG_OK
                        : std_give(call, std_each_choice(call->eval, both, 2, joined, NULL));
}

cg_code string_clear(library_call *call)
{
    call->updated = value_text(call->eval->values, CG_LIT(""));
    return call->updated == 0 ? err_nomem(call->eval->reterr) : any_unit(call);
}

cg_code string_len(library_call *call)
{
    cg_str text = self_text(call);

    if (text.ptr == NULL)
        return any_int(call);
    return std_give_number(call, expr_const(call->eval->exprs, (int64_t)text.len));
}

cg_code string_is_empty(library_call *call)
{
    const value *at = std_at(call, call->receiver);

    if (at->kind == VALUE_TEXT && at->as.pieces.count == 0)
        return std_give_bool(call, true);
    if (at->kind == VALUE_TEXT) {
        for (size_t i = 0; i < at->as.pieces.count; i++) {
            if (!at->as.pieces.at[i].is_hole && at->as.pieces.at[i].text.len > 0)
                return std_give_bool(call, false);
        }
    }
    return any_bool(call);
}

/* The literal piece at an end of the receiver, also when there are holes elsewhere. */
static cg_str end_piece(const library_call *call, bool is_first)
{
    const value *at = std_at(call, call->receiver);
    const text_piece *piece;

    if (at->kind != VALUE_TEXT || at->as.pieces.count == 0)
        return (cg_str){NULL, 0};
    piece = &at->as.pieces.at[is_first ? 0 : at->as.pieces.count - 1];
    return piece->is_hole ? (cg_str){NULL, 0} : piece->text;
}

/* Does the receiver start or end with the pattern? 1, 0, or -1. */
static int fits_end(const library_call *call, bool is_first)
{
    cg_str pattern = arg_text(call, 0);
    cg_str text = self_text(call);
    cg_str piece = end_piece(call, is_first);
    size_t common;

    if (pattern.ptr == NULL)
        return -1;
    if (text.ptr != NULL)
        return is_first ? str_starts_with(text, pattern) : str_ends_with(text, pattern);
    if (piece.ptr == NULL)
        return -1;
    if (is_first ? str_starts_with(piece, pattern) : str_ends_with(piece, pattern))
        return 1;
    common = piece.len < pattern.len ? piece.len : pattern.len;
    if (is_first)
        return memcmp(piece.ptr, pattern.ptr, common) != 0 ? 0 : -1;
    return memcmp(piece.ptr + piece.len - common, pattern.ptr + pattern.len - common, common) != 0
               ? 0
               : -1;
}

cg_code string_starts_with(library_call *call)
{
    int answer = fits_end(call, true);

    return answer < 0 ? any_bool(call) : std_give_bool(call, answer != 0);
}

cg_code string_ends_with(library_call *call)
{
    int answer = fits_end(call, false);

    return answer < 0 ? any_bool(call) : std_give_bool(call, answer != 0);
}

cg_code string_contains(library_call *call)
{
    cg_str pattern = arg_text(call, 0);
    const value *at = std_at(call, call->receiver);

    if (pattern.ptr == NULL || at->kind != VALUE_TEXT)
        return any_bool(call);
    for (size_t i = 0; i < at->as.pieces.count; i++) {
        if (!at->as.pieces.at[i].is_hole && str_find(at->as.pieces.at[i].text, pattern) != SIZE_MAX)
            return std_give_bool(call, true);
    }
    return self_text(call).ptr != NULL ? std_give_bool(call, false) : any_bool(call);
}

/* `strip_prefix`, `strip_suffix`. */
static cg_code give_stripped(library_call *call, bool is_first)
{
    cg_str text = self_text(call);
    size_t len = arg_text(call, 0).len;
    int answer = fits_end(call, is_first);
    val inner;

    if (answer == 0)
        return std_give(call, std_plain(call->eval, VALUE_NOTHING));
    if (answer < 0 || text.ptr == NULL)
        return unknown_perhaps(call);
    inner =
        std_text_part(call->eval, text, is_first ? len : 0, is_first ? text.len : text.len - len);
    return std_give(call, std_some(call->eval, inner));
}

cg_code string_strip_prefix(library_call *call)
{
    return give_stripped(call, true);
}

cg_code string_strip_suffix(library_call *call)
{
    return give_stripped(call, false);
}

/* In pieces without holes around the matches; a match across a hole cannot be seen. */
cg_code string_replace(library_call *call)
{
    cg_str from = arg_text(call, 0);
    const value *at = std_at(call, call->receiver);
    text_pieces pieces;
    std_text out;

    if (from.ptr == NULL || from.len == 0 || std_arg(call, 1) == 0 || at->kind != VALUE_TEXT)
        return give_opaque_text(call);
    pieces = at->as.pieces;
    std_text_begin(&out, call->eval);
    for (size_t i = 0; i < pieces.count; i++) {
        cg_str rest = pieces.at[i].text;

        if (pieces.at[i].is_hole) {
            std_text_add_pieces(&out, (text_pieces){&pieces.at[i], 1});
            continue;
        }
        for (size_t found = str_find(rest, from); found != SIZE_MAX; found = str_find(rest, from)) {
            std_text_add(&out, (cg_str){rest.ptr, found});
            std_text_value(&out, call->args[1]);
            rest = (cg_str){rest.ptr + found + from.len, rest.len - found - from.len};
        }
        std_text_add(&out, rest);
    }
    return std_give(call, std_text_end(&out));
}

cg_code string_trim(library_call *call)
{
    cg_str text = self_text(call);

    return text.ptr == NULL ? std_give(call, call->receiver) : give_part(call, str_trim(text));
}

/* trim_start_matches, trim_end_matches. */
static cg_code give_trimmed(library_call *call, bool is_first)
{
    cg_str text = self_text(call);
    cg_str pattern = arg_text(call, 0);

    if (text.ptr == NULL || pattern.ptr == NULL || pattern.len == 0)
        return give_opaque_text(call);
    while (is_first ? str_starts_with(text, pattern) : str_ends_with(text, pattern)) {
        text.ptr += is_first ? pattern.len : 0;
        text.len -= pattern.len;
    }
    return give_part(call, text);
}

cg_code string_trim_start_matches(library_call *call)
{
    return give_trimmed(call, true);
}

cg_code string_trim_end_matches(library_call *call)
{
    return give_trimmed(call, false);
}

static cg_code give_cased(library_call *call, char first, char last, int shift)
{
    cg_str text = self_text(call);
    char *room;

    if (text.ptr == NULL || str_find(text, CG_LIT("\xc3")) != SIZE_MAX)
        return give_opaque_text(call);
    room = arena_bytes(&call->eval->values->mem, text.len + 1);
    if (room == NULL)
        return err_nomem(call->eval->reterr);
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        room[i] = c >= first && c <= last ? (char)(c + shift) : c;
    }
    return give_part(call, (cg_str){room, text.len});
}

cg_code string_to_lowercase(library_call *call)
{
    return give_cased(call, 'A', 'Z', 'a' - 'A');
}

cg_code string_to_uppercase(library_call *call)
{
    return give_cased(call, 'a', 'z', 'A' - 'a');
}

cg_code string_repeat(library_call *call)
{
    val times = std_arg(call, 0);
    int64_t count = 0;
    std_text out;

    if (times == 0 ||
        !expr_constant(call->eval->exprs, value_number(call->eval->values, times), &count) ||
        count < 0 || count > 256)
        return give_opaque_text(call);
    std_text_begin(&out, call->eval);
    for (int64_t i = 0; i < count; i++)
        std_text_value(&out, call->receiver);
    return std_give(call, std_text_end(&out));
}

#define PARTS 256 /* more parts of a split than this say nothing about a model */

cg_code string_split(library_call *call)
{
    cg_str text = self_text(call);
    cg_str by =
        arg_text(call, call->count == 2 ? 1 : 0); /* splitn(n, by) is split while n allows it */
    uint64_t most = PARTS;
    int64_t asked = 0;
    val parts[PARTS];
    size_t count = 0;

    if (call->count == 2 &&
        expr_constant(call->eval->exprs, value_number(call->eval->values, call->args[0]), &asked) &&
        asked > 0 && asked < PARTS)
        most = (uint64_t)asked;
    if (text.ptr == NULL || by.ptr == NULL || by.len == 0)
        return any_unknown(call);
    for (;;) {
        size_t found = count + 1 < most ? str_find(text, by) : SIZE_MAX;

        parts[count] = std_text_part(call->eval, text, 0, found == SIZE_MAX ? text.len : found);
        if (parts[count] == 0)
            return err_nomem(call->eval->reterr);
        count++;
        if (found == SIZE_MAX)
            break;
        if (count == PARTS)
            return any_unknown(call);
        text = (cg_str){text.ptr + found + by.len, text.len - found - by.len};
    }
    return std_give(call, std_list_of(call->eval, 0, parts, count));
}

static cg_code give_split_at(library_call *call, cg_str text, size_t found, size_t width)
{
    val parts[2];
    val pair;

    if (found == SIZE_MAX)
        return std_give(call, std_plain(call->eval, VALUE_NOTHING));
    parts[0] = std_text_part(call->eval, text, 0, found);
    parts[1] = std_text_part(call->eval, text, found + width, text.len);
    if (parts[0] == 0 || parts[1] == 0)
        return err_nomem(call->eval->reterr);
    pair = value_list(call->eval->values, VALUE_TUPLE, parts, 2);
    return std_give(call, std_some(call->eval, pair));
}

cg_code string_split_once(library_call *call)
{
    cg_str text = self_text(call);
    cg_str by = arg_text(call, 0);

    if (text.ptr == NULL || by.ptr == NULL || by.len == 0)
        return unknown_perhaps(call);
    return give_split_at(call, text, str_find(text, by), by.len);
}

cg_code string_rsplit_once(library_call *call)
{
    cg_str text = self_text(call);
    cg_str by = arg_text(call, 0);
    size_t found = SIZE_MAX;

    if (text.ptr == NULL || by.ptr == NULL || by.len == 0)
        return unknown_perhaps(call);
    for (size_t i = 0; i + by.len <= text.len; i++) {
        if (memcmp(text.ptr + i, by.ptr, by.len) == 0)
            found = i;
    }
    return give_split_at(call, text, found, by.len);
}

cg_code string_chars(library_call *call)
{
    cg_str text = self_text(call);
    val parts[PARTS];
    size_t count = 0;
    size_t at = 0;

    if (text.ptr == NULL || text.len > PARTS)
        return any_unknown(call);
    while (at < text.len) {
        value it = {.kind = VALUE_CHAR, .is_known = true};
        size_t from = at;

        it.as.number = str_next(text, &at);
        it.text = (cg_str){text.ptr + from, at - from};
        parts[count] = value_make(call->eval->values, &it);
        if (parts[count] == 0)
            return err_nomem(call->eval->reterr);
        count++;
    }
    return std_give(call, std_list_of(call->eval, 0, parts, count));
}

/* A number in a literal; what it should be comes from `wanted` when that is said. */
cg_code string_parse(library_call *call)
{
    cg_str text = self_text(call);
    type_ref inside = std_type_inside(call->eval, call->wanted);
    cg_str path = std_type_path(call->eval, inside);
    uint64_t number = 0;

    if (text.ptr != NULL && num_read_u64(text, &number) && number <= INT64_MAX &&
        !str_starts_with(path, CG_LIT("f")))
        return std_give_number(call, expr_const(call->eval->exprs, (int64_t)number));
    if (str_starts_with(path, CG_LIT("u")) || str_starts_with(path, CG_LIT("i")))
        return any_int(call);
    if (path.len > 0)
        return std_give_typed(call, inside);
    return any_unknown(call);
}

/* --- concat!, format! --- */

cg_code string_concat(library_call *call)
{
    return std_give(call, std_each_choice(call->eval, call->args, call->count, joined, NULL));
}

/* The last argument was a VALUE_STRUCT of these names. */
typedef struct format_names {
    const value_field *fields;
    size_t count;
} format_names;

#define NAMED_ROOM 16

static val formatted(eval *self, const val *args, size_t count, const void *context)
{
    const format_names *names = context;
    value_field fields[NAMED_ROOM];
    val whole[NAMED_ROOM + 1];
    size_t plain = count - names->count;

    if (names->count == 0 || plain > NAMED_ROOM)
        return std_text_format(self, args, plain > NAMED_ROOM ? 1 : count);
    for (size_t i = 0; i < names->count; i++)
        fields[i] = (value_field){names->fields[i].name, args[plain + i]};
    memcpy(whole, args, plain * sizeof *args);
    whole[plain] = value_struct(self->values, 0, fields, names->count);
    return whole[plain] == 0 ? 0 : std_text_format(self, whole, plain + 1);
}

cg_code string_format(library_call *call)
{
    const value *last;
    format_names names = {NULL, 0};
    val all[2 * NAMED_ROOM];
    size_t plain = call->count;

    if (call->count == 0)
        return string_new(call);
    last = std_at(call, call->args[call->count - 1]);
    if (last->kind != VALUE_STRUCT || last->type != 0 || last->count > NAMED_ROOM ||
        call->count > NAMED_ROOM)
        return std_give(call,
                        std_each_choice(call->eval, call->args, call->count, formatted, &names));
    plain--;
    memcpy(all, call->args, plain * sizeof *all);
    names = (format_names){last->as.fields, last->count};
    for (size_t i = 0; i < names.count; i++)
        all[plain + i] = names.fields[i].value;
    return std_give(call, std_each_choice(call->eval, all, plain + names.count, formatted, &names));
}
