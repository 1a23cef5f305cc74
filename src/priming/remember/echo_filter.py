"""The echo guard: text that a recall showed to the agent is not stored again when the agent repeats it."""

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
    """The memory that a line comes from, and when recalls first and last emitted the line."""

    memory: str
    first: datetime
    last: datetime


class EchoGuard:
    """The lines that recent recalls emitted, each with its memory; the line emitted last comes last."""

    def __init__(self, store: Store, namespace: str) -> None:
        self._store = store
        self._namespace = namespace
        self._lines: dict[str, EmittedText] = {}
        self._read_to: datetime | None = None

    def sources(self, text: str, occurred_at: datetime | None = None) -> tuple[str, ...]:
        """Return the ids of the memories that ``text`` repeats, if recent recalls returned every line of it.

        Call ``update`` first. An event that occurred before a recall does not repeat the recall, and the text of a
        memory that is no longer active may be stored again.
        """
        if len(text.split()) + len(bigrams(text).split()) < STORE.echo_words:
            return ()
        lines = [_plain(line) for line in text.splitlines() if line.strip()]
        candidates = [self._lines.get(line) for line in lines if line not in _HEADERS]
        matches = [
            match
            for match in candidates
            if match is not None and (occurred_at is None or occurred_at >= match.first)
        ]
        if not matches or len(matches) < len(candidates):
            return ()
        sources = tuple(dict.fromkeys(match.memory for match in matches))
        rows = self._store.memories(self._namespace, sources)
        all_active = {row.id for row in rows if row.status == "active"} == set(sources)
        return sources if all_active else ()

    def update(self, now: datetime) -> None:
        """Read the recalls since the last update, and drop the lines that were emitted too long ago."""
        fresh = now - timedelta(hours=STORE.echo_hours)
        since = max(self._read_to or fresh, fresh)
        traces = self._store.traces(self._namespace, since=since, limit=STORE.echo_traces)
        times: dict[str, list[datetime]] = {}
        for trace in reversed(traces):
            for memory_id, _ in trace.hits:
                times.setdefault(memory_id, []).append(trace.at)
        records = self._store.records(self._namespace, list(times), now).values()
        for record in sorted(records, key=lambda record: times[record.id][-1]):
            first, last = times[record.id][0], times[record.id][-1]
            for line in self._emitted_lines(record, times[record.id]):
                earlier = self._lines.pop(line, None)
                self._lines[line] = EmittedText(record.id, earlier.first if earlier else first, last)
        while self._lines and self._lines[oldest := next(iter(self._lines))].last < fresh:
            del self._lines[oldest]
        if traces:
            self._read_to = max(trace.at for trace in traces)

    def _emitted_lines(self, record: MemoryRecord, recall_times: Sequence[datetime]) -> list[str]:
        """The lines that recalls at these times can have shown, those of superseded versions included."""
        lines = emitted_texts(record)
        if record.version > 1:
            for version in self._store.versions(self._namespace, record.id):
                if any(visible(version, valid_at=at, known_at=at) for at in recall_times):
                    lines += emitted_texts(replace(record, content=version.content, gist=version.gist))
        return lines


def emitted_texts(record: MemoryRecord) -> list[str]:
    """Every line that a recall of this memory can show, normalised."""
    shown = [format_full(record), format_gist(record), format_name(record), *record.content.splitlines()]
    if record.kind == "behavior":
        shown += [rule_full(record), rule_gist(record), rule_name(record)]
    return [_plain(line) for line in shown if line.strip()]


def _plain(line: str) -> str:
    return " ".join(line.casefold().strip(" \t>-*•\"'“”").split())


_HEADERS = (_plain(HEADER), _plain(RULES_HEADER))
