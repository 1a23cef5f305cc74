"""A change of the embedder: built beside the one that answers, compared on judged recalls, and rolled back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from priming.config import adoption
from priming.config.values import dataclass
from priming.config.words import EMBEDDER_CHOICE
from priming.core.arguments.checks import check_text
from priming.embedding.protocol import Embedder
from priming.embedding.registry import AUTO, is_auto, named, reaches_out
from priming.errors import NotFound, ParamError
from priming.learning.replay import RECALLS, JudgedSample, judged_sample, reciprocal_rank
from priming.namespace import Namespace
from priming.remember.vectors import embed_missing
from priming.storage.protocol import Logged
from priming.types import Progress

OPERATION = "reembed"
_DEPTHS = 1, 5


@dataclass(frozen=True, slots=True)
class EmbedderQuality:
    """How well judged recalls are answered: mean reciprocal rank, and the share with a relevant hit near the top."""

    generation: str
    mrr: float
    hit_at_1: float
    hit_at_5: float


@dataclass(frozen=True, slots=True)
class EmbedderComparison:
    """Two embedders on the same judged recalls; ``left_out`` is the number of the others, by reason."""

    recalls: int
    old: EmbedderQuality
    new: EmbedderQuality
    better: int
    worse: int
    left_out: Mapping[str, int]

    @property
    def is_worse(self) -> bool:
        """Whether the new embedder answers worse."""
        return self.new.mrr < self.old.mrr


@dataclass(frozen=True, slots=True)
class EmbedderChange:
    """What became of a change: the vectors computed, the comparison, and which embedder answers from now on."""

    embedder: str
    generation: str
    previous: str
    vectors: int
    switched: bool
    reason: str
    comparison: EmbedderComparison | None = None
    operation: str | None = None


def change_embedder(
    memory: Namespace, to: str, *, switch: bool | None = None, progress: Progress | None = None
) -> EmbedderChange:
    """Compute the vectors of another embedder while the present one answers, compare the two, and switch.

    An interrupted change goes on where it stopped. The choice is an operation in the log, which a namespace that is
    opened with the embedder ``auto`` follows. The vectors of the former embedder stay.

    Args:
        to: the name of the embedder (``docs/embedders.md``).
        switch: whether to switch whatever the comparison says; None: only if the new embedder is not worse.
        progress: called with (done, total).

    Raises:
        ParamError: no such embedder, or the one that answers already.
        EmbedderError: the embedder failed; the vectors computed before are kept.

    """
    to, old = check_new_embedder(to), memory.embedder
    new = named(to)
    if new.generation == old.generation:
        raise ParamError("to", to, f"answers already: the embedder is {old.generation}")
    vectors = embed_missing(memory, new, progress)
    comparison = compare_embedders(memory, new)
    switched, reason = _decision(switch, comparison)
    if not switched:
        return EmbedderChange(to, old.generation, old.generation, vectors, False, reason, comparison)
    vectors += embed_missing(memory, new, progress)  # of what was stored meanwhile
    logged = _choose(memory, to, new, reason)
    return EmbedderChange(to, new.generation, old.generation, vectors, True, reason, comparison, logged.id)


def check_new_embedder(to: str) -> str:
    """Return the name of an embedder to change to: there is such an embedder, and it is not the choice itself."""
    name = check_text("to", to).strip()
    named(name)
    if is_auto(name):
        raise ParamError("to", to, "must name an embedder: auto chooses by what is installed")
    return name


def roll_back_embedder(memory: Namespace, *, progress: Progress | None = None) -> EmbedderChange:
    """Return to the embedder before the latest change, and compute its vectors of what was stored since.

    A second call returns to the embedder of the change.

    Raises:
        NotFound: the embedder was never changed.

    """
    with memory.lock:
        choices = _choices(memory)
    if not choices:
        raise NotFound("the embedder was never changed: priming reembed --to EMBEDDER changes it")
    to, old = (_name(choices[1]) if len(choices) > 1 else AUTO), memory.embedder
    new = named(to)
    vectors = embed_missing(memory, new, progress)
    reason = "rolled back"
    logged = _choose(memory, to, new, reason)
    return EmbedderChange(to, new.generation, old.generation, vectors, True, reason, operation=logged.id)


def latest_choice(memory: Namespace) -> str | None:
    """Return the embedder that was chosen latest, ``auto`` for that before any choice; None if none ever was."""
    with memory.lock:
        choices = _choices(memory)
    return _name(choices[0]) if choices else None


def _choices(memory: Namespace) -> Sequence[Logged]:
    """Return the choices of an embedder that are in effect, newest first."""
    return [logged for logged in memory.operations(source=EMBEDDER_CHOICE) if logged.undone_by is None]


def _name(choice: Logged) -> str:
    return choice.message or AUTO


def _choose(memory: Namespace, name: str, embedder: Embedder, reason: str) -> Logged:
    if reaches_out(name):
        adoption.record(name, EMBEDDER_CHOICE, adoption.YES)
    with memory.writing() as now:
        logged = memory.write(OPERATION, now, (), message=name, reason=reason, source=EMBEDDER_CHOICE)
        memory.embedder = embedder
        memory.drop_snapshot()
    return logged


def _decision(switch: bool | None, comparison: EmbedderComparison | None) -> tuple[bool, str]:
    """Tell whether to switch, and why."""
    if switch is not None:
        return switch, "it was asked for" if switch else "it was to be kept"
    if comparison is None:
        return False, "there is no judged recall to compare on: --switch changes it all the same"
    if comparison.is_worse:
        return False, "the new embedder answers judged recalls worse: --switch changes it all the same"
    return True, "the new embedder answers judged recalls as well or better"


def compare_embedders(memory: Namespace, new: Embedder) -> EmbedderComparison | None:
    """Replay the judged recalls with the embedder that answers and with another; None if there are none.

    Each is replayed with what was learned before its verdicts, so that no embedder profits from them.
    """
    if memory.profile.anchors is not None:
        return None
    other = Namespace(memory.store, memory.namespace, new, memory.clock, memory.profile, memory.profiles)
    other.lock = memory.lock
    samples = [judged_sample(each, memory.profile, RECALLS) for each in (memory, other)]
    if not samples[0].replay.cases:
        return None
    ranks = [_reciprocal_ranks(sample) for sample in samples]
    qualities = [
        EmbedderQuality(
            embedder.generation,
            float(reciprocal.mean()),
            *(float((reciprocal >= 1 / depth).mean()) for depth in _DEPTHS),
        )
        for embedder, reciprocal in zip((memory.embedder, new), ranks, strict=True)
    ]
    return EmbedderComparison(
        recalls=len(ranks[0]),
        old=qualities[0],
        new=qualities[1],
        better=int((ranks[1] > ranks[0]).sum()),
        worse=int((ranks[1] < ranks[0]).sum()),
        left_out=samples[0].left_out,
    )


def _reciprocal_ranks(sample: JudgedSample) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the reciprocal rank of each judged recall, by its id."""
    replay, by_recall = sample.replay, dict[str, float]()
    for case in map(replay.cases.__getitem__, replay.in_order()):
        ranked = replay.ranking(case, sample.now)
        by_recall[case.judged.trace.recall_id] = reciprocal_rank(case.judged.relevant, ranked)
    return np.array([by_recall[recall_id] for recall_id in sorted(by_recall)])
