"""campaign - what the campaigns of tools/long share.

A campaign is cut into units that know nothing of each other. A unit gives a record: `count` (how
many of what the campaign counts), `wrong` (a line for everything that was found), and figures of
its own, which `tell` adds up over the units.
"""
import os
import subprocess


class Stopped(BaseException):
    """The run is being stopped: children are ended, and what counts so far is given back."""


class Place:
    """Where a unit works, on how much, until when."""

    def __init__(self, repo, scratch, part):
        self.repo, self.scratch, self.part = repo, scratch, part
        self.until = float("inf")
        self.home = os.environ.get("CG_LONG_HOME") or self.at("build/long")

    def at(self, *names):
        return os.path.join(self.repo, *names)

    def build(self, preset, *names):
        return self.at("build", preset, *names)

    def cli(self, preset="dev"):
        return self.build(preset, "bin", "candle-graph")

    def some(self, count):
        """This part of a count, at least one."""
        return max(1, round(count * self.part))

    def fixtures(self):
        path = os.environ.get("CG_FIXTURES") or self.at("..", "shared")
        return os.path.abspath(path) if os.path.isdir(path) else None

    def run(self, *argv, timeout=3600, **more):
        """(status, output and errors as text); -1 when it does not end."""
        try:
            done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=timeout, cwd=self.repo, **more)
        except subprocess.TimeoutExpired:
            return -1, "no end within %d s" % timeout
        return done.returncode, done.stdout.decode("utf-8", "replace")


class Campaign:
    name = None
    promises = ""
    about = ""
    word = ""            # what is counted
    asked = 0            # how many of it
    programs = {}        # preset -> targets that are run
    alone = False        # one unit at a time: something is measured
    accumulates = False  # counts of a unit add up over runs and commits
    asked_of_unit = 0    # then: how many of each unit

    def why_not(self, place):
        """A reason to skip all of it, or None."""
        return None

    def units(self, place):
        raise NotImplementedError

    def run(self, place, unit, before):
        raise NotImplementedError

    def done(self, units):
        return sum(record["count"] for record in units.values())

    def sum(self, units, key):
        return sum(record.get(key, 0) for record in units.values())

    def tell(self, units):
        wrong = self.sum(units, "wrong_count")
        return "{:,} {}, {:,} wrong".format(self.done(units), self.word, wrong)
