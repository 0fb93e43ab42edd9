#!/usr/bin/env python3
# ctest:
"""tools/layers finds each kind of forbidden door, and nothing in a clean house."""
import os
import sys

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(REPO, "tests", "support"))
from tool_tree import check  # noqa: E402

CLEAN = {
    "docs/architecture.md": "```layers\nbase:\nschema: base\nexec: base schema\nmodel: base\n"
                            "api: base exec\ncli:\n```\n| base/str, os | . |\n"
                            "| schema/trace | . |\n| exec/trace, health | . |\n"
                            "| model/query | . |\n| api/run | . |\n",
    "src/ORDER": "# ground floor first\nbase/str\nbase/os\nschema/trace\nexec/trace\nexec/health\n"
                 "model/query\napi/run\n",
    "tools/layers.allow": "",
    "include/candlegraph/base.h": "",
    "include/candlegraph/candlegraph.h": '#include "candlegraph/base.h"\n',
    "src/base/str.h": '#include "candlegraph/base.h"\n',
    "src/base/os.h": '#include "base/str.h"\n',
    "src/base/os.c": '#include "base/os.h"\n#include <unistd.h>\n',
    "src/schema/trace.h": '#include "schema/trace.def"\n',
    "src/schema/trace.def": '#define T(F) F(STR, run_id, "run_id", REQUIRED)\n',
    "src/exec/trace.h": '#include "base/str.h"\nint trace_read(void);\n',
    "src/exec/health.h": '#include "exec/trace.h"\n',
    "src/model/query.h": '#include "base/str.h"\n',
    "src/api/run.c": '#include "candlegraph/candlegraph.h"\n#include "exec/health.h"\n',
    "cli/main.c": '#include "candlegraph/candlegraph.h"\n#include "cli.h"\n',
    "cli/cli.h": "",
}
MANY = "".join("int trace_%c(int (*each)(int));\n" % c for c in "abcdefghijklmnop")
INLINE = "static inline int trace_x(int a)\n{\n    return trace_a(a);\n}\n"
# what is changed, and what must be said about which place ("" = still clean)
CASES = [
    ("exec names model", "src/exec/trace.h", '#include "model/query.h"\n', "src/exec/trace.h:1:"),
    ("model names exec", "src/model/query.h", '\n#include "exec/trace.h"\n',
     "src/model/query.h:2:"),
    ("later module", "src/exec/trace.h", '#include "exec/health.h"\n', "src/exec/trace.h:1:"),
    ("kernel header", "src/exec/health.c", "#include <sys/stat.h>\n", "src/exec/health.c:1:"),
    ("kernel header in a comment", "src/exec/health.c", "/*\n#include <fcntl.h>\n*/\n", ""),
    ("private door of cli", "cli/main.c", '#include "base/str.h"\n', "cli/main.c:1:"),
    ("public header in a room", "src/exec/health.c", '#include "candlegraph/candlegraph.h"\n',
     "src/exec/health.c:1:"),
    ("private in public", "include/candlegraph/candlegraph.h", '#include "base/str.h"\n',
     "include/candlegraph/candlegraph.h:1:"),
    ("name without room", "src/exec/health.c", '#include "health.h"\n', "src/exec/health.c:1:"),
    ("not in ORDER", "src/exec/extra.c", "", "src/exec/extra.c:1:"),
    ("cycle", "docs/architecture.md", "```layers\nbase: exec\nexec: base\n```\n", "cycle:"),
    ("ORDER names nothing", "src/ORDER", CLEAN["src/ORDER"] + "exec/ghost\n", "src/ORDER:9:"),
    ("no row in the map", "docs/architecture.md",
     CLEAN["docs/architecture.md"].replace(", health", ""), "no row for the module `exec/health`"),
    ("two rows in the map", "docs/architecture.md",
     CLEAN["docs/architecture.md"] + "| exec/health | once more |\n",
     "`exec/health` has a row already"),
    ("a row for nothing", "docs/architecture.md",
     CLEAN["docs/architecture.md"] + "| exec/ghost | . |\n", "`exec/ghost` is no module"),
    ("sixteen functions", "src/exec/trace.h", MANY, "src/exec/trace.h:1: 16"),
    ("an inline function counts", "src/exec/trace.h", MANY[len("int trace_a(int (*each)(int));\n"):]
     + INLINE, "src/exec/trace.h:1: 16"),
    ("types do not count", "src/exec/trace.h", MANY.replace("int trace_p", "typedef int (*p)") +
     "\nstruct s {\n    int (*f)(void);\n};\n", ""),
    ("wire key typed twice", "src/exec/health.c", 'x\nconst char *k = "run_id";\n',
     "src/exec/health.c:2:"),
    ("wire key in a longer text", "src/exec/health.c", 'const char *k = "run_id" " is";\n', ""),
    ("allowed literal", "tools/layers.allow", 'literal src/x.c "run_id" because\n',
     "tools/layers.allow:1: allows nothing"),
]


if __name__ == "__main__":
    sys.exit(check("layers", CLEAN, CASES))
