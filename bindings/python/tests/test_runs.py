"""Runs, their documents and tables, and several of them."""
import json
import os
import pathlib
import subprocess
import sys

import candlegraph
import pytest


def printed(cli, *arguments):
    """What the command line writes into a pipe."""
    done = subprocess.run([cli, *map(str, arguments)], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def accepted(data):
    """Traces of every shape, without those that are refused."""
    for path in sorted((data / "traces").glob("*.jsonl")):
        try:
            yield path, candlegraph.open_run(path)
        except candlegraph.InputError:
            assert path.name.startswith("quirk-")


def without_input(document):
    """The path is spelled as the caller spelled it; everything else must agree."""
    return {key: value for key, value in document.items() if key != "input"}


def test_facts_of_a_run(mlp):
    with candlegraph.open_run(mlp) as run:
        facts = run.facts
    assert facts.has_graph and facts.is_train and facts.is_capture_complete
    assert (facts.span_count, facts.operation_count, facts.outer_wall_time_ns) == (8, 7, 2423477)
    assert facts.entrypoint == "fixture::mlp::train"


def test_a_failed_capture_has_no_wall_time(data):
    facts = candlegraph.open_run(data / "traces/failed-open.jsonl").facts
    assert not facts.has_graph and facts.outer_wall_time_ns is None


def test_documents_are_those_of_the_command_line(data, cli):
    for path, run in accepted(data):
        assert run.evidence() == printed(cli, "import", path), path
        assert without_input(run.summary()) == without_input(printed(cli, "summary", path)), path
        assert without_input(run.overview()) == without_input(printed(cli, "overview", path)), path


def test_answers_are_those_of_the_command_line(mlp, cli):
    run = candlegraph.open_run(mlp)
    for kind in candlegraph.QUERY_KINDS:
        ours = run.query(kind)
        assert without_input(ours) == without_input(printed(cli, "query", mlp, "--kind", kind))
    ours = run.query("labels", limit=3, offset=2)
    assert ours["result"]["returned"] == 3 and ours["result"]["offset"] == 2
    assert [row["label"] for row in run.query("tensor-stats", label="loss/total")["result"]["rows"]
            ] == ["loss/total"]


def test_text_is_for_people(mlp):
    run = candlegraph.open_run(mlp)
    assert run.text().startswith("✓ valid")
    assert "\x1b" not in run.text() and "\x1b" in run.text(color=True)
    assert "mlp/fc1" in run.query_text("module-tree")
    assert run.report().startswith("#")
    with pytest.raises(ValueError, match="one of overview"):
        run.text("nonsense")


def test_a_run_from_bytes_is_the_same_run(mlp):
    run = candlegraph.read_run(mlp.read_bytes())
    assert run.evidence() == candlegraph.open_run(mlp).evidence()


def test_every_table_has_its_columns_for_every_trace(data):
    for path, run in accepted(data):
        for name, table in run.tables().items():
            assert {len(column) for column in table.values()} <= {table.row_count}, (path, name)
            for row in table.rows():
                check_types(table.types, row)


KINDS = {"text": str, "integer": int, "number": float, "boolean": bool, "integers": list,
         "texts": list, "map": dict, "counts": dict}


def check_types(types, row):
    for name, value in row.items():
        kind = KINDS.get(types[name])
        if kind is not None and value is not None:
            assert type(value) is kind, (name, value)


def test_spans_agree_with_the_nodes_of_the_graph(mlp):
    run = candlegraph.open_run(mlp)
    nodes = {row["id"]: row for row in run.table("nodes").rows()}
    spans = list(run.table("spans").rows())
    assert len(spans) == run.facts.span_count
    for span in spans:
        node = nodes[span["id"]]
        assert span["name"] == node["name"] and span["parent_id"] == node["parent_id"]
        assert span["self_ns"] == node["host_self_time_ns"]
        assert span["total_ns"] == node["host_total_time_ns"]
    assert [span["name"] for span in spans if span["is_measured"]] == ["mlp/update"]


def test_names_of_spans_may_hold_any_text(data):
    run = candlegraph.open_run(data / "traces/unicode-labels.jsonl")
    nodes = {row["id"]: row["name"] for row in run.table("nodes").rows()}
    for span in run.table("spans").rows():
        assert nodes[span["id"]] == span["name"]


def test_tables_that_need_a_graph_say_so(data):
    run = candlegraph.open_run(data / "traces/failed-open.jsonl")
    with pytest.raises(candlegraph.NoGraphError) as caught:
        run.table("gradients")
    assert caught.value.code == "NO_GRAPH" and caught.value.problem == "no-graph"
    assert "spans" in run.tables() and "gradients" not in run.tables()
    assert run.table("spans").row_count == run.facts.span_count


def test_records_of_a_trace_as_they_were_written(mlp):
    tables = candlegraph.trace_tables(mlp)
    lines = [json.loads(line) for line in mlp.read_text("utf-8").splitlines() if line]
    for kind, table in tables.items():
        written = [line for line in lines if line["kind"] == kind]
        assert table.row_count == len(written)
        for row, record in zip(table.rows(), written):
            for name, value in row.items():
                if "." not in name and table.types[name] != "number":
                    assert value == record.get(name)


def test_arrow_keeps_every_integer(data):
    pyarrow = pytest.importorskip("pyarrow")
    run = candlegraph.open_run(data / "traces/big-integers.jsonl")
    for name, table in run.tables().items():
        arrow = table.to_arrow()
        assert arrow.num_rows == table.row_count and arrow.column_names == list(table)
        for column, kind in table.types.items():
            if kind == "integer":
                assert arrow.schema.field(column).type == pyarrow.uint64()
                assert arrow.column(column).to_pylist() == table[column]
    assert pyarrow.table(run.table("spans")).num_rows == run.facts.span_count


def test_pandas_keeps_integers_beside_missing_ones(data):
    pandas = pytest.importorskip("pandas")
    run = candlegraph.open_run(data / "traces/big-integers.jsonl")
    for table in run.tables().values():
        frame = table.to_pandas()
        for column, kind in table.types.items():
            if kind == "integer":
                assert [None if value is pandas.NA else int(value) for value in frame[column]
                        ] == table[column]


def test_nothing_needs_pandas_or_pyarrow(mlp):
    program = ("import sys; sys.modules['pandas'] = sys.modules['pyarrow'] = None\n"
               "import candlegraph; table = candlegraph.open_run(sys.argv[1]).table('spans')\n"
               "print(table.to_dict()['name'][0])\n"
               "try: table.to_pandas()\n"
               "except ImportError: print('no pandas')\n")
    done = subprocess.run([sys.executable, "-c", program, str(mlp)], check=True,
                          stdout=subprocess.PIPE, text=True)
    assert done.stdout == "fixture::mlp::train\nno pandas\n"


def published(mlp, tmp_path):
    return candlegraph.publish(mlp, tmp_path / "bundle")


def test_publish_and_verify(mlp, tmp_path):
    first = published(mlp, tmp_path)
    again = published(mlp, tmp_path)
    assert not first.is_already_published and again.is_already_published
    found = candlegraph.verify(tmp_path / "bundle", "strict")
    assert found.manifest_sha256 == first.manifest_sha256 and found.unchecked_count == 0
    assert candlegraph.input_kind(tmp_path / "bundle") == "bundle"
    assert candlegraph.open_run(tmp_path / "bundle").facts.span_count == 8
    assert candlegraph.trace_tables(tmp_path / "bundle")["op"].row_count == 7


def test_a_bundle_that_was_changed_is_refused(mlp, tmp_path):
    published(mlp, tmp_path)
    with open(tmp_path / "bundle/trace.jsonl", "ab") as file:
        file.write(b"\n")
    with pytest.raises(candlegraph.InputError) as caught:
        candlegraph.verify(tmp_path / "bundle")
    assert caught.value.problem.startswith("bundle-") and caught.value.exit_status == 1


def test_a_page_stands_alone_and_stays_out_of_bundles(mlp, tmp_path):
    run = candlegraph.open_run(mlp)
    page = run.page()
    assert page.lower().startswith("<!doctype html") and "cg-payload" in page
    run.save_page(tmp_path / "run.html")
    assert (tmp_path / "run.html").read_text("utf-8") == page
    published(mlp, tmp_path)
    with pytest.raises(candlegraph.OutputRefusedError):
        run.save_page(tmp_path / "bundle/run.html")
    with pytest.raises(candlegraph.OutputRefusedError):
        run.save_page(mlp)


def test_recover_a_trace_that_lost_its_end(mlp, tmp_path):
    torn = tmp_path / "torn.jsonl"
    torn.write_bytes(mlp.read_bytes()[:3000])
    account = candlegraph.recover(torn, tmp_path / "out.jsonl")
    assert account["cut_off"] is not None and account["open_spans"]
    run = candlegraph.open_run(tmp_path / "out.jsonl")
    assert not run.facts.is_capture_complete
    # The added terminal is a record as well.
    assert run.facts.event_count == account["records_recovered"] + 1


def test_protocol_names_the_schemas():
    assert "schemas" in candlegraph.protocol()


# --- several runs ---------------------------------------------------------------------------------


def cohort(fixtures, prefix):
    return sorted((fixtures / "execution/cohorts").glob(prefix + "-[0-9]"))


def test_compare_says_what_the_command_line_says(fixtures, cli):
    for base, other in (("base", "slow"), ("base", "fast"), ("base", "same"), ("pbase", "pslow")):
        ours = candlegraph.compare(cohort(fixtures, base), cohort(fixtures, other))
        assert ours.document == printed(cli, "compare", "--baseline", *cohort(fixtures, base),
                                        "--candidate", *cohort(fixtures, other))
        assert ours.document["verdict"].endswith(ours.verdict)


def test_samples_stand_beside_their_runs(fixtures):
    ours = candlegraph.compare(cohort(fixtures, "base"), cohort(fixtures, "slow"), calibrate=True)
    assert ours.verdict == "slower" and ours.lower_delta_ns > 0 and ours.reasons == []
    rows = list(ours.table().rows())
    paths = cohort(fixtures, "base") + cohort(fixtures, "slow")
    assert len(rows) == len(paths)
    for row, path in zip(rows, paths):
        facts = candlegraph.open_run(path).facts
        assert (row["run_id"], row["outer_wall_time_ns"]) == (facts.run_id,
                                                              facts.outer_wall_time_ns)
    assert "hidden" in ours.table("tensor_stats")["label"]


def test_runs_that_may_not_be_compared_give_reasons(mlp, tmp_path):
    published(mlp, tmp_path)
    ours = candlegraph.compare([tmp_path / "bundle"], [tmp_path / "bundle"])
    assert ours.verdict == "ineligible" and ours.reasons and ours.lower_delta_ns is None
    assert [row["outer_wall_time_ns"] for row in ours.table().rows()] == [2423477, 2423477]
    with pytest.raises(candlegraph.UsageError):
        candlegraph.compare([], [tmp_path / "bundle"])


def test_series_in_long_form(fixtures, cli):
    bundles = sorted((fixtures / "execution/bundles").glob("mlp-update-?"))
    ours = candlegraph.series(bundles)
    arguments = [word for path in bundles for word in ("--bundle", path)]
    assert ours.document == printed(cli, "series", "--growth", *arguments)
    table = ours.table("tensor_stats")
    assert table.row_count == 12
    assert {row["capture_step"] for row in table.rows()} == {1, 4, 9}
    assert ours.table("gradients").row_count == 21
    assert candlegraph.series(bundles, label_prefix="loss/").table().row_count == 3


def test_pages_of_several_runs(fixtures, mlp, tmp_path):
    run = candlegraph.open_run(mlp)
    assert "cg-against-payload" in run.page(against=run)
    ours = candlegraph.compare(cohort(fixtures, "base"), cohort(fixtures, "slow"))
    assert "cg-comparison" in ours.page()
    (tmp_path / "comparison.json").write_text(json.dumps(ours.document), "utf-8")
    assert candlegraph.input_kind(tmp_path / "comparison.json") == "document"
    assert "cg-comparison" in candlegraph.document_page(tmp_path / "comparison.json")
    manifest = fixtures / "execution/campaign/mixed.json"
    assert candlegraph.input_kind(manifest) == "campaign"
    assert "cg-campaign" in candlegraph.campaign_page(manifest)


def test_campaign_and_plan(fixtures, cli):
    manifest = fixtures / "execution/campaign/mixed.json"
    assert candlegraph.campaign_status(manifest) == printed(cli, "campaign-status", "--manifest",
                                                            manifest)
    assert candlegraph.compare_plan(6) == printed(cli, "compare", "plan", "--pairs", 6)
    with pytest.raises(candlegraph.CandlegraphError):
        candlegraph.compare_plan(1)


def test_the_example_runs(mlp, tagger):
    example = pathlib.Path(__file__).parents[1] / "examples/layers.py"
    done = subprocess.run([sys.executable, str(example), str(mlp), str(tagger)], check=True,
                          stdout=subprocess.PIPE, text=True, env=dict(os.environ, LC_ALL="C.UTF-8"))
    assert "mlp/fc1" in done.stdout and "is missing" in done.stdout
    assert "src/block.rs:23: " in done.stdout
