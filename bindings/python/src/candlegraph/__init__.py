"""candlegraph: evidence about runs and sources of Candle models.

    import candlegraph

    with candlegraph.open_run("run.jsonl") as run:
        print(run.text())                              # the first screen
        frame = run.table("module_tree").to_pandas()   # columns, with units in their names

    candlegraph.verify("bundle", "semantic")           # raises InputError with a problem id
    candlegraph.compare(baseline, candidate).verdict
    candlegraph.scan("path/to/crate").findings()

Everything is done by the C library inside; documents are its JSON documents (docs/schemas), as
dictionaries. What was not recorded is None or has no rows, never zero. Host time, device time,
logical storage and physical memory are different things and never added up.

Long calls release the interpreter's lock, and Ctrl-C stops them. Errors are subclasses of
`CandlegraphError` and carry `code`, `problem`, `help` and the place.
"""
from ._bundles import (Comparison, Publication, Series, Verification, campaign_page,
                       campaign_status, compare, compare_plan, document_page, publish, series,
                       verify)
from ._error import (CandlegraphError, DurabilityError, GateError, InputError, InternalError,
                     InterruptedError, LimitError, NoGraphError, NoMemoryError, NotFoundError,
                     OutputError, OutputRefusedError, PlannedError, UsageError)
from ._library import input_kind, version
from ._run import (QUERY_KINDS, TABLE_NAMES, Run, RunFacts, open_run, protocol, read_run, recover,
                   trace_tables)
from ._scan import (MODEL_TABLE_NAMES, SCAN_QUERY_KINDS, Scan, ScanFacts, explain, model_page, scan)
from ._table import Table

__version__ = "0.1.0"

__all__ = [
    "CandlegraphError", "Comparison", "DurabilityError", "GateError", "InputError",
    "InternalError", "InterruptedError", "LimitError", "MODEL_TABLE_NAMES", "NoGraphError",
    "NoMemoryError", "NotFoundError", "OutputError", "OutputRefusedError", "PlannedError",
    "Publication", "QUERY_KINDS", "Run", "RunFacts", "SCAN_QUERY_KINDS", "Scan", "ScanFacts",
    "Series", "TABLE_NAMES", "Table", "UsageError", "Verification", "campaign_page",
    "campaign_status", "compare", "compare_plan", "document_page", "explain", "input_kind",
    "model_page", "open_run", "protocol", "publish", "read_run", "recover", "scan", "series",
    "trace_tables", "verify", "version",
]
