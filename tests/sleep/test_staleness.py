"""What came between a proposal and its writing."""

import pytest

from priming import Conflict

from .making import DAY

pytestmark = pytest.mark.extra  # HDBSCAN's

DISK = [
    "The release of Kestrel failed, the disk of Kestrel is full",
    "The release of Kestrel failed again, the disk of Kestrel is full",
    "Kestrel failed, the disk is full, the release waits",
    "The full disk of Kestrel stopped the release",
]
TEA = ["nobody bought green tea", "nobody bought more green tea", "nobody ever bought green tea"]


def live(memory):
    for name, texts in (("disk", DISK), ("tea", TEA)):
        for number, text in enumerate(texts):
            memory.remember(text, session=f"{name}{number}", key=f"{name}{number}")
    return memory


@pytest.fixture
def lived(memory):
    return live(memory)


def fail(memory, clock, key, text):
    """Say of a memory, often enough for prune, that it did not help; then let it grow old enough."""
    for _ in range(3):
        memory.feedback(memory.recall(text).recall_id, not_useful=[key])
    clock.at += 2 * DAY


def test_a_proposal_of_another_store_is_a_conflict_also_where_the_keys_are_the_same(lived, open_memory):
    proposal = lived.sleep(["deep"], dry_run=True)
    other = live(open_memory())
    with pytest.raises(
        Conflict, match=r"deep-1: .* is not in this store, and the item would link it: run sleep again"
    ):
        other.apply(proposal)
    assert other.validate() == []


def test_a_contradiction_that_was_said_since_is_never_merged(lived):
    proposal = lived.sleep(["deep"], dry_run=True)
    lived.link("disk0", "disk1", "conflicts")
    with pytest.raises(Conflict, match="deep-1: disk1 and disk0 contradict each other: run sleep again"):
        lived.apply(proposal)
    lived.apply(proposal, only=["deep-2"])


def test_a_source_of_what_another_item_makes_is_not_proposed_to_leave(lived, clock):
    fail(lived, clock, "disk0", DISK[0])
    proposal = lived.sleep(dry_run=True)
    assert [item.stage for item in proposal.items] == ["deep", "deep"]
    assert [check.dropped for check in proposal.checks if check.dropped] == [
        ("archive disk0: disk0 is a source of a memory that is still in use",)
    ]
    assert [item.stage for item in lived.sleep(["prune"], dry_run=True).items] == ["prune"]


def test_what_became_a_source_since_does_not_leave(lived, clock):
    fail(lived, clock, "disk0", DISK[0])
    proposal = lived.sleep(["prune"], dry_run=True)
    lived.sleep(["deep"])
    with pytest.raises(
        Conflict, match="prune-1: disk0 is a source of a memory that is still in use: run sleep again"
    ):
        lived.apply(proposal)
    assert lived.get("disk0").status == "active"
