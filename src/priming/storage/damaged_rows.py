"""Errors of decoding as ``Corrupt`` that names the damaged rows, for every database."""

from __future__ import annotations

from collections.abc import Sequence
from threading import RLock
from types import TracebackType

from priming.errors import Corrupt, PrimingError
from priming.storage.protocol import Store

RULE = "damaged-row"
INTEGRITY = "integrity"
"""The rule of a finding about the pages or indexes of a database."""
DETAIL = "the row is damaged"
REMEDY = "restore a backup, or export what is whole: priming export --salvage FILE"
UNREADABLE = (ValueError, TypeError, LookupError, AttributeError)
"""What decoding a damaged value raises."""
_MOST_NAMES = 3


def corrupt(place: str, damaged: Sequence[str]) -> Corrupt:
    """The error that names damaged rows, each with its reason."""
    more = f"; and {len(damaged) - _MOST_NAMES:,} more" if len(damaged) > _MOST_NAMES else ""
    error = Corrupt(f"{place} is damaged: {'; '.join(damaged[:_MOST_NAMES])}{more}; {REMEDY}")
    error.names_rows = True  # type: ignore[attr-defined]
    return error


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
        if damaged:
            raise corrupt(f'the namespace "{self._namespace}"', damaged) from error
