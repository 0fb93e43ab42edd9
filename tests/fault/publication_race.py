#!/usr/bin/env python3
# ctest: @CLI@
# ctest-timeout: 300
"""publication_race: eight processes publish to one destination at the same moment.

usage: publication_race.py CANDLE-GRAPH [--all] [--rounds N]

Exactly one of them publishes. The others find it published; those that came with another trace
are refused. Some are killed while they are at it: the rest is not disturbed, and what the dead
ones left is swept by the next run.
"""
import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "..", "data", "traces")
PUBLISHERS = 8


def publish(binary, trace, bundle):
    return [binary, "report", trace, "--bundle", bundle]


def run(argv):
    return subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True)


def hidden(folder):
    return [name for name in os.listdir(folder) if name.startswith(".")]


def play(binary, folder, mode, rng):
    """One round; returns what was wrong."""
    bundle = os.path.join(folder, "new", "b")
    traces = [os.path.join(DATA, "base.jsonl")] * PUBLISHERS
    if mode == "two traces":
        traces[1::2] = [os.path.join(DATA, "minimal.jsonl")] * (PUBLISHERS // 2)
    started = [subprocess.Popen(publish(binary, trace, bundle), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE) for trace in traces]
    doomed = set()
    if mode == "kills":
        for i in rng.sample(range(PUBLISHERS), 3):
            time.sleep(rng.random() * 0.002)
            started[i].kill()
            doomed.add(i)
    count = {"published": 0, "already_published": 0, "conflict": 0}
    winner = None
    for i, process in enumerate(started):
        out, err = process.communicate(timeout=60)
        if process.returncode == -9 and i in doomed:
            continue
        if process.returncode == 0:
            status = json.loads(out)["status"]
            count[status] += 1
            if status == "published":
                winner = traces[i]
        elif process.returncode == 1 and b"error[bundle-conflict]" in err:
            count["conflict"] += 1
        else:
            return "exit %d: %s" % (process.returncode, err.decode("utf-8", "replace"))
    if count["published"] != 1 and not (mode == "kills" and count["published"] == 0):
        return "%d of %d published" % (count["published"], PUBLISHERS)
    if mode != "two traces" and count["conflict"]:
        return "%d conflicts of one trace" % count["conflict"]
    done = run(publish(binary, winner or traces[0], bundle))
    if done.returncode != 0:
        return "the next run is refused: " + done.stderr.decode("utf-8", "replace")
    if hidden(os.path.dirname(bundle)):
        return "left behind: %s" % hidden(os.path.dirname(bundle))
    done = run([binary, "verify", "--semantic=strict", bundle])
    return None if done.returncode == 0 else "damaged: " + done.stderr.decode("utf-8", "replace")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("binary")
    p.add_argument("--all", action="store_true", help="200 rounds of each kind instead of 10")
    p.add_argument("--rounds", type=int)
    args = p.parse_args()
    rounds = args.rounds or (200 if args.all else 10)
    rng = random.Random(7)
    bad = 0
    for mode in ("one trace", "two traces", "kills"):
        for i in range(rounds):
            folder = tempfile.mkdtemp(prefix="race-")
            try:
                fault = play(args.binary, folder, mode, rng)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
            if fault:
                bad += 1
                print("%s, round %d: %s" % (mode, i, fault))
    print("%d rounds of %d publishers, 3 kinds: %d bad" % (3 * rounds, PUBLISHERS, bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
