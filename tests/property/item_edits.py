#!/usr/bin/env python3
# ctest: @LIB@
# ctest-labels: slow
# ctest-timeout: 600
"""After edits of items the whole structure of the cache is that of a scan without one.

usage: item_edits.py FOLDER_OF_LIBRARIES [--crate DIR] [--edits N] [--seed N] [--verbose]

Functions, methods, structs, fields, constants, `use`s, impls and signatures come, go and change at
random, one after the other and with the uses that belong to them, and so do bodies; now and then
all is put back as it was. Without --crate a small crate is made. At the end it is told how many
scans the cache has answered, of each kind of edit.
"""
import argparse
import collections
import ctypes
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

import scan_cache

read, replace = scan_cache.read, scan_cache.replace
SKIPPED = 77


class Env(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("allocator", ctypes.c_void_p),
                ("os", ctypes.c_void_p), ("limits", ctypes.c_void_p),
                ("progress", ctypes.c_void_p), ("progress_context", ctypes.c_void_p)]


class Request(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("path", ctypes.c_char_p),
                ("package", ctypes.c_char_p), ("target", ctypes.c_char_p),
                ("cargo_target", ctypes.c_char_p), ("root", ctypes.c_char_p),
                ("features", ctypes.c_void_p), ("feature_count", ctypes.c_size_t),
                ("sources", ctypes.c_void_p), ("source_count", ctypes.c_size_t),
                ("has_all_features", ctypes.c_bool), ("has_no_default_features", ctypes.c_bool),
                ("asks_cargo", ctypes.c_bool), ("is_heuristic", ctypes.c_bool),
                ("cache_directory", ctypes.c_char_p), ("checkpoint", ctypes.c_char_p),
                ("is_structure", ctypes.c_bool), ("runtime_trace", ctypes.c_char_p),
                ("is_findings", ctypes.c_bool)]


class Text(ctypes.Structure):
    _fields_ = [("ptr", ctypes.c_char_p), ("len", ctypes.c_size_t)]


class Facts(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32)] + \
               [(name, ctypes.c_uint64) for name in
                ("component_count", "parameter_count", "module_count", "function_count",
                 "error_count", "warning_count", "information_count", "missing_count",
                 "unclaimed_count")] + \
               [("has_checkpoint", ctypes.c_bool), ("is_from_cache", ctypes.c_bool),
                ("analysis_id", Text), ("package", Text), ("version", Text),
                ("has_runtime_trace", ctypes.c_bool),
                ("runtime_observations", ctypes.c_uint64),
                ("identity_mismatches", ctypes.c_uint64)]


class Format(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("kind", ctypes.c_uint32), ("has_color", ctypes.c_bool),
                ("width", ctypes.c_uint32), ("rows", ctypes.c_uint64)]


WRITE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_char),
                         ctypes.c_size_t)


class Sink(ctypes.Structure):
    _fields_ = [("context", ctypes.c_void_p), ("write", WRITE)]


class Scanner:
    def __init__(self, folder):
        found = [name for name in sorted(os.listdir(folder))
                 if re.fullmatch(r"libcandlegraph\.so(\.\d+)*", name)]
        if not found:
            print("there is no shared library in %s" % folder)
            sys.exit(SKIPPED)
        self.library = ctypes.CDLL(os.path.join(folder, found[0]))
        self.library.cg_scan_free.argtypes = [ctypes.c_void_p]
        self.library.cg_write_model.argtypes = [ctypes.c_void_p, ctypes.POINTER(Format), Sink,
                                                ctypes.c_void_p]
        self.env = Env(size=ctypes.sizeof(Env))

    def scan(self, path, cache):
        """The document or the code of the refusal, whether the cache had it, and the time."""
        parts = []
        request = Request(size=ctypes.sizeof(Request), path=path.encode(), is_structure=True,
                          cache_directory=cache.encode() if cache else None)
        scan = ctypes.c_void_p()
        start = time.process_time()
        code = self.library.cg_scan_open(ctypes.byref(self.env), ctypes.byref(request),
                                         ctypes.byref(scan), None)
        spent = time.process_time() - start
        if code != 0:
            return code, False, spent
        facts = Facts(size=ctypes.sizeof(Facts))
        self.library.cg_scan_facts_of(scan, ctypes.byref(facts))

        def write(_, text, count):
            parts.append(ctypes.string_at(text, count))
            return 0

        form = Format(size=ctypes.sizeof(Format))  # kind 0: JSON
        code = self.library.cg_write_model(scan, ctypes.byref(form), Sink(None, WRITE(write)),
                                           None)
        self.library.cg_scan_free(scan)
        return (code or b"".join(parts)), facts.is_from_cache, spent


def end_of_block(lines, at):
    """The line that closes what is opened on the line, by the braces."""
    depth = 0
    for i in range(at, len(lines)):
        depth += lines[i].count("{") - lines[i].count("}")
        if depth <= 0 and ("{" in "".join(lines[at:i + 1]) or lines[i].rstrip().endswith(";")):
            return i
    return len(lines) - 1


FUNCTION = r"^ *(pub(\(\w+\))? )?(const |async |unsafe )*fn (\w+)"
STRUCT = r"^(pub(\(\w+\))? )?struct (\w+)(<[^>]*>)? \{$"


class Items(scan_cache.Editor):
    """Random edits of items."""

    def word(self, stem):
        """A new name, or one that others have."""
        common = ["new", "load", "forward", "norm", "Config", "inner", "reset", "helper", "dim",
                  "Linear", "Module", "vb", "size", "apply", "default", "Block", "N", "base"]
        if self.random.random() < 0.3:
            name = self.random.choice(common)
            return name if stem.islower() == name.islower() else stem + "_" + name
        return "%s%d" % (stem, self.next())

    def some_type(self, lines):
        names = [m.group(3) for m in (re.search(STRUCT, line) for line in lines) if m]
        return self.random.choice(names + ["usize", "Tensor", "Option<f64>", "Vec<u8>", "String"])

    def functions(self, pattern=FUNCTION):
        path, lines, at = self.lines(pattern)
        return path, lines, at, end_of_block(lines, at) if path else 0

    def top(self, lines):
        """A line at which an item may begin."""
        places = [0] + [i + 1 for i, line in enumerate(lines) if line == "}" or
                        re.match(r"^(pub )?(use|const|mod|type) .*;$", line)]
        return self.random.choice(places)

    # --- functions ---

    def function_text(self, lines, name, indent, receiver):
        kind = self.some_type(lines)
        body = self.random.choice([
            "todo!()", "Default::default()", "vb.get(3, \"%s\")" % name, "Self::new(vb)",
            "candle_nn::linear(2, 2, vb.pp(\"%s\"))" % name, "crate::common::norm(2, vb)"])
        takes = self.random.choice(["", "size: usize", "vb: VarBuilder", "xs: &Tensor",
                                    "vb: candle_nn::VarBuilder", "x: &%s" % kind])
        takes = ", ".join(part for part in (receiver, takes) if part)
        gives = self.random.choice(["Result<Self>" if indent else "Result<%s>" % kind, kind,
                                    "Result<Tensor>", "Result<%s>" % kind])
        see = self.random.choice(["", "pub ", "pub(crate) "])
        return ["%s%sfn %s(%s) -> %s {" % (indent, see, name, takes, gives),
                "%s    %s" % (indent, body), "%s}" % indent]

    def new_function(self):
        path = self.file()
        lines = read(path).split("\n")
        at = self.top(lines)
        lines[at:at] = self.function_text(lines, self.word("made"), "", "") + [""]
        return self.put(path, lines)

    def new_function_and_call(self):
        path, lines, at = self.lines(r"^        let \w+ = .*;$")
        if path:
            name = "called%d" % self.next()
            lines.insert(at, "        let _c = %s(%d);" % (name, self.serial))
            top = self.top(lines)
            lines[top:top] = ["fn %s(n: usize) -> usize {" % name, "    n + %d" % self.serial, "}"]
            return self.put(path, lines)

    def helper_with_parameter(self):
        path, lines, at = self.lines(r"^        let \w+ = .*\bvb\b.*;$")
        if path:
            name = "helped%d" % self.next()
            lines.insert(at, "        let _h = %s(&vb)?;" % name)
            lines += ["fn %s(vb: &VarBuilder) -> Result<Tensor> {" % name,
                      '    vb.get(%d, "%s")' % (self.serial, name), "}"]
            return self.put(path, lines)

    def new_method(self):
        path, lines, at = self.lines(r"^impl(<[^>]*>)? [\w<>, ]+ \{$")
        if path:
            receiver = self.random.choice(["&self", "&mut self", "", "self"])
            lines[at + 1:at + 1] = self.function_text(lines, self.word("method"), "    ",
                                                      receiver) + [""]
            return self.put(path, lines)

    def new_method_and_call(self):
        path, lines, at = self.lines(r"^impl(<[^>]*>)? [\w<>, ]+ \{$")
        if path:
            end = end_of_block(lines, at)
            uses = [i for i in range(at, end) if re.match(r"^        \S.*self\..*;$", lines[i])]
            name = "own%d" % self.next()
            if uses:
                lines.insert(self.random.choice(uses), "        let _m = self.%s();" % name)
            lines[at + 1:at + 1] = ["    fn %s(&self) -> usize {" % name, "        %d" %
                                    self.serial, "    }", ""]
            return self.put(path, lines)

    def removed_function(self):
        path, lines, at, end = self.functions()
        if path:
            del lines[at:end + 1]
            return self.put(path, lines)

    def moved_function(self):
        path, lines, at, end = self.functions(r"^(pub )?fn (\w+)")
        if path:
            text = lines[at:end + 1]
            del lines[at:end + 1]
            top = self.top(lines)
            lines[top:top] = text
            return self.put(path, lines)

    def renamed_function(self):
        path, lines, at, _ = self.functions()
        if path:
            name = re.search(FUNCTION, lines[at]).group(4)
            fresh = self.word(name)
            lines[at] = lines[at].replace("fn " + name, "fn " + fresh, 1)
            if self.random.random() < 0.5:
                lines = [re.sub(r"\b%s\(" % name, fresh + "(", line) for line in lines]
            return self.put(path, lines)

    def signature(self):
        path, lines, at, _ = self.functions(FUNCTION + r".*\(.*\)")
        if path:
            change = self.random.choice([
                lambda t: t.replace("(", "(_n%d: usize, " % self.next(), 1)
                if "self" not in t else t.replace("self", "self, _n%d: usize" % self.next(), 1),
                lambda t: re.sub(r"-> .* \{", "-> Result<%s> {" % self.some_type(lines), t),
                lambda t: t.replace("&self", "&mut self"),
                lambda t: t.replace("usize", "u32"),
                lambda t: t.replace("VarBuilder", "&VarBuilder"),
                lambda t: t.replace("vb:", "vs:"),
                lambda t: t.replace("pub fn", "fn") if "pub fn" in t
                else t.replace("fn ", "pub fn ", 1)])
            lines[at] = change(lines[at])
            return self.put(path, lines)

    def second_constructor(self):
        path, lines, at = self.lines(r"^impl(<[^>]*>)? [\w<>, ]+ \{$")
        if path:
            name = self.random.choice(["load", "load", "read", "a_first"]) + \
                self.random.choice(["", str(self.next())])
            see = self.random.choice(["", "pub "])
            root = self.random.choice(["vb", "vs", "weights"])
            lines[at + 1:at + 1] = [
                "    %sfn %s(%s: VarBuilder) -> Result<Self> {" % (see, name, root),
                '        let _w = %s.get(%d, "%s")?;' % (root, self.next(), name),
                "        todo!()", "    }", ""]
            return self.put(path, lines)

    def function_component(self):
        path = self.file()
        lines = read(path).split("\n")
        kind = self.some_type(lines)
        lines += ["pub fn build%d(vb: VarBuilder) -> Result<%s> {" % (self.next(), kind),
                  '    let _t = vb.get(2, "t%d")?;' % self.serial,
                  self.random.choice(["    %s::new(vb)" % kind, "    todo!()"]), "}"]
        return self.put(path, lines)

    # --- structs ---

    def new_field(self):
        path, lines, at = self.lines(STRUCT)
        if path:
            name = re.search(STRUCT, lines[at]).group(3)
            field = self.word("field")
            lines.insert(at + 1, "    %s%s: %s," % (self.random.choice(["", "pub "]), field,
                                                   self.some_type(lines)))
            for i, line in enumerate(lines):
                if re.search(r"\b(Self|%s) \{$" % name, line) and "impl" not in line and \
                        "struct" not in line and self.random.random() < 0.8:
                    lines[i] += " %s: %s," % (field, self.random.choice(
                        ["None", "0", "Default::default()", 'vb.get(3, "%s")?' % field]))
            return self.put(path, lines)

    def removed_field(self):
        path, lines, at = self.lines(r"^    (pub )?\w+: [\w<>:, ]+,$")
        if path:
            name = re.search(r"(\w+):", lines[at]).group(1)
            del lines[at]
            if self.random.random() < 0.5:
                lines = [line for line in lines if not re.match(r"^ +%s(:.*)?,$" % name, line)]
            return self.put(path, lines)

    def field_type(self):
        path, lines, at = self.lines(r"^    (pub )?\w+: [\w<>:, ]+,$")
        if path:
            lines[at] = re.sub(r": .*,", ": %s," % self.some_type(lines), lines[at])
            return self.put(path, lines)

    def renamed_field(self):
        path, lines, at = self.lines(r"^    (pub )?\w+: [\w<>:, ]+,$")
        if path:
            name = re.search(r"(\w+):", lines[at]).group(1)
            fresh = self.word(name)
            lines = [re.sub(r"\b%s\b" % name, fresh, line) for line in lines]
            return self.put(path, lines)

    def new_struct(self):
        path = self.file()
        lines = read(path).split("\n")
        name = self.word("Made")
        text = ["pub struct %s {" % name, "    inner: %s," % self.some_type(lines), "}", ""]
        if self.random.random() < 0.7:
            text += ["impl %s {" % name, "    pub fn new(vb: VarBuilder) -> Result<Self> {",
                     '        let inner = vb.pp("inner").get(2, "w%d")?;' % self.next(),
                     "        Ok(Self { inner })", "    }", "}", ""]
        if self.random.random() < 0.5:
            text += ["impl Module for %s {" % name,
                     "    fn forward(&self, xs: &Tensor) -> Result<Tensor> {",
                     "        xs.relu()", "    }", "}", ""]
        at = self.top(lines)
        lines[at:at] = text
        return self.put(path, lines)

    def struct_path(self):
        other, text, place = self.lines(STRUCT)
        if not other:
            return None
        below = os.path.relpath(other, os.path.join(self.root, "src"))[:-3]
        module = "::".join(part for part in below.split("/") if part not in ("mod", "lib"))
        return "::".join(part for part in ("crate", module,
                                           re.search(STRUCT, text[place]).group(3)) if part)

    def held_struct(self):
        """A struct of another file as a field."""
        path, lines, at = self.lines(STRUCT)
        name = self.struct_path()
        if path and name:
            lines.insert(at + 1, "    held%d: Option<%s>," % (self.next(), name))
            return self.put(path, lines)

    def constructor(self):
        """A struct becomes a component, or has another constructor."""
        path, lines, at = self.lines(STRUCT)
        if path:
            name = re.search(STRUCT, lines[at]).group(3)
            root = self.random.choice(["vb", "vs", "weights"])
            lines += ["impl %s {" % name, "    pub fn new(%s: VarBuilder) -> Result<Self> {" % root,
                      '        let _w = %s.get(2, "w%d")?;' % (root, self.next()),
                      "        todo!()", "    }", "}"]
            return self.put(path, lines)

    def bare_struct(self):
        path = self.file()
        lines = read(path).split("\n")
        lines += ["pub struct Bare%d {" % self.next(), "    n: usize,", "}"]
        return self.put(path, lines)

    def used_struct(self):
        """A struct of another file is made."""
        path, lines, at = self.lines(r"^        let \w+ = .*\bvb\b.*;$")
        name = self.struct_path()
        if path and name:
            lines.insert(at, '        let _u = %s::new(vb.pp("u%d"))?;' % (name, self.next()))
            if self.random.random() < 0.5:
                lines += ["pub type Used%d = %s;" % (self.serial, name)]
            return self.put(path, lines)

    def renamed_struct(self):
        path, lines, at = self.lines(STRUCT)
        if path:
            name = re.search(STRUCT, lines[at]).group(3)
            fresh = self.word(name)
            part = self.random.random() < 0.3
            for i, line in enumerate(lines):
                if not part or i == at:
                    lines[i] = re.sub(r"\b%s\b" % name, fresh, line)
            return self.put(path, lines)

    def removed_struct(self):
        path, lines, at = self.lines(STRUCT)
        if path:
            del lines[at:end_of_block(lines, at) + 1]
            return self.put(path, lines)

    def derived(self):
        path, lines, at = self.lines(STRUCT)
        if path:
            lines.insert(at, "#[derive(%s)]" % self.random.choice(["Clone", "Debug", "Default"]))
            return self.put(path, lines)

    def variant(self):
        path, lines, at = self.lines(r"^(pub )?enum \w+ \{$")
        if path:
            lines.insert(at + 1, "    Variant%d%s," % (self.next(), self.random.choice(
                ["", "(usize)", "(Tensor)"])))
            return self.put(path, lines)

    def tuple_struct(self):
        path = self.file()
        lines = read(path).split("\n")
        found = [i for i, line in enumerate(lines) if re.match(r"^(pub )?struct \w+\(.*\);$", line)]
        if found:
            at = self.random.choice(found)
            lines[at] = lines[at].replace(");", ", %s);" % self.some_type(lines))
        else:
            lines.append("pub struct Pair%d(usize, Tensor);" % self.next())
        return self.put(path, lines)

    # --- impls ---

    def removed_impl(self):
        path, lines, at = self.lines(r"^impl")
        if path:
            del lines[at:end_of_block(lines, at) + 1]
            return self.put(path, lines)

    def other_impl(self):
        path, lines, at = self.lines(STRUCT)
        if path:
            name = re.search(STRUCT, lines[at]).group(3)
            trait = self.random.choice(["Module", "Default", "Clone", "Twice", "Act", "From<usize>",
                                        "candle_nn::ModuleT", "std::fmt::Debug", "std::ops::Drop"])
            method = {"Default": "fn default() -> Self { todo!() }",
                      "Clone": "fn clone(&self) -> Self { todo!() }",
                      "Twice": "fn twice(&self) -> Result<Tensor> { todo!() }",
                      "Act": "fn act(&self, xs: &Tensor) -> Result<Tensor> { xs.relu() }",
                      "Module": "fn forward(&self, xs: &Tensor) -> Result<Tensor> { xs.relu() }"}
            lines += ["impl %s for %s {" % (trait, name), "    " + method.get(trait, ""), "}"]
            return self.put(path, lines)

    def trait_method(self):
        path, lines, at = self.lines(r"^impl \w+ for \w+ \{$")
        if path:
            lines[at + 1:at + 1] = self.function_text(lines, self.word("of_trait"), "    ", "&self")
            return self.put(path, lines)

    # --- the rest ---

    def use_more(self):
        path = self.file()
        lines = read(path).split("\n")
        what = self.random.choice([
            "std::sync::Arc", "candle_nn::Linear", "candle_core::{Result, Tensor, D}",
            "candle_nn::{self, Module}", "crate::common::Norm", "crate::common::{norm, Norm as N%d}"
            % self.next(), "super::common::norm", "std::fmt::{self, Debug}", "crate::common::*",
            "candle_nn::VarBuilder as VB", "crate::common::Twice as _"])
        lines.insert(self.top(lines), "%suse %s;" % (
            self.random.choice(["", "", "", "pub "]), what))
        return self.put(path, lines)

    def use_less(self):
        path, lines, at = self.lines(r"^use .*;$")
        if path:
            if self.random.random() < 0.5:
                del lines[at]
            else:
                lines[at] = re.sub(r"\b\w+, ", "", lines[at], count=1)
            return self.put(path, lines)

    def use_other(self):
        path, lines, at = self.lines(r"^use .*;$")
        if path:
            change = self.random.choice([
                lambda t: t.replace("crate::", "super::"), lambda t: t.replace(";", " as X%d;" %
                                                                              self.next()),
                lambda t: t.replace("candle_nn", "candle"), lambda t: t.replace("}", ", D}")])
            lines[at] = change(lines[at])
            return self.put(path, lines)

    def constant_more(self):
        path = self.file()
        lines = read(path).split("\n")
        lines.insert(self.top(lines), self.random.choice([
            "const %s: usize = %d;", "pub const %s: usize = %d;", "static %s: usize = %d;"]) %
                     (self.word("MADE"), self.next()))
        return self.put(path, lines)

    def constant_used(self):
        path, lines, at = self.lines(r"^        .*\bvb\b.*[^\w.]\d+[^\w.]")
        if path:
            name = "SIZE%d" % self.next()
            lines[at] = re.sub(r"([^\w.])\d+([^\w.])", r"\g<1>%s\2" % name, lines[at], count=1)
            lines.insert(0, "const %s: usize = %d;" % (name, self.serial))
            return self.put(path, lines)

    def constant_less(self):
        path, lines, at = self.lines(r"^ *(pub )?(const|static) \w+: .*;$")
        if path:
            del lines[at]
            return self.put(path, lines)

    def body_item(self):
        path, lines, at = self.lines(r"^        let \w+ = .*;$")
        if path:
            lines[at:at] = ["        " + self.random.choice([
                'const K%d: usize = 3; let _k = vb.get(K%d, "k")?;' % (self.next(), self.serial),
                "use crate::common::norm as n; let _k = n(2, vb.pp(\"k%d\"))?;" % self.serial,
                "use crate::common::*;", "static S: usize = %d;" % self.serial, "fn inner() {}",
                "type Own = %s;" % self.some_type(lines)])]
            return self.put(path, lines)

    def alias(self):
        path = self.file()
        lines = read(path).split("\n")
        lines.append("pub type %s = %s;" % (self.word("Alias"), self.some_type(lines)))
        return self.put(path, lines)

    def many(self):
        found = [getattr(self, self.random.choice(ITEMS + scan_cache.BODIES))() for _ in range(4)]
        return " ".join(what for what in found if what) or None


ITEMS = ["new_function", "new_function_and_call", "helper_with_parameter", "new_method",
         "new_method_and_call", "removed_function", "moved_function", "renamed_function",
         "signature", "second_constructor", "function_component", "new_field", "removed_field",
         "field_type", "renamed_field", "new_struct", "bare_struct", "held_struct", "constructor",
         "used_struct", "renamed_struct",
         "removed_struct", "derived", "variant", "tuple_struct", "removed_impl", "other_impl",
         "trait_method", "use_more", "use_less", "use_other", "constant_more", "constant_used",
         "constant_less", "constant", "body_item", "alias", "many"]


class Tally:
    def __init__(self):
        self.spent = collections.defaultdict(list)

    def add(self, kind, is_from_cache, spent):
        self.spent[kind].append((is_from_cache, spent * 1e3))

    def tell(self):
        total = [row for rows in self.spent.values() for row in rows]
        for kind, rows in sorted(self.spent.items()) + [("all", total)]:
            kept = sorted(spent for is_kept, spent in rows if is_kept)
            print("%-22s %3d of %3d from the cache%s" % (
                kind, len(kept), len(rows), ", %.1f ms" % kept[len(kept) // 2] if kept else ""))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("libraries")
    parser.add_argument("--crate")
    parser.add_argument("--edits", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", help="only this one")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    scanner = Scanner(args.libraries)
    tally, failed = Tally(), 0
    with tempfile.TemporaryDirectory() as room:
        crate, pristine = os.path.join(room, "crate"), os.path.join(room, "pristine")
        cache = os.path.join(room, "cache")
        if args.crate:
            shutil.copytree(args.crate, pristine)
            subprocess.run(["chmod", "-R", "u+w", pristine], check=True)
        else:
            scan_cache.make_crate(pristine)
        shutil.copytree(pristine, crate)
        editor = Items(crate, random.Random(args.seed))
        scanner.scan(crate, cache)
        for number in range(args.edits):
            if number % 12 == 11:  # errors drown what follows
                shutil.rmtree(crate)
                shutil.copytree(pristine, crate)
            kind = args.kind or editor.random.choice(ITEMS)
            if not args.kind and editor.random.random() < 0.15:
                kind = editor.random.choice(scan_cache.BODIES)
            what = getattr(editor, kind)()
            if what is None:
                continue
            warm, is_from_cache, spent = scanner.scan(crate, cache)
            cold, _, _ = scanner.scan(crate, None)
            tally.add(kind, is_from_cache, spent)
            if args.verbose or warm != cold:
                print("%s: edit %d: %s of %s: %.1f ms%s" % (
                    "same" if warm == cold else "DIFFERENT", number, kind, what, spent * 1e3,
                    "" if is_from_cache else ", scanned again"), flush=True)
            if warm != cold:
                failed += 1
                keep = os.environ.get("KEEP")
                if keep:
                    shutil.rmtree(keep, ignore_errors=True)
                    shutil.copytree(room, keep)
                    for name, text in (("warm", warm), ("cold", cold)):
                        with open(os.path.join(keep, name), "wb") as out:
                            out.write(text if isinstance(text, bytes) else b"")
                    break
                shutil.rmtree(cache)
    tally.tell()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
