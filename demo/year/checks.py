"""What must hold of a life that was lived, each looked up in the memory itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from life import AGAIN, FACT, FIX, ONE_OFF, RIGHT, TWIN, Told, question_once, questions_of_facts, recurring
from living import Answer, Lived
from world import TWINS, Mistake

from lives import SHOWN, Check, none, share
from priming import Memory
from priming.types import MemoryRecord

T = TypeVar("T")

EVERY = 1_000_000


@dataclass(frozen=True, slots=True)
class Expected:
    """Least shares of questions to which the answer, ten hits, holds what is right; and of how many such."""

    recurring: float = 0.9
    true: float = 1.0
    once: float = 0.95
    sample: int = 100


def every(memory: Memory) -> dict[str, MemoryRecord]:
    """All memories but entities, whatever became of them, by key."""
    return {one.key: one for one in memory.list(status=None, limit=EVERY)}


def recurring_is_recalled(memory: Memory, lived: Lived, expected: Expected) -> Check:
    """Asked in other words, what mends a mistake that recurs is in the answer."""
    ranks = {
        mistake.question: _rank(
            memory, mistake.question, lambda one, name=mistake.name: _mends(lived, one, name)
        )
        for mistake in _recurring(lived)
    }
    return share("what recurs is recalled", expected.recurring, ranks, "of fixes in the answer")


def true_is_recalled(memory: Memory, lived: Lived, expected: Expected) -> Check:
    """Asked for a fact, what is true now is in the answer."""
    ranks = {
        question: _rank(memory, question, lambda one, key=key: one.content == lived.holds(key))
        for key, question in questions_of_facts().items()
    }
    return share("what is true is recalled", expected.true, ranks, "of facts in the answer")


def once_is_recalled(memory: Memory, lived: Lived, expected: Expected) -> Check:
    """Asked by name, what happened once is in the answer."""
    ranks = {
        one.topic: _rank(memory, question_once(one.topic), lambda found, key=key: found.key == key)
        for key, one in _sampled(lived, expected)
    }
    return share("what did not recur is found by name", expected.once, ranks, "in the answer")


def once_is_lower(memory: Memory, lived: Lived, expected: Expected) -> Check:
    """Of what was used once less is left than of what was used again and again, and the score counts that."""
    asked = [(question_once(one.topic), ONE_OFF, one.topic) for _, one in _sampled(lived, expected)]
    asked += [(one.question, FIX, one.name) for one in _recurring(lived)]
    left = {ONE_OFF: dict[str, float](), FIX: dict[str, float]()}
    for question, role, topic in asked:
        for hit in memory.recall(question).hits:
            one, uses = lived.told[hit.memory.key], hit.memory.use.uses
            if (one.role, one.topic) == (role, topic) and (uses == 1 if role == ONE_OFF else uses > 1):
                left[role][hit.memory.key] = hit.components.get("use", 0.0)
    once, often = (sum(one.values()) / max(len(one), 1) for one in left.values())
    found = f"{once:.2f} of {len(left[ONE_OFF])} used once, {often:.2f} of {len(left[FIX])} used often"
    return Check(
        "what did not recur fades",
        "less is left of it, in the score",
        found,
        bool(left[ONE_OFF]) and once < often,
    )


def nothing_is_lost(memory: Memory, lived: Lived, _: Expected) -> Check:
    """Everything that was told is there, word for word, in its first version."""
    there = every(memory)
    wrong = []
    for key, one in lived.told.items():
        record = there.get(key)
        said = record is not None and (record.version == 1 or memory.history(key)[0].content == one.content)
        if not said or (record is not None and record.version == 1 and record.content != one.content):
            wrong.append(
                f"{key} says {'nothing' if record is None else record.content!r}, not {one.content!r}"
            )
    return none(
        "nothing that was told is lost", "all of it there, word for word", f"{len(lived.told):,}", wrong
    )


def sources_are_reachable(memory: Memory, lived: Lived, _: Expected) -> Check:
    """What stands for others leads to them, and what was merged leads to what stands for it."""
    there = every(memory)
    gists = {
        one.key for one in memory.list(kinds=["entity"], status=None, limit=EVERY) if one.source == "sleep"
    }
    links = memory.links(relation="source-of")
    wrong = [f"{one.source} of {one.target}" for one in links if one.source not in lived.told]
    wrong += [f"{key} has no source" for key in gists - {one.target for one in links}]
    led = {
        one.source: one.target
        for relation in ("merged-into", "consolidated-into")
        for one in memory.links(relation=relation)
    }
    for key, one in there.items():
        if one.status in ("merged", "deprecated") and _end(key, led, there) is None:
            wrong.append(f"{key}, {one.status}, leads to nothing in use")
    looked = f"{len(gists):,} gists of {len(links):,} sources, {len(led):,} merged"
    return none(
        "every source is reachable", "gists from their sources, what merged to its heir", looked, wrong
    )


def _end(key: str, led: Mapping[str, str], there: Mapping[str, MemoryRecord]) -> str | None:
    """The memory in use that stands for another at last."""
    seen = set[str]()
    while key in led and key not in seen:
        seen.add(key)
        key = led[key]
    return key if key in there and there[key].status == "active" else None


def archived_comes_back(memory: Memory, lived: Lived, expected: Expected) -> Check:
    """What was pruned can be brought back, and then comes up again; the restoring is undone afterwards."""
    archived = [one for one in every(memory).values() if one.status == "archived"]
    some = _spread(archived, expected.sample)
    wrong = []
    for one in some:
        done = memory.restore(one.key)
        hits = memory.recall(one.content, limit=expected.sample).hits
        if not any(hit.memory.key == one.key for hit in hits):
            wrong.append(f"{one.key} does not come up")
        memory.undo(done.id)
        if memory.get(one.key).status != "archived" or one.content != lived.told[one.key].content:
            wrong.append(f"{one.key} is not as before")
    looked = f"{len(some)} of {len(archived):,} tried"
    return none("what was pruned comes back", "restored, recalled, word for word", looked, wrong)


def superseded_is_out(memory: Memory, lived: Lived, _: Expected) -> Check:
    """No recall of the life, nor one now, brought up what was true no longer."""
    wrong = list(lived.stale)
    for key, question in questions_of_facts().items():
        said = [
            hit.memory.content for hit in memory.recall(question, limit=100).hits if hit.memory.key == key
        ]
        wrong += [f"{key} says {content!r}" for content in said if content != lived.holds(key)]
        wrong += [f"{key} came up {len(said)} times"] if len(said) != 1 else []
    changes = sum(len(one) - 1 for one in lived.truth.values())
    looked = f"{changes} changes, {lived.recalls + len(lived.truth):,} recalls"
    return none("superseded is out", "never beside its correction", looked, wrong)


def history_is_whole(memory: Memory, lived: Lived, _: Expected) -> Check:
    """Every fact has the versions that it had, in their order, each from when it was true."""
    wrong = []
    for key, truth in lived.truth.items():
        found = [(one.valid_from, one.content) for one in memory.history(key)]
        if [content for _, content in found] != [content for _, content in truth]:
            wrong.append(f"{key} has {len(found)} versions, not {len(truth)}")
        elif [at for at, _ in found[1:]] != [at for at, _ in truth[1:]]:
            wrong.append(f"{key} changed at other times")
    versions = sum(map(len, lived.truth.values()))
    return none("history is whole", "every version, and since when", f"{versions} versions", wrong)


def audit_recalls(memory: Memory, lived: Lived, _: Expected) -> Check:
    """Asked what was known on the day of the audit, recall answers as it answered then."""
    wrong = []
    for told in lived.answers:
        again = Answer.of(told.question, told.at, memory.recall(told.question, known_at=told.at))
        if again.hits != told.hits:
            wrong.append(f"{told.question} was {_briefly(told)}, is {_briefly(again)}")
    looked = f"{len(lived.answers)} questions"
    return none(f"recall as of day {lived.audited + 1}", "key, version and score of then", looked, wrong)


def audit_versions(memory: Memory, lived: Lived, _: Expected) -> Check:
    """What a fact said on the day of the audit is what ``as_of`` says of it."""
    at = lived.answers[0].at
    wrong = []
    for key, content in lived.known.items():
        found = memory.as_of(key, known_at=at).content
        if found != content:
            wrong.append(f"{key} said {content!r}, is said to have said {found!r}")
    return none(
        f"facts as of day {lived.audited + 1}", "what they said then", f"{len(lived.known)} facts", wrong
    )


def audit_differences(memory: Memory, lived: Lived, _: Expected) -> Check:
    """``diff`` from then to now names the facts that changed, and no other, and the ranks of then."""
    at, now = lived.answers[0].at, lived.sizes[-1].at
    wrong, changed = [], {key for key, content in lived.truth.items() if content[-1][0] > at}
    asked = [one for one in lived.answers if one.question in questions_of_facts().values()][: SHOWN * SHOWN]
    for told in asked:
        found = memory.diff(at, now, question=told.question)
        ranks = {one.key: one.rank_before for one in found.answers if one.rank_before is not None}
        if ranks != {key: rank for rank, (key, *_) in enumerate(told.hits, 1)}:
            wrong.append(f"{told.question} had other ranks")
        named = {one.key for one in found.memories if one.what == "superseded" and one.kind == FACT}
        wrong += [f"{key} is {'' if key in named else 'not '}named" for key in sorted(named ^ changed)]
    looked = f"{len(changed)} facts changed, {len(asked)} questions"
    return none("diff of then and now", "the facts that changed, the ranks of then", looked, wrong)


def alike_stays_apart(memory: Memory, lived: Lived, _: Expected) -> Check:
    """Opposites, other targets and other versions are all in use, in one family, and a night named their words."""
    wrong = []
    families = {(one.source, one.target) for one in memory.links(relation="source-of")}
    for twin in TWINS:
        keys = [
            key for key, one in lived.told.items() if (one.topic, one.role) == (f"twin {twin.name}", TWIN)
        ]
        wrong += [f"{key} is {memory.get(key).status}" for key in keys if memory.get(key).status != "active"]
        targets = [{target for source, target in families if source == key} for key in keys]
        if len(keys) != 2 or not set.intersection(*targets):
            wrong.append(f"{twin.name} has no family")
        words = {word.casefold() for word in lived.left_alone.get(frozenset(keys), ())}
        if not words >= set(twin.words):
            wrong.append(f"no night named {' and '.join(twin.words)}")
    return none("what is alike stays apart", "opposites, targets, versions", f"{len(TWINS)} pairs", wrong)


def paraphrases_become_one(memory: Memory, lived: Lived, _: Expected) -> Check:
    """A procedure that was told again in other words is deprecated for the first, which says it still."""
    led = {one.source: one.target for one in memory.links(relation="consolidated-into")}
    again = [key for key, one in lived.told.items() if one.role == AGAIN]
    wrong = [f"{key} stands beside it" for key in again if led.get(key) != key.replace("-again", "-left")]
    return none(
        "paraphrases become one",
        "into the first",
        f"{len(again)} told again",
        wrong or ["none"] * (not again),
    )


def night_can_be_undone(memory: Memory, lived: Lived, _: Expected) -> Check:
    """The last night is taken back whole, and done again by undoing that."""
    last = next((one for one in reversed(lived.nights) if one.operation is not None), None)
    if last is None or last.operation is None:
        return Check("a night can be taken back", "a night that did something", "none", False)
    after = _state(memory)
    undone = memory.undo(last.operation)
    between = _state(memory)
    memory.undo(undone.id)
    holds = after == _state(memory) and between != after
    found = f"day {last.day + 1}: {', '.join(f'{count} {action}' for action, count in last.actions.items())}"
    return Check("a night can be taken back", "undone, and then done again the same", found, holds)


def _state(memory: Memory) -> set[tuple[object, ...]]:
    """Memories and links, as far as a night changes them."""
    kinds = ["episode", "fact", "failure", "procedure", "entity"]
    rows = memory.list(kinds=kinds, status=None, limit=EVERY)
    found: set[tuple[object, ...]] = {(one.key, one.status, one.content, one.importance) for one in rows}
    return found | {(one.source, one.relation, one.target, one.weight) for one in memory.links()}


def store_is_sound(memory: Memory, _: Lived, __: Expected) -> Check:
    """``validate`` finds nothing."""
    wrong = [f"{one.rule}: {one.subject}: {one.detail}" for one in memory.validate()]
    return none("the store is sound", "validate finds nothing", "all rules", wrong)


def looked_at(
    memory: Memory, lived: Lived, expected: Expected, progress: Callable[[int], None] = lambda _: None
) -> Iterable[Check]:
    """All checks, one by one; ``progress`` is told the number of those that are done."""
    for number, check in enumerate(CHECKS, start=1):
        yield check(memory, lived, expected)
        progress(number)


CHECKS: tuple[Callable[[Memory, Lived, Expected], Check], ...] = (
    recurring_is_recalled,
    true_is_recalled,
    once_is_recalled,
    once_is_lower,
    superseded_is_out,
    history_is_whole,
    nothing_is_lost,
    sources_are_reachable,
    alike_stays_apart,
    paraphrases_become_one,
    night_can_be_undone,
    archived_comes_back,
    audit_recalls,
    audit_versions,
    audit_differences,
    store_is_sound,
)


def _recurring(lived: Lived) -> list[Mistake]:
    return recurring(list(lived.told.values()))


def _mends(lived: Lived, one: MemoryRecord, mistake: str) -> bool:
    told = lived.told[one.key]
    return told.topic == mistake and told.role in RIGHT


def _rank(memory: Memory, question: str, is_right: Callable[[MemoryRecord], bool]) -> int | None:
    """At which rank the first right hit of an answer stands, however relevant it seems."""
    hits = memory.recall(question, floor=0.0).hits
    return next((rank for rank, hit in enumerate(hits, 1) if is_right(hit.memory)), None)


def _sampled(lived: Lived, expected: Expected) -> list[tuple[str, Told]]:
    return _spread([(key, one) for key, one in lived.told.items() if one.role == ONE_OFF], expected.sample)


def _spread(some: Sequence[T], most: int) -> list[T]:
    """So many at most, from all over."""
    return [some[i * len(some) // most] for i in range(most)] if len(some) > most else list(some)


def _briefly(answer: Answer) -> str:
    return ", ".join(f"{key} v{version} {score:.4f}" for key, version, score in answer.hits[:SHOWN])
