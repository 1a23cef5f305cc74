"""The error tree of Priming.

    PrimingError
    ├── ParamError      bad_param       an argument outside its range or of the wrong shape
    ├── NotFound        not_found       a key, id, session or operation that is not there
    ├── Conflict        conflict        a key that is taken, or an undo that later changes forbid
    ├── StoreError      store           the database could not be read or written
    │   ├── Busy        busy            another process held the write lock for too long
    │   ├── Corrupt     corrupt         the file is no Priming database, or is damaged
    │   └── SchemaTooNew schema_too_new the file was written by a newer Priming
    ├── EmbedderError   embedder        a text could not be turned into a vector
    ├── AgentError      agent           an agent gave no usable answer
    ├── BenchError      bench           a contestant could not run, or its answers cannot be scored
    └── MissingExtra    missing_extra   an optional dependency is not installed

Every message gives the value, the rule and the remedy. ``code`` is stable: programs may match on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar


class PrimingError(Exception):
    """The root of every error that Priming raises on purpose."""

    code: ClassVar[str] = "priming"


def violation(name: str, value: object, rule: str) -> str:
    """One broken rule of a parameter, in words: ``steps = -1: must be ≥ 0``."""
    return f"{name} = {shown(value)}: {rule}"


class ParamError(PrimingError, ValueError):
    """An argument outside its range. ``violations`` lists all of them, not just the first."""

    code = "bad_param"

    def __init__(self, name: str, value: object, rule: str) -> None:
        self.violations: tuple[str, ...] = (violation(name, value, rule),)
        super().__init__(self.violations[0])

    @classmethod
    def of(cls, violations: Sequence[str]) -> ParamError:
        """One error that reports all ``violations`` at once."""
        error = cls.__new__(cls)
        error.violations = tuple(violations)
        Exception.__init__(error, "; ".join(violations))
        return error


class NotFound(PrimingError, LookupError):
    """What was named is not in the store."""

    code = "not_found"


class Conflict(PrimingError):
    """The request contradicts what the store holds."""

    code = "conflict"


class StoreError(PrimingError):
    """The database could not be read or written; its state is unchanged."""

    code = "store"


class Busy(StoreError):
    """Another process held the write lock longer than the busy timeout."""

    code = "busy"


class Corrupt(StoreError):
    """The file is not a Priming database, or is damaged."""

    code = "corrupt"


class SchemaTooNew(StoreError):
    """The file was written by a newer version of Priming."""

    code = "schema_too_new"


class EmbedderError(PrimingError):
    """A text could not be turned into a vector."""

    code = "embedder"


class AgentError(PrimingError):
    """An agent gave no usable answer."""

    code = "agent"


class BenchError(PrimingError):
    """A contestant of a benchmark could not run, or what it answered cannot be scored."""

    code = "bench"


class MissingExtra(PrimingError):
    """An optional dependency is not installed; the message names the extra."""

    code = "missing_extra"

    def __init__(self, extra: str, needed_for: str) -> None:
        self.extra = extra
        super().__init__(f"{needed_for} needs the extra {extra!r}: pip install 'priming[{extra}]'")


def shown(value: object, limit: int = 120) -> str:
    """``value`` as shown in a message: its repr, shortened in the middle if it is long."""
    if isinstance(value, (str, bytes)) and len(value) > 2 * limit:
        text = repr(value[:limit]) + repr(value[-limit:])
    else:
        text = repr(value)
    if len(text) <= limit:
        return text
    head = limit // 2
    return f"{text[:head]}…{text[head + 1 - limit :]}"
