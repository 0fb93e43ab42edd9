#!/usr/bin/env python3
# ctest: @CLI@
# ctest-timeout: 300
"""mutated_bundles: change published bundles at random; count what verification lets through.

usage: mutated_bundles.py CANDLE-GRAPH [--all] [--count N] [--seed N]

Accepted may be only what is in the neutral set:

  verify             bundle.json says the same: white space, key order, order of `files`, letter
                     case of digests, unknown fields; the producer marker, which nothing proves
  verify --semantic  of a bundle with the marker of this very version: as above, and a trace or
                     Nsight files, hashed again, from which exactly the same evidence and report
                     follow (that is a bundle of other inputs); without the marker, wording and
                     files that the output lists as not_rederivable

CG_FIXTURES adds bundles of the reference as bases.
"""
import argparse
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "..", "data", "traces")
TEXTS = "evidence.json: texts"


def run(*argv):
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")


def pairs(rows):
    keys = [key for key, _ in rows]
    if len(keys) != len(set(keys)):
        raise ValueError("a key twice")
    return dict(rows)


def tree(root):
    """Everything below root: relative path -> bytes, or a word for what is no file."""
    found = {}
    for folder, names, files in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.islink(path):
                found[os.path.relpath(path, root)] = "link"
            elif not os.listdir(path):
                found[os.path.relpath(path, root)] = "empty directory"
        for name in files:
            path = os.path.join(folder, name)
            relative = os.path.relpath(path, root)
            if os.path.islink(path):
                found[relative] = "link"
            elif os.path.isfile(path):
                with open(path, "rb") as file:
                    found[relative] = file.read()
            else:
                found[relative] = "special"
    return found


def meaning(manifest):
    """What a manifest says, without what is neutral; None when it says nothing."""
    try:
        says = json.loads(manifest.decode("utf-8"), object_pairs_hook=pairs)
        files = sorted((e["path"], e["bytes"], e["sha256"].lower()) for e in says["files"])
        if any(type(e["bytes"]) is not int for e in says["files"]):
            return None
        return says["schema"], says["run_id"], files
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def marker(manifest):
    try:
        return json.loads(manifest.decode("utf-8"), object_pairs_hook=pairs).get("producer")
    except (ValueError, AttributeError, RecursionError):
        return None


class Mutator:
    def __init__(self, random):
        self.random = random

    def content(self, data):
        """One small change of some bytes; never the same."""
        kind = self.random.choice("flip insert delete truncate append swap digit".split())
        at = self.random.randrange(len(data)) if data else 0
        if not data or kind == "append":
            return data + bytes([self.random.randrange(256)])
        if kind == "flip":
            return data[:at] + bytes([data[at] ^ 1 << self.random.randrange(8)]) + data[at + 1:]
        if kind == "insert":
            byte = self.random.choice(b' \n0a"{}\x00\xff')
            return data[:at] + bytes([byte]) + data[at:]
        if kind == "delete":
            return data[:at] + data[at + 1 + self.random.randrange(3):]
        if kind == "truncate":
            return data[:at]
        if kind == "digit":
            digits = [i for i, byte in enumerate(data) if byte in b"0123456789"]
            if digits:
                at = self.random.choice(digits)
                other = self.random.choice([d for d in b"0123456789" if d != data[at]])
                return data[:at] + bytes([other]) + data[at + 1:]
        other = self.random.randrange(len(data))
        low, high = min(at, other), max(at, other)
        swapped = bytearray(data)
        swapped[low], swapped[high] = data[high], data[low]
        swapped = bytes(swapped)
        return swapped if swapped != data else data + b" "

    def write(self, path, data):
        with open(path, "wb") as file:
            file.write(data)

    def rehash(self, root):
        path = os.path.join(root, "bundle.json")
        with open(path, encoding="utf-8") as file:
            manifest = json.load(file)
        manifest["files"] = []
        for name, data in sorted(tree(root).items()):
            if isinstance(data, bytes) and name != "bundle.json":
                manifest["files"].append({"path": name, "bytes": len(data),
                                          "sha256": hashlib.sha256(data).hexdigest()})
        self.write(path, (json.dumps(manifest, indent=2) + "\n").encode())

    def manifest(self, root):
        """Change bundle.json as an object; some of these changes are neutral."""
        path = os.path.join(root, "bundle.json")
        with open(path, encoding="utf-8") as file:
            says = json.load(file)
        entry = self.random.choice(says["files"])
        kind = self.random.choice("run_id bytes sha256 path twice drop order case unknown keys "
                                  "spaces schema marker unmarked oddly self climb type "
                                  "absolute".split())
        indent = 2
        if kind == "run_id":
            says["run_id"] += "x"
        elif kind == "bytes":
            entry["bytes"] += self.random.choice([-1, 1, 1 << 40])
        elif kind == "sha256":
            entry["sha256"] = entry["sha256"][::-1]
        elif kind == "path":
            before, after = self.random.choice(["./", "", "x/"]), self.random.choice(["x", "/"])
            entry["path"] = before + entry["path"] + after
        elif kind == "twice":
            says["files"].append(dict(entry))
        elif kind == "drop":
            says["files"].remove(entry)
        elif kind == "order":
            self.random.shuffle(says["files"])
        elif kind == "case":
            entry["sha256"] = entry["sha256"].upper()
        elif kind == "unknown":
            entry["later"] = says["later"] = {"a": [1]}
        elif kind == "keys":
            says = dict(reversed(list(says.items())))
        elif kind == "spaces":
            indent = self.random.choice([None, 1, 7])
        elif kind == "schema":
            says["schema"] += "1"
        elif kind == "marker":
            version = "0.0.%d" % self.random.randrange(9)
            says["producer"] = {"name": "candle-graph", "version": version}
        elif kind == "unmarked":
            says.pop("producer", None)
        elif kind == "oddly":
            says["producer"] = self.random.choice([7, "candle-graph", {"name": "candle-graph"}])
        elif kind == "self":
            entry["path"] = "bundle.json"
        elif kind == "climb":
            entry["path"] = "../" + entry["path"]
        elif kind == "absolute":
            entry["path"] = "/" + entry["path"]
        else:
            entry["bytes"] = str(entry["bytes"])
        self.write(path, (json.dumps(says, indent=indent) + "\n").encode())
        return "manifest " + kind

    def files(self, root):
        """Change which files there are, or of what kind."""
        names = sorted(name for name, data in tree(root).items() if isinstance(data, bytes))
        name = self.random.choice(names)
        path = os.path.join(root, name)
        kind = self.random.choice("add below directory remove rename link special "
                                  "empty exchange aside".split())
        if kind == "add":
            new = self.random.choice(["a.txt", "zz", ".x", "viewer.html"])
            self.write(os.path.join(root, new), b"new")
        elif kind == "below":
            os.makedirs(os.path.join(root, "nsight"), exist_ok=True)
            self.write(os.path.join(root, "nsight", "zz.csv"), b"new")
        elif kind == "directory":
            os.makedirs(os.path.join(root, self.random.choice(["d", "nsight/d", "e/f"])))
        elif kind == "remove":
            os.remove(path)
        elif kind == "rename":
            os.rename(path, path + "x")
        elif kind == "link":
            os.symlink(name, os.path.join(root, "link"))
        elif kind == "special":
            os.remove(path)
            os.mkfifo(path)
        elif kind == "empty":
            os.remove(path)
            os.makedirs(path)
        elif kind == "exchange":
            other = os.path.join(root, self.random.choice([n for n in names if n != name]))
            os.rename(path, path + ".t")
            os.rename(other, path)
            os.rename(path + ".t", other)
        else:
            os.rename(path, root + ".aside")
            os.symlink(root + ".aside", path)
        return "files " + kind

    def mutate(self, root):
        """Returns what was done, and whether the manifest was made to agree with it."""
        pick = self.random.random()
        if pick < 0.3:
            names = sorted(name for name, data in tree(root).items() if isinstance(data, bytes))
            name = self.random.choice(names)
            path = os.path.join(root, name)
            with open(path, "rb") as file:
                data = file.read()
            self.write(path, self.content(data))
            return "bytes of " + name, False
        if pick < 0.5:
            return self.manifest(root), False
        if pick < 0.65:
            return self.files(root), False
        # Forgeries: hashed again, sometimes with another marker.
        names = sorted(name for name, data in tree(root).items()
                       if isinstance(data, bytes) and name != "bundle.json")
        kind = self.random.choice(["content", "content", "content", "add", "remove"])
        if kind == "add":
            new = self.random.choice(["viewer.html", "notes.txt"])
            self.write(os.path.join(root, new), b"<script>")
            done = "a file added"
        elif kind == "remove":
            name = self.random.choice(names)
            os.remove(os.path.join(root, name))
            done = name + " removed"
        else:
            name = self.random.choice(names)
            path = os.path.join(root, name)
            with open(path, "rb") as file:
                data = file.read()
            self.write(path, self.content(data))
            done = "content of " + name
        self.rehash(root)
        return "forged: " + done, True


class Judge:
    def __init__(self, binary, work):
        self.binary, self.work = binary, work
        self.faults = []
        self.accepted = 0
        self.accepted_semantic = 0

    def say(self, done, text):
        self.faults.append("%s: %s" % (done, text))

    def follows(self, root, files):
        """Do evidence and report of `root` follow from its own inputs?"""
        again = os.path.join(self.work, "again")
        shutil.rmtree(again, ignore_errors=True)
        os.makedirs(again)
        argv = [self.binary, "report", os.path.join(root, "trace.jsonl")]
        argv += ["--bundle", os.path.join(again, "b")]
        if any(name.startswith("nsight/") for name in files):
            argv += ["--nsight-dir", os.path.join(root, "nsight")]
        if run(*argv)[0] != 0:
            return False
        fresh = tree(os.path.join(again, "b"))
        # A build without the viewer writes no page.
        names = set(fresh) - ({"viewer.html"} - set(files))
        return names == set(files) and all(
            fresh[name] == files[name] for name in names - {"bundle.json"})

    def judge(self, base, root, done, is_rehashed):
        code, out, err = run(self.binary, "verify", root)
        files = tree(root)
        manifest = files.get("bundle.json")
        manifest = manifest if isinstance(manifest, bytes) else b""
        is_neutral = meaning(manifest) == meaning(base["bundle.json"]) and \
            dict(files, **{"bundle.json": b""}) == dict(base, **{"bundle.json": b""})
        if code not in (0, 1):
            self.say(done, "exit %d: %s" % (code, err))
        if code == 1 and ("error[" not in err or out):
            self.say(done, "a refusal without a problem id: %r" % err)
        if code == 0:
            self.accepted += 1
            if not is_neutral and not is_rehashed:
                self.say(done, "accepted, and not neutral")
        elif is_neutral:
            self.say(done, "neutral, and refused: " + err)
        self.semantic(base, root, done, files, is_neutral)

    def semantic(self, base, root, done, files, is_neutral):
        code, out, err = run(self.binary, "verify", "--semantic", root)
        if code not in (0, 1):
            self.say(done, "--semantic: exit %d: %s" % (code, err))
        if code != 0:
            if is_neutral:
                self.say(done, "neutral, and refused by --semantic: " + err)
            return
        self.accepted_semantic += 1
        if is_neutral:
            return
        says = json.loads(out)
        unchecked = says["semantic"].get("not_rederivable", [])
        changed = {n for n in set(files) | set(base) if files.get(n) != base.get(n)}
        changed -= {"bundle.json"}
        inputs = {n for n in changed if n == "trace.jsonl" or n.startswith("nsight/")}
        if not unchecked:
            # This version's own: nothing derived may differ, whatever the inputs are now.
            gone = {"viewer.html"} - set(files)
            if changed - inputs - gone or not self.follows(root, files):
                self.say(done, "--semantic accepts a forgery")
        for name in changed - inputs:
            is_wording = name == "evidence.json" and TEXTS in unchecked
            is_wording = is_wording and self.same_facts(base, files)
            if name not in unchecked and name in files and not is_wording:
                self.say(done, "--semantic accepts %s and does not list it" % name)

    FREE = {"message", "reason", "summary", "label"}

    def facts(self, value, key=None):
        """Evidence without what may be wording, floats by their first digits."""
        if isinstance(value, dict):
            return {k: self.facts(v, k) for k, v in value.items()
                    if k not in ("gaps", "diagnostics")}
        if isinstance(value, list):
            return [self.facts(v, key) for v in value]
        if isinstance(value, str) and key in self.FREE:
            return ""
        return "%.13e" % value if isinstance(value, float) else value

    def same_facts(self, base, files):
        read = [self.facts(json.loads(of["evidence.json"].decode("utf-8"), object_pairs_hook=pairs))
                for of in (base, files)]
        return read[0] == read[1]


def bases(binary, work):
    """(root of a bundle, is it ours)"""
    fixtures = os.environ.get("CG_FIXTURES", "")
    made = []
    for name in ("mlp-update-4", "failed-open", "labels-partitioned", "minimal"):
        root = os.path.join(work, "base-" + name)
        trace = os.path.join(DATA, name + ".jsonl")
        code, _, err = run(binary, "report", trace, "--bundle", root)
        if code != 0:
            sys.exit("base %s: %s" % (name, err))
        made.append(root)
    nsight = os.path.join(work, "nsight-in")
    os.makedirs(nsight)
    table = "Total Time (ns),Instances,Name\n500,2,gemm\n400,1,add\n"
    for name, text in (("r_cuda_gpu_kern_sum.csv", table), ("capture.nsys-rep", "raw"),
                       ("notes.txt", "unused\n")):
        with open(os.path.join(nsight, name), "w", encoding="utf-8") as file:
            file.write(text)
    root = os.path.join(work, "base-nsight")
    code, _, err = run(binary, "report", os.path.join(DATA, "base.jsonl"), "--nsight-dir", nsight,
                       "--bundle", root)
    if code != 0:
        sys.exit("base nsight: " + err)
    made.append(root)
    for name in ("mlp-update-1", "nsight-full-bound"):
        path = os.path.join(fixtures, "fixtures", "execution", "bundles", name)
        if fixtures and os.path.isdir(path):
            root = os.path.join(work, "reference-" + name)
            shutil.copytree(path, root)
            for folder, names, files in os.walk(root):
                for name in names + files:
                    os.chmod(os.path.join(folder, name), 0o755)
            os.chmod(root, 0o755)
            made.append(root)
    return made


def main():
    p = argparse.ArgumentParser()
    p.add_argument("binary")
    p.add_argument("--all", action="store_true", help="5000 mutations instead of 1000")
    p.add_argument("--count", type=int)
    p.add_argument("--seed", type=int, default=20240501)
    args = p.parse_args()
    count = args.count or (5000 if args.all else 1000)
    work = tempfile.mkdtemp(prefix="mutated-")
    try:
        roots = bases(args.binary, work)
        contents = [tree(root) for root in roots]
        mutator = Mutator(random.Random(args.seed))
        judge = Judge(args.binary, work)
        for i in range(count):
            root = os.path.join(work, "m")
            shutil.rmtree(root, ignore_errors=True)
            if os.path.exists(root + ".aside"):
                os.remove(root + ".aside")
            shutil.copytree(roots[i % len(roots)], root)
            done, is_rehashed = mutator.mutate(root)
            done = "%d (%s, %s)" % (i, os.path.basename(roots[i % len(roots)]), done)
            judge.judge(contents[i % len(roots)], root, done, is_rehashed)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    for fault in judge.faults[:20]:
        print(fault)
    print("%d mutations of %d bundles: %d accepted by verify, %d by verify --semantic, "
          "%d against the rules" % (count, len(roots), judge.accepted, judge.accepted_semantic,
                                    len(judge.faults)))
    return 1 if judge.faults else 0


if __name__ == "__main__":
    sys.exit(main())
