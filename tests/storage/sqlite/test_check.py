"""What ``check`` finds in a store that something else has meddled with."""

import gc
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from priming import HashedEmbedder, Memory, profiles
from priming.serialization import stamp
from priming.storage.protocol import Logged
from priming.storage.rows import RowChange
from priming.storage.sqlite.store import SqliteStore
from priming.types import SystemClock

from ..making import NOW, added, link, memory, mine, pair, remember, verdict, version, whole
from .files import execute

MINE = "namespace = 'mine'"
MEDDLED = {
    "dangling-link": (f"DELETE FROM memories WHERE {MINE} AND id = 'b'", "1 → 2"),
    "dangling-verdict": (f"UPDATE verdicts SET memory = 9 WHERE {MINE}", "9 used"),
    "dangling-pair": (f"UPDATE pairs SET target = 9 WHERE {MINE}", "1 + 9"),
    "self-link": (f"UPDATE links SET target = 1 WHERE {MINE}", "key-a"),
    "weight-range": (f"UPDATE links SET weight = 1.5 WHERE {MINE}", "key-a mentions 1.5"),
    "no-version": (f"UPDATE versions SET retired_at = '2026' WHERE {MINE} AND memory = 2", "key-b"),
    "no-memory": (f"DELETE FROM memories WHERE {MINE} AND id = 'b'", "2"),
    "overlapping-versions": (f"UPDATE versions SET valid_to = NULL WHERE {MINE} AND memory = 3", "key-c"),
    "stray-vector": (f"UPDATE vectors SET version = 9 WHERE {MINE} AND memory = 1", "1 version 9"),
    "stale-text-index": ("INSERT INTO words (words) VALUES ('delete-all')", "1"),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store in which nothing is wrong, closed."""
    store = SqliteStore(tmp_path / "memory.db", synchronous="off")
    remember(store, whole("a"), whole("b"), whole("c", valid_to=NOW), link("a", "b"))
    remember(store, verdict("a"), pair("a", "c"))
    remember(store, version("c", "again", version=2, revision=2, valid_from=NOW))
    remember(store, whole("a"), whole("b"), namespace="theirs")
    assert store.check("mine") == []
    store.close()
    return tmp_path / "memory.db"


@pytest.mark.parametrize("rule", MEDDLED)
def test_each_rule_finds_what_breaks_it(path: Path, rule: str) -> None:
    statement, subject = MEDDLED[rule]
    execute(path, statement)
    store = SqliteStore(path)
    result = {item.rule: item for item in reversed(store.check("mine"))}
    assert result[rule].subject == subject
    assert result[rule].detail
    assert result[rule].remedy
    assert [item.rule for item in store.check("theirs")] == (
        ["stale-text-index"] * 2 if "text" in rule else []
    )
    store.close()


def test_many_findings_of_a_rule_are_summed_up(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    store = SqliteStore(path, synchronous="off")
    remember(store, *(whole(f"m{i}") for i in range(1500)))
    store.close()
    execute(path, "UPDATE versions SET retired_at = '2026'", "INSERT INTO words (words) VALUES ('rebuild')")
    store = SqliteStore(path)
    result = [finding for finding in store.check("mine") if finding.rule == "no-version"]
    assert len(result) == 21
    assert (result[0].subject, result[-1].subject) == ("key-m0", "and 1,480 more")
    store.close()


def long_log(path: Path, length: int) -> SqliteStore:
    """A store with one memory, which each operation of its log gave another weight."""
    store = SqliteStore(path, synchronous="off")
    rows = [memory("a", weight=0.5), version("a")]
    new = [Logged(1, "op-1", "remember", NOW, None, None, None, None, None, tuple(added(rows)))]
    for number in range(2, length + 1):
        before, rows[0] = rows[0], memory("a", weight=0.5 + number / 1e6, recent=(stamp(NOW),) * 70)
        change = (RowChange(before, rows[0]),)
        new.append(Logged(number, f"op-{number}", "set-strength", NOW, None, None, None, None, None, change))
    mine(store).fill(rows, new)
    return store


def most_memory(call: Callable[[], object]) -> int:
    """The bytes that a call has at most."""
    gc.collect()
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.parametrize("which", ["check", "verify"])
def test_a_long_log_is_read_without_being_held_in_memory(tmp_path: Path, which: str) -> None:
    peaks = []
    for length in (200, 2_000):
        store = long_log(tmp_path / f"{length}.db", length)
        laws = profiles.get("priming")
        with Memory(store, "mine", HashedEmbedder(8), SystemClock(), laws, profiles.ALL) as opened:
            call = opened.verify if which == "verify" else partial(store.check, "mine")
            peaks.append(most_memory(call))
            assert [each.rule for each in opened.verify().findings] == ["missing-vectors", "digest"]
    whole = 2_000 * 2_000  # what the texts of the long log alone would take
    assert peaks[1] - peaks[0] < whole / 8
