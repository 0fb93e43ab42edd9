#include "cargo/answer.h"

#include "cargo/packages.h"

static cg_code ask_rustc(cargo_graph *graph, const ask_question *question, cg_err *reterr)
{
    cargo_state *state = graph->state;
    cg_err failure = {0};
    cargo_strs lines = {0};
    cfg_set sorted;
    cg_code code = ask_cfg(state->files.env, state->heap, &state->mem, question,
                           state->options.runner, &lines, &failure);

    CG_TRY(packages_forgive(graph, code, &failure, (cg_str){0},
                            "rustc did not answer, the built-in cfg table is used: ", reterr));
    if (lines.count == 0)
        return CG_OK;
    if (!cfg_set_make(&state->mem, lines, (cargo_strs){0}, &sorted))
        return err_nomem(reterr);
    state->target_lines = sorted.lines;
    graph->cfg_source = CARGO_CFG_RUSTC;
    return CG_OK;
}

static cg_code ask_cargo(cargo_graph *graph, const ask_question *question, cg_err *reterr)
{
    cargo_state *state = graph->state;
    cg_err failure = {0};
    cg_code code = ask_metadata(state->files.env, state->heap, &state->mem, question,
                                state->options.runner, &state->answer, &failure);

    if (code == CG_OK && state->answer.root == UINT32_MAX)
        code = cg_fail(&failure, PROBLEM_RUN, "it does not know the package");
    state->is_answered = code == CG_OK;
    return packages_forgive(graph, code, &failure, (cg_str){0},
                            "cargo did not answer, the files are read instead: ", reterr);
}

/* One package of the graph for each of the answer, at the same index. */
static cg_code add_packages(cargo_graph *graph, cg_err *reterr)
{
    cargo_state *state = graph->state;

    for (size_t i = 0; i < state->answer.package_count; i++) {
        const ask_package *of = &state->answer.packages[i];
        cg_str directory = files_parent(of->manifest_path);
        uint32_t index;
        bool is_there;

        CG_TRY(files_real(&state->files, directory, &directory, &is_there, reterr));
        if (!is_there)
            directory = (cg_str){0};
        CG_TRY(packages_add(graph, of->name, of->version, directory, &index, reterr));
        /* Two packages in one place are none of cargo's: believe the files then. */
        if (index != i) {
            graph->packages.count = 0;
            state->is_answered = false;
            return packages_say(graph, (cg_str){0}, 0,
                                CG_LIT("cargo's answer is inconsistent, the files are read"),
                                reterr);
        }
        graph->packages.at[i].detail->asked = of;
        graph->packages.at[i].is_member =
            files_is_below(directory, graph->workspace_root) && directory.len > 0;
    }
    graph->root = state->answer.root;
    return CG_OK;
}

cg_code answer_take(cargo_graph *graph, cg_str directory, cargo_strs features, cg_err *reterr)
{
    cargo_state *state = graph->state;
    ask_question question = {.workspace_root = graph->workspace_root,
                             .features = features,
                             .is_all_features = state->options.is_all_features,
                             .is_no_default_features = state->options.is_no_default_features,
                             .target = state->options.target};

    CG_TRY(
        files_join(&state->mem, directory, CG_LIT("Cargo.toml"), &question.manifest_path, reterr));
    CG_TRY(ask_rustc(graph, &question, reterr));
    CG_TRY(ask_cargo(graph, &question, reterr));
    return state->is_answered ? add_packages(graph, reterr) : CG_OK;
}
