"""A part of the graph, ready to be drawn."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from priming.types import Link


@dataclass(frozen=True, slots=True)
class Node:
    """A memory as it is drawn: ``links`` counts those in the drawing, to either side."""

    key: str
    kind: str
    status: str
    gist: str
    content: str
    heading: str | None = None
    speaker: str | None = None
    session: str | None = None
    occurred_at: datetime | None = None
    uses: int = 0
    links: int = 0


@dataclass(frozen=True, slots=True)
class Drawing:
    """Memories and the links between them, most linked first.

    ``around`` is the key that it is drawn around; ``left_out`` counts the memories for which there was no room.
    """

    namespace: str
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
    left_out: int = 0
    around: str | None = None
    known_at: datetime | None = None
