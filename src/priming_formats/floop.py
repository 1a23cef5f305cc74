"""Stores of floop (github.com/nvandessel/floop), a memory for what coding agents learn from corrections.

A store is a folder, ``.floop`` in a project or in the home folder, with JSON Lines beside its database:

- ``nodes.jsonl``: objects of ``id``, ``kind``, ``content`` and ``metadata``. The kind of a behaviour is ``behavior``,
  or ``forgotten-``, ``deprecated-`` or ``merged-behavior`` after it was curated; there are also ``correction`` and
  ``context-snapshot``. In ``content`` stand ``name``, ``kind`` (directive, constraint, preference, procedure; later
  also workflow and episodic), ``when``, ``provenance`` (``source_type`` is authored, learned, imported or
  consolidated), lists of other ids, and ``content`` again with ``canonical``, ``summary``, ``expanded``, ``tags`` and
  ``structured``. In ``metadata`` stand ``confidence`` (0.6 if it is missing), ``priority`` (any whole number),
  ``stats`` (``times_activated``, ``times_followed``, ``times_confirmed``, ``times_overridden``, ``last_activated``),
  ``scope``, and who curated it when and why. Of lines with the same id the last counts. Early stores have
  ``provenance`` with a ``created_at``; later ones leave it out, and stamp that of ``stats`` anew now and then. A
  behaviour without it dates from the earliest time in its ``stats``.
- ``edges.jsonl``: ``source``, ``target``, ``kind``, ``weight`` in (0, 1] (1 where it is missing or 0),
  ``created_at``, ``last_activated`` (null before the first time). Likeness is mostly stored twice, once each way. An
  edge may end in another store's node.
- ``corrections.jsonl``: ``agent_action``, ``corrected_action``, ``human_response``, ``timestamp``, ``context`` and
  ``conversation_id`` of what was corrected. A behaviour names its correction in ``provenance.correction_id``; older
  ones are often missing from the file.
- ``when`` maps fields of the context to a value, a list of which any will do, or a glob pattern; a field goes by
  several names (``file_path`` and ``file.path``, ``env`` and ``environment``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from priming.config.words import RULES
from priming.errors import ParamError
from priming.transfer.importers import Entry, Format, Item
from priming.transfer.reading import (
    checked_entry,
    clean_text,
    digest_of,
    id_of,
    label,
    part_of,
    skipping,
    time_of,
    title,
)
from priming.transfer.state import ImportedState
from priming_formats.floop_store import (
    CORRECTIONS,
    EDGES,
    EDGES_OF_NODES,
    NODES,
    FloopStore,
    edges,
    find_folder,
    note_edges,
    scan,
    store_objects,
)

_STATUSES = {
    "behavior": "active",
    "forgotten-behavior": "forgotten",
    "deprecated-behavior": "deprecated",
    "merged-behavior": "merged",
}
_PREDICATES = {
    "file_path": "file",
    "file.path": "file",
    "file_language": "language",
    "file.language": "language",
    "file.ext": "file_ext",
    "ext": "file_ext",
    "env": "environment",
}
_TRUST = {"authored": "user", "learned": "agent", "consolidated": "agent"}
_PLACED = ("content", "when", "similar_to", *EDGES_OF_NODES)
"""Fields of a behaviour that are converted; the others are kept as metadata."""
_TIMES = ("created_at", "updated_at", "last_activated", "last_confirmed")
"""The times among a behaviour's counts."""
_CONFIDENCE = 0.6
"""floop's default for a behaviour without confidence."""


def read(path: Path) -> Iterator[Item]:
    """Read a store: behaviours with their state, corrections, and the edges between them.

    ``path`` is the ``.floop`` folder or its parent. A line that cannot be read is skipped.
    """
    folder = find_folder(path)
    store = FloopStore(folder, label(f"floop:{folder.absolute()}"))
    scan(store)
    for _, where, value in store_objects(store, CORRECTIONS):
        yield from skipping(_lone_correction(value, store, where))
    for number, where, node in store_objects(store, NODES):
        if store.lines.get(node.get("id", "")) == number:
            yield from skipping(_node(node, store, where))
    yield from edges(store)
    yield from store.skipped.values()


def _node(node: Mapping[str, Any], store: FloopStore, where: str) -> Iterator[Item]:
    if not isinstance(node.get("kind"), (str, type(None))):
        raise ParamError(f"{where}: kind", node["kind"], "must be a text")
    if node.get("kind") in _STATUSES:
        yield from _behavior(node, store, where)
    elif node.get("kind") == "correction":
        content = part_of(node, "content", where)
        yield _correction({**part_of(node, "metadata", where), **content, "id": node["id"]}, store, where)
    else:
        yield _other(node, store, where)


def _behavior(node: Mapping[str, Any], store: FloopStore, where: str) -> Iterator[Item]:
    own, metadata = dict(part_of(node, "content", where)), dict(part_of(node, "metadata", where))
    inner = dict(part_of(own, "content", where))
    provenance = part_of(own, "provenance", where) or part_of(metadata, "provenance", where)
    kind, name = own.pop("kind", None), own.get("name")
    when, open_ends = _when(part_of(own, "when", where))
    created = time_of(provenance.get("created_at"), f"{where}: provenance.created_at")
    created = created or _earliest(part_of(metadata, "stats", where), where)
    state = _state(str(node["kind"]), metadata, where)
    summary = inner.get("summary") if inner.get("canonical") else None
    own_id = str(node["id"])
    text = inner.pop("canonical", None) or inner.get("summary") or name
    arguments = {
        "content": clean_text(text) if isinstance(text, str) else text,
        "kind": "episode" if kind == "episodic" else "behavior",
        "key": label(own_id),
        "heading": _heading(name),
        "occurred_at": created,
        "tags": _tags(inner.pop("tags", None)),
        "when": when,
        "source": _source(store, provenance),
        "trust": _TRUST.get(str(provenance.get("source_type")), "tool"),
        "gist": title(summary) if isinstance(summary, str) else None,
    }
    own_rule = kind if kind in RULES else "procedure" if kind == "workflow" else "directive"
    rule = {} if kind == "episodic" else {"rule": own_rule}
    original = {"floop_kind": kind} if rule.get("rule") != kind else {}
    rest = {name: value for name, value in own.items() if name not in _PLACED}
    metadata = _merged({**rule, **original, **open_ends}, rest, inner, metadata)
    entry = checked_entry({**arguments, "metadata": metadata}, where)
    yield Entry(entry.arguments, state)
    note_edges(own_id, own, provenance, store, where)


def _heading(name: Any) -> str | None:
    """Return a name in words; others, such as ``python/pathlib``, are identifiers and stay metadata."""
    is_title = isinstance(name, str) and " " in name.strip() and not name.startswith("learned/")
    return title(name) if is_title else None


def _source(store: FloopStore, provenance: Mapping[str, Any]) -> str:
    package = provenance.get("package")
    version = provenance.get("package_version") or ""
    return label(f"{store.source} {package} {version}".rstrip()) if package else store.source


def _tags(value: Any) -> list[str]:
    names = value if isinstance(value, list) else []
    return [tag for name in names if isinstance(name, str) and (tag := title(name))]


def _when(predicates: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return predicates under the names of a cue, and metadata with the conditions that no predicate can express."""
    when: dict[str, Any] = {}
    other: dict[str, Any] = {}
    for name, value in predicates.items():
        options = value if isinstance(value, list) else [value]
        if value in (None, "", []):
            continue
        if all(isinstance(option, (str, int, float)) for option in options):
            when.setdefault(_PREDICATES.get(name, name), value)
        else:
            other[name] = value
    ending = when.pop("file_ext", None)
    if ending is not None and "file" not in when:
        when["file"] = [f"*{suffix}" for suffix in (ending if isinstance(ending, list) else [ending])]
    elif ending is not None:
        other["file_ext"] = ending
    return when, {"floop_when": other} if other else {}


def _state(kind: str, metadata: dict[str, Any], where: str) -> ImportedState:
    """Return the state of a behaviour; its fields are removed from ``metadata``."""
    stats = dict(part_of(metadata, "stats", where))
    last = time_of(stats.pop("last_activated", None), f"{where}: stats.last_activated")
    counts = {
        name: stats.pop(f"times_{name}", None) or 0
        for name in ("activated", "followed", "confirmed", "overridden")
    }
    confidence, priority = metadata.pop("confidence", None), metadata.pop("priority", None)
    metadata["stats"] = stats
    if isinstance(confidence, float):
        confidence = min(max(confidence, 0.0), 1.0)  # floop's sums overshoot by a rounding
    try:
        return ImportedState(
            status=_STATUSES[kind],
            priority=0 if priority is None else priority,
            confidence=_CONFIDENCE if confidence is None else confidence,
            uses=counts.pop("activated"),
            last_used_at=last,
            **counts,
        )
    except ParamError as error:
        raise ParamError.of([f"{where}: {violation}" for violation in error.violations]) from None


def _earliest(stats: Mapping[str, Any], where: str) -> datetime | None:
    """Return the earliest of the times in the counts of a behaviour: it was there by then."""
    times = (time_of(stats.get(name), f"{where}: stats.{name}") for name in _TIMES)
    return min((at for at in times if at is not None), default=None)


def _merged(*parts: Mapping[str, Any]) -> dict[str, Any]:
    """Merge the fields without a place of their own, by name; a repeated name with another value gets a prefix."""
    merged: dict[str, Any] = {}
    for part in parts:
        for name, value in part.items():
            if value not in (None, "", [], {}):
                while name in merged and merged[name] != value:
                    name = f"floop_{name}"
                merged[name] = value
    return merged


def _lone_correction(value: Mapping[str, Any], store: FloopStore, where: str) -> Iterator[Entry]:
    """Yield the entry of a line of corrections, unless it is among the nodes too."""
    own = id_of(value, where)
    if own not in store.lines:
        store.corrections.add(own)
        yield _correction(value, store, where)


def _correction(value: Mapping[str, Any], store: FloopStore, where: str) -> Entry:
    value = dict(value)
    right, wrong = value.pop("corrected_action", None), value.pop("agent_action", None)
    response = value.get("human_response")
    if not (right or response):
        raise ParamError(f"{where}: corrected_action", right, "must say what would have been right")
    conversation = value.pop("conversation_id", None)
    at = value.pop("timestamp", None)
    versions = {name: text for name, text in (("right", right), ("wrong", wrong)) if text}
    text = f"Correction: {right or response}" + (f"\nNot: {wrong}" if wrong else "")
    return checked_entry(
        {
            "content": clean_text(text),
            "kind": "correction",
            "key": label(value.pop("id")),
            "session": label(f"floop:{conversation}") if conversation else None,
            "occurred_at": time_of(at, f"{where}: timestamp"),
            "tags": _tags(value.pop("extra_tags", None)),
            "metadata": _merged(versions, value),
            "source": store.source,
            "trust": "user" if response else "agent",
        },
        where,
    )


def _other(node: Mapping[str, Any], store: FloopStore, where: str) -> Entry:
    """Return a node of another kind, such as a context snapshot, with its content unchanged."""
    content = part_of(node, "content", where)
    metadata = _merged({"floop_kind": node.get("kind")}, part_of(node, "metadata", where))
    return checked_entry(
        {
            "content": clean_text(json.dumps(content, ensure_ascii=False)),
            "kind": "fact",
            "key": label(str(node["id"])),
            "metadata": metadata,
            "source": store.source,
            "trust": "tool",
        },
        where,
    )


def _digest(path: Path) -> str:
    folder = find_folder(path)
    return "".join(
        digest_of(folder / name) for name in (NODES, EDGES, CORRECTIONS) if (folder / name).is_file()
    )


def _fits(path: Path) -> bool:
    return any((folder / NODES).is_file() for folder in (path, path / ".floop"))


FORMAT = Format(
    read,
    "a store of floop: behaviours and corrections",
    _fits,
    _digest,
    place=lambda path: find_folder(path).absolute(),
)
