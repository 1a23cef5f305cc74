"""Damaged rows: named by what reads them, as ``Corrupt``, and as findings."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from threading import RLock
from typing import Any, TypeVar

from priming.errors import Corrupt, PrimingError
from priming.results import Finding
from priming.storage.protocol import REMEDY, DamagedRow, Store, Walked

RULE = "damaged-row"
REIMPORT = "export the namespace and import it into a new store"
STALE_WORDS = ("a search by words finds the text by words that are not its own", REIMPORT)
"""What is wrong with a version that is found by other words than its own, and the remedy."""
INTEGRITY = "integrity"
"""The rule of a finding about the pages or indexes of a database."""
DETAIL = "the row is damaged"
UNREADABLE = (ValueError, TypeError, LookupError, AttributeError)
"""What decoding a damaged value raises."""
_MOST_NAMES = 3
_MOST_SHOWN = 20
_UNNAMED = "transaction", "check", "walk"
S = TypeVar("S")


def corrupt(place: str, damaged: Sequence[str], remedies: Iterable[str] = (REMEDY,)) -> Corrupt:
    """Return the error that names damaged rows, each with its reason, and the ways to mend them."""
    more = f"; and {len(damaged) - _MOST_NAMES:,} more" if len(damaged) > _MOST_NAMES else ""
    listed = "; ".join(dict.fromkeys(remedies))
    error = Corrupt(f"{place} is damaged: {'; '.join(damaged[:_MOST_NAMES])}{more}; {listed}")
    error.names_rows = True  # type: ignore[attr-defined]
    return error


def listed_findings(
    rule: str, subjects: Sequence[str], detail: str, remedy: str, *, unlisted: int = 0
) -> list[Finding]:
    """Return a finding for each of the first subjects, and a last one if there are more, or ``unlisted`` ones."""
    findings = [Finding(rule, subject, detail, remedy) for subject in subjects[:_MOST_SHOWN]]
    more = len(subjects) - len(findings) + unlisted
    return findings + ([Finding(rule, f"and {more:,} more", detail, remedy)] if more > 0 else [])


def damage_findings(damaged: Sequence[DamagedRow]) -> list[Finding]:
    """Return what ``validate`` says about damaged rows: the first of them, and how many more there are."""
    findings = [Finding(RULE, row.name, f"{DETAIL}: {row.reason}", row.remedy) for row in damaged]
    more = [Finding(RULE, f"and {len(damaged) - _MOST_SHOWN:,} more", DETAIL, REMEDY)]
    return findings[:_MOST_SHOWN] + (more if len(damaged) > _MOST_SHOWN else [])


class NamespaceLock:
    """The lock of an open namespace; its thread can take it again. Long work waits for its turn before it.

    An error of decoding in its block becomes ``Corrupt`` if a row or page is damaged; else it stays what it is.
    """

    def __init__(self, store: Store, namespace: str) -> None:
        self._store, self._namespace = store, namespace
        self._lock = RLock()
        self._turns: list[ExitStack] = []
        """Those of the thread that has the lock, one for each block."""

    def acquire(self, blocking: bool = True) -> bool:
        """Take the lock, waiting for it or not; whether it was taken."""
        return self._lock.acquire(blocking)

    def release(self) -> None:
        """Give the lock back."""
        self._lock.release()

    def __enter__(self) -> None:
        with ExitStack() as stack:
            stack.enter_context(self._store.turn())
            self.acquire()
            self._turns.append(stack.pop_all())

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        try:
            if isinstance(error, UNREADABLE) and not isinstance(error, PrimingError):
                _raise_named(self._store, self._namespace, error)
        finally:
            turn = self._turns.pop()
            self.release()
            turn.close()


def naming_damage(cls: type[S]) -> type[S]:
    """Decorate a store: an error of decoding in one of its methods becomes ``Corrupt`` with the row's name.

    If no row is damaged, the error stays what it is.
    """
    for name in dir(cls):
        method = getattr(cls, name)
        if not name.startswith("_") and inspect.isfunction(method) and name not in _UNNAMED:
            setattr(cls, name, _naming(method))
    return cls


def _naming(method: Callable[..., Any]) -> Callable[..., Any]:
    if inspect.isgeneratorfunction(method):

        @functools.wraps(method)
        def generate(store: Any, *arguments: Any, **named: Any) -> Iterator[Any]:
            try:
                yield from method(store, *arguments, **named)
            except (*UNREADABLE, Corrupt) as error:
                _raise_named(store, _namespace_of(arguments), error)

        return generate

    @functools.wraps(method)
    def call(store: Any, *arguments: Any, **named: Any) -> Any:
        try:
            return method(store, *arguments, **named)
        except (*UNREADABLE, Corrupt) as error:
            _raise_named(store, _namespace_of(arguments), error)

    return call


def _namespace_of(arguments: Sequence[Any]) -> str | None:
    """Return the namespace of a call: its first argument, or that of its first argument."""
    subject = arguments[0] if arguments else None
    return subject if isinstance(subject, str) else getattr(subject, "namespace", None)


def _raise_named(store: Any, namespace: str | None, error: Exception) -> None:
    """Raise ``Corrupt`` with the names of damaged rows, those of the namespace first, else with its damaged pages."""
    is_ours = isinstance(error, PrimingError) and not isinstance(error, Corrupt)
    if is_ours or getattr(error, "names_rows", False):
        raise error
    try:
        walked = store.walk(namespace) if namespace else Walked()
        rows = walked.damaged or store.walk(None).damaged
        damaged = [(f"{row.name}: {row.reason}", row.remedy) for row in rows]
        if namespace and not damaged:
            findings = store.check(namespace, walked=walked)
            damaged = [(each.detail, each.remedy) for each in findings if each.rule == INTEGRITY]
    except PrimingError:
        raise error from None
    if not damaged:
        raise error
    names, remedies = zip(*damaged, strict=True)
    raise corrupt(store.place.name, names, remedies) from error
