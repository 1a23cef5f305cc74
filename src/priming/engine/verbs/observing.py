"""The log and the graph as an instrument."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

from priming.checks import check_uuid
from priming.engine import graph, rollback, strengths
from priming.engine.verbs.base import Verbs
from priming.types import Operation
from priming.verdicts import Oscillation, StrengthEvent, Strengths


class Observing(Verbs):
    """The log and the graph as an instrument."""

    @contextmanager
    def identified(self, operation_id: str) -> Iterator[None]:
        """Let the first operation inside the block have an id of the caller's own, so that it can look for it later.

        Who lost the answer to a call finds out by ``log`` whether it was carried out, and need not do it twice.

        Raises:
            ParamError: it is no UUID.
            Conflict: raised inside the block by the verb, if there is an operation of that id already.

        """
        with self._opened.identified(check_uuid("operation_id", operation_id)):
            yield

    def operation(self, operation_id: str) -> Operation | None:
        """The operation of an id with what it changed, or None: whether a call was carried out."""
        with self._opened.lock:
            logged = self._opened.store.operation(
                self._opened.namespace, check_uuid("operation_id", operation_id)
            )
            return None if logged is None else self._opened.operation(logged)

    def events(
        self,
        *,
        key: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        source: str | None = None,
        limit: int = 1000,
    ) -> list[StrengthEvent]:
        """Every weight of a link or memory that an operation moved, newest first; the arguments are those of ``log``.

        Raises:
            NotFound: no such memory.
            ParamError: an argument outside its range.

        """
        with self._opened.lock:
            return strengths.events(
                self._opened, key=key, since=since, until=until, source=source, limit=limit
            )

    def strengths(
        self,
        *,
        at: datetime | None = None,
        over: int = 1,
        since: datetime | None = None,
        relation: str | None = None,
    ) -> list[Strengths]:
        """How the weights of links were distributed ``at`` a time (now), or at ``over`` times up to it.

        These are equally spaced from ``since``, by default the first operation.

        Raises:
            ParamError: an argument outside its range, or ``since`` after ``at``.

        """
        with self._opened.lock:
            return strengths.strengths(self._opened, at=at, over=over, since=since, relation=relation)

    def oscillating(
        self, *, since: datetime | None = None, turns: int = 2, limit: int = 20
    ) -> list[Oscillation]:
        """The links whose weight turned direction at least ``turns`` times, most first.

        What was undone does not count, nor do undos: nobody pulled.

        Raises:
            ParamError: an argument outside its range.

        """
        with self._opened.lock:
            return strengths.oscillating(self._opened, since=since, turns=turns, limit=limit)

    def rollback(self, *, since: datetime, source: str | None = None) -> Operation:
        """Undo every operation from ``since`` on, or those of one ``source``, as one operation that can be undone.

        Raises:
            ParamError: an argument outside its range.
            Conflict: there is nothing to roll back, or an operation of another source stands in the way.

        """
        return rollback.rollback(self._opened, since=since, source=source)

    def would_undo(self, *, since: datetime, source: str | None = None) -> list[Operation]:
        """The operations that ``rollback`` would undo, newest first: it raises the same, and changes nothing."""
        with self._opened.lock:
            return rollback.would_undo(self._opened, since=since, source=source)

    def normalize_strengths(self, *, relation: str | None = None, apply: bool = False) -> list[StrengthEvent]:
        """Weigh links by how much their ends' neighbourhoods overlap: clamp(3 · Jaccard index, .1, 1).

        ``relation`` picks the links, by default ``similar-to`` and ``co-activated``. Without ``apply`` it only
        tells what would move.

        Raises:
            ParamError: an argument outside its range.

        """
        with self._opened.lock:
            return strengths.normalize_strengths(self._opened, relation=relation, apply=apply)

    def graph(
        self,
        format: str = "dot",
        *,
        key: str | None = None,
        depth: int = 2,
        limit: int = 500,
        kinds: Sequence[str] | None = None,
        known_at: datetime | None = None,
    ) -> str:
        """Draw active memories and the links between them: ``dot`` for Graphviz, ``json``, or a ``html`` page.

        It draws the ``limit`` memories with the most links, or those within ``depth`` links of ``key``, the nearest
        first. ``kinds`` keeps only these; ``known_at`` draws links and texts as they were then. Names that nothing
        drawn is linked to are left out.

        Raises:
            NotFound: no such memory.
            ParamError: an argument outside its range.

        """
        with self._opened.lock:
            return graph.graph(
                self._opened, format, key=key, depth=depth, limit=limit, kinds=kinds, known_at=known_at
            )
