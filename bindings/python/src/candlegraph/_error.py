"""Errors: one class for each result code of the library, all of them `CandlegraphError`."""
from typing import Any, Dict, Optional, Tuple, Type


class CandlegraphError(Exception):
    """A call was refused or failed.

    code         the result code as a word that never changes: ``"INPUT"``, ``"NOT_FOUND"`` ...
    problem      the id of what was refused (``"trace-second-meta"``; docs/errors.md lists all of
                 them), or None
    help         what to do about it, or None
    file         the input it is about, or None
    line         counted from 1, or None
    offset       bytes from the start of the input, or None
    exit_status  what the command line would have exited with
    """

    def __init__(self, message: str, code: str, exit_status: int, problem: Optional[str] = None,
                 help: Optional[str] = None, file: Optional[str] = None,
                 line: Optional[int] = None, offset: Optional[int] = None) -> None:
        super().__init__(message)
        self.code = code
        self.exit_status = exit_status
        self.problem = problem
        self.help = help
        self.file = file
        self.line = line
        self.offset = offset

    def __reduce__(self) -> Tuple[Any, ...]:
        """Exceptions travel between processes."""
        return (type(self), (str(self), self.code, self.exit_status, self.problem, self.help,
                             self.file, self.line, self.offset))


class UsageError(CandlegraphError, ValueError):
    """The call is wrong."""


class InputError(CandlegraphError, ValueError):
    """An input was refused."""


class NotFoundError(CandlegraphError, FileNotFoundError):
    """A named input is missing or cannot be read."""


class LimitError(CandlegraphError):
    """A ceiling was reached; `limits=` raises it."""


class NoGraphError(CandlegraphError):
    """The capture has no derived graph: it failed, or its structure is invalid."""


class NoMemoryError(CandlegraphError, MemoryError):
    """Memory could not be obtained."""


class OutputError(CandlegraphError, OSError):
    """An output could not be written."""


class OutputRefusedError(CandlegraphError):
    """An output would damage an input or a bundle."""


class InterruptedError(CandlegraphError):  # pylint: disable=redefined-builtin
    """The progress function asked to stop."""


class PlannedError(CandlegraphError, NotImplementedError):
    """Not available in this version."""


class InternalError(CandlegraphError):
    """A defect of candle-graph."""


class GateError(CandlegraphError):
    """A verdict that was asked to be strict is negative."""


class DurabilityError(CandlegraphError, OSError):
    """Published, but it may not survive a loss of power."""


BY_WORD: Dict[str, Type[CandlegraphError]] = {
    "USAGE": UsageError, "INPUT": InputError, "NOT_FOUND": NotFoundError, "LIMIT": LimitError,
    "NO_GRAPH": NoGraphError, "NOMEM": NoMemoryError, "OUTPUT": OutputError,
    "OUTPUT_REFUSED": OutputRefusedError, "INTERRUPTED": InterruptedError,
    "PLANNED": PlannedError, "INTERNAL": InternalError, "CLOSED": OutputError,
    "GATE": GateError, "DURABILITY": DurabilityError,
}
