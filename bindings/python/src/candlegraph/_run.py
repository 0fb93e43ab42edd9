"""Runs: what a trace or bundle holds, and answers about it."""
import json
import os
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional

from . import _tables
from ._error import NoGraphError
from ._library import (Arena, Env, Json, Path, Progress, document, ffi, lib, opened, save,
                       sized, slice_of, text_document, text_of, written)
from ._table import Columns, Table, table_of

SPANS: Columns = (
    ("id", "text"), ("name", "text"), ("parent_id", "text"), ("start_ns", "integer"),
    ("total_ns", "integer"), ("self_ns", "integer"), ("is_closed", "boolean"),
    ("is_measured", "boolean"), ("allocated_bytes", "integer"))
# Tables that are the rows of a question, and those that are a part of the evidence.
_ASKED = {"nodes": ("spans", "spans"), "edges": ("spans", "edges"), "tensors": ("tensors", ""),
          "tensor_stats": ("tensor-stats", ""), "gradients": ("gradients", ""),
          "labels": ("labels", "rows"), "gaps": ("gaps", "rows"),
          "module_tree": ("module-tree", "rows")}
_EVIDENCE = {"issues": ("health", "issues"),
             "memory_lifetimes": ("memory", "logical", "lifetimes"),
             "memory_timeline": ("memory", "logical", "timeline"),
             "device_memory": ("memory", "physical", "timeline"),
             "device_spans": ("timing", "device_spans"), "gpu_kernels": ("gpu", "kernels"),
             "gpu_timeline": ("gpu", "gpu_timeline")}
TABLE_NAMES = ("spans",) + tuple(_tables.RUN)
QUERY_KINDS = tuple(text_of(lib.cg_query_word(kind)) or "" for kind in range(lib.CG_QUERY_COUNT))


@dataclass(frozen=True)
class RunFacts:
    """What a run is, and how much of it there is. Times in nanoseconds, sizes in bytes."""

    is_structurally_valid: bool
    is_capture_complete: bool
    has_graph: bool
    is_train: bool
    error_count: int
    warning_count: int
    event_count: int
    byte_count: int
    span_count: int
    operation_count: int
    tensor_count: int
    statistics_count: int
    memory_event_count: int
    gradient_count: int
    outer_wall_time_ns: Optional[int]  #: of the measured region; None without a graph
    capture_step: int
    run_id: str
    correlation_id: str
    entrypoint: str
    device: str


class Run:
    """A trace or bundle, read and analysed as a whole; made by `open_run` and `read_run`.

    It does not change and may be used from several threads at once; long calls let other threads
    run. What it returns is copied and stays valid. `close` (or leaving a `with` block) gives the
    memory back as soon as no call is using it.
    """

    def __init__(self, handle: Any, env: Env, path: Optional[Path]) -> None:
        self._handle: Any = handle
        self._env = env
        self._path = path

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Calls after this one raise ValueError."""
        self._handle = None

    def _open(self) -> Any:
        # A local reference: another thread may close the run meanwhile.
        handle = self._handle
        if handle is None:
            raise ValueError("the run is closed")
        return handle

    @property
    def facts(self) -> RunFacts:
        facts = sized("cg_run_facts")
        lib.cg_run_facts_of(self._open(), facts)
        values: Dict[str, Any] = {}
        for name in RunFacts.__dataclass_fields__:
            value = getattr(facts, name)
            values[name] = (slice_of(value) or "") if isinstance(value, ffi.CData) else value
        if not facts.has_graph:
            values["outer_wall_time_ns"] = None
        return RunFacts(**values)

    @property
    def issues(self) -> List[Dict[str, Any]]:
        """Health issues: `severity` (``"error"``, ``"warning"``), `code`, `message`."""
        issues: List[Dict[str, Any]] = self.evidence()["health"]["issues"]
        return issues

    def evidence(self) -> Json:
        """candle-graph/evidence/4: everything that was derived."""
        return document(lib.cg_write_evidence, self._open())

    def summary(self) -> Json:
        """candle-graph/summary/5: health, capabilities, findings."""
        return document(lib.cg_write_summary, self._open())

    def overview(self) -> Json:
        """candle-graph/overview/1: the first things to know."""
        return document(lib.cg_write_overview, self._open())

    def text(self, what: str = "overview", *, width: int = 100, rows: int = 20,
             color: bool = False) -> str:
        """`overview`, `summary` or `evidence` for people."""
        functions = {"overview": lib.cg_write_overview, "summary": lib.cg_write_summary,
                     "evidence": lib.cg_write_evidence}
        if what not in functions:
            raise ValueError("one of overview, summary, evidence, not `%s`" % what)
        return text_document(functions[what], self._open(), width=width, rows=rows, color=color)

    def report(self) -> str:
        """The report, Markdown."""
        return written(lib.cg_write_report, self._open()).decode("utf-8")

    def page(self, against: Optional["Run"] = None) -> str:
        """The run as one HTML file that needs no network; with `against`, both of them."""
        if against is not None:
            return written(lib.cg_write_page_against, self._env.c, self._open(), against._open(),
                           env=self._env).decode("utf-8")
        return written(lib.cg_write_page, self._open()).decode("utf-8")

    def save_page(self, path: Path) -> None:
        """`page` in a file, which appears whole or not at all. OutputRefusedError in a bundle."""
        inputs = [] if self._path is None else [self._path]
        save(self._env, path, inputs, written(lib.cg_write_page, self._open()))

    def query(self, kind: str, *, label: Optional[str] = None, label_prefix: Optional[str] = None,
              limit: Optional[int] = None, offset: int = 0) -> Json:
        """One question (a word of `QUERY_KINDS`): candle-graph/trace-query/5; `result` answers.

        InputError for a filter the kind does not take, NoGraphError when it needs a graph.
        """
        arena = Arena()
        return document(lib.cg_write_query, self._open(),
                        _question(arena, kind, label, label_prefix, limit, offset))

    def query_text(self, kind: str, *, label: Optional[str] = None,
                   label_prefix: Optional[str] = None, limit: Optional[int] = None,
                   offset: int = 0, width: int = 100, rows: int = 20) -> str:
        """The same for people."""
        arena = Arena()
        return text_document(lib.cg_write_query, self._open(),
                             _question(arena, kind, label, label_prefix, limit, offset),
                             width=width, rows=rows)

    def table(self, name: str) -> Table:
        """Columns of one of `TABLE_NAMES`, every row of it.

        `spans` (also of failed captures: own time is the recorded duration then) and, with a
        graph, `nodes`, `edges`, `tensors`, `gradients`; further `tensor_stats`, `labels`, `gaps`,
        `module_tree`, `issues`, `capabilities`, `memory_lifetimes`, `memory_timeline`,
        `device_memory`, `device_spans`, `gpu_kernels`, `gpu_timeline`. NoGraphError where a graph
        is needed and there is none; what was not recorded has no rows.
        """
        if name == "spans":
            return self._spans()
        if name == "capabilities":
            found = self.summary()["capabilities"]
            rows: Any = [{"capability": key, **value} for key, value in found.items()]
        elif name in _ASKED:
            kind, part = _ASKED[name]
            limit = 2**64 - 1 if part == "rows" and kind != "module-tree" else None
            rows = self.query(kind, limit=limit)["result"]
            rows = rows[part] if part else rows
        elif name in _EVIDENCE:
            rows = self.evidence()
            for key in _EVIDENCE[name]:
                rows = rows.get(key) if rows else None
        else:
            raise ValueError("no table `%s`; there are %s" % (name, ", ".join(TABLE_NAMES)))
        return table_of(_tables.RUN[name], rows or [])

    def _spans(self) -> Table:
        run = self._open()
        spans = ffi.gc(lib.cgpy_spans_of(run), lib.cgpy_spans_free)
        if spans == ffi.NULL:
            raise MemoryError()
        count = spans.count
        allocated = [value if there else None for value, there in zip(
            ffi.unpack(spans.allocated_bytes, count), ffi.unpack(spans.has_allocated, count))]
        parents = [value if there else None for value, there in zip(
            _texts(spans.parents, spans.parent_end, count), ffi.unpack(spans.has_parent, count))]
        return Table(SPANS, [
            _texts(spans.ids, spans.id_end, count), _texts(spans.names, spans.name_end, count),
            parents, ffi.unpack(spans.start_ns, count), ffi.unpack(spans.total_ns, count),
            ffi.unpack(spans.self_ns, count), ffi.unpack(spans.is_closed, count),
            ffi.unpack(spans.is_measured, count), allocated])

    def tables(self) -> Dict[str, Table]:
        """Every table there is; those that need a graph are left out when there is none."""
        result = {}
        for name in TABLE_NAMES:
            try:
                result[name] = self.table(name)
            except NoGraphError:
                pass
        return result


def _question(arena: Arena, kind: str, label: Optional[str], label_prefix: Optional[str],
              limit: Optional[int], offset: int) -> Any:
    """Lives as long as `arena`."""
    number = ffi.new("cg_query_kind *")
    if not lib.cg_query_find(arena.text(kind), number):
        raise ValueError("no kind `%s`; there are %s" % (kind, ", ".join(QUERY_KINDS)))
    return sized("cg_query", kind=number[0], label=arena.slice(label),
                 label_prefix=arena.slice(label_prefix), has_limit=limit is not None or offset > 0,
                 limit=2**64 - 1 if limit is None else limit, offset=offset)


def _texts(text: Any, ends: Any, count: int) -> List[str]:
    if not count or not text.count:
        return [""] * count
    data = bytes(ffi.buffer(text.bytes, text.count))
    result, start = [], 0
    for end in ffi.unpack(ends, count):
        result.append(data[start:end].decode("utf-8", "replace"))
        start = end
    return result


def open_run(path: Path, *, nsight: Optional[Path] = None,
             limits: Optional[Mapping[str, int]] = None,
             progress: Optional[Progress] = None) -> Run:
    """Read and analyse the trace or bundle at `path`.

    nsight    directory with exports of Nsight Systems that belong to the trace
    limits    ceilings by their words, for example ``{"memory-bytes": 1 << 34}``
    progress  called with stage, done and total (0: unknown) now and then; False stops the call

    NotFoundError, InputError with a problem and a place, LimitError, InterruptedError.
    """
    env, arena = Env(limits, progress), Arena()
    handle = opened(lib.cg_run_open_with_nsight, "cg_run", lib.cg_run_free, env.c,
                    arena.path(path), arena.path(nsight), env=env)
    return Run(handle, env, path)


def read_run(data: bytes, *, name: str = "trace.jsonl",
             limits: Optional[Mapping[str, int]] = None,
             progress: Optional[Progress] = None) -> Run:
    """The same from the bytes of a trace; `name` stands for the path in messages."""
    env, arena = Env(limits, progress), Arena()
    handle = opened(lib.cg_run_read, "cg_run", lib.cg_run_free, env.c, ffi.from_buffer(data),
                    len(data), arena.text(name), env=env)
    return Run(handle, env, None)


def trace_tables(path: Path, *, limits: Optional[Mapping[str, int]] = None,
                 progress: Optional[Progress] = None) -> Dict[str, Table]:
    """The records of a trace as they were written, a table for each kind of record.

    `op`, `memory`, `device_interval` and so on, in the order of the stream; kinds that do not occur
    have no rows. The trace is validated as a whole first, with the errors of `open_run`. For a
    bundle or a directory its trace.jsonl is read.
    """
    if os.path.isdir(path):
        path = os.path.join(os.fsdecode(path), "trace.jsonl")
    with open(path, "rb") as file:
        data = file.read()
    read_run(data, name=os.fsdecode(path), limits=limits, progress=progress).close()
    records: Dict[str, List[Any]] = {kind: [] for kind in _tables.RECORDS}
    # The library's own idea of a line and of blanks around a record.
    for line in data.split(b"\n"):
        text = line.decode("utf-8").strip()
        if text:
            record = json.loads(text)
            records[record["kind"]].append(record)
    return {kind: table_of(_tables.RECORDS[kind], rows) for kind, rows in records.items()}


def protocol() -> Json:
    """candle-graph/protocol/1: the schemas this version reads and writes."""
    env = Env()
    return document(lib.cg_write_protocol, env.c, ffi.NULL, 0, env=env)


def recover(input: Path, output: Path, *, limits: Optional[Mapping[str, int]] = None,
            progress: Optional[Progress] = None) -> Json:
    """What a dead process left at `input` (its spool, or a trace without its end) as a trace.

    `output` becomes a failed capture with every complete record. Returns candle-graph/recovery/1:
    how much there was, where it stops, which spans were open.
    """
    env, arena = Env(limits, progress), Arena()
    return document(lib.cg_recover, env.c, arena.path(input), arena.path(output), env=env)
