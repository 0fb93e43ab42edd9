"""Scans of crates, checkpoints, findings."""
import json
import subprocess

import candlegraph
import pytest


@pytest.fixture(scope="module")
def crate(tagger):
    return candlegraph.scan(tagger)


def test_facts_and_tables_agree(crate):
    facts = crate.facts
    assert facts.package == "tagger" and facts.missing_count is None
    assert crate.table("parameters").row_count == facts.parameter_count == 13
    assert crate.table("components").row_count == facts.component_count
    assert crate.table("functions").row_count == facts.function_count
    assert set(crate.tables()) == set(candlegraph.MODEL_TABLE_NAMES)


def test_documents_are_those_of_the_command_line(crate, tagger, cli):
    def printed(*arguments):
        done = subprocess.run([cli, *map(str, arguments)], stdout=subprocess.PIPE, check=True)
        return json.loads(done.stdout)
    assert crate.model() == printed("report", tagger)
    assert crate.tree() == printed("tree", tagger)
    assert crate.query("parameters", limit=4, offset=2) == printed(
        "query", "parameters", tagger, "--limit", 4, "--offset", 2)


def test_findings_have_places(crate):
    cut = [row for row in crate.findings() if row["code"] == "gradient-cut"]
    assert [row["location"]["line"] for row in cut] == [23, 56]
    columns = crate.table("findings")
    assert columns["location.line"][columns["rule"].index("gradient-cut")] == 23
    assert json.loads(crate.messages("sarif"))["version"] == "2.1.0"
    assert "src/block.rs:23:48" in crate.messages("short")


def test_the_gate_closes_on_what_is_denied(crate):
    with pytest.raises(candlegraph.GateError):
        crate.gate("all")
    with pytest.raises(ValueError, match="nonsense"):
        crate.gate("none", ["nonsense"])
    crate.gate("none")


def test_findings_alone_are_the_same(crate, tagger):
    alone = candlegraph.scan(tagger, findings_only=True)
    assert alone.findings() == crate.findings()
    assert alone.facts.error_count == crate.facts.error_count


def test_runs_stand_beside_their_crate(tagger, cli):
    data = tagger.parent.parent / "tests" / "data" / "join" / "broken"
    crate = candlegraph.scan(data / "crate")
    with pytest.raises(candlegraph.UsageError):
        crate.join()
    crate.add_run(data / "sure.jsonl")
    found = crate.join()
    done = subprocess.run([cli, "query", "join", data / "crate", "--trace", data / "sure.jsonl"],
                          stdout=subprocess.PIPE, check=True)
    assert found == json.loads(done.stdout) == crate.query("join")
    rows = found["gradient_missing_explained"]["rows"]
    assert {row["explained_by"][0]["code"] for row in rows} == {"gradient-cut"}
    assert len(crate.join(limit=1)["gradient_missing_explained"]["rows"]) == 1
    assert "Never learned" in crate.text("join")
    with pytest.raises(candlegraph.NotFoundError):
        crate.add_run(data / "nothing.jsonl")


def test_arrow_and_pandas_take_every_table(crate):
    pytest.importorskip("pyarrow")
    pytest.importorskip("pandas")
    for name, table in crate.tables().items():
        assert table.to_arrow().num_rows == table.row_count, name
        assert len(table.to_pandas()) == table.row_count, name


def test_words_that_do_not_exist_are_refused(crate):
    for call in (lambda: crate.query("nonsense"), lambda: crate.table("nonsense"),
                 lambda: crate.text("nonsense"), lambda: crate.messages("nonsense"),
                 lambda: crate.gate("nonsense")):
        with pytest.raises(ValueError):
            call()


def test_text_page_and_audit(crate, tmp_path, tagger):
    assert "tagger" in crate.text("tree")
    assert "cg-payload" in crate.page()
    crate.save_page(tmp_path / "model.html")
    (tmp_path / "model.json").write_text(json.dumps(crate.model()), "utf-8")
    assert candlegraph.model_page(tmp_path / "model.json").lower().startswith("<!doctype")
    with pytest.raises(candlegraph.OutputRefusedError):
        crate.save_page(tagger / "Cargo.toml")
    crate.audit(tmp_path / "audit")
    assert (tmp_path / "audit/findings.json").exists()


def test_a_checkpoint_changes_what_is_known(fixtures):
    place = fixtures / "problems/checkpoint-prefixes"
    files = sorted(place.rglob("*.safetensors"))
    manifest = sorted(place.rglob("Cargo.toml"))
    if not files or not manifest:
        pytest.skip("no such case")
    with candlegraph.scan(manifest[0]) as crate:
        with pytest.raises(candlegraph.UsageError):
            crate.checkpoint()
        report = crate.compare_checkpoint(files[0])
        assert report == crate.checkpoint() and crate.facts.has_checkpoint
        assert crate.table("diagnosis").row_count == len(report["diagnosis"])
        assert isinstance(crate.key_map(), dict)
        with pytest.raises(candlegraph.CandlegraphError):
            crate.compare_checkpoint(files[0])


def test_what_is_no_crate_is_refused(tmp_path):
    with pytest.raises(candlegraph.NotFoundError):
        candlegraph.scan(tmp_path / "nothing")
    with pytest.raises(candlegraph.CandlegraphError) as caught:
        candlegraph.scan(tmp_path)
    assert caught.value.problem


def test_explain():
    assert "gradient-cut" in candlegraph.explain("gradient-cut")
    with pytest.raises(candlegraph.NotFoundError):
        candlegraph.explain("nonsense")
