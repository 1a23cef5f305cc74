"""A person at the terminal: what they are asked, and Ctrl-C."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from priming.cli.output import clean
from priming.text.quotation import terminal_text

if TYPE_CHECKING:
    from types import FrameType

    from priming_loop.session import Session, Wait

_ENDING_SIGNALS = (signal.SIGTERM, signal.SIGHUP)
_RESUME = "finished work is kept: 'priming loop resume' continues"


class Terminal:
    """A person at the terminal: questions on stderr, answers from stdin, and Ctrl-C.

    The first Ctrl-C finishes the step, the second ends it; during a question the first ends it.
    """

    def __init__(self) -> None:
        self._stop_requested = False
        self._is_asking = False

    def stop(self) -> bool:
        """Tell whether to stop after this step."""
        return self._stop_requested

    def interrupt(self, _signal: int, _frame: FrameType | None) -> None:
        """Handle Ctrl-C."""
        if self._stop_requested or self._is_asking:
            raise KeyboardInterrupt(f"interrupted; {_RESUME}")
        self._stop_requested = True
        typer.echo("stopping after this step; Ctrl-C again stops at once", err=True)

    @staticmethod
    def end(number: int, _frame: FrameType | None) -> None:
        """Handle a signal that ends the process: processes it started end too."""
        raise KeyboardInterrupt(f"ended by {signal.Signals(number).name}; {_RESUME}")

    def answer(self, _session: Session, question: str) -> str | None:
        """Return their answer; None at the end of the input."""
        return self._ask(f"{clean(question)}\n> ") or None

    def allow(self, _session: Session, wait: Wait) -> bool:
        """Tell whether they say yes."""
        question = (
            "Act on this plan?" if wait.what == "approval" else "Allow this for the rest of the session?"
        )
        return self._ask(f"{terminal_text(wait.about)}\n{question} [y/N] ").casefold() in ("y", "yes")

    def _ask(self, text: str) -> str:
        typer.echo(text, nl=False, err=True)
        self._is_asking = True
        try:
            return sys.stdin.readline().strip()
        finally:
            self._is_asking = False


@contextmanager
def interrupts() -> Iterator[Terminal]:
    """Handle signals while the block runs."""
    terminal = Terminal()
    handlers = {**dict.fromkeys(_ENDING_SIGNALS, terminal.end), signal.SIGINT: terminal.interrupt}
    # Ignored signals stay ignored: nohup and the background of a shell rely on it.
    before = {
        number: signal.signal(number, function)
        for number, function in handlers.items()
        if signal.getsignal(number) != signal.SIG_IGN
    }
    try:
        yield terminal
    finally:
        for number, function in before.items():
            signal.signal(number, function)
