"""A night where HDBSCAN is not installed does the other stages, and says what it left."""

import pytest

from priming import MissingExtra
from priming.sleep import deep

REMEDY = "the stage 'deep' of sleep needs the extra 'sleep': pip install 'priming[sleep]'"


@pytest.fixture
def lived(memory, monkeypatch):
    """A memory with a cluster and a duplicate, where the library is absent."""
    monkeypatch.setattr(deep, "LIBRARY", "no_such_package")
    for number in range(4):
        memory.remember(
            f"The release of Kestrel failed, the disk is full: try {number}.", session=f"s{number}"
        )
    for key in ("lunch", "again"):
        memory.remember("Lunch was late today.", session=key, key=key)
    return memory


def test_the_other_stages_are_done_and_the_one_that_was_left_has_its_remedy(lived):
    night = lived.sleep()
    assert [(item.stage, item.action) for item in night.items] == [("light", "mark")]
    (left,) = [entry for entry in night.left_alone if entry.stage == "deep"]
    assert (left.keys, left.reason) == ((), REMEDY)
    assert lived.get("again").metadata["duplicate_of"] == "lunch"


def test_a_night_that_is_to_cluster_is_refused_before_anything_is_changed(lived):
    with pytest.raises(MissingExtra, match="needs the extra 'sleep'"):
        lived.sleep(["light", "deep"])
    assert "duplicate_of" not in lived.get("again").metadata


def test_a_night_with_too_little_to_cluster_leaves_nothing(memory, monkeypatch):
    monkeypatch.setattr(deep, "LIBRARY", "no_such_package")
    memory.remember("Lunch was late today.")
    assert memory.sleep().left_alone == ()
