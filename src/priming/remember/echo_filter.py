"""The echo guard: text that a recall showed to the agent is not stored again when the agent repeats it.

Similarity is not identity: only a text every line of which was returned is an echo. Texts under four words,
memories with a key and events from before the recall are never echoes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from priming.config.params.limits import STORE
from priming.config.values import dataclass
from priming.core.bitemporal import visible
from priming.namespace import EmittedLine, Namespace
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
from priming.storage.protocol import Trace
from priming.storage.rows import MemoryRow, VersionRow
from priming.text.tokens import bigrams
from priming.types import MemoryRecord


@dataclass(slots=True)
class EchoGuard:
    """The guard of a namespace against texts that recent recalls emitted."""

    memory: Namespace

    def sources(self, text: str, occurred_at: datetime | None = None) -> tuple[str, ...]:
        """Return the ids of the memories that ``text`` repeats, if recent recalls returned every line of it.

        Call ``update`` first. An event that occurred before a recall does not repeat the recall, and the text of a
        memory that is no longer active may be stored again.
        """
        if len(text.split()) + len(bigrams(text).split()) < STORE.echo_words:
            return ()
        lines = [_plain(line) for line in text.splitlines() if line.strip()]
        candidates = [self.memory.emitted.get(line) for line in lines if line not in _HEADERS]
        matches = [
            match
            for match in candidates
            if match is not None and (occurred_at is None or occurred_at >= match.first)
        ]
        if not matches or len(matches) < len(candidates):
            return ()
        sources = tuple(dict.fromkeys(match.memory for match in matches))
        rows = self.memory.store.rows(self.memory.namespace, MemoryRow, ids=sources)
        all_active = {row.id for row in rows if row.status == "active"} == set(sources)
        return sources if all_active else ()

    def update(self, now: datetime) -> None:
        """Read the recalls since the last update, and drop the lines that were emitted too long ago."""
        store, namespace, lines = self.memory.store, self.memory.namespace, self.memory.emitted
        fresh = now - timedelta(hours=STORE.echo_hours)
        since = max(self.memory.emitted_until or fresh, fresh)
        traces = store.rows(namespace, Trace, since=since, limit=STORE.echo_traces)
        times: dict[str, list[datetime]] = {}
        for trace in reversed(traces):
            for memory_id, _ in trace.hits:
                times.setdefault(memory_id, []).append(trace.at)
        records = store.records(namespace, now, ids=list(times)).values()
        for record in sorted(records, key=lambda record: times[record.id][-1]):
            first, last = times[record.id][0], times[record.id][-1]
            for line in self._emitted_lines(record, times[record.id]):
                earlier = lines.pop(line, None)
                lines[line] = EmittedLine(record.id, earlier.first if earlier else first, last)
        while lines and lines[oldest := next(iter(lines))].last < fresh:
            del lines[oldest]
        if traces:
            self.memory.emitted_until = max(trace.at for trace in traces)

    def _emitted_lines(self, record: MemoryRecord, recall_times: Sequence[datetime]) -> list[str]:
        """The lines that recalls at these times can have shown, those of superseded versions included."""
        lines = emitted_texts(record)
        if record.version > 1:
            for version in self.memory.store.rows(self.memory.namespace, VersionRow, ids=[record.id]):
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
