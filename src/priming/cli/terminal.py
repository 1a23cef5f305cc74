"""The person at the terminal: asked on stderr, answering on stdin, and stopping a run with Ctrl-C."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from priming.cli.screen import clean

if TYPE_CHECKING:
    from types import FrameType

    from priming.loop.session import Session, Wait

_YES = ("y", "yes")
_AT_ONCE = (signal.SIGTERM, signal.SIGHUP)
_RESUME = "what was finished is kept: 'priming loop resume' goes on"


class Interrupts:
    """Ctrl-C: the first lets the step be finished, the second ends it; so does one while a question waits."""

    def __init__(self) -> None:
        self.asked = False
        self.is_asking = False

    def stop(self) -> bool:
        """Whether somebody wants to stop."""
        return self.asked

    def interrupt(self, _signal: int, _frame: FrameType | None) -> None:
        """The handler of Ctrl-C."""
        if self.asked or self.is_asking:
            raise KeyboardInterrupt(f"interrupted; {_RESUME}")
        self.asked = True
        typer.echo("stopping after this step; Ctrl-C again stops at once", err=True)

    @staticmethod
    def end(number: int, _frame: FrameType | None) -> None:
        """The handler of what ends a process politely: nothing that it started is left behind."""
        raise KeyboardInterrupt(f"ended by {signal.Signals(number).name}; {_RESUME}")


@contextmanager
def interrupts() -> Iterator[Interrupts]:
    """Handle signals so while the block runs."""
    one = Interrupts()
    handlers = {**dict.fromkeys(_AT_ONCE, one.end), signal.SIGINT: one.interrupt}
    # What is ignored stays so: nohup and the background of a shell want that.
    wanted = {number: how for number, how in handlers.items() if signal.getsignal(number) != signal.SIG_IGN}
    before = {number: signal.signal(number, how) for number, how in wanted.items()}
    try:
        yield one
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Terminal:
    """Asks the person at the terminal."""

    def __init__(self, handling: Interrupts) -> None:
        self._handling = handling

    def answer(self, _session: Session, question: str) -> str | None:
        """Their answer; the end of the input is none."""
        return self._ask(f"{clean(question)}\n> ") or None

    def allow(self, _session: Session, wait: Wait) -> bool:
        """Whether they say yes."""
        what = "Act on this plan?" if wait.what == "approval" else "This may not be taken back. Do it?"
        return self._ask(f"{clean(wait.about)}\n{what} [y/N] ").casefold() in _YES

    def _ask(self, text: str) -> str:
        typer.echo(text, nl=False, err=True)
        self._handling.is_asking = True
        try:
            return sys.stdin.readline().strip()
        finally:
            self._handling.is_asking = False
