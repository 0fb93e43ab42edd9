"""Where the data lies: the repository's own, and the fixtures named by CG_FIXTURES, if any."""
import os
import pathlib

import pytest

REPO = pathlib.Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def data() -> pathlib.Path:
    return REPO / "tests" / "data"


@pytest.fixture(scope="session")
def mlp(data: pathlib.Path) -> pathlib.Path:
    return data / "traces" / "mlp-update-4.jsonl"


@pytest.fixture(scope="session")
def tagger() -> pathlib.Path:
    return REPO / "examples" / "tagger"


@pytest.fixture(scope="session")
def fixtures() -> pathlib.Path:
    place = os.environ.get("CG_FIXTURES")
    if not place or not os.path.isdir(os.path.join(place, "fixtures")):
        pytest.skip("CG_FIXTURES names no folder with fixtures")
    return pathlib.Path(place) / "fixtures"


@pytest.fixture(scope="session")
def cli() -> str:
    place = os.environ.get("CG_CLI")
    if not place:
        pytest.skip("CG_CLI does not name the command line")
    return place


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A trace of 120,000 spans below the measured one."""
    meta = (REPO / "tests/data/traces/minimal.jsonl").read_text("utf-8").split("\n")[0]
    path = tmp_path_factory.mktemp("large") / "large.jsonl"
    begin = ('{"kind":"span_start","id":"%s","parent_id":%s,"name":"layer/%d","start_ns":%d,'
             '"span_kind":"function","measured":%s}')
    with open(path, "w", encoding="utf-8") as file:
        print(meta, file=file)
        print(begin.replace('"parent_id":%s,', "") % ("root", 0, 0, "false"), file=file)
        print(begin % ("m", '"root"', 0, 0, "true"), file=file)
        for i in range(120_000):
            print(begin % ("s%06d" % i, '"m"', i % 50, i * 10, "false"), file=file)
            print('{"kind":"span_end","id":"s%06d","duration_ns":9}' % i, file=file)
        for name in ("m", "root"):
            print('{"kind":"span_end","id":"%s","duration_ns":2000000}' % name, file=file)
        print('{"kind":"terminal","outcome":"complete","timestamp_ns":2000000}', file=file)
    return path
