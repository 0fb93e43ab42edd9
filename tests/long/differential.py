"""differential - the reference implementation and candle-graph read the same generated traces.

Both are loaded once and work in a child for each trace (kernel.py), so that 100,000 traces are not
200,000 starts of programs. The traces are those of part `parity` of tools/interop; three of ten are
then changed at random, in their text or in their records, so that there is much to refuse. Every
difference is a row of docs/interop.md or a finding.
"""
import copy
import importlib.machinery
import importlib.util
import json
import os
import random
import re
import sys

import kernel
from campaign import Campaign

BLOCK = 1000
WORDS = ("", "x", "s1", "s2", "zz", "cpu", "alloc", "free", "present", "complete", "none", "\u00e9",
         "a" * 300, "__proto__", "\u0000")
NUMBERS = (0, 1, -1, 1.5, 2**31, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 1e308,
           -0.0, 1e-320)


def load(path):
    name = re.sub(r"\W", "_", os.path.basename(path))
    loader = importlib.machinery.SourceFileLoader(name, path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


def places(value, found):
    """(container, key) of everything inside of a record."""
    for key in (value if isinstance(value, dict) else range(len(value))):
        found.append((value, key))
        if isinstance(value[key], (dict, list)):
            places(value[key], found)
    return found


def change_record(events, rng):
    """One place of one record, another value, or the record elsewhere, twice or never."""
    events = copy.deepcopy(events)
    at = rng.randrange(len(events))
    kind = rng.randrange(8)
    if kind == 0:
        events.insert(rng.randrange(len(events)), events.pop(at))
    elif kind == 1:
        events.insert(at, copy.deepcopy(events[at]))
    elif kind == 2:
        del events[at]
    else:
        inside = places(events[at], [])
        container, key = rng.choice(inside)
        if kind == 3:
            del container[key]
        elif kind == 4:
            container[key] = rng.choice(NUMBERS)
        elif kind == 5:
            container[key] = rng.choice(WORDS)
        elif kind == 6:
            container[key] = rng.choice((None, True, False, [], {}, [1], {"a": 1}))
        elif isinstance(container, dict):
            container[rng.choice(("more", key + "x", "step", "norm"))] = container[key]
    return events


def change_text(data, rng):
    """Some bytes."""
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        at = rng.randrange(len(data))
        kind = rng.randrange(5)
        if kind == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[at:at] = rng.choice((b"\n", b" ", b"\r\n", b"\t", b",", b"0", b"-", b"\xff", b"\0",
                                      b"\\u0000", b"\xef\xbb\xbf", b"{", b"]", b'"', b"1e5", b"."))
        elif kind == 2:
            del data[at:at + rng.choice((1, 1, 2, 50))]
        elif kind == 3:
            del data[at:]
        else:
            data[at:at] = data[max(0, at - rng.randrange(1, 60)):at]
        if not data:
            break
    return bytes(data)


class Differential(Campaign):
    name = "differential"
    promises = "P10"
    about = ("the reference 0.9.5 and candle-graph accept and refuse the same generated traces, "
             "and `import` says the same about them")
    word = "traces"
    asked = 100000
    programs = {"dev": ("candle-graph",)}

    def reference(self, place):
        return os.environ.get("CG_REFERENCE") or place.at("build/interop/095/bin/candle-graph")

    def why_not(self, place):
        if place.fixtures() is None:
            return "no fixtures (set CG_FIXTURES)"
        if not os.access(self.reference(place), os.X_OK):
            return "no reference (tools/interop --install)"
        return None

    def units(self, place):
        return ["from %d" % (i * BLOCK) for i in range(self.asked // BLOCK)]

    def run(self, place, unit, before):
        sys.dont_write_bytecode = True
        spec = os.path.join(place.fixtures(), "spec", "execution")
        sys.path.insert(0, spec)
        generate = load(os.path.join(spec, "random_traces.py")).gen
        conform = load(os.path.join(place.fixtures(), "tools", "conform-execution"))
        interop = load(place.at("tools", "interop"))
        work = os.path.join(place.scratch, "work")
        os.mkdir(work)
        env = {"LC_ALL": "C.UTF-8", "TZ": "UTC", "HOME": place.scratch,
               "PATH": os.environ.get("PATH", "/usr/bin:/bin")}
        servers = []
        for number, program in enumerate((self.reference(place), place.cli())):
            folder = os.path.join(place.scratch, "server%d" % number)
            os.mkdir(folder)
            program = os.path.realpath(program)
            servers.append(kernel.Server(kernel.Kernel(folder, program), folder,
                                         ["candle-graph", "import", "t.jsonl"], program, work, env))
        record = {"count": 0, "accepted": 0, "refused": 0, "listed": 0, "wrong": []}
        first = int(unit.split()[1])
        try:
            for seed in range(first, first + place.some(BLOCK)):
                self.one(seed, generate, conform, interop, work, servers, record)
        finally:
            for server in servers:
                server.stop()
        return record

    def one(self, seed, generate, conform, interop, work, servers, record):
        events = generate(random.Random(seed))
        rng = random.Random("change %d" % seed)
        how = rng.random()
        if how < 0.15:
            events = change_record(events, rng)
        data = "".join(json.dumps(event) + "\n" for event in events).encode()
        if 0.15 <= how < 0.3:
            data = change_text(data, rng)
        with open(os.path.join(work, "t.jsonl"), "wb") as file:
            file.write(data)
        (their_status, theirs, their_error), (status, ours, error) = [s.run() for s in servers]
        record["count"] += 1
        trouble = []
        for who, code in (("theirs", their_status), ("ours", status)):
            if code is None or code < 0:
                trouble.append("%s ended with %s" % (who, code))
        if not trouble and (their_status == 0) != (status == 0):
            trouble = ["exit status: theirs %d, ours %d (%s)" % (
                their_status, status, " ".join((their_error or error)[:300].split()))]
        elif not trouble and status == 0:
            compare = conform.Compare(False, False, False)
            compare.walk("", json.loads(theirs), json.loads(ours))
            trouble = compare.found
            record["accepted"] += 1
        elif not trouble:
            record["refused"] += 1
        for text in trouble[:3]:
            if any("differential" in parts and re.fullmatch(pattern, "seed %d: %s" % (seed, text))
                   for _, parts, pattern in interop.LISTED):
                record["listed"] += 1
            else:
                record["wrong"].append("seed %d: %s" % (seed, text))

    def tell(self, units):
        return ("{:,} traces: {:,} accepted by both with equal output, {:,} refused by both, {:,} "
                "listed differences, {:,} others").format(
                    self.done(units), self.sum(units, "accepted"), self.sum(units, "refused"),
                    self.sum(units, "listed"), self.sum(units, "wrong_count"))
