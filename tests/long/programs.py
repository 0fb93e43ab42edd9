"""programs - campaigns that are tests of every change, on more than every change can wait for."""
import os
import re
import sys

from campaign import Campaign


def numbers(text, pattern):
    """The groups of the last place that fits, as numbers; None without one."""
    found = re.findall(pattern, text)
    if not found:
        return None
    last = found[-1]
    return [int(group) for group in (last if isinstance(last, tuple) else (last,))]


class Faults(Campaign):
    name = "library"
    promises = "P2 P3 P4"
    about = ("every request for memory and every call to the kernel fails, once and for good, in "
             "every function of the library; a publication is killed before every call")
    word = "programs of tests"
    NAMES = ("allocation", "publication", "recover", "runtime", "scan", "syscalls")
    RECORD = "unit-record-faults"
    asked = 2 * (len(NAMES) + 1)
    TARGETS = tuple("t-fault-" + name for name in NAMES) + ("t-" + RECORD,)
    programs = {"dev": TARGETS, "asan": TARGETS}

    def units(self, place):
        return ["%s/%s" % (preset, target) for preset in self.programs for target in self.TARGETS]

    def run(self, place, unit, before):
        preset, target = unit.split("/")
        env = dict(os.environ, CG_SOURCE=place.repo, CG_CLI=place.cli(preset),
                   CG_FIXTURES=place.fixtures() or "")
        status, said = place.run(place.build(preset, "tests", target), env=env, timeout=7200)
        tests = numbers(said, r"PASSED  \] (\d+) test") or [0]
        wrong = [] if status == 0 else ["exit status %d: %s" % (status, said[-500:])]
        return {"count": 1, "wrong": wrong, "tests": tests[0]}

    def tell(self, units):
        return "%d programs with and without AddressSanitizer, %d tests, %d wrong" % (
            len(units), self.sum(units, "tests"), self.sum(units, "wrong_count"))


class Mutants(Campaign):
    name = "mutants"
    promises = "P5 P6"
    about = "bundles are changed at random, and hashed again: only what is neutral is accepted"
    word = "bundles"
    asked = 10000
    programs = {"dev": ("candle-graph",)}

    def units(self, place):
        return ["seed %d" % seed for seed in range(1, 21)]

    def run(self, place, unit, before):
        count = place.some(self.asked // 20)
        status, said = place.run(sys.executable, place.at("tests/property/mutated_bundles.py"),
                                 place.cli(), "--count", str(count), "--seed", unit.split()[1],
                                 env=dict(os.environ, CG_FIXTURES=place.fixtures() or ""))
        figures = numbers(said, r"(\d+) mutations of (\d+) bundles: (\d+) accepted by verify, "
                                r"(\d+) by verify --semantic, (\d+) against the rules")
        if figures is None:
            return {"count": 0, "wrong": ["exit status %d: %s" % (status, said[-500:])]}
        wrong = said.splitlines()[:-1] if figures[4] or status else []
        return {"count": figures[0], "wrong": wrong, "accepted": figures[2],
                "accepted_semantic": figures[3], "bases": figures[1]}

    def tell(self, units):
        return ("{:,} changed bundles of {} kinds: {:,} neutral ones accepted by `verify`, {:,} by "
                "`verify --semantic`, {:,} against the rules").format(
                    self.done(units), max(r.get("bases", 0) for r in units.values()),
                    self.sum(units, "accepted"), self.sum(units, "accepted_semantic"),
                    self.sum(units, "wrong_count"))


class Races(Campaign):
    name = "races"
    promises = "P3 P6"
    about = ("files, links and the root of a bundle are exchanged while it is read; eight "
             "publishers race for one destination, some are killed")
    word = "rounds"
    asked = 13000
    programs = {"dev": ("candle-graph",)}

    def units(self, place):
        return ["bundle %d" % i for i in range(1, 11)] + ["publication %d" % i
                                                          for i in range(1, 11)]

    def run(self, place, unit, before):
        kind = unit.split()[0]
        rounds = place.some(1000 if kind == "bundle" else 100)
        status, said = place.run(sys.executable, place.at("tests/fault", kind + "_race.py"),
                                 place.cli(), "--rounds", str(rounds))
        figures = numbers(said, r"(\d+) rounds")
        if figures is None:
            return {"count": 0, "wrong": ["exit status %d: %s" % (status, said[-500:])]}
        return {"count": figures[0], "wrong": said.splitlines() if status else [],
                kind: figures[0]}

    def tell(self, units):
        return ("{:,} commands on bundles that were being exchanged, {:,} rounds of eight "
                "publishers: {:,} wrong").format(self.sum(units, "bundle"),
                                                 self.sum(units, "publication"),
                                                 self.sum(units, "wrong_count"))


class Kills(Campaign):
    name = "kills"
    promises = "P9"
    about = ("recording programs are ended at random moments, by signals, exits and a full disk; "
             "every finished record is recovered")
    word = "kills"
    asked = 1000
    programs = {"dev": ("candle-graph", "record-victim", "train")}

    def units(self, place):
        return ["seed %d" % seed for seed in range(1, place.some(12) + 1)]

    def run(self, place, unit, before):
        status, said = place.run(
            sys.executable, place.at("tests/record/kill.py"),
            place.build("dev", "tests", "record-victim"), "--seed", unit.split()[1],
            "--cli", place.cli(), "--example", place.build("dev", "examples", "train"))
        words = {word: sum(map(int, re.findall(r"'%s': (\d+)" % word, said)))
                 for word in ("recovered", "early", "finished", "FAILED")}
        record = {"count": sum(words.values()), "wrong": said.splitlines() if status else []}
        record.update(words)
        return record

    def tell(self, units):
        return ("{:,} kills: {:,} recovered whole, {:,} before there was anything, {:,} after the "
                "end, {:,} wrong").format(self.done(units), self.sum(units, "recovered"),
                                          self.sum(units, "early"), self.sum(units, "finished"),
                                          self.sum(units, "wrong_count"))
