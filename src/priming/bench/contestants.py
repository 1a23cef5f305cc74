"""What takes part in a benchmark, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from priming.bench.sets import Part
from priming.embed.protocol import Vectors


@dataclass(frozen=True, slots=True)
class Found:
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

    def load(self, part: Part, vectors: Vectors) -> None:
        """Begin a new, empty store, and remember every item of a part; ``vectors`` are its rows, in their order."""
        ...

    def search(self, text: str, vector: Vectors, limit: int) -> Found:
        """Bring up at most ``limit`` keys for a cue."""
        ...

    def close(self) -> None:
        """Let go of everything."""
        ...
