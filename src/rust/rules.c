#include "rust/rules.h"

/* --- matching --- */

static bool spend(rules_work *self, uint32_t steps)
{
    if (self->steps_left < steps) {
        self->steps_left = 0;
        return false;
    }
    self->steps_left -= steps;
    return true;
}

static const rust_token *token_at(const rust_tokens *self, uint32_t at)
{
    static const rust_token none = {.kind = RUST_CLOSE};

    return at < self->count ? &self->at[at] : &none;
}

static bool is_mark_at(const rust_tokens *self, uint32_t at, char mark)
{
    return token_at(self, at)->kind == RUST_MARK && token_at(self, at)->mark == mark;
}

static bool is_word_at(const rust_tokens *self, uint32_t at, const char *word)
{
    return token_at(self, at)->kind == RUST_IDENT &&
           str_equal(token_text(self->text, &self->at[at]), str_from(word));
}

/* Behind the token or group at `at`. */
static uint32_t behind(const rust_tokens *self, uint32_t at)
{
    return self->at[at].partner > at ? self->at[at].partner + 1 : at + 1;
}

static cg_str text_of_range(const rust_tokens *self, uint32_t from, uint32_t to)
{
    if (from == to)
        return (cg_str){"", 0};
    return (cg_str){self->text.ptr + self->at[from].start,
                    self->at[to - 1].end - self->at[from].start};
}

/* Behind `<...>` that opens at `at`, or `to` when it does not close. */
static uint32_t behind_angles(const rust_tokens *self, uint32_t at, uint32_t to)
{
    uint32_t depth = 0;

    while (at < to) {
        if (is_mark_at(self, at, '<'))
            depth++;
        else if (is_mark_at(self, at, '>') && !is_mark_at(self, at - 1, '-') && --depth == 0)
            return at + 1;
        at = behind(self, at);
    }
    return to;
}

static bool is_fat_arrow(const rust_tokens *self, uint32_t at)
{
    return is_mark_at(self, at, '=') && self->at[at].is_joint && is_mark_at(self, at + 1, '>');
}

static uint32_t take_expression(const rust_tokens *self, uint32_t at, uint32_t to)
{
    bool may_be_closure = true;

    while (at < to && !is_mark_at(self, at, ',') && !is_mark_at(self, at, ';') &&
           !is_fat_arrow(self, at)) {
        if (may_be_closure && is_mark_at(self, at, '|')) {
            for (at++; at < to && !is_mark_at(self, at, '|');)
                at = behind(self, at);
            at = at < to ? at + 1 : to;
            may_be_closure = false;
            continue;
        }
        may_be_closure = is_word_at(self, at, "move") || is_mark_at(self, at, '=');
        if (is_mark_at(self, at, ':') && is_mark_at(self, at + 1, ':') &&
            is_mark_at(self, at + 2, '<') && at + 2 < to)
            at = behind_angles(self, at + 2, to);
        else
            at = behind(self, at);
    }
    return at;
}

static uint32_t take_type(const rust_tokens *self, uint32_t at, uint32_t to)
{
    while (at < to) {
        const rust_token *token = &self->at[at];

        if (token->kind == RUST_MARK) {
            if (token->mark == '<') {
                at = behind_angles(self, at, to);
                continue;
            }
            if (token->mark == ':' && token->is_joint && is_mark_at(self, at + 1, ':')) {
                at += 2;
                continue;
            }
            if (token->mark == '-' && is_mark_at(self, at + 1, '>')) {
                at += 2;
                continue;
            }
            if (strchr(",;=|:>", token->mark) != NULL)
                break;
        }
        if (token->mark == '{' || is_word_at(self, at, "as") || is_word_at(self, at, "where"))
            break;
        at = behind(self, at);
    }
    return at < to ? at : to;
}

static uint32_t take_pattern(const rust_tokens *self, uint32_t at, uint32_t to, bool has_choice)
{
    while (at < to && !is_mark_at(self, at, ',') && !is_word_at(self, at, "if") &&
           !is_word_at(self, at, "in") && (has_choice || !is_mark_at(self, at, '|')) &&
           !(is_mark_at(self, at, '=') && !is_mark_at(self, at - 1, '.')))
        at = behind(self, at);
    return at;
}

static uint32_t take_item(const rust_tokens *self, uint32_t at, uint32_t to)
{
    while (at < to) {
        uint32_t next = behind(self, at);

        if (is_mark_at(self, at, ';') || self->at[at].mark == '{')
            return next;
        at = next;
    }
    return to;
}

static uint32_t take_visibility(const rust_tokens *self, uint32_t at, uint32_t to)
{
    if (at >= to || !is_word_at(self, at, "pub"))
        return at;
    at++;
    if (at < to && self->at[at].mark == '(' && at + 1 < to &&
        (is_word_at(self, at + 1, "crate") || is_word_at(self, at + 1, "super") ||
         is_word_at(self, at + 1, "self") || is_word_at(self, at + 1, "in")))
        at = behind(self, at);
    return at;
}

static uint32_t take_literal(const rust_tokens *self, uint32_t at)
{
    uint32_t sign = is_mark_at(self, at, '-') ? 1 : 0;

    if (token_at(self, at + sign)->kind == RUST_LITERAL)
        return at + sign + 1;
    return is_word_at(self, at, "true") || is_word_at(self, at, "false") ? at + 1 : at;
}

static uint32_t take_tree(const rust_tokens *self, uint32_t at, uint32_t to)
{
    const rust_token *token = &self->at[at];
    size_t marks = token->kind == RUST_MARK ? token_operator(self->text, token->start) : 1;

    if (marks > 1 && at + marks <= to)
        return at + (uint32_t)marks;
    return behind(self, at);
}

/* Behind the fragment of this kind that begins at `at`; `at` itself when there is none. */
static uint32_t take_fragment(const rust_tokens *self, cg_str kind, uint32_t at, uint32_t to)
{
    const rust_token *token = &self->at[at];

    if (str_equal(kind, CG_LIT("vis")))
        return take_visibility(self, at, to);
    if (at >= to)
        return at;
    if (str_equal(kind, CG_LIT("ident")))
        return token->kind == RUST_IDENT && !is_word_at(self, at, "_") ? at + 1 : at;
    if (str_equal(kind, CG_LIT("tt")))
        return take_tree(self, at, to);
    if (str_equal(kind, CG_LIT("literal")))
        return take_literal(self, at);
    if (str_equal(kind, CG_LIT("lifetime")))
        return token->kind == RUST_LIFETIME ? at + 1 : at;
    if (str_equal(kind, CG_LIT("block")))
        return token->mark == '{' ? behind(self, at) : at;
    if (str_equal(kind, CG_LIT("ty")) || str_equal(kind, CG_LIT("path")))
        return take_type(self, at, to);
    if (str_equal(kind, CG_LIT("pat")))
        return take_pattern(self, at, to, true);
    if (str_equal(kind, CG_LIT("pat_param")))
        return take_pattern(self, at, to, false);
    if (str_equal(kind, CG_LIT("item")))
        return take_item(self, at, to);
    return take_expression(self, at, to); /* expr, expr_2021, stmt, meta */
}

static bool bind(rules_work *self, cg_str name, cg_str kind, cg_str text)
{
    rules_binding *added = vec_add(self->heap, &self->bindings);

    if (added == NULL) {
        self->is_lacking = true;
        return false;
    }
    *added = (rules_binding){.name = name, .text = text, .depth = (uint8_t)self->depth};
    memcpy(added->turns, self->turns, sizeof added->turns);
    added->is_expression = str_starts_with(kind, CG_LIT("expr"));
    added->is_type = str_equal(kind, CG_LIT("ty"));
    return true;
}

/* `$( ... ) separator op` at `at` (the dollar): where its parts are. */
typedef struct repetition {
    uint32_t from; /* inside the parentheses */
    uint32_t to;
    uint32_t separator; /* separator_count tokens */
    uint32_t separator_count;
    uint32_t end; /* behind the operator */
    char op;
} repetition;

static bool find_repetition(const rust_tokens *self, uint32_t at, repetition *ret)
{
    uint32_t close;
    uint32_t op;

    if (!is_mark_at(self, at, '$') || token_at(self, at + 1)->mark != '(')
        return false;
    close = self->at[at + 1].partner;
    op = close + 1;
    /* `$(...)+*`: what comes before an operator may be an operator. */
    while (op < self->count && op - close <= 4) {
        const rust_token *token = token_at(self, op);
        bool is_op = token->kind == RUST_MARK && strchr("*+?", token->mark) != NULL;

        if (is_op && !(op == close + 1 && token->is_joint && token_at(self, op + 1)->mark == '*')) {
            *ret = (repetition){.from = at + 2,
                                .to = close,
                                .separator = close + 1,
                                .separator_count = op - close - 1,
                                .end = op + 1,
                                .op = token->mark};
            return close > at + 1;
        }
        op++;
    }
    return false;
}

static bool is_same_token(const rust_tokens *a, uint32_t at_a, const rust_tokens *b, uint32_t at_b)
{
    const rust_token *left = token_at(a, at_a);
    const rust_token *right = token_at(b, at_b);

    return left->kind == right->kind && left->mark == right->mark &&
           str_equal(token_text(a->text, left), token_text(b->text, right));
}

static bool match(rules_work *self, uint32_t from, uint32_t to, uint32_t *at, uint32_t end,
                  unsigned nest);

static bool match_separator(const rules_work *self, const repetition *loop, uint32_t *at,
                            uint32_t end)
{
    if (end - *at < loop->separator_count)
        return false;
    for (uint32_t i = 0; i < loop->separator_count; i++) {
        if (!is_same_token(&self->pattern, loop->separator + i, &self->input, *at + i))
            return false;
    }
    *at += loop->separator_count;
    return true;
}

static bool match_repetition(rules_work *self, const repetition *loop, uint32_t *at, uint32_t end,
                             unsigned nest)
{
    uint32_t turns = 0;

    if (self->depth == RULES_LOOPS)
        return false;
    self->depth++;
    while (*at < end && (loop->op != '?' || turns == 0) && spend(self, 1)) {
        size_t count = self->bindings.count;
        uint32_t next = *at;

        self->turns[self->depth - 1] = turns;
        if ((turns > 0 && !match_separator(self, loop, &next, end)) ||
            !match(self, loop->from, loop->to, &next, end, nest + 1) || next == *at) {
            self->bindings.count = count;
            break;
        }
        *at = next;
        turns++;
    }
    self->depth--;
    self->turns[self->depth] = 0;
    return loop->op != '+' || turns > 0;
}

/* Match a part of the pattern with the input from *at on; *at moves behind what it took. */
static bool match(rules_work *self, uint32_t from, uint32_t to, uint32_t *at, uint32_t end,
                  unsigned nest)
{
    const rust_tokens *pattern = &self->pattern;
    repetition loop;

    if (nest > RULES_NEST)
        return false;
    while (from < to) {
        if (!spend(self, 1))
            return false;
        if (find_repetition(pattern, from, &loop)) {
            if (!match_repetition(self, &loop, at, end, nest))
                return false;
            from = loop.end;
        } else if (is_mark_at(pattern, from, '$') && from + 3 < to &&
                   is_mark_at(pattern, from + 2, ':')) {
            cg_str name = token_text(pattern->text, &pattern->at[from + 1]);
            cg_str kind = token_text(pattern->text, &pattern->at[from + 3]);
            uint32_t next = take_fragment(&self->input, kind, *at, end);

            if ((next == *at && !str_equal(kind, CG_LIT("vis"))) || next > end ||
                !spend(self, next - *at) ||
                !bind(self, name, kind, text_of_range(&self->input, *at, next)))
                return false;
            *at = next;
            from += 4;
        } else if (*at >= end || !is_same_token(pattern, from, &self->input, *at)) {
            return false;
        } else if (pattern->at[from].kind == RUST_OPEN) {
            uint32_t inner = *at + 1;
            uint32_t close = self->input.at[*at].partner;

            if (close <= *at || pattern->at[from].partner <= from ||
                !match(self, from + 1, pattern->at[from].partner, &inner, close, nest + 1) ||
                inner != close)
                return false;
            *at = close + 1;
            from = pattern->at[from].partner + 1;
        } else {
            ++*at;
            from++;
        }
    }
    return true;
}

/* The variables of the pattern and how many repetitions are around each. */
static bool find_variables(rules_work *self)
{
    const rust_tokens *pattern = &self->pattern;
    uint32_t ends[RULES_NEST];
    uint8_t depth = 0;
    repetition loop;

    for (uint32_t at = 0; at < pattern->count; at++) {
        while (depth > 0 && at >= ends[depth - 1])
            depth--;
        if (find_repetition(pattern, at, &loop)) {
            if (depth == RULES_LOOPS)
                return false;
            ends[depth++] = loop.to;
            at++;
        } else if (is_mark_at(pattern, at, '$') && is_mark_at(pattern, at + 2, ':')) {
            rules_variable *added = vec_add(self->heap, &self->variables);

            if (added == NULL) {
                self->is_lacking = true;
                return false;
            }
            *added = (rules_variable){token_text(pattern->text, &pattern->at[at + 1]), depth};
        }
    }
    return true;
}

/* --- writing --- */

static const rules_variable *find_variable(const rules_work *self, uint32_t at)
{
    cg_str name;

    if (!is_mark_at(&self->body, at, '$') || token_at(&self->body, at + 1)->kind != RUST_IDENT)
        return NULL;
    name = token_text(self->body.text, &self->body.at[at + 1]);
    for (size_t i = 0; i < self->variables.count; i++) {
        if (str_equal(self->variables.at[i].name, name))
            return &self->variables.at[i];
    }
    return NULL;
}

static bool is_in_turn(const rules_work *self, const rules_binding *bound, uint32_t depth)
{
    if (depth > bound->depth)
        depth = bound->depth;
    return depth == 0 || memcmp(bound->turns, self->turns, depth * sizeof self->turns[0]) == 0;
}

static const rules_binding *find_binding(rules_work *self, const rules_variable *wanted)
{
    if (!spend(self, 1 + (uint32_t)self->bindings.count / 8))
        return NULL;
    for (size_t i = 0; i < self->bindings.count; i++) {
        const rules_binding *bound = &self->bindings.at[i];

        if (str_equal(bound->name, wanted->name) && is_in_turn(self, bound, bound->depth))
            return bound;
    }
    return NULL;
}

/* How often a variable with a deeper repetition was bound here. */
static uint32_t count_turns(const rules_work *self, const rules_variable *wanted)
{
    uint32_t turns = 0;

    for (size_t i = 0; i < self->bindings.count; i++) {
        const rules_binding *bound = &self->bindings.at[i];

        if (str_equal(bound->name, wanted->name) && is_in_turn(self, bound, self->depth) &&
            bound->turns[self->depth] >= turns)
            turns = bound->turns[self->depth] + 1;
    }
    return turns;
}

static void write_token(rules_work *self, uint32_t at)
{
    const rust_token *token = &self->body.at[at];

    buf_add(&self->out, token_text(self->body.text, token));
    if (at + 1 == self->body.count || self->body.at[at + 1].start != token->end)
        buf_byte(&self->out, ' ');
}

static bool write_variable(rules_work *self, const rules_variable *wanted, uint32_t behind_it)
{
    const rules_binding *bound = wanted->depth <= self->depth ? find_binding(self, wanted) : NULL;
    bool is_simple = true;

    if (bound == NULL)
        return false;
    if (bound->is_expression || bound->is_type) {
        rust_token token;
        size_t at = 0;

        is_simple = !token_next(bound->text, &at, &token) || !token_next(bound->text, &at, &token);
    }
    if (bound->is_type &&
        !(is_mark_at(&self->body, behind_it, ':') && is_mark_at(&self->body, behind_it + 1, ':')))
        is_simple = true;
    buf_byte(&self->out, ' ');
    if (!is_simple)
        buf_byte(&self->out, bound->is_expression ? '(' : '<');
    buf_add(&self->out, bound->text);
    if (!is_simple)
        buf_byte(&self->out, bound->is_expression ? ')' : '>');
    buf_byte(&self->out, ' ');
    return spend(self, 1 + (uint32_t)bound->text.len / 8);
}

static bool write_body(rules_work *self, uint32_t from, uint32_t to);

/*
 * How many turns a repetition takes: as many as the variables of this depth in it, which must
 * agree. Deeper ones may have had no turn of their own in the last turns of this.
 */
static bool find_turns(rules_work *self, const repetition *loop, uint32_t *ret)
{
    uint32_t exact = UINT32_MAX;
    uint32_t least = 0;
    bool has_any = false;

    for (uint32_t at = loop->from; at < loop->to; at++) {
        const rules_variable *used = find_variable(self, at);
        uint32_t own;

        if (used == NULL || used->depth <= self->depth)
            continue;
        if (!spend(self, (uint32_t)self->bindings.count))
            return false;
        own = count_turns(self, used);
        has_any = true;
        if (own > least)
            least = own;
        if (used->depth == self->depth + 1 && exact != UINT32_MAX && own != exact)
            return false;
        if (used->depth == self->depth + 1)
            exact = own;
    }
    *ret = exact != UINT32_MAX ? exact : least;
    return has_any && *ret >= least;
}

static bool write_repetition(rules_work *self, const repetition *loop)
{
    uint32_t turns;

    if (self->depth == RULES_LOOPS || !find_turns(self, loop, &turns))
        return false;
    self->depth++;
    for (uint32_t turn = 0; turn < turns; turn++) {
        self->turns[self->depth - 1] = turn;
        for (uint32_t i = 0; turn > 0 && i < loop->separator_count; i++)
            write_token(self, loop->separator + i);
        if (!write_body(self, loop->from, loop->to))
            return false;
        buf_byte(&self->out, ' ');
    }
    self->depth--;
    self->turns[self->depth] = 0;
    return true;
}

/* Recursive in repetitions only, of which RULES_LOOPS are allowed. */
static bool write_body(rules_work *self, uint32_t from, uint32_t to)
{
    repetition loop;

    while (from < to) {
        const rules_variable *used = find_variable(self, from);

        if (!spend(self, 1) || self->out.failed)
            return false;
        if (used != NULL) {
            if (!write_variable(self, used, from + 2))
                return false;
            from += 2;
        } else if (find_repetition(&self->body, from, &loop)) {
            if (!write_repetition(self, &loop))
                return false;
            from = loop.end;
        } else {
            write_token(self, from++);
        }
    }
    return true;
}

bool rules_begin(rules_work *self, heap *from, arena *mem, cg_str input)
{
    *self = (rules_work){.heap = from, .mem = mem, .steps_left = RULES_STEPS};
    buf_init(&self->out, from, RULES_TEXT_CEILING);
    return tokens_read(mem, input, &self->input);
}

void rules_end(rules_work *self)
{
    buf_free(&self->out);
    vec_free(self->heap, &self->bindings);
    vec_free(self->heap, &self->variables);
}

bool rules_apply(rules_work *self, cg_str pattern, cg_str body, bool *ret_fits)
{
    uint32_t at = 0;

    *ret_fits = false;
    if (!tokens_read(self->mem, pattern, &self->pattern) ||
        !tokens_read(self->mem, body, &self->body))
        return false;
    self->bindings.count = 0;
    self->variables.count = 0;
    self->depth = 0;
    memset(self->turns, 0, sizeof self->turns);
    buf_clear(&self->out);
    *ret_fits = match(self, 0, self->pattern.count, &at, self->input.count, 0) &&
                at == self->input.count && find_variables(self) &&
                write_body(self, 0, self->body.count) && !self->out.failed;
    /* Out of memory, or at the ceiling? No addition is longer than the texts given. */
    if (self->out.failed && self->out.len + self->input.text.len + body.len < RULES_TEXT_CEILING)
        self->is_lacking = true;
    return !self->is_lacking;
}
