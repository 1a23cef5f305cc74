"""The files of a store of floop, and the edges between its nodes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from priming.config.params.laws import PLASTICITY
from priming.config.values import dataclass
from priming.config.words import LEARNED_FROM, UNDIRECTED
from priming.errors import ParamError
from priming.transfer.importers import Skipped, Tie
from priming.transfer.reading import id_of, is_within, json_lines, label, list_of, time_of, title

NODES, EDGES, CORRECTIONS = "nodes.jsonl", "edges.jsonl", "corrections.jsonl"
EdgeKey = tuple[str, str, str]
"""Source, target and relation of an edge."""
EDGES_OF_NODES = ("requires", "overrides", "conflicts")
_WEIGHT = 1.0
"""floop's default for an edge without weight."""


@dataclass(slots=True)
class FloopStore:
    """A folder of floop, the ids in it, and the edges that only its nodes state."""

    folder: Path
    source: str
    lines: dict[str, int] = field(default_factory=dict)
    corrections: set[str] = field(default_factory=set)
    pending: dict[EdgeKey, float] = field(default_factory=dict)
    skipped: dict[str, Skipped] = field(default_factory=dict)
    """By place, the lines that cannot be read."""


def find_folder(path: Path) -> Path:
    """Return the folder with the files of a store: ``path``, or the ``.floop`` in it."""
    for folder in (path / ".floop", path):
        if any((folder / name).is_file() for name in (NODES, CORRECTIONS)):
            for name in (NODES, EDGES, CORRECTIONS):
                if not is_within(os.path.realpath(folder / name), os.path.realpath(path)):
                    rule = "is a symbolic link out of the folder, which is not followed"
                    raise ParamError("path", str(folder / name), f"{rule}: import the folder that it names")
            return folder
    rule = f"must be the folder of a floop store: there is no {NODES} in it or in its .floop"
    if any((folder / "floop.db").is_file() for folder in (path / ".floop", path)):
        rule += "; floop writes it beside its floop.db when it syncs"
    raise ParamError.of([f"path = {str(path)!r}: {rule}"])


def store_objects(store: FloopStore, name: str) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Yield the objects of a file of the store, with their lines and places; a missing file has none, as in floop."""
    if (store.folder / name).is_file():
        for number, (where, value) in enumerate(json_lines(store.folder / name)):
            if isinstance(value, dict):
                yield number, where, value
            elif isinstance(value, Skipped):
                store.skipped[where] = value
            else:
                store.skipped[where] = Skipped(ParamError(where, value, "must be a JSON object on one line"))


def scan(store: FloopStore) -> None:
    """Record the last line of each node, and the ids of the corrections among the nodes."""
    for number, where, node in store_objects(store, NODES):
        try:
            store.lines[id_of(node, where)] = number
        except ParamError as error:
            store.skipped[where] = Skipped(error)
        else:
            if node.get("kind") == "correction":
                store.corrections.add(node["id"])


def note_edges(
    own: str, content: Mapping[str, Any], provenance: Mapping[str, Any], store: FloopStore, where: str
) -> None:
    """Note the edges that a node states itself; ``edges`` uses those that are missing from the file of edges."""
    for relation in EDGES_OF_NODES:
        for other in list_of(content, relation, where):
            store.pending[_edge_key(own, str(other), relation)] = _WEIGHT
    for other in list_of(content, "similar_to", where):
        if isinstance(other, dict):
            key = _edge_key(own, id_of(other, f"{where}: similar_to"), "similar-to")
            store.pending[key] = _weight(other.get("score"), f"{where}: similar_to.score")
    if (correction := str(provenance.get("correction_id"))) in store.corrections:
        store.pending[own, correction, LEARNED_FROM] = PLASTICITY.start


def edges(store: FloopStore) -> Iterator[Tie]:
    """Yield the edges of the file, then those that only nodes state.

    An edge that is stored both ways is one: with the greater weight, the earlier creation and the later activation.
    """
    undirected: dict[EdgeKey, dict[str, Tie]] = {}
    for _, where, edge in store_objects(store, EDGES):
        try:
            tie = _edge(edge, where)
        except ParamError as error:
            store.skipped[where] = Skipped(error)
            continue
        key = _edge_key(edge["source"], edge["target"], tie.relation)
        store.pending.pop(key, None)
        if tie.relation in UNDIRECTED:
            undirected.setdefault(key, {})[edge["source"]] = tie
        else:
            yield tie
    for ways in undirected.values():
        yield _combined([*ways.values()])
    for key, weight in store.pending.items():
        yield _tie(key, weight)


def _edge(edge: Mapping[str, Any], where: str) -> Tie:
    relation = title(id_of(edge, where, "kind"))
    ends = id_of(edge, where, "source"), id_of(edge, where, "target")
    return replace(
        _tie(_edge_key(*ends, relation or "similar-to"), _weight(edge.get("weight"), f"{where}: weight")),
        created_at=_iso(edge, "created_at", where),
        last_activated=_iso(edge, "last_activated", where),
    )


def _combined(ties: Sequence[Tie]) -> Tie:
    """Return the tie that stands for the two ways of an edge."""
    times = [tie.created_at for tie in ties if tie.created_at is not None]
    active = [tie.last_activated for tie in ties if tie.last_activated is not None]
    return replace(
        ties[0],
        weight=max(tie.weight for tie in ties),
        created_at=min(times, key=datetime.fromisoformat, default=None),
        last_activated=max(active, key=datetime.fromisoformat, default=None),
    )


def _iso(edge: Mapping[str, Any], name: str, where: str) -> str | None:
    at = time_of(edge.get(name), f"{where}: {name}")
    return None if at is None else at.isoformat()


def _edge_key(source: str, target: str, relation: str) -> EdgeKey:
    """Return the key of an edge; the ends of an undirected one are sorted."""
    source, target = sorted((source, target)) if relation in UNDIRECTED else (source, target)
    return source, target, relation


def _tie(key: EdgeKey, weight: float) -> Tie:
    source, target, relation = key
    return Tie(label(source), label(target), relation, weight, fresh=True)


def _weight(value: Any, where: str) -> float:
    weight = value or _WEIGHT
    if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not 0 <= weight <= 1:
        raise ParamError(where, value, "must be a number in [0, 1]")
    return float(weight)
