"""The parameters of the law by which a task brings up files (``docs/files.md``)."""

from __future__ import annotations

from priming.config.params.checked import Checked, param
from priming.config.values import dataclass


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
    half: float = param(
        0.3,
        low=0.001,
        high=1000.0,
        source="docs/files.md",
        doc="share of the memories touching a file at which it takes half of what is passed to it",
    )
    unseen: int = param(
        100,
        low=0,
        unit="memories",
        source="docs/files.md",
        doc="memories touching other files that are added to all, so that in a small history no share is large",
    )
    decay: float = param(
        0.2,
        low=0.0,
        high=1.0,
        source="docs/files.md",
        doc="power by which a memory fades with each later memory that touches files",
    )
    named: float = param(
        1.0,
        low=0.0,
        source="docs/files.md",
        doc="activation of a file that the task names by its path or the end of it; the best vote is 1",
    )
    stem: float = param(
        0.25,
        low=0.0,
        high=1.0,
        source="docs/files.md",
        doc="share of that for a file whose name without the ending is a word of the task",
    )
    least: float = param(
        0.01,
        low=0.0,
        high=1.0,
        source="docs/files.md",
        doc="share of the best file's activation that a file needs",
    )
    together: float = param(
        0.03,
        low=0.0,
        high=0.2,
        source="docs/files.md",
        doc="share that a file passes on to one always changed with it",
    )


FILES = FileParams()
