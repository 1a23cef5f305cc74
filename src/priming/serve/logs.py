"""The server's log: one JSON object a line, on standard error, without a word of what is remembered."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import TextIO

LOG = logging.getLogger("priming.serve")
ENGINE = "priming.engine"
_OTHERS = ("uvicorn", "asyncio", "mcp")


class Lines(logging.Formatter):
    """A record as one line. Of an exception only its class and place: its message may quote what is remembered."""

    def format(self, record: logging.LogRecord) -> str:
        """One JSON object."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {"time": at, "level": record.levelname.lower(), "logger": record.name}
        # What others log may go on, in later lines, with the message of an exception.
        line["event"] = next(iter(record.getMessage().splitlines()), "")
        line |= getattr(record, "fields", {})
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__
            frames = traceback.extract_tb(record.exc_info[2])
            line["at"] = " < ".join(f"{one.name}:{one.lineno}" for one in reversed(frames[-8:]))
        return json.dumps(line, default=str)


def write(level: int, event: str, *, error: BaseException | None = None, **fields: object) -> None:
    """Log an event with its fields; those that are None are left out."""
    given = {name: value for name, value in fields.items() if value is not None}
    LOG.log(level, event, extra={"fields": given}, exc_info=error)


def begin(stream: TextIO | None = None, *, level: str = "info") -> None:
    """Write the log of this process's server to ``stream``, by default standard error, from ``level`` on.

    At debug the engine tells too, and names what is remembered.
    """
    own = logging.getLevelNamesMapping()[level.upper()]
    others = max(logging.WARNING, own)
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(Lines())
    for name in (LOG.name, ENGINE, *_OTHERS):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(others if name in _OTHERS else own)
