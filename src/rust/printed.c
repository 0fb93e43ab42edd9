#include "rust/printed.h"

#include "base/buf.h"
#include "rust/tokens.h"

/*
 * Where tokens of the grammar are shorter than an operator would be: the last `>` of
 * `Vec<Option<T>>`, the first `&` of `&&x`, and where macros begin, whose marks are joined as they
 * stand. All three are in order, because the tree is walked in order.
 */
typedef struct splits {
    VEC(uint32_t) starts;
    VEC(uint32_t) ends;
    VEC(ast_range) macros;
} splits;

static bool note_start(const ast *self, const ast_node *node, splits *found)
{
    uint32_t *start;
    ast_range *macro;

    switch (node->kind) {
    case AST_TOKEN_TREE:
        macro = vec_add(self->heap, &found->macros);
        if (macro == NULL)
            return false;
        *macro = (ast_range){node->start, node->end};
        return true;
    case AST_TYPE_ARGUMENTS:
    case AST_TYPE_PARAMETERS:
    case AST_BRACKETED_TYPE:
    case AST_REFERENCE_TYPE:
    case AST_REFERENCE_EXPRESSION:
    case AST_REFERENCE_PATTERN:
    case AST_UNARY_EXPRESSION:
    case AST_POINTER_TYPE:
    case AST_CLOSURE_PARAMETERS:
        start = vec_add(self->heap, &found->starts);
        if (start == NULL)
            return false;
        *start = node->start;
        return true;
    default: return true;
    }
}

static bool note_end(const ast *self, const ast_node *node, splits *found)
{
    uint32_t *end;

    if (node->kind != AST_TYPE_ARGUMENTS && node->kind != AST_TYPE_PARAMETERS &&
        node->kind != AST_BRACKETED_TYPE && node->kind != AST_TRY_EXPRESSION)
        return true;
    end = vec_add(self->heap, &found->ends);
    if (end == NULL)
        return false;
    *end = node->end - 1;
    return true;
}

static bool find_splits(const ast *self, ast_ref root, splits *found)
{
    ast_ref at = root;

    for (;;) {
        const ast_node *node = ast_at(self, at);

        if (!note_start(self, node, found))
            return false;
        if (node->first != 0 && node->kind != AST_TOKEN_TREE) {
            at = node->first;
            continue;
        }
        for (;;) {
            node = ast_at(self, at);
            if (!note_end(self, node, found))
                return false;
            if (at == root)
                return true;
            if (node->next != 0)
                break;
            at = node->parent;
        }
        at = node->next;
    }
}

typedef struct printer {
    buf out;
    bool is_close; /* no space before the next token */
    bool is_open;  /* the last token was an opening delimiter */
} printer;

/* What is no UTF-8 becomes U+FFFD: printed text goes into documents. */
static void add_text(buf *out, cg_str text)
{
    for (;;) {
        size_t bad = str_utf8_error(text);

        if (bad == SIZE_MAX)
            break;
        buf_add(out, (cg_str){text.ptr, bad});
        buf_add(out, CG_LIT("\xef\xbf\xbd"));
        text = (cg_str){text.ptr + bad + 1, text.len - bad - 1};
    }
    buf_add(out, text);
}

static void print_token(printer *self, cg_str text, const rust_token *token, bool is_joint)
{
    if (token->kind == RUST_CLOSE) {
        if (token->mark == '}' && !self->is_open)
            buf_byte(&self->out, ' ');
    } else if (!self->is_close) {
        buf_byte(&self->out, ' ');
    }
    add_text(&self->out, token_text(text, token));
    self->is_open = token->kind == RUST_OPEN;
    self->is_close = is_joint || self->is_open;
    if (token->mark == '{')
        buf_byte(&self->out, ' ');
}

typedef struct split_place {
    size_t start;
    size_t end;
    size_t macro;
} split_place;

/* Does a mark at `offset` stand alone, though an operator seems to begin or go on there? */
static bool is_split(const splits *found, split_place *at, uint32_t offset)
{
    while (at->start < found->starts.count && found->starts.at[at->start] < offset)
        at->start++;
    while (at->end < found->ends.count && found->ends.at[at->end] < offset)
        at->end++;
    return (at->start < found->starts.count && found->starts.at[at->start] == offset) ||
           (at->end < found->ends.count && found->ends.at[at->end] == offset);
}

static bool is_in_macro(const splits *found, split_place *at, uint32_t offset)
{
    while (at->macro < found->macros.count && found->macros.at[at->macro].end <= offset)
        at->macro++;
    return at->macro < found->macros.count && found->macros.at[at->macro].start <= offset;
}

/* What decides which marks are joined. */
enum joining {
    JOIN_AS_WRITTEN, /* inside macros */
    JOIN_BY_TREE,
    JOIN_TYPE, /* a type without its tree: `<`, `>` and `&` are never part of an operator */
};

static bool is_joined(const splits *found, split_place *place, uint32_t base, cg_str text,
                      const rust_token *token, size_t *operator_end)
{
    if (is_in_macro(found, place, base + token->start))
        return token->is_joint;
    if (is_split(found, place, base + token->start))
        *operator_end = token->end;
    else if (token->start >= *operator_end)
        *operator_end = token->start + token_operator(text, token->start);
    return token->end < *operator_end && !is_split(found, place, base + token->end);
}

static void print_all(printer *self, cg_str text, enum joining way, uint32_t base,
                      const splits *found)
{
    split_place place = {0};
    size_t operator_end = 0;
    rust_token token;
    size_t at = 0;

    self->is_close = true;
    while (token_next(text, &at, &token)) {
        bool is_joint = token.is_joint;

        if (is_joint && way == JOIN_BY_TREE)
            is_joint = is_joined(found, &place, base, text, &token, &operator_end);
        else if (is_joint && way == JOIN_TYPE)
            is_joint = (token.mark == ':' && text.ptr[at] == ':') ||
                       (token.mark == '-' && text.ptr[at] == '>');
        print_token(self, text, &token, is_joint);
    }
}

static void replace(buf *text, const char *part, const char *by)
{
    size_t part_len = strlen(part);
    size_t by_len = strlen(by);
    size_t out = 0;

    for (size_t at = 0; at < text->len;) {
        if (text->at[at] == *part && text->len - at >= part_len &&
            memcmp(text->at + at, part, part_len) == 0) {
            memcpy(text->at + out, by, by_len); /* never longer than the part */
            out += by_len;
            at += part_len;
        } else {
            text->at[out++] = text->at[at++];
        }
    }
    text->len = out;
}

static bool finish(printer *self, bool is_done, arena *mem, cg_str *ret)
{
    is_done = is_done && !self->out.failed && arena_text(mem, buf_text(&self->out), ret);
    buf_free(&self->out);
    return is_done;
}

static bool print(const ast *self, ast_ref ref, bool is_raw, arena *mem, cg_str *ret)
{
    const ast_node *node = ast_at(self, ref);
    bool is_own = (node->flags & AST_EXPANDED) != 0 && node->text != 0;
    enum joining way = is_own ? JOIN_TYPE : JOIN_BY_TREE;
    cg_str text = is_own ? intern_text_of(self->names, node->text) : ast_text(self, ref);
    splits found = {0};
    printer writer = {0};
    bool is_done = true;

    if (node->kind == AST_TOKEN_TREE) {
        way = JOIN_AS_WRITTEN;
        if (text.len >= 2)
            text = (cg_str){text.ptr + 1, text.len - 2};
    }
    buf_init(&writer.out, mem->heap, text.len * 3 + 16);
    if (way == JOIN_BY_TREE)
        is_done = find_splits(self, ref, &found);
    if (is_done)
        print_all(&writer, text, way, node->start, &found);
    vec_free(self->heap, &found.starts);
    vec_free(self->heap, &found.ends);
    vec_free(self->heap, &found.macros);
    if (!is_raw && !writer.out.failed) {
        replace(&writer.out, " :: ", "::");
        replace(&writer.out, " < ", "<");
        replace(&writer.out, " > ", ">");
        replace(&writer.out, " , ", ", ");
    }
    return finish(&writer, is_done, mem, ret);
}

bool ast_printed(const ast *self, ast_ref ref, arena *mem, cg_str *ret)
{
    return print(self, ref, false, mem, ret);
}

bool ast_printed_raw(const ast *self, ast_ref ref, arena *mem, cg_str *ret)
{
    return print(self, ref, true, mem, ret);
}

bool tokens_printed(cg_str text, arena *mem, cg_str *ret)
{
    printer writer = {0};

    buf_init(&writer.out, mem->heap, text.len * 3 + 16);
    print_all(&writer, text, JOIN_AS_WRITTEN, 0, NULL);
    return finish(&writer, true, mem, ret);
}
