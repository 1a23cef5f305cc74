"""The parameters of the law by which a task brings up files (``docs/files.md``)."""

from __future__ import annotations

from dataclasses import dataclass

from priming.config.params.checked import Checked, param


@dataclass(frozen=True, slots=True)
class FileParams(Checked):
    """How activation is released from memories to the files that they touch."""

    anchors: int = param(
        200,
        low=1,
        unit="memories",
        source="docs/files.md",
        doc="number of best memories that release activation",
    )
    sharpness: float = param(
        3.0, low=0.0, source="docs/files.md", doc="power of a memory's match, relative to the best"
    )
    fan: float = param(
        0.5,
        low=0.0,
        high=1.0,
        source="docs/files.md",
        doc="power of the number of files over which a memory divides its activation",
    )
    decay: float = param(
        0.2,
        low=0.0,
        high=1.0,
        source="docs/files.md",
        doc="power by which a memory fades with each later memory that touches files",
    )
    words: float = param(
        0.2, low=0.0, source="docs/files.md", doc="weight of the words that a path shares with the task"
    )
    stem: float = param(
        0.25,
        low=0.0,
        source="docs/files.md",
        doc="weight of a word of the task that is a file's name without its ending; the whole name weighs 1",
    )
    together: float = param(
        0.03,
        low=0.0,
        high=0.2,
        source="docs/files.md",
        doc="share that a file passes on to one always changed with it",
    )


FILES = FileParams()
