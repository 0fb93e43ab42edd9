#!/usr/bin/env python3
"""tools/long: what it lists, keeps, takes up again, judges and leaves behind."""
# ctest: @CLI@
import collections
import errno
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import types
import unittest

SOURCE = os.environ.get("CG_SOURCE") or os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
CLI = os.path.abspath(sys.argv.pop(1))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SOURCE, "tests", "long"))
import calls
import kernel
import power

# A campaign of three units, the length and the findings of which are set by files.
CAMPAIGNS = '''
import os, time
from campaign import Campaign, Stopped
FOLDER = os.environ["LONG_TEST"]
class Trial(Campaign):
    name, promises, about, word, asked = "trial", "P1", "a trial", "things", 300
    def units(self, place):
        return ["a", "b", "c"]
    def run(self, place, unit, before):
        open(os.path.join(place.scratch, "large"), "w").close()
        with open(os.path.join(FOLDER, "ran"), "a") as file:
            file.write(unit)
        if os.path.exists(os.path.join(FOLDER, "wait")):
            time.sleep(100)
        if os.path.exists(os.path.join(FOLDER, "break")):
            raise ValueError("it rains")
        is_bad = os.path.exists(os.path.join(FOLDER, "bad-" + unit))
        return {"count": place.some(100), "wrong": ["it is wet"] if is_bad else []}
class Sum(Campaign):
    name, promises, about, word, asked, asked_of_unit = "sum", "P2", "a sum", "runs", 100, 50
    accumulates = True
    def units(self, place):
        return ["x", "y"]
    def run(self, place, unit, before):
        return {"count": (before or {"count": 0})["count"] + 20, "wrong": []}
ALL = [Trial(), Sum()]
NAMED = {campaign.name: campaign for campaign in ALL}
'''


class Long(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = self.temporary.name
        self.scratch = os.path.join(self.folder, "scratch")
        self.home = os.path.join(self.folder, "home")
        for name in ("scratch", "tools", "tests/long"):
            os.makedirs(os.path.join(self.folder, name))
        self.tool = os.path.join(self.folder, "tools", "long")
        shutil.copy(os.path.join(SOURCE, "tools", "long"), self.tool)
        shutil.copy(os.path.join(SOURCE, "tests", "long", "campaign.py"),
                    os.path.join(self.folder, "tests", "long"))
        self.put("tests/long/campaigns.py", CAMPAIGNS)
        self.environment = dict(os.environ, TMPDIR=self.scratch, LONG_TEST=self.folder,
                                CG_LONG_HOME=self.home)

    def put(self, name, text=""):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def get(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return file.read()

    def long(self, *words, tool=None):
        done = subprocess.run([sys.executable, tool or self.tool, *words], capture_output=True,
                              text=True, env=self.environment, stdin=subprocess.DEVNULL)
        self.assertEqual(os.listdir(self.scratch), [], "something was left behind")
        return done

    def test_every_campaign_says_what_it_shows(self):
        done = self.long("--list", tool=os.path.join(SOURCE, "tools", "long"))
        self.assertEqual(done.returncode, 0, done.stderr)
        for line in done.stdout.splitlines():
            self.assertRegex(line, r"^[a-z-]+ +P\d+( P\d+)* +[\d,]+ [a-z ]+: .+")

    def test_every_promise_of_the_document_has_a_campaign_or_a_reason(self):
        listed = self.long("--list", tool=os.path.join(SOURCE, "tools", "long")).stdout
        with open(os.path.join(SOURCE, "docs", "reliability.md"), encoding="utf-8") as file:
            text = file.read()
        for name in re.findall(r"^([a-z-]+) ", listed, re.M):
            self.assertIn("`%s`" % name, text)
        for number in range(1, 11):
            self.assertIn("| P%d |" % number, text)

    def test_a_run_keeps_what_each_unit_found(self):
        done = self.long("--only", "trial")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "", "no progress in a pipe")
        self.assertIn("300 things, 0 wrong", done.stdout)
        units = json.loads(self.get("home/trial.json"))["units"]
        self.assertEqual(sorted(units), ["a", "b", "c"])
        self.assertEqual({record["count"] for record in units.values()}, {100})
        self.assertTrue(all(record["commit"] for record in units.values()))

    def test_what_was_done_is_not_done_again_unless_asked(self):
        self.long("--only", "trial")
        self.long("--only", "trial")
        self.assertEqual(sorted(self.get("ran")), ["a", "b", "c"])
        self.long("--only", "trial", "--again")
        self.assertEqual(len(self.get("ran")), 6)

    def test_a_finding_fails_the_run_and_stays_known(self):
        self.put("bad-b")
        done = self.long("--only", "trial")
        self.assertEqual(done.returncode, 1)
        self.assertIn("trial b: it is wet", done.stdout)
        self.assertIn("1 found", self.long("--show").stdout)

    def test_a_unit_that_breaks_off_is_a_finding(self):
        self.put("break")
        done = self.long("--only", "trial")
        self.assertEqual(done.returncode, 1)
        self.assertIn("it rains", done.stdout)

    def test_counts_that_add_up_go_on_until_they_are_reached(self):
        done = self.long("--only", "sum")
        self.assertEqual(done.returncode, 0, done.stderr)
        units = json.loads(self.get("home/sum.json"))["units"]
        self.assertEqual([record["count"] for record in units.values()], [60, 60])

    def test_a_part_is_kept_apart(self):
        self.long("--only", "trial", "--part", "0.1")
        self.assertIn("not run yet", self.long("--show").stdout)
        self.assertTrue(os.path.exists(os.path.join(self.home, "trial-part.json")))

    def test_no_time_is_said(self):
        done = self.long("--only", "trial", "--minutes", "0")
        self.assertEqual(done.returncode, 0)
        self.assertIn("3 of 3 units still to do", done.stdout)

    def test_the_table_says_what_was_not_reached(self):
        self.put("page.md", "before\n<!-- table: tools/long --write -->\nstale\n"
                            "<!-- end of table -->\nbehind\n")
        self.long("--only", "trial")
        page = os.path.join(self.folder, "page.md")
        self.assertEqual(self.long("--write", page).returncode, 0)
        text = self.get("page.md")
        self.assertTrue(text.startswith("before\n") and text.endswith("behind\n"))
        self.assertNotIn("stale", text)
        self.assertRegex(text, r"\| `trial` \| P1 \| 300 things \| 300 \| nothing found \|")
        self.assertRegex(text, r"\| `sum` \| P2 \| 100 runs \| 0 \| not run yet \|")

    def test_counts_that_add_up_go_on_from_what_was_written(self):
        self.put("page.md", "<!-- table: tools/long --write -->\n<!-- end of table -->\n")
        self.long("--only", "sum")
        self.assertEqual(self.long("--write", os.path.join(self.folder, "page.md")).returncode, 0)
        shutil.rmtree(self.home)
        self.assertRegex(self.long("--show").stdout, r"sum .* 120 ")
        self.long("--only", "sum")
        units = json.loads(self.get("docs/reliability.json"))["sum"]
        self.assertEqual([record["count"] for record in units.values()], [60, 60])
        self.assertFalse(os.path.exists(os.path.join(self.home, "sum.json")), "nothing was left")

    def test_a_wrong_command_line(self):
        self.assertEqual(self.long("--only", "nothing").returncode, 2)
        self.assertEqual(self.long("--part", "2").returncode, 2)

    def test_a_run_that_is_stopped_leaves_nothing_and_can_go_on(self):
        self.put("wait")
        child = subprocess.Popen([sys.executable, self.tool, "--only", "trial"],
                                 env=self.environment, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        for _ in range(300):
            if os.path.exists(os.path.join(self.folder, "ran")):
                break
            time.sleep(0.1)
        child.send_signal(signal.SIGTERM)
        self.assertEqual(child.wait(60), 130)
        self.assertEqual(os.listdir(self.scratch), [])
        os.remove(os.path.join(self.folder, "wait"))
        self.assertIn("300 things", self.long("--only", "trial").stdout)


class Replay(unittest.TestCase):
    """The disk of tests/long/power.py, on which a program writes badly and well."""

    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.root = self.temporary.name
        with open(os.path.join(self.root, "out"), "w", encoding="utf-8") as file:
            file.write("old")
        self.folder = os.stat(self.root).st_ino
        self.new = b"n" * 2000

    def found(self, *ops):
        """All trees that the power may leave behind these operations."""
        disk = power.Disk(self.root)
        trees = []
        for op in ops:
            disk.do(op)
            for choices in disk.choices(200, random.Random(3)):
                trees.append(disk.state(choices, random.Random(len(trees))))
        return [tree.get("out") for tree in trees]

    def make(self):
        return power.Op("c", directory=self.folder, name="t", inode=1)

    def write(self):
        return power.Op("w", inode=1, offset=0, bytes=self.new)

    def rename(self):
        return power.Op("r", directory=self.folder, name="t", to_directory=self.folder,
                        to_name="out")

    def sync(self, inode):
        return power.Op("f", inode=inode)

    def test_a_file_that_is_synced_and_renamed_is_old_or_whole(self):
        found = self.found(self.make(), self.write(), self.sync(1), self.rename())
        self.assertEqual(set(found), {b"old", self.new})

    def test_without_a_sync_the_name_may_come_before_the_bytes(self):
        found = self.found(self.make(), self.write(), self.rename())
        self.assertIn(b"", found)
        self.assertTrue(any(0 < out.count(b"n") < 2000 for out in found), "never torn")

    def test_it_is_the_new_one_for_sure_when_the_folder_is_synced(self):
        ops = (self.make(), self.write(), self.sync(1), self.rename(), self.sync(self.folder))
        before = self.found(*ops[:4])
        self.assertEqual(set(self.found(*ops)[len(before):]), {self.new})

    def test_torn_bytes_are_torn_between_blocks(self):
        for out in self.found(self.make(), self.write(), self.rename()):
            for at in range(0, len(out), 512):
                self.assertIn(set(out[at:at + 512]), ({ord("n")}, {0}, set(b"old")))

    def test_a_removed_file_may_still_be_there(self):
        found = self.found(power.Op("u", directory=self.folder, name="out"))
        self.assertEqual(set(found), {b"old", None})

    def test_what_happens_elsewhere_is_not_looked_at(self):
        found = self.found(power.Op("c", directory=7, name="t", inode=8),
                           power.Op("w", inode=8, offset=0, bytes=b"x"), self.sync(8))
        self.assertEqual(set(found), {b"old"})


class Watched(unittest.TestCase):
    """A program whose calls fail on request: candle-graph itself, in front of the kernel."""

    def setUp(self):
        if not shutil.which(os.environ.get("CC") or "cc"):
            self.skipTest("no C compiler")
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = self.temporary.name
        self.kernel = kernel.Kernel(self.folder, CLI)
        self.trace = os.path.join(SOURCE, "tests", "data", "traces", "minimal.jsonl")
        with open(CLI, "rb") as file:
            if b"__asan_init" in file.read() or b"__tsan_init" in file.read():
                self.skipTest("sanitizers have an allocator of their own")
        self.server = kernel.Server(
            self.kernel, self.folder, ["candle-graph", "overview", self.trace, "-o", "out.json"],
            CLI, self.folder, {"LC_ALL": "C.UTF-8"})
        self.addCleanup(self.server.stop)

    def run_once(self, mode, at=0, error=0):
        out = os.path.join(self.folder, "out.json")
        if os.path.exists(out):
            os.remove(out)
        self.kernel.order(mode, at, error)
        status, _, said = self.server.run()
        self.kernel.state()
        return status, said, os.path.exists(out)

    def test_undisturbed_it_works_and_gives_its_memory_back(self):
        self.assertEqual(self.run_once(kernel.NOTHING), (0, "", True))
        self.assertGreater(self.kernel.calls, 10)
        self.assertGreater(self.kernel.requests, 10)
        self.assertEqual(self.kernel.live, 0)

    def test_a_call_that_fails_is_told(self):
        self.run_once(kernel.NOTHING)
        status, said, is_there = self.run_once(kernel.ERROR_ALWAYS, 1, errno.EIO)
        self.assertEqual((status, is_there), (1, False))
        self.assertIn("error[input-unreadable]", said)
        self.assertGreater(self.kernel.failures, 0)

    def test_memory_that_lacks_is_told(self):
        status, said, is_there = self.run_once(kernel.MEMORY_ONCE, 5)
        self.assertEqual((status, is_there, self.kernel.failures), (3, False, 1))
        self.assertIn("error[", said)

    def test_memory_that_lacks_while_source_is_parsed_is_told(self):
        """tree-sitter does not look at what it is given."""
        crate = os.path.join(SOURCE, "tests", "data", "crates", "mlp")
        server = kernel.Server(self.kernel, self.folder, ["candle-graph", "check", crate], CLI,
                               self.folder, {"LC_ALL": "C.UTF-8"})
        self.addCleanup(server.stop)
        self.kernel.order(kernel.NOTHING)
        self.assertEqual(server.run()[0], 0)
        requests = self.kernel.state().requests
        self.assertGreater(requests, 300)
        for mode in (kernel.MEMORY_ONCE, kernel.MEMORY_ALWAYS):
            for at in range(1, requests, 7):
                self.kernel.order(mode, at)
                status, _, said = server.run()
                self.assertIn(status, (0, 3), "request %d: %s" % (at, said))
                self.assertEqual(self.kernel.state().live, 0, at)

    def test_a_receipt_for_people_is_whole_or_refused(self):
        bundle = os.path.join(self.folder, "b")
        subprocess.run([CLI, "report", self.trace, "--bundle", bundle], check=True,
                       stdout=subprocess.DEVNULL)
        server = kernel.Server(self.kernel, self.folder,
                               ["candle-graph", "verify", bundle, "--format", "text"], CLI,
                               self.folder, {"LC_ALL": "C.UTF-8"})
        self.addCleanup(server.stop)
        self.kernel.order(kernel.NOTHING)
        wanted = server.run()[1]
        requests = self.kernel.state().requests
        self.assertGreater(requests, 5)
        for at in range(1, requests + 1):
            self.kernel.order(kernel.MEMORY_ONCE, at)
            status, out, _ = server.run()
            self.assertIn((status, out), ((0, wanted), (3, b"")), at)

    def test_every_call_and_request_has_a_place(self):
        self.run_once(kernel.NOTHING)
        counts = (self.kernel.calls, self.kernel.requests)
        self.run_once(kernel.PLACES)
        calls = self.kernel.places(kernel.CALL)
        self.assertEqual(sorted(calls), list(range(1, counts[0] + 1)))
        self.run_once(kernel.PLACES)
        requests = self.kernel.places(kernel.REQUEST)
        self.assertEqual(sorted(requests), list(range(1, counts[1] + 1)))
        self.run_once(kernel.PLACES)
        self.assertEqual(self.kernel.places(kernel.CALL), calls)
        self.assertTrue(1 < len(set(calls.values())) < len(calls))

    def test_a_place_is_tried_the_first_and_the_last_time(self):
        place, sweep = types.SimpleNamespace(part=1), calls.Calls()
        sweep.tried = collections.Counter({"often": calls.MOST, "once": calls.MOST - 1})
        places = dict(enumerate(["often", "new", "once", "new", "once", "new", "other"], 1))
        self.assertEqual(sweep.chosen(place, places), [2, 3, 6, 7])

    def test_it_is_killed_before_a_call(self):
        self.assertEqual(self.run_once(kernel.KILL, 10)[::2], (-signal.SIGKILL, False))


if __name__ == "__main__":
    unittest.main()
