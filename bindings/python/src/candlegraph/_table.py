"""A table: columns of equal length, for pandas, Arrow, or plain Python."""
import json
from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, Mapping, Sequence, Tuple

if TYPE_CHECKING:
    import pandas  # type: ignore
    import pyarrow  # type: ignore

Columns = Tuple[Tuple[str, str], ...]


class Table(Mapping[str, List[Any]]):
    """Columns by name; each is a list with one value per row, None where the record has none.

    `types` tells what a column holds, the same for every table of that name, with rows or without:

    ========  =================  ==================  =======================
    type      Python             Arrow               pandas
    ========  =================  ==================  =======================
    text      str                string              object
    integer   int, 0 to 2^64-1   uint64              UInt64 (nullable)
    number    float              float64             float64, NaN for None
    boolean   bool               bool                boolean (nullable)
    integers  list of int        list<uint64>        object
    texts     list of str        list<string>        object
    map       dict of str        map<string, string> object
    counts    dict of int        map<string, uint64> object
    json      anything           string of JSON      object, a text of JSON
    ========  =================  ==================  =======================

    Units are in the names: `_ns` nanoseconds, `_bytes` bytes; `shape` counts elements per axis.
    The columns are copies and belong to the caller; nothing here refers to the run.
    """

    def __init__(self, types: Columns, columns: Sequence[List[Any]]) -> None:
        self.types: Dict[str, str] = dict(types)
        self._columns = dict(zip(self.types, columns))

    def __getitem__(self, name: str) -> List[Any]:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        """Number of columns; `row_count` is that of rows."""
        return len(self._columns)

    def __repr__(self) -> str:
        return "Table(%d rows: %s)" % (self.row_count, ", ".join(self._columns))

    @property
    def row_count(self) -> int:
        return len(next(iter(self._columns.values()), []))

    def to_dict(self) -> Dict[str, List[Any]]:
        return dict(self._columns)

    def rows(self) -> Iterator[Dict[str, Any]]:
        """Row by row, as dictionaries."""
        names = list(self._columns)
        for values in zip(*self._columns.values()):
            yield dict(zip(names, values))

    def to_arrow(self) -> "pyarrow.Table":
        """Needs pyarrow."""
        import pyarrow
        kinds = {"text": pyarrow.string(), "integer": pyarrow.uint64(),
                 "number": pyarrow.float64(), "boolean": pyarrow.bool_(),
                 "integers": pyarrow.list_(pyarrow.uint64()),
                 "texts": pyarrow.list_(pyarrow.string()),
                 "map": pyarrow.map_(pyarrow.string(), pyarrow.string()),
                 "counts": pyarrow.map_(pyarrow.string(), pyarrow.uint64()),
                 "json": pyarrow.string()}
        arrays = [pyarrow.array(_plain(self.types[name], values), type=kinds[self.types[name]])
                  for name, values in self._columns.items()]
        return pyarrow.Table.from_arrays(arrays, names=list(self._columns))

    def to_pandas(self) -> "pandas.DataFrame":
        """Needs pandas. Integers stay integers where some are missing."""
        import pandas
        kinds = {"integer": "UInt64", "boolean": "boolean", "number": "float64"}
        frame = {}
        for name, values in self._columns.items():
            kind = self.types[name]
            if kind == "json":
                values = _plain(kind, values)
            frame[name] = pandas.Series(values, dtype=kinds.get(kind, "object"))
        return pandas.DataFrame(frame)

    # The protocol by which polars, pyarrow and others take a table of a foreign type.
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.to_arrow().__arrow_c_stream__(requested_schema)


def _plain(kind: str, values: List[Any]) -> List[Any]:
    """A column as Arrow takes it."""
    if kind == "json":
        return [None if value is None else json.dumps(value, ensure_ascii=False)
                for value in values]
    if kind in ("map", "counts"):
        return [None if value is None else list(value.items()) for value in values]
    return values


def _value(record: Any, path: List[str]) -> Any:
    for key in path:
        if not isinstance(record, dict):
            return None
        record = record.get(key)
    return record


def _number(value: Any) -> Any:
    return float(value) if isinstance(value, int) else value


def _texts(value: Any) -> Any:
    return [str(item) for item in value] if isinstance(value, list) else value


def table_of(types: Columns, records: Iterable[Any]) -> Table:
    """Objects of a document as columns; an object inside a record is columns `outer.inner`."""
    rows = list(records)
    columns: List[List[Any]] = []
    for name, kind in types:
        path = name.split(".")
        if len(path) == 1:
            column = [row.get(name) for row in rows]
        else:
            column = [_value(row, path) for row in rows]
        if kind == "number":
            column = [_number(value) for value in column]
        elif kind == "texts":
            column = [_texts(value) for value in column]
        columns.append(column)
    return Table(types, columns)
