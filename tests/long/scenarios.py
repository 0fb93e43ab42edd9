"""scenarios - every command line that the cases of tests/cli run, with the folders it ran in.

A case is run once with a program in front of candle-graph that keeps its arguments and a copy of
the folders as they were. Each such start is a scenario of its own: it needs no shell and nothing
that the case does before or behind it.
"""
import hashlib
import os
import re
import shutil
import stat
import subprocess

NAMES = ("candle-graph", "cargo-candle-graph")
IN_FRONT = r"""#!/bin/sh
number=0
while ! mkdir "$LONG_KEPT/$number" 2>/dev/null; do number=$((number + 1)); done
kept="$LONG_KEPT/$number"
cp -a "$LONG_PLACE" "$kept/place"
pwd >"$kept/cwd"
printf '%s\0' "$(basename "$0")" "$@" >"$kept/argv"
env -0 >"$kept/env"
exec "$LONG_REAL/$(basename "$0")" "$@"
"""
# Set for the shell, or for this only.
NOT_KEPT = ("LONG_KEPT", "LONG_PLACE", "LONG_REAL", "PWD", "OLDPWD", "_", "SHLVL", "PATH")


def cases(repo):
    root = os.path.join(repo, "tests", "cli")
    for folder, folders, files in os.walk(root):
        folders.sort()
        if "cmd" in files:
            folders.clear()
            yield os.path.relpath(folder, root)


def asked(repo, case):
    """What a case asks of the program, roughly: (command, format, kind of question)."""
    with open(os.path.join(repo, "tests", "cli", case, "cmd"), encoding="utf-8") as file:
        parts = re.split(r"[\n;|&]+", file.read())
    found = set()
    for part in parts:
        command = re.search(r"candle-graph\s+(?:candle-graph\s+)?([a-z][a-z-]*)", part)
        if command:
            form = re.search(r"--(?:message-)?format[= ](\S+)", part)
            kind = re.search(r"(?:--kind[= ]|query )([a-z-]+)", part)
            found.add((command.group(1), form and form.group(1), kind and kind.group(1)))
    return found


def environment(repo, place, path):
    """As tools/cli-cases has it."""
    home = os.path.join(place, "home")
    env = {"LC_ALL": "C.UTF-8", "TZ": "UTC", "HOME": home, "TMPDIR": home,
           "DATA": os.path.join(repo, "tests", "data"), "PATH": path}
    if os.environ.get("CG_FIXTURES"):
        env["CG_FIXTURES"] = os.environ["CG_FIXTURES"]
    return env


def starts(repo, bindir, case, scratch):
    """Run a case; the folders that were kept, one for each start of the program."""
    place, kept = os.path.join(scratch, "place"), os.path.join(scratch, "kept")
    front = os.path.join(scratch, "front")
    for folder in (place, kept, front, os.path.join(place, "home")):
        os.makedirs(folder)
    source = os.path.join(repo, "tests", "cli", case)
    work = os.path.join(place, "work")
    if os.path.isdir(os.path.join(source, "in")):
        shutil.copytree(os.path.join(source, "in"), work, symlinks=True)
    else:
        os.mkdir(work)
    for name in NAMES:
        path = os.path.join(front, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(IN_FRONT)
        os.chmod(path, 0o755)
    env = environment(repo, place, front + os.pathsep + bindir + os.pathsep
                      + os.environ.get("PATH", "/usr/bin:/bin"))
    env.update(LONG_KEPT=kept, LONG_PLACE=place, LONG_REAL=bindir)
    with open(os.path.join(source, "cmd"), encoding="utf-8") as file:
        command = file.read().strip()
    child = subprocess.Popen(["sh", "-c", command], cwd=work, env=env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             start_new_session=True)
    try:
        child.wait(120)
    except BaseException:
        os.killpg(child.pid, 9)
        child.wait()
        raise
    return [os.path.join(kept, name) for name in sorted(os.listdir(kept), key=int)]


def read(*names):
    with open(os.path.join(*names), "rb") as file:
        return file.read()


def look(root):
    """Everything below root: relative path -> what tells a change without reading."""
    found, folders = {}, [root]
    while folders:
        folder = folders.pop()
        for entry in os.scandir(folder):
            about = entry.stat(follow_symlinks=False)
            is_folder = stat.S_ISDIR(about.st_mode)
            path = entry.path[len(root) + 1:]
            found[path] = (about.st_mode, about.st_ino, 0 if is_folder else about.st_size,
                           0 if is_folder else about.st_mtime_ns)
            if is_folder:
                folders.append(entry.path)
    return found


def content(root, path):
    """What a file, link or folder is, in a word that can be compared."""
    path = os.path.join(root, path)
    about = os.lstat(path)
    if stat.S_ISLNK(about.st_mode):
        return "link to " + os.readlink(path)
    if stat.S_ISREG(about.st_mode):
        return hashlib.sha256(read(path)).hexdigest()
    return "folder" if stat.S_ISDIR(about.st_mode) else "special"


class Outcome:
    """How a start ended: status, what was printed, what it changed (path -> content or None)."""

    def __init__(self, status, out, err, changes):
        self.status, self.out, self.err, self.changes = status, out, err, changes


class Scenario:
    """One start of the program, again and again from the same folders."""

    def __init__(self, kept, bindir, scratch):
        self.kept, self.place = os.path.join(kept, "place"), os.path.join(scratch, "p")
        self.env = {}
        for line in read(kept, "env").split(b"\0"):
            name, _, value = line.decode("utf-8", "surrogateescape").partition("=")
            if name and name not in NOT_KEPT:
                self.env[name] = value
        self.old = os.path.dirname(self.env["HOME"])
        self.env["HOME"] = self.env["TMPDIR"] = os.path.join(self.place, "home")
        # No front in the way of what the program itself starts.
        self.env["PATH"] = bindir + os.pathsep + os.environ.get("PATH", "/usr/bin:/bin")
        words = read(kept, "argv").decode("utf-8", "surrogateescape").split("\0")[:-1]
        self.argv = [word.replace(self.old, self.place) for word in words]
        self.cwd = read(kept, "cwd").decode("utf-8", "surrogateescape")[:-1].replace(
            self.old, self.place)
        self.program = os.path.join(bindir, self.argv[0])
        self.before = None

    def key(self):
        """Equal for two scenarios that are the same."""
        digest = hashlib.sha256(repr((self.argv, self.cwd, sorted(self.env.items()))).encode())
        for path in sorted(look(self.kept)):
            digest.update(repr((path, content(self.kept, path))).encode())
        return digest.hexdigest()

    def reset(self):
        if self.before is not None and look(self.place) == self.before:
            return
        if os.path.exists(self.place):
            for path in look(self.place):
                where = os.path.join(self.place, path)
                if os.path.isdir(where) and not os.path.islink(where):
                    os.chmod(where, 0o700)
            shutil.rmtree(self.place)
        subprocess.run(["cp", "-a", self.kept, self.place], check=True)
        self.before = look(self.place)

    def changes(self):
        after = look(self.place)
        return {path: content(self.place, path) if path in after else None
                for path in set(after) | set(self.before)
                if after.get(path) != self.before.get(path)}

    def start(self, server, again=False):
        """again: in the folders as the last start left them."""
        if not again:
            self.reset()
        status, out, err = server.run()
        return Outcome(status, out, err, self.changes())
