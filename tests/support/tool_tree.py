"""tool_tree: a checking tool of tools/ on small trees, one thing wrong in each."""
import os
import subprocess
import sys
import tempfile

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def run(tool, tree):
    """The exit status and the words of the tool on a tree of {path: text}."""
    with tempfile.TemporaryDirectory() as root:
        for path, text in tree.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        done = subprocess.run([sys.executable, os.path.join(REPO, "tools", tool), root],
                              capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


def check(tool, clean, cases):
    """`clean` passes; with each of (name, path, text, want) the tool fails and says `want`."""
    failed = 0
    path = next(iter(clean))
    for name, path, text, want in [("clean", path, clean[path], "")] + cases:
        code, out = run(tool, {**clean, path: text})
        good = code == 0 if not want else code == 1 and want in out
        if not good:
            failed += 1
            print("%s: exit status %d, wanted %r in\n%s" % (name, code, want or "nothing", out))
    print("%d passed, %d failed" % (len(cases) + 1 - failed, failed))
    return 1 if failed else 0
