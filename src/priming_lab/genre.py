"""The genre format: a folder with ``documents.jsonl`` and ``questions.jsonl``, which users write of their own texts.

A document is a memory, a question names the documents that answer it, and each ``part`` is a store of its own.

Any doubtful line ends the run before anything is measured: an id of no document among the gold would count as a
miss of every contestant, unnoticed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import field
from datetime import UTC
from pathlib import Path
from typing import Any

from priming.config.values import dataclass
from priming.errors import ParamError
from priming.transfer.reading import checked_entry, iso_time, label, lines, parse_json, title
from priming_lab.sets import BenchItem, BenchPart, BenchQuery, BenchSet

DOCUMENTS, QUESTIONS = "documents.jsonl", "questions.jsonl"
WHOLE = "all"
"""The part of documents that name none, and the category of questions that name none."""
UNANSWERABLE = "unanswerable"
"""The category of questions that no document answers."""
_DOCUMENT = 'must be a JSON object such as {"id": "d1", "text": "The pool retries twice."}'
_QUESTION = 'must be a JSON object such as {"text": "How often do we retry?", "gold": ["d1"]}'


@dataclass(slots=True)
class _PartLines:
    """A part that is being read: its documents by id, and its questions."""

    items: dict[str, BenchItem] = field(default_factory=dict)
    queries: list[BenchQuery] = field(default_factory=list)


def is_genre(folder: Path) -> bool:
    """Tell whether a folder holds a set in the genre format, or half of one."""
    return any((folder / name).exists() for name in (DOCUMENTS, QUESTIONS))


def load_genre(folder: Path) -> BenchSet:
    """Read a set in the genre format.

    Raises:
        ParamError: a file that is missing or empty, or a line that is wrong, with its file, number, rule and remedy.

    """
    for name in (DOCUMENTS, QUESTIONS):
        if not (folder / name).is_file():
            raise ParamError("folder", str(folder), f"must hold {DOCUMENTS} and {QUESTIONS}: add {name}")
    parts: dict[str, _PartLines] = {}
    documents, questions = folder / DOCUMENTS, folder / QUESTIONS
    for where, fields in _objects(documents, _DOCUMENT):
        part, item = _document(fields, where)
        items = parts.setdefault(part, _PartLines()).items
        if item.label in items:
            raise ParamError(f"{where}: id", item.label, "is the id of an earlier line: give each its own")
        items[item.label] = item
    for where, fields in _objects(questions, _QUESTION):
        name = _part(fields, where)
        if name not in parts:
            rule = f"is the part of no document: write one of {_few(list(parts))}, or add its documents"
            raise ParamError(f"{where}: part", name, rule)
        parts[name].queries.append(_question(fields, parts[name], where))
    gold = {bool(query.gold) for part in parts.values() for query in part.queries}
    if True not in gold:
        raise ParamError("gold", [], f"is empty in each line of {questions}: name what answers some of them")
    digest = hashlib.sha256(documents.read_bytes() + questions.read_bytes()).hexdigest()
    return BenchSet(
        name=title(folder.resolve().name) or "set",
        parts=tuple(
            BenchPart(name, tuple(part.items.values()), tuple(part.queries))
            for name, part in parts.items()
            if part.queries
        ),
        ks=(5, 10),
        unanswerable=UNANSWERABLE if False in gold else None,
        digest=digest,
        files=(DOCUMENTS, QUESTIONS),
    )


def _objects(path: Path, shape: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the JSON objects of a file, one a line, each with its place; an empty file is an error."""
    empty = True
    for number, text in lines(path):
        empty, where = False, f"{path}, line {number}"
        fields = parse_json(text, where)
        if not isinstance(fields, dict):
            raise ParamError(where, text, shape)
        yield where, fields
    if empty:
        raise ParamError("path", str(path), f"is empty: each line {shape}")


def _document(fields: Mapping[str, Any], where: str) -> tuple[str, BenchItem]:
    own = fields.get("id", fields.get("key"))
    name = _identifier(own, f"{where}: id", "must be a text that names the document, as id or key")
    speaker, session = _name(fields, ("speaker", "author")), _name(fields, ("session",))
    at = fields.get("time", fields.get("occurred_at"))
    happened = any(value is not None for value in (speaker, session, at))
    item = BenchItem(
        key=label(name),
        text=_text(fields, where, _DOCUMENT),
        label=name,
        kind=fields.get("kind") or ("episode" if happened else "fact"),
        heading=_name(fields, ("heading", "title")),
        speaker=speaker,
        session=session,
        occurred_at=None
        if at is None
        else iso_time(at, f"{where}: time", lambda each: each.replace(tzinfo=UTC)),
        files=_files(fields.get("files"), f"{where}: files"),
    )
    checked_entry(item.arguments(), where)
    return _part(fields, where), item


def _question(fields: Mapping[str, Any], part: _PartLines, where: str) -> BenchQuery:
    gold = fields.get("gold")
    if not isinstance(gold, list):
        rule = 'must be a list of ids of documents, such as ["d1"]; empty where none answers'
        raise ParamError(f"{where}: gold", gold, rule)
    names = [_identifier(name, f"{where}: gold", "must be a list of ids of documents") for name in gold]
    for name in names:
        if name not in part.items:
            raise ParamError(f"{where}: gold", name, _no_document(name, part))
    category = WHOLE if (own := fields.get("category")) is None else str(own)
    return BenchQuery(_text(fields, where, _QUESTION), frozenset(names), category if names else UNANSWERABLE)


def _no_document(name: str, part: _PartLines) -> str:
    """Return the rule that a gold name breaks if it is the id of no document."""
    if any(name in item.files for item in part.items.values()):
        return f"is a file, and no id in {DOCUMENTS}: sets whose gold are files are for benchmarks/files.py"
    return f"is no id of {DOCUMENTS} in the same part: correct it, or take the question out"


def _text(fields: Mapping[str, Any], where: str, shape: str) -> str:
    text = fields.get("text", fields.get("content"))
    if not isinstance(text, str) or not text.strip():
        raise ParamError(f"{where}: text", text, f"must be a text that is not blank; the line {shape}")
    return text


def _identifier(value: Any, where: str, rule: str) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int)) or not str(value).strip():
        raise ParamError(where, value, rule)
    return str(value)


def _part(fields: Mapping[str, Any], where: str) -> str:
    part = fields.get("part")
    return (
        WHOLE if part is None else _identifier(part, f"{where}: part", "must be a text that names the part")
    )


def _name(fields: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    """Return the first of some fields that is not blank, as the one line that a heading, speaker or session is."""
    written = (title(str(fields[name])) for name in names if fields.get(name) is not None)
    return next((name for name in written if name is not None), None)


def _files(value: Any, where: str) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(path, str) for path in value):
        raise ParamError(where, value, 'must be a list of paths, such as ["src/pool.py"]')
    return tuple(value)


_MOST = 5


def _few(names: list[str]) -> str:
    """Return the first of some names, and how many more there are."""
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return ", ".join(names[:_MOST]) + more
