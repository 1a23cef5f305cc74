"""The contract of the loop's sessions: kept beside the log, each as it was last, erased with what they name."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from priming.errors import Conflict
from priming.storage.protocol import Store
from priming.storage.rows import LoopSessionRow

from .making import NOW, operation, remember, whole


def _row(session_id: str, body: str = "{}", minutes: int = 0, parent: str | None = None) -> LoopSessionRow:
    at = NOW + timedelta(minutes=minutes)
    return LoopSessionRow(session_id, parent, "INIT", "Mend the tests.", at, at, body)


def test_sessions_of_the_loop_are_listed_latest_first(store: Store) -> None:
    store.save("mine", _row("a"), new=True)
    store.save("mine", _row("b", minutes=1, parent="a"), new=True)
    store.save("other", _row("c", minutes=2), new=True)
    assert store.rows("mine", LoopSessionRow, limit=100) == [_row("b", minutes=1, parent="a"), _row("a")]
    assert store.rows("mine", LoopSessionRow, limit=1) == [_row("b", minutes=1, parent="a")]


def test_a_session_of_the_loop_is_kept_as_it_was_last(store: Store) -> None:
    store.save("mine", _row("a"), new=True)
    later = replace(_row("a", '{"n": "é"}'), state="ACT", updated_at=NOW + timedelta(hours=1))
    assert store.save("mine", later, new=False)
    assert store.rows("mine", LoopSessionRow, ids=["a"]) == [later]


def test_a_session_of_the_loop_stays_in_its_namespace(store: Store) -> None:
    store.save("mine", _row("a"), new=True)
    assert store.rows("other", LoopSessionRow, ids=["a"]) == []
    assert not store.save("other", _row("a", "[]"), new=False)
    assert store.rows("mine", LoopSessionRow, ids=["a"]) == [_row("a")]
    assert store.namespaces() == []


def test_the_id_of_a_session_of_the_loop_is_taken_once(store: Store) -> None:
    store.save("mine", _row("a"), new=True)
    with pytest.raises(Conflict):
        store.save("mine", _row("a", "[]"), new=True)
    assert store.rows("mine", LoopSessionRow, ids=["a"]) == [_row("a")]


def test_a_purge_erases_the_sessions_that_name_the_memory(store: Store) -> None:
    remember(store, whole("a", key='say "a"'), whole("b", key="b"))
    store.save("mine", _row("naming", '{"injected":["b","say \\"a\\""]}'), new=True)
    store.save("mine", _row("other", '{"injected":["b","say"]}'), new=True)
    assert store.purge(operation(()), ["a"])["loop_sessions"] == 1
    assert [row.id for row in store.rows("mine", LoopSessionRow, limit=100)] == ["other"]
    assert not store.save("mine", _row("naming"), new=False)


def test_a_backup_holds_the_sessions_of_the_loop(store: Store, tmp_path: Path) -> None:
    store.save("mine", _row("a"), new=True)
    store.backup(tmp_path / "copy.db")
    store.save("mine", _row("a", "[]"), new=False)
    store.save("mine", _row("b"), new=True)
    store.restore_backup(tmp_path / "copy.db", ())
    assert store.rows("mine", LoopSessionRow, limit=100) == [_row("a")]


def test_sessions_are_listed_by_their_objective_whatever_its_case(store: Store) -> None:
    store.save("mine", _row("a"), new=True)
    (row,) = store.rows("mine", LoopSessionRow, limit=100)
    assert store.rows("mine", LoopSessionRow, objective=row.objective.upper(), limit=100) == [row]
    assert store.rows("mine", LoopSessionRow, objective=f"{row.objective} too", limit=100) == []
