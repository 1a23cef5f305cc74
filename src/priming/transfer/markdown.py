"""Markdown: a file or a folder of notes, one memory a section, their links kept."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from priming.config.params.checked import Checked, param
from priming.config.params.laws import PLASTICITY
from priming.errors import ParamError
from priming.transfer.importers import Item, Tie
from priming.transfer.prose import Section, document, links, pieces
from priming.transfer.reading import checked, files, label, text_of, title, under

ENDINGS = (".md", ".markdown")
REFERS = "refers-to"
_PATH = " > "
_NOT_IN_SLUG = re.compile(r"[^\w\- ]")


@dataclass(frozen=True, slots=True)
class MarkdownParams(Checked):
    """How notes are cut."""

    letters: int = param(
        1500, low=1, unit="characters", source="our choice", doc="longest memory; a code block stays whole"
    )


MARKDOWN = MarkdownParams()


@dataclass(frozen=True, slots=True)
class Reference:
    """A link as it stands in a note: who makes it, from which file, to what."""

    key: str
    file: str
    target: str
    wiki: bool


@dataclass(slots=True)
class Notes:
    """Where the memories of the files read so far are to be found, and the links to settle at the end."""

    first: dict[str, str] = field(default_factory=dict)
    anchors: dict[tuple[str, str], str] = field(default_factory=dict)
    stems: dict[str, list[str]] = field(default_factory=dict)
    references: list[Reference] = field(default_factory=list)

    def place(self, file: str, key: str, slugs: list[str]) -> None:
        """A memory of a file, and the headings that lead to it."""
        if file not in self.first:
            self.first[file] = key
            self.stems.setdefault(_stem(file), []).append(file)
        for slug in slugs:
            self.anchors.setdefault((file, slug), key)

    def ties(self) -> Iterator[Tie]:
        """Every link whose other end is a note that was read, once."""
        pairs = {(link.key, self._end(link)): None for link in self.references}
        for source, target in pairs:
            if target is not None and target != source:
                yield Tie(source, target, REFERS, PLASTICITY.start)

    def _end(self, link: Reference) -> str | None:
        name, _, anchor = link.target.partition("#")
        file = link.file if not name else self._named(name, link) if link.wiki else self._relative(name, link)
        if file is None:
            return None
        return self.anchors.get((file, slug(anchor)), self.first.get(file))

    def _relative(self, name: str, link: Reference) -> str | None:
        root = link.file.split("/", 1)[0]
        base = root if name.startswith("/") else posixpath.dirname(link.file)
        target = posixpath.normpath(posixpath.join(base, name.lstrip("/")))
        return next((target + end for end in ("", *ENDINGS) if target + end in self.first), None)

    def _named(self, name: str, link: Reference) -> str | None:
        """A wiki link names a note by its path from anywhere or by its bare name: the nearest is meant."""
        target = name.strip().removesuffix(".md").casefold()
        matches = [
            file
            for file in self.stems.get(posixpath.basename(target), ())
            if f"/{posixpath.splitext(file)[0]}".casefold().endswith(f"/{target}")
        ]
        here = posixpath.dirname(link.file)
        return min(
            matches, key=lambda file: (posixpath.dirname(file) != here, file.count("/"), file), default=None
        )


def read(path: Path) -> Iterator[Item]:
    """Read a Markdown file, or all of a folder: sections as facts, a file as a session, links at the end."""
    notes = Notes()
    if not path.exists():
        raise ParamError("path", str(path), "must be a Markdown file or a folder of them: there is nothing")
    root = path if path.is_dir() else path.parent
    for file in files(path, ENDINGS) if path.is_dir() else (path,):
        yield from _note(root, file, notes)
    if not notes.first:
        raise ParamError(
            "path", str(path), "must hold text in Markdown: there is none in files ending in .md"
        )
    yield from notes.ties()


def _note(root: Path, path: Path, notes: Notes) -> Iterator[Item]:
    name = under(root, path)
    front, sections = document(text_of(path))
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
    waiting: list[str] = []
    for section in sections:
        waiting += [slug(section.path[-1])] if section.path else []
        address = _address(name, section, used)
        for number, text in enumerate(pieces(section.lines, MARKDOWN.letters), 1):
            key = label(address if number == 1 else f"{address}~{number}")
            yield _entry(section, text, key, path, common)
            notes.place(name, key, waiting)
            waiting = []
            notes.references += [
                Reference(key, name, to if wiki else unquote(to), wiki) for to, wiki in links(text)
            ]


def _entry(section: Section, text: str, key: str, path: Path, common: dict[str, Any]) -> Item:
    heading = title(_PATH.join(section.path)) or title(path.stem)
    arguments = {**common, "content": text, "heading": heading, "key": key}
    return checked(arguments, f"{path}, line {section.line}")


def _address(name: str, section: Section, used: dict[str, int]) -> str:
    """The key of a section: its file and its headings; a heading that comes again is counted."""
    address = "/".join(slug(heading) for heading in section.path)
    used[address] = count = used.get(address, -1) + 1
    return f"md:{name}" + (f"#{address}" if address else "") + (f"-{count}" if count else "")


def slug(heading: str) -> str:
    """A heading as links name it: lower-case, without punctuation, spaces as hyphens."""
    return _NOT_IN_SLUG.sub("", heading.strip().lower()).replace(" ", "-")


def _stem(file: str) -> str:
    return posixpath.splitext(posixpath.basename(file))[0].casefold()
