"""Links that rules learn by being active together: between which, and what comes up through them."""

import random
from dataclasses import dataclass
from datetime import timedelta

import pytest

from priming import Cue

DAY = timedelta(days=1)


def rule(memory, key, **when):
    memory.remember(f"Always {key.replace('-', ' ')}.", kind="behavior", key=key, when=when)


def pairs(memory):
    return {tuple(sorted((link.source, link.target))) for link in memory.links(relation="co-activated")}


def work(memory, clock, cue, times=3, verdict="confirmed", **more):
    for _ in range(times):
        clock.at += timedelta(hours=3)
        answer = memory.active(cue)
        memory.feedback(answer.recall_id, **{verdict: [hit.memory.key for hit in answer.hits]}, **more)


def keys(answer):
    return {hit.memory.key for hit in answer.hits}


@pytest.mark.parametrize("verdict", ["confirmed", "used"])
@pytest.mark.parametrize("tier", ["conscious", "automatic"])
def test_rules_that_different_conditions_brought_up_together_are_linked_the_third_time(
    memory, clock, verdict, tier
):
    rule(memory, "pin-the-toolchain", language="rust")
    rule(memory, "tag-the-commit", task="release")
    cue = Cue(language="rust", task="release")
    work(memory, clock, cue, 2, verdict, tier=tier)
    assert pairs(memory) == set()
    work(memory, clock, cue, 1, verdict, tier=tier)
    assert pairs(memory) == {("pin-the-toolchain", "tag-the-commit")}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"language": "rust"}, {"language": "rust"}),
        ({"language": "rust"}, {"language": ["rust", "go"]}),
        ({"language": "rust"}, {"language": "rust", "task": "release"}),
        ({}, {"task": "release"}),
        ({}, {}),
    ],
)
def test_rules_that_the_same_conditions_brought_up_are_never_linked(memory, clock, first, second):
    rule(memory, "pin-the-toolchain", **first)
    rule(memory, "tag-the-commit", **second)
    work(memory, clock, Cue(language="rust", task="release"), 6)
    assert pairs(memory) == set()


def test_conditions_that_only_overlap_are_not_the_same(memory, clock):
    rule(memory, "pin-the-toolchain", language="rust", environment="ci")
    rule(memory, "tag-the-commit", language="rust", task="release")
    work(memory, clock, Cue(language="rust", task="release", environment="ci"))
    assert pairs(memory) == {("pin-the-toolchain", "tag-the-commit")}


def test_a_rule_never_pairs_with_the_correction_that_it_comes_from(memory, clock):
    memory.learn("Sign every image", wrong="an unsigned image", cue=Cue(task="release"))
    memory.learn("Use the pinned base image", wrong="a floating tag", cue=Cue(language="docker"))
    work(memory, clock, Cue(language="docker", task="release"), 8)
    kinds = {record.key: record.kind for record in memory.list(limit=50)}
    assert [{kinds[end] for end in pair} for pair in pairs(memory)] == [{"behavior"}]


def test_a_rule_comes_up_by_the_link_when_its_own_condition_is_not_spoken_of(memory, clock):
    rule(memory, "pin-the-toolchain", language="rust")
    rule(memory, "tag-the-commit", task="release")
    before = memory.active(Cue(language="rust"))
    work(memory, clock, Cue(language="rust", task="release"), 12)
    after = memory.active(Cue(language="rust"))
    assert keys(before) == {"pin-the-toolchain"}
    assert keys(after) == {"pin-the-toolchain", "tag-the-commit"}
    assert [step.relation for step in after.hits[-1].path] == ["co-activated"]
    assert after.hits[-1].components["context"] == 0
    assert keys(memory.active(Cue(language="rust", task="review"))) == {"pin-the-toolchain"}


def sitting(memory, clock, name, *cues, tier="automatic"):
    """A session that sees a context after the other, and confirms all rules at its end."""
    seen = set()
    for cue in cues:
        clock.at += timedelta(minutes=10)
        seen |= keys(memory.active(cue, session=name))
    memory.feedback(confirmed=sorted(seen), tier=tier, session=name)
    clock.at += timedelta(hours=9)


@pytest.mark.parametrize("tier", ["conscious", "automatic"])
def test_rules_that_two_recalls_of_a_session_brought_up_are_linked_in_the_third_session(memory, clock, tier):
    rule(memory, "name-the-breaking-change", file="CHANGELOG.md")
    rule(memory, "tag-the-commit", task="release")
    for number in range(3):
        assert pairs(memory) == set()
        sitting(memory, clock, f"s{number}", Cue(file="CHANGELOG.md"), Cue(task="release"), tier=tier)
    assert pairs(memory) == {("name-the-breaking-change", "tag-the-commit")}


def test_rules_of_different_sessions_or_of_the_same_condition_do_not_pair_across_recalls(memory, clock):
    rule(memory, "name-the-breaking-change", file="CHANGELOG.md")
    rule(memory, "tag-the-commit", task="release")
    rule(memory, "look-twice", task="review")
    for number in range(5):
        sitting(memory, clock, f"a{number}", Cue(file="CHANGELOG.md"))
        sitting(memory, clock, f"b{number}", Cue(task="release"), Cue(task="review"))
    assert pairs(memory) == set()


def test_reading_alone_links_nothing(memory, clock):
    rule(memory, "pin-the-toolchain", language="rust")
    rule(memory, "tag-the-commit", task="release")
    for _ in range(9):
        clock.at += timedelta(hours=1)
        memory.active(Cue(language="rust", task="release"))
    assert pairs(memory) == set()


@dataclass
class Tally:
    """What a life of rules brought."""

    links: int = 0
    spread: int = 0
    right: int = 0


TASKS = {"go": "test", "python": "release", "typescript": "migrate", "rust": "review"}
"""What is mostly done in each language."""
RULES = {
    "go": ("Wrap errors before you return them.", "Pass a context to whatever blocks."),
    "python": ("Annotate every public function.", "Raise our own exceptions only."),
    "typescript": ("Never use any as a type.", "Validate what comes from the network with zod."),
    "rust": ("No unwrap outside of examples.", "Borrow rather than clone."),
    "test": ("Fake the clock, not the database.", "A table of cases beats ten functions."),
    "release": ("Tag it only once the changelog is merged.", "Announce it in the channel first."),
    "migrate": ("Back up before the schema moves.", "Two small steps are safer than a large step."),
    "review": ("Comment on behaviour, not on style.", "Approve within the day."),
}


def lived(memory, clock, feedback, days=30):
    """A month of four sessions a day: first the language is known, then the task, which mostly is the usual one."""
    rng, start, tally = random.Random(5), clock.at, Tally()
    for name, texts in RULES.items():
        for text in texts:
            when = {"language" if name in TASKS else "task": name}
            memory.remember(text, kind="behavior", when=when)
    rule(memory, "ask-the-owner", environment="production")
    rule(memory, "answer-briefly")
    for at in (day * DAY + session * timedelta(hours=2) for day in range(days) for session in range(4)):
        language = rng.choice(list(TASKS))
        task = TASKS[language] if rng.random() < 0.8 else rng.choice(list(TASKS.values()))
        for minutes, cue in enumerate((Cue(language=language), Cue(language=language, task=task))):
            clock.at = start + at + timedelta(minutes=minutes)
            answer = memory.active(cue, session=str(at))
            for hit in answer.hits:
                if hit.memory.when and not hit.components["context"]:
                    tally.spread += 1
                    tally.right += hit.memory.when.get("task") == task
            confirmed = [hit.memory.key for hit in answer.hits if hit.components["context"] > 0]
            if feedback != "automatic":
                memory.feedback(answer.recall_id, **{feedback: confirmed})
            elif cue.task:
                memory.feedback(confirmed=confirmed, tier="automatic", session=str(at))
    tally.links = len(pairs(memory))
    return tally


@pytest.mark.slow
@pytest.mark.parametrize("feedback", ["confirmed", "used", "automatic"])
def test_in_a_month_links_grow_and_bring_up_rules_that_no_condition_matched_and_that_are_right(
    memory, clock, feedback
):
    tally = lived(memory, clock, feedback)
    assert tally.links >= 8
    assert tally.spread >= 40
    assert tally.right >= 0.7 * tally.spread
