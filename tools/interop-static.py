#!/usr/bin/env python3
"""interop-static: do our answers about a crate have the shape of the reference's?

usage: interop-static.py OURS THEIRS CRATE... [--heuristic]

OURS and THEIRS are `candle-graph` executables; each crate is asked every kind of question both
ways, `BIN CRATE --query KIND --format json`, and the names of the fields of every object are
compared, with their order. Fields that only ours has are fine when they are listed in ADDED; fields
that only theirs has never are. Values are not compared, and lists only by the fields of their
items taken together. The exit status is 0 when nothing differs.
"""
import argparse
import json
import subprocess
import sys

KINDS = ("summary doctor architecture cargo components component modules composition assembly "
         "pipeline stages artifacts entrypoints functions function parameters parameter tensors "
         "tensor operations operation optimizers runtime findings model_improvement graph_train "
         "graph_infer profile").split()
SINGULAR = {"component": "components", "function": "functions", "parameter": "parameters",
            "tensor": "tensors", "operation": "operations"}
# What ours adds, by the last name of the path.
ADDED = {"certainty", "condition", "location", "nested", "reachable", "dtype_source", "one_of",
         "cfg_source", "operand_domain_known", "source_fingerprint", "entrypoint_tensor_dtype_pct",
         "entrypoint_tensor_shape_pct", "entrypoint_tensor_device_pct", "structure_unresolved",
         "unresolved_builder_calls", "components_without_parameters", "parameters_with_shape_pct",
         "numeric_unknown_operands", "tensors_truncated", "operations_truncated"}
# Objects whose names are data: rules, severities, packages.
FREE = {"finding_counts", "finding_counts_by_rule", "candle_packages"}


def ask(binary, crate, kind, select, extra):
    command = [binary, crate, "--query", kind, "--format", "json", "--limit", "100000"] + extra
    if select is not None:
        command += ["--select", select]
    done = subprocess.run(command, capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def fields(value, path, found):
    """path -> names in the order they are first seen."""
    if isinstance(value, dict):
        if path.rsplit(".", 1)[-1] in FREE:
            return
        names = found.setdefault(path, [])
        for name, item in value.items():
            if name not in names:
                names.append(name)
            fields(item, path + "." + name, found)
    elif isinstance(value, list):
        for item in value:
            fields(item, path + "[]", found)


def compare(ours, theirs, where):
    mine, other = {}, {}
    fields(ours, "", mine)
    fields(theirs, "", other)
    count = 0
    for path in sorted(set(mine) & set(other)):
        known = [name for name in mine[path] if name not in ADDED or name in other[path]]
        # Fields that may be left out are compared by their place among the common ones.
        common = [name for name in known if name in other[path]]
        if common != [name for name in other[path] if name in known]:
            count += 1
            print("%s %s: order %s, reference %s" % (where, path, common, other[path]))
        for name in sorted(set(other[path]) - set(known)):
            count += 1
            print("%s %s.%s: only the reference has it" % (where, path, name))
        for name in sorted(set(known) - set(other[path])):
            count += 1
            print("%s %s.%s: only ours has it, and it is not listed" % (where, path, name))
    return count


def first_id(binary, crate, kind, extra):
    listed = ask(binary, crate, SINGULAR[kind], None, extra)
    return listed["items"][0]["id"] if listed and listed["items"] else None


def check(options, crate):
    extra = ["--heuristic-architecture"] if options.heuristic else []
    count = 0
    for kind in KINDS:
        selects = [None, None]
        if kind in SINGULAR:
            selects = [first_id(binary, crate, kind, extra)
                       for binary in (options.ours, options.theirs)]
            if None in selects:
                continue
        ours = ask(options.ours, crate, kind, selects[0], extra)
        theirs = ask(options.theirs, crate, kind, selects[1], extra)
        if (ours is None) != (theirs is None):
            count += 1
            who = "only the reference" if ours is None else "only ours"
            print("%s %s: %s answers" % (crate, kind, who))
        elif ours is not None:
            count += compare(ours, theirs, "%s %s" % (crate, kind))
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("ours")
    parser.add_argument("theirs")
    parser.add_argument("crates", nargs="+")
    parser.add_argument("--heuristic", action="store_true")
    options = parser.parse_args()
    count = sum(check(options, crate) for crate in options.crates)
    print("%d crates, %d differences" % (len(options.crates), count))
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
