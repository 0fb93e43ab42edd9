#!/usr/bin/env python3
# ctest: @CLI@
# ctest-labels: slow
# ctest-timeout: 600
"""What is said of a file does not depend on modules that have nothing to do with it.

usage: independence.py CANDLE_GRAPH [--rounds N] [--seed N] [--keep DIR]

A crate has two modules that are looked at, and what they use. Every round puts other modules beside
them, in a random order: many names, functions that take too long, constants, configurations,
traits, macros. All rows about the two must be the same as without. The order of the declarations
changes nothing in the whole document, and neither does a second run or another layout of memory.
"""
import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import scan_cache  # noqa: E402  (templates of a crate)

WATCHED = """use candle_core::{Result, Tensor};
use candle_nn::{Module, VarBuilder};
use crate::common::Twice;

pub const WIDTH: usize = 4 * BASE;
const BASE: usize = 2;
const SCALE: fn(f64) -> f64 = |x| x * 2.0;

#[derive(Default)]
pub struct Config {
    pub hidden: usize,
    pub kind: String,
}

impl Config {
    pub fn small() -> Self {
        Self { hidden: 8, kind: "small".to_string() }
    }
}

pub trait Act {
    fn act(&self, xs: &Tensor) -> Result<Tensor>;
}

pub struct Relu;

impl Act for Relu {
    fn act(&self, xs: &Tensor) -> Result<Tensor> {
        xs.relu()
    }
}

pub struct Watched%(n)d {
    blocks: Vec<Block%(n)d>,
    head: candle_nn::Linear,
    kind: Tensor,
    act: Box<dyn Act>,
    scale: f64,
}

pub struct Block%(n)d {
    up: candle_nn::Linear,
    down: candle_nn::Linear,
    norm: crate::common::Norm,
}

fn table(n: usize) -> Vec<f32> {
    let mut all = Vec::new();
    for i in 0..n {
        for j in 0..n {
            all.push((i * j) as f32);
        }
    }
    all
}

impl Block%(n)d {
    pub fn new(cfg: &Config, vb: VarBuilder) -> Result<Self> {
        let up = candle_nn::linear(cfg.hidden, WIDTH, vb.pp("up"))?;
        let down = candle_nn::linear(WIDTH, cfg.hidden, vb.pp("down"))?;
        Ok(Self { up, down, norm: crate::common::norm(cfg.hidden, vb.pp("norm"))? })
    }

    pub fn forward(&self, xs: &Tensor, mask: Option<&Tensor>) -> Result<Tensor> {
        let ys = self.up.forward(&self.norm.apply_norm(xs)?)?;
        let ys = match mask {
            Some(mask) => ys.broadcast_mul(mask)?,
            None => ys,
        };
        self.down.forward(&ys.gelu()?)
    }
}

impl Watched%(n)d {
    pub fn new(cfg: &Config, vb: VarBuilder) -> Result<Self> {
        let blocks = (0..cfg.hidden)
            .map(|i| Block%(n)d::new(cfg, vb.pp("blocks").pp(i)))
            .collect::<Result<Vec<_>>>()?;
        let head = candle_nn::linear(cfg.hidden, WIDTH, vb.pp("head"))?;
        let _table = table(40);
        let kind = vb.get(WIDTH, &format!("{}.kind", cfg.kind))?;
        Ok(Self { blocks, head, kind, act: Box::new(Relu), scale: SCALE(1.0) })
    }

    pub fn forward(&self, xs: &Tensor, mask: Option<&Tensor>) -> Result<Tensor> {
        let mut ys = xs.twice()?;
        for block in &self.blocks {
            ys = (&ys + block.forward(&ys, mask)?)?;
        }
        let ys = self.act.act(&self.head.forward(&ys)?)?;
        ys.broadcast_add(&self.kind)? * self.scale
    }

    pub fn score(&self, xs: &Tensor, target: &Tensor) -> Result<Tensor> {
        let ys = self.forward(xs, None)?;
        let detached = ys.detach();
        candle_nn::loss::mse(&(ys / detached.log()?)?, target)
    }
}
"""

# Modules nobody above uses, some of them made to be a burden.
SLOW = """use candle_core::{Result, Tensor};
use candle_nn::VarBuilder;

fn f0(x: usize, t: &Tensor) -> Result<Tensor> { if x %% 2 == 0 { t + 1.0 } else { t * 2.0 } }
%(chain)s
pub struct Slow%(n)d { t: Tensor }

impl Slow%(n)d {
    pub fn new(x: usize, vb: VarBuilder) -> Result<Self> {
        let t = vb.get(x, "t")?;
        let t = f%(last)d(x, &t)?;
        Ok(Self { t })
    }

    pub fn forward(&self, x: usize, xs: &Tensor) -> Result<Tensor> {
        f%(last)d(x, &(xs + &self.t)?)
    }
}
"""

OTHERS = """use candle_core::{Result, Tensor};
use candle_nn::{Module, VarBuilder};

macro_rules! scale {
    ($x:expr) => { ($x * %(n)d.0)? };
}

pub const WIDTH: usize = %(n)d;
const SCALE: fn(f64) -> f64 = |x| x * %(n)d.0;

pub trait Act {
    fn act(&self, xs: &Tensor) -> Result<Tensor>;
}

pub struct Tanh;

impl Act for Tanh {
    fn act(&self, xs: &Tensor) -> Result<Tensor> {
        xs.tanh()
    }
}

pub struct Config { pub kind: String }

impl Config {
    pub fn other() -> Self { Self { kind: "other%(n)d".to_string() } }
}

pub struct Other%(n)d { w: Tensor, act: Box<dyn Act>, inner: candle_nn::Linear }

impl Other%(n)d {
    pub fn new(cfg: &Config, vb: VarBuilder) -> Result<Self> {
        let w = vb.get(WIDTH, &cfg.kind)?;
        let inner = candle_nn::linear(WIDTH, 2, vb.pp("inner"))?;
        Ok(Self { w, act: Box::new(Tanh), inner })
    }
}

impl Module for Other%(n)d {
    fn forward(&self, xs: &Tensor) -> Result<Tensor> {
        let xs = self.inner.forward(&scale!(xs))?;
        self.act.act(&xs.broadcast_mul(&self.w)?)? * SCALE(2.0)
    }
}
"""


def many(number, count):
    """Functions with names of their own: tables of names grow at every possible moment."""
    text = "use candle_core::{Result, Tensor};\n\n"
    for i in range(count):
        a, b = "a%d_%d" % (number, i), "b%d_%d" % (number, i)
        text += ("pub fn g%d(%s: &Tensor, %s: Option<&Tensor>) -> Result<Tensor> {\n"
                 "    let r = match %s { Some(x) => (%s + x)?, None => %s.clone() };\n"
                 "    r.exp()\n}\n\n" % (i, a, b, b, a, a))
    return text


def slow(number, depth):
    chain = ""
    for i in range(1, depth):
        chain += ("fn f%d(x: usize, t: &Tensor) -> Result<Tensor> {\n"
                  "    if x > %d { f%d(x + 1, &f%d(x, t)?) } else { f%d(x + 2, t) }\n}\n" %
                  (i, i, i - 1, i - 1, i - 1))
    return SLOW % {"n": number, "chain": chain, "last": depth - 1}


def others(chance, number):
    """Some modules: name, text."""
    found = []
    for i in range(chance.randint(0, 6)):
        kind = chance.choice(["layers", "many", "many", "slow", "others", "watched"])
        name = "%s%d_%d" % (chance.choice("abmwxz"), number, i)
        text = {"layers": lambda: scan_cache.LAYERS % {"n": 100 + i},
                "many": lambda: many(i, chance.randint(1, 40)),
                "slow": lambda: slow(i, chance.randint(3, 12)),
                "others": lambda: OTHERS % {"n": i + 3},
                "watched": lambda: WATCHED % {"n": 100 + i}}[kind]()
        found.append((name, text))
    return found


def write_crate(root, modules, chance):
    shutil.rmtree(root, ignore_errors=True)
    write = scan_cache.write
    write(root + "/Cargo.toml", scan_cache.MANIFEST)
    own = [("watched1", WATCHED % {"n": 1}), ("watched2", WATCHED % {"n": 2}),
           ("layers1", scan_cache.LAYERS % {"n": 1}), ("layers2", scan_cache.LAYERS % {"n": 2}),
           ("common", scan_cache.COMMON), ("model", scan_cache.MODEL)]
    names = []
    for name, text in own + modules:
        write("%s/src/%s.rs" % (root, name), text)
        names.append(name)
    chance.shuffle(names)
    write(root + "/src/lib.rs", "".join("pub mod %s;\n" % name for name in names))
    write(root + "/helper/src/lib.rs", scan_cache.HELPER)
    write(root + "/helper/Cargo.toml", '[package]\nname = "helper"\nversion = "0.1.0"\n'
          'edition = "2021"\n[dependencies]\ncandle-core = "0.9"\ncandle-nn = "0.9"\n')


def scan(program, root, prefix=()):
    command = list(prefix) + [program, "report", root, "--format", "json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          env=dict(os.environ, CANDLE_GRAPH_CACHE_DIR="/nonexistent"))
    if done.returncode not in (0, 3):
        print("%s ended with %d: %s" % (" ".join(command), done.returncode, done.stderr[:400]))
        sys.exit(1)
    return done.stdout


WATCHED_FILES = ("src/watched1.rs", "src/watched2.rs", "src/model.rs", "src/layers1.rs")


def facts(text):
    """Rows that stand in the watched files or belong to a function or component of theirs."""
    document = json.loads(text)
    owners = set()
    found = set()
    for kind in ("components", "functions"):
        for row in document[kind]:
            if row["location"]["file"] in WATCHED_FILES:
                owners.add(row["id"])
    for kind, rows in document.items():
        if not isinstance(rows, list):
            continue
        for row in rows:
            place = (row.get("location") or {}).get("file") or \
                (row.get("source") or "").rsplit(":", 1)[0]
            owner = row.get("owner_function") or row.get("function") or row.get("component")
            if row["id"] in owners or owner in owners or \
                    (kind == "findings" and place in WATCHED_FILES):
                found.add(kind + " " + json.dumps(row, sort_keys=True))
    return found


def without_order(text):
    """The document but for what depends on the text of lib.rs."""
    document = json.loads(text)
    document["cargo"].pop("source_fingerprint")
    return document


def tell(what, before, after):
    print("%s: %d rows before, %d after" % (what, len(before), len(after)))
    for sign, rows in (("-", before - after), ("+", after - before)):
        for row in sorted(rows)[:3]:
            print("  %s %s" % (sign, row[:700]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help="put the first crate that differs here")
    args = parser.parse_args()
    chance = random.Random(args.seed)
    failed = 0
    with tempfile.TemporaryDirectory() as room:
        root = os.path.join(room, "crate")
        write_crate(root, [], random.Random(0))
        alone = facts(scan(args.program, root))
        if len(alone) < 100:
            print("only %d rows about the watched files" % len(alone))
            return 1
        for number in range(args.rounds):
            modules = others(chance, number)
            write_crate(root, modules, chance)
            first = scan(args.program, root)
            again = facts(first)
            ok = again == alone
            if not ok:
                tell("round %d, beside %s" % (number, ", ".join(name for name, _ in modules)),
                     alone, again)
            if scan(args.program, root) != first:
                print("round %d: two runs differ" % number)
                ok = False
            if shutil.which("setarch") and number % 5 == 0 and \
                    scan(args.program, root, ("setarch", "-R")) != first:
                print("round %d: differs with a fixed layout of memory" % number)
                ok = False
            if number % 3 == 0:
                write_crate(root, modules, chance)
                if without_order(scan(args.program, root)) != without_order(first):
                    print("round %d: the order of the modules changes the document" % number)
                    ok = False
            failed += not ok
            if not ok and args.keep:
                shutil.rmtree(args.keep, ignore_errors=True)
                shutil.copytree(root, args.keep)
                break
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
