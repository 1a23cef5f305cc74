"""What a namespace holds, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from priming.config.environment import VERSION
from priming.engine.merging import RANKED, REPLACED
from priming.engine.rings import rings
from priming.namespace import Namespace
from priming.store.rows import LinkRow
from priming.types import Finding, Stats, Status


def stats(memory: Namespace) -> Stats:
    """What the namespace holds."""
    with memory.lock:
        memory.require_exists()
        counts = memory.store.counts(memory.namespace)
        weights = {row.profile: row.weights for row in memory.store.weights(memory.namespace)}
    return Stats(
        namespace=memory.namespace,
        memories=counts.memories,
        links=counts.links,
        operations=counts.operations,
        traces=counts.traces,
        bytes=counts.bytes,
        generation=counts.generation,
        weights=weights,
    )


def status(memory: Namespace) -> Status:
    """Which Priming this is, where it works, and how much there is."""
    with memory.lock:
        counts = memory.store.counts(memory.namespace)
    active = {kind: of.get("active", 0) for kind, of in counts.memories.items() if kind != "entity"}
    return Status(
        version=VERSION,
        namespace=memory.namespace,
        profile=memory.profile.name,
        memories=sum(active.values()),
        links=sum(counts.links.values()),
        operations=counts.operations,
        generation=memory.embedder.generation,
    )


def validate(memory: Namespace) -> list[Finding]:
    """What is wrong with the namespace, each with its remedy; an empty list means nothing."""
    with memory.lock:
        memory.require_exists()
        findings = memory.store.check(memory.namespace)
        for relation in (*RANKED, *REPLACED):
            links = memory.store.links(memory.namespace, relation=relation)
            findings += _circles(memory, relation, links)
            if relation in REPLACED:
                findings += _replaced_but_active(memory, relation, links)
        lacking = memory.working(memory.now()).missing_vectors
    if lacking:
        subject = f"memories without a vector of {memory.embedder.generation}: they are found by words alone"
        findings.append(Finding("missing-vectors", memory.namespace, subject, "make them: priming reembed"))
    return findings


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


def _circles(memory: Namespace, relation: str, links: Sequence[LinkRow]) -> Iterator[Finding]:
    names = memory.store.names(memory.namespace, {end for one in links for end in (one.source, one.target)})
    for ring in rings((names[one.source], names[one.target]) for one in links):
        way = " → ".join((*ring, ring[0]))
        yield Finding("circle", f"{relation}: {way}", *RULES["circle"])


def _replaced_but_active(memory: Namespace, relation: str, links: Sequence[LinkRow]) -> Iterator[Finding]:
    sources = memory.store.memories(memory.namespace, {one.source for one in links})
    active = {one.id: one.key for one in sources if one.status == "active"}
    names = memory.store.names(memory.namespace, {one.target for one in links if one.source in active})
    for one in links:
        if one.source in active and one.source != one.target:
            subject = f"{active[one.source]} ─{relation}→ {names[one.target]}"
            yield Finding("replaced-but-active", subject, *RULES["replaced-but-active"])
