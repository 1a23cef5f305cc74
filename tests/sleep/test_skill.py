import numpy as np
import pytest

from priming.sleep.skill import ProcedureCandidate, merge_steps, plan_skill, steps_as_text, steps_of
from priming.storage.rows import LinkRow, MemoryRow, VersionRow

from .making import DAY, NOW, embed_words, row, told, versions_of

STOP, CLEAN = "1. Stop it. 2. Start it.", "1. Stop it. 2. Clean it. 3. Start it."


def skill(memory_id, text, helped=0, failed=0, state=None, **fields):
    counts = {"helped": helped, "failed": failed, "uses": helped + failed, **(state or {})}
    one = told(memory_id, text, "procedure", state=counts, **fields)
    return ProcedureCandidate(one, row(memory_id, "procedure", **counts), steps_of(text, {}))


def planned(*skills, **more):
    return plan_skill(skills, versions_of([one.record for one in skills]), embed_words, NOW, **more)


def states(one):
    return {c.after.id: c.after for c in one.rows if isinstance(c.after, MemoryRow)}


def test_the_best_is_kept_and_the_others_lead_to_it():
    (one,) = planned(skill("a", STOP, 1, 1), skill("b", STOP, 3, 1), skill("c", STOP, 0, 2))
    assert (one.into, set(one.ids)) == ("b", {"a", "c"})
    assert {name: state.status for name, state in states(one).items()} == {
        "a": "deprecated", "b": "active", "c": "deprecated",
    }  # fmt: skip
    links = {(c.after.source, c.after.target) for c in one.rows if isinstance(c.after, LinkRow)}
    assert links == {("a", "b"), ("c", "b")}
    assert {c.after.relation for c in one.rows if isinstance(c.after, LinkRow)} == {"consolidated-into"}


def test_counts_are_summed_and_the_estimate_rises_by_five_hundredths_for_each():
    (one,) = planned(skill("a", STOP, 1, 1), skill("b", STOP, 3, 1), skill("c", STOP, 0, 2))
    kept = states(one)["b"]
    assert (kept.helped, kept.failed, kept.uses) == (4, 4, 8)
    assert one.evidence["estimate"] == pytest.approx(0.75 + 2 * 0.05)


def test_the_estimate_is_at_most_one():
    (one,) = planned(skill("a", STOP, 5, 0), skill("b", STOP))
    assert one.evidence["estimate"] == 1.0


def test_steps_that_the_best_lacks_make_a_new_version():
    (one,) = planned(skill("a", STOP, 3, 0), skill("b", CLEAN, 1, 2, trust="agent"))
    fresh = [c.after for c in one.rows if isinstance(c.after, VersionRow) and c.before is None][-1]
    assert fresh.content == "1. Stop it.\n2. Clean it.\n3. Start it."
    assert (fresh.version, fresh.trust) == (2, "agent")
    assert one.evidence["added"] == ["Clean it."]


def test_where_no_step_is_new_the_version_stays():
    (one,) = planned(skill("a", CLEAN, 3, 0), skill("b", STOP, 1, 2))
    fresh = [c.after for c in one.rows if isinstance(c.after, VersionRow) and c.before is None]
    assert [(each.version, each.revision, each.content) for each in fresh] == [(1, 2, CLEAN)]
    assert fresh[0].metadata == {"success_estimate": 1.0, "success_rate": 1.0}


@pytest.mark.parametrize(
    "other",
    [
        skill("b", "Unlock the door."),
        skill("b", STOP, when={"language": "go"}),
        skill("b", STOP, trust="tool"),
    ],
)
def test_what_is_for_something_else_elsewhere_or_trusted_otherwise_stays(other):
    assert planned(skill("a", STOP), other) == []


def clustered(*angles):
    """Which become one of procedures at these angles, of two that say the same elsewhere, and of two far from all."""
    here = [(np.cos(angle), np.sin(angle), 0.0, 0.0, 0.0) for angle in angles]
    vectors = np.array([*here, *np.eye(5)[[2, 2, 3, 4]]], np.float32)
    some = [skill(memory_id, CLEAN) for memory_id in "abcdefgh"[: len(vectors)]]
    found = plan_skill(some, versions_of([one.record for one in some]), lambda _: vectors, NOW)
    return sorted("".join(sorted((*one.ids, one.into))) for one in found)


def test_two_that_are_merely_nearer_to_each_other_than_to_the_rest_stay_apart():
    assert clustered(0.0, np.arccos(0.76)) == ["ab", "cd"]
    assert clustered(0.0, np.arccos(0.74)) == ["cd"]


def test_of_a_cluster_only_those_become_one_of_which_every_two_are_alike():
    # Each is .8 from the next, but .8² - .6² = .28 from the one after it.
    assert clustered(0.0, np.arccos(0.8), 2 * np.arccos(0.8)) == ["ab", "de"]


def test_what_contradicts_stays():
    apart = frozenset({frozenset("ab")})
    assert planned(skill("a", STOP), skill("b", STOP), conflicts=apart) == []


def test_what_forbids_a_step_of_the_other_stays():
    never = "1. Stop it. 2. Never clean it. 3. Start it."
    assert planned(skill("a", CLEAN), skill("b", never)) == []
    assert planned(skill("a", never), skill("b", never))[0].ids == ("b",)
    (one,) = planned(skill("a", never, 2), skill("b", CLEAN, 1), skill("c", STOP))
    assert (one.into, one.ids) == ("a", ("c",))


def test_what_ends_or_becomes_another_text_some_day_stays():
    ending = skill("b", STOP, 3, valid_to=NOW + DAY)
    assert planned(skill("a", STOP), ending) == []
    (one,) = planned(skill("a", STOP), ending, skill("c", CLEAN))
    assert (one.into, one.ids) == ("a", ("c",))


def test_what_somebody_brought_back_stays():
    assert planned(skill("a", STOP), skill("b", STOP), restored={"b"}) == []


def test_none_and_one_are_nothing_to_consolidate():
    assert planned() == planned(skill("a", STOP)) == []


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("1. Stop it. 2. Delete it.", ("Stop it.", "Delete it.")),
        ("1) Stop it\n2) Delete it", ("Stop it", "Delete it")),
        ("- Stop it\n- Delete it", ("Stop it", "Delete it")),
        ("Step 1: Stop it\nStep 2: Delete it", ("Stop it", "Delete it")),
        ("Stop it. Delete it.", ("Stop it.", "Delete it.")),
        ("Stop it", ("Stop it",)),
    ],
)
def test_steps_are_read_from_a_text(text, steps):
    assert steps_of(text, {}) == steps


def test_steps_that_are_listed_count():
    assert steps_of("How to stop it", {"steps": ["Stop", " Delete "]}) == ("Stop", "Delete")
    assert steps_of("Stop it.", {"steps": "no list"}) == ("Stop it.",)


def test_what_is_written_is_read_again():
    text, metadata = steps_as_text("Stop it.", ("Stop it.", "Delete it."), {"ticket": 7})
    assert steps_of(text, metadata) == ("Stop it.", "Delete it.")
    assert metadata == {"ticket": 7}


def test_steps_that_are_listed_are_listed_again_and_the_text_stays():
    text, metadata = steps_as_text(
        "How to stop it", ("Stop it.", "Delete it."), {"steps": ["Stop it."], "ticket": 7}
    )
    assert (text, metadata) == ("How to stop it", {"steps": ["Stop it.", "Delete it."], "ticket": 7})


def test_steps_are_merged_in_order_without_repeats():
    assert merge_steps(("a", "b", "d"), ("A.", "c", "D", "e", "e")) == ("a", "b", "c", "d", "e")
    assert merge_steps(("a",), ()) == ("a",)
