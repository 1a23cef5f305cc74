"""What the command line logs, for those who ask for it: on stderr, one line an event."""

from __future__ import annotations

import logging
import sys

NAME = "priming"


def begin(level: str) -> None:
    """Log from this level on. Only debug has anything to tell of a command; servers begin a log of their own."""
    logger = logging.getLogger(NAME)
    logger.setLevel(level.upper())
    if level == "debug" and not any(isinstance(one, _Screen) for one in logger.handlers):
        logger.addHandler(_Screen())


class _Screen(logging.Handler):
    """Writes to what stderr is at the time."""

    def emit(self, record: logging.LogRecord) -> None:
        """One line, which cannot steer a terminal."""
        from priming.cli.screen import clean

        text = " ".join(record.getMessage().split())
        sys.stderr.write(f"{record.levelname.lower()}: {clean(text)}\n")
