"""Damaged rows: named by what reads them, as ``Corrupt``, and as findings."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from threading import RLock
from types import TracebackType
from typing import Any, TypeVar

from priming.errors import Corrupt, PrimingError
from priming.results import Finding
from priming.storage.protocol import REMEDY, DamagedRow, Store

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
    """The error that names damaged rows, each with its reason, and the ways to mend them."""
    more = f"; and {len(damaged) - _MOST_NAMES:,} more" if len(damaged) > _MOST_NAMES else ""
    listed = "; ".join(dict.fromkeys(remedies))
    error = Corrupt(f"{place} is damaged: {'; '.join(damaged[:_MOST_NAMES])}{more}; {listed}")
    error.names_rows = True  # type: ignore[attr-defined]
    return error


def listed_findings(
    rule: str, subjects: Sequence[str], detail: str, remedy: str, *, unlisted: int = 0
) -> list[Finding]:
    """A finding for each of the first subjects, and a last one if there are more, or ``unlisted`` ones."""
    findings = [Finding(rule, subject, detail, remedy) for subject in subjects[:_MOST_SHOWN]]
    more = len(subjects) - len(findings) + unlisted
    return findings + ([Finding(rule, f"and {more:,} more", detail, remedy)] if more > 0 else [])


def damage_findings(damaged: Sequence[DamagedRow]) -> list[Finding]:
    """What ``validate`` says about damaged rows: the first of them, and how many more there are."""
    findings = [Finding(RULE, row.name, f"{DETAIL}: {row.reason}", row.remedy) for row in damaged]
    more = [Finding(RULE, f"and {len(damaged) - _MOST_SHOWN:,} more", DETAIL, REMEDY)]
    return findings[:_MOST_SHOWN] + (more if len(damaged) > _MOST_SHOWN else [])


class NamespaceLock:
    """The lock of an open namespace; its thread can take it again.

    An error of decoding in its block becomes ``Corrupt`` if a row or page is damaged; else it stays what it is.
    """

    def __init__(self, store: Store, namespace: str) -> None:
        self._store, self._namespace = store, namespace
        self._lock = RLock()

    def acquire(self, blocking: bool = True) -> bool:
        """Take the lock, waiting for it or not; whether it was taken."""
        return self._lock.acquire(blocking)

    def release(self) -> None:
        """Give the lock back."""
        self._lock.release()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if isinstance(error, UNREADABLE) and not isinstance(error, PrimingError):
                self._raise_named(error)
        finally:
            self.release()

    def _raise_named(self, error: Exception) -> None:
        """Raise ``Corrupt`` for an error if the check of the database finds damage."""
        try:
            findings = self._store.check(self._namespace)
        except PrimingError:
            return
        rows = [
            f"{finding.subject}: {finding.detail.removeprefix(f'{DETAIL}: ')}"
            for finding in findings
            if finding.rule == RULE
        ]
        damaged = rows or [finding.detail for finding in findings if finding.rule == INTEGRITY]
        remedies = [finding.remedy for finding in findings if finding.rule in {RULE, INTEGRITY}]
        if damaged:
            raise corrupt(f'the namespace "{self._namespace}"', damaged, remedies) from error


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
                _raise_named(store, arguments, error)

        return generate

    @functools.wraps(method)
    def call(store: Any, *arguments: Any, **named: Any) -> Any:
        try:
            return method(store, *arguments, **named)
        except (*UNREADABLE, Corrupt) as error:
            _raise_named(store, arguments, error)

    return call


def _raise_named(store: Any, arguments: Sequence[Any], error: Exception) -> None:
    """Raise ``Corrupt`` with the names of the damaged rows: those of the namespace of the call, or of all."""
    is_ours = isinstance(error, PrimingError) and not isinstance(error, Corrupt)
    if is_ours or getattr(error, "names_rows", False):
        raise error
    subject = arguments[0] if arguments else None
    namespace = subject if isinstance(subject, str) else getattr(subject, "namespace", None)
    try:
        damaged = (store.walk(namespace).damaged if namespace else ()) or store.walk(None).damaged
    except PrimingError:
        raise error from None
    if not damaged:
        raise error
    named = [f"{read.name}: {read.reason}" for read in damaged]
    raise corrupt(store.place.name, named, [read.remedy for read in damaged]) from error
