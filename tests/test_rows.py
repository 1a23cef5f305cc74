from pathlib import Path

import pytest

from .rows import each_row


@each_row(("number", "is_even"), [(2, True), (3, True), (4, True), ("five", False)])
def _evenness(number, is_even, tmp_path):
    assert tmp_path.is_dir()
    assert (number % 2 == 0) == is_even


def test_every_row_that_fails_is_reported_with_its_values(tmp_path):
    with pytest.raises(ExceptionGroup, match="2 of 4 rows") as failed:
        _evenness(tmp_path=tmp_path)
    wrong, broken = failed.value.exceptions
    assert "of the row (3, True)" in wrong.__notes__
    assert "of the row ('five', False)" in broken.__notes__


@each_row("name", ["one.txt", "two.txt"])
def test_a_row_takes_fixtures_beside_its_values(name, tmp_path):
    assert (tmp_path / name).name == name
    assert isinstance(tmp_path, Path)


def test_a_table_without_rows_is_refused():
    with pytest.raises(AssertionError, match="tests nothing"):
        each_row("name", [])
