"""The contestants of a benchmark: Priming under a profile, and baselines."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from importlib import metadata
from typing import Protocol

import numpy as np

from priming.config.values import dataclass
from priming.core.arguments.arrays import Floats, best_rows
from priming.embedding.protocol import Embedder, Vectors
from priming.errors import ParamError
from priming.index.lexicon import Lexicon
from priming.memory import Memory
from priming.results import Recall
from priming.text.tokens import language_of, terms
from priming.types import FixedClock
from priming_lab.sets import BenchPart


@dataclass(frozen=True, slots=True)
class BenchParams:
    """How a benchmark asks, and how patient it is with rivals."""

    hits: int = 20
    """Memories that each question asks for."""
    deep: int = 200
    """Memories that each question asks for if tokens are measured."""
    budgets: tuple[int, ...] = (100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800)
    """Budgets at which quality by tokens is measured."""
    fusion_k: int = 60
    """K of rank fusion, 1/(k + rank)."""
    hybrid: float = 0.5
    """Share of BM25 in the min-max hybrid."""
    seed: int = 7
    """Seed of intervals and of shuffled gold."""
    install_seconds: float = 1800.0
    """Time limit for installing a rival, in seconds."""
    rival_seconds: float = 120.0
    """Time limit for a rival to load and answer a set, in seconds; beyond it, only the questions so far count."""
    hello_seconds: float = 300.0
    """Time limit for starting a rival, in seconds."""
    load_seconds: float = 1200.0
    """Time limit for loading one part into a rival, in seconds."""
    search_seconds: float = 120.0
    """Time limit for a rival's search, in seconds."""
    close_seconds: float = 5.0
    """Time limit for a rival to exit, in seconds."""
    shown_bytes: int = 120
    """Maximum length of the quotation from a line that is not an answer, in bytes."""
    tail_lines: int = 12
    """Lines of a rival's stderr that its error quotes."""


BENCH = BenchParams()


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The result of one search: keys, best first, its duration, and scores where the contestant reports them.

    ``confidence`` is the contestant's confidence that there is an answer; None if it reports none.
    """

    keys: Sequence[str]
    ms: float
    scores: Sequence[float] | None = None
    confidence: float | None = None


class Contestant(Protocol):
    """A system that indexes a part and answers its questions."""

    name: str
    """The name of its row in the tables."""
    what: str
    """The system and its configuration, in one sentence."""
    versions: Mapping[str, str]
    """The versions of the packages that it uses."""
    vectors: bool
    """Whether it uses the given vectors; the time to embed the cue then counts as its own."""

    def begin(self) -> None:
        """Prepare; this is not timed."""
        ...

    def load(self, part: BenchPart, vectors: Vectors) -> None:
        """Store every item of a part in a new, empty store; ``vectors`` has one row for each item, in order."""
        ...

    def search(self, text: str, vector: Vectors, limit: int) -> SearchResult:
        """Return at most ``limit`` keys for a cue."""
        ...

    def close(self) -> None:
        """Release all resources."""
        ...


_ENGLISH = "english"
_STILL = datetime(2026, 1, 1, tzinfo=UTC)
"""Where the clock stands for memories without a date."""
_LATER = timedelta(days=1)


class Shelf:
    """Parts that are stored once and shared by all contestants that differ only in recall."""

    def __init__(self, profile: str, embedder: Embedder) -> None:
        self.profile, self.embedder = profile, embedder
        self._memories: dict[str, Memory] = {}

    def memory(self, part: BenchPart) -> Memory:
        """Return the store of a part. Its clock is set to a day after the part's last memory."""
        if part.name not in self._memories:
            last = max((item.occurred_at for item in part.items if item.occurred_at), default=_STILL)
            memory = Memory.open(
                "sqlite://", profile=self.profile, embedder=self.embedder, clock=FixedClock(last + _LATER)
            )
            memory.remember_many([item.arguments() for item in part.items])
            memory.reembed()  # vectors that were to follow are there before the first question
            self._memories[part.name] = memory
        return self._memories[part.name]

    def close(self) -> None:
        """Close every memory."""
        for memory in self._memories.values():
            memory.close()
        self._memories.clear()


class Priming:
    """A profile, with some terms of its recall switched off if wanted."""

    vectors = False

    def __init__(self, shelf: Shelf, ablate: Sequence[str] = ()) -> None:
        self.shelf, self.ablate = shelf, tuple(ablate)
        self.name = f"{shelf.profile} without {', '.join(ablate)}" if ablate else shelf.profile
        self.what = f"Priming, profile {shelf.profile}, vectors {shelf.embedder.generation}"
        self.versions: Mapping[str, str] = {"priming": metadata.version("priming")}
        self._memory: Memory | None = None

    def begin(self) -> None:
        """Prepare nothing."""

    def load(self, part: BenchPart, vectors: Vectors) -> None:  # noqa: ARG002
        """Store a part unless the shelf has it; the vectors are those of Priming's embedder."""
        self._memory = self.shelf.memory(part)

    def search(self, text: str, vector: Vectors, limit: int) -> SearchResult:  # noqa: ARG002
        """Recall as any program would: packed, with a stored trace."""
        assert self._memory is not None, "load comes before search"
        began = time.perf_counter()
        recalled = self._memory.recall(text, limit=limit, ablate=self.ablate)
        ms = (time.perf_counter() - began) * 1000.0
        keys, scores = [hit.memory.key for hit in recalled.hits], [hit.score for hit in recalled.hits]
        return SearchResult(keys, ms, scores, confidence(recalled))

    def close(self) -> None:
        """Close nothing: other contestants may use the shelf."""
        self._memory = None


def confidence(recalled: Recall) -> float | None:
    """Return the confidence of a recall, or the score of its best hit where it has none."""
    stated: float | None = getattr(recalled, "confidence", None)
    return recalled.hits[0].score if stated is None and recalled.hits else stated


class Plain:
    """A baseline: terms of title and text, unit vectors, and a rule that combines the two scores.

    Texts are stemmed by their own language, and cues that do not tell theirs by that of most texts, as in recall.
    """

    def __init__(self, name: str, params: BenchParams = BENCH) -> None:
        if name not in _SCORES:
            raise ParamError("baseline", name, f"must be one of {', '.join(BASELINES)}")
        self._how, self.name, self.params = name, f"plain {name}", params
        self.what = _SAID[name].format(p=params)
        self.versions: Mapping[str, str] = {"numpy": metadata.version("numpy")}
        self.vectors = name != "bm25"
        self._keys: list[str] = []
        self._lexicon, self._vectors = Lexicon(), np.zeros((0, 0), np.float32)
        self._language = _ENGLISH

    def begin(self) -> None:
        """Prepare nothing."""

    def load(self, part: BenchPart, vectors: Vectors) -> None:
        """Index the terms and store the vectors."""
        self._lexicon, self._vectors = Lexicon(), vectors
        languages = [language_of(f"{item.title or ''}\n{item.text}") or _ENGLISH for item in part.items]
        for item, language in zip(part.items, languages, strict=True):
            self._lexicon.append(terms(item.title or "", language), terms(item.text, language))
        self._language = max(Counter(languages).items(), key=lambda pair: pair[1], default=(_ENGLISH, 0))[0]
        self._keys = [item.key for item in part.items]

    def search(self, text: str, vector: Vectors, limit: int) -> SearchResult:
        """Score every memory and return those with a positive score."""
        began = time.perf_counter()
        scores = _SCORES[self._how](self, text, vector)
        rows = best_rows(scores, limit)
        ms = (time.perf_counter() - began) * 1000.0
        return SearchResult([self._keys[row] for row in rows], ms, scores[rows].tolist())

    def close(self) -> None:
        """Release nothing."""

    def _bm25(self, text: str) -> Floats:
        language = language_of(text) or self._language
        codes = [self._lexicon.code(term) for term in dict.fromkeys(terms(text, language))]
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
    """Return scores scaled linearly to [0, 1]; equal scores become 0."""
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
