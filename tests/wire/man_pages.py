#!/usr/bin/env python3
# ctest:
"""Every exported function has a manual page, every format one, and groff finds no fault in them."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Called by the inline functions of record.h, whose pages tell of them.
INSIDE = re.compile(r"cg_record_(op|scalar|span_end|tensor)_on$")


def main():
    failures = []
    with open(os.path.join(REPO, "tools/symbols.txt"), encoding="utf-8") as file:
        symbols = re.findall(r"^(cg_\w+) ", file.read(), re.M)
    with tempfile.TemporaryDirectory() as place:
        subprocess.run([sys.executable, os.path.join(REPO, "tools/gen-man"), place], check=True)
        for name in symbols:
            if not INSIDE.match(name) and not os.path.exists("%s/man3/%s.3" % (place, name)):
                failures.append("no page of %s" % name)
        for path in glob.glob(os.path.join(REPO, "docs/schemas/*.md")):
            base = os.path.basename(path)[:-3].replace("README", "formats")
            page = "%s/man5/candle-graph-%s.5" % (place, base)
            if not os.path.exists(page):
                failures.append("no page of %s" % path)
        pages = sorted(glob.glob(place + "/man[35]/*"))
        for page in pages:
            with open(page, encoding="utf-8") as file:
                text = file.read()
            target = re.match(r"\.so (\S+)$", text.strip())
            if target and not os.path.exists(os.path.join(place, target.group(1))):
                failures.append("%s leads nowhere" % page)
            if not target and re.search(r"^\S.* \\- .*\S", text, re.M) is None:
                failures.append("%s does not say what it is about" % page)
        for path in glob.glob(os.path.join(REPO, "docs/man/*.1")):
            with open(path, encoding="utf-8") as file:
                text = file.read().replace("\\-", "-")
            for name, section in re.findall(r"^\.BR (\S+) \((\d)\)", text, re.M):
                page = (os.path.join(REPO, "docs/man") if section == "1"
                        else os.path.join(place, "man" + section))
                if not os.path.exists("%s/%s.%s" % (page, name, section)):
                    failures.append("%s: see also %s(%s), which is not there"
                                    % (path, name, section))
        if shutil.which("groff"):
            done = subprocess.run(["groff", "-ww", "-k", "-t", "-man", "-Tutf8", "-I", place] + pages,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
            failures += done.stderr.decode("utf-8", "replace").splitlines()[:20]
    for failure in failures:
        print(failure)
    return 1 if failures or not symbols else 0


if __name__ == "__main__":
    sys.exit(main())
