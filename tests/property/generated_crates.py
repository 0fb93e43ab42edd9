#!/usr/bin/env python3
# ctest: @CLI@ 1000
# ctest-labels: slow
# ctest-timeout: 300
"""Crates written from a known list of parameters, and the list the tool finds in them.

usage: generated_crates.py CANDLE-GRAPH [COUNT [FIRST-SEED]] [--keep DIR]

Every crate is made from a random tree of modules whose parameters are known before a line of Rust
is written: key, certainty, rank. The Rust spells it in one of many ways - files, inline modules,
aliases, globs and re-exports, equal names in different modules, loops, iterators, closures,
helpers, constants, configuration, traits, generics, macros. What `query parameters` answers for
the outermost component has to be that list: every key, no other certain key, certainty and rank
as known. Prints the seed of a crate that differs; the same seed writes the same crate again.
"""

import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

MANIFEST = """[package]
name = "made"
version = "0.1.0"
edition = "2021"

[dependencies]
candle = { package = "candle-core", version = "0.11.0" }
candle-nn = "0.11.0"
"""


class Key:
    def __init__(self, text, certain, rank, repeated=False):
        self.text, self.certain, self.rank, self.repeated = text, certain, rank, repeated


class Writer:
    """One crate: modules of Rust text, and the keys of its outermost type."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.modules = {}  # name -> list of lines
        self.serial = 0
        self.helpers = set()
        self.taken = set()

    def pick(self, *options):
        return self.r.choice(options)

    def fresh(self, stem):
        self.serial += 1
        return "%s%d" % (stem, self.serial)

    # -- pieces of text

    def prefix(self, vb, name):
        """An expression for the builder below `name`, and lines before it."""
        way = self.r.randrange(24)
        if way >= 9:
            return self.odd_prefix(vb, name, way - 9)
        if way == 0:
            return [], '%s.pp("%s")' % (vb, name)
        if way == 1:
            var = self.fresh("sub")
            return ['let %s = %s.pp("%s");' % (var, vb, name)], "%s.clone()" % var
        if way == 2:
            return [], '%s.pp(format!("{}", "%s"))' % (vb, name)
        if way == 3:
            const = self.fresh("NAME")
            return ['const %s: &str = "%s";' % (const, name)], "%s.pp(%s)" % (vb, const)
        if way == 4:
            var = self.fresh("name")
            return ['let %s = String::from("%s");' % (var, name)], "%s.pp(&%s)" % (vb, var)
        if way == 5:
            return [], '{ let inner = %s.clone(); inner.pp("%s".to_string()) }' % (vb, name)
        if way == 6:
            var = self.fresh("under")
            return ["let %s = |s: &str| %s.pp(s);" % (var, vb)], '%s("%s")' % (var, name)
        if way == 7:
            return [], '(&%s).push_prefix("%s")' % (vb, name)
        var = self.fresh("part")
        return ['let %s = if true { "%s" } else { "never" };' % (var, name)], "%s.pp(%s)" % (
            vb,
            var,
        )

    def odd_prefix(self, vb, name, way):
        """Texts that are put together first, and builders that come from elsewhere."""
        var, half = self.fresh("text"), len(name) // 2
        if way == 0:
            return [
                "let mut %s = String::new();" % var,
                '%s.push_str("%s");' % (var, name[:half]),
                '%s += "%s";' % (var, name[half:]),
            ], "%s.pp(&%s)" % (vb, var)
        if way == 1:
            return [
                'let %s = [%s].join(".");'
                % (var, ", ".join('"%s"' % part for part in name.split(".")))
            ], "%s.pp(%s)" % (vb, var)
        if way == 2:
            return [
                'let %s = "%s".replace("-", ".");' % (var, name.replace(".", "-"))
            ], "%s.pp(&%s)" % (vb, var)
        if way == 3:
            return [
                "let mut %s = std::collections::HashMap::new();" % var,
                '%s.insert("key", "%s");' % (var, name),
                '%s.insert("other", "never");' % var,
            ], '%s.pp(%s["key"])' % (vb, var)
        if way == 4:
            return [
                'let %s = concat!("%s", "%s");' % (var, name[:half], name[half:])
            ], "%s.pp(%s)" % (vb, var)
        if way == 5:
            return [
                "let mut %s = %s.clone();" % (var, vb),
                "for part in \"%s\".split('.') { %s = %s.pp(part); }" % (name, var, var),
            ], var
        if way == 6:
            return [
                'let %s = match 2 + 1 { 3 => "%s", _ => "never" };' % (var, name)
            ], "%s.pp(%s)" % (vb, var)
        if way == 7:
            self.helpers.add("names")
            return [
                'static %s: [&str; 2] = ["never", "%s"];' % (var.upper(), name)
            ], "%s.pp(%s[1])" % (vb, var.upper())
        if way == 8:
            return [
                'let %s = Some("%s");' % (var, name)
            ], 'match %s { Some(k) => %s.pp(k), None => %s.pp("never") }' % (var, vb, vb)
        if way == 9:
            return ['let [_, %s] = ["never", "%s"];' % (var, name)], "%s.pp(%s)" % (vb, var)
        if way == 10:
            return [
                "let %s = crate::helpers::Scope::new(%s.clone());" % (var, vb)
            ], '%s.below("%s").vb' % (var, name)
        if way == 11:
            return ["use crate::helpers::Below;"], '%s.below("%s")' % (vb, name)
        if way == 12:
            return ["let %s = std::sync::Arc::new(%s.clone());" % (var, vb)], '%s.pp("%s")' % (
                var,
                name,
            )
        if way == 13:
            return [
                ('let %s = \'found: { if cfg!(windows) && cfg!(unix) { break \'found "never"; } '
                '"%s" };')
                % (var, name)
            ], "%s.pp(%s)" % (vb, var)
        return ['let %s = { let %s = %s.pp("%s"); %s };' % (var, vb, vb, name, vb)], var

    def number(self):
        return self.pick("cfg.width", "cfg.inner", "4", "2 * 3", "cfg.width / 2", "WIDTH")

    def leaf(self, name):
        """Lines, expression, type and keys of one registration at `name`."""
        before, at = self.prefix("vb", name)
        a, b = self.number(), self.number()
        way = self.r.randrange(20)
        key = lambda part, certain, rank: Key(name + "." + part, certain, rank)
        if way == 0:
            return (
                before,
                "candle_nn::linear(%s, %s, %s)?" % (a, b, at),
                "candle_nn::Linear",
                [key("weight", True, 2), key("bias", True, 1)],
            )
        if way == 1:
            return (
                before + ["use candle_nn::linear_no_bias as project;"],
                "project(%s, %s, %s)?" % (a, b, at),
                "candle_nn::Linear",
                [key("weight", True, 2)],
            )
        if way == 2:
            return (
                before,
                "candle_nn::linear_b(%s, %s, cfg.bias, %s)?" % (a, b, at),
                "candle_nn::Linear",
                [key("weight", True, 2), key("bias", False, 1)],
            )
        if way == 3:
            return (
                before,
                "candle_nn::layer_norm(%s, 1e-5, %s)?" % (a, at),
                "candle_nn::LayerNorm",
                [key("weight", True, 1), key("bias", True, 1)],
            )
        if way == 4:
            return (
                before,
                "candle_nn::rms_norm(%s, cfg.eps, %s)?" % (a, at),
                "candle_nn::RmsNorm",
                [key("weight", True, 1)],
            )
        if way == 5:
            return (
                before,
                "nn::embedding(%s, %s, %s)?" % (a, b, at),
                "candle_nn::Embedding",
                [key("weight", True, 2)],
            )
        if way == 6:
            return (
                before,
                '%s.get((%s, %s), "gain")?' % (at, a, b),
                "Tensor",
                [key("gain", True, 2)],
            )
        if way == 7:
            return (
                before,
                "nn::conv2d(%s, %s, 3, Default::default(), %s)?" % (a, b, at),
                "candle_nn::Conv2d",
                [key("weight", True, 4), key("bias", True, 1)],
            )
        if way == 8:
            self.helpers.add("affine")
            return (
                before,
                "crate::helpers::affine(%s, %s, %s, %s)?"
                % (a, b, "true" if (sure := self.r.random() < 0.5) else "false", at),
                "candle_nn::Linear",
                [key("weight", True, 2)] + ([key("bias", True, 1)] if sure else []),
            )
        weight = [key("weight", True, 2)]
        plain = "candle_nn::linear_no_bias(%s, %s, %s)" % (a, b, at)
        if way == 10:
            return (
                before,
                "match %s { Ok(made) => made, Err(error) => return Err(error) }" % plain,
                "candle_nn::Linear",
                weight,
            )
        if way == 11:
            return before, "%s.and_then(|made| Ok(made))?" % plain, "candle_nn::Linear", weight
        if way == 12:
            var = self.fresh("make")
            return (
                before
                + [
                    ("let %s: Box<dyn Fn(VarBuilder) -> Result<nn::Linear>> = Box::new(|v| "
                    "nn::linear_no_bias(%s, %s, v));")
                    % (var, a, b)
                ],
                "%s(%s)?" % (var, at),
                "candle_nn::Linear",
                weight,
            )
        if way == 13:
            return (
                before,
                "crate::helpers::maker(%s, %s)(%s)?" % (a, b, at),
                "candle_nn::Linear",
                weight,
            )
        if way == 14:
            return before, "crate::project!(%s, %s, %s)" % (a, b, at), "candle_nn::Linear", weight
        if way == 15:
            return (
                before,
                "crate::helpers::with(%s, |v| nn::linear_no_bias(%s, %s, v))?" % (at, a, b),
                "candle_nn::Linear",
                weight,
            )
        if way == 16:
            return (
                before,
                "crate::helpers::gated(%s, %s, %s, Default::default())?" % (a, b, at),
                "candle_nn::Linear",
                weight,
            )
        if way == 17:
            return before, "%s.ok()" % plain, "Option<candle_nn::Linear>", [key("weight", False, 2)]
        if way == 18:
            return (
                before,
                "<nn::Linear as crate::helpers::Keyed>::keyed(%s, %s, %s)?" % (a, b, at),
                "candle_nn::Linear",
                [key("keyed.weight", True, 2)],
            )
        self.helpers.add("raw")
        return (
            before,
            '{ let here = %s; crate::helpers::raw(&here, "scale", %s)? }' % (at, a),
            "Tensor",
            [key("scale", True, 1)],
        )

    # -- types

    def module_for(self):
        """The name of a module to write a type into: an old one or a new one."""
        if self.modules and self.r.random() < 0.3:
            return self.r.choice(list(self.modules))
        name = self.fresh("part")
        self.modules[name] = []
        return name

    def type(self, depth):
        """Write a type; returns (module, type name, constructor, keys below its builder)."""
        module = self.module_for()
        name = next(
            n
            for n in (self.pick("Block", "Layer", "Mlp", "Attention"), self.fresh("Unit"))
            if (module, n) not in self.taken
        )
        self.taken.add((module, name))
        fields, lines, uses, keys = [], [], [], []
        for _ in range(self.r.randint(1, 4)):
            field = self.fresh("f")
            key_name = self.pick(field, "%s.inner" % field, "proj_%s" % field)
            kind = self.r.random()
            if depth == 0 or kind < 0.45:
                before, value, kind_name, found = self.leaf(key_name)
                lines += before
                fields.append((field, kind_name, value))
                keys += found
                continue
            child_module, child, constructor, below = self.type(depth - 1)
            path = "crate::%s::%s" % (child_module, child)
            call_name = path
            if self.r.random() < 0.3 and not any(("use %s as" % path) in u for u in uses):
                call_name = self.fresh("Alias")
                uses.append("use %s as %s;" % (path, call_name))
            if kind < 0.65:
                before, at = self.prefix("vb", key_name)
                lines += before
                fields.append((field, path, "%s::%s(cfg, %s)?" % (call_name, constructor, at)))
                keys += [Key(key_name + "." + k.text, k.certain, k.rank, k.repeated) for k in below]
            elif kind < 0.85:
                found = self.family(field, key_name, call_name, constructor, lines)
                fields.append((field, "Vec<%s>" % path, field))
                keys += [
                    Key(
                        "%s.%s" % (key_name, p) + "." + k.text,
                        k.certain and sure,
                        k.rank,
                        k.repeated or many,
                    )
                    for p, sure, many in found
                    for k in below
                ]
            else:
                before, at = self.prefix("vb", key_name)
                lines += before
                value = self.pick(
                    "%s::%s(cfg, %s).ok()" % (call_name, constructor, at),
                    "cfg.maybe.map(|_| %s::%s(cfg, %s)).transpose()?"
                    % (call_name, constructor, at),
                    "if cfg.extra { Some(%s::%s(cfg, %s)?) } else { None }"
                    % (call_name, constructor, at),
                    "cfg.extra.then(|| %s::%s(cfg, %s)).transpose()?"
                    % (call_name, constructor, at),
                    "match cfg.extra { true => Some(%s::%s(cfg, %s)?), false => None }"
                    % (call_name, constructor, at),
                )
                fields.append((field, "Option<%s>" % path, value))
                keys += [Key(key_name + "." + k.text, False, k.rank, k.repeated) for k in below]
        constructor = self.pick("new", "load", "build")
        self.modules[module] += self.spell(name, constructor, fields, lines, uses)
        return module, name, constructor, keys

    def family(self, field, key_name, call_name, constructor, lines):
        """Lines that make a Vec called `field`; parts below key_name: (text, certain, family)."""
        way = self.r.randrange(14)
        make = lambda at: "%s::%s(cfg, %s)" % (call_name, constructor, at)
        if way == 0:
            lines += [
                "let mut %s = Vec::with_capacity(cfg.count);" % field,
                "for i in 0..cfg.count {",
                "    %s.push(%s?);" % (field, make('vb.pp("%s").pp(i)' % key_name)),
                "}",
            ]
            return [("{}", True, True)]
        if way == 1:
            lines.append(
                "let %s = (0..cfg.count).map(|n| %s).collect::<Result<Vec<_>>>()?;"
                % (field, make('vb.pp(format!("%s.{n}"))' % key_name))
            )
            return [("{}", True, True)]
        if way == 2:
            lines += [
                'let vb_list = vb.pp("%s");' % key_name,
                "let mut %s = vec![];" % field,
                "let mut at = 0;",
                "while at < cfg.count {",
                "    %s.push(%s?);" % (field, make("vb_list.pp(at.to_string())")),
                "    at += 1;",
                "}",
            ]
            return [("{}", True, True)]
        if way == 3:
            names = ["a", "b", "c"][: self.r.randint(1, 3)]
            lines += [
                "let mut %s = Vec::new();" % field,
                "for name in [%s] {" % ", ".join('"%s"' % n for n in names),
                "    %s.push(%s?);" % (field, make('vb.pp("%s").pp(name)' % key_name)),
                "}",
            ]
            return [(n, True, False) for n in names]
        if way == 4:
            count = self.r.randint(1, 3)
            lines.append(
                "let %s = vec![%s];"
                % (
                    field,
                    ", ".join("%s?" % make('vb.pp("%s.%d")' % (key_name, i)) for i in range(count)),
                )
            )
            return [(str(i), True, False) for i in range(count)]
        names = self.r.sample(["a", "b", "c", "d"], self.r.randint(1, 3))
        quoted = ", ".join('"%s"' % n for n in names)
        known = [(n, True, False) for n in names]
        each = make('vb.pp("%s").pp(name)' % key_name)
        if way == 6:
            lines += [
                "let mut names = vec![%s];" % quoted,
                "let mut %s = vec![];" % field,
                "while let Some(name) = names.pop() { %s.push(%s?); }" % (field, each),
            ]
            return known
        if way == 7:
            lines += [
                "let mut names = [%s].into_iter();" % quoted,
                "let mut %s = vec![];" % field,
                "while let Some(name) = names.next() {",
                "    let made = %s?;" % each,
                "    %s.push(made);" % field,
                "}",
            ]
            return known
        if way == 8:
            lines += [
                ("let %s = [%s].iter().try_fold(vec![], |mut all, name| -> Result<Vec<_>> { "
                "all.push(%s?); Ok(all) })?;")
                % (field, quoted, each)
            ]
            return known
        if way == 9:
            lines += [
                "let mut %s = Vec::new();" % field,
                "%s.extend([%s].iter().map(|name| %s).collect::<Result<Vec<_>>>()?);"
                % (field, quoted, each),
            ]
            return known
        if way == 10:
            lines += [
                "let mut %s = vec![];" % field,
                "'all: for round in 0..3 {",
                "    for name in [%s] {" % quoted,
                "        if round == 1 { break 'all; }",
                "        %s.push(%s?);" % (field, each),
                "    }",
                "}",
            ]
            return known
        if way == 11:
            lines += [
                "let mut table = std::collections::BTreeMap::new();",
                "for name in [%s] { table.insert(name.to_string(), %s?); }" % (quoted, each),
                "let %s = table.into_values().collect::<Vec<_>>();" % field,
            ]
            return known
        if way == 12:
            lines += [
                ('let %s = std::iter::once("never").chain([%s]).skip(1).map(|name| '
                '%s).collect::<Result<Vec<_>>>()?;')
                % (field, quoted, each)
            ]
            return known
        lines += [
            "let mut %s = Vec::new();" % field,
            "for (index, _width) in cfg.widths.iter().enumerate() {",
            '    let vb = vb.pp("%s").pp(index);' % key_name,
            "    %s.push(%s?);" % (field, make("vb")),
            "}",
        ]
        return [("{}", True, True)]

    def spell(self, name, constructor, fields, lines, uses):
        out = ["pub struct %s {" % name] + ["    %s: %s," % (f, t) for f, t, _ in fields] + ["}"]
        way = self.r.randrange(4)
        once = "use candle_nn::linear_no_bias as project;"
        body = (
            list(uses)
            + ["const WIDTH: usize = 8;"]
            + ([once] if once in lines else [])
            + [line for line in lines if line != once]
        )
        if way == 0:
            made = (
                ["Ok(Self {"]
                + ["    %s: %s," % (f, v) if v != f else "    %s," % f for f, _, v in fields]
                + ["})"]
            )
        elif way == 1:
            made = ["let %s = %s;" % (f, v) for f, _, v in fields if v != f] + [
                "Ok(Self { %s })" % ", ".join(f for f, _, _ in fields)
            ]
        elif way == 2:
            made = (
                ["let made = %s {" % name]
                + ["    %s: %s," % (f, v) for f, _, v in fields]
                + ["};", "return Ok(made);"]
            )
        else:
            made = ["let parts = (%s,);" % ", ".join(v for _, _, v in fields)] + [
                "Ok(Self { %s })"
                % ", ".join("%s: parts.%d" % (f, i) for i, (f, _, _) in enumerate(fields))
            ]
        indent = lambda block, n: ["    " * n + b for b in block]
        if self.r.random() < 0.2:
            trait = self.fresh("Build")
            out += (
                [
                    "pub trait %s: Sized { fn make(cfg: &Config, vb: VarBuilder) -> Result<Self>; }"
                    % trait,
                    "impl %s for %s {" % (trait, name),
                    "    fn make(cfg: &Config, vb: VarBuilder) -> Result<Self> {",
                ]
                + indent(body + made, 2)
                + [
                    "    }",
                    "}",
                    "impl %s {" % name,
                    "    pub fn %s(cfg: &Config, vb: VarBuilder) -> Result<Self> {" % constructor,
                    "        <Self as %s>::make(cfg, vb)" % trait,
                    "    }",
                    "}",
                ]
            )
        else:
            out += (
                [
                    "impl %s {" % name,
                    "    pub fn %s(cfg: &Config, vb: VarBuilder) -> Result<Self> {" % constructor,
                ]
                + indent(body + made, 2)
                + ["    }", "}"]
            )
        return out

    def crate(self, home):
        module, name, constructor, keys = self.type(self.r.randint(0, 2))
        head = [
            "use crate::Config;",
            "#[allow(unused_imports)]",
            "use candle::{Result, Tensor};",
            "#[allow(unused_imports)]",
            "use candle_nn as nn;",
            "use candle_nn::VarBuilder;",
        ]
        os.makedirs(os.path.join(home, "src"))
        lib = [
            "use candle::{Result, Tensor};",
            "use candle_nn::VarBuilder;",
            ("pub struct Config { pub width: usize, pub inner: usize, pub count: usize, pub "
            "bias: bool, pub extra: bool, pub eps: f64, pub maybe: Option<usize>, pub widths: "
            "Vec<usize> }"),
        ]
        self.modules["helpers"] = [
            "pub fn affine(i: usize, o: usize, bias: bool, vb: VarBuilder) -> Result<nn::Linear> {",
            "    if bias { nn::linear(i, o, vb) } else { nn::linear_no_bias(i, o, vb) }",
            "}",
            ("pub fn maker(i: usize, o: usize) -> impl Fn(VarBuilder) -> Result<nn::Linear> { "
            "move |vb| nn::linear_no_bias(i, o, vb) }"),
            ("pub fn with<T, F: FnOnce(VarBuilder) -> Result<T>>(vb: VarBuilder, make: F) -> "
            "Result<T> { make(vb) }"),
            "#[derive(Default)] pub struct Options { pub bias: bool }",
            ("pub fn gated(i: usize, o: usize, vb: VarBuilder, options: Options) -> "
            "Result<nn::Linear> { nn::linear_b(i, o, options.bias, vb) }"),
            ("pub trait Keyed: Sized { const KEY: &'static str; fn at(i: usize, o: usize, vb: "
            "VarBuilder) -> Result<Self>;"),
            ("    fn keyed(i: usize, o: usize, vb: VarBuilder) -> Result<Self> { Self::at(i, o, "
            "vb.pp(Self::KEY)) } }"),
            'impl Keyed for nn::Linear { const KEY: &\'static str = "keyed";',
            ("    fn at(i: usize, o: usize, vb: VarBuilder) -> Result<Self> { "
            "nn::linear_no_bias(i, o, vb) } }"),
            "pub struct Scope<'a> { pub vb: VarBuilder<'a> }",
            "impl<'a> Scope<'a> { pub fn new(vb: VarBuilder<'a>) -> Self { Self { vb } }",
            "    pub fn below(&self, name: &str) -> Scope<'a> { Scope { vb: self.vb.pp(name) } } }",
            "pub trait Below { fn below(&self, name: &str) -> Self; }",
            ("impl Below for VarBuilder<'_> { fn below(&self, name: &str) -> Self { "
            "self.pp(name) } }"),
            ("#[macro_export] macro_rules! project { ($i:expr, $o:expr, $vb:expr) => { "
            "candle_nn::linear_no_bias($i, $o, $vb)? }; }"),
            ("pub fn raw(vb: &VarBuilder, name: &str, n: usize) -> Result<Tensor> { vb.get(n, "
            "name) }"),
        ]
        for part, lines in self.modules.items():
            text = "\n".join(head + lines) + "\n"
            if self.r.random() < 0.3:
                lib.append("pub mod %s {\n%s}" % (part, text))
            elif self.r.random() < 0.2:
                os.makedirs(os.path.join(home, "src", part))
                open(os.path.join(home, "src", part, "mod.rs"), "w").write(text)
                lib.append("pub mod %s;" % part)
            else:
                open(os.path.join(home, "src", part + ".rs"), "w").write(text)
                lib.append("pub mod %s;" % part)
        lib += [
            "pub struct Whole { pub top: %s::%s }" % (module, name),
            "impl Whole {",
            ("    pub fn new(cfg: &Config, vb: VarBuilder) -> Result<Self> { Ok(Self { top: "
            "%s::%s::%s(cfg, vb)? }) }")
            % (module, name, constructor),
            "    pub fn one(&self, x: &Tensor) -> Result<Tensor> { x.clone().relu() }",
            "}",
        ]
        open(os.path.join(home, "src", "lib.rs"), "w").write("\n".join(lib) + "\n")
        open(os.path.join(home, "Cargo.toml"), "w").write(MANIFEST)
        return keys


def rank_of(shape):
    if shape is None:
        return None
    shape = shape.strip()
    if shape[:1] != "(":
        return 1
    depth = commas = 0
    for c in shape[1:-1]:
        depth += (c in "([") - (c in ")]")
        commas += c == "," and depth == 0
    return 0 if shape == "()" else commas + 1


def normal(key):
    return re.sub(r"\{[^{}]*\}", "{}", key)


def judge(binary, home, keys):
    done = subprocess.run(
        [binary, "query", "parameters", "--path", home, "--format", "json", "--limit", "100000"],
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        return ["exit %d: %s" % (done.returncode, done.stderr.strip()[-300:])]
    rows = [i for i in json.loads(done.stdout)["items"] if i["component"] == "component:Whole"]
    found = {normal(r["key"]): r for r in rows}
    want = {}
    for k in keys:
        known = want.get(k.text)
        want[k.text] = Key(k.text, k.certain or bool(known and known.certain), k.rank, k.repeated)
    wrong = []
    for text, k in want.items():
        row = found.get(text)
        if row is None:
            wrong.append("missing %s" % text)
        elif not k.repeated and (row["certainty"] == "certain") != k.certain:
            wrong.append("%s is %s" % (text, row["certainty"]))
        elif k.repeated and not k.certain and row["certainty"] == "certain":
            wrong.append("%s is certain" % text)
        elif rank_of(row["symbolic_shape"]) != k.rank:
            wrong.append(
                "%s has shape %s, rank %d is right" % (text, row["symbolic_shape"], k.rank)
            )
    wrong += ["%s does not exist" % text for text in found if text not in want]
    return wrong


def main():
    args = [a for a in sys.argv[1:]]
    keep = None
    if "--keep" in args:
        at = args.index("--keep")
        keep = args[at + 1]
        del args[at : at + 2]
    binary, count, first = (
        args[0],
        int(args[1]) if len(args) > 1 else 1000,
        int(args[2]) if len(args) > 2 else 1,
    )
    bad = total = 0
    with tempfile.TemporaryDirectory() as base:
        for seed in range(first, first + count):
            home = os.path.join(base, "c%d" % seed)
            keys = Writer(seed).crate(home)
            total += len(keys)
            wrong = judge(binary, home, keys)
            if wrong:
                bad += 1
                if bad <= 10:
                    print("seed %d: %s" % (seed, "; ".join(wrong[:6])))
                if keep:
                    shutil.copytree(home, os.path.join(keep, "c%d" % seed), dirs_exist_ok=True)
            shutil.rmtree(home)
    print("%d crates, %d keys, %d differ" % (count, total, bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
