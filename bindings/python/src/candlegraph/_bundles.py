"""Bundles and several runs: publish, verify, compare, series, campaigns."""
from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Optional, Sequence

from . import _tables
from ._library import (Arena, Env, Json, Path, Progress, document, ffi, lib, opened, path_list,
                       sized, slice_of, text_document, written)
from ._table import Columns, Table, table_of

_SAMPLES: Columns = (("cohort", "text"), ("index", "integer"), ("run_id", "text"),
                     ("manifest_sha256", "text"), ("outer_wall_time_ns", "integer"))
_DEPTHS = {"bytes": lib.CG_VERIFY_BYTES, "semantic": lib.CG_VERIFY_SEMANTIC,
           "strict": lib.CG_VERIFY_STRICT}
_VERDICTS = {lib.CG_VERDICT_INELIGIBLE: "ineligible", lib.CG_VERDICT_INCONCLUSIVE: "inconclusive",
             lib.CG_VERDICT_FASTER: "faster", lib.CG_VERDICT_SLOWER: "slower"}


@dataclass(frozen=True)
class Verification:
    """What `verify` found in order. A bundle that is not raises InputError instead."""

    run_id: str
    manifest_sha256: str
    producer_name: Optional[str]
    producer_version: Optional[str]
    file_count: int
    byte_count: int
    unchecked_count: int  #: files that only their writer could derive again
    document: Json  #: candle-graph/verify/1


def verify(path: Path, depth: str = "bytes", *, limits: Optional[Mapping[str, int]] = None,
           progress: Optional[Progress] = None) -> Verification:
    """Check the bundle at `path`.

    ``"bytes"``: files, sizes, digests. ``"semantic"``: also that what is in it follows from its
    trace. ``"strict"``: also that there is nothing that could not be checked that way.
    InputError with a problem `bundle-...`, NotFoundError, LimitError.
    """
    if depth not in _DEPTHS:
        raise ValueError("one of bytes, semantic, strict, not `%s`" % depth)
    env, arena = Env(limits, progress), Arena()
    handle = opened(lib.cg_bundle_verify, "cg_verification", lib.cg_verification_free, env.c,
                    arena.path(path), _DEPTHS[depth], env=env)
    facts = sized("cg_verification_facts")
    lib.cg_verification_facts_of(handle, facts)
    return Verification(slice_of(facts.run_id) or "", slice_of(facts.manifest_sha256) or "",
                        slice_of(facts.producer_name), slice_of(facts.producer_version),
                        facts.file_count, facts.byte_count, facts.unchecked_count,
                        document(lib.cg_write_verification, handle))


@dataclass(frozen=True)
class Publication:
    """A bundle that stands."""

    is_already_published: bool  #: nothing was written, the same work was there
    bundle_path: str
    run_id: str
    manifest_sha256: str
    file_count: int
    byte_count: int
    document: Json  #: candle-graph/publication/1


def publish(trace: Path, bundle: Path, *, nsight: Optional[Path] = None,
            limits: Optional[Mapping[str, int]] = None,
            progress: Optional[Progress] = None) -> Publication:
    """Publish a trace as a bundle, whole or not at all; a repetition finds the work done.

    OutputRefusedError when something else stands there; DurabilityError when the bundle is there
    but may not survive a loss of power.
    """
    env, arena = Env(limits, progress), Arena()
    request = sized("cg_publish_request", trace_path=arena.path(trace),
                    bundle_path=arena.path(bundle), nsight_directory=arena.path(nsight))
    handle = opened(lib.cg_publish, "cg_publication", lib.cg_publication_free, env.c, request,
                    env=env)
    facts = sized("cg_publication_facts")
    lib.cg_publication_facts_of(handle, facts)
    return Publication(facts.is_already_published, slice_of(facts.bundle_path) or "",
                       slice_of(facts.run_id) or "", slice_of(facts.manifest_sha256) or "",
                       facts.file_count, facts.byte_count,
                       document(lib.cg_write_publication, handle))


@dataclass(frozen=True)
class Comparison:
    """Did the candidate change the time of the measured region? Times in nanoseconds.

    `verdict` is ``"ineligible"`` (the runs may not be compared, `reasons` says why),
    ``"inconclusive"``, ``"faster"`` or ``"slower"``. The delta is candidate minus baseline; lower
    and upper bound its 95 % interval, None when not comparable.
    """

    verdict: str
    is_comparable: bool
    is_paired: bool
    reasons: List[str]
    baseline_count: int
    candidate_count: int
    baseline_median_ns: float
    candidate_median_ns: float
    median_delta_ns: float
    lower_delta_ns: Optional[float]
    upper_delta_ns: Optional[float]
    document: Json  #: candle-graph/comparison/6
    text: str  #: for people
    _handle: Any = field(default=None, repr=False, compare=False)

    def page(self) -> str:
        """One HTML file that needs no network."""
        return written(lib.cg_write_comparison_page, self._handle).decode("utf-8")

    def table(self, name: str = "samples") -> Table:
        """`samples`: a row for each run; `tensor_stats`: statistics of both, by label."""
        if name == "samples":
            return table_of(_SAMPLES, _samples(self.document))
        if name in _tables.COMPARISON:
            found = self.document.get(name) or {}
            return table_of(_tables.COMPARISON[name], found.get("matched") or [])
        raise ValueError("one of samples, tensor_stats, not `%s`" % name)


def _samples(found: Json) -> List[Dict[str, Any]]:
    rows = []
    for cohort in ("baseline", "candidate"):
        times = (found.get(cohort) or {}).get("samples_ns") or []
        for index, run in enumerate(found["inputs"][cohort]):
            rows.append({"cohort": cohort, "index": index, "run_id": run.get("run_id"),
                         "manifest_sha256": run.get("manifest_sha256"),
                         "outer_wall_time_ns": times[index] if index < len(times) else None})
    return rows


def compare(baseline: Sequence[Path], candidate: Sequence[Path], *, traces: bool = False,
            min_effect_percent: Optional[float] = None, calibrate: bool = False,
            limits: Optional[Mapping[str, int]] = None,
            progress: Optional[Progress] = None) -> Comparison:
    """Compare two cohorts of bundles (with `traces`: raw traces, which are never eligible).

    min_effect_percent  a verdict needs an interval wholly beyond that much of the baseline's median
    calibrate           also compare the baseline with itself, spread and drift

    The order of the runs matters. A run that cannot be verified or read raises InputError.
    """
    env, arena = Env(limits, progress), Arena()
    first, second = path_list(baseline), path_list(candidate)
    request = sized("cg_compare_request", baseline=arena.paths(first),
                    candidate=arena.paths(second), baseline_count=len(first),
                    candidate_count=len(second), are_traces=traces,
                    has_min_effect=min_effect_percent is not None,
                    min_effect_percent=min_effect_percent or 0.0, is_calibrated=calibrate)
    handle = opened(lib.cg_compare, "cg_comparison", lib.cg_comparison_free, env.c, request,
                    env=env)
    facts = sized("cg_comparison_facts")
    lib.cg_comparison_facts_of(handle, facts)
    reasons: List[str] = []
    reason = ffi.new("cg_str *")
    while lib.cg_comparison_reason(handle, len(reasons), reason):
        reasons.append(slice_of(reason[0]) or "")
    return Comparison(
        _VERDICTS[facts.verdict], facts.is_comparable, facts.is_paired, reasons,
        facts.baseline_count, facts.candidate_count, facts.baseline_median_ns,
        facts.candidate_median_ns, facts.median_delta_ns,
        facts.lower_delta_ns if facts.is_comparable else None,
        facts.upper_delta_ns if facts.is_comparable else None,
        document(lib.cg_write_comparison, handle), text_document(lib.cg_write_comparison, handle),
        handle)


def compare_plan(pairs: int) -> Json:
    """candle-graph/compare-plan/1: an order in which to measure 5 to 100 000 pairs of runs."""
    env = Env()
    return document(lib.cg_write_compare_plan, env.c, pairs, env=env)


def campaign_status(manifest: Path) -> Json:
    """candle-graph/campaign-status/1: what has become of the captures `manifest` plans."""
    env, arena = Env(), Arena()
    return document(lib.cg_write_campaign_status, env.c, arena.path(manifest), env=env)


def campaign_page(manifest: Path) -> str:
    """The status of a campaign, and its series, as one HTML file."""
    env, arena = Env(), Arena()
    return written(lib.cg_write_campaign_page, env.c, arena.path(manifest),
                   env=env).decode("utf-8")


def document_page(path: Path) -> str:
    """A comparison, series or campaign status in a file, as one HTML file."""
    env, arena = Env(), Arena()
    return written(lib.cg_write_document_page, env.c, arena.path(path), env=env).decode("utf-8")


@dataclass(frozen=True)
class Series:
    """Values by captured step: times, statistics, gradients, bytes that stay."""

    document: Json  #: candle-graph/series/1, with growth

    def table(self, name: str = "tensor_stats") -> Table:
        """One of `inputs`, `outer_wall_time`, `tensor_stats`, `gradients`, `residual_bytes`,
        `growth`, in long form: a row for each name and capture."""
        if name not in _tables.SERIES:
            raise ValueError("one of %s, not `%s`" % (", ".join(_tables.SERIES), name))
        types = _tables.SERIES[name]
        found = self.document.get(name) or []
        if isinstance(found, dict):  # by name: label, parameter or span
            key = types[0][0]
            found = [{key: label, **point} for label, points in found.items() for point in points]
        return table_of(types, found)


def series(bundles: Sequence[Path] = (), *, manifest: Optional[Path] = None,
           label_prefix: Optional[str] = None, limits: Optional[Mapping[str, int]] = None,
           progress: Optional[Progress] = None) -> Series:
    """Bundles of one entrypoint, or a campaign whose captures are all published, over the steps."""
    env, arena = Env(limits, progress), Arena()
    paths = path_list(bundles)
    request = sized("cg_series_request", manifest=arena.path(manifest),
                    bundles=arena.paths(paths), bundle_count=len(paths),
                    label_prefix=arena.slice(label_prefix), has_growth=True)
    return Series(document(lib.cg_write_series, env.c, request, env=env))
