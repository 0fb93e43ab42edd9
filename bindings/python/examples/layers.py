#!/usr/bin/env python3
"""layers: which layer of a run is slow, and which parameters got no gradient.

usage: layers.py RUN [CRATE]

With the crate that ran, the findings about gradients are printed with their places.
"""
import sys

import candlegraph


def main() -> int:
    if len(sys.argv) not in (2, 3):
        print("usage: layers.py RUN [CRATE]", file=sys.stderr)
        return 2
    try:
        with candlegraph.open_run(sys.argv[1]) as run:
            tree = run.table("module_tree")
            gradients = run.table("gradients")
    except candlegraph.CandlegraphError as error:
        print(error, file=sys.stderr)
        return error.exit_status
    rows = sorted(tree.rows(), key=lambda row: -row["host_self_ns"])[:10]
    for row in rows:
        share = "" if row["share"] is None else "%5.1f %%" % (100 * row["share"])
        print("%12.3f us  %8s  %s" % (row["host_self_ns"] / 1000, share, row["path"]))
    without = [row for row in gradients.rows() if row["state"] != "present"]
    for row in without:
        print("no gradient: %(root)s/%(key)s is %(state)s" % row)
    if len(sys.argv) == 3:
        with candlegraph.scan(sys.argv[2]) as crate:
            for finding in crate.findings():
                if finding["code"] == "gradient-cut":
                    place = finding["location"]
                    print("%s:%d: %s" % (place["file"], place["line"], finding["message"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
