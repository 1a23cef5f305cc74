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

import re
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import ClassVar

_MORE = re.compile(r"… and (\d[\d,]{0,20}) more$")
MOST_VIOLATIONS = 50
"""The most violations that an error tells; of the others it tells how many there are."""

MOST_CHARACTERS = 2_000
"""The most characters of a violation, and of the message of any other error on its way to a client."""


def brief(text: str) -> str:
    """Return a message, cut where it repeats a long name that somebody sent."""
    return text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 1]}…"


class PrimingError(Exception):
    """The root of every error that Priming raises on purpose."""

    code: ClassVar[str] = "priming"


def violation(name: str, value: object, rule: str) -> str:
    """Return one broken rule of a parameter, in words: ``steps = -1: must be ≥ 0``."""
    return f"{name} = {shown(value)}: {rule}"


class ParamError(PrimingError, ValueError):
    """An argument outside its range. ``violations`` lists them all, up to ``MOST_VIOLATIONS``."""

    code = "bad_param"

    def __init__(self, name: str, value: object, rule: str) -> None:
        self.violations: tuple[str, ...] = (brief(violation(name, value, rule)),)
        super().__init__(self.violations[0])

    @classmethod
    def of(cls, violations: Collection[str], more: int = 0) -> ParamError:
        """Return one error that reports all ``violations`` at once; ``more`` counts those that nobody collected.

        >>> str(ParamError.of([f"item {n}: bad" for n in range(1_000_000)]))[-32:]
        'item 49: bad; … and 999,950 more'
        """
        own = [text for text in violations if not _MORE.search(text)]
        more += sum(int(match[1].replace(",", "")) for match in map(_MORE.search, violations) if match)
        first = tuple(brief(text) for text in own[:MOST_VIOLATIONS])
        more += len(own) - len(first)
        error = cls.__new__(cls)
        error.violations = (*first, f"… and {more:,} more") if more else first
        Exception.__init__(error, "; ".join(error.violations))
        return error


class NotFound(PrimingError, LookupError):
    """What was named is not in the store."""

    code = "not_found"


class Conflict(PrimingError):
    """The request contradicts what the store holds."""

    code = "conflict"


class StoreError(PrimingError):
    """The database could not be read or written; its state is unchanged, unless ``is_unknown``."""

    code = "store"
    is_unknown: bool = False
    """Whether a commit was lost, and nobody can tell whether it was carried out."""


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
    """An optional dependency is not installed; the message names the extra.

    Around an import, ``with MissingExtra(…):``, it is raised where that fails.
    """

    code = "missing_extra"

    def __init__(self, extra: str, needed_for: str) -> None:
        self.extra = extra
        super().__init__(f"{needed_for} needs the extra {extra!r}: pip install 'priming[{extra}]'")

    def __enter__(self) -> None:
        """Import, in the block, what the extra brings."""

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        if isinstance(error, ImportError):
            raise self from error


def shown(value: object, limit: int = 120) -> str:
    """Show ``value`` as in a message: its repr, shortened in the middle if it is long, without writing all of it.

    A time is shown as it is typed.

    >>> shown([{}] * 1_000_000, 24)
    '[{}, {}, {}, {}, {}, {}…'
    """
    if isinstance(value, (str, bytes)) and len(value) > 2 * limit:
        text = repr(value[:limit]) + repr(value[-limit:])
    elif isinstance(value, (list, tuple, Mapping)):
        text = _beginning(value, 4 * limit)
        if len(text) > 4 * limit:
            return f"{text[: limit - 1]}…"
    else:
        text = repr(value.isoformat() if isinstance(value, datetime) else value)
    if len(text) <= limit:
        return text
    head = limit // 2
    return f"{text[:head]}…{text[head + 1 - limit :]}"


_DEEPEST = 50
"""Nesting of a value beyond which a message does not show it."""


def _beginning(value: object, most: int) -> str:
    """Return the repr of a value, or a little more than ``most`` letters of its beginning."""
    text = ""
    for piece in _pieces(value, 0, most):
        text += piece
        if len(text) > most:
            break
    return text


def _pieces(value: object, depth: int, most: int) -> Iterator[str]:
    """Yield the repr of a value in order, piece by piece; of a long text its beginning."""
    if isinstance(value, (str, bytes)):
        yield repr(value[: most + 1])
    elif type(value) not in (list, tuple, dict) or not value:
        yield repr(value)
    elif depth > _DEEPEST:
        yield "…"
    elif isinstance(value, dict):
        for number, (name, item) in enumerate(value.items()):
            yield ", " if number else "{"
            yield from _pieces(name, depth + 1, most)
            yield ": "
            yield from _pieces(item, depth + 1, most)
        yield "}"
    elif isinstance(value, (list, tuple)):
        opening, closing = "[]" if isinstance(value, list) else "()"
        for number, item in enumerate(value):
            yield ", " if number else opening
            yield from _pieces(item, depth + 1, most)
        yield f",{closing}" if isinstance(value, tuple) and len(value) == 1 else closing
