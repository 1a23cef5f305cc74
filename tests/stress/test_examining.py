"""What the stress looks for is noticed: a check that nothing fails would show nothing."""

from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from tests.storage.sqlite.files import execute

from .databases import examine, sqlite
from .work import Diary, Worker


@pytest.fixture
def diary(tmp_path: Path) -> Diary:
    """The diary of a worker who stored three memories."""
    diary = Diary(tmp_path / "diary")
    with closing(sqlite(tmp_path).open()) as memory:
        worker = Worker(memory, Random(1), diary, "w")
        for _ in range(3):
            worker.remember()
    return diary


def test_a_store_that_has_what_was_acknowledged_is_whole(tmp_path: Path, diary: Diary) -> None:
    assert len(diary.acknowledged) == 3
    assert examine(sqlite(tmp_path), diary.acknowledged) == []


def test_a_lost_operation_is_noticed(tmp_path: Path, diary: Diary) -> None:
    assert examine(sqlite(tmp_path), {*diary.acknowledged, "another"}) == ["lost: another"]


def test_an_operation_that_nobody_began_is_noticed(tmp_path: Path, diary: Diary) -> None:
    first, *rest = sorted(diary.acknowledged)
    assert examine(sqlite(tmp_path), rest) == [f"from nowhere: {first}"]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE memories SET weight = 0.123 WHERE number = 1",
        "DELETE FROM links",
    ],
)
def test_a_row_that_is_not_what_the_log_left_is_noticed(tmp_path: Path, diary: Diary, statement: str) -> None:
    file = sqlite(tmp_path).file
    assert file is not None
    execute(file, statement)
    assert any("is not what the log left" in each for each in examine(sqlite(tmp_path), diary.acknowledged))
