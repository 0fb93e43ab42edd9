#include "model/inference.h"

#include "model/walk.h"

#define MOST_WORDS 16u
#define WHILE      CG_LIT("while training, ")

static const char *const LOAD_WORDS[] = {
    "from_mmaped_safetensors",
    "from_buffered_safetensors",
    "from_slice_safetensors",
    "from_pth",
    "from_npz",
    "from_tensors",
};
static const char *const TRAIN_WORDS[] = {
    "Var",           "VarMap",    "from_varmap", "from_backend", "backward",
    "backward_step", "GradStore", "Optimizer",   "AdamW",        "SGD",
};

#define COUNT(list) (sizeof(list) / sizeof *(list))

_Static_assert(COUNT(LOAD_WORDS) <= MOST_WORDS && COUNT(TRAIN_WORDS) <= MOST_WORDS, "word_list");

typedef struct word_list {
    const char *const *texts;
    sym names[MOST_WORDS];
    size_t count;
} word_list;

/* Words that occur nowhere have no symbol, and are no node's. */
static void word_list_init(word_list *self, const char *const *texts, size_t count,
                           const intern *names)
{
    *self = (word_list){.texts = texts, .count = count};
    for (size_t i = 0; i < count; i++)
        self->names[i] = intern_find(names, str_from(texts[i]));
}

/* Is the node one of the words? What macros are given may hold one anywhere. */
static bool is_among(const word_list *words, const ast *tree, ast_ref at)
{
    bool is_text = ast_kind_of(tree, at) == AST_TOKEN_TREE;
    cg_str text = is_text ? ast_tokens(tree, at) : (cg_str){0};
    sym name = ast_at(tree, at)->text;

    for (size_t i = 0; (is_text || name) && i < words->count; i++) {
        if (is_text ? str_find(text, str_from(words->texts[i])) != SIZE_MAX
                    : name == words->names[i])
            return true;
    }
    return false;
}

static void read_file(const ast *tree, const word_list *loads, const word_list *trains,
                      inference_facts *ret)
{
    ast_ref top = tree->nodes.count > 1 ? 1 : 0;

    for (ast_ref at = top; at && !(ret->loads && ret->trains);) {
        bool is_use = ast_kind_of(tree, at) == AST_USE_DECLARATION;

        if (!is_use) {
            ret->loads = ret->loads || is_among(loads, tree, at);
            ret->trains = ret->trains || is_among(trains, tree, at);
        }
        at = is_use ? walk_skip(tree, top, at) : walk_next(tree, top, at);
    }
}

static bool is_lone_program(const cargo_graph *cargo)
{
    const cargo_package *package;

    if (cargo->root == CARGO_MISSING || cargo->selected_count != 1)
        return false;
    package = &cargo->packages.at[cargo->root];
    if (package->target_count != 1 || package->targets[0].kind != CARGO_BIN)
        return false;
    /* Crates of the same people may train what this one makes; Candle's own do not. */
    for (size_t i = 0; i < package->dependency_count; i++) {
        const cargo_dependency *at = &package->dependencies[i];

        if (at->is_active && at->package != CARGO_MISSING &&
            cargo->packages.at[at->package].is_member &&
            !str_starts_with(cargo->packages.at[at->package].name, CG_LIT("candle")))
            return false;
    }
    return true;
}

inference_facts inference_find(const program *code_of)
{
    inference_facts facts = {.is_program = is_lone_program(code_of->cargo)};
    word_list loads, trains;

    if (!facts.is_program)
        return facts;
    word_list_init(&loads, LOAD_WORDS, COUNT(LOAD_WORDS), &code_of->names);
    word_list_init(&trains, TRAIN_WORDS, COUNT(TRAIN_WORDS), &code_of->names);
    for (file_ref i = 1; i < code_of->files.count; i++) {
        const program_file *file = code_of->files.at[i];

        if (code_of->crates.at[file->crate].is_scanned)
            read_file(&file->tree, &loads, &trains, &facts);
    }
    return facts;
}

static bool write_help(model_draft *draft, model_finding *finding)
{
    cg_str help = finding->help;
    const char *fine = "nothing in this package trains; if you fine-tune it";

    if (!str_starts_with(help, WHILE))
        return arena_format(&draft->mem, &finding->help, "%s: %.*s", fine, (int)help.len, help.ptr);
    help = (cg_str){help.ptr + WHILE.len, help.len - WHILE.len};
    return arena_format(&draft->mem, &finding->help, "%s, %.*s", fine, (int)help.len, help.ptr);
}

cg_code inference_settle(const program *code_of, model_draft *draft, cg_err *reterr)
{
    size_t count = draft->lists[MODEL_FINDINGS].count;
    inference_facts facts = {0};
    bool is_found = false;

    for (size_t i = 0; i < count; i++) {
        model_finding *finding = draft->lists[MODEL_FINDINGS].at[i];

        if (!str_equal(finding->rule, CG_LIT("gradient-cut")))
            continue;
        if (!is_found)
            facts = inference_find(code_of);
        is_found = true;
        if (!facts.is_program || facts.trains || !facts.loads)
            return CG_OK;
        finding->severity = MODEL_FINDING_SEVERITY_INFORMATION;
        if (!write_help(draft, finding))
            return err_nomem(reterr);
    }
    return CG_OK;
}
