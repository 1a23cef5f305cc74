"""What a call costs follows what it asks for, not the size of the store: counted in steps of SQLite's machine."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from priming.store.rows import RowChange
from priming.store.sqlite import SqliteStore

from .making import (
    DAY,
    GENERATION,
    NOW,
    added,
    link,
    memory,
    operation,
    remember,
    trace,
    vector,
    version,
    whole,
)

FEW, MANY = 40, 800
TEXT = version("m7", "text unique7", session="s")

CALLS: dict[str, Callable[[SqliteStore], Any]] = {
    "head": lambda store: store.head("mine"),
    "since": lambda store: store.since("mine", store.head("mine") - 1),
    "get": lambda store: store.get("mine", "key-m7", NOW),
    "records": lambda store: store.records("mine", ["m7", "m8"], NOW),
    "page": lambda store: store.page("mine", NOW, limit=3),
    "page after": lambda store: store.page("mine", NOW, limit=3, after="m20"),
    "page of words": lambda store: store.page("mine", NOW, matching="unique7"),
    "versions": lambda store: store.versions("mine", "m7"),
    "memories": lambda store: store.memories("mine", ["m7", "m8"]),
    "links": lambda store: store.links("mine", ["m7"]),
    "links of one relation": lambda store: store.links("mine", ["m7"], "next"),
    "present": lambda store: [store.present("mine", row) for row in (*whole("m7"), link("m7", "m6", "next"))],
    "keys": lambda store: store.keys("mine", ["key-m7", "nil"]),
    "names": lambda store: store.names("mine", ["m7", "nil"]),
    "digests": lambda store: store.digests("mine", ["d-text unique7", "nil"]),
    "session_tail": lambda store: store.session_tail("mine", "s", 2),
    "vectors": lambda store: list(store.vectors("mine", GENERATION, ["m7"])),
    "operation": lambda store: store.operation("mine", "op of m7"),
    "operations": lambda store: store.operations("mine", limit=3),
    "operations of a memory": lambda store: store.operations("mine", memory_id="m7"),
    "operations since": lambda store: store.operations("mine", since=NOW + DAY),
    "traces": lambda store: store.traces("mine", limit=3),
    "a trace": lambda store: store.add_trace("mine", trace("r"), keep=10**6, not_before=NOW),
    "a memory": lambda store: store.apply(
        operation(
            added(whole("new"), link("new", "m5"), link("m5", "new")),
            vectors={("new", 1): vector(1.0)},
            generation=GENERATION,
        )
    ),
    "a change": lambda store: store.apply(operation([RowChange(memory("m7"), memory("m7", weight=0.7))])),
    "a retired version": lambda store: store.apply(
        operation([RowChange(TEXT, replace(TEXT, retired_at=NOW))])
    ),
    "a removal": lambda store: store.apply(
        operation(
            [
                RowChange(row, None)
                for row in (link("m7", "m6", "next"), link("m8", "m7", "next"), *whole("m7"))
            ]
        )
    ),
}


def grown(count: int) -> SqliteStore:
    """A store of so many memories, each in an operation of its own, linked in a row; and as many beside them."""
    store = SqliteStore(None)
    with store.transaction():
        for name in ("mine", "theirs"):
            for i in range(count):
                links = [link(f"m{i}", f"m{i - 1}", "next")] if i else []
                rows = [*whole(f"m{i}", f"text unique{i}", session="s"), *links]
                remember(store, rows, id=f"op of m{i}", namespace=name)
            remember(store, id="last", at=NOW + DAY, namespace=name)
            for i in range(count):
                store.add_trace(name, trace(f"r{i}", NOW, f"m{i}"), keep=10**6, not_before=NOW)
    return store


def steps(store: SqliteStore, call: Callable[[SqliteStore], Any]) -> int:
    """How many steps of SQLite's machine a call takes."""
    count = 0

    def step() -> int:
        nonlocal count
        count += 1
        return 0

    raw = store._db._sqlite
    raw.set_progress_handler(step, 1)
    call(store)
    raw.set_progress_handler(None, 1)
    return count


def test_no_call_costs_more_in_a_larger_store() -> None:
    few, many = grown(FEW), grown(MANY)
    for name, call in CALLS.items():
        small, large = steps(few, call), steps(many, call)
        assert small > 10, name
        assert large <= 1.5 * small, f"{name} takes {small} steps among {FEW} memories, {large} among {MANY}"
    few.close()
    many.close()
