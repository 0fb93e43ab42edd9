"""kernel - programs whose calls to the kernel fail on request: the other side of kernel.c."""
import mmap
import os
import select
import struct
import subprocess

(NOTHING, KILL, ERROR_ONCE, ERROR_ALWAYS, HALF, MEMORY_ONCE, MEMORY_ALWAYS, FOREIGN_ONCE,
 FOREIGN_ALWAYS, PLACES) = range(10)
CALL, REQUEST = 0, 1  # what a place is of
PLACE = struct.Struct("<QQQ")
LAYOUT = struct.Struct("<iiQQQQQq32s")
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kernel.c")


def build(folder):
    """The library, in a folder that is there."""
    path = os.path.join(folder, "kernel.so")
    subprocess.run([os.environ.get("CC") or "cc", "-std=gnu17", "-O1", "-shared", "-fPIC", SOURCE,
                    "-o", path], check=True)
    return path


class Kernel:
    """What happens to the calls of one program."""

    def __init__(self, folder, program, library=None):
        self.library = library or build(folder)
        self.program = os.path.realpath(program)
        self.path = os.path.join(folder, "orders")
        self.told = os.path.join(folder, "places")
        with open(self.path, "wb") as file:
            file.write(bytes(LAYOUT.size))
        with open(self.path, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), LAYOUT.size)
        self.order(NOTHING)

    def order(self, mode, at=0, error=0):
        LAYOUT.pack_into(self.memory, 0, mode, error, at, 0, 0, 0, 0, 0, b"")

    def state(self):
        (_, _, _, self.calls, self.requests, self.foreign_requests, self.failures, self.live,
         name) = LAYOUT.unpack_from(self.memory, 0)
        self.failed = name.rstrip(b"\0").decode()
        return self

    def places(self, kind):
        """After a run with the order PLACES: number of a call or a request -> where it comes from,
        a number that is equal for equal stacks of the same program."""
        with open(self.told, "rb") as file:
            found = {number: name for what, number, name in PLACE.iter_unpack(file.read())
                     if what == kind}
        open(self.told, "wb").close()
        return found

    def environment(self, base, log=None):
        more = {"LD_PRELOAD": self.library, "LONG_ORDERS": self.path,
                "LONG_PROGRAM": self.program}
        if log:
            more["LONG_LOG"] = log
        return dict(base, **more)


class Server:
    """A program that is loaded once and does its work as often as asked, in `folder`."""

    def __init__(self, kernel, scratch, argv, program, folder, env):
        self.prefix = os.path.join(scratch, "printed")
        down, up = os.pipe(), os.pipe()
        env = dict(kernel.environment(env), LONG_PLACES=kernel.told,
                   LONG_SERVER=self.prefix, LONG_FOLDER=folder,
                   LONG_ASKED=str(down[0]), LONG_TOLD=str(up[1]))
        self.process = subprocess.Popen(argv, executable=program, env=env,
                                        cwd=scratch,
                                        pass_fds=(down[0], up[1]), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(down[0])
        os.close(up[1])
        self.down, self.up = down[1], up[0]

    def number(self, timeout=None):
        if not select.select([self.up], [], [], timeout)[0]:
            return None
        told = os.read(self.up, 4)
        if len(told) != 4:
            raise RuntimeError("the program does not start")
        return struct.unpack("<i", told)[0]

    def run(self, timeout=30):
        """(status, output, errors); the status is None when it does not end."""
        os.write(self.down, b"x")
        child = self.number()
        status = self.number(timeout)
        if status is None:
            os.kill(child, 9)
            self.number()
        with open(self.prefix + ".out", "rb") as out, open(self.prefix + ".err", "rb") as err:
            return (None if status is None else os.waitstatus_to_exitcode(status), out.read(),
                    err.read().decode("utf-8", "replace"))

    def stop(self):
        os.close(self.down)
        self.process.wait()
        os.close(self.up)
