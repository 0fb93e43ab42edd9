#!/usr/bin/env python3
"""kill: end recording programs at random moments; every finished record must be recovered.

usage: kill.py VICTIM [--all] [--cli CANDLE_GRAPH] [--example TRAIN]

ctest-timeout: 300

Of each way to die: SIGKILL (50; with --all 500), abort, _exit, SIGTERM, full disk (10; 100 each).
The victim counts what it finished in a shared page that survives it. --cli also asks candle-graph
whether it reads every recovered trace as a failed capture, and whether `recover` makes the same
trace as the library does. --example: SIGKILL for examples/train too (30; 500), recovered by
candle-graph.
"""
import argparse
import filecmp
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time


class Failure(Exception):
    pass


def must(condition, *what):
    if not condition:
        raise Failure(" ".join(map(str, what)))


def has_opened(folder):
    path = os.path.join(folder, "progress")
    return os.path.exists(path) and os.path.getsize(path) >= 65 * 8 and progress(folder)[0] != 0


def progress(folder):
    with open(os.path.join(folder, "progress"), "rb") as file:
        numbers = struct.unpack("<65Q", file.read(65 * 8))
    return numbers[0], numbers[1:]


def wait_for(process, is_there):
    """Three times of four until recording has begun, so that a slow program is killed in it too."""
    if random.random() < 0.75:
        while process.poll() is None and not is_there():
            time.sleep(0.0005)


def check_trace(path, threads, finished, cli, is_lossy):
    """Every value a thread finished is in the trace, in order, and its span has ended."""
    last = [0] * threads
    starts, ends, names = {}, set(), {}
    lines = open(path, encoding="utf-8").read().split("\n")
    must(lines.pop() == "", path, "does not end with a line end")
    for number, line in enumerate(lines):
        event = json.loads(line)
        kind = event["kind"]
        must((kind == "meta") == (number == 0), "meta at line", number + 1)
        must((kind == "terminal") == (number == len(lines) - 1), "terminal at line", number + 1)
        if kind == "span_start":
            must(event["id"] == "s%d" % (len(starts) + 1), "span ids are not dense:", event["id"])
            must(event.get("parent_id") in starts or not starts, "parent of", event["id"])
            starts[event["id"]] = event
        elif kind == "span_end":
            must(event["id"] in starts and event["id"] not in ends, "end of", event["id"])
            ends.add(event["id"])
        elif kind == "tensor_stats" and event["label"].startswith("thread-"):
            index, value = int(event["label"][7:]), event["mean"]
            must(value > last[index] if is_lossy else value == last[index] + 1,
                 "thread", index, "has", value, "after", last[index])
            last[index] = value
            names[event["span_id"]] = (index, value)
    if not is_lossy:
        for index in range(threads):
            must(last[index] >= finished[index], "thread", index, "finished", finished[index],
                 "but", last[index], "are there")
        for span, (index, value) in names.items():
            must(span in ends or value > finished[index], span, "has no end, value", value, "of",
                 finished[index])
    must(event["outcome"] == "failed" and event["reason"], "the terminal is", event)
    if cli:
        done = subprocess.run([cli, "summary", path, "--format", "json"], capture_output=True)
        must(done.returncode == 0, "candle-graph:", done.stderr.decode())
        answer = json.loads(done.stdout)
        must(answer["health"]["structurally_valid"], "not sound:", answer["health"]["issues"][:3])
    return len(lines) - 1, event["reason"]


def one(victim, how, threads, cli):
    folder = tempfile.mkdtemp(prefix="cg-kill-")
    try:
        mode = {"SIGKILL": "forever", "SIGTERM": "forever"}.get(how, how)
        process = subprocess.Popen([victim, "run", folder, str(threads), mode],
                                   stderr=subprocess.PIPE)
        if mode == "forever":
            wait_for(process, lambda: has_opened(folder))
            time.sleep(random.random() ** 2 * 0.03)
            process.send_signal(getattr(signal, how))
        errors = process.communicate()[1].decode()
        want = {"SIGKILL": -signal.SIGKILL, "SIGTERM": -signal.SIGTERM, "exit": 37,
                "abort": -signal.SIGABRT, "full": 41, "drop": 41}[how]
        must(process.returncode == want, how, "ended with", process.returncode, errors)
        spool, output = os.path.join(folder, "run.jsonl.spool"), os.path.join(folder, "out.jsonl")
        if not os.path.exists(os.path.join(folder, "progress")):
            return "early"
        opened, finished = (progress(folder) if os.path.getsize(
            os.path.join(folder, "progress")) >= 65 * 8 else (0, ()))
        must(not os.path.exists(os.path.join(folder, "run.jsonl")), "a trace without finish")
        if not opened and not os.path.exists(spool):
            return "early"
        done = subprocess.run([victim, "recover", spool, output], capture_output=True, text=True)
        if not opened and done.returncode == 1:
            return "early"
        must(done.returncode == 0, "recover:", done.stderr)
        first, *spans = done.stdout.rstrip("\n").split("\n")
        records, dropped, cut = map(int, first.split())
        must(not cut, "something is missing")
        if cli and random.random() < 0.2:
            done = subprocess.run([cli, "recover", spool, "-o", output + ".2"],
                                  capture_output=True)
            must(done.returncode == 0, "candle-graph recover:", done.stderr.decode())
            must(json.loads(done.stdout)["records_recovered"] == records, done.stdout.decode())
            must(filecmp.cmp(output, output + ".2", shallow=False), "the two recoveries differ")
        lines, reason = check_trace(output, threads, finished, cli, how in ("full", "drop"))
        must(lines == records, "the account says", records, "the trace has", lines)
        must(("recovered %d record" % records) in reason, reason)
        must(all(span.split(" ", 1)[1] in reason for span in spans), reason)
        if how in ("full", "drop"):
            must(dropped > 0, "nothing was dropped")
            must(open(output).readline().count("candle-graph.dropped_records") == 1, "no tag")
        return "recovered"
    except Failure:
        print("kept:", folder)
        raise
    finally:
        if sys.exc_info()[0] is None:
            shutil.rmtree(folder)


def example(program, cli):
    """Kill the example while it records one slow update; what is left is a failed capture."""
    with tempfile.TemporaryDirectory(prefix="cg-kill-") as folder:
        out, spool = os.path.join(folder, "run.jsonl"), os.path.join(folder, "run.jsonl.spool")
        process = subprocess.Popen([program, "--out", out, "--slow", "4"],
                                   stdout=subprocess.DEVNULL)
        wait_for(process, lambda: os.path.exists(spool))
        time.sleep(random.random() * 0.04)
        process.kill()
        process.wait()
        if os.path.exists(out):
            done = subprocess.run([cli, "summary", out, "--require-valid"], capture_output=True)
            must(done.returncode == 0, "a finished trace:", done.stderr.decode())
            return "finished"
        if not os.path.exists(spool):
            return "early"
        trace = os.path.join(folder, "out.jsonl")
        done = subprocess.run([cli, "recover", spool, "-o", trace], capture_output=True)
        if b"never began" in done.stderr:
            return "early"
        must(done.returncode == 0, "candle-graph recover:", done.stderr.decode())
        account = json.loads(done.stdout)
        must(account["cut_off"] is None and account["records_dropped"] == 0, account)
        lines = open(trace, encoding="utf-8").read().splitlines()
        must(len(lines) == account["records_recovered"] + 1, len(lines), account)
        must(json.loads(lines[-1])["reason"] == account["reason"], lines[-1])
        done = subprocess.run([cli, "summary", trace, "--format", "json"], capture_output=True)
        must(done.returncode == 0, "candle-graph:", done.stderr.decode())
        must(json.loads(done.stdout)["health"]["structurally_valid"], "not sound:", trace)
        return "recovered"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("victim")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--cli")
    parser.add_argument("--example")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    random.seed(options.seed)
    print("seed", options.seed)
    failed = 0
    for how, few, many in (("SIGKILL", 50, 500), ("SIGTERM", 10, 100), ("exit", 10, 100),
                           ("abort", 10, 100), ("full", 5, 50), ("drop", 5, 50)):
        counts = {}
        for i in range(many if options.all else few):
            try:
                answer = one(options.victim, how, 1 if i % 2 else random.randint(2, 8), options.cli)
            except Failure as failure:
                print(how, i, failure)
                answer = "FAILED"
                failed = 1
            counts[answer] = counts.get(answer, 0) + 1
        print(how, counts)
        if counts.get("recovered", 0) == 0:
            print(how, "no run died while it recorded")
            failed = 1
    counts = {}
    for i in range((500 if options.all else 30) if options.example and options.cli else 0):
        try:
            answer = example(options.example, options.cli)
        except Failure as failure:
            print("example", i, failure)
            answer = "FAILED"
            failed = 1
        counts[answer] = counts.get(answer, 0) + 1
    print("example", counts)
    return failed


if __name__ == "__main__":
    sys.exit(main())
