#include "model/contracts.h"

#include "model/ids.h"
#include "model/place.h"
#include "model/walk.h"

enum run_rank { RANK_NONE, RANK_OTHER_FILE, RANK_OWN_FILE };

bool contracts_init(contracts *self, program *code_of, const function_facts *functions,
                    model_draft *draft, tensor_rows *rows)
{
    *self = (contracts){.heap = draft->heap,
                        .program = code_of,
                        .functions = functions,
                        .draft = draft,
                        .rows = rows};
    arena_init(&self->work, draft->heap);
    self->found = arena_zero(&draft->mem, (functions->all.count + 1) * sizeof *self->found);
    return self->found != NULL;
}

void contracts_free(contracts *self)
{
    if (!self->heap)
        return;
    arena_free(&self->work);
    *self = (contracts){0};
}

/* One name of the function and the tensor it stands for; 0: nothing is known of it. */
typedef struct local {
    cg_str name;
    node_ref node;
    uint8_t role;
    cg_str dims; /* `x.dims3()`: where its sizes were asked for */
    model_place place;
} local;

typedef struct writer {
    contracts *out;
    const entry_run *run; /* NULL: nothing ran it */
    const function_fact *fact;
    const ast *tree;
    ast_ref body;
    number_map nodes; /* begin and end of a call -> its node */
    VEC(local) locals;
    cg_err *reterr;
} writer;

static cg_code nomem(const writer *self)
{
    return err_nomem(self->reterr);
}

/* --- which node an expression is --- */

static cg_code map_nodes(writer *self)
{
    const flow *graph = self->run ? self->run->graph : NULL;

    for (node_ref n = graph ? self->run->since.nodes : 0; graph && n < graph->nodes.count; n++) {
        const flow_node *at = flow_at(graph, n);
        uint32_t *slot;

        if (at->place.function != self->fact->item || at->is_forgotten || at->body ||
            at->kind == FLOW_JOIN || at->kind == FLOW_LOOP || at->kind == FLOW_INPUT)
            continue;
        slot = number_map_put(&self->nodes, number_map_key(at->place.start + 1, at->place.end), n);
        if (!slot)
            return nomem(self);
        *slot = n;
    }
    return CG_OK;
}

static node_ref node_of(const writer *self, ast_ref at)
{
    static const char *const wrappers[] = {"Ok", "Some"};

    for (unsigned depth = 0; at && depth < 16; depth++) {
        const ast_node *node = ast_at(self->tree, at);
        const uint32_t *found =
            number_map_find(&self->nodes, number_map_key(node->start + 1, node->end));
        ast_ref name, inner;
        bool is_wrapper = false;

        if (found)
            return *found;
        name = walk_called(self->tree, at);
        for (size_t i = 0; name && i < sizeof wrappers / sizeof *wrappers; i++)
            is_wrapper = is_wrapper ||
                         str_equal(program_text(self->out->program, ast_at(self->tree, name)->text),
                                   str_from(wrappers[i]));
        if (is_wrapper && !walk_receiver(self->tree, at)) {
            at = walk_argument(self->tree, at, 0);
            continue;
        }
        inner = ast_kind_of(self->tree, at) == AST_TRY_EXPRESSION ||
                        ast_kind_of(self->tree, at) == AST_REFERENCE_EXPRESSION ||
                        ast_kind_of(self->tree, at) == AST_BLOCK
                    ? ast_child(self->tree, at, ROLE_VALUE)
                    : walk_bare(self->out->program, self->tree, at);
        if (inner == at)
            return 0;
        at = inner;
    }
    return 0;
}

/* --- names --- */

static local *find_local(writer *self, cg_str name)
{
    for (size_t i = 0; i < self->locals.count; i++) {
        if (str_equal(self->locals.at[i].name, name))
            return &self->locals.at[i];
    }
    return NULL;
}

/* The last variable of a name is the one that is told. */
static cg_code put_local(writer *self, const local *with)
{
    local *slot = find_local(self, with->name);

    if (slot) {
        *slot = *with;
        return CG_OK;
    }
    slot = vec_add(self->out->heap, &self->locals);
    if (!slot)
        return nomem(self);
    *slot = *with;
    return CG_OK;
}

static bool names_tensor(cg_str type)
{
    size_t at = str_find(type, CG_LIT("Tensor"));

    return at != SIZE_MAX;
}

static node_ref input_of(const writer *self, cg_str name)
{
    const flow *graph = self->run ? self->run->graph : NULL;

    if (!graph || self->run->function != self->fact)
        return 0;
    for (node_ref n = self->run->since.nodes; n < graph->nodes.count; n++) {
        const flow_node *at = flow_at(graph, n);

        if (at->kind == FLOW_INPUT && str_equal(program_text(self->out->program, at->name), name))
            return n;
    }
    return 0;
}

static cg_code add_inputs(writer *self)
{
    const model_argument *arguments = self->fact->record->parameters.at;

    for (size_t i = 0; i < self->fact->record->parameters.count; i++) {
        cg_str name = arguments[i].name;

        if (str_starts_with(name, CG_LIT("mut ")))
            name = (cg_str){name.ptr + 4, name.len - 4};
        if (!name.len || !names_tensor(arguments[i].type_name) || str_equal(name, CG_LIT("self")))
            continue;
        CG_TRY(put_local(
            self,
            &(local){.name = name, .node = input_of(self, name), .role = MODEL_TENSOR_ROLE_INPUT}));
    }
    return CG_OK;
}

static model_place place_at(const writer *self, ast_ref at)
{
    const ast_node *node = ast_at(self->tree, at);

    return (model_place){self->out->program->items.at[self->fact->item].file, node->start,
                         node->end, self->fact->item};
}

/* `let (b, t) = x.dims2()?`: where the sizes of x come from. */
static cg_code note_dims(writer *self, ast_ref from)
{
    ast_ref call = walk_bare(self->out->program, self->tree, from);
    ast_ref name = call ? walk_called(self->tree, call) : 0;
    ast_ref receiver = name ? walk_receiver(self->tree, call) : 0;
    cg_str word =
        name ? program_text(self->out->program, ast_at(self->tree, name)->text) : (cg_str){0};
    local *of;

    if (!receiver || !str_starts_with(word, CG_LIT("dims")) ||
        ast_kind_of(self->tree, receiver) != AST_IDENTIFIER)
        return CG_OK;
    of = find_local(self, program_text(self->out->program, ast_at(self->tree, receiver)->text));
    return !of || arena_format(&self->out->draft->mem, &of->dims, "%.*s.%.*s()", (int)of->name.len,
                               of->name.ptr, (int)word.len, word.ptr)
               ? CG_OK
               : nomem(self);
}

static cg_code add_variable(writer *self, ast_ref let)
{
    ast_ref pattern = ast_child(self->tree, let, ROLE_PATTERN);
    ast_ref from = ast_child(self->tree, let, ROLE_VALUE);
    node_ref node;

    if (!pattern || !from)
        return CG_OK;
    CG_TRY(note_dims(self, from));
    while (ast_kind_of(self->tree, pattern) == AST_MUT_PATTERN &&
           ast_at(self->tree, pattern)->first)
        pattern = ast_at(self->tree, pattern)->first;
    if (ast_kind_of(self->tree, pattern) != AST_IDENTIFIER)
        return CG_OK;
    node = node_of(self, from);
    if (!node)
        return CG_OK;
    return put_local(
        self, &(local){.name = program_text(self->out->program, ast_at(self->tree, pattern)->text),
                       .node = node,
                       .role = MODEL_TENSOR_ROLE_ACTIVATION,
                       .place = place_at(self, let)});
}

/* `return`, `return.1`, ...: one number for all of the function. */
static cg_code add_result(writer *self, ast_ref at, node_ref node, size_t *count)
{
    local result = {.node = node, .role = MODEL_TENSOR_ROLE_OUTPUT};

    if (at)
        result.place = place_at(self, at);
    if (*count == 0)
        result.name = CG_LIT("return");
    else if (!arena_format(&self->out->draft->mem, &result.name, "return.%zu", *count))
        return nomem(self);
    (*count)++;
    return put_local(self, &result);
}

static cg_code add_results(writer *self)
{
    const entry_run *run = self->run;
    ast_ref tail = self->body ? ast_child(self->tree, self->body, ROLE_VALUE) : 0;
    size_t count = 0;
    node_ref node;

    if (!names_tensor(self->fact->record->return_type))
        return CG_OK;
    if (run && run->function == self->fact) {
        for (size_t i = 0; i < run->output_count; i++)
            CG_TRY(add_result(self, tail, run->outputs[i], &count));
        return CG_OK;
    }
    node = tail ? node_of(self, tail) : 0;
    return add_result(self, tail, node, &count);
}

/* --- rows --- */

static cg_code write_local(writer *self, const local *from, model_tensor *record)
{
    model_draft *draft = self->out->draft;
    model_function *function = self->fact->record;
    cg_str source = {0};

    if (!id_make(&draft->mem, MODEL_ID_KIND_TENSOR, ID_PARTS(self->fact->id, from->name),
                 &record->id))
        return nomem(self);
    if (from->node) {
        if (!tensor_rows_fill(self->out->rows, self->run->graph, from->node, record, &source))
            return nomem(self);
        record->requires_grad = tensor_rows_learns(self->run->graph, from->node);
    } else if (!draft_evidence(draft, &record->evidence, MODEL_EVIDENCE_KIND_SOURCE,
                               MODEL_CONFIDENCE_PROVEN, function->source,
                               CG_LIT("declared as a tensor"))) {
        return nomem(self);
    }
    if (from->place.file) {
        record->location = place_location(self->out->program, from->place, draft);
        if (!record->location)
            return nomem(self);
    }
    if (from->dims.ptr && record->shape) {
        model_shape *own = arena_take(&draft->mem, sizeof *own);

        if (!own)
            return nomem(self);
        *own = *(const model_shape *)record->shape;
        own->source_expr = from->dims;
        record->shape = own;
    }
    record->name = from->name;
    record->role = from->role;
    record->owner_function = self->fact->id;
    return CG_OK;
}

static cg_code write_locals(writer *self, contract_rows *ret)
{
    size_t count = self->locals.count;

    ret->count = 0;
    ret->at = arena_zero(&self->out->draft->mem, (count + 1) * sizeof *ret->at);
    if (!ret->at)
        return nomem(self);
    for (; ret->count < count; ret->count++)
        CG_TRY(write_local(self, &self->locals.at[ret->count], &ret->at[ret->count]));
    return CG_OK;
}

static cg_code describe(contracts *out, const entry_run *run, const function_fact *fact,
                        contract_rows *ret, cg_err *reterr)
{
    writer self = {
        .out = out,
        .run = run,
        .fact = fact,
        .tree = program_tree(out->program, out->program->items.at[fact->item].file),
        .body = walk_body(out->program, fact->item),
        .reterr = reterr,
    };
    cg_code code;

    number_map_init(&self.nodes, out->heap);
    code = map_nodes(&self);
    if (code == CG_OK)
        code = add_inputs(&self);
    for (ast_ref at = run ? self.body : 0; code == CG_OK && at;
         at = walk_next(self.tree, self.body, at)) {
        if (ast_kind_of(self.tree, at) == AST_LET_DECLARATION)
            code = add_variable(&self, at);
    }
    if (code == CG_OK)
        code = add_results(&self);
    if (code == CG_OK)
        code = write_locals(&self, ret);
    number_map_free(&self.nodes);
    vec_free(out->heap, &self.locals);
    return code;
}

static file_ref file_of(const contracts *self, item_ref function)
{
    return self->program->items.at[function].file;
}

cg_code contracts_read(void *context, const entry_run *run, cg_err *reterr)
{
    contracts *self = context;
    item_ref last = 0;

    for (node_ref n = run->since.nodes; n < run->graph->nodes.count; n++) {
        item_ref function = flow_at(run->graph, n)->place.function;
        const function_fact *fact =
            function && function != last ? function_of(self->functions, function) : NULL;

        last = function;
        if (!fact || (fact->is_entrypoint && fact != run->function))
            continue;
        contract_rows *found = &self->found[fact - self->functions->all.at];
        uint8_t rank = file_of(self, function) == file_of(self, run->function->item)
                           ? RANK_OWN_FILE
                           : RANK_OTHER_FILE;

        if (found->rank >= rank)
            continue;
        found->rank = rank;
        CG_TRY(describe(self, run, fact, found, reterr));
    }
    return CG_OK;
}

static cg_code add_rows(contracts *self, const function_fact *fact, const contract_rows *from,
                        cg_err *reterr)
{
    model_function *function = fact->record;
    model_draft *draft = self->draft;

    for (size_t i = 0; i < from->count; i++) {
        model_tensor *record = draft_tensor(draft);
        sc_strs *list = from->at[i].role == MODEL_TENSOR_ROLE_INPUT    ? &function->tensor_inputs
                        : from->at[i].role == MODEL_TENSOR_ROLE_OUTPUT ? &function->tensor_outputs
                                                                       : NULL;

        if (!record)
            return err_nomem(reterr);
        *record = from->at[i];
        /* What an entry takes and gives is known from its run. */
        if (list && !function->execution_phases.count && !draft_text(draft, list, record->id))
            return err_nomem(reterr);
    }
    return CG_OK;
}

cg_code contracts_rest(contracts *self, cg_err *reterr)
{
    for (size_t i = 0; i < self->functions->all.count; i++) {
        const function_fact *fact = &self->functions->all.at[i];

        if (fact->has_tensor && !self->found[i].rank && !walk_is_test(self->program, fact->item))
            CG_TRY(describe(self, NULL, fact, &self->found[i], reterr));
        CG_TRY(add_rows(self, fact, &self->found[i], reterr));
    }
    return CG_OK;
}
