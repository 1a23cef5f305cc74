"""The echo guard: text that a recall put before the agent and that comes back is no new memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

from priming.config.params.store import STORE
from priming.core.bitemporal import visible
from priming.recall.formatting import (
    HEADER,
    RULES_HEADER,
    format_full,
    format_gist,
    format_name,
    rule_full,
    rule_gist,
    rule_name,
)
from priming.storage.protocol import Store
from priming.text.tokens import bigrams
from priming.types import MemoryRecord


class EmittedText(NamedTuple):
    """Which memory a line came from, and when recalls emitted it first and last."""

    memory: str
    first: datetime
    last: datetime


class EchoGuard:
    """The lines that recent recalls emitted, each with the memory that it came from, the latest last."""

    def __init__(self, store: Store, namespace: str) -> None:
        self._store = store
        self._namespace = namespace
        self._lines: dict[str, EmittedText] = {}
        self._read_to: datetime | None = None

    def sources(self, text: str, occurred_at: datetime | None = None) -> tuple[str, ...]:
        """The ids of the memories that ``text`` repeats, if every line of it was emitted lately; ``listen`` before.

        What occurred before a recall repeats nothing of it, and what was forgotten since may be told anew.
        """
        if len(text.split()) + len(bigrams(text).split()) < STORE.echo_words:
            return ()
        lines = [_plain(line) for line in text.splitlines() if line.strip()]
        known = [self._lines.get(line) for line in lines if line not in _HEADERS]
        heard = [
            one for one in known if one is not None and (occurred_at is None or occurred_at >= one.first)
        ]
        if not heard or len(heard) < len(known):
            return ()
        sources = tuple(dict.fromkeys(one.memory for one in heard))
        present = self._store.memories(self._namespace, sources)
        whole = {one.id for one in present if one.status == "active"} == set(sources)
        return sources if whole else ()

    def listen(self, now: datetime) -> None:
        """Take in the recalls since the last look, and let go of what was emitted too long ago."""
        fresh = now - timedelta(hours=STORE.echo_hours)
        since = max(self._read_to or fresh, fresh)
        traces = self._store.traces(self._namespace, since=since, limit=STORE.echo_traces)
        times: dict[str, list[datetime]] = {}
        for trace in reversed(traces):
            for memory_id, _ in trace.hits:
                times.setdefault(memory_id, []).append(trace.at)
        found = self._store.records(self._namespace, list(times), now).values()
        for record in sorted(found, key=lambda one: times[one.id][-1]):
            first, last = times[record.id][0], times[record.id][-1]
            for line in self._emitted(record, times[record.id]):
                before = self._lines.pop(line, None)
                self._lines[line] = EmittedText(record.id, before.first if before else first, last)
        while self._lines and self._lines[oldest := next(iter(self._lines))].last < fresh:
            del self._lines[oldest]
        if traces:
            self._read_to = max(trace.at for trace in traces)

    def _emitted(self, record: MemoryRecord, recalled: Sequence[datetime]) -> list[str]:
        """What recalls at these times can have shown: also of versions that were superseded since."""
        lines = emitted_texts(record)
        if record.version > 1:
            for one in self._store.versions(self._namespace, record.id):
                if any(visible(one, valid_at=at, known_at=at) for at in recalled):
                    lines += emitted_texts(replace(record, content=one.content, gist=one.gist))
        return lines


def emitted_texts(record: MemoryRecord) -> list[str]:
    """Every line that a recall of this memory can show, in plain form."""
    shown = [format_full(record), format_gist(record), format_name(record), *record.content.splitlines()]
    if record.kind == "behavior":
        shown += [rule_full(record), rule_gist(record), rule_name(record)]
    return [_plain(line) for line in shown if line.strip()]


def _plain(line: str) -> str:
    return " ".join(line.casefold().strip(" \t>-*•\"'“”").split())


_HEADERS = (_plain(HEADER), _plain(RULES_HEADER))
