#!/usr/bin/env python3
# ctest: @CLI@
# ctest-timeout: 120
"""Layers whose sizes come from a list that is an argument: item k is one size wherever it is named.

usage: lists.py CANDLE-GRAPH [NAME ...]

Each case is the body of a constructor in a library, what its map holds for one argument, and
changes of that which no argument would give: the first file fits without a word, each of the
others is said to be of another shape, or to lack a key, and nothing more is claimed of it than
that.
"""
import json
import os
import subprocess
import sys
import tempfile

from programs import write_file

MANIFEST = """[package]
name = "model"
version = "0.1.0"
edition = "2021"

[dependencies]
candle-core = "0.11.0"
candle-nn = "0.11.0"
"""
SOURCE = """use candle_core::Result;
use candle_nn::*;
pub struct M { pub ls: Vec<Linear> }
impl M {
    pub fn new(%s, vb: VarBuilder) -> Result<Self> {
        %s
        Ok(M { ls })
    }
}
"""
LOOP = "let mut ls = vec![]; for %s { ls.push(%s?); }"
COLLECT = "let ls = %s.collect::<Result<Vec<_>>>()?;"
D = [16, 8, 12, 4]


def layers(*rows):
    held = {}
    for name, inner, outer in rows:
        held[name + ".weight"] = [outer, inner]
        held[name + ".bias"] = [outer]
    return held


def chain(name, sizes=D):
    return layers(*((name % i, sizes[i], sizes[i + 1]) for i in range(len(sizes) - 1)))


# name, arguments, body, what a map holds, {key: another shape or None}...
CASES = [
    ("windows", "dims: &[usize]",
     LOOP % ("(i, w) in dims.windows(2).enumerate()", "linear(w[0], w[1], vb.pp(i))"),
     chain("%d"), {"1.weight": [12, 9]}, {"1.bias": [8]}),
    ("windows_mapped", "dims: &[usize]",
     COLLECT % "dims.windows(2).enumerate().map(|(i, w)| linear(w[0], w[1], vb.pp(i)))",
     chain("%d"), {"2.weight": [4, 4]}),
    ("index_from_zero", "dims: &[usize]",
     LOOP % ("i in 0..dims.len() - 1",
             'linear(dims[i], dims[i + 1], vb.pp(format!("fc{}", i + 1)))'),
     layers(("fc1", 16, 8), ("fc2", 8, 12), ("fc3", 12, 4)), {"fc2.weight": [12, 16]},
     {"fc2.weight": None}),
    ("index_from_one", "dims: &[usize]",
     LOOP % ("i in 1..dims.len()", 'linear(dims[i - 1], dims[i], vb.pp(format!("fc{i}")))'),
     layers(("fc1", 16, 8), ("fc2", 8, 12), ("fc3", 12, 4)), {"fc3.weight": [4, 8]}),
    ("even_names", "dims: &[usize]",
     "let n = dims.len() - 1;" + COLLECT % (
         '(0..n).map(|i| linear(dims[i], dims[i + 1], vb.pp(format!("layers.{}", 2 * i))))'),
     layers(("layers.0", 16, 8), ("layers.2", 8, 12), ("layers.4", 12, 4)),
     {"layers.4.weight": [4, 16]}),
    ("zipped_with_the_rest", "dims: &[usize]",
     LOOP % ("(i, (a, b)) in dims.iter().zip(dims[1..].iter()).enumerate()",
             "linear(*a, *b, vb.pp(i))"),
     chain("%d"), {"1.weight": [12, 16]}),
    ("zipped_behind_one", "input: usize, dims: &[usize]",
     LOOP % ("(i, (a, b)) in std::iter::once(&input).chain(dims.iter()).zip(dims.iter())"
             ".enumerate()", "linear(*a, *b, vb.pp(i))"),
     chain("%d"), {"1.weight": [12, 16]}),
    ("windows_behind_one", "input: usize, hidden: &[usize], out: usize",
     "let mut dims = vec![input]; dims.extend_from_slice(hidden); let mut ls = vec![]; "
     "for (i, w) in dims.windows(2).enumerate() { ls.push(linear(w[0], w[1], vb.pp(i))?); } "
     'ls.push(linear(*dims.last().unwrap(), out, vb.pp("out"))?);',
     layers(("0", 5, 16), ("1", 16, 8), ("2", 8, 12), ("out", 12, 3)), {"1.weight": [8, 5]},
     {"0.bias": [15]}, {"out.bias": [4]}),
    ("the_first_is_another", "hidden: &[usize]",
     COLLECT % ("hidden.iter().enumerate().map(|(i, &h)| "
                "linear(if i == 0 { 7 } else { hidden[i - 1] }, h, vb.pp(i)))"),
     layers(("0", 7, 16), ("1", 16, 8), ("2", 8, 12)), {"2.bias": [8]}, {"0.weight": [16, 6]},
     {"1.weight": [8, 7]}),
    ("what_the_last_round_left", "input: usize, hidden: &[usize]",
     "let mut ls = vec![linear(input, 2, vb.pp(\"in\"))?]; let mut prev = input; "
     "for (i, &h) in hidden.iter().enumerate() "
     '{ ls.push(linear(prev, h, vb.pp(format!("l{i}")))?); prev = h; }',
     layers(("in", 16, 2), ("l0", 16, 8), ("l1", 8, 12), ("l2", 12, 4)),
     {"l0.weight": [8, 15]}, {"l2.weight": [4, 16]}),
    ("what_the_last_round_multiplied", "base: usize, mult: &[usize]",
     "let mut ls = vec![linear(3, base, vb.pp(\"in\"))?]; let mut prev = base; "
     "for (i, m) in mult.iter().enumerate() "
     '{ let out = base * m; ls.push(linear(prev, out, vb.pp(format!("l{i}")))?); prev = out; }',
     layers(("in", 3, 8), ("l0", 8, 8), ("l1", 8, 16), ("l2", 16, 32)),
     {"l1.weight": [16, 16]}, {"l2.weight": [32, 8]}),
    ("multiplied_lists", "width: usize, mult: &[usize]",
     "let mut ls = vec![linear(width, width, vb.pp(\"in\"))?]; "
     "for (i, m) in mult.iter().enumerate() { "
     "let ch = if i == 0 { width } else { width * mult[i - 1] }; "
     'ls.push(linear(ch, width * m, vb.pp(i))?); }',
     layers(("in", 8, 8), ("0", 8, 8), ("1", 8, 16), ("2", 16, 32)), {"2.weight": [32, 8]}),
    ("a_swap", "a: usize, dims: &[usize]",
     "let mut ls = vec![]; let mut x = a; let mut y = dims[0]; "
     "for (i, &d) in dims.iter().enumerate() "
     "{ ls.push(linear(x, y, vb.pp(i))?); x = y; y = d; }",
     layers(("0", 3, 16), ("1", 16, 16), ("2", 16, 8), ("3", 8, 12))),
    ("filtered", "dims: &[usize]",
     "let mut ls = vec![linear(dims[0], dims[1], vb.pp(\"a\"))?]; "
     "for (i, d) in dims.iter().filter(|d| **d > 8).enumerate() "
     "{ ls.push(linear(2, *d, vb.pp(i))?); }",
     layers(("a", 16, 8), ("0", 2, 16), ("1", 2, 12)), {"1.bias": [11]}),
    ("there_and_back", "dims: &[usize]",
     "let mut ls = vec![]; "
     'for (i, w) in dims.windows(2).enumerate() '
     '{ ls.push(linear(w[0], w[1], vb.pp(format!("e{i}")))?); } '
     'for (i, w) in dims.windows(2).rev().enumerate() '
     '{ ls.push(linear(w[1], w[0], vb.pp(format!("d{i}")))?); }',
     {**chain("e%d"), **layers(("d0", 4, 12), ("d1", 12, 8), ("d2", 8, 16))}),
    ("doubled", "base: usize, n: usize",
     "let mut ls = vec![]; let mut c = base; "
     "for i in 0..n { ls.push(linear(c, c * 2, vb.pp(i))?); c *= 2; }",
     layers(("0", 4, 8), ("1", 8, 16), ("2", 16, 32)), {"1.weight": [16, 9]},
     {"2.weight": [32, 8], "2.bias": [32]}),
    ("doubled_and_behind", "base: usize, n: usize",
     "let mut ls = vec![]; let mut c = base; "
     "for i in 0..n { ls.push(linear(c, c << 1, vb.pp(i))?); c <<= 1; } "
     'ls.push(linear(c, 3, vb.pp("out"))?);',
     layers(("0", 4, 8), ("1", 8, 16), ("2", 16, 32), ("out", 32, 3)), {"1.weight": [16, 9]},
     {"out.bias": [4]}),
    ("halved", "base: usize, n: usize",
     "let mut ls = vec![]; let mut c = base; "
     "for i in 0..n { let half = c / 2; ls.push(linear(c, half, vb.pp(i))?); c = half; }",
     layers(("0", 35, 17), ("1", 17, 8), ("2", 8, 4)), {"1.weight": [8, 35]}),
    ("shifted", "base: usize, n: usize",
     LOOP % ("i in 0..n", "linear(base << i, base >> i, vb.pp(i))"),
     layers(("0", 4, 4), ("1", 8, 2), ("2", 16, 1)), {"2.weight": [1, 8]}),
    ("behind_the_loop", "input: usize, hidden: &[usize], out: usize",
     "let mut ls = vec![]; let mut prev = input; for (i, &h) in hidden.iter().enumerate() "
     '{ ls.push(linear(prev, h, vb.pp(format!("l{i}")))?); prev = h; } '
     'ls.push(linear(prev, out, vb.pp("out"))?);',
     layers(("l0", 5, 16), ("l1", 16, 8), ("out", 8, 3)), {"out.weight": [3, 9], "out.bias": [4]}),
    ("down_and_up", "mult: &[usize], base: usize",
     "let mut ls = vec![]; let mut c = base; for (i, m) in mult.iter().enumerate() { "
     "let o = base * m; ls.push(linear(c, o, vb.pp(i))?); c = o; } "
     'ls.push(linear(c, 3, vb.pp("mid"))?); for (i, m) in mult.iter().rev().enumerate() { '
     'let o = base * m; ls.push(linear(c + o, o, vb.pp("up").pp(i))?); c = o; }',
     layers(("0", 4, 4), ("1", 4, 8), ("2", 8, 16), ("mid", 16, 3), ("up.0", 32, 16),
            ("up.1", 24, 8), ("up.2", 12, 4)), {"1.weight": [8, 8]}),
    ("reversed_in_place", "dims: &[usize]",
     "let mut r = dims.to_vec(); r.reverse();" + LOOP % (
         "i in 0..r.len() - 1", "linear(r[i], r[i + 1], vb.pp(i))"),
     chain("%d", D[::-1]), {"1.weight": [12, 9]}),
    ("sorted", "dims: &[usize]",
     "let mut r = dims.to_vec(); r.sort();" + LOOP % (
         "i in 0..r.len() - 1", "linear(r[i], r[i + 1], vb.pp(i))"),
     chain("%d", [4, 8, 12, 16])),
    ("thinned", "dims: &[usize]",
     "let mut r = dims.to_vec(); r.retain(|d| *d > 4);" + LOOP % (
         "i in 0..r.len() - 1", "linear(r[i], r[i + 1], vb.pp(i))"),
     chain("%d", [16, 8, 12])),
    ("rotated", "dims: &[usize]",
     "let mut r = dims.to_vec(); r.rotate_left(1);" + LOOP % (
         "i in 0..r.len() - 1", "linear(r[i], r[i + 1], vb.pp(i))"),
     chain("%d", [8, 12, 4, 16])),
    ("swapped", "dims: &[usize]",
     "let mut r = dims.to_vec(); r.swap(0, 2);" + LOOP % (
         "i in 0..r.len() - 1", "linear(r[i], r[i + 1], vb.pp(i))"),
     chain("%d", [12, 8, 16, 4])),
    ("taken_out", "dims: &[usize]",
     "let mut r = dims.to_vec(); r.remove(0);" + LOOP % (
         "i in 0..r.len() - 1", "linear(r[i], r[i + 1], vb.pp(i))"),
     chain("%d", [8, 12, 4])),
    ("exchanged", "dims: &[usize]",
     "let mut r = dims.to_vec(); r.splice(0..1, [5, 6]);" + LOOP % (
         "i in 0..r.len() - 1", "linear(r[i], r[i + 1], vb.pp(i))"),
     chain("%d", [5, 6, 8, 12, 4])),
    ("made_longer", "dims: &[usize]",
     "let mut r = dims.to_vec(); r.resize(5, 3);" + LOOP % (
         "i in 0..r.len() - 1", "linear(r[i], r[i + 1], vb.pp(i))"),
     chain("%d", [16, 8, 12, 4, 3])),
    ("filtered_and_counted", "dims: &[usize]",
     "let r: Vec<usize> = dims.iter().copied().filter(|d| *d > 4).collect();" + LOOP % (
         "i in 0..r.len() - 1", "linear(r[i], r[i + 1], vb.pp(i))"),
     chain("%d", [16, 8, 12])),
    ("first_and_last", "dims: &[usize]",
     'let mut ls = vec![linear(5, dims[0], vb.pp("in"))?]; for i in 0..dims.len() - 1 '
     "{ ls.push(linear(dims[i], dims[i + 1], vb.pp(i))?); }",
     {**layers(("in", 5, 16)), **chain("%d")}, {"in.weight": [8, 5], "in.bias": [8]}),
    ("counted_from_one", "n: usize",
     COLLECT % '(1..=n).map(|i| linear(3, i, vb.pp(format!("b{i}"))))',
     layers(*(("b%d" % i, 3, i) for i in range(1, 5))), {"b2.bias": [3]}),
    ("backwards_and_counted", "n: usize",
     LOOP % ("(j, i) in (0..n).rev().enumerate()",
             'linear(3, 8 * (i + 1), vb.pp(format!("up{j}")))'),
     layers(*(("up%d" % j, 3, 8 * (3 - j)) for j in range(3))), {"up0.bias": [8]}),
    ("backwards", "dims: &[usize]",
     LOOP % ("i in (0..dims.len()).rev()", 'linear(3, dims[i], vb.pp(format!("up{i}")))'),
     layers(*(("up%d" % j, 3, D[j]) for j in range(4))), {"up0.bias": [8]}),
    ("a_sum_backwards", "n: usize",
     "let mut ls = vec![]; let mut c = 4; for i in (0..n).rev() "
     "{ ls.push(linear(3, c, vb.pp(i))?); c += 4; }",
     layers(*(("%d" % i, 3, 4 * (3 - i)) for i in range(3))), {"0.bias": [4]}),
    ("a_list_backwards", "mult: &[usize]",
     LOOP % ("(i, m) in mult.iter().rev().enumerate()",
             'linear(8 * m, 2, vb.pp(format!("up{i}")))'),
     layers(("up0", 32, 2), ("up1", 16, 2), ("up2", 8, 2)), {"up2.weight": [2, 9]}),
    ("every_second_backwards", "n: usize",
     "let _a = linear(n, n, vb.pp(\"a\"))?;" + COLLECT % (
         '(2..n).rev().step_by(2).map(|i| linear(2, i, vb.pp(format!("z{i}"))))'),
     layers(("a", 6, 6), ("z5", 2, 5), ("z3", 2, 3))),
    ("without_the_first", "dims: &[usize]",
     LOOP % ("(i, d) in dims.iter().enumerate().skip(1)", "linear(4, *d, vb.pp(i))"),
     layers(("1", 4, 8), ("2", 4, 12), ("3", 4, 4)), {"2.bias": [8]}, {"1.bias": None}),
    ("counted_without_the_first", "dims: &[usize]",
     LOOP % ("(i, d) in dims.iter().skip(1).enumerate()", "linear(dims[0], *d, vb.pp(i))"),
     layers(("0", 16, 8), ("1", 16, 12), ("2", 16, 4)), {"2.weight": [4, 8]}),
    ("every_second", "n: usize",
     LOOP % ("i in (0..n).step_by(2)", 'linear(3, i + 2, vb.pp(format!("s{i}")))'),
     layers(("s0", 3, 2), ("s2", 3, 4), ("s4", 3, 6)), {"s2.bias": [2]}, {"s2.bias": None}),
    ("two_places", "n: usize",
     LOOP % ("i in 0..n", 'linear(4, 4, vb.pp(format!("layer{i:02}")))'),
     layers(("layer00", 4, 4), ("layer01", 4, 4), ("layer02", 4, 4)), {"layer01.bias": None}),
    ("two_places_and_sizes", "dims: &[usize]",
     LOOP % ("(i, w) in dims.windows(2).enumerate()",
             'linear(w[0], w[1], vb.pp(format!("layer_{:03}", i + 1)))'),
     layers(("layer_001", 16, 8), ("layer_002", 8, 12), ("layer_003", 12, 4)),
     {"layer_002.weight": [12, 16]}),
    ("blanks", "n: usize",
     LOOP % ("i in 0..n", 'linear(4, i + 1, vb.pp(format!("b{:>2}", i)))'),
     layers(*(("b%2d" % i, 4, i + 1) for i in range(11))), {"b 1.bias": [1]},
     {"b10.bias": None}),
    ("one_of_three_kinds", "kinds: &[usize]",
     LOOP % ("(i, k) in kinds.iter().enumerate()",
             'match k { 0 => linear(3, 4, vb.pp(format!("l{i:02}"))), '
             '1 => { conv1d(3, 4, 5, Default::default(), vb.pp(format!("l{i:02}")))?; todo!() } '
             '_ => { layer_norm(7, 1e-5, vb.pp(format!("l{i:02}")))?; todo!() } }'),
     {**layers(("l00", 3, 4)), "l01.weight": [4, 3, 5], "l01.bias": [4], "l02.weight": [7],
      "l02.bias": [7]}),
]


def audit(binary, crate, held):
    file = os.path.join(crate, "model.safetensors")
    write_file(file, held)
    run = subprocess.run([binary, "audit", os.path.join(crate, "out"), "--path", crate,
                          "--checkpoint", file, "--format", "json"],
                         stdin=subprocess.DEVNULL, capture_output=True)
    return json.loads(run.stdout)


def faults_of(report):
    return {"shape": [row["key"] for row in report["shape_mismatches"]],
            "missing": report["missing_certain"] + report["missing_conditional"],
            "unclaimed": report["unclaimed"],
            "diagnosis": [row["code"] for row in report["diagnosis"]]}


def judge(binary, case, folder):
    name, arguments, body, held, *changes = case
    crate = os.path.join(folder, name)
    os.makedirs(os.path.join(crate, "src"))
    with open(os.path.join(crate, "Cargo.toml"), "w") as file:
        file.write(MANIFEST)
    with open(os.path.join(crate, "src", "lib.rs"), "w") as file:
        file.write(SOURCE % (arguments, body))
    report = audit(binary, crate, held)
    faults = faults_of(report)
    bad = []
    if any(faults.values()) or report["matched_tensors"] != len(held):
        bad.append("%s: a file that fits: %s" % (name, faults))
    for change in changes:
        other = {key: change.get(key, shape) for key, shape in held.items()
                 if change.get(key, shape) is not None}
        faults = faults_of(audit(binary, crate, other))
        lacks = [key for key, shape in change.items() if shape is None]
        if faults["missing"] != lacks or (not lacks and not faults["shape"]):
            bad.append("%s with %s: %s" % (name, change, faults))
    return bad


def main():
    binary = os.path.abspath(sys.argv[1])
    bad = []
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            if len(sys.argv) == 2 or case[0] in sys.argv[2:]:
                bad += judge(binary, case, folder)
    print("\n".join(bad) if bad else "%d cases" % len(CASES))
    return 1 if bad else 0


sys.exit(main())
