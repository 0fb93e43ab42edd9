"""Scans: what the source of a Candle crate says."""
import json
import threading
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from . import _tables
from ._library import (Arena, Env, Json, Path, Progress, call, check, document, ffi, lib,
                       opened, save, sized, slice_of, text_document, text_of, written)
from ._table import Table, table_of

SCAN_QUERY_KINDS = tuple((text_of(lib.cg_scan_query_words()) or "").split())
MODEL_TABLE_NAMES = tuple(_tables.MODEL)
_MESSAGES = {"human": lib.CG_MESSAGE_HUMAN, "short": lib.CG_MESSAGE_SHORT,
             "json": lib.CG_MESSAGE_JSON, "cargo-json": lib.CG_MESSAGE_CARGO_JSON,
             "sarif": lib.CG_MESSAGE_SARIF, "github": lib.CG_MESSAGE_GITHUB}
_STRICT = {"none": lib.CG_STRICT_NONE, "source": lib.CG_STRICT_SOURCE, "all": lib.CG_STRICT_ALL}


@dataclass(frozen=True)
class ScanFacts:
    """How much was found. `missing_count` and `unclaimed_count` count keys of a checkpoint,
    `runtime_observations` what a runtime trace told; None without one. `unread_count` places in the
    sources could not be read, the first of them at `unread_place`, for the reason `unread`."""

    component_count: int
    parameter_count: int
    module_count: int
    function_count: int
    error_count: int
    warning_count: int
    information_count: int
    missing_count: Optional[int]
    unclaimed_count: Optional[int]
    runtime_observations: Optional[int]
    identity_mismatches: Optional[int]
    unread_count: int
    unread_place: str
    unread: str
    has_checkpoint: bool
    has_runtime_trace: bool
    is_from_cache: bool
    analysis_id: str
    package: str
    version: str


class Scan:
    """A crate that was read, not run; made by `scan`.

    Threads may share it, its calls wait for each other. What it returns is copied and stays valid.
    `close` (or leaving a `with` block) gives the memory back as soon as no call is using it.
    """

    def __init__(self, handle: Any, env: Env, path: Path) -> None:
        self._handle: Any = handle
        self._env = env
        self._path = path
        self._lock = threading.Lock()
        self._model: Optional[Json] = None

    def __enter__(self) -> "Scan":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Calls after this one raise ValueError."""
        self._handle = None
        self._model = None

    def _open(self) -> Any:
        handle = self._handle
        if handle is None:
            raise ValueError("the scan is closed")
        return handle

    def _document(self, function: Any, *arguments: Any) -> Json:
        with self._lock:
            return document(function, self._open(), *arguments, env=self._env)

    @property
    def facts(self) -> ScanFacts:
        facts = sized("cg_scan_facts")
        with self._lock:
            lib.cg_scan_facts_of(self._open(), facts)
            values: Dict[str, Any] = {}
            for name in ScanFacts.__dataclass_fields__:
                value = getattr(facts, name)
                values[name] = (slice_of(value) or "") if isinstance(value, ffi.CData) else value
        if not facts.has_checkpoint:
            values["missing_count"] = values["unclaimed_count"] = None
        if not facts.has_runtime_trace:
            values["runtime_observations"] = values["identity_mismatches"] = None
        return ScanFacts(**values)

    def compare_checkpoint(self, path: Path, *, root: Optional[str] = None,
                           component: Optional[str] = None) -> Json:
        """Compare a checkpoint (.safetensors, an index of shards, a directory) with the parameters.

        Only headers are read. Later documents have its shapes and dtypes, and findings for what
        does not fit. At most once for a scan. Returns the report, with `diagnosis`.
        """
        arena = Arena()
        with self._lock:
            handle = self._open()
            call(lib.cg_scan_checkpoint, handle, arena.path(path), arena.text(root),
                 arena.text(component), env=self._env)
            self._model = None
            return document(lib.cg_write_checkpoint, handle, env=self._env)

    def checkpoint(self) -> Json:
        """The report of `compare_checkpoint`; UsageError without one."""
        return self._document(lib.cg_write_checkpoint)

    def key_map(self) -> Dict[str, str]:
        """Key of the model -> key of the file, of every rename that is settled."""
        with self._lock:
            found = json.loads(written(lib.cg_write_key_map, self._open(), env=self._env))
        renamed: Dict[str, str] = found["map"]
        return renamed

    def model(self) -> Json:
        """candle-graph/model/1: everything that was found."""
        with self._lock:
            handle = self._open()
            if self._model is None:
                self._model = document(lib.cg_write_model, handle, env=self._env)
            return self._model

    def table(self, name: str) -> Table:
        """Columns of one of `MODEL_TABLE_NAMES`, or of `diagnosis` with a checkpoint.

        Shapes of the source are expressions (text), those of a checkpoint lists of integers.
        """
        if name == "diagnosis":
            return table_of(_tables.CHECKPOINT[name], self.checkpoint()[name])
        if name not in _tables.MODEL:
            raise ValueError("no table `%s`; there are %s" % (name, ", ".join(MODEL_TABLE_NAMES)))
        return table_of(_tables.MODEL[name], self.model().get(name) or [])

    def tables(self) -> Dict[str, Table]:
        return {name: self.table(name) for name in MODEL_TABLE_NAMES}

    def query(self, kind: str, select: Optional[str] = None, *, to: Optional[str] = None,
              limit: Optional[int] = None, offset: int = 0) -> Json:
        """One question (a word of `SCAN_QUERY_KINDS`): candle-graph/query/1; `items` answers.

        Without a limit at most 100 items; `truncated` says whether there are more. Kind `join`
        is what `join` gives.
        """
        if kind == "join" and to is None:
            return self.join(select, limit=limit, offset=offset)
        arena = Arena()
        return self._document(lib.cg_write_scan_query,
                              _question(arena, kind, select, to, limit, offset))

    def add_run(self, path: Path, *, component: Optional[str] = None) -> None:
        """Put a trace or a bundle of the crate's own program beside it, for `join`.

        component  of the first call: the one that keys of gradients belong to; else what fits
        """
        arena = Arena()
        with self._lock:
            call(lib.cg_scan_join, self._open(), arena.path(path), arena.text(component),
                 env=self._env)

    def join(self, select: Optional[str] = None, *, limit: Optional[int] = None,
             offset: int = 0) -> Json:
        """candle-graph/join/1 of the crate and the runs added: what never ran, what never learned
        and which finding says why, what was not finite. UsageError without a run.

        select  a part of a name or an id; limit  rows of each list, 100 without it
        """
        arena = Arena()
        query = sized("cg_join_query", select=arena.text(select), has_limit=limit is not None,
                      limit=limit or 0, offset=offset)
        return self._document(lib.cg_write_join, query)

    def tree(self, component: Optional[str] = None) -> Json:
        """candle-graph/tree/1: modules with shapes, numbers of parameters, and bytes."""
        arena = Arena()
        return self._document(lib.cg_write_tree, arena.text(component))

    def text(self, what: str = "model", *, width: int = 100, rows: int = 20,
             color: bool = False) -> str:
        """`model` (a summary), `tree`, `checkpoint` or `join`, for people."""
        calls: Dict[str, Any] = {"model": (lib.cg_write_model,),
                                 "tree": (lib.cg_write_tree, ffi.NULL),
                                 "checkpoint": (lib.cg_write_checkpoint,),
                                 "join": (lib.cg_write_join, ffi.NULL)}
        if what not in calls:
            raise ValueError("one of %s, not `%s`" % (", ".join(calls), what))
        function, *arguments = calls[what]
        with self._lock:
            return text_document(function, self._open(), *arguments, width=width, rows=rows,
                                 color=color, env=self._env)

    def findings(self) -> List[Dict[str, Any]]:
        """The findings of candle-graph/findings/1: code, severity, confidence, place, help ..."""
        findings: List[Dict[str, Any]] = json.loads(self.messages("json"))["findings"]
        return findings

    def messages(self, form: str = "human") -> str:
        """The findings as `human`, `short`, `json`, `cargo-json`, `sarif` or `github` prints."""
        if form not in _MESSAGES:
            raise ValueError("one of %s, not `%s`" % (", ".join(_MESSAGES), form))
        with self._lock:
            return written(lib.cg_write_findings, self._open(), _MESSAGES[form],
                           env=self._env).decode("utf-8")

    def gate(self, strictness: str = "source", deny: Sequence[str] = ()) -> None:
        """GateError when a proven finding is an error, or of a denied rule.

        strictness  ``"none"``: only denied rules; ``"source"``: and errors in the source, not
                    those of a checkpoint; ``"all"``
        deny        words as `--deny` takes them; one that names no rule raises ValueError
        """
        if strictness not in _STRICT:
            raise ValueError("one of none, source, all, not `%s`" % strictness)
        arena, unknown = Arena(), []  # type: ignore[var-annotated]
        context = ffi.new_handle(unknown)
        err = ffi.new("cg_err *")
        with self._lock:
            code = lib.cg_scan_gate(self._open(), _STRICT[strictness], arena.texts(list(deny)),
                                    len(deny), lib.cgpy_warn, context, err)
        if unknown:
            raise ValueError("no rule `%s`" % "`, `".join(unknown))
        check(code, err, self._env)

    def page(self) -> str:
        """The model as one HTML file that needs no network."""
        with self._lock:
            return written(lib.cg_write_model_page, self._open(), env=self._env).decode("utf-8")

    def save_page(self, path: Path) -> None:
        """`page` in a file. OutputRefusedError when it would damage the crate."""
        arena = Arena()
        with self._lock:
            handle = self._open()
            call(lib.cg_scan_guard, handle, arena.path(path), env=self._env)
            data = written(lib.cg_write_model_page, handle, env=self._env)
        save(self._env, path, [], data)

    def audit(self, directory: Path) -> None:
        """Write the audit into `directory`, made if need be; each file whole or not at all."""
        arena = Arena()
        with self._lock:
            call(lib.cg_audit, self._open(), arena.path(directory), env=self._env)


def _question(arena: Arena, kind: str, select: Optional[str], to: Optional[str],
              limit: Optional[int], offset: int) -> Any:
    """Lives as long as `arena`."""
    if not lib.cg_scan_query_exists(arena.text(kind)):
        raise ValueError("no kind `%s`; there are %s" % (kind, ", ".join(SCAN_QUERY_KINDS)))
    return sized("cg_scan_query", kind=arena.text(kind), select=arena.text(select),
                 to=arena.text(to), has_limit=limit is not None, limit=limit or 0, offset=offset)


def scan(path: Path = ".", *, package: Optional[str] = None, target: Optional[str] = None,
         cargo_target: Optional[str] = None, root: Optional[str] = None,
         features: Sequence[str] = (), all_features: bool = False,
         no_default_features: bool = False, sources: Union[Mapping[str, str], None] = None,
         cargo: bool = False, heuristic: bool = False, structure: bool = False,
         findings_only: bool = False,
         runtime_trace: Optional[Path] = None, cache: Optional[Path] = None,
         limits: Optional[Mapping[str, int]] = None, progress: Optional[Progress] = None) -> Scan:
    """Read the crate at `path`: a directory, a Cargo.toml, or a file in a crate.

    No build script, macro or compiler is run, and no cargo unless `cargo` is set.

    package, target, cargo_target  member of a workspace; triple; library or binary
    root                           only this component
    features ...                   as cargo takes them
    sources                        where the sources of a dependency lie, by name
    cargo                          run `cargo metadata` and `rustc --print cfg`, offline and locked
    heuristic                      also guesses from names: stages, artifacts, call order
    structure                      components, modules, parameters and functions only
    findings_only                  faster and smaller: the findings are the same, and documents lack
                                   tensors, operations and uses of parameters
    runtime_trace                  candle-graph/runtime of a run, merged into the document
    cache                          directory to keep results in

    NotFoundError, InputError, LimitError, InterruptedError. What is missing (a lock file, sources
    of a dependency) is a finding, not an error.
    """
    env, arena = Env(limits, progress), Arena()
    lies = ["%s=%s" % pair for pair in (sources or {}).items()]
    request = sized("cg_scan_request", path=arena.path(path), package=arena.text(package),
                    target=arena.text(target), cargo_target=arena.text(cargo_target),
                    root=arena.text(root), features=arena.texts(list(features)),
                    feature_count=len(features), sources=arena.texts(lies),
                    source_count=len(lies), has_all_features=all_features,
                    has_no_default_features=no_default_features, asks_cargo=cargo,
                    is_heuristic=heuristic, is_structure=structure,
                    is_findings=findings_only,
                    runtime_trace=arena.path(runtime_trace),
                    cache_directory=arena.path(cache))
    handle = opened(lib.cg_scan_open, "cg_scan", lib.cg_scan_free, env.c, request, env=env)
    return Scan(handle, env, path)


def explain(code: Optional[str] = None, *, width: int = 100) -> str:
    """What a code of a finding means, with a bad and a good sample; without one, all codes."""
    env, arena = Env(), Arena()
    return text_document(lib.cg_write_explanation, env.c, arena.text(code), width=width, env=env)


def model_page(path: Path) -> str:
    """The HTML page of a candle-graph/model/1 document in a file."""
    env, arena = Env(), Arena()
    return written(lib.cg_write_model_file_page, env.c, arena.path(path), env=env).decode("utf-8")
