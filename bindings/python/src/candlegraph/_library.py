"""The calls of libcandlegraph as Python has them: arguments, errors, text, progress."""
import json
import os
import threading
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

from ._error import BY_WORD, CandlegraphError
from ._native import ffi as ffi
from ._native import lib as lib

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
Progress = Callable[[str, int, int], Optional[bool]]
Json = Dict[str, Any]

_CODES = {getattr(lib, "CG_" + word): word for word in BY_WORD}


def text_of(pointer: Any) -> Optional[str]:
    """A C string; None for NULL."""
    return None if pointer == ffi.NULL else ffi.string(pointer).decode("utf-8", "replace")


def slice_of(value: Any) -> Optional[str]:
    """A cg_str, copied; None when absent."""
    if value.ptr == ffi.NULL:
        return None
    return bytes(ffi.buffer(value.ptr, value.len)).decode("utf-8", "replace")


def path_bytes(path: Path) -> bytes:
    data = os.fsencode(path)
    if b"\0" in data:
        raise ValueError("a path cannot hold a NUL character")
    return data


class Arena:
    """C texts and arrays that live as long as this object."""

    def __init__(self) -> None:
        self.kept: List[Any] = []

    def text(self, value: Union[None, str, bytes]) -> Any:
        if value is None:
            return ffi.NULL
        data = value if isinstance(value, bytes) else value.encode("utf-8")
        if b"\0" in data:
            raise ValueError("the text holds a NUL character")
        self.kept.append(ffi.new("char[]", data))
        return self.kept[-1]

    def path(self, value: Optional[Path]) -> Any:
        return ffi.NULL if value is None else self.text(path_bytes(value))

    def texts(self, values: Sequence[Union[str, bytes]]) -> Any:
        self.kept.append(ffi.new("char *[]", [self.text(value) for value in values]))
        return ffi.cast("const char *const *", self.kept[-1])

    def paths(self, values: Sequence[Path]) -> Any:
        return self.texts([path_bytes(value) for value in values])

    def slice(self, value: Optional[str]) -> Any:
        """A cg_str; an absent one for None."""
        if value is None:
            return (ffi.NULL, 0)
        data = value.encode("utf-8")
        self.kept.append(ffi.new("char[]", data))
        return (self.kept[-1], len(data))


def sized(kind: str, /, **members: Any) -> Any:
    """A structure with its `size` set."""
    value = ffi.new(kind + " *", members)
    value.size = ffi.sizeof(kind)
    return value


def path_list(value: Union[Path, Sequence[Path]]) -> List[Path]:
    """One path, or several."""
    return [value] if isinstance(value, (str, bytes, os.PathLike)) else list(value)


_pending = threading.local()


def _remember(_kind: Any, error: Any, _trace: Any) -> bool:
    _pending.error = error
    return False


@ffi.def_extern(error=False, onerror=_remember)  # type: ignore
def cgpy_progress(context: Any, stage: Any, done: int, total: int) -> bool:
    """Runs Python code, so that Ctrl-C is noticed; an exception of it stops the call."""
    env = ffi.from_handle(context)
    try:
        if env.progress is None:
            return True
        return env.progress(text_of(stage) or "", done, total) is not False
    except BaseException as error:  # it goes on in check()
        env.error = error
        return False


@ffi.def_extern()  # type: ignore
def cgpy_warn(context: Any, word: Any) -> None:
    ffi.from_handle(context).append(slice_of(word) or "")


class Env:
    """What a call may use: ceilings and progress. Lives as long as what was opened with it."""

    def __init__(self, limits: Optional[Mapping[str, int]] = None,
                 progress: Optional[Progress] = None) -> None:
        self.progress = progress
        self.error: Optional[BaseException] = None
        self._handle = ffi.new_handle(self)
        self._limits = ffi.NULL
        if limits:
            self._limits = sized("cg_limits")
            lib.cg_limits_default(self._limits)
            for word, value in limits.items():
                if value < 0 or not lib.cg_limits_set(self._limits, word.encode(), value):
                    raise ValueError("no ceiling `%s`, or not one of that size" % word)
        self.c = sized("cg_env", limits=self._limits, progress=lib.cgpy_progress,
                       progress_context=self._handle)


def error_of(code: int, err: Any) -> CandlegraphError:
    word = _CODES.get(code, "INTERNAL")
    text = text_of(err.text) or (text_of(lib.cg_code_name(code)) or word)
    file = text_of(err.file) or None
    line = err.line or None
    place = "".join(part + ": " for part in (file, "line %d" % line if line else None) if part)
    problem, advice = text_of(err.problem), text_of(err.help)
    message = place + text + ("; " + advice if advice else "") + (
        " [%s]" % problem if problem else "")
    return BY_WORD[word](message, word, lib.cg_code_exit_status(code), problem, advice, file, line,
                         err.offset if err.has_offset else None)


def check(code: int, err: Any, env: Optional[Env] = None) -> None:
    """Raise what the call failed with; exceptions of a progress function as themselves."""
    if code == lib.CG_OK:
        return
    pending = getattr(_pending, "error", None)
    _pending.error = None
    if env is not None and env.error is not None:
        pending, env.error = env.error, None
    if code == lib.CG_INTERRUPTED and pending is not None:
        raise pending
    raise error_of(code, err)


def call(function: Any, *arguments: Any, env: Optional[Env] = None) -> None:
    """A call whose last parameter is `cg_err *reterr`."""
    err = ffi.new("cg_err *")
    check(function(*arguments, err), err, env)


def opened(function: Any, kind: str, release: Any, *arguments: Any, env: Env) -> Any:
    """A call that makes a `kind`; freed when the last reference to it is gone."""
    ret = ffi.new(kind + " **")
    call(function, *arguments, ret, env=env)
    return ffi.gc(ret[0], release)


def written(function: Any, *before: Any, after: Sequence[Any] = (),
            env: Optional[Env] = None) -> bytes:
    """What a `cg_write_...` call writes; `after` stands between sink and reterr."""
    text = ffi.gc(lib.cgpy_text_new(), lib.cgpy_text_free)
    if text == ffi.NULL:
        raise MemoryError()
    err = ffi.new("cg_err *")
    code = function(*before, lib.cgpy_text_sink(text), *after, err)
    if text.is_out_of_memory:
        raise MemoryError()
    check(code, err, env)
    return bytes(ffi.buffer(text.bytes, text.count)) if text.count else b""


def format_of(text: bool, width: int = 0, rows: int = 0, color: bool = False) -> Any:
    return sized("cg_format", kind=lib.CG_FORMAT_TEXT if text else lib.CG_FORMAT_JSON,
                 has_color=color, width=width, rows=rows)


JSON = format_of(False)


def document(function: Any, *before: Any, env: Optional[Env] = None) -> Json:
    """The JSON document of a call that takes a format."""
    result = json.loads(written(function, *before, JSON, env=env))
    assert isinstance(result, dict)
    return result


def text_document(function: Any, *before: Any, width: int = 0, rows: int = 0, color: bool = False,
                  env: Optional[Env] = None) -> str:
    return written(function, *before, format_of(True, width, rows, color), env=env).decode("utf-8")


def save(env: Env, path: Path, inputs: Sequence[Path], data: bytes) -> None:
    """Write `data` to `path`, whole or not at all, and never into an input or a bundle."""
    arena = Arena()
    ret = ffi.new("cg_output **")
    call(lib.cg_output_open, env.c, arena.path(path), arena.paths(inputs), len(inputs), ret,
         env=env)
    sink = lib.cg_output_sink(ret[0])
    code = sink.write(sink.context, data, len(data))
    if code != lib.CG_OK:
        lib.cg_output_drop(ret[0])
        raise OSError("`%s` could not be written" % os.fsdecode(path))
    call(lib.cg_output_commit, ret[0], env=env)


def version() -> str:
    """Version of the library inside this package."""
    return text_of(lib.cg_version()) or ""


def input_kind(path: Path) -> str:
    """What is at `path`: ``"trace"``, ``"bundle"``, ``"crate"``, ``"model"``, ``"document"`` (a
    comparison, series or campaign status) or ``"campaign"`` (the plan of one).

    Raises NotFoundError, or InputError for what is ambiguous, with the reason.
    """
    env, arena = Env(), Arena()
    kind = ffi.new("cg_input_kind *")
    call(lib.cg_input_kind_of, env.c, arena.path(path), kind, env=env)
    return {lib.CG_INPUT_RAW_TRACE: "trace", lib.CG_INPUT_BUNDLE: "bundle",
            lib.CG_INPUT_CRATE: "crate", lib.CG_INPUT_MODEL: "model",
            lib.CG_INPUT_DOCUMENT: "document", lib.CG_INPUT_CAMPAIGN: "campaign"}[kind[0]]
