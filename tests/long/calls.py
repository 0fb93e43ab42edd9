"""calls - every command line of tests/cli, with its calls to the kernel and its requests for memory
failing in turn, and killed before its calls.

The command lines make millions of calls, and most of them are the same call made once more: what is
tried is each place, a stack of functions that ends in a call, as often as MOST says: the first and
the last time that a command line comes there, or two command lines.
"""
import collections
import errno
import itertools
import json
import os
import re
import tempfile

import kernel
import scenarios
from campaign import Campaign

ERRORS = ("EIO", "ENOSPC", "EDQUOT", "EINTR", "EMFILE", "EACCES", "EROFS")
# What is done to a call, and whether it goes on. EINTR for ever is no kernel's answer.
CALL_FAULTS = ([(kernel.ERROR_ONCE, name) for name in ERRORS] + [(kernel.HALF, "half")]
               + [(kernel.ERROR_ALWAYS, name) for name in ERRORS if name != "EINTR"])
# A command line that fails for one of these reasons says so in this status.
REFUSED = (1, 3, 4)
MOST = 2  # times that a place is tried
IN_FOREIGN = 24  # requests of other libraries that fail in each scenario


def signature(scenario):
    """Equal for starts of one case that differ in the names of files only."""
    return tuple(word if word.startswith("-") or "/" not in word and "." not in word and
                 not re.search(r"\d", word) else "" for word in scenario.argv)


class Sweep(Campaign):
    """A unit is a case; what it runs are its starts of the program, those alike once."""
    programs = {"dev": ("candle-graph", "cargo-candle-graph")}
    word = "cases"
    asked = sum(1 for _ in scenarios.cases(os.path.join(os.path.dirname(__file__), "..", "..")))
    kind = kernel.CALL  # what the places are of
    points = "calls"
    fault = "failures"

    def done(self, units):
        return len(units)

    def units(self, place):
        """Every room has its turn, and first those that show another command, format or kind of
        question: a run that is stopped has seen something of everything."""
        rooms = {}
        for case in scenarios.cases(place.repo):
            rooms.setdefault(case.split("/")[0], []).append(case)
        turns = itertools.zip_longest(*rooms.values())
        first, rest, seen = [], [], set()
        for case in (case for turn in turns for case in turn if case):
            asked = scenarios.asked(place.repo, case)
            (rest if asked <= seen else first).append(case)
            seen |= asked
        return first + rest

    def run(self, place, unit, before):
        record = {"count": 0, "scenarios": 0, "points": 0, "places": [], "wrong": []}
        self.tried = self.tried_by_others(place, unit)
        bindir = place.build("dev", "bin")
        self.library = kernel.build(place.scratch)
        seen = set()
        for number, kept in enumerate(scenarios.starts(place.repo, bindir, unit, place.scratch)):
            folder = tempfile.mkdtemp(dir=place.scratch)
            scenario = scenarios.Scenario(kept, bindir, folder)
            # Groups of runs are published by many cases.
            is_setting = unit.split("/")[0] in ("compare", "series") and \
                scenario.argv[1:2] == ["report"]
            if signature(scenario) in seen or is_setting:
                continue
            seen.add(signature(scenario))
            self.disturb(place, scenario, folder, record, "%d" % number)
        return record

    def disturb(self, place, scenario, folder, record, name):
        program = kernel.Kernel(folder, scenario.program, self.library)
        server = kernel.Server(program, folder, scenario.argv, scenario.program, scenario.cwd,
                               scenario.env)
        try:
            program.order(kernel.NOTHING)
            wanted = scenario.start(server)
            wanted.live = program.state().live
            if wanted.status is None or wanted.status < 0:
                # It is stopped by a signal, or waits for one: nothing to compare with.
                return
            if not self.is_meant(wanted):
                return
            program.order(kernel.PLACES)
            scenario.start(server)
            places = program.places(self.kind)
            at = self.chosen(place, places)
            record["scenarios"] += 1
            record["points"] += len(places)
            record["places"] += [places[number] for number in at]
            self.tried.update(places[number] for number in at)
            self.sweep(place, scenario, program, server, wanted, record, name, at)
        finally:
            server.stop()

    def is_meant(self, wanted):
        """Is a command line that ends so one of those to be disturbed?"""
        return True

    def tried_by_others(self, place, unit):
        """How often each place was tried. A place of other programs has another name."""
        path = os.path.join(place.home, self.name + ("" if place.part == 1 else "-part") + ".json")
        if not os.path.exists(path):
            return collections.Counter()
        with open(path, encoding="utf-8") as file:
            units = json.load(file)["units"]
        return collections.Counter(name for other, record in units.items() if other != unit
                                   for name in record.get("places", ()))

    def chosen(self, place, places):
        """Numbers of the calls or requests that are tried, of those that come from `places`."""
        met = {}
        for number in sorted(places):
            met.setdefault(places[number], []).append(number)
        numbers = []
        for name, of_place in met.items():
            left = MOST - self.tried[name]
            numbers += of_place[:1] if left == 1 else sorted({of_place[0], of_place[-1]}) \
                if left > 1 else []
        numbers.sort()
        return numbers[::max(1, round(1 / place.part))]

    def say(self, record, text):
        if len(record["wrong"]) < 200:
            record["wrong"].append(text)

    def tell(self, units):
        places = len({name for record in units.values() for name in record.get("places", ())})
        return "{:,} command lines, {:,} {} at {:,} places, {:,} {}: {:,} wrong".format(
            self.sum(units, "scenarios"), self.sum(units, "points"), self.points, places,
            self.sum(units, "count"), self.fault, self.sum(units, "wrong_count"))


def is_whole(scenario, wanted, got):
    """Changes that an undisturbed run makes too, or none; returns what else there is."""
    other = []
    for path, content in got.changes.items():
        if wanted.changes.get(path, "") != content:
            other.append(path)
    return other


def judge(scenario, wanted, got, program, is_for_ever, reason=None):
    """What is wrong about a start that met a failure; None."""
    if got.status is None:
        return "does not end"
    if got.status < 0:
        return "ended by signal %d" % -got.status
    if program.live > wanted.live:
        return "%d blocks of memory are not given back" % (program.live - wanted.live)
    other = is_whole(scenario, wanted, got)
    hidden = [path for path in other if os.path.basename(path).startswith(".")]
    # Who cannot remove a file leaves it.
    if is_for_ever or program.failed == "unlink":
        other = [path for path in other if not any(
            path == name or path.startswith(name + "/") for name in hidden)]
    folders = [path for path in other if got.changes[path] == "folder"]
    if is_for_ever or program.failed in ("unlink", "close", "fsync"):
        other = [path for path in other if path not in folders]
    # What was found out without something says so, wherever it is kept.
    if got.status == wanted.status and is_told(got, reason):
        other = [path for path in other if path not in wanted.changes]
    if other:
        return "left behind: %s (status %d)" % (", ".join(sorted(other)[:4]), got.status)
    if got.status == wanted.status and got.out == wanted.out:
        missing = [path for path in wanted.changes if path not in got.changes]
        if wanted.status == 0 and [path for path in missing if not is_cache(path)]:
            return "status 0 without %s" % ", ".join(missing[:4])
        return None
    if got.status == wanted.status and wanted.status == 0 and not is_told(got, reason):
        return "status 0, and another output"
    if got.status in (0, wanted.status) and is_told(got, reason):
        return None
    if got.status not in REFUSED:
        return "status %d" % got.status
    if not re.search(r"(error|warning)\[[a-z0-9-]+\]", got.err) and program.failed != "write" and \
            not is_for_ever:
        return "status %d and nothing said: %r" % (got.status, got.err[:100])
    # What fails from then on tells of its failures first, and cannot be printed to its end.
    if got.out and got.out != wanted.out and program.failed != "write" and not is_for_ever and \
            not wanted.out.startswith(got.out) and not is_told(got, reason):
        return "half an output (status %d)" % got.status
    return None


def is_told(got, reason):
    """A diagnostic of the output, or a warning, that names what the kernel said."""
    return reason is not None and (reason.encode() in got.out or reason in got.err)


def is_cache(path):
    """What is written for the next run only may be missing."""
    return path.startswith("home/")


class Calls(Sweep):
    name = "calls"
    promises = "P3 P4"
    about = ("each place of a call to the kernel of every command fails: EIO, ENOSPC, EDQUOT, "
             "EINTR, EMFILE, EACCES, EROFS, half of what was to be moved; once and from then on")

    def sweep(self, place, scenario, program, server, wanted, record, name, numbers):
        calls = program.state().calls
        for at in numbers:
            for mode, word in CALL_FAULTS:
                program.order(mode, at, getattr(errno, word, 0))
                got = scenario.start(server)
                program.state()
                if program.failures == 0:
                    continue
                record["count"] += 1
                number = getattr(errno, word, 0)
                fault = judge(scenario, wanted, got, program, mode == kernel.ERROR_ALWAYS,
                              os.strerror(number) if number else None)
                if fault:
                    self.say(record, "%s %s, call %d of %d (%s, %s%s): %s" % (
                        name, " ".join(scenario.argv)[-150:], at, calls, program.failed, word,
                        ", for ever" if mode == kernel.ERROR_ALWAYS else "", fault))


class Memory(Sweep):
    name = "memory"
    promises = "P2"
    about = ("each place of a request for memory of every command fails, once and from then on, "
             "and some of the libraries it uses")
    kind = kernel.REQUEST
    points = "requests"

    def sweep(self, place, scenario, program, server, wanted, record, name, numbers):
        own, foreign = program.state().requests, program.foreign_requests
        plan = [(mode, at) for at in numbers
                for mode in (kernel.MEMORY_ONCE, kernel.MEMORY_ALWAYS)]
        skipped = max(1, foreign // IN_FOREIGN, round(1 / place.part))
        plan += [(mode, at) for at in range(1, foreign + 1, skipped)
                 for mode in (kernel.FOREIGN_ONCE, kernel.FOREIGN_ALWAYS)]
        for mode, at in plan:
            program.order(mode, at)
            got = scenario.start(server)
            program.state()
            if program.failures == 0:
                continue
            record["count"] += 1
            is_own = mode in (kernel.MEMORY_ONCE, kernel.MEMORY_ALWAYS)
            # Removing a staging directory takes memory; the next publication removes it.
            fault = judge(scenario, wanted, got, program, mode in (kernel.MEMORY_ALWAYS,
                                                                   kernel.FOREIGN_ALWAYS))
            if fault:
                self.say(record, "%s %s, %s %d of %d (%s): %s" % (
                    name, " ".join(scenario.argv)[-150:],
                    "request" if is_own else "request of a library", at, own if is_own else foreign,
                    "once" if mode in (kernel.MEMORY_ONCE, kernel.FOREIGN_ONCE) else "for ever",
                    fault))


class Stops(Sweep):
    name = "stops"
    promises = "P3"
    about = ("every command that writes is killed at each place of a call: outputs are as before "
             "or complete, and the same command again does the rest")
    fault = "kills"

    def is_meant(self, wanted):
        return wanted.changes and wanted.status == 0

    def sweep(self, place, scenario, program, server, wanted, record, name, numbers):
        calls = program.state().calls
        for at in numbers:
            program.order(kernel.KILL, at)
            got = scenario.start(server)
            if got.status != -9:
                continue
            record["count"] += 1
            program.state()
            where = "%s %s, call %d of %d (%s)" % (name, " ".join(scenario.argv)[-150:], at, calls,
                                                   program.failed)
            hidden = {path for path in got.changes if any(
                part.startswith(".") for part in path.split("/"))}
            other = [path for path in is_whole(scenario, wanted, got) if path not in hidden
                     and got.changes[path] != "folder"]
            if other:
                self.say(record, "%s: damaged: %s" % (where, ", ".join(other[:4])))
            program.order(kernel.NOTHING)
            again = scenario.start(server, again=True)
            if again.status != 0:
                self.say(record, "%s: again: status %s, %s" % (where, again.status,
                                                               again.err[:200]))
                continue
            # A receipt says that it was published before.
            left = [path for path in is_whole(scenario, wanted, again)
                    if path not in wanted.changes]
            missing = [path for path in wanted.changes if path not in again.changes]
            if left or missing:
                self.say(record, "%s: again: left behind %s, missing %s" % (
                    where, ", ".join(left[:4]), ", ".join(missing[:4])))
