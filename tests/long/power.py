"""power - what is on the disk when the power goes: every prefix of what a program did to files,
with what was not synced yet kept, dropped or torn.

kernel.c writes down what a program does to files and directories, and kernel.py does not let it
wait for a disk. Here this log is replayed on a disk that promises nothing but fsync: what was
written to a file since its last sync may be there or not, in blocks of 512 bytes, and its length
may be the old or the new one; an entry of a directory (made, renamed, removed) may be there or
not until that directory is synced, each for itself, so that a renamed file can have both names or
none. Each state that can be found then is judged by the rules of its scenario.
"""
import hashlib
import itertools
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

import kernel
from campaign import Campaign

SECTOR = 512
STATES = 20000  # asked of each scenario
ROOT = 0


class Op:
    """One thing that was done: kind, and its fields by name."""

    def __init__(self, kind, **fields):
        self.kind = kind
        self.__dict__.update(fields)


def parse(data):
    """The log of kernel.c, as operations on the numbers of files as the kernel has them."""
    at = 0

    def number():
        nonlocal at
        at += 8
        return struct.unpack_from("<Q", data, at - 8)[0]

    def text():
        nonlocal at
        size = number()
        at += size
        return data[at - size:at]

    while at < len(data):
        kind = chr(data[at])
        at += 1
        if kind in "cd":
            yield Op(kind, directory=number(), name=text().decode(), inode=number())
        elif kind == "u":
            yield Op(kind, directory=number(), name=text().decode())
        elif kind == "r":
            yield Op(kind, directory=number(), name=text().decode(), to_directory=number(),
                     to_name=text().decode())
        elif kind == "w":
            yield Op(kind, inode=number(), offset=number(), bytes=text())
        elif kind == "t":
            yield Op(kind, inode=number(), size=number())
        elif kind == "f":
            yield Op(kind, inode=number())
        elif kind == "s":
            yield Op(kind, bytes=text())
        elif kind == "e":
            yield Op(kind)
        else:
            raise ValueError("the log is damaged at %d" % at)


class Disk:
    """What is durable, and what was done since."""

    def __init__(self, root):
        self.files, self.folders = {}, {}  # number -> bytes; number -> {name: number}
        self.now = {}                      # the kernel's number -> ours
        self.next = ROOT
        self.effects = []                  # not durable: tuples, in order
        self.view = {}                     # folder -> {name: number} as the program sees it
        self._take(root)

    def _new(self, inode, is_folder):
        number = self.next
        self.next += 1
        self.now[inode] = number
        if is_folder:
            self.folders[number] = {}
            self.view[number] = {}
        else:
            self.files[number] = b""
        return number

    def _take(self, path):
        number = self._new(os.stat(path).st_ino, True)
        for entry in os.scandir(path):
            if entry.is_dir(follow_symlinks=False):
                inner = self._take(entry.path)
            else:
                inner = self._new(entry.inode(), False)
                with open(entry.path, "rb") as file:
                    self.files[inner] = file.read()
            self.folders[number][entry.name] = self.view[number][entry.name] = inner
        return number

    def _entry(self, directory, name, number):
        folder = self.now.get(directory)
        if folder is None:
            return  # outside of the folders that are looked at
        self.effects.append(("entry", folder, name, number))
        if number is None:
            self.view[folder].pop(name, None)
        else:
            self.view[folder][name] = number

    def _at(self, directory, name):
        return self.view.get(self.now.get(directory), {}).get(name)

    def do(self, op):
        if op.kind in "cd":
            if op.directory in self.now:
                number = self._new(op.inode, op.kind == "d")
                self._entry(op.directory, op.name, number)
        elif op.kind == "u":
            self._entry(op.directory, op.name, None)
        elif op.kind == "r":
            number = self._at(op.directory, op.name)
            self._entry(op.directory, op.name, None)
            self._entry(op.to_directory, op.to_name, number)
        elif op.kind in "wt" and op.inode in self.now:
            number = self.now[op.inode]
            if op.kind == "w":
                self.effects.append(("data", number, op.offset, op.bytes))
            else:
                self.effects.append(("size", number, op.size))
        elif op.kind == "f" and op.inode in self.now:
            self._sync(self.now[op.inode])

    def _sync(self, number):
        """A file's bytes, or a folder's entries."""
        kept = []
        for effect in self.effects:
            if effect[1] == number:
                self._apply(self.files, self.folders, effect)
            else:
                kept.append(effect)
        self.effects = kept

    @staticmethod
    def _apply(files, folders, effect, random=None):
        kind, number = effect[:2]
        if kind == "entry":
            name, to = effect[2:]
            if to is None:
                folders[number].pop(name, None)
            else:
                folders[number][name] = to
        elif kind == "size":
            old = files[number]
            files[number] = old[:effect[2]] + bytes(max(0, effect[2] - len(old)))
        else:
            offset, data = effect[2:]
            old = files[number]
            new = bytearray(old + bytes(max(0, offset + len(data) - len(old))))
            if random is None:
                new[offset:offset + len(data)] = data
            else:
                # Some blocks arrived; the length may not have.
                end = offset + len(data)
                for block in range(offset // SECTOR, (end + SECTOR - 1) // SECTOR):
                    low, high = max(offset, block * SECTOR), min(end, (block + 1) * SECTOR)
                    if random.random() < 0.5:
                        new[low:high] = data[low - offset:high - offset]
                if random.random() < 0.3:
                    new = new[:max(len(old), random.randrange(offset, end + 1))]
            files[number] = bytes(new)

    def state(self, choices, random):
        """The tree below the root when of each effect 0 nothing, 1 all, 2 a part is there."""
        files = dict(self.files)
        folders = {number: dict(entries) for number, entries in self.folders.items()}
        for effect, choice in zip(self.effects, choices):
            if choice:
                self._apply(files, folders, effect, random if choice == 2 else None)
        tree, open_folders = {}, [("", ROOT)]
        while open_folders:
            path, number = open_folders.pop()
            for name, inner in folders[number].items():
                below = path + name
                if inner in folders:
                    tree[below] = None
                    open_folders.append((below + "/", inner))
                else:
                    tree[below] = files[inner]
        return tree

    def choices(self, count, random):
        """Up to `count` ways in which the effects are there or not."""
        ways = [(0, 1, 2) if effect[0] == "data" and len(effect[3]) > 1 else (0, 1)
                for effect in self.effects]
        total = 1
        for way in ways:
            total *= len(way)
        if total <= count and not any(len(way) == 3 for way in ways):
            yield from itertools.product(*ways)
            return
        yield [0] * len(ways)
        yield [1] * len(ways)
        for i in range(min(len(ways), count // 4)):
            yield [int(j != i) for j in range(len(ways))]
        for i in range(min(len(ways), count // 4)):
            yield [int(j == i) for j in range(len(ways))]
        for _ in range(max(0, count - 2 - 2 * min(len(ways), count // 4))):
            how = random.random()
            yield [random.choice(way) if random.random() < how else 1 for way in ways]


def digest(tree):
    sum = hashlib.sha256()
    for path in sorted(tree):
        data = tree[path]
        sum.update(repr((path, None if data is None else len(data))).encode())
        sum.update(data or b"")
    return sum.digest()


def below(tree, folder):
    return {path[len(folder) + 1:]: data for path, data in tree.items()
            if path.startswith(folder + "/")}


def write_tree(tree, root):
    os.makedirs(root)
    for path in sorted(tree):
        where = os.path.join(root, path)
        if tree[path] is None:
            os.makedirs(where, exist_ok=True)
        else:
            os.makedirs(os.path.dirname(where), exist_ok=True)
            with open(where, "wb") as file:
                file.write(tree[path])


def read_tree(root):
    tree = {}
    for folder, folders, names in os.walk(root):
        inside = os.path.relpath(folder, root)
        inside = "" if inside == "." else inside + "/"
        for name in folders:
            tree[inside + name] = None
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                tree[inside + name] = file.read()
    return tree


class Bundle:
    """A folder that is absent or whole; `verify` has the last word."""
    again = "the same command again"

    def __init__(self, argv, target="b", prepare=None):
        self.argv, self.target, self.prepare = argv, target, prepare

    def judge(self, tree, final, before, is_said):
        mine, wanted = below(tree, self.target), below(final, self.target)
        if self.target not in tree:
            return "it was said to be published, and is not there" if is_said else None
        if mine != wanted:
            return "it is there and not whole: %s" % ", ".join(sorted(
                path for path in set(mine) | set(wanted) if mine.get(path, b"?") !=
                wanted.get(path, b"?"))[:4])
        return None

    def recovers(self, root, run, final):
        status, said = run(*self.argv)
        if status != 0:
            return "again: status %d, %s" % (status, said[:200])
        left = [path for path in read_tree(root) if any(
            part.startswith(".") for part in path.split("/"))]
        if left:
            return "again: left behind %s" % ", ".join(left[:3])
        status, said = run("verify", "--semantic", self.target)
        return "again: verify: %s" % said[:200] if status else None


class File:
    """A file that is as it was, or whole."""

    def __init__(self, argv, target, prepare=None, source=None):
        self.argv, self.target, self.prepare, self.source = argv, target, prepare, source

    def judge(self, tree, final, before, is_said):
        if tree.get(self.target) == final[self.target]:
            return None
        if is_said:
            return "it was said to be written, and is not there"
        if tree.get(self.target) != before.get(self.target):
            return "it is neither as before nor whole"
        return None

    def recovers(self, root, run, final):
        status, said = run(*self.argv)
        if status != 0:
            return "again: status %d, %s" % (status, said[:200])
        with open(os.path.join(root, self.target), "rb") as file:
            return None if file.read() == final[self.target] else "again: another output"


class Folder(File):
    """Files that appear one after another, each of them whole."""

    def judge(self, tree, final, before, is_said):
        for path, data in final.items():
            if data is None or data == before.get(path) or tree.get(path) == data:
                continue
            if is_said:
                return "%s was said to be written, and is not there" % path
            if tree.get(path) != before.get(path):
                return "%s is neither as before nor whole" % path
        return None

    def recovers(self, root, run, final):
        status, said = run(*self.argv)
        if status != 0:
            return "again: status %d, %s" % (status, said[:200])
        now = read_tree(root)
        other = [path for path, data in final.items() if data is not None and
                 now.get(path) != data]
        return "again: another %s" % other[0] if other else None


class Recording:
    """A trace that is absent or whole; its spool stays until the trace is safe."""
    again = "recovery"

    def __init__(self, argv):
        self.argv, self.target, self.prepare = argv, "run.jsonl", None
        self.is_written = False

    def judge(self, tree, final, before, is_said):
        trace = tree.get(self.target)
        if trace == final[self.target]:
            return None
        if is_said:
            return "it was said to be finished, and is not there"
        return None if trace is None else "a trace that is not whole"

    def recovers(self, root, run, final):
        spool = os.path.join(root, self.target + ".spool")
        if os.path.exists(os.path.join(root, self.target)) or not os.path.exists(spool):
            return None
        status, said = run("recover", self.target + ".spool", "-o", "again.jsonl")
        if status == 1 and "error[" in said:
            return None  # too little arrived
        if status != 0:
            return "recover: status %d, %s" % (status, said[:200])
        status, said = run("summary", "again.jsonl", "--format", "json")
        if status != 0 or not json.loads(said)["health"]["structurally_valid"]:
            return "what recover made is not sound: %s" % said[:200]
        return None


class Power(Campaign):
    name = "power"
    promises = "P3 P4"
    about = ("the power goes after each thing a command does to files; what was not synced is "
             "kept, dropped or torn at 512 bytes, names are lost")
    word = "states"
    programs = {"dev": ("candle-graph", "train")}

    def scenarios(self, place):
        traces = place.at("tests/data/traces")
        mlp, small = traces + "/mlp-update-4.jsonl", traces + "/minimal.jsonl"
        crate = place.at("tests/data/crates/mlp")

        def nsight(root, run):
            os.mkdir(os.path.join(root, "n"))
            for name, text in (("r_cuda_gpu_kern_sum.csv",
                                "Total Time (ns),Instances,Name\n500,2,gemm\n400,1,add\n"),
                               ("capture.nsys-rep", "raw" * 500)):
                with open(os.path.join(root, "n", name), "w", encoding="utf-8") as file:
                    file.write(text)

        def old(name):
            def put(root, run):
                with open(os.path.join(root, name), "w", encoding="utf-8") as file:
                    file.write("old\n" * 300)
            return put

        def spool(root, run):
            subprocess.run([place.build("dev", "examples", "train"), "--step", "4", "--out",
                            os.path.join(root, "run.jsonl"), "--die"], capture_output=True)

        def cut(root, run):
            with open(mlp, "rb") as file, open(os.path.join(root, "cut.jsonl"), "wb") as to:
                to.write(file.read()[:-40])

        return {
            "publish": Bundle(["report", mlp, "--bundle", "b"]),
            "publish-below-new-folders": Bundle(["report", small, "--bundle", "new/er/b"],
                                                "new/er/b"),
            "publish-nsight": Bundle(["report", traces + "/base.jsonl", "--nsight-dir", "n",
                                      "--bundle", "b"], prepare=nsight),
            "receipt": File(["report", small, "--bundle", "b", "-o", "receipt.json"],
                            "receipt.json"),
            "record": Recording([]),
            "recover": File(["recover", "run.jsonl.spool", "-o", "out.jsonl"], "out.jsonl",
                            prepare=spool, source="run.jsonl.spool"),
            "recover-cut-trace": File(["recover", "cut.jsonl", "-o", "new/out.jsonl"],
                                      "new/out.jsonl", prepare=cut, source="cut.jsonl"),
            "page": File(["view", mlp, "--output", "page.html"], "page.html"),
            "page-replaced": File(["view", mlp, "--output", "page.html"], "page.html",
                                  prepare=old("page.html")),
            "answer-replaced": File(["query", mlp, "--kind", "spans", "-o", "out.json"],
                                    "out.json", prepare=old("out.json")),
            "crate-document": File(["report", crate, "-o", "model.json"], "model.json"),
            "baseline": File(["check", crate, "--update-baseline", "base.txt"], "base.txt",
                             prepare=old("base.txt")),
            "audit": Folder(["audit", "out", crate], "out"),
        }

    def units(self, place):
        return list(self.scenarios(place))

    @property
    def asked(self):
        return STATES * 13

    def run(self, place, unit, before):
        scenario = self.scenarios(place)[unit]
        root = os.path.join(place.scratch, "place", "work")
        os.makedirs(root)
        env = {"LC_ALL": "C.UTF-8", "TZ": "UTC", "HOME": place.scratch, "TMPDIR": place.scratch,
               "PATH": os.environ.get("PATH", "/usr/bin:/bin")}

        def run(*words, at=root, env=env):
            done = subprocess.run([place.cli(), *words], cwd=at, env=env, timeout=60,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True)
            return done.returncode, done.stderr if done.returncode else done.stdout

        if scenario.prepare:
            scenario.prepare(root, run)
        start = read_tree(root)
        disk = Disk(root)
        is_recording = isinstance(scenario, Recording)
        program = place.build("dev", "examples", "train") if is_recording else place.cli()
        watched = kernel.Kernel(place.scratch, program)
        log = os.path.join(place.scratch, "log")
        argv = [program, "--out", os.path.join(root, "run.jsonl")] if is_recording else \
            [program] + scenario.argv
        done = subprocess.run(argv, cwd=root, env=watched.environment(env, log), timeout=60,
                              stdin=subprocess.DEVNULL, capture_output=True)
        if done.returncode != 0:
            return {"count": 0, "wrong": ["status %d: %s" % (done.returncode, done.stderr[:300])]}
        with open(log, "rb") as file:
            ops = list(parse(file.read()))
        final = read_tree(root)
        return self.replay(place, scenario, disk, ops, start, final, run)

    def replay(self, place, scenario, disk, ops, start, final, run):
        rng = random.Random(5)
        record = {"count": 0, "distinct": 0, "again": 0, "prefixes": 0, "wrong": []}
        wanted = place.some(STATES)
        points = [i for i, op in enumerate(ops) if op.kind in "cdurwtfe"]
        share = wanted // max(1, len(points)) + 1
        seen, chosen = set(), []
        rounds = 0
        is_said = False
        verdicts = {}
        for number, op in enumerate(ops):
            # What was printed while nothing had been refused is a promise; so is the end.
            is_said = is_said or op.kind == "e"
            disk.do(op)
            if op.kind not in "cdurwtfe":
                continue
            record["prefixes"] += 1
            # Where little is open there are few states: the others have their share.
            for choices in disk.choices(share * (1 if len(disk.effects) < 3 else 3), rng):
                tree = disk.state(choices, rng)
                record["count"] += 1
                key = digest(tree)
                if (key, is_said) in seen:
                    continue
                seen.add((key, is_said))
                record["distinct"] += 1
                fault = scenario.judge(tree, final, start, is_said)
                if fault and len(record["wrong"]) < 50:
                    record["wrong"].append("operation %d of %d (%s): %s" % (
                        number + 1, len(ops), op.kind, fault))
                if len(chosen) < 400:
                    chosen.append(tree)
                elif rng.random() < 400 / len(seen):
                    chosen[rng.randrange(400)] = tree
        for tree in chosen[:place.some(400)]:
            source = getattr(scenario, "source", None)
            if source and source not in tree:
                record["wrong"].append("what was to be recovered is gone")
                continue
            folder = tempfile.mkdtemp(dir=place.scratch)
            root = os.path.join(folder, "work")
            write_tree(tree, root)
            fault = scenario.recovers(root, lambda *words: run(*words, at=root), final)
            record["again"] += 1
            if fault and len(record["wrong"]) < 100:
                record["wrong"].append(fault)
            shutil.rmtree(folder)
        return record

    def tell(self, units):
        return ("{} scenarios, {:,} things done to files, {:,} states ({:,} of them different, "
                "{:,} gone on from): {:,} wrong").format(
                    len(units), self.sum(units, "prefixes"), self.done(units),
                    self.sum(units, "distinct"), self.sum(units, "again"),
                    self.sum(units, "wrong_count"))
