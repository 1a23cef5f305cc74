"""What a call costs follows what it asks for, not the size of the store: counted in steps of SQLite's machine."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from priming.storage.protocol import Trace
from priming.storage.rows import (
    LinkRow,
    MemoryRow,
    PairRow,
    Row,
    RowChange,
    RunRow,
    VerdictRow,
    VersionRow,
)
from priming.storage.sqlite.store import SqliteStore

from ..making import (
    DAY,
    GENERATION,
    NOW,
    added,
    link,
    memory,
    mine,
    operation,
    pair,
    remember,
    run,
    trace,
    vector,
    verdict,
    version,
    whole,
)

FEW, MANY = 40, 400
TEXT = version("m7", "text unique7", session="s")

CALLS: dict[str, Callable[[SqliteStore], Any]] = {
    "head": lambda store: store.head("mine"),
    "since": lambda store: store.operations("mine", after=store.head("mine") - 1),
    "get": lambda store: mine(store).record_named("key-m7", NOW),
    "records": lambda store: store.records("mine", NOW, ids=["m7", "m8"]),
    "page": lambda store: mine(store).page_of(NOW, limit=3),
    "page after": lambda store: mine(store).page_of(NOW, after="m20", limit=3),
    "page of words": lambda store: mine(store).page_of(NOW, words="unique7", limit=100),
    "versions": lambda store: store.rows("mine", VersionRow, ids=["m7"]),
    "memories": lambda store: store.rows("mine", MemoryRow, ids=["m7", "m8"]),
    "links": lambda store: store.rows("mine", LinkRow, ids=["m7"]),
    "links of one relation": lambda store: store.rows("mine", LinkRow, ids=["m7"], relation="next"),
    "present": lambda store: [mine(store).stored(row) for row in (*whole("m7"), link("m7", "m6", "next"))],
    "keys": lambda store: mine(store).ids_of(["key-m7", "nil"]),
    "names": lambda store: store.names("mine", ids=["m7", "nil"]),
    "digests": lambda store: mine(store).ids_of_digests(dict.fromkeys(["d-text unique7", "nil"], NOW)),
    "session_tail": lambda store: list(store.names("mine", session="s", limit=2)),
    "vectors": lambda store: list(mine(store).stored_vectors(GENERATION, ["m7"])),
    "operation": lambda store: mine(store).operation_of("op of m7"),
    "operations": lambda store: store.operations("mine", limit=3),
    "operations of a memory": lambda store: store.operations("mine", memory_id="m7", limit=100),
    "operations of a memory and a kind": lambda store: store.operations(
        "mine", memory_id="m7", kind="op", limit=100
    ),
    "operations since": lambda store: store.operations("mine", since=NOW + DAY, limit=100),
    "operations of a source": lambda store: store.operations("mine", source="one", limit=3),
    "operations of a source since": lambda store: store.operations(
        "mine", since=NOW + DAY, source="one", limit=100
    ),
    "verdicts": lambda store: store.rows("mine", VerdictRow, ids=["m7"]),
    "verdicts of a recall": lambda store: store.rows("mine", VerdictRow, recall="r7"),
    "pairs": lambda store: store.rows("mine", PairRow, ids=["m6", "m7"], both=True),
    "pairs with either end": lambda store: store.rows("mine", PairRow, ids=["m7"]),
    "runs": lambda store: store.rows("mine", RunRow, ids=["n7"]),
    "runs that wait": lambda store: store.rows("mine", RunRow, settled=False),
    "what was learnt": lambda store: [mine(store).stored(row) for row in learnt(7)],
    "traces": lambda store: store.rows("mine", Trace, limit=3),
    "traces of a session": lambda store: store.rows("mine", Trace, session="of m7", limit=3),
    "a trace again": lambda store: mine(store).recall_of("r7"),
    "a trace": lambda store: store.add_trace("mine", trace("r"), keep=10**6, keep_flows=9, not_before=NOW),
    "a verdict": lambda store: store.apply(
        operation(
            [
                *added(verdict("m11", "confirmed", recall="r7"), pair("m3", "m11"), run("new", "m7")),
                RowChange(pair("m6", "m7"), pair("m6", "m7", NOW + DAY)),
                RowChange(run("n7", "m7", settled="used"), run("n7", "m7", settled="unused")),
            ]
        )
    ),
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
                for row in (
                    *(link("m7", "m6", "next"), link("m8", "m7", "next"), pair("m7", "m8")),
                    *learnt(7),
                    *whole("m7"),
                )
            ]
        )
    ),
}


def learnt(i: int) -> list[Row]:
    """What was learnt of the memory ``m{i}`` and the one before it."""
    pairs = [pair(f"m{i - 1}", f"m{i}")] if i else []
    settled = "used" if i else None
    return [verdict(f"m{i}", recall=f"r{i}"), *pairs, run(f"n{i}", f"m{i}", settled=settled)]


def grown(count: int) -> SqliteStore:
    """A store of so many memories, each in an operation of its own, linked in a row; and as many beside them."""
    store = SqliteStore(None)
    with store.transaction():
        for name in ("mine", "theirs"):
            for i in range(count):
                links = [link(f"m{i}", f"m{i - 1}", "next")] if i else []
                rows = [*whole(f"m{i}", f"text unique{i}", session="s"), *links, *learnt(i)]
                remember(store, rows, id=f"op of m{i}", namespace=name, source="two" if i else "one")
            remember(store, id="last", at=NOW + DAY, namespace=name, source="one")
            for i in range(count):
                item = trace(f"r{i}", NOW, f"m{i}", session=f"of m{i}", nodes=(f"m{i}",), flow=b"flow")
                store.add_trace(name, item, keep=10**6, keep_flows=9, not_before=NOW)
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
