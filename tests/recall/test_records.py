"""``get`` and ``list``: what a memory is worth, and the summaries of sleep."""

from datetime import timedelta

import pytest

from priming import Cue, ParamError

DISK = (
    "The release of Kestrel failed, the disk of Kestrel is full",
    "The release of Kestrel failed again, the disk of Kestrel is full",
    "Kestrel failed, the disk is full, the release waits",
    "The full disk of Kestrel stopped the release",
)
TEA = ("nobody bought green tea", "nobody bought more green tea", "nobody ever bought green tea")


def test_a_rule_counts_the_recalls_that_showed_it_and_the_verdicts_on_it(memory):
    rule = memory.learn("Run gofmt before every commit.", cue=Cue(language="go")).key
    other = memory.learn("Keep functions short.").key
    assert memory.get(rule).use.shown == 0
    for _ in range(3):
        recall = memory.active(Cue(language="go"))
    memory.active(Cue(language="python"))
    memory.feedback(recall.recall_id, confirmed=[rule], used=[other])
    listed = {record.key: record for record in memory.list(kinds=["behavior"])}
    for record in (memory.get(rule), listed[rule]):
        assert (record.use.shown, record.use.confirmed, record.use.overridden) == (3, 1, 0)
        assert (record.confidence, dict(record.when)) == (0.6, {"language": "go"})
    assert listed[other].use.shown == 4


def test_many_rules_are_counted_at_once_as_each_by_itself(memory):
    keys = [memory.learn(f"{verb} the {noun}.").key for verb, noun in zip(
        ("Review", "Sharpen", "Paint", "Polish", "Count"),
        ("contract", "knives", "fence", "silver", "sheep"), strict=True)]  # fmt: skip
    for text in ("the contract", "the fence", "silver and sheep", "contract"):
        memory.active(Cue(text=text))
    listed = {record.key: record.use.shown for record in memory.list(kinds=["behavior"])}
    assert listed == {key: memory.get(key).use.shown for key in keys}
    assert max(listed.values()) > 0


def test_memories_that_are_no_rules_are_not_counted(memory):
    memory.remember("Gulls nest upon tall cliffs.", key="gulls")
    memory.recall("gulls")
    assert memory.get("gulls").use.shown is None


def test_the_summaries_of_sleep_are_listed_without_a_kind(memory, clock):
    for number, text in enumerate((*DISK, *TEA)):
        memory.remember(text, session=f"s{number}", key=f"said{number}")
    assert memory.list(gists=True) == []
    clock.at += timedelta(days=2)
    memory.sleep(["deep"])
    gist, *others = memory.list(gists=True)
    assert (gist.kind, gist.source) == ("entity", "sleep")
    assert gist.key in {record.key for record in memory.list(kinds=["entity"])}
    memory.supersede(gist.key, "Mind the disk!", source="me")
    assert [record.content for record in memory.list(gists=True, limit=1)] == ["Mind the disk!"]
    assert memory.list(gists=True, after=gist.id) == others


@pytest.mark.parametrize("wrong", [{"gists": "yes"}, {"gists": True, "kinds": ["fact"]}])
def test_gists_is_a_choice_of_its_own(memory, wrong):
    with pytest.raises(ParamError, match="gists"):
        memory.list(**wrong)


def test_what_holds_only_later_is_listed_and_said_to_be_told_then(memory, clock):
    later = clock.at + timedelta(days=90)
    memory.remember("From spring on the club fee is 95 euros.", key="fee", valid_from=later)
    assert [record.key for record in memory.list()] == ["fee"]
    assert memory.list(valid_at=clock.at) == []
    answer = memory.recall("what is the club fee?")
    assert (answer.hits, answer.reason) == ((), "no memory holds now: valid_at asks for another time")
    assert [hit.memory.key for hit in memory.recall("what is the club fee?", valid_at=later)] == ["fee"]
    assert memory.recall("club fee", valid_at=clock.at).reason == "nothing was remembered at that time"
    clock.at = later
    assert [hit.memory.key for hit in memory.recall("what is the club fee?")] == ["fee"]
