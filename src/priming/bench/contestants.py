"""What takes part in a benchmark, and what it answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib import metadata
from typing import Protocol

import numpy as np

from priming.bench.sets import BenchPart
from priming.config.params.bench import BENCH, BenchParams
from priming.core.arguments.arrays import Floats
from priming.embedding.protocol import Embedder, Vectors
from priming.errors import ParamError
from priming.index.lexicon import Lexicon
from priming.memory import Memory
from priming.recall.fusion import best_rows
from priming.results import Recall
from priming.text.tokens import terms
from priming.types import FixedClock


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What one search brought: keys best first, how sure it is of each where it says so, and the time it took.

    ``confidence`` says how sure it is that there is an answer at all; None if it does not say.
    """

    keys: Sequence[str]
    ms: float
    scores: Sequence[float] | None = None
    confidence: float | None = None


class Contestant(Protocol):
    """Something that remembers a part and answers its questions."""

    @property
    def name(self) -> str:
        """What stands in the table."""
        ...

    @property
    def what(self) -> str:
        """The system and how it is set up, in one sentence."""
        ...

    @property
    def versions(self) -> Mapping[str, str]:
        """The packages that it is made of."""
        ...

    @property
    def vectors(self) -> bool:
        """Whether it uses the vectors that it is handed: then the time of making the cue's counts too."""
        ...

    def begin(self) -> None:
        """Get ready; nothing of this is timed."""
        ...

    def load(self, part: BenchPart, vectors: Vectors) -> None:
        """Begin a new, empty store, and remember every item of a part; ``vectors`` are its rows, in their order."""
        ...

    def search(self, text: str, vector: Vectors, limit: int) -> SearchResult:
        """Bring up at most ``limit`` keys for a cue."""
        ...

    def close(self) -> None:
        """Let go of everything."""
        ...


_STILL = datetime(2026, 1, 1, tzinfo=UTC)
"""Where the clock stands for memories without a date."""
_LATER = timedelta(days=1)


class Shelf:
    """The parts that were remembered, each once, for all settings that only recall differently."""

    def __init__(self, profile: str, embedder: Embedder) -> None:
        self.profile, self.embedder = profile, embedder
        self._memories: dict[str, Memory] = {}

    def memory(self, part: BenchPart) -> Memory:
        """The memory that holds a part. Its clock stands a day after the part's last memory."""
        if part.name not in self._memories:
            last = max((item.occurred_at for item in part.items if item.occurred_at), default=_STILL)
            memory = Memory.open(
                "sqlite://", profile=self.profile, embedder=self.embedder, clock=FixedClock(last + _LATER)
            )
            memory.remember_many([item.arguments() for item in part.items])
            self._memories[part.name] = memory
        return self._memories[part.name]

    def close(self) -> None:
        """Close every memory."""
        for memory in self._memories.values():
            memory.close()
        self._memories.clear()


class Priming:
    """A profile with some terms of its recall switched off."""

    vectors = False

    def __init__(self, shelf: Shelf, ablate: Sequence[str] = ()) -> None:
        self.shelf, self.ablate = shelf, tuple(ablate)
        self._memory: Memory | None = None

    @property
    def name(self) -> str:
        """The profile, and what it goes without."""
        off = ", ".join(self.ablate)
        return f"{self.shelf.profile} without {off}" if off else self.shelf.profile

    @property
    def what(self) -> str:
        """In one sentence."""
        return f"Priming, profile {self.shelf.profile}, vectors {self.shelf.embedder.generation}"

    @property
    def versions(self) -> Mapping[str, str]:
        """Its own version."""
        return {"priming": metadata.version("priming")}

    def begin(self) -> None:
        """Nothing to be done."""

    def load(self, part: BenchPart, vectors: Vectors) -> None:  # noqa: ARG002
        """Remember a part, unless the shelf holds it; its vectors are its own embedder's."""
        self._memory = self.shelf.memory(part)

    def search(self, text: str, vector: Vectors, limit: int) -> SearchResult:  # noqa: ARG002
        """Recall, packed and with its trace kept, as any program has it."""
        assert self._memory is not None, "load comes before search"
        began = time.perf_counter()
        recalled = self._memory.recall(text, limit=limit, ablate=self.ablate)
        ms = (time.perf_counter() - began) * 1000.0
        keys, scores = [hit.memory.key for hit in recalled.hits], [hit.score for hit in recalled.hits]
        return SearchResult(keys, ms, scores, confidence(recalled))

    def close(self) -> None:
        """The shelf stays: others may use it."""
        self._memory = None


def confidence(recalled: Recall) -> float | None:
    """How sure a recall is that there is an answer: as it says itself, else the score of its best hit."""
    stated: float | None = getattr(recalled, "confidence", None)
    return recalled.hits[0].score if stated is None and recalled.hits else stated


class Plain:
    """One baseline: terms of title and text, unit vectors, and a way to make one score of the two."""

    def __init__(self, name: str, params: BenchParams = BENCH) -> None:
        if name not in _SCORES:
            raise ParamError("baseline", name, f"must be one of {', '.join(BASELINES)}")
        self._how, self.name, self.params = name, f"plain {name}", params
        self._keys: list[str] = []
        self._lexicon, self._vectors = Lexicon(), np.zeros((0, 0), np.float32)

    @property
    def what(self) -> str:
        """In one sentence."""
        return _SAID[self._how].format(p=self.params)

    @property
    def versions(self) -> Mapping[str, str]:
        """What it is computed with."""
        return {"numpy": metadata.version("numpy")}

    @property
    def vectors(self) -> bool:
        """All but BM25 need the cue's."""
        return self._how != "bm25"

    def begin(self) -> None:
        """Nothing to be done."""

    def load(self, part: BenchPart, vectors: Vectors) -> None:
        """Index the terms; keep the vectors."""
        self._lexicon, self._vectors = Lexicon(), vectors
        for item in part.items:
            self._lexicon.append(terms(item.title or ""), terms(item.text))
        self._keys = [item.key for item in part.items]

    def search(self, text: str, vector: Vectors, limit: int) -> SearchResult:
        """Score every memory; what has no score is not brought up."""
        began = time.perf_counter()
        scores = _SCORES[self._how](self, text, vector)
        rows = best_rows(scores, limit)
        ms = (time.perf_counter() - began) * 1000.0
        return SearchResult([self._keys[row] for row in rows], ms, scores[rows].tolist())

    def close(self) -> None:
        """Nothing is held but memory."""

    def _bm25(self, text: str) -> Floats:
        codes = [self._lexicon.code(term) for term in dict.fromkeys(terms(text))]
        return self._lexicon.score([code for code in codes if code is not None])

    def _cosine(self, vector: Vectors) -> Floats:
        return np.maximum(np.asarray(self._vectors @ vector, np.float64), 0.0)

    def _fused(self, text: str, vector: Vectors) -> Floats:
        return self._inverse_ranks(self._bm25(text)) + self._inverse_ranks(self._cosine(vector))

    def _inverse_ranks(self, scores: Floats) -> Floats:
        rows = best_rows(scores, len(scores))
        worth = np.zeros(len(scores))
        worth[rows] = 1.0 / (self.params.fusion_k + 1.0 + np.arange(len(rows)))
        return worth

    def _hybrid(self, text: str, vector: Vectors) -> Floats:
        share = self.params.hybrid
        return share * _unit_range(self._bm25(text)) + (1.0 - share) * _unit_range(self._cosine(vector))


def _unit_range(scores: Floats) -> Floats:
    """Scores moved and stretched to [0, 1]; equal ones to 0."""
    low, high = float(scores.min(initial=0.0)), float(scores.max(initial=0.0))
    return (scores - low) / (high - low) if high > low else np.zeros(len(scores))


_SCORES: Mapping[str, Callable[[Plain, str, Vectors], Floats]] = {
    "bm25": lambda plain, text, _: plain._bm25(text),
    "cosine": lambda plain, _, vector: plain._cosine(vector),
    "fusion": lambda plain, text, vector: plain._fused(text, vector),
    "hybrid": lambda plain, text, vector: plain._hybrid(text, vector),
}
_SAID = {
    "bm25": "BM25 over stems without stop words, title and text",
    "cosine": "cosine of the cue's vector and each memory's",
    "fusion": "rank fusion of BM25 and cosine, k = {p.fusion_k}",
    "hybrid": "BM25 and cosine, each scaled to [0, 1], {p.hybrid:g} of the former",
}
BASELINES = tuple(_SCORES)
"""Their names."""
