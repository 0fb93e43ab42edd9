#!/usr/bin/env python3
# ctest: @CLI@
# ctest-labels: slow
# ctest-timeout: 600
"""After any edit a scan with the cache says what one without says, byte for byte.

usage: scan_cache.py CANDLE_GRAPH [--crate DIR] [--edits N] [--seed N] [--query KIND | --tree]

Without --crate a small crate is made. Edits are random: bodies of functions, comments, blank lines,
parameters, signatures, impls, constants, configurations, macros, files, modules, features, the
manifest, a dependency; and what was edited is put back as it was.
"""
import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

MANIFEST = """[package]
name = "small"
version = "0.1.0"
edition = "2021"

[dependencies]
candle-core = "0.9"
candle-nn = "0.9"
helper = { path = "helper" }

[features]
default = []
more = []

[workspace]
"""

LAYERS = """use candle_core::{Result, Tensor};
use candle_nn::{Linear, Module, VarBuilder};

pub trait Act {
    fn act(&self, xs: &Tensor) -> Result<Tensor>;
}

pub struct Mlp%(n)d {
    up: Linear,
    down: Linear,
    norm: crate::common::Norm,
}

impl Mlp%(n)d {
    pub fn new(hidden: usize, vb: VarBuilder) -> Result<Self> {
        let wide = hidden * %(n)d * crate::common::WIDE;
        let up = candle_nn::linear(hidden, wide, vb.pp("up"))?;
        let down = candle_nn::linear(wide, hidden, vb.pp("down"))?;
        let norm = crate::common::norm(hidden, vb.pp("norm"))?;
        Ok(Self { up, down, norm })
    }

    pub fn only_%(n)d(&self, xs: &Tensor) -> Result<Tensor> {
        let ys = self.up.forward(xs)?;
        ys.relu()
    }
}

impl Module for Mlp%(n)d {
    fn forward(&self, xs: &Tensor) -> Result<Tensor> {
        let xs = self.norm.apply_norm(xs)?;
        let ys = self.only_%(n)d(&xs)?;
        self.down.forward(&ys)
    }
}
"""

COMMON = """use candle_core::{Result, Tensor, D};
use candle_nn::VarBuilder;

pub const WIDE: usize = 2;
pub static SHIFT: &str = "shift0";

pub struct Norm {
    weight: Tensor,
}

pub fn norm(size: usize, vb: VarBuilder) -> Result<Norm> {
    let weight = vb.get(size, "weight")?;
    let _shift = vb.get(size, SHIFT)?;
    Ok(Norm { weight })
}

impl Norm {
    pub fn apply_norm(&self, xs: &Tensor) -> Result<Tensor> {
        let squares = xs.sqr()?.mean_keepdim(D::Minus1)?;
        let ys = xs.broadcast_div(&squares.sqrt()?)?;
        ys.broadcast_mul(&self.weight)
    }
}

pub trait Twice {
    fn twice(&self) -> Result<Tensor>;
}

impl Twice for Tensor {
    fn twice(&self) -> Result<Tensor> {
        self + self
    }
}
"""

MACROS = """macro_rules! scaled {
    ($vb:expr, $size:expr) => {
        $vb.get($size, "scale0")?
    };
}
"""

MODEL = """use candle_core::{Result, Tensor};
use candle_nn::{Module, VarBuilder};
use crate::common::Twice;

pub struct Config {
    pub hidden: usize,
    pub name: String,
}

impl Config {
    pub fn base() -> Self {
        Self { hidden: 8, name: "base".to_string() }
    }
}

pub struct Model {
    blocks: Vec<crate::layers1::Mlp1>,
    head: crate::layers2::Mlp2,
    extra: helper::Extra,
}

impl Model {
    pub fn new(cfg: &Config, vb: VarBuilder) -> Result<Self> {
        let mut blocks = Vec::new();
        for i in 0..4 {
            blocks.push(crate::layers1::Mlp1::new(cfg.hidden, vb.pp("blocks").pp(i))?);
        }
        let head = crate::layers2::Mlp2::new(cfg.hidden, vb.pp(&cfg.name))?;
        let extra = helper::Extra::new(cfg.hidden, vb.pp("extra"))?;
        let _scale = scaled!(vb, cfg.hidden);
        #[cfg(feature = "more")]
        let _gated = vb.get(cfg.hidden, "gated")?;
        Ok(Self { blocks, head, extra })
    }

    pub fn forward(&self, xs: &Tensor) -> Result<Tensor> {
        let mut xs = xs.twice()?;
        for block in self.blocks.iter() {
            xs = block.forward(&xs)?;
        }
        let xs = self.extra.forward(&xs)?;
        self.head.forward(&xs)
    }
}
"""

HELPER = """use candle_core::{Result, Tensor};
use candle_nn::{Linear, Module, VarBuilder};

pub struct Extra {
    inner: Linear,
}

impl Extra {
    pub fn new(size: usize, vb: VarBuilder) -> Result<Self> {
        Ok(Self { inner: candle_nn::linear(size, size, vb.pp("inner"))? })
    }

    pub fn forward(&self, xs: &Tensor) -> Result<Tensor> {
        self.inner.forward(xs)
    }
}
"""


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def read(path):
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return file.read()


def replace(path, text):
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)


def make_crate(root):
    write(root + "/Cargo.toml", MANIFEST)
    count = 12
    mods = "".join("pub mod layers%d;\n" % n for n in range(1, count + 1))
    write(root + "/src/lib.rs",
          "#[macro_use]\nmod macros;\n" + mods + "pub mod common;\npub mod model;\n")
    for n in range(1, count + 1):
        write(root + "/src/layers%d.rs" % n, LAYERS % {"n": n})
    write(root + "/src/common.rs", COMMON)
    write(root + "/src/model.rs", MODEL)
    write(root + "/src/macros.rs", MACROS)
    write(root + "/helper/src/lib.rs", HELPER)
    write(root + "/helper/Cargo.toml", '[package]\nname = "helper"\nversion = "0.1.0"\n'
          'edition = "2021"\n[dependencies]\ncandle-core = "0.9"\ncandle-nn = "0.9"\n')


class Editor:
    """Random edits; each says what it did."""

    def __init__(self, root, source):
        self.root = root
        self.random = source
        self.serial = 0
        self.last = None  # a line that was looked for, in its file
        self.near = None  # where alone lines are looked for

    def file(self, below="src"):
        found = []
        for base, _, names in os.walk(os.path.join(self.root, below)):
            found += [os.path.join(base, name) for name in names if name.endswith(".rs")]
        return self.random.choice(sorted(found))

    def lines(self, pattern, tries=40):
        """A file, its lines, and one that matches."""
        for _ in range(tries):
            path = self.near[0] if self.near else self.file()
            lines = read(path).split("\n")
            hits = [i for i, line in enumerate(lines) if re.search(pattern, line) and
                    (not self.near or abs(i - self.near[1]) <= 4)]
            if hits:
                self.last = (path, self.random.choice(hits))
                return path, lines, self.last[1]
        return None, [], 0

    def again(self):
        """Where the last edit was, mostly in the same function: what was kept of it is used."""
        if self.last and os.path.exists(self.last[0]):
            self.near = self.last
            what = getattr(self, self.random.choice(BODIES[:6]))()
            self.near = None
            return what

    def put(self, path, lines):
        replace(path, "\n".join(lines))
        return os.path.relpath(path, self.root)

    def next(self):
        self.serial += 1
        return self.serial

    def body_statement(self):
        path, lines, at = self.lines(r"^        let \w+ = .*;$")
        if path:
            lines.insert(at, "        let _added%d = %d;" % (self.next(), self.serial))
            return self.put(path, lines)

    def body_number(self):
        path, lines, at = self.lines(r"^        .*[^\w.]\d+[^\w.].*$")
        if path:
            lines[at] = re.sub(r"([^\w.])\d+([^\w.])", r"\g<1>%d\2" % (self.next() % 7 + 1),
                               lines[at], count=1)
            return self.put(path, lines)

    def body_key(self):
        path, lines, at = self.lines(r'^        .*pp\("\w+"\)')
        if path:
            lines[at] = re.sub(r'pp\("(\w+?)\d*"\)', r'pp("\g<1>%d")' % self.next(), lines[at],
                               count=1)
            return self.put(path, lines)

    def added_parameter(self):
        path, lines, at = self.lines(r"^        let \w+ = .*\bvb\b.*;$")
        if path:
            lines.insert(at, '        let _more = vb.get((3, %d), "more%d")?;' %
                         (self.next(), self.serial))
            return self.put(path, lines)

    def body_operation(self):
        path, lines, at = self.lines(r"^        let (xs|x|ys|hidden_states|h) = .*\?;$")
        if path:
            name = re.search(r"let (\w+)", lines[at]).group(1)
            step = self.random.choice(["relu", "exp", "sqrt", "log", "detach", "contiguous"])
            lines.insert(at + 1, "        let %s = %s.%s()?;" % (name, name, step))
            return self.put(path, lines)

    def body_removed(self):
        path, lines, at = self.lines(r"^            ?.*;$")
        if path:
            del lines[at]
            return self.put(path, lines)

    def comment(self):
        path, lines, at = self.lines(r"^\s+let ")
        if path:
            lines.insert(at, "        // a remark of %d" % self.next())
            return self.put(path, lines)

    def top_comment(self):
        path = self.file()
        return self.put(path, ["// on top %d" % self.next(), ""] + read(path).split("\n"))

    def blank_lines(self):
        path, lines, at = self.lines(r"\S")
        if path:
            lines[at:at] = [""] * self.random.randint(1, 3)
            return self.put(path, lines)

    def idle(self):
        """A statement that does nothing, or nearly."""
        path, lines, at = self.lines(r"^    +\S.*[;{}]$")
        if path:
            name = self.random.choice(["_idle%d", "xs%d", "Idle%d", "(_a%d, _b)"]) % self.next()
            value = self.random.choice(["%d" % self.serial, '"text"', "true", "-3", "1 + 2", "vb",
                                        "xs", "3usize", 'println!("a")', "(1, 2)"])
            lines.insert(at + 1, "        let %s%s = %s;" %
                         (name, self.random.choice(["", "", ": usize"]), value))
            if self.random.random() < 0.3:
                lines.insert(at + 1, self.random.choice(["#[allow(unused)]", "// idle", "",
                                                         '#[cfg(feature = "more")]', "/* idle */"]))
            return self.put(path, lines)

    def joined_lines(self):
        path, lines, at = self.lines(r"^    +\S.*[;,{]$")
        if path and at + 1 < len(lines):
            lines[at:at + 2] = [lines[at] + " " + lines[at + 1].strip()]
            return self.put(path, lines)

    def split_line(self):
        path, lines, at = self.lines(r"^    +\S.*[;,(.] ?\S")
        if path:
            cut = self.random.choice([m.end() for m in re.finditer(r"[;,(.{] ?", lines[at])])
            lines[at:at + 1] = [lines[at][:cut], "            " + lines[at][cut:]]
            return self.put(path, lines)

    def indented(self):
        path, lines, at = self.lines(r"^    +\S")
        if path:
            lines[at] = self.random.choice(["  ", "\t", "    "]) + lines[at]
            return self.put(path, lines)

    def swapped_lines(self):
        path, lines, at = self.lines(r"^        let .*;$")
        if path and at + 1 < len(lines):
            lines[at], lines[at + 1] = lines[at + 1], lines[at]
            return self.put(path, lines)

    def used(self):
        path, lines, at = self.lines(r"^use ")
        if path:
            if self.random.random() < 0.5:
                del lines[at]
            else:
                lines.insert(at, "use std::fmt::Debug as Debug%d;" % self.next())
            return self.put(path, lines)

    def gated(self):
        path, lines, at = self.lines(r"^ *(pub )?(fn|struct|impl|mod|const|use) ")
        if path:
            lines.insert(at, '#[cfg(%sfeature = "more")]' % self.random.choice(["", "not(", ""]))
            lines[at] = lines[at].replace('not(feature = "more")', 'not(feature = "more"))')
            return self.put(path, lines)

    def several(self):
        """More than one file, more than one kind."""
        found = [getattr(self, self.random.choice(BODIES))() for _ in range(3)]
        return " ".join(what for what in found if what) or None

    def signature(self):
        path, lines, at = self.lines(r"pub fn \w+\(&self, ")
        if path:
            lines[at] = lines[at].replace("(&self, ", "(&self, _n%d: usize, " % self.next(), 1)
            return self.put(path, lines)

    def renamed_function(self):
        path, lines, at = self.lines(r"^    (pub )?fn \w+\(&self")
        if path:
            lines[at] = re.sub(r"fn (\w+)\(", r"fn \g<1>_r%d(" % self.next(), lines[at])
            return self.put(path, lines)

    def removed_line(self):
        path, lines, at = self.lines(r"\S")
        if path:
            del lines[at]
            return self.put(path, lines)

    def new_impl(self):
        path, lines, at = self.lines(r"^impl (\w+) \{")
        if path:
            name = re.match(r"impl (\w+)", lines[at]).group(1)
            lines[at:at] = ["impl %s {" % name,
                            "    pub fn extra_%d(&self) -> usize { %d }" %
                            (self.next(), self.serial), "}", ""]
            return self.put(path, lines)

    def trait_impl(self):
        path, lines, at = self.lines(r"^impl (Module|Twice|Act) for")
        if path:
            lines[at] = re.sub(r"impl \w+ for", "impl Other%d for" % self.next(), lines[at])
            return self.put(path, lines)

    def constant(self):
        path, lines, at = self.lines(r"^ *(pub )?(const|static) \w+: .*\d.*;")
        if path:
            lines[at] = re.sub(r"= (.*?)\d+", r"= \g<1>%d" % (self.next() % 9), lines[at], count=1)
            return self.put(path, lines)

    def configuration(self):
        path, lines, at = self.lines(r"^ +(Self \{ hidden|hidden_size|vocab_size): \d+")
        if path:
            lines[at] = re.sub(r": \d+", ": %d" % (8 * self.next()), lines[at], count=1)
            return self.put(path, lines)

    def macro(self):
        path, lines, at = self.lines(r"scale\d+")
        if path:
            lines[at] = re.sub(r"scale\d+", "scale%d" % self.next(), lines[at])
            return self.put(path, lines)

    def feature(self):
        path = os.path.join(self.root, "Cargo.toml")
        text = read(path)
        if "default = []" in text:
            replace(path, text.replace("default = []", 'default = ["more"]'))
        else:
            replace(path, text.replace('default = ["more"]', "default = []"))
        return "Cargo.toml"

    def removed_module(self):
        path, lines, at = self.lines(r"^(pub )?mod \w+;")
        if path:
            del lines[at]
            return self.put(path, lines)

    def added_module(self):
        path = self.file()
        name = "inner%d" % self.next()
        return self.put(path, read(path).split("\n") +
                        ["mod %s { pub const N: usize = 1; pub fn only_1() {} }" % name])

    def new_file(self):
        name = "fresh%d" % self.next()
        root = os.path.join(self.root, "src", "lib.rs")
        write(os.path.join(self.root, "src", name + ".rs"),
              (LAYERS % {"n": 1000 + self.serial}).replace("crate::common::norm(",
                                                           "crate::common::norm("))
        replace(root, read(root) + "pub mod %s;\n" % name)
        return name

    def removed_file(self):
        path = self.file()
        if not path.endswith("lib.rs"):
            os.unlink(path)
            return os.path.relpath(path, self.root)

    def renamed_module(self):
        path, lines, at = self.lines(r"^(pub )?mod \w+;")
        if path:
            name = re.search(r"mod (\w+);", lines[at]).group(1)
            base = os.path.dirname(path)
            old = os.path.join(base, name + ".rs")
            if os.path.exists(old):
                os.rename(old, os.path.join(base, "%s_m%d.rs" % (name, self.next())))
                lines[at] = lines[at].replace("mod %s;" % name,
                                              "mod %s_m%d;" % (name, self.serial))
                return self.put(path, lines)

    def manifest(self):
        path = os.path.join(self.root, "Cargo.toml")
        text = read(path)
        if "\n[features]\n" in text:
            replace(path, text.replace("\n[features]\n", "\n[features]\nf%d = []\n" % self.next()))
        else:
            replace(path, text + "\n[features]\nf%d = []\n" % self.next())
        return "Cargo.toml"

    def dependency(self):
        path = os.path.join(self.root, "helper", "src", "lib.rs")
        if os.path.exists(path):
            replace(path, read(path).replace('pp("inner', 'pp("inner%d' % self.next(), 1))
            return "helper"


BODIES = ["body_statement", "body_number", "body_key", "added_parameter", "body_operation",
          "body_removed", "comment", "blank_lines", "idle", "joined_lines", "split_line",
          "indented", "swapped_lines"] + ["again"] * 6
OTHERS = ["new_impl", "trait_impl", "constant", "configuration", "macro", "feature",
          "removed_module", "added_module", "top_comment", "signature",
          "renamed_function", "removed_line", "new_file", "removed_file",
          "renamed_module", "manifest", "dependency", "used", "gated", "several"]


def run(args, query, crate, cache, to):
    command = [args.program] + query + [crate, "--format", "json"]
    env = dict(os.environ, CANDLE_GRAPH_CACHE_DIR=cache or "/nonexistent")
    if cache:
        command.append("--cache")
    start = time.monotonic()
    with open(to, "wb") as out:
        done = subprocess.run(command, env=env, stdout=out, stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stderr, time.monotonic() - start


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--crate")
    parser.add_argument("--edits", type=int, default=80)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--query")
    parser.add_argument("--tree", action="store_true", help="structure alone")
    parser.add_argument("--bodies", action="store_true", help="no edits but to bodies")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    # The tree needs less than the document: both levels of the cache are asked.
    queries = [["report"], ["tree"]]
    if args.tree:
        queries = [["tree"]]
    if args.query:
        queries = [["query", args.query, "--path"]]
    with tempfile.TemporaryDirectory() as room:
        crate = os.path.join(room, "crate")
        pristine = os.path.join(room, "pristine")
        if args.crate:
            shutil.copytree(args.crate, pristine)
            subprocess.run(["chmod", "-R", "u+w", pristine], check=True)
        else:
            make_crate(pristine)
        shutil.copytree(pristine, crate)
        cache = os.path.join(room, "cache")
        editor = Editor(crate, random.Random(args.seed))
        for query in queries:
            run(args, query, crate, cache, room + "/first")
        failed = 0
        before = None
        for number in range(args.edits):
            if number % 25 == 24:  # do not drown in errors
                shutil.rmtree(crate)
                shutil.copytree(pristine, crate)
            kinds = BODIES if args.bodies or editor.random.random() < 0.7 else OTHERS
            kind = editor.random.choice(kinds)
            if before is not None and editor.random.random() < 0.15:
                # Undone: not by name and time, but as it was.
                kind, what = "undo", ""
                shutil.rmtree(crate)
                shutil.copytree(before, crate)
                shutil.rmtree(before)
                before = None
            else:
                if before is not None:
                    shutil.rmtree(before)
                before = os.path.join(room, "before")
                shutil.copytree(crate, before)
                what = getattr(editor, kind)()
            if what is None:
                continue
            same = True
            for query in queries:
                warm = run(args, query, crate, cache, room + "/warm")
                cold = run(args, query, crate, None, room + "/cold")
                equal = subprocess.run(["cmp", "-s", room + "/warm", room + "/cold"], check=False)
                alike = warm[:2] == cold[:2] and equal.returncode == 0
                same = same and alike
                if args.verbose or not alike:
                    print("%s: edit %d: %s of %s, %s: warm %.3f s, cold %.3f s" %
                          ("same" if alike else "DIFFERENT", number, kind, what, query[0],
                           warm[2], cold[2]), flush=True)
            if not same:
                failed += 1
                keep = os.environ.get("KEEP")
                if keep:
                    shutil.rmtree(keep, ignore_errors=True)
                    shutil.copytree(room, keep)
                    break
        return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
