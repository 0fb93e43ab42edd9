"""fuzzing - every target of fuzz/ with libFuzzer, until each has had its number of runs."""
import glob
import os
import re
import signal
import subprocess
import time

from campaign import Campaign, Stopped

ASKED = 2_000_000
SLICE = 600  # seconds of a fuzzer's life; every life begins with a run of the whole corpus
TURN = 600  # seconds after which other targets have their turn
INTERRUPTED = 72  # libFuzzer's exit status when it was asked to stop
# What the sanitizers keep of memory that was given back, and how much of the callers.
OPTIONS = "malloc_context_size=4:quarantine_size_mb=16"


class Fuzz(Campaign):
    name = "fuzz"
    promises = "P1"
    about = "every fuzz target under AddressSanitizer and UBSan, with dictionaries and corpora"
    word = "runs of each target"
    asked = asked_of_unit = ASKED
    accumulates = True
    programs = {"fuzz": tuple(sorted(
        "fuzz_" + os.path.splitext(os.path.basename(path))[0]
        for path in glob.glob(os.path.join(os.path.dirname(__file__), "../../fuzz/*.c"))
        if not path.endswith("replay.c")))}

    def units(self, place):
        return [target[len("fuzz_"):] for target in self.programs["fuzz"]]

    def done(self, units):
        """The target that had the fewest runs counts."""
        return min((record["count"] for record in units.values()), default=0) \
            if len(units) == len(self.programs["fuzz"]) else 0

    def run(self, place, unit, before):
        """Until the count is reached or the turn is over."""
        record = {"count": 0, "seconds": 0, "wrong": []}
        record.update(before or {})
        record["wrong"] = []
        grown = os.path.join(place.home, "corpus", unit)
        os.makedirs(grown, exist_ok=True)
        wanted = place.some(ASKED)
        until = min(place.until, time.time() + TURN)
        record.pop("stopped", None)
        while record["count"] < wanted and not record["wrong"] and time.time() < until and \
                "stopped" not in record:
            seconds = max(1, min(SLICE, int(until - time.time())))
            self.slice(place, unit, grown, wanted - record["count"], seconds, record)
        return record

    def slice(self, place, unit, grown, runs, seconds, record):
        """One life of a fuzzer; what it has done when it is stopped counts."""
        found = os.path.join(place.home, "found-" + unit)
        argv = [place.build("fuzz", "fuzz", "fuzz_" + unit), "-runs=%d" % runs,
                "-max_total_time=%d" % seconds, "-timeout=10", "-rss_limit_mb=2048",
                # The entropic schedule took half of the time where an input has many features.
                "-entropic=0", "-print_final_stats=1", "-reload=0", "-artifact_prefix=%s-" % found,
                grown]
        # The corpus of the repository is read and never written: the first folder is what grows.
        for path, option in ((place.at("fuzz/corpus", unit), "%s"),
                             (place.at("fuzz/dict", unit + ".dict"), "-dict=%s")):
            if os.path.exists(path):
                argv.append(option % path)
        child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, cwd=place.scratch,
                                 env=dict(os.environ, ASAN_OPTIONS=OPTIONS))
        try:
            said = child.communicate()[1]
        except Stopped:
            record["stopped"] = True
            child.send_signal(signal.SIGINT)
            try:
                said = child.communicate(timeout=20)[1]
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
                return
        said = said.decode("utf-8", "replace")
        told = re.search(r"number_of_executed_units:\s*(\d+)", said)
        if told and child.returncode in (0, INTERRUPTED):
            record["count"] += int(told.group(1))
            return
        if "stopped" in record and "Test unit written" not in said:
            return
        artifact = re.search(r"Test unit written to (\S+)", said)
        cause = re.search(r"(SUMMARY:.*|ERROR: libFuzzer:.*)", said)
        record["wrong"].append("%s, %s" % (
            cause.group(1) if cause else said[-300:],
            os.path.basename(artifact.group(1)) if artifact else "no input"))

    def tell(self, units):
        counts = [record["count"] for record in units.values()]
        return "{} targets, {:,} runs together, {:,} to {:,} of each; {:,} found".format(
            len(units), sum(counts), min(counts), max(counts), self.sum(units, "wrong_count"))
