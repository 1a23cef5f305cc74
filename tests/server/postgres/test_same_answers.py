"""One life on both databases: the same hits, scores and paths, whatever was remembered, linked, judged and undone."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.storage.making import NOW

from priming import FixedClock, HashedEmbedder, Memory, PrimingError, profiles

from .server import clear

pytestmark = pytest.mark.slow
SUBJECTS = (
    "worker-3",
    "the export",
    "Anna",
    "PostgreSQL",
    "the invoice of May",
    "Grüße",
    "大阪府",
    "src/app.py",
)
SAYINGS = ("failed at night", "has only 40 GB", "moved to Berlin", "is slow", "was rewritten", "needs a key")
TEXTS = st.builds("{} {}.".format, st.sampled_from(SUBJECTS), st.sampled_from(SAYINGS))
CUES = st.one_of(TEXTS, st.sampled_from(SUBJECTS), st.just("why did it fail?"))
PLACES = st.integers(0, 30)
Step = tuple[str, Any]
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("remember"), st.tuples(TEXTS, st.sampled_from((None, "a", "b")))),
        st.tuples(st.just("link"), st.tuples(PLACES, PLACES, st.floats(0.1, 1))),
        st.tuples(st.just("judge"), st.tuples(CUES, st.sampled_from(("used", "not_relevant", "not_useful")))),
        st.tuples(st.just("supersede"), st.tuples(PLACES, TEXTS)),
        st.tuples(st.just("forget"), PLACES),
        st.tuples(st.just("undo"), st.integers(0, 3)),
        st.tuples(st.just("wait"), st.integers(1, 40)),
        st.tuples(st.just("sleep"), st.none()),
    ),
    min_size=3,
    max_size=14,
)


def live(memory: Memory, clock: FixedClock, steps: list[Step]) -> None:
    """Take the steps; what one refuses, it refuses on both."""
    actions: dict[str, Callable[[Any], object]] = {
        "remember": lambda what: memory.remember(what[0], session=what[1]),
        "link": lambda what: memory.link(key(memory, what[0]), key(memory, what[1]), "causes", what[2]),
        "judge": lambda what: judge(memory, *what),
        "supersede": lambda what: memory.supersede(key(memory, what[0]), what[1]),
        "forget": lambda what: memory.forget(key(memory, what)),
        "undo": lambda back: memory.undo(memory.log(limit=4)[back].id),
        "wait": lambda days: setattr(clock, "at", clock.at + timedelta(days=days)),
        "sleep": lambda _: memory.sleep(),
    }
    for name, what in steps:
        try:
            actions[name](what)
        except (PrimingError, LookupError) as refused:
            refusals.append(type(refused).__name__)


refusals: list[str] = []


def key(memory: Memory, place: int) -> str:
    listed = memory.list(limit=50)
    return listed[place % len(listed) if listed else place].key


def judge(memory: Memory, cue: str, verdict: str) -> None:
    answer = memory.recall(cue)
    if answer.hits:
        memory.feedback(answer.recall_id, **{verdict: [answer.hits[0].memory.key]})


def answers(memory: Memory, cue: str) -> Any:
    answer = memory.recall(cue, limit=20)
    return answer.reason, [
        (
            hit.memory.key,
            hit.memory.content,
            hit.score,
            dict(hit.components),
            [str(step) for step in hit.path or ()],
        )
        for hit in answer.hits
    ]


@pytest.mark.parametrize("profile", sorted(profiles.ALL))
@settings(max_examples=1 + settings.default.max_examples // 20, phases=(Phase.explicit, Phase.generate))
@given(steps=STEPS, cues=st.lists(CUES, min_size=1, max_size=3))
def test_both_databases_give_the_same_hits_scores_and_paths(postgres, profile, steps, cues):
    seen = []
    with Memory.open(f"{postgres}&schema=same", embedder="hashed"):
        clear(postgres, "same")
    for url in ("sqlite://", f"{postgres}&schema=same"):
        refusals.clear()
        clock = FixedClock(NOW)
        with Memory.open(url, profile=profile, embedder=HashedEmbedder(64), clock=clock) as memory:
            live(memory, clock, steps)
            stats = memory.stats()
            seen.append(
                (
                    [answers(memory, cue) for cue in cues],
                    list(refusals),
                    (stats.memories, stats.links, stats.operations),
                )
            )
    assert seen[0] == seen[1]
