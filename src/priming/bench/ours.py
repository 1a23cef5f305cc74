"""Priming as a contestant: through the verbs of ``Memory``, as any program uses it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from importlib import metadata

from priming.bench.contestants import Found
from priming.bench.sets import Part
from priming.embed.protocol import Embedder, Vectors
from priming.memory import Memory
from priming.types import FixedClock, Recall

_STILL = datetime(2026, 1, 1, tzinfo=UTC)
"""Where the clock stands for memories without a date."""
_LATER = timedelta(days=1)


class Shelf:
    """The parts that were remembered, each once, for all settings that only recall differently."""

    def __init__(self, profile: str, embedder: Embedder) -> None:
        self.profile, self.embedder = profile, embedder
        self._memories: dict[str, Memory] = {}

    def memory(self, part: Part) -> Memory:
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

    def load(self, part: Part, vectors: Vectors) -> None:  # noqa: ARG002
        """Remember a part, unless the shelf holds it; its vectors are its own embedder's."""
        self._memory = self.shelf.memory(part)

    def search(self, text: str, vector: Vectors, limit: int) -> Found:  # noqa: ARG002
        """Recall, packed and with its trace kept, as any program has it."""
        assert self._memory is not None, "load comes before search"
        began = time.perf_counter()
        recalled = self._memory.recall(text, limit=limit, ablate=self.ablate)
        ms = (time.perf_counter() - began) * 1000.0
        keys, scores = [hit.memory.key for hit in recalled.hits], [hit.score for hit in recalled.hits]
        return Found(keys, ms, scores, confidence(recalled))

    def close(self) -> None:
        """The shelf stays: others may use it."""
        self._memory = None


def confidence(recalled: Recall) -> float | None:
    """How sure a recall is that there is an answer: as it says itself, else the score of its best hit."""
    stated: float | None = getattr(recalled, "confidence", None)
    return recalled.hits[0].score if stated is None and recalled.hits else stated
