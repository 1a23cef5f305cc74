"""What Prometheus reads of a server: figures only, no names of namespaces."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)

TYPE = CONTENT_TYPE_LATEST


class Metrics:
    """The figures of one server, in a registry of its own."""

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

    def answered(self, operation: str, status: int, seconds: float) -> None:
        """Count an answer."""
        self._requests.labels(operation, str(status)).inc()
        self._seconds.labels(operation).observe(seconds)

    def text(self) -> bytes:
        """All of them, as Prometheus reads them."""
        return generate_latest(self._registry)
