"""A server's output for operators: its log, one JSON object a line, and its metrics for Prometheus."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TextIO

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)

LOG = logging.getLogger("priming_server")
ENGINE = "priming.recall"
METRICS_TYPE = CONTENT_TYPE_LATEST
_OTHERS = ("uvicorn", "asyncio", "mcp")


class JsonFormatter(logging.Formatter):
    """A record as one line. An exception is logged by class and place: its message may quote memories."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one JSON object."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {"time": at, "level": record.levelname.lower(), "logger": record.name}
        # The log of another library may go on, in later lines, with the message of an exception.
        line["event"] = next(iter(record.getMessage().splitlines()), "")
        line |= getattr(record, "fields", {})
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__
            frames = traceback.extract_tb(record.exc_info[2])
            line["at"] = " < ".join(f"{frame.name}:{frame.lineno}" for frame in reversed(frames[-8:]))
        return json.dumps(line, default=str)


def write(level: int, event: str, *, error: BaseException | None = None, **fields: object) -> None:
    """Log an event with its fields; those that are None are left out."""
    values = {name: value for name, value in fields.items() if value is not None}
    LOG.log(level, event, extra={"fields": values}, exc_info=error)


def begin(stream: TextIO | None = None, *, level: str = "info") -> None:
    """Write the log of this process's server to ``stream``, by default standard error, from ``level`` on.

    At debug the engine logs too, and names what is remembered.
    """
    own = logging.getLevelNamesMapping()[level.upper()]
    others = max(logging.WARNING, own)
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter())
    for name in (LOG.name, ENGINE, *_OTHERS):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(others if name in _OTHERS else own)


class Metrics:
    """The metrics of one server, in a registry of its own, without the names of namespaces."""

    def __init__(self, *, namespaces: Callable[[], float], jobs: Callable[[], float]) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "priming_requests",
            "Requests by operation and status",
            ("operation", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "priming_request_seconds", "How long they took", ("operation",), registry=self._registry
        )
        self.in_flight = Gauge("priming_in_flight", "Requests being answered", registry=self._registry)
        for name, about, count in (
            ("priming_open_namespaces", "Namespaces that are open", namespaces),
            ("priming_jobs", "Jobs at work or waiting", jobs),
        ):
            Gauge(name, about, registry=self._registry).set_function(count)

    def answered(self, operation: str, status: int, seconds: float, level: int, **fields: Any) -> None:
        """Count and log an answer."""
        self._requests.labels(operation, str(status)).inc()
        self._seconds.labels(operation).observe(seconds)
        ms = round(seconds * 1000, 2)
        write(level, "request", operation=operation, status=status, ms=ms, **fields)

    def text(self) -> bytes:
        """Return all of them, as Prometheus reads them."""
        return generate_latest(self._registry)
