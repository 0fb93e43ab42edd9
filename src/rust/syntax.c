#include "rust/syntax.h"

#include <tree_sitter/api.h>

#include "base/buf.h"
#include "base/guard.h"
#include "rust/literals.h"

const TSLanguage *tree_sitter_rust(void);

/* What the builder does with a node of the grammar. */
enum way {
    WAY_SKIP,    /* punctuation, keywords */
    WAY_TOKEN,   /* leaves a mark on its parent: operators, `move`, `mut`, `ref` */
    WAY_COMMENT, /* may be a remark */
    WAY_THROUGH, /* its child takes its place */
    WAY_STATEMENT,
    WAY_NODE,
    WAY_CLOSED, /* a node without text or children */
    WAY_LEAF,   /* text as written */
    WAY_NAME,   /* without `r#` */
    WAY_STRING, /* value of a quoted literal */
    WAY_RAW_STRING,
};

typedef struct symbol_rule {
    uint8_t kind;
    uint8_t way;
    uint8_t op;    /* of a token */
    uint8_t flags; /* that a token leaves */
} symbol_rule;

/* A node whose children are being built; `through` ones share `ref` with the frame below. */
typedef struct frame {
    ast_ref ref;
    ast_ref last; /* child built so far */
    uint8_t kind;
    uint8_t role;  /* what the child of a `through` frame is to the node */
    uint8_t count; /* children that took a role by their place; stops at 255 */
    bool is_through;
    uint32_t left; /* children that are not built yet, the one that is being built included */
} frame;

struct rust_parser {
    heap *heap;
    const cg_env *env; /* NULL: nobody wants to know */
    TSParser *parser;  /* NULL: memory lacked, and it is to be made again */
    guard memory;      /* of tree-sitter */
    symbol_rule *symbols;
    uint8_t *roles; /* by field */
    uint32_t symbol_count;
    uint32_t field_count;
    VEC(frame) frames;
};

typedef struct builder {
    rust_parser *parser;
    ast *tree;
    intern *names;
    cg_str text;   /* what the nodes' offsets count in, without what was put before it */
    uint32_t skip; /* bytes put before it */
    uint32_t base; /* where the text begins in the file */
    bool is_fixed; /* every node gets the range `fixed` instead */
    ast_range fixed;
    bool is_utf8;
    bool has_errors; /* somewhere */
    buf value;
} builder;

/* --- tables --- */

static const cg_str kind_names[AST_KIND_COUNT] = {
    {"(none)", 6},
#define KIND(name, word) {word, sizeof(word) - 1},
#include "rust/kinds.def"
#undef KIND
};

const char *ast_kind_name(enum ast_kind kind)
{
    return kind_names[kind].ptr;
}

static const char *const role_names[] = {
    [ROLE_ALIAS] = "alias",
    [ROLE_ALTERNATIVE] = "alternative",
    [ROLE_ARGUMENT] = "argument",
    [ROLE_ARGUMENTS] = "arguments",
    [ROLE_BODY] = "body",
    [ROLE_BOUNDS] = "bounds",
    [ROLE_CONDITION] = "condition",
    [ROLE_CONSEQUENCE] = "consequence",
    [ROLE_DEFAULT_TYPE] = "default_type",
    [ROLE_ELEMENT] = "element",
    [ROLE_FIELD] = "field",
    [ROLE_FUNCTION] = "function",
    [ROLE_LEFT] = "left",
    [ROLE_LENGTH] = "length",
    [ROLE_LIST] = "list",
    [ROLE_MACRO] = "macro",
    [ROLE_NAME] = "name",
    [ROLE_PARAMETERS] = "parameters",
    [ROLE_PATH] = "path",
    [ROLE_PATTERN] = "pattern",
    [ROLE_RETURN_TYPE] = "return_type",
    [ROLE_RIGHT] = "right",
    [ROLE_TRAIT] = "trait",
    [ROLE_TYPE] = "type",
    [ROLE_TYPE_ARGUMENTS] = "type_arguments",
    [ROLE_TYPE_PARAMETERS] = "type_parameters",
    [ROLE_VALUE] = "value",
};

const char *ast_role_name(enum ast_role role)
{
    return role < sizeof role_names / sizeof *role_names && role_names[role] != NULL
               ? role_names[role]
               : "";
}

typedef struct token_rule {
    cg_str word;
    uint8_t op;
    uint8_t flags;
} token_rule;

#define TOKEN(word, op, flags) {{(word), sizeof(word) - 1}, (op), (flags)}

static const token_rule token_rules[] = {
    TOKEN("+", OP_ADD, 0),
    TOKEN("-", OP_SUB, 0),
    TOKEN("*", OP_MUL, 0),
    TOKEN("/", OP_DIV, 0),
    TOKEN("%", OP_REM, 0),
    TOKEN("&", OP_BIT_AND, AST_REFERENCE),
    TOKEN("|", OP_BIT_OR, 0),
    TOKEN("^", OP_BIT_XOR, 0),
    TOKEN("<<", OP_SHL, 0),
    TOKEN(">>", OP_SHR, 0),
    TOKEN("&&", OP_AND, 0),
    TOKEN("||", OP_OR, 0),
    TOKEN("==", OP_EQ, 0),
    TOKEN("!=", OP_NE, 0),
    TOKEN("<", OP_LT, 0),
    TOKEN("<=", OP_LE, 0),
    TOKEN(">", OP_GT, 0),
    TOKEN(">=", OP_GE, 0),
    TOKEN("+=", OP_ADD, 0),
    TOKEN("-=", OP_SUB, 0),
    TOKEN("*=", OP_MUL, 0),
    TOKEN("/=", OP_DIV, 0),
    TOKEN("%=", OP_REM, 0),
    TOKEN("&=", OP_BIT_AND, 0),
    TOKEN("|=", OP_BIT_OR, 0),
    TOKEN("^=", OP_BIT_XOR, 0),
    TOKEN("<<=", OP_SHL, 0),
    TOKEN(">>=", OP_SHR, 0),
    TOKEN("!", OP_NOT, 0),
    TOKEN("..", OP_RANGE, 0),
    TOKEN("...", OP_RANGE_INCLUSIVE, 0),
    TOKEN("..=", OP_RANGE_INCLUSIVE, 0),
    TOKEN("move", OP_NONE, AST_MOVE),
    TOKEN("ref", OP_NONE, AST_REFERENCE),
};

/* Named nodes that are not built as they are. */
typedef struct named_rule {
    cg_str word;
    uint8_t kind;
    uint8_t way;
    uint8_t flags;
} named_rule;

#define NAMED(word, kind, way, flags) {{(word), sizeof(word) - 1}, (kind), (way), (flags)}

static const named_rule named_rules[] = {
    NAMED("line_comment", AST_NONE, WAY_COMMENT, 0),
    NAMED("block_comment", AST_NONE, WAY_SKIP, 0),
    NAMED("shebang", AST_NONE, WAY_SKIP, 0),
    NAMED("parenthesized_expression", AST_NONE, WAY_THROUGH, 0),
    NAMED("expression_statement", AST_EXPRESSION_STATEMENT, WAY_STATEMENT, 0),
    NAMED("mutable_specifier", AST_NONE, WAY_TOKEN, AST_MUTABLE),
    NAMED("token_tree", AST_TOKEN_TREE, WAY_CLOSED, 0),
    NAMED("token_tree_pattern", AST_TOKEN_TREE, WAY_CLOSED, 0),
    NAMED("boolean_literal", AST_BOOLEAN_LITERAL, WAY_LEAF, 0),
    NAMED("integer_literal", AST_INTEGER_LITERAL, WAY_LEAF, 0),
    NAMED("float_literal", AST_FLOAT_LITERAL, WAY_LEAF, 0),
    NAMED("char_literal", AST_CHAR_LITERAL, WAY_STRING, 0),
    NAMED("string_literal", AST_STRING_LITERAL, WAY_STRING, 0),
    NAMED("raw_string_literal", AST_RAW_STRING_LITERAL, WAY_RAW_STRING, 0),
    NAMED("identifier", AST_IDENTIFIER, WAY_NAME, 0),
    NAMED("field_identifier", AST_FIELD_IDENTIFIER, WAY_NAME, 0),
    NAMED("shorthand_field_identifier", AST_SHORTHAND_FIELD_IDENTIFIER, WAY_NAME, 0),
    NAMED("type_identifier", AST_TYPE_IDENTIFIER, WAY_NAME, 0),
    NAMED("primitive_type", AST_PRIMITIVE_TYPE, WAY_LEAF, 0),
    NAMED("lifetime", AST_LIFETIME, WAY_LEAF, 0),
    NAMED("label", AST_LABEL, WAY_LEAF, 0),
    NAMED("metavariable", AST_METAVARIABLE, WAY_LEAF, 0),
    NAMED("self", AST_SELF, WAY_LEAF, 0),
    NAMED("super", AST_SUPER, WAY_LEAF, 0),
    NAMED("crate", AST_CRATE, WAY_LEAF, 0),
    NAMED("fragment_specifier", AST_NONE, WAY_SKIP, 0),
};

#define COUNT(table) (sizeof(table) / sizeof *(table))

static symbol_rule rule_of(cg_str word, bool is_named)
{
    if (!is_named) {
        if (str_equal(word, CG_LIT("_")))
            return (symbol_rule){.kind = AST_WILDCARD_PATTERN, .way = WAY_CLOSED};
        for (size_t i = 0; i < COUNT(token_rules); i++) {
            if (str_equal(token_rules[i].word, word))
                return (symbol_rule){
                    .way = WAY_TOKEN, .op = token_rules[i].op, .flags = token_rules[i].flags};
        }
        return (symbol_rule){.way = WAY_SKIP};
    }
    for (size_t i = 0; i < COUNT(named_rules); i++) {
        if (str_equal(named_rules[i].word, word))
            return (symbol_rule){.kind = named_rules[i].kind,
                                 .way = named_rules[i].way,
                                 .flags = named_rules[i].flags};
    }
    for (unsigned kind = 1; kind < AST_KIND_COUNT; kind++) {
        if (str_equal(kind_names[kind], word))
            return (symbol_rule){.kind = (uint8_t)kind, .way = WAY_NODE};
    }
    return (symbol_rule){.kind = AST_OTHER, .way = WAY_NODE};
}

static bool set_tables(rust_parser *self)
{
    const TSLanguage *language = ts_parser_language(self->parser);
    uint32_t symbol_count = ts_language_symbol_count(language);
    uint32_t field_count = ts_language_field_count(language);

    self->symbols = heap_resize(self->heap, NULL, 0, symbol_count * sizeof *self->symbols);
    if (self->symbols == NULL)
        return false;
    self->symbol_count = symbol_count;
    self->roles = heap_resize(self->heap, NULL, 0, field_count + 1);
    if (self->roles == NULL)
        return false;
    self->field_count = field_count;
    for (uint32_t i = 0; i < symbol_count; i++)
        self->symbols[i] =
            rule_of(str_from(ts_language_symbol_name(language, (TSSymbol)i)),
                    ts_language_symbol_type(language, (TSSymbol)i) == TSSymbolTypeRegular);
    self->roles[0] = ROLE_NONE;
    for (uint32_t i = 1; i <= field_count; i++) {
        cg_str name = str_from(ts_language_field_name_for_id(language, (TSFieldId)i));

        self->roles[i] = ROLE_NONE;
        for (uint8_t role = 1; role < COUNT(role_names); role++) {
            if (role_names[role] != NULL && str_equal(str_from(role_names[role]), name))
                self->roles[i] = role;
        }
    }
    return true;
}

/* Under the guard; NULL when the grammar does not fit. */
static void make_parser(void *context)
{
    rust_parser *self = context;

    self->parser = ts_parser_new();
    if (!ts_parser_set_language(self->parser, tree_sitter_rust()))
        self->parser = NULL;
}

cg_code rust_parser_new(heap *from, rust_parser **ret, cg_err *reterr)
{
    rust_parser *self = heap_resize(from, NULL, 0, sizeof *self);

    if (self == NULL)
        return err_nomem(reterr);
    *self = (rust_parser){.heap = from};
    if (!guard_run(&self->memory, make_parser, self)) {
        rust_parser_free(self);
        return err_nomem(reterr);
    }
    if (self->parser == NULL) {
        rust_parser_free(self);
        return cg_fail(reterr, PROBLEM_INTERNAL, "the Rust grammar does not fit tree-sitter");
    }
    if (!set_tables(self)) {
        rust_parser_free(self);
        return err_nomem(reterr);
    }
    *ret = self;
    return CG_OK;
}

void rust_parser_watch(rust_parser *self, const cg_env *env)
{
    self->env = env;
}

void rust_parser_rest(rust_parser *self)
{
    guard_end(&self->memory);
    self->parser = NULL;
}

void rust_parser_free(rust_parser *self)
{
    if (self == NULL)
        return;
    guard_end(&self->memory);
    vec_free(self->heap, &self->frames);
    heap_resize(self->heap, self->symbols, self->symbol_count * sizeof *self->symbols, 0);
    heap_resize(self->heap, self->roles, self->field_count + 1, 0);
    heap_resize(self->heap, self, sizeof *self, 0);
}

void ast_free(ast *self)
{
    if (self->heap == NULL)
        return;
    vec_free(self->heap, &self->nodes);
    vec_free(self->heap, &self->broken);
    vec_free(self->heap, &self->remarks);
}

cg_str ast_tokens(const ast *self, ast_ref ref)
{
    const ast_node *node = ast_at(self, ref);
    cg_str text = node->text != 0 ? intern_text_of(self->names, node->text) : ast_text(self, ref);

    if (node->kind != AST_TOKEN_TREE || text.len < 2)
        return text;
    return (cg_str){text.ptr + 1, text.len - 2};
}

/* --- texts of leaves --- */

static sym value_of(builder *self, cg_str text, enum literal_form form)
{
    cg_str value;

    return literal_value(&self->value, text, form, self->is_utf8, &value)
               ? intern_add(self->names, value)
               : 0;
}

static sym leaf_text(builder *self, uint8_t way, cg_str text)
{
    switch (way) {
    case WAY_STRING: return value_of(self, text, LITERAL_QUOTED);
    case WAY_RAW_STRING: return value_of(self, text, LITERAL_RAW);
    case WAY_NAME:
        if (text.len > 2 && text.ptr[0] == 'r' && text.ptr[1] == '#')
            text = (cg_str){text.ptr + 2, text.len - 2};
        break;
    default: break;
    }
    return self->is_utf8 ? intern_add(self->names, text) : value_of(self, text, LITERAL_BARE);
}

/* --- nodes --- */

static bool is_outside_places(uint8_t kind)
{
    return kind == AST_ATTRIBUTE_ITEM || kind == AST_INNER_ATTRIBUTE_ITEM || kind == AST_LABEL ||
           kind == AST_LIFETIME || kind == AST_ERROR;
}

/* The role of a child that the grammar gives no field. */
static uint8_t role_by_place(frame *parent, uint8_t op, uint8_t kind)
{
    uint8_t count = parent->count;

    if (is_outside_places(kind))
        return ROLE_NONE;
    if (parent->is_through)
        return parent->role;
    if (parent->count < UINT8_MAX)
        parent->count++;
    switch (parent->kind) {
    case AST_EXPRESSION_STATEMENT:
    case AST_UNARY_EXPRESSION:
    case AST_TRY_EXPRESSION:
    case AST_AWAIT_EXPRESSION:
    case AST_RETURN_EXPRESSION:
    case AST_YIELD_EXPRESSION:
    case AST_BREAK_EXPRESSION:
    case AST_NEGATIVE_LITERAL:
    case AST_SHORTHAND_FIELD_INITIALIZER:
    case AST_BASE_FIELD_INITIALIZER: return ROLE_VALUE;
    case AST_INDEX_EXPRESSION: return count == 0 ? ROLE_VALUE : ROLE_ARGUMENT;
    case AST_RANGE_EXPRESSION:
    case AST_RANGE_PATTERN: return op == OP_NONE ? ROLE_LEFT : ROLE_RIGHT;
    case AST_UNSAFE_BLOCK:
    case AST_ASYNC_BLOCK:
    case AST_TRY_BLOCK:
    case AST_ELSE_CLAUSE: return ROLE_BODY;
    case AST_MATCH_PATTERN:
    case AST_REF_PATTERN:
    case AST_MUT_PATTERN:
    case AST_REFERENCE_PATTERN: return ROLE_PATTERN;
    case AST_CAPTURED_PATTERN: return count == 0 ? ROLE_NAME : ROLE_PATTERN;
    case AST_USE_WILDCARD:
    case AST_ATTRIBUTE: return ROLE_PATH;
    case AST_GENERIC_PATTERN:
    case AST_BRACKETED_TYPE:
    case AST_REMOVED_TRAIT_BOUND: return ROLE_TYPE;
    default: return ROLE_NONE;
    }
}

static bool has_operator(uint8_t kind)
{
    return kind == AST_BINARY_EXPRESSION || kind == AST_UNARY_EXPRESSION ||
           kind == AST_COMPOUND_ASSIGNMENT || kind == AST_RANGE_EXPRESSION ||
           kind == AST_RANGE_PATTERN;
}

static void leave_mark(builder *self, const frame *parent, const symbol_rule *rule)
{
    ast_node *node = &self->tree->nodes.at[parent->ref];
    uint8_t flags = rule->flags;

    if (parent->is_through)
        return;
    if (rule->op != OP_NONE && node->op == OP_NONE && has_operator(parent->kind)) {
        node->op = rule->op;
        if (parent->kind == AST_UNARY_EXPRESSION && rule->op == OP_SUB)
            node->op = OP_NEG;
        else if (parent->kind == AST_UNARY_EXPRESSION && rule->op == OP_MUL)
            node->op = OP_DEREF;
    }
    if (parent->kind != AST_SELF_PARAMETER && parent->kind != AST_FIELD_PATTERN)
        flags &= (uint8_t)~AST_REFERENCE;
    node->flags |= flags;
}

static bool add_broken(ast *tree, uint32_t start, uint32_t end)
{
    ast_range *last = tree->broken.count > 0 ? &tree->broken.at[tree->broken.count - 1] : NULL;
    ast_range *added;

    if (end == start)
        end++;
    if (end > tree->source->text.len)
        end = (uint32_t)tree->source->text.len;
    if (start > end)
        start = end;
    if (last != NULL && start <= last->end) {
        if (end > last->end)
            last->end = end;
        return true;
    }
    added = vec_add(tree->heap, &tree->broken);
    if (added == NULL)
        return false;
    *added = (ast_range){start, end};
    return true;
}

static bool add_remark(builder *self, TSNode node, cg_str text)
{
    static const char word[] = "candle-graph:";
    ast_remark *remark;

    if (text.len < 2 || self->is_fixed)
        return true;
    text = str_trim((cg_str){text.ptr + 2, text.len - 2});
    if (!str_starts_with(text, (cg_str){word, sizeof word - 1}))
        return true;
    remark = vec_add(self->tree->heap, &self->tree->remarks);
    if (remark == NULL)
        return false;
    text = (cg_str){text.ptr + sizeof word - 1, text.len - (sizeof word - 1)};
    *remark = (ast_remark){.line = ts_node_start_point(node).row + 1, .text = str_trim(text)};
    return true;
}

static ast_ref add_node(ast *tree, ast_ref parent, ast_ref *last, ast_node fresh)
{
    ast_ref ref = (ast_ref)tree->nodes.count;
    ast_node *node = vec_add(tree->heap, &tree->nodes);

    if (node == NULL || tree->nodes.count >= UINT32_MAX)
        return 0;
    fresh.parent = parent;
    *node = fresh;
    if (*last != 0)
        tree->nodes.at[*last].next = ref;
    else if (parent != 0)
        tree->nodes.at[parent].first = ref;
    *last = ref;
    return ref;
}

static bool push(builder *self, frame fresh)
{
    frame *added = vec_add(self->parser->heap, &self->parser->frames);

    if (added == NULL)
        return false;
    *added = fresh;
    return true;
}

/* Parts of a block that have no value of their own. */
static bool is_expression(uint8_t kind)
{
    return (kind >= AST_IDENTIFIER && kind <= AST_BLOCK && kind != AST_LABEL) ||
           kind == AST_MACRO_INVOCATION;
}

/* The grammar has no `..=n`: it takes it for an assignment to `..`. */
static void mend_range(ast *tree, ast_ref ref)
{
    ast_node *node = &tree->nodes.at[ref];
    ast_node *left = &tree->nodes.at[node->first];

    if (node->first == 0 || left->kind != AST_RANGE_EXPRESSION || left->first != 0)
        return;
    node->kind = AST_RANGE_EXPRESSION;
    node->op = OP_RANGE_INCLUSIVE;
    node->first = left->next;
    *left = (ast_node){.start = left->start, .end = left->end};
}

static void pop(builder *self)
{
    size_t count = --self->parser->frames.count;
    const frame *done = &self->parser->frames.at[count];

    if (done->is_through) {
        self->parser->frames.at[count - 1].last = done->last;
    } else if (done->kind == AST_BLOCK || done->kind == AST_MACRO_BODY) {
        ast_node *last = &self->tree->nodes.at[done->last];

        if (done->last != 0 && is_expression(last->kind))
            last->role = ROLE_VALUE;
    } else if (done->kind == AST_ASSIGNMENT_EXPRESSION) {
        mend_range(self->tree, done->ref);
    }
}

static cg_str text_between(const builder *self, uint32_t start, uint32_t end)
{
    size_t from = start > self->skip ? start - self->skip : 0;
    size_t to = end > self->skip ? end - self->skip : 0;

    if (to > self->text.len)
        to = self->text.len;
    if (from > to)
        from = to;
    return (cg_str){self->text.ptr + from, to - from};
}

/* Documents show types; this many bytes of one are enough. */
#define TYPE_TEXT_BYTES 240

/* Does a node that has no place of its own in the file keep its text? */
static bool keeps_text(uint8_t kind, uint32_t len)
{
    return kind == AST_TOKEN_TREE ||
           (kind >= AST_GENERIC_TYPE && kind <= AST_LIFETIME && len <= TYPE_TEXT_BYTES);
}

static bool has_children(uint8_t way)
{
    return way == WAY_NODE || way == WAY_STATEMENT || way == WAY_THROUGH;
}

enum step { STEP_OVER, STEP_INTO, STEP_NOMEM };

/* Build the node the cursor is on; STEP_INTO pushed a frame for its children. */
static enum step enter(builder *self, TSTreeCursor *cursor)
{
    static const symbol_rule error_rule = {.kind = AST_ERROR, .way = WAY_NODE};
    rust_parser *parser = self->parser;
    TSNode at = ts_tree_cursor_current_node(cursor);
    TSSymbol symbol = ts_node_symbol(at);
    const symbol_rule *rule =
        symbol < parser->symbol_count ? &parser->symbols[symbol] : &error_rule;
    frame *parent = &parser->frames.at[parser->frames.count - 1];
    uint32_t start;
    uint32_t end;
    ast_node node = {0};
    ast_ref ref;

    if (rule->way == WAY_TOKEN)
        leave_mark(self, parent, rule);
    if (rule->way <= WAY_TOKEN && !self->has_errors)
        return STEP_OVER;
    start = ts_node_start_byte(at);
    end = ts_node_end_byte(at);
    if (self->has_errors && ts_node_has_error(at)) {
        bool is_missing = ts_node_is_missing(at);

        node.flags = AST_BROKEN;
        if ((is_missing || rule == &error_rule || !has_children(rule->way)) &&
            !add_broken(self->tree, start, end))
            return STEP_NOMEM;
        if (is_missing)
            return STEP_OVER;
    }
    if (rule->way <= WAY_TOKEN)
        return STEP_OVER;
    if (rule->way == WAY_COMMENT)
        return add_remark(self, at, text_between(self, start, end)) ? STEP_OVER : STEP_NOMEM;
    node.kind = rule->kind;
    node.role = parser->roles[ts_tree_cursor_current_field_id(cursor)];
    if (node.role == ROLE_NONE || parent->is_through)
        node.role = role_by_place(parent, self->tree->nodes.at[parent->ref].op, node.kind);
    if (rule->way == WAY_STATEMENT) {
        cg_str text = text_between(self, start, end);

        node.flags |= AST_SEMICOLON;
        if (text.len == 0 || text.ptr[text.len - 1] != ';')
            node.kind = AST_NONE;
    }
    if (node.kind == AST_NONE)
        return push(self, (frame){.ref = parent->ref,
                                  .last = parent->last,
                                  .kind = parent->kind,
                                  .role = node.role,
                                  .left = ts_node_child_count(at),
                                  .is_through = true})
                   ? STEP_INTO
                   : STEP_NOMEM;
    if (rule->way >= WAY_LEAF || (self->is_fixed && keeps_text(node.kind, end - start))) {
        node.text = leaf_text(self, rule->way, text_between(self, start, end));
        if (node.text == 0)
            return STEP_NOMEM;
    }
    if (self->is_fixed) {
        node.start = self->fixed.start;
        node.end = self->fixed.end;
        node.flags |= AST_EXPANDED;
    } else {
        node.start = start - self->skip + self->base;
        node.end = end - self->skip + self->base;
    }
    ref = add_node(self->tree, parent->ref, &parent->last, node);
    if (ref == 0)
        return STEP_NOMEM;
    if (!has_children(rule->way))
        return STEP_OVER;
    return push(self, (frame){.ref = ref, .kind = node.kind, .left = ts_node_child_count(at)})
               ? STEP_INTO
               : STEP_NOMEM;
}

static frame *top_frame(builder *self)
{
    return &self->parser->frames.at[self->parser->frames.count - 1];
}

/*
 * All that lies below the cursor's node, as children of the frame that was pushed last. Children
 * are counted: to look for one more costs the cursor as much as to go to several.
 */
static bool build(builder *self, TSTreeCursor *cursor)
{
    size_t floor = self->parser->frames.count;

    top_frame(self)->left = ts_node_child_count(ts_tree_cursor_current_node(cursor));
    if (!ts_tree_cursor_goto_first_child(cursor))
        return true;
    for (;;) {
        enum step step = enter(self, cursor);

        if (step == STEP_NOMEM)
            return false;
        if (step == STEP_INTO) {
            if (top_frame(self)->left > 0 && ts_tree_cursor_goto_first_child(cursor))
                continue;
            pop(self);
        }
        while (--top_frame(self)->left == 0 || !ts_tree_cursor_goto_next_sibling(cursor)) {
            ts_tree_cursor_goto_parent(cursor);
            if (self->parser->frames.count == floor)
                return true;
            pop(self);
        }
    }
}

/* --- parsing --- */

/*
 * A text of up to three pieces, for tree-sitter to read in portions. Two things bound its work: the
 * steps it takes, and how often it reads a portion again. The second is for texts in which every
 * byte may begin a literal that reaches to the end.
 */
typedef struct reading {
    cg_str pieces[3];
    uint64_t steps_left;
    uint64_t portions_left;
    const cg_env *env;
    uint64_t length;
    unsigned calls;
    bool is_interrupted;
} reading;

#define PORTION_BYTES    4096
#define PORTION_READINGS 48 /* of each portion, on average; ordinary text needs 1 to 3 */
#define STEPS_PER_CALL   100
#define STEPS_PER_BYTE   10 /* ordinary text takes 0.5 to 3, one that is all operators 7 */
#define STEPS_FREE       1000000
#define CALLS_PER_REPORT 256 /* some milliseconds of ordinary text */

static const char *read_portion(void *payload, uint32_t at, TSPoint point, uint32_t *ret_len)
{
    reading *self = payload;
    size_t offset = at;

    (void)point;
    *ret_len = 0;
    if (self->portions_left == 0)
        return "";
    self->portions_left--;
    for (size_t i = 0; i < 3; i++) {
        size_t left;

        if (offset >= self->pieces[i].len) {
            offset -= self->pieces[i].len;
            continue;
        }
        left = self->pieces[i].len - offset;
        *ret_len = (uint32_t)(left < PORTION_BYTES ? left : PORTION_BYTES);
        return self->pieces[i].ptr + offset;
    }
    return "";
}

/* Asked once per hundred steps. */
static bool must_stop(TSParseState *state)
{
    reading *self = state->payload;

    if (self->steps_left < STEPS_PER_CALL || self->portions_left == 0)
        return true;
    self->steps_left -= STEPS_PER_CALL;
    if (++self->calls % CALLS_PER_REPORT == 0)
        self->is_interrupted =
            !env_progress(self->env, "syntax", state->current_byte_offset, self->length);
    return self->is_interrupted;
}

/* NULL when the text takes too long, or the user does not want to wait. */
static TSTree *parse_text(rust_parser *self, reading *from)
{
    uint64_t len = from->pieces[0].len + from->pieces[1].len + from->pieces[2].len;
    TSTree *tree;

    from->env = self->env;
    from->length = len;
    from->steps_left = STEPS_FREE + len * STEPS_PER_BYTE;
    from->portions_left = (len / PORTION_BYTES + 16) * PORTION_READINGS;
    tree = ts_parser_parse_with_options(
        self->parser, NULL,
        (TSInput){.payload = from, .read = read_portion, .encoding = TSInputEncodingUTF8},
        (TSParseOptions){.payload = from, .progress_callback = must_stop});
    ts_parser_reset(self->parser);
    if (tree != NULL && from->portions_left == 0) {
        ts_tree_delete(tree);
        return NULL;
    }
    return tree;
}

static cg_code build_file(builder *self, TSTree *parsed, cg_err *reterr)
{
    ast *tree = self->tree;
    ast_node *nodes;
    TSTreeCursor cursor;
    TSNode root;
    bool is_done;

    if (!vec_reserve(tree->heap, &tree->nodes, 2 + self->text.len / 8))
        return err_nomem(reterr);
    nodes = tree->nodes.at;
    nodes[0] = (ast_node){0};
    nodes[1] = (ast_node){.kind = AST_SOURCE_FILE, .end = (uint32_t)self->text.len};
    tree->nodes.count = 2;
    if (parsed == NULL) {
        nodes[1].flags = AST_BROKEN;
        return add_broken(tree, 0, nodes[1].end) ? CG_OK : err_nomem(reterr);
    }
    root = ts_tree_root_node(parsed);
    self->has_errors = ts_node_has_error(root);
    if (self->has_errors)
        nodes[1].flags = AST_BROKEN;
    if (ts_node_is_error(root) && !add_broken(tree, ts_node_start_byte(root), nodes[1].end))
        return err_nomem(reterr);
    self->parser->frames.count = 0;
    if (!push(self, (frame){.ref = 1, .kind = AST_SOURCE_FILE}))
        return err_nomem(reterr);
    cursor = ts_tree_cursor_new(root);
    is_done = build(self, &cursor);
    ts_tree_cursor_delete(&cursor);
    return is_done ? CG_OK : err_nomem(reterr);
}

#define KEPT_TEXT ((size_t)256 << 10) /* the most that memory is kept of for the next text */

/* What is parsed under the guard, and what came of it. */
typedef struct parsing {
    rust_parser *parser;
    builder *maker;
    reading *from;
    enum rust_wrap wrap; /* of a piece, as all below */
    ast_ref parent;
    ast_ref *last;
    bool fits;
    cg_err *reterr;
    cg_code code;
} parsing;

/* false: memory lacked; the parser is made again by the next one. */
static bool run_guarded(rust_parser *self, void (*work)(void *context), parsing *what)
{
    if ((self->parser == NULL && !guard_run(&self->memory, make_parser, self)) ||
        !guard_run(&self->memory, work, what)) {
        self->parser = NULL;
        return false;
    }
    return true;
}

static void parse_file(void *context)
{
    parsing *self = context;
    TSTree *parsed = parse_text(self->parser, self->from);

    self->code = self->from->is_interrupted
                     ? cg_fail(self->reterr, PROBLEM_INTERRUPTED, "interrupted")
                     : build_file(self->maker, parsed, self->reterr);
    if (parsed != NULL)
        ts_tree_delete(parsed);
}

cg_code rust_parse(rust_parser *self, const rust_source *source, intern *names, ast *ret,
                   cg_err *reterr)
{
    ast tree = {.heap = self->heap, .source = source, .names = names};
    builder maker = {.parser = self, .tree = &tree, .names = names, .text = source->text};
    reading from = {.pieces = {source->text, CG_LIT(""), CG_LIT("")}};
    parsing work = {.parser = self, .maker = &maker, .from = &from, .reterr = reterr};

    if (source->text.len > RUST_TEXT_CEILING)
        return cg_fail(reterr, PROBLEM_LIMIT, "`%.*s` has %zu bytes, a source file at most %zu",
                       ERR_STR(source->path), source->text.len, RUST_TEXT_CEILING);
    if (source->text.len == 0)
        from.pieces[0] = maker.text = CG_LIT("");
    maker.is_utf8 = str_utf8_error(source->text) == SIZE_MAX;
    buf_init(&maker.value, self->heap, source->text.len * 3 + 16);
    if (!run_guarded(self, parse_file, &work))
        work.code = err_nomem(reterr);
    if (source->text.len > KEPT_TEXT)
        rust_parser_rest(self);
    buf_free(&maker.value);
    if (work.code != CG_OK) {
        ast_free(&tree);
        return work.code;
    }
    tree.parsed = (ast_ref)tree.nodes.count;
    *ret = tree;
    return CG_OK;
}

/* --- pieces --- */

typedef struct wrapping {
    cg_str before;
    cg_str after;
} wrapping;

static const wrapping wrappings[] = {
    [RUST_WRAP_LIST] = {{"const _:A=[", 11}, {"\n];", 3}},
    [RUST_WRAP_STATEMENTS] = {{"fn f(){", 7}, {"\n}", 2}},
    [RUST_WRAP_ITEMS] = {{"", 0}, {"\n", 1}},
    [RUST_WRAP_MEMBERS] = {{"impl A{", 7}, {"\n}", 2}},
};

/* The node that stands for the wrapping, which must be the only one and reach to the end. */
static bool find_wrapping(enum rust_wrap wrap, TSNode root, TSNode *ret)
{
    static const char *const fields[] = {
        [RUST_WRAP_LIST] = "value", [RUST_WRAP_STATEMENTS] = "body", [RUST_WRAP_MEMBERS] = "body"};
    TSNode only;

    *ret = root;
    if (ts_node_has_error(root))
        return false;
    if (wrap == RUST_WRAP_ITEMS)
        return true;
    if (ts_node_named_child_count(root) != 1)
        return false;
    only = ts_node_named_child(root, 0);
    *ret = ts_node_child_by_field_name(only, fields[wrap], (uint32_t)strlen(fields[wrap]));
    return !ts_node_is_null(*ret);
}

static bool build_piece(builder *self, TSNode around, ast_ref parent, ast_ref *last)
{
    uint8_t kind = self->tree->nodes.at[parent].kind;
    TSTreeCursor cursor;
    bool is_done;

    self->parser->frames.count = 0;
    if (!push(self, (frame){.ref = parent, .last = *last, .kind = kind}))
        return false;
    cursor = ts_tree_cursor_new(around);
    is_done = build(self, &cursor);
    ts_tree_cursor_delete(&cursor);
    if (!is_done)
        return false;
    *last = self->parser->frames.at[0].last;
    pop(self);
    return true;
}

static void parse_piece(void *context)
{
    parsing *self = context;
    TSTree *parsed = parse_text(self->parser, self->from);
    TSNode around;

    if (self->from->is_interrupted) {
        self->code = cg_fail(self->reterr, PROBLEM_INTERRUPTED, "interrupted");
        return;
    }
    if (parsed == NULL)
        return;
    self->fits = find_wrapping(self->wrap, ts_tree_root_node(parsed), &around);
    if (self->fits && !build_piece(self->maker, around, self->parent, self->last))
        self->code = err_nomem(self->reterr);
    ts_tree_delete(parsed);
}

cg_code rust_parse_piece(rust_parser *self, enum rust_wrap wrap, cg_str text, ast_range place,
                         intern *names, ast *tree, ast_ref parent, ast_ref *last, bool *ret_fits,
                         cg_err *reterr)
{
    builder maker = {.parser = self,
                     .tree = tree,
                     .names = names,
                     .text = text,
                     .skip = (uint32_t)wrappings[wrap].before.len,
                     .base = place.start,
                     .is_fixed = place.end != place.start,
                     .fixed = place};
    reading from = {.pieces = {wrappings[wrap].before, text, wrappings[wrap].after}};
    parsing work = {.parser = self,
                    .maker = &maker,
                    .from = &from,
                    .wrap = wrap,
                    .parent = parent,
                    .last = last,
                    .reterr = reterr};

    *ret_fits = false;
    if (text.len > RUST_TEXT_CEILING)
        return CG_OK;
    maker.is_utf8 = str_utf8_error(text) == SIZE_MAX;
    buf_init(&maker.value, self->heap, text.len * 3 + 16);
    if (!run_guarded(self, parse_piece, &work))
        work.code = err_nomem(reterr);
    buf_free(&maker.value);
    *ret_fits = work.fits;
    return work.code;
}
