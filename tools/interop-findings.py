#!/usr/bin/env python3
"""interop-findings: are our findings read by those who read SARIF and the lines of cargo?

usage: interop-findings.py --install DIR
       interop-findings.py PROGRAM DIR CRATE...

--install puts the judges into DIR, of fixed versions: the SARIF 2.1.0 schema out of an npm package,
a virtual environment with `jsonschema`, and tests/data/read-cargo-lines, a program that reads lines
with the crate `cargo_metadata`. Each CRATE is scanned by PROGRAM, a `candle-graph`; the word
`candle-transformers` stands for that crate as --install has it fetched. Asked of each:

  sarif       valid by the schema; every result names a rule that is described, at the index it
              gives; places relative to %SRCROOT%, lines and columns from 1; as many results as
              findings in the JSON form
  cargo-json  every line is read as a message, one for each finding, closed by a build-finished that
              tells what the exit status tells

Each difference is a line. The exit status is 0 without any, 77 when the judges cannot be had.
"""
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile

REPO = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
READER = os.path.join(REPO, "tests", "data", "read-cargo-lines")
LARGE = "candle-transformers"
SCHEMA_PACKAGE = "@microsoft/jest-sarif@1.0.0-beta.0"
SCHEMA_FILE = "package/lib/schemas/sarif-2.1.0-rtm.5.json"
SCHEMA_SHA256 = "2d99159ae54a3eea97f81781cff48780548657c35949f4b7f25e99a2ba4de4f8"
PYTHON_PACKAGES = ("jsonschema==4.26.0", "jsonschema-specifications==2025.9.1",
                   "referencing==0.37.0", "rpds-py==2026.9.1", "attrs==26.1.0",
                   "typing_extensions==4.16.0")
# Runs in the virtual environment: schema and logs as arguments, one line for each error.
VALIDATE = """
import json, sys
from jsonschema.validators import validator_for
schema = json.load(open(sys.argv[1], encoding="utf-8"))
kind = validator_for(schema)
kind.check_schema(schema)
judge = kind(schema)
for error in sorted(judge.iter_errors(json.load(sys.stdin)), key=str):
    print("%s: %s" % (error.json_path, error.message[:200]))
"""


def run(*command, **more):
    return subprocess.run(command, text=True, **{"stdin": subprocess.DEVNULL,
                                                 "capture_output": True, **more})


def got(*command, **more):
    """A step of the installation; without it nothing is judged."""
    done = run(*command, **more)
    if done.returncode != 0:
        print((done.stdout + done.stderr)[-2000:])
        print("interop-findings: skipped, `%s` does not succeed" % " ".join(command[:3]))
        sys.exit(77)
    return done.stdout


def install(home):
    for program in ("npm", "cargo"):
        if not shutil.which(program):
            print("interop-findings: skipped, no %s to get the judges with" % program)
            sys.exit(77)
    os.makedirs(home, exist_ok=True)
    schema = os.path.join(home, "sarif.json")
    if not os.path.exists(schema):
        name = got("npm", "pack", "--silent", SCHEMA_PACKAGE, cwd=home).split()[-1]
        with tarfile.open(os.path.join(home, name)) as package:
            content = package.extractfile(SCHEMA_FILE).read()
        if hashlib.sha256(content).hexdigest() != SCHEMA_SHA256:
            print("interop-findings: the schema is not the one expected")
            return 1
        with open(schema + ".new", "wb") as file:
            file.write(content)
        os.rename(schema + ".new", schema)
    python = os.path.join(home, "venv", "bin", "python")
    if not os.path.exists(python) or run(python, "-c", "import jsonschema").returncode != 0:
        got(sys.executable, "-m", "venv", "--clear", os.path.join(home, "venv"))
        got(python, "-m", "pip", "install", "--quiet", "--no-deps", *PYTHON_PACKAGES)
    got("cargo", "build", "--quiet", "-j2", "--target-dir",
        os.path.join(home, "target"), cwd=READER)
    got("cargo", "fetch", "--locked", "--quiet", cwd=READER)
    told = json.loads(got("cargo", "metadata", "--locked", "--offline", "--format-version", "1",
                          cwd=READER))
    place = next(os.path.dirname(package["manifest_path"]) for package in told["packages"]
                 if package["name"] == LARGE)
    with open(os.path.join(home, LARGE), "w", encoding="utf-8") as file:
        file.write(place)
    print("judges: %s, %s, cargo_metadata; %s" % (SCHEMA_PACKAGE, PYTHON_PACKAGES[0], LARGE))
    return 0


class Judge:
    def __init__(self, program, home):
        self.program, self.home = program, home
        self.differences = self.findings = 0

    def say(self, text):
        self.differences += 1
        print(text)

    def check(self, crate, form):
        done = run(self.program, "check", crate, "--message-format", form)
        if done.returncode not in (0, 1) or not done.stdout:
            self.say("%s: check ended with %d: %s" % (form, done.returncode, done.stderr[:200]))
            return None
        return done

    def places(self, result):
        for item in result.get("locations", []) + result.get("relatedLocations", []):
            place = item["physicalLocation"]
            artifact = place["artifactLocation"]
            region = place.get("region", {})
            if artifact.get("uriBaseId") != "%SRCROOT%" or re.match(
                    r"/|[a-z]+:|.*\.\./|.*\\", artifact["uri"]):
                self.say("sarif: place %s" % artifact)
            start = (region.get("startLine", 1), region.get("startColumn", 1))
            end = (region.get("endLine", start[0]), region.get("endColumn", start[1]))
            if min(start) < 1 or end < start:
                self.say("sarif: region %s" % region)

    def sarif(self, crate, expected):
        done = self.check(crate, "sarif")
        if done is None:
            return
        told = run(os.path.join(self.home, "venv", "bin", "python"), "-c", VALIDATE,
                   os.path.join(self.home, "sarif.json"), stdin=None, input=done.stdout)
        for line in (told.stdout + told.stderr[-500:]).splitlines()[:5]:
            self.say("sarif: " + line)
        if told.returncode != 0:
            return
        log = json.loads(done.stdout)
        results = [result for one in log["runs"] for result in one.get("results", [])]
        for one in log["runs"]:
            rules = [rule["id"] for rule in one["tool"]["driver"].get("rules", [])]
            if len(set(rules)) != len(rules):
                self.say("sarif: a rule is described twice")
            for result in one.get("results", []):
                index = result.get("ruleIndex", -1)
                if result.get("ruleId") not in rules or (index >= 0 and (
                        index >= len(rules) or rules[index] != result["ruleId"])):
                    self.say("sarif: rule %s, index %d" % (result.get("ruleId"), index))
                self.places(result)
        if sorted(result["ruleId"] for result in results) != expected:
            self.say("sarif: %d results, %d findings" % (len(results), len(expected)))

    def lines(self, crate, expected):
        done = self.check(crate, "cargo-json")
        if done is None:
            return
        told = run(os.path.join(self.home, "target", "debug", "read-cargo-lines"), stdin=None,
                   input=done.stdout)
        wanted = "%d %s\n" % (len(expected), "false" if done.returncode else "true")
        if told.returncode != 0 or told.stdout != wanted:
            self.say("cargo-json: read as %r, expected %r %s" % (told.stdout, wanted,
                                                                 told.stderr[:200]))

    def crate(self, path):
        done = self.check(path, "json")
        if done is not None:
            expected = sorted(item["code"] for item in json.loads(done.stdout)["findings"])
            self.findings += len(expected)
            self.sarif(path, expected)
            self.lines(path, expected)


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--install":
        return install(os.path.abspath(sys.argv[2]))
    if len(sys.argv) < 4:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    program, home = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    if not os.path.exists(os.path.join(home, LARGE)):
        print("interop-findings: skipped, no judges (--install)")
        return 77
    judge = Judge(program, home)
    for path in sys.argv[3:]:
        if path == LARGE:
            with open(os.path.join(home, LARGE), encoding="utf-8") as file:
                path = file.read()
        judge.crate(path)
    print("%d crates, %d findings, %d differences" % (len(sys.argv) - 3, judge.findings,
                                                      judge.differences))
    return 1 if judge.differences else 0


if __name__ == "__main__":
    sys.exit(main())
