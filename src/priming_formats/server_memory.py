"""The file of the reference memory server of MCP: ``memory.jsonl``, a graph as an object a line.

An entity has ``type`` (entity), ``name``, ``entityType`` and ``observations``, a list of texts; a relation has
``type`` (relation), ``from``, ``to`` and ``relationType``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from priming.config.params.laws import PLASTICITY
from priming.errors import ParamError
from priming.transfer.importers import AllTies, Format, Item, Skipped, Tie
from priming.transfer.reading import (
    checked_entry,
    clean_text,
    digest,
    digest_of,
    fields_of,
    id_of,
    json_lines,
    label,
    list_of,
    skipping,
    title,
)
from priming_formats.json_documents import sample

_PART_OF = "part-of"


def read(path: Path) -> Iterator[Item]:
    """Read a graph: an entity is a fact, and so is each observation, which is a part of its entity."""
    relations = {_PART_OF}
    for where, value in json_lines(path):
        if isinstance(value, Skipped):
            yield value
            continue
        for item in skipping(_items(value, path, where)):
            relations |= {item.relation} if isinstance(item, Tie) else set()
            yield item
    yield from map(AllTies, sorted(relations))


def _items(value: Any, path: Path, where: str) -> Iterator[Item]:
    if not isinstance(value, dict) or value.get("type") not in ("entity", "relation"):
        raise ParamError(where, value, "must be an entity or a relation")
    if value["type"] == "relation":
        start, end, relation = (id_of(value, where, name) for name in ("from", "to", "relationType"))
        yield Tie(_key(start), _key(end), label(relation), PLASTICITY.start)
        return
    name, kind = id_of(value, where, "name"), title(str(value.get("entityType") or ""))
    shared: dict[str, Any] = {"kind": "fact", "trust": "agent", "tags": [kind] if kind else []}
    shared["source"] = label(f"server-memory:{path.absolute()}")
    content = f"{name} ({kind})" if kind else name
    yield checked_entry({**shared, "content": clean_text(content), "key": _key(name)}, where)
    for number, text in enumerate(list_of(value, "observations", where)):
        if not isinstance(text, str) or not text.strip():
            yield Skipped(ParamError(f"{where}, observation {number}", text, "must be a text"))
            continue
        key = label(f"{_key(name)}#{number}-{digest(text)}")
        content = text if name.casefold() in text.casefold() else f"{name}: {text}"
        yield checked_entry({**shared, "content": clean_text(content), "key": key}, where)
        yield Tie(key, _key(name), _PART_OF, PLASTICITY.start)


def _key(name: str) -> str:
    return label(f"server-memory:{name}")


def _fits(path: Path) -> bool:
    value = fields_of(sample(path))
    names = {"entity": ("name", "entityType", "observations"), "relation": ("from", "to", "relationType")}
    return value.keys() >= {*names.get(str(value.get("type")), ("",))}


FORMAT = Format(read, "the file of the reference memory server of MCP", _fits, digest_of)
