"""measure - what the benches written in Python share: costs of a child, middles, the line of a row.

A row is `name value unit budget verdict`, five words apart by blanks: the budget `<=N`, `>=N` or
`-`, the verdict `ok`, `BROKEN` or `stated`. bench/row.h prints the same from C; bench/table reads
it. Lines that start with `#` are remarks.
"""
import collections
import math
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
RELEASE = os.path.join(ROOT, "build", "release")

Cost = collections.namedtuple("Cost", "cpu wall peak")  # seconds, seconds, bytes


def middle(values):
    values = sorted(values)
    return values[len(values) // 2]


def ratio(ours, others):
    """The median of the ratios of pairs that were measured one after the other."""
    return middle(a / b for a, b in zip(ours, others))


def slope(points, floor):
    """Of log(cost) over log(size), least squares; costs below `floor` are start-up."""
    points = [(math.log(x), math.log(y)) for x, y in points if y >= floor]
    if len(points) < 2:
        sys.exit("bench: too few sizes cost enough to tell how the cost grows")
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / spread


def make_trace_tool():
    """make-trace of the fixtures."""
    fixtures = os.environ.get("CG_FIXTURES") or os.path.join(os.path.dirname(ROOT), "shared")
    tool = os.path.join(fixtures, "tools", "make-trace")
    if not os.path.exists(tool):
        sys.exit("bench: needs make-trace of the fixtures; set CG_FIXTURES")
    return tool


class Bench:
    """The programs of one build, their costs, and the rows that come of them."""

    def __init__(self, build):
        self.cli = os.path.join(build, "bin", "candle-graph")
        self.launcher = os.path.join(build, "bench", "bench_launch")
        self.broken = 0

    def run(self, argv, allowed=(0,)):
        """What one child costs; what it prints is thrown away."""
        done = subprocess.run([self.launcher] + argv, stdin=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True)
        if done.returncode not in allowed:
            sys.exit("bench: %s: exit %d" % (" ".join(argv[:3]), done.returncode))
        cpu, wall, peak = done.stderr.split()
        return Cost(float(cpu), float(wall), int(peak))

    def _line(self, name, value, unit, budget, verdict):
        print("%-44s %10.3f %-8s %s %s" % (name, value, unit, budget, verdict), flush=True)

    def most(self, name, value, unit, budget):
        self.broken += value > budget
        self._line(name, value, unit, "<=%g" % budget, "BROKEN" if value > budget else "ok")

    def stated(self, name, value, unit):
        self._line(name, value, unit, "-", "stated")

    def status(self):
        return 1 if self.broken else 0
