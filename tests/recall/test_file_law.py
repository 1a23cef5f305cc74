"""The arithmetic of files, against values worked out by hand."""

import numpy as np
import pytest
from tests.rows import each_row

from priming.recall.files import divided, lifted, named_files, path_terms, released


def test_what_a_memory_releases_falls_with_its_match_and_with_later_memories():
    values = released(np.array([2.0, 1.0, 2.0]), np.array([0.0, 0.0, 31.0]), 3.0, 0.2)
    assert values.tolist() == pytest.approx([1.0, 0.125, 0.5])


def test_without_a_match_nothing_is_released():
    assert released(np.zeros(2), np.zeros(2), 3.0, 0.2).tolist() == [0.0, 0.0]


def test_a_memory_divides_by_a_power_of_its_files():
    assert divided(np.array([1.0, 2.0]), np.array([9, 1]), 0.5).tolist() == pytest.approx([1 / 3, 2.0])


@each_row(
    ("path", "terms"),
    [
        ("src/connectionPool.py", ("src", "connect", "pool", "py")),
        ("lib/HTTPServer.rb", ("lib", "http", "server", "rb")),
        ("test_header.c", ("test", "header", "c")),
    ],
)
def test_the_parts_of_a_path_are_words(path, terms):
    assert path_terms(path) == terms


def test_a_name_that_several_files_share_counts_for_each_in_part():
    paths = ["a/util.py", "b/util.py", "a/__init__.py"]
    assert named_files("tidy util.py", paths, 0.25).tolist() == [0.5, 0.5, 0.0]
    assert named_files("tidy a/util.py", paths, 0.25).tolist() == [1.0, 0.0, 0.0]
    assert named_files("the util functions", paths, 0.25).tolist() == [0.125, 0.125, 0.0]
    assert named_files("nothing", paths, 0.25).tolist() == [0.0, 0.0, 0.0]


def test_a_file_takes_half_at_the_base_rate_that_is_set_and_less_the_more_memories_touch_it():
    assert lifted(np.array([0.0, 0.25, 0.75]), 0.25).tolist() == [1.0, 0.5, 0.25]
