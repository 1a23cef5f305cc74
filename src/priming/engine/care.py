"""What a namespace holds, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from priming import __version__
from priming.engine.merging import RANKED, REPLACED
from priming.engine.opened import Opened
from priming.engine.rings import rings
from priming.store.rows import LinkRow
from priming.types import Finding, Stats, Status


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
        weights={one.profile: one.weights for one in opened.store.weights(opened.namespace)},
    )


def status(opened: Opened) -> Status:
    """Which Priming this is, where it works, and how much there is; an empty namespace is no error."""
    counts = opened.store.counts(opened.namespace)
    active = {kind: of.get("active", 0) for kind, of in counts.memories.items() if kind != "entity"}
    return Status(
        version=__version__,
        namespace=opened.namespace,
        profile=opened.profile.name,
        memories=sum(active.values()),
        links=sum(counts.links.values()),
        operations=counts.operations,
        generation=opened.embedder.generation,
    )


def validate(opened: Opened) -> list[Finding]:
    """The store's own findings, links that contradict each other, memories that the present embedder never saw."""
    opened.readable()
    found = opened.store.check(opened.namespace)
    for relation in (*RANKED, *REPLACED):
        links = opened.store.links(opened.namespace, relation=relation)
        found += _circles(opened, relation, links)
        if relation in REPLACED:
            found += _replaced_but_active(opened, relation, links)
    if opened.working(opened.now()).missing_vectors:
        found.append(
            Finding(
                "missing-vectors",
                opened.namespace,
                f"memories without a vector of {opened.embedder.generation}: they are found by words alone",
                "make them: priming reembed",
            )
        )
    return found


RULES = {
    "circle": (
        "links of the relation lead in a circle, so that none of these memories comes first",
        "undo the operation that made one of the links: priming log --key KEY names it",
    ),
    "replaced-but-active": (
        "the memory is active, and a link says that another took its place",
        "deprecate or merge it, or undo the operation that made the link",
    ),
}
"""What is wrong with how memories are linked, and what mends it, by rule."""


def _circles(opened: Opened, relation: str, links: Sequence[LinkRow]) -> Iterator[Finding]:
    names = opened.store.names(opened.namespace, {end for one in links for end in (one.source, one.target)})
    for ring in rings((names[one.source], names[one.target]) for one in links):
        way = " → ".join((*ring, ring[0]))
        yield Finding("circle", f"{relation}: {way}", *RULES["circle"])


def _replaced_but_active(opened: Opened, relation: str, links: Sequence[LinkRow]) -> Iterator[Finding]:
    sources = opened.store.memories(opened.namespace, {one.source for one in links})
    active = {one.id: one.key for one in sources if one.status == "active"}
    names = opened.store.names(opened.namespace, {one.target for one in links if one.source in active})
    for one in links:
        if one.source in active and one.source != one.target:
            subject = f"{active[one.source]} ─{relation}→ {names[one.target]}"
            yield Finding("replaced-but-active", subject, *RULES["replaced-but-active"])
