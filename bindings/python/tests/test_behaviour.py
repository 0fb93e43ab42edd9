"""Errors, threads, interruption, memory."""
import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import candlegraph
import pytest


def test_every_refused_trace_has_a_problem_and_a_place(data):
    refused = 0
    for path in sorted((data / "invalid").glob("*.jsonl")):
        try:
            candlegraph.open_run(path).close()
        except candlegraph.InputError as error:
            refused += 1
            assert error.code == "INPUT" and error.exit_status == 1
            assert error.problem and error.problem in str(error)
            assert error.file == str(path)
    assert refused > 40


def test_the_place_is_line_and_byte(data):
    with pytest.raises(candlegraph.InputError) as caught:
        candlegraph.open_run(data / "invalid/stream-two-metas.jsonl")
    error = caught.value
    assert (error.problem, error.line, error.offset) == ("trace-second-meta", 2, 1108)
    assert "line 2" in str(error) and error.help


def test_errors_are_those_python_knows(tmp_path):
    with pytest.raises(FileNotFoundError):
        candlegraph.open_run(tmp_path / "nothing")
    with pytest.raises(ValueError, match="NUL"):
        candlegraph.open_run("a\0b")
    with pytest.raises(ValueError, match="no ceiling"):
        candlegraph.open_run(tmp_path, limits={"nonsense": 1})


def test_errors_travel_between_processes(tmp_path):
    with pytest.raises(candlegraph.NotFoundError) as caught:
        candlegraph.open_run(tmp_path / "nothing")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert type(copy) is candlegraph.NotFoundError
    assert (str(copy), copy.problem) == (str(caught.value), caught.value.problem)


def test_a_ceiling_is_a_limit_error(mlp):
    with pytest.raises(candlegraph.LimitError):
        candlegraph.open_run(mlp, limits={"events": 10})


def test_paths_need_not_be_text(mlp, tmp_path):
    odd = os.fsencode(tmp_path) + b"/run \xff\xfe\n.jsonl"
    with open(odd, "wb") as file:
        file.write(mlp.read_bytes())
    assert candlegraph.open_run(odd).facts.span_count == 8
    assert candlegraph.open_run(os.fsdecode(odd)).facts.span_count == 8


def test_a_closed_run_is_closed(mlp, tagger):
    run = candlegraph.open_run(mlp)
    text = run.text()
    run.close()
    run.close()
    with pytest.raises(ValueError, match="closed"):
        run.text()
    assert text
    crate = candlegraph.scan(tagger, structure=True)
    crate.close()
    with pytest.raises(ValueError, match="closed"):
        crate.facts


def test_other_threads_run_meanwhile(large):
    """With so long an interval the lock only changes hands where it is given away."""
    old = sys.getswitchinterval()
    worker = threading.Thread(target=lambda: candlegraph.open_run(large).evidence)
    sys.setswitchinterval(1000)
    try:
        worker.start()
        ticks = 0
        while worker.is_alive():
            ticks += 1
            time.sleep(0)  # gives the lock away
    finally:
        sys.setswitchinterval(old)
    assert ticks > 100


def test_a_run_is_read_by_many_threads_while_it_is_closed(large):
    run = candlegraph.open_run(large)
    wanted = run.query("module-tree")
    failures = []

    def read():
        try:
            for _ in range(3):
                if run.query("module-tree") != wanted:
                    failures.append("differs")
        except ValueError:
            pass  # closed meanwhile
        except BaseException as error:
            failures.append(error)

    workers = [threading.Thread(target=read) for _ in range(4)]
    for worker in workers:
        worker.start()
    time.sleep(0.05)
    run.close()
    for worker in workers:
        worker.join()
    assert not failures


def test_threads_share_a_scan(tagger):
    crate = candlegraph.scan(tagger)
    wanted = crate.tree()
    failures = []

    def read():
        if crate.tree() != wanted or not crate.findings():
            failures.append("differs")

    workers = [threading.Thread(target=read) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not failures


def test_progress_is_told_and_may_stop(large):
    seen = []
    candlegraph.open_run(large, progress=lambda *told: seen.append(told))
    assert seen and all(isinstance(stage, str) for stage, _, _ in seen)
    with pytest.raises(candlegraph.InterruptedError):
        candlegraph.open_run(large, progress=lambda *told: False)

    class Odd(Exception):
        pass

    def fail(*_):
        raise Odd()

    with pytest.raises(Odd):
        candlegraph.open_run(large, progress=fail)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs interval timers")
def test_control_c_stops_a_long_call(large):
    program = ("import candlegraph, signal, sys\n"
               "signal.signal(signal.SIGALRM, signal.default_int_handler)\n"
               "while True:\n"
               "    signal.setitimer(signal.ITIMER_REAL, 0.02)\n"
               "    try: candlegraph.open_run(sys.argv[1])\n"
               "    except KeyboardInterrupt: break\n")
    assert subprocess.run([sys.executable, "-c", program, str(large)], timeout=60,
                          check=False).returncode == 0


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
def test_nothing_leaks(mlp, data, tagger):
    def once():
        run = candlegraph.open_run(mlp)
        run.tables()
        run.evidence()
        run.page()
        for path in ("stream-two-metas.jsonl", "run-id-empty.jsonl"):
            try:
                candlegraph.open_run(data / "invalid" / path)
            except candlegraph.InputError:
                pass
        candlegraph.explain()

    def scanned():
        candlegraph.scan(tagger, structure=True).table("parameters")

    for work, times in ((once, 150), (scanned, 20)):
        for _ in range(times // 3):
            work()
        gc.collect()
        before = resident_bytes()
        for _ in range(times):
            work()
        gc.collect()
        assert resident_bytes() - before < 8 << 20


def test_types_are_declared(tmp_path):
    pytest.importorskip("mypy")
    folder = os.path.dirname(candlegraph.__file__)
    assert os.path.exists(os.path.join(folder, "py.typed"))
    program = "import candlegraph\nreveal_type(candlegraph.open_run('x').table('spans'))\n"
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "-c", program],
                          stdout=subprocess.PIPE, text=True, check=False, cwd=tmp_path)
    assert "candlegraph._table.Table" in done.stdout and "error" not in done.stdout, done.stdout
