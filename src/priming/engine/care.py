"""What a namespace holds, and what is wrong with it."""

from __future__ import annotations

from priming.engine.opened import Opened
from priming.types import Finding, Stats


def stats(opened: Opened) -> Stats:
    """Counts by kind, status and relation."""
    opened.readable()
    counts = opened.store.counts(opened.namespace)
    return Stats(
        namespace=opened.namespace,
        memories=counts.memories,
        links=counts.links,
        operations=counts.operations,
        traces=counts.traces,
        bytes=counts.bytes,
        generation=counts.generation,
    )


def validate(opened: Opened) -> list[Finding]:
    """The store's own findings, and memories that the present embedder never saw."""
    opened.readable()
    found = opened.store.check(opened.namespace)
    if opened.working(opened.now()).missing_vectors:
        found.append(
            Finding(
                "missing-vectors",
                opened.namespace,
                f"memories without a vector of {opened.embedder.generation}: they are found by words alone",
                "export the namespace and import it into a new store",
            )
        )
    return found
