import numpy as np
import pytest
from tests.rows import each_row

from priming.sleep.entities import KnownEntity, family_gist
from priming.sleep.plan import PlannedItem
from priming.sleep.procedures import ProcedureCandidate, read_procedure
from priming.sleep.skill import SkillStage, merge_steps
from priming.storage.rows import LinkRow, MemoryRow, VersionRow
from priming.types import LeftAlone

from .making import DAY, NOW, answer, embed_words, row, versions_of

STOP, CLEAN = "1. Stop it. 2. Start it.", "1. Stop it. 2. Look at it. 3. Start it."


def skill(memory_id, text, helped=0, failed=0, state=None, **fields):
    counts = {"helped": helped, "failed": failed, "uses": helped + failed, **(state or {})}
    item = answer(memory_id, text, "procedure", state=counts, **fields)
    return ProcedureCandidate(item, row(memory_id, "procedure", **counts), read_procedure(None, text, {}))


def night(*skills, embed=embed_words, **more):
    return SkillStage(skills, versions_of([item.record for item in skills]), embed, NOW, **more).plan()


def planned(*skills, **more):
    return [item for item in night(*skills, **more) if isinstance(item, PlannedItem)]


def left_alone(*skills, **more):
    return [item for item in night(*skills, **more) if isinstance(item, LeftAlone)]


def states(item):
    return {c.after.id: c.after for c in item.rows if isinstance(c.after, MemoryRow)}


def test_the_best_is_kept_and_the_others_lead_to_it():
    (item,) = planned(skill("a", STOP, 1, 1), skill("b", STOP, 3, 1), skill("c", STOP, 0, 2))
    assert (item.into, set(item.ids)) == ("b", {"a", "c"})
    assert {name: state.status for name, state in states(item).items()} == {
        "a": "deprecated", "c": "deprecated",
    }  # fmt: skip
    links = {(c.after.source, c.after.target) for c in item.rows if isinstance(c.after, LinkRow)}
    assert links == {("a", "b"), ("c", "b")}
    assert {c.after.relation for c in item.rows if isinstance(c.after, LinkRow)} == {"consolidated-into"}


def test_each_keeps_its_own_counts_and_the_estimate_rises_by_five_hundredths_for_each():
    (item,) = planned(skill("a", STOP, 1, 1), skill("b", STOP, 9, 1), skill("c", STOP, 0, 10))
    assert "b" not in states(item)
    assert {(state.helped, state.failed) for state in states(item).values()} == {(1, 1), (0, 10)}
    assert item.evidence["estimate"] == pytest.approx(0.9 + 2 * 0.05)


def test_an_estimate_of_an_earlier_night_is_raised_further():
    estimated = {"success_estimate": 0.65, "success_rate": 0.6}
    (item,) = planned(skill("a", STOP, 3, 2, metadata=estimated), skill("b", STOP, 1, 3))
    assert item.evidence["estimate"] == pytest.approx(0.7)


def test_the_estimate_is_at_most_one():
    (item,) = planned(skill("a", STOP, 5, 0), skill("b", STOP))
    assert item.evidence["estimate"] == 1.0


def test_steps_that_the_best_lacks_make_a_new_version():
    (item,) = planned(skill("a", STOP, 3, 0), skill("b", CLEAN, 2, 1, trust="agent"))
    fresh = [c.after for c in item.rows if isinstance(c.after, VersionRow) and c.before is None][-1]
    assert fresh.content == "1. Stop it.\n2. Look at it.\n3. Start it."
    assert (fresh.version, fresh.trust) == (2, "agent")
    assert item.evidence["added"] == ["Look at it."]


def test_where_no_step_is_new_the_version_stays():
    (item,) = planned(skill("a", CLEAN, 3, 0), skill("b", STOP, 1, 2))
    fresh = [c.after for c in item.rows if isinstance(c.after, VersionRow) and c.before is None]
    assert [(each.version, each.revision, each.content) for each in fresh] == [(1, 2, CLEAN)]
    assert fresh[0].metadata == {"success_estimate": 1.0, "success_rate": 1.0}


@each_row(
    "other",
    [
        skill("b", "Unlock the door."),
        skill("b", STOP, when={"language": "go"}),
        skill("b", STOP, trust="tool"),
    ],
)
def test_what_is_for_something_else_elsewhere_or_trusted_otherwise_stays(other):
    assert planned(skill("a", STOP), other) == []


def test_only_procedures_of_a_like_meaning_are_compared():
    def embed(angle):
        return lambda _: np.array([(1.0, 0.0), (np.cos(angle), np.sin(angle))])

    same = skill("a", STOP), skill("b", STOP)
    assert [item.ids for item in planned(*same, embed=embed(np.arccos(0.41)))] == [("b",)]
    assert night(*same, embed=embed(np.arccos(0.39))) == []


def test_of_three_only_those_become_one_of_which_every_two_mean_the_same():
    # The first has all steps of the others, which have each a step of their own.
    told_too = "1. Stop it. 2. Start it. 3. Check the lights."
    both = "1. Stop it. 2. Look at it. 3. Start it. 4. Check the lights."
    (item, family) = planned(skill("a", both, 3), skill("b", CLEAN, 2), skill("c", told_too, 1))
    assert (item.action, item.into, item.ids) == ("consolidate", "a", ("b",))
    assert (family.action, set(family.ids)) == ("family", {"a", "c"})


ENABLE, DISABLE = (
    f"{verb} flag X: 1. Open the console. 2. Switch it {state}. 3. Save."
    for verb, state in (("Enable", "on"), ("Disable", "off"))
)


def shared(_):
    return np.ones((len(_), 2))


def test_what_is_alike_and_not_the_same_becomes_a_family_and_nothing_is_deprecated():
    (family, left) = night(skill("a", ENABLE, 9), skill("b", DISABLE), embed=shared)
    entity, text = (change.after for change in family.rows[:2])
    links = [(c.after.source, c.after.target, c.after.relation) for c in family.rows[2:]]
    assert (entity.kind, entity.key, text.heading) == ("entity", "family:flag-x", "… flag X")
    assert links == [("a", entity.id, "source-of"), ("b", entity.id, "source-of")]
    assert "“Enable flag X”; “Disable flag X”" in text.content
    assert text.content.endswith("They differ in: enable, disable.")
    assert (left.keys, left.words) == (("a", "b"), ("enable", "disable"))
    assert left.reason == 'their titles differ: one asks for "flag", and the other rejects it'


def test_a_family_of_an_earlier_night_gets_what_it_lacks_and_is_not_made_again():
    enable, disable = skill("a", ENABLE), skill("b", DISABLE)
    (new, _) = night(enable, disable, embed=shared)
    entity, text = (change.after for change in new.rows[:2])
    family = KnownEntity(entity, [text], frozenset("ab"))
    assert planned(enable, disable, embed=shared, families=[family]) == []
    toggle = skill("c", ENABLE.replace("Enable", "Toggle"))
    (more,) = planned(enable, disable, toggle, embed=shared, families=[family])
    assert (more.action, more.ids, more.into) == ("family", ("c",), entity.id)
    assert "“Toggle flag X”" in more.evidence["text"]
    gone = KnownEntity(row(entity.id, "entity", status="forgotten"), [text], frozenset("ab"))
    assert planned(enable, disable, toggle, embed=shared, families=[gone]) == []


def test_a_family_names_so_many_members_only():
    members = [
        item.text
        for item in (skill(f"m{number}", f"Deploy v{number}: 1. Pull. 2. Run.") for number in range(20))
    ]
    heading, text = family_gist(members)
    assert heading == "Deploy …"
    assert text.startswith("Similar but not the same: “Deploy v0”")
    assert "“Deploy v11” and 8 more" in text


def test_a_family_of_one_title_says_what_tells_its_members_apart():
    steps = ("1. Open. 2. Seal it with wax.", "1. Open. 2. Seal it with tape.")
    item, other = (skill(f"m{n}", f"Seal the crate: {text}") for n, text in enumerate(steps))
    _, text = family_gist([each.text for each in (item, other)])
    assert text.startswith("2 procedures are all called “Seal the crate”: two steps differ")
    assert "wax" in text
    assert "tape" in text


def test_what_failed_more_often_than_it_helped_gives_no_step_away():
    (left,) = left_alone(skill("a", STOP, 3, 0), skill("b", CLEAN, 1, 2))
    assert left.reason == "key-b failed more often than it helped, and has steps of its own"
    assert left.words == ("Look at it.",)


@each_row(
    ("other", "reason"),
    [
        (skill("b", STOP, when={"language": "go"}), "they apply elsewhere"),
        (skill("b", STOP, trust="tool"), "they differ in trust"),
        (skill("b", STOP, valid_to=NOW + DAY), "key-b has an end of validity"),
    ],
)
def test_what_hinders_two_that_mean_the_same_is_told(other, reason):
    (left,) = night(skill("a", STOP), other)
    assert (left.keys, left.reason) == (("a", "b"), reason)


def test_what_contradicts_stays():
    apart = frozenset({frozenset("ab")})
    assert planned(skill("a", STOP), skill("b", STOP), conflicts=apart) == []


def test_what_forbids_a_step_of_the_other_stays():
    never = "1. Stop it. 2. Never look at it. 3. Start it."
    assert [item.action for item in planned(skill("a", CLEAN), skill("b", never))] == ["family"]
    assert planned(skill("a", never), skill("b", never))[0].ids == ("b",)


def test_what_ends_or_becomes_another_text_some_day_stays():
    ending = skill("b", STOP, 3, valid_to=NOW + DAY)
    assert planned(skill("a", STOP), ending) == []
    (item,) = planned(skill("a", STOP), ending, skill("c", CLEAN))
    assert (item.into, item.ids) == ("a", ("c",))


def test_what_somebody_brought_back_stays():
    assert planned(skill("a", STOP), skill("b", STOP), restored={"b"}) == []


def test_none_and_one_are_nothing_to_consolidate():
    assert planned() == planned(skill("a", STOP)) == []


def test_steps_are_merged_in_order_and_a_paraphrase_is_that_step():
    steps = ("Stop the server.", "Delete old builds.", "Start the server.")
    others = (
        "Shut the server down",
        "Remove old builds",
        "Look at the disk",
        "Launch the server",
        "Tell Ada",
    )
    assert merge_steps(steps, others) == (*steps[:2], "Look at the disk", steps[2], "Tell Ada")
    assert merge_steps(steps, steps[:2]) == merge_steps(steps, ()) == steps
