"""The sets on which retrieval is measured: files read in place, as memories and questions with gold labels.

A set is one or more parts. Each part is a store of its own: a dialogue of LoCoMo, the whole corpus of the others.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from priming.config.values import dataclass
from priming.errors import ParamError

_EVIDENCE = re.compile(r"D:?(\d+):0*(\d+)")
"""A turn that is named as evidence, however it was typed: D1:3, D:1:3, D1:03, or several in one string."""
_WHEN = "%I:%M %p on %d %B, %Y"
_CORPUS = "_corpus"
_HOPS = 4
"""Letters of a question's id in MuSiQue that say how many hops it takes: ``2hop``."""


@dataclass(frozen=True, slots=True)
class BenchItem:
    """A memory of a set. ``label`` is its name in the gold: its key, or a title that several share."""

    key: str
    text: str
    label: str
    kind: str = "episode"
    heading: str | None = None
    speaker: str | None = None
    session: str | None = None
    occurred_at: datetime | None = None
    files: tuple[str, ...] = ()

    @property
    def title(self) -> str | None:
        """The heading that precedes the text in the index."""
        return self.heading or self.speaker

    @property
    def indexed(self) -> str:
        """The text that is embedded, for every contestant."""
        return f"{self.title}: {self.text}" if self.title else self.text

    def arguments(self) -> dict[str, Any]:
        """Return the item as arguments of ``remember``."""
        names = ("key", "kind", "heading", "speaker", "session", "occurred_at")
        values = {name: getattr(self, name) for name in names}
        values |= {"content": self.text, "files": self.files or None}
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True)
class BenchQuery:
    """A question, the labels of the memories that answer it, and its category."""

    text: str
    gold: frozenset[str]
    category: str


@dataclass(frozen=True, slots=True)
class BenchPart:
    """The memories of one store and the questions about them."""

    name: str
    items: tuple[BenchItem, ...]
    queries: tuple[BenchQuery, ...]


@dataclass(frozen=True, slots=True)
class BenchSet:
    """A set: its parts, the ranks k to report, and the categories that its headline figures leave out."""

    name: str
    parts: tuple[BenchPart, ...]
    ks: tuple[int, ...]
    digest: str
    files: tuple[str, ...]
    unanswerable: str | None = None
    skipped: int = 0

    @property
    def questions(self) -> int:
        """The number of questions of all parts."""
        return sum(len(part.queries) for part in self.parts)

    @property
    def memories(self) -> int:
        """The number of memories of all parts."""
        return sum(len(part.items) for part in self.parts)

    def first(self, limit: int | None) -> BenchSet:
        """Return the set with at most ``limit`` questions, evenly spaced; parts without questions are dropped."""
        if limit is None or limit >= self.questions:
            return self
        if limit < 1:
            raise ParamError("limit", limit, "must be ≥ 1")
        chosen = {i * self.questions // limit for i in range(limit)}
        parts, start = [], 0
        for part in self.parts:
            queries = tuple(query for i, query in enumerate(part.queries, start) if i in chosen)
            start += len(part.queries)
            parts.append(replace(part, queries=queries))
        return replace(self, parts=tuple(part for part in parts if part.queries))

    def shuffled(self, rng: np.random.Generator) -> BenchSet:
        """Return the set with the gold labels of each part shuffled among its questions, as a control."""
        return replace(self, parts=tuple(_shuffled(part, rng) for part in self.parts))


def _shuffled(part: BenchPart, rng: np.random.Generator) -> BenchPart:
    order = rng.permutation(len(part.queries))
    pairs = zip(part.queries, order, strict=True)
    return replace(part, queries=tuple(replace(query, gold=part.queries[i].gold) for query, i in pairs))


def load(name: str, data: Path) -> BenchSet:
    """Read a set from its file, or from the folder that holds it.

    Raises:
        ParamError: a name that is none of ``NAMES``, a file that is not there, or one that is no such set.

    """
    if name not in _READERS:
        raise ParamError("set", name, f"must be one of {', '.join(NAMES)}")
    path = _file_of(name, data)
    try:
        return _READERS[name](path)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        if isinstance(error, ParamError):
            raise
        rule = f"is no file of {name} ({type(error).__name__}: {error}): give the file as it is published"
        raise ParamError("data", str(path), rule) from error


def _file_of(name: str, data: Path) -> Path:
    """Return the file of a set: the path itself, or the only file of that name in a folder."""
    if data.is_file():
        return data
    if not data.is_dir():
        raise ParamError("data", str(data), f"must be the file of {name}, or the folder that holds it")
    pattern = f"{name}*.json"
    files = sorted(path for path in data.glob(pattern) if not path.stem.endswith(_CORPUS))
    if len(files) != 1:
        many = f"holds {len(files)} files {pattern}: name one of {', '.join(path.name for path in files)}"
        rule = many if files else f"holds no file {pattern}: name the file itself"
        raise ParamError("data", str(data), rule)
    return files[0]


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ParamError("data", str(path), f"cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ParamError("data", str(path), f"must be JSON: {error}") from error


def _digest(*paths: Path) -> str:
    total = hashlib.sha256()
    for path in paths:
        total.update(path.read_bytes())
    return total.hexdigest()


def _locomo(path: Path) -> BenchSet:
    dialogues = _read(path)
    parts = tuple(_dialogue(dialogue) for dialogue in dialogues)
    if not parts:
        raise ParamError("data", str(path), "must hold at least one dialogue")
    usable = sum(len(part.queries) for part in parts)
    return BenchSet(
        name="locomo",
        parts=parts,
        ks=(5, 10, 20),
        digest=_digest(path),
        files=(path.name,),
        unanswerable="5",
        skipped=sum(len(dialogue["qa"]) for dialogue in dialogues) - usable,
    )


def _dialogue(dialogue: Mapping[str, Any]) -> BenchPart:
    """Return a dialogue: each turn is a memory; a question whose evidence is not in it is left out."""
    items = tuple(_turns(dialogue["conversation"]))
    keys = {item.key for item in items}
    queries = []
    for question in dialogue["qa"]:
        named = {f"D{a}:{b}" for text in question["evidence"] for a, b in _EVIDENCE.findall(text)}
        if gold := frozenset(named & keys):
            queries.append(BenchQuery(str(question["question"]), gold, str(question["category"])))
    return BenchPart(str(dialogue["sample_id"]), items, tuple(queries))


def _turns(conversation: Mapping[str, Any]) -> list[BenchItem]:
    items, number = [], 1
    while f"session_{number}" in conversation or f"session_{number}_date_time" in conversation:
        session = f"session_{number}"
        date = conversation.get(f"{session}_date_time")
        at = None if date is None else datetime.strptime(date, _WHEN).replace(tzinfo=UTC)
        for turn in conversation.get(session, ()):
            caption = f" [{turn['blip_caption']}]" if turn.get("blip_caption") else ""
            key, text = str(turn["dia_id"]), turn["text"] + caption
            items.append(
                BenchItem(key, text, key, speaker=str(turn["speaker"]), session=session, occurred_at=at)
            )
        number += 1
    return items


def _hotpot(path: Path) -> BenchSet:
    """Read HotpotQA: the gold labels are the titles of the supporting facts."""
    return _passages(
        "hotpot",
        path,
        lambda row: BenchQuery(
            row["question"], frozenset(title for title, _ in row["supporting_facts"]), str(row["type"])
        ),
    )


def _musique(path: Path) -> BenchSet:
    """Read MuSiQue: the gold labels are the titles of the supporting paragraphs."""
    return _passages(
        "musique",
        path,
        lambda row: BenchQuery(
            row["question"],
            frozenset(passage["title"] for passage in row["paragraphs"] if passage["is_supporting"]),
            str(row["id"])[:_HOPS],
        ),
    )


def _passages(name: str, path: Path, query: Callable[[Mapping[str, Any]], BenchQuery]) -> BenchSet:
    """Read questions about a corpus of passages in a file beside them."""
    corpus = path.with_name(f"{path.stem}{_CORPUS}.json")
    if not corpus.is_file():
        raise ParamError("data", str(path), f"must have its passages beside it, in {corpus.name}")
    rows = _rows(_read(corpus))
    items = tuple(
        BenchItem(f"{path.stem}-{i}", text, title, kind="fact", heading=title)
        for i, (title, text) in enumerate(rows)
    )
    titles = Counter(title for title, _ in rows)
    questions = [query(row) for row in _read(path)]
    usable = tuple(
        replace(question, gold=gold)
        for question in questions
        if (gold := frozenset(title for title in question.gold if title in titles))
    )
    return BenchSet(
        name=name,
        parts=(BenchPart(path.stem, items, usable),),
        ks=(2, 5, 10),
        digest=_digest(path, corpus),
        files=(path.name, corpus.name),
        skipped=len(questions) - len(usable),
    )


def _rows(corpus: Any) -> list[tuple[str, str]]:
    """Return the titles and texts of an object of lists of sentences, or of a list of passages."""
    if isinstance(corpus, dict):
        return [(title, text if isinstance(text, str) else "".join(text)) for title, text in corpus.items()]
    return [(passage["title"], passage["text"]) for passage in corpus]


_READERS: Mapping[str, Callable[[Path], BenchSet]] = {
    "locomo": _locomo,
    "hotpot": _hotpot,
    "musique": _musique,
}
NAMES: Sequence[str] = tuple(_READERS)
"""The sets that can be read."""
