#!/usr/bin/env python3
# ctest: @CLI@
# ctest-timeout: 300
"""bundle_race: somebody exchanges files, links and the root of a bundle while it is read.

usage: bundle_race.py CANDLE-GRAPH [--all] [--rounds N]

Whatever a command says is of one of the two bundles as they were published, or a refusal; never of
a mixture.
"""
import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "..", "data", "traces")
MEMBERS = ("trace.jsonl", "evidence.json", "report.md", "bundle.json")


def run(argv, cwd):
    return subprocess.run(argv, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True)


def exchange(a, b):
    os.rename(a, a + ".t")
    os.rename(b, a)
    os.rename(a + ".t", b)


def disturb(work, rng, stop):
    """Exchange members of `b` and `other`, the directories themselves, or a file and a link."""
    b, other = os.path.join(work, "b"), os.path.join(work, "other")
    while not stop.is_set():
        kind = rng.randrange(4)
        if kind == 0:
            exchange(b, other)
        elif kind == 1:
            # All of it: for a moment it is a mixture, then whole again.
            for name in MEMBERS:
                exchange(os.path.join(b, name), os.path.join(other, name))
        elif kind == 2:
            name = os.path.join(b, rng.choice(MEMBERS))
            os.rename(name, os.path.join(work, "aside"))
            os.symlink(os.path.join(work, "aside"), name)
            os.unlink(name)
            os.rename(os.path.join(work, "aside"), name)
        else:
            # The same file is overwritten in place, and mended.
            name = os.path.join(b, rng.choice(MEMBERS))
            with open(name, "r+b") as file:
                data = file.read()
                file.seek(0)
                file.write(data[:64].replace(b"1", b"2") + data[64:])
                file.flush()
                file.seek(0)
                file.write(data)
        if rng.random() < 0.5:
            stop.wait(rng.random() * 0.003)


def answer(out):
    """What is said of the run, without the name of the bundle."""
    says = json.loads(out)
    says.pop("input", None)
    return json.dumps(says, sort_keys=True)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("binary")
    p.add_argument("--all", action="store_true", help="10000 rounds instead of 300")
    p.add_argument("--rounds", type=int)
    args = p.parse_args()
    rounds = args.rounds or (10000 if args.all else 300)
    binary = os.path.abspath(args.binary)
    rng = random.Random(11)
    work = tempfile.mkdtemp(prefix="bundle-race-")
    counts = {"refused": 0, "answered": 0}
    bad = []
    try:
        for name, trace in (("b", "base"), ("other", "mlp-update-4")):
            run([binary, "report", os.path.join(DATA, trace + ".jsonl"), "--bundle", name], work)
        commands = [["overview", "b"], ["import", "b"], ["verify", "--semantic", "b"]]
        wanted = {}
        for argv in commands:
            plain = [binary] + argv
            aside = [binary] + argv[:-1] + ["other"]
            wanted[argv[0]] = {answer(run(line, work).stdout) for line in (plain, aside)}
        stop = threading.Event()
        thread = threading.Thread(target=disturb, args=(work, random.Random(12), stop))
        thread.start()
        try:
            for i in range(rounds):
                argv = rng.choice(commands)
                done = run([binary] + argv, work)
                if done.returncode == 0 and answer(done.stdout) in wanted[argv[0]]:
                    counts["answered"] += 1
                elif done.returncode == 1 and not done.stdout and b"error[" in done.stderr:
                    counts["refused"] += 1
                else:
                    bad.append("round %d, %s: exit %d: %s %s" % (
                        i, argv[0], done.returncode, done.stdout[:200], done.stderr[:200]))
        finally:
            stop.set()
            thread.join()
    finally:
        shutil.rmtree(work, ignore_errors=True)
    for line in bad[:10]:
        print(line)
    print("%d rounds: %d answered, %d refused, %d wrong" % (
        rounds, counts["answered"], counts["refused"], len(bad)))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
