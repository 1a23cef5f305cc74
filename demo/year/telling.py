"""What a life came to, told on a terminal."""

from __future__ import annotations

import statistics
import time
from collections import Counter
from collections.abc import Sequence

from life import Life, questions_of_facts
from living import MONTH, Lived, Size
from rich.console import Console
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from priming import Memory

MEGABYTE = 1_000_000
SHOWN = 5


def heading(console: Console, life: Life) -> None:
    """How long a life it is."""
    console.print(Rule(f"{life.days:,} days of one agent's life, {life.episodes:,} episodes"))


def story(console: Console, memory: Memory, lived: Lived, *, plain: bool) -> None:
    """What happened, and what is left of it."""
    happened(console, lived)
    sizes(console, lived.sizes, plain=plain)
    faded(console, memory)
    then_and_now(console, memory, lived)


def happened(console: Console, lived: Lived) -> None:
    """What was told, asked and judged, and what the nights came to."""
    actions = sum((Counter(night.actions) for night in lived.nights), Counter[str]())
    kinds = Counter(one.kind for one in lived.told.values())
    console.print(f"Told    {_counted(lived.told_as)}: {_counted(kinds)}")
    console.print(f"Asked   {lived.recalls:,} times; verdicts: {_counted(lived.verdicts)}")
    console.print(f"Slept   {len(lived.nights):,} nights: {_counted(actions)}\n")


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.most_common() if count)


def sizes(console: Console, found: Sequence[Size], *, plain: bool) -> None:
    """What the store held at the end of each month."""
    names = ["day", "active", "archived", "merged", "names", "gists", "links", "operations"]
    rows = [_row(size) for size in found]
    if not plain:
        names.append("MB")
        rows = [[*row, f"{size.stats.bytes / MEGABYTE:.1f}"] for row, size in zip(rows, found, strict=True)]
    table = Table(title="The store at the end of each month", title_justify="left", box=None, pad_edge=False)
    for name in names:
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(*row)
    console.print(table)


def _row(size: Size) -> list[str]:
    kinds = size.stats.memories
    told = [by for kind, by in kinds.items() if kind != "entity"]
    counts = (
        size.day + 1,
        sum(by.get("active", 0) for by in told),
        sum(by.get("archived", 0) for by in told),
        sum(by.get("merged", 0) + by.get("deprecated", 0) for by in told),
        sum(kinds.get("entity", {}).values()) - size.gists,
        size.gists,
        sum(size.stats.links.values()),
        size.stats.operations,
    )
    return [f"{count:,}" for count in counts]


def faded(console: Console, memory: Memory) -> None:
    """What matters and is about to be forgotten."""
    console.print("\nAbout to be forgotten, of what matters")
    for one in memory.fading(limit=SHOWN):
        told = Text(f"{one.retrievability:.2f}  {one.reason.split('; ')[-1]}: {one.gist}")
        console.print(told, no_wrap=True, overflow="ellipsis")


def then_and_now(console: Console, memory: Memory, lived: Lived) -> None:
    """What was known of some facts on the day of the audit, as it was known then, and what is known now."""
    asked = questions_of_facts()
    at = lived.answers[0].at
    changed = [key for key, content in lived.known.items() if content != lived.holds(key)]
    table = Table(
        title=f"\nWhat did we know on day {lived.audited + 1}?",
        title_justify="left",
        box=None,
        pad_edge=False,
    )
    for name in ("asked", "answered then", "asked now, as of then", "asked now"):
        table.add_column(name)
    for key in changed[:SHOWN]:
        again = memory.recall(asked[key], known_at=at).hits
        now = memory.recall(asked[key]).hits
        said = [
            next((hit.memory.content for hit in hits if hit.memory.key == key), "") for hits in (again, now)
        ]
        table.add_row(asked[key], *(_value(one) for one in (lived.known[key], *said)))
    console.print(table)


def _value(statement: str) -> str:
    return statement.partition(" is ")[2].rstrip(".")


def times(console: Console, memory: Memory, lived: Lived, spent: float) -> None:
    """How long it all took: the life, its first and its last nights, a recall today."""
    asleep = [night.seconds for night in lived.nights]
    first, last = statistics.median(asleep[:MONTH]), statistics.median(asleep[-MONTH:])
    recalls = []
    for answer in lived.answers:
        began = time.perf_counter()
        memory.recall(answer.question)
        recalls.append(time.perf_counter() - began)
    console.print(
        f"Lived in {spent:.0f} s, {sum(asleep):.0f} s of them asleep. A night took {first:.2f} s in the first "
        f"{MONTH} days and {last:.2f} s in the last; a recall takes {statistics.median(recalls) * 1000:.1f} ms "
        "(medians)."
    )
