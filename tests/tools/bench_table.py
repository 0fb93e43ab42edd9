#!/usr/bin/env python3
"""bench/table: what it lists, skips, judges and leaves behind. No figure is judged here."""
# ctest: @CLI@
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = os.environ.get("CG_SOURCE") or os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
TABLE = os.path.join(SOURCE, "bench", "table")
BUILD = os.path.dirname(os.path.dirname(os.path.abspath(sys.argv.pop(1))))


class BenchTable(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.scratch = os.path.join(self.temporary.name, "scratch")
        self.build = os.path.join(self.temporary.name, "build")
        os.makedirs(self.scratch)
        os.makedirs(os.path.join(self.build, "bench"))
        self.environment = dict(os.environ, TMPDIR=self.scratch)

    def bench(self, name, script):
        path = os.path.join(self.build, "bench", "bench_" + name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + script)
        os.chmod(path, 0o755)

    def table(self, *words):
        done = subprocess.run([sys.executable, TABLE, "--build", self.build, *words],
                              capture_output=True, text=True, env=self.environment)
        self.assertEqual(os.listdir(self.scratch), [], "something was left behind")
        return done

    def test_the_list_names_every_bench(self):
        done = self.table("--list")
        self.assertEqual(done.returncode, 0)
        names = {line.split()[0] for line in done.stdout.splitlines()}
        files = {os.path.splitext(name)[0] for name in os.listdir(os.path.join(SOURCE, "bench"))}
        helpers = {"table", "measure", "row", "launch", "yyjson_floor", "README", "__pycache__"}
        self.assertEqual(files - helpers - names, set())

    def test_a_name_that_is_none_is_a_wrong_command_line(self):
        self.assertEqual(self.table("--only", "nothing").returncode, 2)

    def test_one_cheap_bench_of_this_build_gives_its_rows(self):
        if not os.path.exists(os.path.join(BUILD, "bench", "bench_launch")):
            self.skipTest("the benches are not built")
        self.build = BUILD
        done = self.table("--only", "program")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"size of the program +[\d.]+ MB .* stated\n")

    def test_what_is_not_there_is_skipped_and_not_kept(self):
        done = self.table("--only", "recover")
        self.assertEqual(done.returncode, 0)
        self.assertIn("skipped: no bench_recover", done.stdout)
        self.assertIn("0 kept, 0 broken", done.stderr)

    def test_a_budget_that_is_broken_fails_the_run(self):
        self.bench("runtime", "echo 'runtime.read 9 ms - stated'\n"
                              "echo 'runtime.yyjson 3 ms - stated'\n"
                              "echo 'runtime.judge 1 ms - stated'\n"
                              "echo 'runtime.read_ratio 3 x <=2 BROKEN'\n"
                              "echo 'runtime.judge_ratio 0.33 x <=0.5 ok'\n"
                              "echo 'runtime.linear 1 x <=1.3 ok'\nexit 1\n")
        done = self.table("--only", "runtime", "--markdown")
        self.assertEqual(done.returncode, 1)
        self.assertIn("| 9.00 ms | 3.00 ms | - | 3.00 | ≤ 2 | - | BROKEN |", done.stdout)
        self.assertIn("2 kept, 1 broken", done.stderr)

    def test_a_budget_that_the_table_does_not_know_has_a_row(self):
        self.bench("recover", "echo 'recover.spool 9 Mrecords/s - stated'\n"
                              "echo 'recover.cut_trace 9 Mrecords/s - stated'\n"
                              "echo 'recover.new 3 s <=2 BROKEN'\nexit 1\n")
        done = self.table("--only", "recover")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"recover\.new .*≤ 2 .*BROKEN")

    def test_a_bench_that_fails_fails_the_run_and_says_why(self):
        self.bench("recover", "echo 'it is raining' >&2\nexit 1\n")
        done = self.table("--only", "recover")
        self.assertEqual(done.returncode, 1)
        self.assertIn("the bench failed, exit 1: it is raining", done.stdout)

    def test_a_figure_that_does_not_come_fails_the_run(self):
        self.bench("recover", "echo 'recover.spool 9 Mrecords/s - stated'\n")
        done = self.table("--only", "recover")
        self.assertEqual(done.returncode, 1)
        self.assertIn("missing", done.stdout)

    def test_a_run_that_is_stopped_ends_its_bench_and_leaves_nothing(self):
        note = os.path.join(self.temporary.name, "pid")
        self.bench("recover", "echo x >\"$TMPDIR/large\"\necho $$ >%s.new\nmv %s.new %s\n"
                              "sleep 100\n" % (note, note, note))
        child = subprocess.Popen([sys.executable, TABLE, "--build", self.build, "--only",
                                  "recover"], env=self.environment, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        for _ in range(300):
            if os.path.exists(note):
                break
            time.sleep(0.1)
        with open(note, encoding="utf-8") as file:
            bench = int(file.read())
        child.send_signal(signal.SIGTERM)
        self.assertEqual(child.wait(60), 130)
        self.assertEqual(os.listdir(self.scratch), [])
        with self.assertRaises(ProcessLookupError):
            os.kill(bench, 0)


if __name__ == "__main__":
    unittest.main()
