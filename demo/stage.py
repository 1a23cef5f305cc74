"""How the scenes of the demo are printed: a heading, the command with its time, hits with their paths, remarks."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from priming.results import Hit, Step

T = TypeVar("T")
INDENT = 4
WIDTH = 100
_SECOND = 1.0


@dataclass(slots=True)
class Stage:
    """Where the scenes are played."""

    console: Console
    scenes: int = 0

    def __post_init__(self) -> None:
        self.console.width = min(self.console.width, WIDTH)

    def title(self, text: str) -> None:
        """A line between the parts of the demo."""
        self.console.print()
        self.console.print(Rule(Text(text, "bold"), align="left"))

    def scene(self, text: str) -> None:
        """Begin a scene."""
        self.scenes += 1
        self.title(f"{self.scenes}. {text}")

    def say(self, text: str, style: str = "") -> None:
        """A remark."""
        self.console.print(Text(text, style))

    def command(self, line: str, work: Callable[[], T]) -> T:
        """Do what a command does, and print the command with the time that it took."""
        began = time.perf_counter()
        result = work()
        took = seconds(time.perf_counter() - began)
        room = self.console.width - len(took) - 2
        self.console.print(Text.assemble((f"$ {line}".ljust(room), "bold"), (f"  {took}", "dim")))
        return result

    def hit(self, rank: int, hit: Hit, note: str = "") -> None:
        """A hit: rank, who said it when, its text, and the path to it."""
        record = hit.memory
        when = f"{record.occurred_at:%d %b}" if record.occurred_at else ""
        about = ", ".join(part for part in (record.speaker, when) if part)
        self.console.print(
            Text.assemble(
                (f"{rank:2}  ", "bold"), (record.key, "cyan"), (f"  {about}", "dim"), (f"  {note}", "red")
            )
        )
        self.inside(" ".join(record.content.split()))
        if hit.path:
            self.inside(route(hit.path), "green")

    def inside(self, text: str, style: str = "") -> None:
        """A line that belongs to the one above it."""
        self.console.print(Padding(Text(text, style), (0, 0, 0, INDENT), expand=False))


def route(path: Sequence[Step]) -> str:
    """A path in the direction in which activation moved."""
    return path[0].source + "".join(f" ─{step.relation}→ {step.target}" for step in path)


def seconds(took: float) -> str:
    """A duration, in the unit that suits it."""
    return f"{took:.1f} s" if took >= _SECOND else f"{1000.0 * took:.0f} ms"


def counted(count: int, noun: str) -> str:
    """A number with its noun."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
