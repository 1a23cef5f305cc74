"""Markdown: a file or a folder of notes, each section a memory, with the links between notes."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from priming.config.params.checked import Checked, param
from priming.config.params.laws import PLASTICITY
from priming.config.values import dataclass
from priming.core.arguments.normal_forms import mark_class, normalized
from priming.errors import ParamError
from priming.transfer.importers import Item, Tie
from priming.transfer.prose import Section, document, links, pieces
from priming.transfer.reading import checked_entry, files, label, name_below, read_text, title

ENDINGS = (".md", ".markdown")
REFERS = "refers-to"
_PATH = " > "


@dataclass(frozen=True, slots=True)
class MarkdownParams(Checked):
    """How notes are cut into memories."""

    letters: int = param(
        1500,
        low=1,
        unit="characters",
        source="our choice",
        doc="maximum length of a memory; a code block is never split",
    )


MARKDOWN = MarkdownParams()


@dataclass(frozen=True, slots=True)
class Reference:
    """A link in a note: the key of its memory, its file, and its target as written."""

    key: str
    file: str
    target: str
    wiki: bool


@dataclass(slots=True)
class Notes:
    """The memories of the files read so far, by file and heading, and the links to resolve at the end."""

    first: dict[str, str] = field(default_factory=dict)
    anchors: dict[tuple[str, str], str] = field(default_factory=dict)
    stems: dict[str, list[str]] = field(default_factory=dict)
    references: list[Reference] = field(default_factory=list)

    def add(self, file: str, key: str, slugs: list[str]) -> None:
        """Add a memory of a file, and the headings by which links name it."""
        if file not in self.first:
            self.first[file] = key
            self.stems.setdefault(_stem(file), []).append(file)
        for slug in slugs:
            self.anchors.setdefault((file, slug), key)

    def ties(self) -> Iterator[Tie]:
        """Every link to a note that was read, each once."""
        pairs = {(link.key, self._target_key(link)): None for link in self.references}
        for source, target in pairs:
            if target is not None and target != source:
                yield Tie(source, target, REFERS, PLASTICITY.start)

    def _target_key(self, link: Reference) -> str | None:
        """The key of the memory that a link leads to."""
        name, _, anchor = link.target.partition("#")
        if not name:
            file: str | None = link.file
        else:
            file = self._wiki_file(name, link) if link.wiki else self._relative_file(name, link)
        if file is None:
            return None
        return self.anchors.get((file, slug(anchor)), self.first.get(file))

    def _relative_file(self, name: str, link: Reference) -> str | None:
        root = link.file.split("/", 1)[0]
        base = root if name.startswith("/") else posixpath.dirname(link.file)
        target = posixpath.normpath(posixpath.join(base, name.lstrip("/")))
        return next((target + end for end in ("", *ENDINGS) if target + end in self.first), None)

    def _wiki_file(self, name: str, link: Reference) -> str | None:
        """The file of a wiki link, which names a note by the end of its path: the nearest match."""
        target = name.strip().removesuffix(".md").casefold()
        matches = [
            file
            for file in self.stems.get(posixpath.basename(target), ())
            if f"/{posixpath.splitext(file)[0]}".casefold().endswith(f"/{target}")
        ]
        folder = posixpath.dirname(link.file)
        return min(
            matches, key=lambda file: (posixpath.dirname(file) != folder, file.count("/"), file), default=None
        )


def read(path: Path) -> Iterator[Item]:
    """Read a Markdown file, or all files of a folder: a section is a fact, a file a session; links come last."""
    notes = Notes()
    if not path.exists():
        raise ParamError(
            "path", str(path), "must be a Markdown file or a folder of them: nothing exists there"
        )
    root = path if path.is_dir() else path.parent
    for file in files(path, ENDINGS) if path.is_dir() else (path,):
        yield from _note(root, file, notes)
    if not notes.first:
        raise ParamError("path", str(path), "must contain text in Markdown: files ending in .md have none")
    yield from notes.ties()


def _note(root: Path, path: Path, notes: Notes) -> Iterator[Item]:
    name = name_below(root, path)
    front, sections = document(read_text(path))
    tags = front.pop("tags", [])
    common = {
        "kind": "fact",
        "session": label(name),
        "tags": [tag for name in ([tags] if isinstance(tags, str) else tags) if (tag := title(name))],
        "metadata": {**front, "file": name},
        "source": label(f"markdown:{path.absolute()}"),
        "trust": "tool",
    }
    used: dict[str, int] = {}
    slugs: list[str] = []
    for section in sections:
        slugs += [slug(section.path[-1])] if section.path else []
        address = _address(name, section, used)
        for number, text in enumerate(pieces(section.lines, MARKDOWN.letters), 1):
            key = label(address if number == 1 else f"{address}~{number}")
            yield _entry(section, text, key, path, common)
            notes.add(name, key, slugs)
            slugs = []
            notes.references += [
                Reference(key, name, to if wiki else unquote(to), wiki) for to, wiki in links(text)
            ]


def _entry(section: Section, text: str, key: str, path: Path, common: dict[str, Any]) -> Item:
    heading = title(_PATH.join(section.path)) or title(path.stem)
    arguments = {**common, "content": text, "heading": heading, "key": key}
    return checked_entry(arguments, f"{path}, line {section.line}")


def _address(name: str, section: Section, used: dict[str, int]) -> str:
    """The key of a section: its file and its headings, and a number for a repeated heading."""
    address = "/".join(slug(heading) for heading in section.path)
    used[address] = count = used.get(address, -1) + 1
    return f"md:{name}" + (f"#{address}" if address else "") + (f"-{count}" if count else "")


@cache
def _not_in_slug() -> re.Pattern[str]:
    """What the anchor of a heading lacks: punctuation; a mark is part of its letter."""
    return re.compile(rf"[^\w\- {mark_class()}]")


def slug(heading: str) -> str:
    """The anchor of a heading: lower-case, without punctuation, with hyphens for spaces."""
    return _not_in_slug().sub("", normalized("NFC", heading.strip().lower())).replace(" ", "-")


def _stem(file: str) -> str:
    return posixpath.splitext(posixpath.basename(file))[0].casefold()
