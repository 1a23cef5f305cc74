"""A writer that has waited for long goes before those that come later."""

import os
from contextlib import closing
from pathlib import Path

import pytest

from priming.storage.sqlite import connection
from priming.storage.sqlite.presence import give_way, take_turn
from priming.storage.sqlite.store import SqliteStore

from ..making import remember, whole
from ..processes import Gate, start


def test_only_one_has_the_turn_until_it_gives_it_up(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    first = take_turn(path)
    assert first is not None
    assert take_turn(path) is None
    os.close(first)
    second = take_turn(path)
    assert second is not None
    os.close(second)


def test_where_nobody_waits_nothing_is_left_beside_the_file(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "memory.db")) as store:
        remember(store, whole("a"))
        assert not (tmp_path / "memory.db.working").exists()


def test_nobody_waits_for_ever_for_one_that_does_not_take_its_turn(tmp_path: Path) -> None:
    turn = take_turn(tmp_path / "memory.db")
    assert turn is not None
    with closing(SqliteStore(tmp_path / "memory.db", busy_timeout=0.05)) as store:
        assert remember(store, whole("a")) == 1
    os.close(turn)


@pytest.mark.slow
def test_the_turn_of_a_process_ends_with_it(tmp_path: Path) -> None:
    path, taken, never = tmp_path / "memory.db", Gate.closed(), Gate.closed()

    def take() -> None:
        assert take_turn(path) is not None
        taken.open()
        never.wait()

    child = start(take)
    taken.wait()
    assert take_turn(path) is None
    child.kill()
    give_way(path, 600.0)
    turn = take_turn(path)
    assert turn is not None
    os.close(turn)


@pytest.mark.slow
def test_a_writer_that_has_waited_for_long_is_given_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first holds the lock; the second waits until it has the turn; the third, which comes later, goes last."""
    path, holder, done = tmp_path / "memory.db", Gate.closed(), Gate.closed()
    SqliteStore(path).close()

    def hold() -> None:
        with closing(SqliteStore(path)) as store, store.transaction():
            remember(store, whole("first"), id="first")
            holder.open()
            done.wait()

    def wait() -> None:
        monkeypatch.setattr(connection, "take_turn", taking)
        with closing(SqliteStore(path, busy_timeout=600)) as store:
            remember(store, whole("second"), id="second")

    def taking(file: Path) -> int | None:
        turn = take_turn(file)
        waiting.open()
        return turn

    waiting = Gate.closed()
    holding = start(hold)
    holder.wait()
    second = start(wait)
    waiting.wait()
    done.open()
    monkeypatch.setattr(
        connection, "give_way", lambda file, _: give_way(file, 600.0)
    )  # however busy the machine
    with closing(SqliteStore(path, busy_timeout=600)) as store:
        remember(store, whole("third"), id="third")
        second.result()
        holding.result()
        assert [each.id for each in store.operations("mine", after=0)] == ["first", "second", "third"]
