#include "unit/base/failing.h"

#include "join/checkpoint.h"
#include "support/parameter_header.h"
#include "support/parameter_list.h"

typedef struct world {
    heap heap;
    arena mem;
    expr_pool pool;
    tensor_header header;
    doc_checkpoint doc;
    sc_strs settled;
} world;

static void compare(world *self, const char *model, const char *file)
{
    checkpoint_options options = {.root = CG_LIT("vb"), .settled = &self->settled};
    parameter_list list;
    cg_err err = {0};

    heap_init(&self->heap, NULL);
    arena_init(&self->mem, &self->heap);
    assert_true(expr_pool_init(&self->pool, &self->heap));
    parameter_list_read(&self->mem, &self->pool, str_from(model), &list);
    parameter_header_read(&self->heap, str_from(file), &self->header);
    assert_int_equal(checkpoint_compare(&self->heap, &self->mem, &self->pool, list.components,
                                        list.count, &self->header, &options, &self->doc, &err),
                     CG_OK);
}

static void end(world *self)
{
    safetensors_free(&self->header);
    expr_pool_free(&self->pool);
    arena_free(&self->mem);
    assert_int_equal(self->heap.used_bytes, 0);
}

static const doc_diagnosis *row_of(const world *self, const char *code, size_t count)
{
    const doc_diagnosis *rows = self->doc.diagnosis.at;
    const doc_diagnosis *found = NULL;
    size_t seen = 0;

    for (size_t i = 0; i < self->doc.diagnosis.count; i++) {
        if (!str_equal(rows[i].code, str_from(code)))
            continue;
        found = found == NULL ? &rows[i] : found;
        seen++;
    }
    assert_int_equal(seen, count);
    return found;
}

static void assert_mapped(const doc_diagnosis *row, const char *key, const char *file)
{
    for (size_t i = 0; i < row->key_map.count; i++) {
        if (str_equal(row->key_map.at[i].key, str_from(key))) {
            assert_text(row->key_map.at[i].value, file);
            return;
        }
    }
    fail_msg("%s is not mapped", key);
}

static const char block[] = "vb h.{i}.a.weight = n, 3 * n : linear\n"
                            "vb h.{i}.a.bias = n : linear\n"
                            "vb h.{i}.ln.weight = n : norm\n"
                            "vb h.{i}.ln.bias = n : norm\n"
                            "vb out.weight = v, n : linear\n";

static void a_file_that_fits_has_no_diagnosis(void **state)
{
    world w;

    (void)state;
    compare(&w, block,
            "h.0.a.weight F32 2 6\nh.0.a.bias F32 2\nh.0.ln.weight F32 2\nh.0.ln.bias F32 2\n"
            "out.weight F32 5 2\n");
    assert_int_equal(w.doc.diagnosis.count, 0);
    assert_int_equal(w.doc.matched, 5);
    assert_int_equal(w.doc.matched_tensors, 5);
    assert_int_equal(w.doc.templates.count, 4);
    end(&w);
}

static void what_the_file_decides_is_told(void **state)
{
    world w;

    (void)state;
    compare(&w, block,
            "h.0.a.weight F32 2 6\nh.0.a.bias F32 2\nh.0.ln.weight F32 2\nh.0.ln.bias F32 2\n"
            "h.1.a.weight F32 2 6\nh.1.a.bias F32 2\nh.1.ln.weight F32 2\nh.1.ln.bias F32 2\n"
            "out.weight F32 5 2\n");
    assert_int_equal(w.doc.diagnosis.count, 0);
    assert_int_equal(w.settled.count, 2);
    assert_text(w.settled.at[0], "n = 2, v = 5, h: 2");
    end(&w);
    /* Nothing is open. */
    compare(&w, "vb a = 4 : linear\n", "a F32 4\n");
    assert_int_equal(w.settled.at[0].len, 0);
    end(&w);
    /* How many there should be, a file with a gap does not say. */
    compare(&w, block, "h.0.a.weight F32 2 6\nout.weight F32 5 2\n");
    assert_text(w.settled.at[0], "n = 2, v = 5");
    end(&w);
}

static void a_family_that_lacks_a_layer_lists_that_layer(void **state)
{
    world w;

    (void)state;
    compare(&w, "vb h.{i}.w = n\n", "h.0.w F32 2\nh.2.w F32 2\n");
    assert_int_equal(w.doc.missing_certain.count, 1);
    assert_text(w.doc.missing_certain.at[0], "h.1.w");
    end(&w);
    compare(&w, "vb h.{i}.w = n\n", "x F32 2\n");
    assert_text(w.doc.missing_certain.at[0], "h.{i}.w");
    end(&w);
}

static void layers_that_are_not_there_are_told(void **state)
{
    static const char stack[] = "vb h.{i}.a.weight = n, n : linear\n"
                                "vb h.{i}.ln.weight = n : norm\n"
                                "vb? h.{i}.more.weight = n, n : linear\n"
                                "vb out.weight = v, n : linear\n";
    world w;
    const doc_diagnosis *row;

    (void)state;
    compare(&w, stack,
            "h.0.a.weight F32 2 2\nh.0.ln.weight F32 2\nh.2.a.weight F32 2 2\n"
            "h.2.ln.weight F32 2\nout.weight F32 5 2\n");
    row = w.doc.diagnosis.at;
    assert_int_equal(w.doc.diagnosis.count, 2);
    assert_text(row->code, "unexplained");
    assert_text(row->explanation, "layer 1 of 3 of `h.{i}` is not in the file: 2 keys");
    /* What only some configurations ask for is no part of it. */
    assert_int_equal(row->keys.count, 2);
    assert_int_equal(row[1].keys.count, 3);
    end(&w);
    /* Below another prefix, and several of them. */
    compare(&w, stack,
            "m.h.0.a.weight F32 2 2\nm.h.0.ln.weight F32 2\nm.h.0.more.weight F32 2 2\n"
            "m.h.2.a.weight F32 2 2\nm.h.2.ln.weight F32 2\nm.h.2.more.weight F32 2 2\n"
            "m.h.11.a.weight F32 2 2\nm.h.11.ln.weight F32 2\nm.h.11.more.weight F32 2 2\n"
            "m.out.weight F32 5 2\n");
    row = row_of(&w, "unexplained", 1);
    assert_text(row->explanation,
                "layers 1 and 3 to 10 of 12 of `h.{i}` are not in the file: 27 keys");
    end(&w);
    /* Members of members; one of which something is there is not absent. */
    compare(&w, "vb h.{i}.e.{j}.w = n\nvb h.{i}.e.{j}.b = n\n",
            "h.0.e.0.w F32 2\nh.0.e.0.b F32 2\nh.0.e.1.w F32 2\nh.0.e.1.b F32 2\n"
            "h.1.e.1.w F32 2\nh.1.e.1.b F32 2\n");
    row = row_of(&w, "unexplained", 1);
    assert_text(row->explanation, "layer 0 of 2 of `h.1.e.{j}` is not in the file: 2 keys");
    end(&w);
    compare(&w, "vb h.{i}.w = n\nvb h.{i}.b = n\n", "h.0.w F32 2\nh.0.b F32 2\nh.1.w F32 2\n");
    row = row_of(&w, "unexplained", 1);
    assert_text(row->explanation,
                "the code asks for these, and nothing in the file looks like them");
    end(&w);
}

static void one_wrong_tensor_is_told_from_the_others(void **state)
{
    world w;
    const doc_tensor_mismatch *row;

    (void)state;
    compare(&w, block,
            "h.0.a.weight F32 2 6\nh.0.a.bias F32 2\nh.0.ln.weight F32 3\nh.0.ln.bias F32 2\n"
            "out.weight F32 5 2\n");
    assert_int_equal(w.doc.shape_mismatches.count, 1);
    row = w.doc.shape_mismatches.at;
    assert_text(row->key, "h.0.ln.weight");
    assert_text(row->model_shape.at[0], "2");
    row_of(&w, "shape_mismatch", 1);
    end(&w);
}

static void a_prefix_of_the_file_is_named(void **state)
{
    world w;
    const doc_diagnosis *row;

    (void)state;
    compare(&w, block,
            "m.h.0.a.weight F32 2 6\nm.h.0.a.bias F32 2\nm.h.0.ln.weight F32 2\n"
            "m.h.0.ln.bias F32 2\nm.out.weight F32 5 2\n");
    assert_int_equal(w.doc.diagnosis.count, 1);
    row = row_of(&w, "prefix_shifted", 1);
    assert_text(row->model_prefix, "");
    assert_text(row->file_prefix, "m");
    assert_mapped(row, "h.0.ln.bias", "m.h.0.ln.bias");
    end(&w);
}

/* A matrix that stands alone in front of a list that fits. */
static const char lone[] = "vb m.words.weight = v, n : embedding\n"
                           "step Net::new src/lib.rs 7 1\nstep Net::new src/lib.rs 8 1\n"
                           "vb m.h.{i}.up.weight = n, n : linear\n"
                           "step Net::new src/lib.rs 7 1\nstep Net::new src/lib.rs 9 3\n"
                           "vb? m.h.{i}.more.weight = n, n : linear\n"
                           "vb m.out.weight = v, n : linear\n"
                           "step Net::new src/lib.rs 7 1\nstep Net::new src/lib.rs 11 1\n";

static void one_key_of_another_prefix_is_told(void **state)
{
    world w;
    const doc_diagnosis *row;

    (void)state;
    compare(&w, lone, "m.words.weight F32 5 2\nm.h.0.up.weight F32 2 2\nout.weight F32 5 2\n");
    row = row_of(&w, "prefix_shifted", 1);
    assert_text(row->model_prefix, "m");
    assert_text(row->file_prefix, "");
    assert_mapped(row, "m.out.weight", "out.weight");
    assert_text(row->explanation,
                "the code puts `m.` in front, the file does not; other keys need it: build these "
                "from the builder before the call in `Net::new` (src/lib.rs:7)");
    end(&w);
    /* In the middle. */
    compare(&w, lone, "m.x.words.weight F32 5 2\nm.h.0.up.weight F32 2 2\nm.out.weight F32 5 2\n");
    row = row_of(&w, "prefix_shifted", 1);
    assert_text(row->model_prefix, "m");
    assert_text(row->file_prefix, "m.x");
    assert_mapped(row, "m.words.weight", "m.x.words.weight");
    end(&w);
    /* Another shape, a member of a list, two that it could be. */
    compare(&w, lone, "m.words.weight F32 5 2\nm.h.0.up.weight F32 2 2\nout.weight F32 7 2\n");
    row_of(&w, "prefix_shifted", 0);
    end(&w);
    compare(&w, lone, "m.words.weight F32 5 2\nm.h.0.up.weight F32 2 2\nm.0.out.weight F32 5 2\n");
    row_of(&w, "prefix_shifted", 0);
    end(&w);
    compare(&w, lone,
            "m.words.weight F32 5 2\nm.h.0.up.weight F32 2 2\na.m.out.weight F32 5 2\n"
            "b.m.out.weight F32 5 2\n");
    row_of(&w, "prefix_shifted", 0);
    end(&w);
}

static void a_shift_names_the_call_to_change(void **state)
{
    world w;
    const doc_diagnosis *row;
    const doc_prefix_call *call;

    (void)state;
    compare(&w, lone, "words.weight F32 5 2\nh.0.up.weight F32 2 2\nout.weight F32 5 2\n");
    row = row_of(&w, "prefix_shifted", 1);
    assert_text(row->explanation, "the code puts `m.` in front, the file does not; leave it "
                                  "out in `Net::new` (src/lib.rs:7)");
    call = row->call;
    assert_text(call->function, "Net::new");
    assert_int_equal(((const doc_call_place *)call->location)->line, 7);
    end(&w);
    compare(&w, lone,
            "a.m.words.weight F32 5 2\na.m.h.0.up.weight F32 2 2\na.m.out.weight F32 5 2\n");
    row = row_of(&w, "prefix_shifted", 1);
    assert_text(row->explanation,
                "the file puts `a.` in front; use `vb.pp(\"a\")` in `Net::new` (src/lib.rs:7)");
    end(&w);
}

static void a_tie_is_a_fact_only_where_the_code_ties(void **state)
{
    static const char always[] = "vb words.weight = v, n : embedding\n"
                                 "vb lm_head.weight = v, n : linear\n"
                                 "vb norm.weight = n : norm\n";
    static const char some[] = "vb words.weight = v, n : embedding\n"
                               "vb? lm_head.weight = v, n : linear\n"
                               "vb norm.weight = n : norm\n";
    static const char file[] = "words.weight F32 5 2\nnorm.weight F32 2\n";
    world w;

    (void)state;
    compare(&w, some, file);
    assert_text(row_of(&w, "tied_weight", 1)->explanation,
                "`lm_head.weight` shares its tensor with `words.weight`; the file has it once");
    end(&w);
    compare(&w, always, file);
    assert_text(row_of(&w, "tied_weight", 1)->explanation,
                "the file has no `lm_head.weight`; a model that shares it with `words.weight` "
                "saves one of the two. The code ties nothing here and asks for both in every run: "
                "take the tensor of the other");
    end(&w);
    /* A file with a head of another name, or something of its size, is of no tied model. */
    compare(&w, always, "words.weight F32 5 2\nnorm.weight F32 2\nscore.weight F32 5 2\n");
    row_of(&w, "tied_weight", 0);
    end(&w);
    compare(&w, always, "words.weight F32 5 2\nnorm.weight F32 2\nclassifier.weight F32 3 2\n");
    row_of(&w, "tied_weight", 0);
    end(&w);
}

static const char reader[] = "vb t.words.weight = v, n : embedding\n"
                             "vb t.blocks.{i}.up.weight = m, n : linear\n"
                             "vb t.blocks.{i}.norm.weight = n : norm\n"
                             "vb t.norm.weight = n : norm\nvb t.norm.bias = n : norm\n"
                             "vb t.head.weight = k, n : linear\nvb t.head.bias = k : linear\n";

static void a_prefix_is_seen_behind_other_names(void **state)
{
    world w;

    (void)state;
    compare(&w, reader,
            "x.words.weight F32 9 2\nx.layers.0.up.weight F32 5 2\nx.layers.0.ln.weight F32 2\n"
            "x.layers.1.up.weight F32 5 2\nx.layers.1.ln.weight F32 2\nx.ln.weight F32 2\n"
            "x.ln.bias F32 2\nx.head.weight F32 3 2\nx.head.bias F32 3\n");
    assert_mapped(row_of(&w, "prefix_shifted", 1), "t.head.bias", "x.head.bias");
    for (size_t i = 0; i < w.doc.diagnosis.count; i++) {
        const doc_diagnosis *row = (const doc_diagnosis *)w.doc.diagnosis.at + i;

        assert_true(str_equal(row->code, CG_LIT("prefix_shifted")) ||
                    str_equal(row->code, CG_LIT("renamed")));
    }
    end(&w);
}

/* The head is no copy of a table that the file has under another name. */
static void a_table_of_another_name_is_no_tie(void **state)
{
    world w;

    (void)state;
    compare(&w, reader,
            "x.t.wte.weight F32 9 2\nx.t.h.0.fc.weight F32 5 2\nx.t.h.0.nm.weight F32 2\n"
            "x.t.h.1.fc.weight F32 5 2\nx.t.h.1.nm.weight F32 2\nx.t.norm.weight F32 2\n"
            "x.t.norm.bias F32 2\nx.t.head.weight F32 9 2\nx.t.head.bias F32 9\n");
    assert_mapped(row_of(&w, "prefix_shifted", 1), "t.head.bias", "x.t.head.bias");
    row_of(&w, "tied_weight", 0);
    end(&w);
}

static void a_repeated_prefix_names_the_call(void **state)
{
    world w;
    const doc_diagnosis *row;
    const doc_prefix_call *call;

    (void)state;
    compare(&w,
            "vb m.h.{i}.m.h.{i}.w = n\n"
            "step Net::new src/lib.rs 7 2\nstep Net::new src/lib.rs 9 3\n",
            "m.h.0.w F32 2\nm.h.1.w F32 2\n");
    row = row_of(&w, "prefix_repeated", 1);
    assert_text(row->repeated, "m.h.{i}");
    assert_int_equal(row->keys.count, 2);
    call = row->call;
    assert_text(call->function, "Net::new");
    assert_int_equal(((const doc_call_place *)call->location)->line, 9);
    end(&w);
}

static void gamma_is_the_weight_and_never_the_bias(void **state)
{
    world w;
    const doc_diagnosis *row;

    (void)state;
    compare(&w, block,
            "h.0.a.weight F32 2 6\nh.0.a.bias F32 2\nh.0.ln.gamma F32 2\nh.0.ln.beta F32 2\n"
            "out.weight F32 5 2\n");
    row = row_of(&w, "renamed", 1);
    assert_mapped(row, "h.0.ln.weight", "h.0.ln.gamma");
    assert_mapped(row, "h.0.ln.bias", "h.0.ln.beta");
    end(&w);
}

static void parts_of_a_merged_tensor_are_one_row(void **state)
{
    world w;
    const doc_diagnosis *row;

    (void)state;
    compare(&w,
            "vb e.weight = v, n : embedding\nvb a.q.weight = n, n\nvb a.k.weight = n, n\n"
            "vb a.v.weight = n, n\nvb lm_head.weight = v, n : linear\n",
            "e.weight F32 6 2\na.qkv.weight F32 6 2\n");
    row = row_of(&w, "fused_projection", 1);
    assert_int_equal(row->keys.count, 3);
    assert_int_equal(row->axis.value, 0);
    row = row_of(&w, "tied_weight", 1);
    assert_text(row->file_keys.at[0], "e.weight");
    end(&w);
    compare(&w, "vb a.qkv.weight = 3 * n, n\nvb b.weight = n\n",
            "a.q.weight F32 2 2\na.k.weight F32 2 2\na.v.weight F32 2 2\nb.weight F32 2\n");
    row = row_of(&w, "split_projection", 1);
    assert_int_equal(row->file_keys.count, 3);
    end(&w);
}

static void a_table_that_may_be_asked_for_is_no_tie(void **state)
{
    world w;

    (void)state;
    compare(&w, "vb? emb.weight = 7, n\nvb wte.weight = 7, n\n", "wte.weight F32 7 6\n");
    row_of(&w, "tied_weight", 0);
    end(&w);
    compare(&w, "vb emb.weight = 7, n\nvb wte.weight = 7, n\n", "wte.weight F32 7 6\n");
    row_of(&w, "tied_weight", 1);
    end(&w);
    compare(&w, "vb? lm_head.weight = 7, n\nvb wte.weight = 7, n\n", "wte.weight F32 7 6\n");
    row_of(&w, "tied_weight", 1);
    end(&w);
}

static void turned_matrices_are_told_unless_they_are_square(void **state)
{
    world w;

    (void)state;
    compare(&w, block,
            "h.0.a.weight F32 6 2\nh.0.a.bias F32 2\nh.0.ln.weight F32 2\nh.0.ln.bias F32 2\n"
            "out.weight F32 5 2\n");
    assert_text(row_of(&w, "transposed", 1)->keys.at[0], "h.0.a.weight");
    end(&w);
}

static void running_statistics_are_counted_apart(void **state)
{
    static const char model[] = "vb bn.weight = 4 : batch_norm\nvb bn.bias = 4 : batch_norm\n"
                                "vb bn.running_mean = 4 : running\n"
                                "vb bn.running_var = 4 : running\n";
    world w;
    const doc_diagnosis *row;

    (void)state;
    compare(&w, model, "bn.weight F32 4\nbn.bias F32 4\nbn.num_batches_tracked I64\n");
    row = row_of(&w, "running_state_only", 1);
    assert_int_equal(row->keys.count, 2);
    assert_int_equal(row->file_keys.count, 1);
    end(&w);
    compare(&w, model,
            "bn.weight F32 4\nbn.bias F32 4\nbn.moving_mean F32 4\nbn.moving_variance F32 4\n");
    row = row_of(&w, "renamed", 1);
    assert_int_equal(row->running_state, BOOL_TRUE);
    assert_mapped(row, "bn.running_var", "bn.moving_variance");
    end(&w);
}

static void another_variant_is_no_list_of_guesses(void **state)
{
    world w;
    const doc_diagnosis *row;

    (void)state;
    compare(&w, "vb e.stem.weight = n, 3\nvb e.stem.bias = n\nvb e.mix.{i}.weight = n, n\n",
            "e.patch.weight F32 2 9\ne.blocks.0.q.weight F32 2 2\ne.blocks.0.k.weight F32 2 2\n"
            "e.blocks.0.norm.weight F32 2\n");
    row = row_of(&w, "wrong_variant", 1);
    assert_int_equal(w.doc.diagnosis.count, 1);
    assert_text(row->model_modules.at[0], "e.mix");
    assert_text(row->file_modules.at[0], "e.blocks");
    end(&w);
}

static void a_minority_of_another_dtype_is_told(void **state)
{
    world w;

    (void)state;
    compare(&w, "vb a = n\nvb b = n\nvb c = n\n", "a F32 2\nb F32 2\nc BF16 2\n");
    assert_text(row_of(&w, "dtype_only", 1)->keys.at[0], "c");
    end(&w);
}

static void several_components_are_told_apart(void **state)
{
    world w;

    (void)state;
    compare(&w, "component m::A\nvb a = n\nother x = n\ncomponent m::B\nvb b = n\n",
            "a F32 2\nb F32 3\nc F32 1\n");
    assert_null(w.doc.component.ptr);
    assert_int_equal(w.doc.components.count, 2);
    assert_int_equal(w.doc.skipped_other_root, 1);
    assert_int_equal(w.doc.matched_tensors, 2);
    assert_int_equal(w.doc.unclaimed.count, 1);
    assert_int_equal(w.doc.shape_mismatches.count, 0);
    end(&w);
}

static void the_key_map_joins_all_renames(void **state)
{
    world w;
    doc_key_map map;
    cg_err err = {0};

    (void)state;
    compare(&w, block,
            "h.0.a.weight F32 2 6\nh.0.a.bias F32 2\nh.0.ln.gamma F32 2\nh.0.ln.beta F32 2\n"
            "out.weight F32 5 2\n");
    assert_int_equal(checkpoint_key_map(&w.mem, &w.doc, &map, &err), CG_OK);
    assert_text(map.schema, "candle-graph/key-map/1");
    assert_int_equal(map.map.count, 2);
    assert_text(map.map.at[0].key, "h.0.ln.bias");
    end(&w);
}

/* One comparison with a heap that refuses the k-th request. */
static cg_code compare_failing(size_t k)
{
    failing memory = {.fail_at = k};
    checkpoint_options options = {.root = CG_LIT("vb")};
    cg_code code = CG_NOMEM;
    parameter_list list;
    tensor_header header;
    doc_checkpoint doc;
    doc_key_map map;
    heap quiet;
    arena texts;
    expr_pool pool;
    heap from;
    arena mem;

    heap_init(&quiet, NULL);
    arena_init(&texts, &quiet);
    assert_true(expr_pool_init(&pool, &quiet));
    parameter_list_read(&texts, &pool, str_from(block), &list);
    parameter_header_read(&quiet,
                          CG_LIT("m.h.0.a.weight F32 2 6\nm.h.0.a.bias F32 2\n"
                                 "m.h.1.ln.weight F16 2\nm.h.1.ln.beta F32 2\n"
                                 "m.out.weight F32 2 5\nextra F32 1\n"),
                          &header);
    heap_init(&from, failing_env(&memory));
    arena_init(&mem, &from);
    code = checkpoint_compare(&from, &mem, &pool, list.components, list.count, &header, &options,
                              &doc, NULL);
    if (code == CG_OK)
        code = checkpoint_key_map(&mem, &doc, &map, NULL);
    arena_free(&mem);
    assert_nothing_held(&memory, &from);
    safetensors_free(&header);
    expr_pool_free(&pool);
    arena_free(&texts);
    return code;
}

static void every_refused_request_is_reported_and_nothing_stays(void **state)
{
    cg_code code = CG_NOMEM;

    (void)state;
    for (size_t k = 1; code == CG_NOMEM; k++)
        code = compare_failing(k);
    assert_int_equal(code, CG_OK);
}

static void what_is_not_compared_is_counted(void **state)
{
    world w;

    (void)state;
    compare(&w, "vb a.weight = ?, 3 : linear\nvb a.bias = n : linear\nvb b.any : any\n",
            "a.weight F32 2 3\na.bias F32 2\nb.any F32 7\n");
    assert_int_equal(w.doc.diagnosis.count, 0);
    assert_true(w.doc.shapes_open.is_set);
    assert_int_equal(w.doc.shapes_open.value, 2);
    end(&w);
    compare(&w, "vb a.weight = ?, 3 : linear\nvb a.bias = n : linear\n",
            "a.weight F32 2 4\na.bias F32 2\n");
    assert_int_equal(w.doc.shape_mismatches.count, 1);
    assert_false(w.doc.shapes_open.is_set);
    end(&w);
}

static void an_item_of_a_list_is_one_size_in_every_key(void **state)
{
    static const char model[] = "vb {i}.weight = dims[i + 1], dims[i] : linear\n"
                                "vb {i}.bias = dims[i + 1] : linear\n";
    world w;

    (void)state;
    compare(&w, model, "0.weight F32 3 2\n0.bias F32 3\n1.weight F32 5 3\n1.bias F32 5\n");
    assert_int_equal(w.doc.diagnosis.count, 0);
    assert_int_equal(w.doc.matched_tensors, 4);
    assert_false(w.doc.shapes_open.is_set);
    end(&w);
    compare(&w, model, "0.weight F32 3 2\n0.bias F32 3\n1.weight F32 5 4\n1.bias F32 5\n");
    assert_int_equal(w.doc.shape_mismatches.count, 1);
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_compared_is_counted),
        cmocka_unit_test(an_item_of_a_list_is_one_size_in_every_key),
        cmocka_unit_test(a_file_that_fits_has_no_diagnosis),
        cmocka_unit_test(what_the_file_decides_is_told),
        cmocka_unit_test(a_family_that_lacks_a_layer_lists_that_layer),
        cmocka_unit_test(layers_that_are_not_there_are_told),
        cmocka_unit_test(one_wrong_tensor_is_told_from_the_others),
        cmocka_unit_test(a_prefix_of_the_file_is_named),
        cmocka_unit_test(one_key_of_another_prefix_is_told),
        cmocka_unit_test(a_shift_names_the_call_to_change),
        cmocka_unit_test(a_tie_is_a_fact_only_where_the_code_ties),
        cmocka_unit_test(a_prefix_is_seen_behind_other_names),
        cmocka_unit_test(a_table_of_another_name_is_no_tie),
        cmocka_unit_test(a_repeated_prefix_names_the_call),
        cmocka_unit_test(gamma_is_the_weight_and_never_the_bias),
        cmocka_unit_test(parts_of_a_merged_tensor_are_one_row),
        cmocka_unit_test(a_table_that_may_be_asked_for_is_no_tie),
        cmocka_unit_test(turned_matrices_are_told_unless_they_are_square),
        cmocka_unit_test(running_statistics_are_counted_apart),
        cmocka_unit_test(another_variant_is_no_list_of_guesses),
        cmocka_unit_test(a_minority_of_another_dtype_is_told),
        cmocka_unit_test(several_components_are_told_apart),
        cmocka_unit_test(the_key_map_joins_all_renames),
        cmocka_unit_test(every_refused_request_is_reported_and_nothing_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
