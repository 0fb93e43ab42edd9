#!/usr/bin/env python3
# ctest: @CLI@
"""signals: the first signal ends candle-graph, whatever it is waiting for.

usage: signals.py CANDLE_GRAPH

A pipe without a writer, without data, without a reader, full: SIGINT, SIGTERM and SIGHUP end the
program with status 130, without a word, and nothing is left of an output file. A signal that the
caller had ignored stays ignored.

Under ThreadSanitizer it is skipped: that runtime keeps a signal back until the next call it
intercepts, and a wait inside openat is none.
"""
import os
import signal
import subprocess
import sys
import tempfile
import time

SOURCE = os.environ.get("CG_SOURCE", os.path.join(os.path.dirname(__file__), "..", ".."))
TRACE = os.path.join(SOURCE, "tests", "data", "traces", "wide-siblings.jsonl")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PATIENCE = 60
SKIPPED = 77


def must(condition, *what):
    if not condition:
        sys.exit(" ".join(map(str, what)))


def start(program, *arguments, **options):
    return subprocess.Popen((program,) + arguments, stderr=subprocess.PIPE,
                            stdin=subprocess.DEVNULL, **options)


def until_asleep(process):
    """The program waits: its state is S several times in a row."""
    asleep = 0
    while asleep < 5:
        with open("/proc/%d/stat" % process.pid) as file:
            state = file.read().rpartition(")")[2].split()[0]
        must(state != "Z", "ended by itself")
        asleep = asleep + 1 if state == "S" else 0
        time.sleep(0.02)


def stops(name, process, number):
    until_asleep(process)
    process.send_signal(number)
    try:
        process.wait(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        sys.exit("%s: goes on after %s" % (name, number.name))
    said = process.stderr.read()
    must(process.returncode == 130, name, number.name, "status", process.returncode)
    must(said == b"", name, number.name, "said", said)


def stays_ignored(program, fifo):
    """Like nohup: the trace is read to its end although the signal came while waiting for it."""
    out = fifo + ".json"
    process = start(program, "overview", fifo, "-o", out,
                    preexec_fn=lambda: [signal.signal(s, signal.SIG_IGN) for s in SIGNALS])
    with open(fifo, "wb") as writer, open(TRACE, "rb") as trace:
        until_asleep(process)
        for number in SIGNALS:
            process.send_signal(number)
        writer.write(trace.read())
    said = process.communicate(timeout=PATIENCE)[1]
    must(process.returncode == 0, "ignored signals: status", process.returncode, said)
    must(os.path.getsize(out) > 0, "ignored signals: no output")
    os.unlink(out)


def main():
    program = os.path.abspath(sys.argv[1])
    with open(program, "rb") as file:
        if b"__tsan_init" in file.read():
            print("ThreadSanitizer delays signals: skipped")
            sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.mkfifo("fifo")
        for number in SIGNALS:
            stops("no writer", start(program, "overview", "fifo", "-o", "a/b.json"), number)
            stops("no reader", start(program, "overview", TRACE, "-o", "fifo"), number)
            quiet = os.open("fifo", os.O_RDWR)
            stops("no data", start(program, "overview", "fifo", "-o", "a/b.json"), number)
            full = start(program, "import", TRACE, "-o", "fifo")
            stops("full pipe", full, number)
            os.close(quiet)
            full = start(program, "import", TRACE, stdout=subprocess.PIPE)
            stops("full standard output", full, number)
        must(os.listdir(".") == ["fifo"], "left behind:", os.listdir("."))
        stays_ignored(program, "fifo")
    print("every signal was heard")


if __name__ == "__main__":
    main()
