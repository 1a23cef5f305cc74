"""Markdown: a file or a folder of notes, each section a memory, with the links between notes."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import field
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from priming.config.params.laws import PLASTICITY
from priming.config.params.limits import STORE
from priming.config.values import dataclass
from priming.core.arguments.normal_forms import mark_class, normalized
from priming.errors import ParamError
from priming.text.dates import dates
from priming.transfer.importers import AllTies, Format, Item, Tie
from priming.transfer.reading import (
    checked_entry,
    digest_of,
    files,
    front_matter,
    label,
    name_below,
    read_text,
    skipping,
    title,
)

ENDINGS = (".md", ".markdown")
REFERS = "refers-to"
_PATH = " > "

MOST_LETTERS = 1500
"""The maximum length of a memory; a code block is never split."""


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
    aliases: dict[str, str] = field(default_factory=dict)
    """By another name of a note, in small letters, its file."""
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
        """Yield every link to a note that was read, each once."""
        pairs = {(link.key, self._target_key(link)): None for link in self.references}
        for source, target in pairs:
            if target is not None and target != source:
                yield Tie(source, target, REFERS, PLASTICITY.start)

    def _target_key(self, link: Reference) -> str | None:
        """Return the key of the memory that a link leads to."""
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
        """Return the file of a wiki link, which names a note by the end of its path: the nearest match."""
        target = name.strip().removesuffix(".md").casefold()
        matches = [
            file
            for file in self.stems.get(posixpath.basename(target), ())
            if f"/{posixpath.splitext(file)[0]}".casefold().endswith(f"/{target}")
        ]
        if not matches:
            return self.aliases.get(name.strip().casefold())
        folder = posixpath.dirname(link.file)
        return min(matches, key=lambda file: (posixpath.dirname(file) != folder, file.count("/"), file))


def read(path: Path) -> Iterator[Item]:
    """Read a Markdown file, or all files of a folder: a section is a fact, a file a session; links come last.

    A note of a folder that cannot be read is skipped.
    """
    notes = Notes()
    if not path.exists():
        raise ParamError(
            "path", str(path), "must be a Markdown file or a folder of them: nothing exists there"
        )
    root, empty = path if path.is_dir() else path.parent, True
    for file in files(path, ENDINGS) if path.is_dir() else (path,):
        note = _note(root, file, notes)
        for item in skipping(note, _source(file)) if path.is_dir() else note:
            empty = False
            yield item
    if empty:
        raise ParamError("path", str(path), "must contain text in Markdown: files ending in .md have none")
    yield AllTies(REFERS)
    yield from notes.ties()


def _note(root: Path, path: Path, notes: Notes) -> Iterator[Item]:
    name = normalized("NFC", name_below(root, path))
    front, sections = document(read_text(path))
    aliases = [name for field in ("aliases", "alias") for name in _names(front.get(field, ()))]
    common = {
        "kind": "fact",
        "session": label(name),
        "tags": list(dict.fromkeys([*_names(front.pop("tags", ())), *aliases])),
        "occurred_at": written_at(front, path),
        "metadata": {**front, "file": name},
        "source": _source(path),
        "trust": "tool",
    }
    notes.aliases |= {alias.casefold(): name for alias in aliases}
    used: dict[str, int] = {}
    slugs: list[str] = []
    for section in sections:
        slugs += [slug(section.path[-1])] if section.path else []
        address = _address(name, section, used)
        for number, text in enumerate(pieces(section.lines, MOST_LETTERS), 1):
            key = label(address if number == 1 else f"{address}~{number}")
            yield _entry(section, text, key, path, common)
            notes.add(name, key, slugs)
            slugs = []
            notes.references += [
                Reference(key, name, normalized("NFC", to if wiki else unquote(to)), wiki)
                for to, wiki in links(text)
            ]


def _source(path: Path) -> str:
    return label(f"markdown:{path.absolute()}")


def _names(value: str | Iterable[str]) -> list[str]:
    """Return the tags or names in a field of the front matter."""
    return [name for item in ([value] if isinstance(value, str) else value) if (name := title(item))]


def written_at(front: Mapping[str, str | list[str]], path: Path) -> datetime | None:
    """Return when a note was written: the ``date`` of its front matter, else the day or month that begins its name.

    A time without a zone is the machine's; a day, or a month's first, is its noon in UTC, that day almost everywhere.
    """
    for text in (front.get("date"), front.get("created"), path.stem[:10]):
        if not isinstance(text, str):
            continue
        named = [f"{day}-01"[:10] for start, _, day in dates(text) if not start]
        for day in (text, *named):
            with suppress(ValueError, OverflowError):
                at = datetime.fromisoformat(day)
                return at.replace(hour=12, tzinfo=UTC) if len(day) <= 10 else at.astimezone(UTC)
    return None


def _entry(section: Section, text: str, key: str, path: Path, common: dict[str, Any]) -> Item:
    heading = title(_PATH.join(section.path)) or title(path.stem)
    arguments = {**common, "content": text, "heading": heading, "key": key}
    return checked_entry(arguments, f"{path}, line {section.line}")


def _address(name: str, section: Section, used: dict[str, int]) -> str:
    """Return the key of a section: its file and its headings, and a number for a repeated heading."""
    address = "/".join(slug(heading) for heading in section.path)
    used[address] = count = used.get(address, -1) + 1
    return f"md:{name}" + (f"#{address}" if address else "") + (f"-{count}" if count else "")


@cache
def _not_in_slug() -> re.Pattern[str]:
    """Return what the anchor of a heading lacks: punctuation; a mark is part of its letter."""
    return re.compile(rf"[^\w\- {mark_class()}]")


def slug(heading: str) -> str:
    """Return the anchor of a heading: lower-case, without punctuation, with hyphens for spaces."""
    return _not_in_slug().sub("", normalized("NFC", heading.strip().lower())).replace(" ", "-")


def _stem(file: str) -> str:
    return posixpath.splitext(posixpath.basename(file))[0].casefold()


_ATX = re.compile(r" {0,3}(#{1,6})([ \t].*)?")
_UNDERLINE = re.compile(r" {0,3}(={2,}|-{2,})[ \t]*")
_NO_PARAGRAPH = re.compile(r"\s*(?:[-*+>|#<]|\d+[.)]|$)| {4}|\t")
_FENCE = re.compile(r"[ \t]*(`{3,}(?=[^`\n]*(?:\n|\Z))|~{3,})")
_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_WIKI = re.compile(r"\[\[([^\[\]|\n]+)(?:\|[^\[\]\n]*)?\]\]")
_INLINE = re.compile(
    r"(?<!!)\[(?:[^\[\]]|\[[^\[\]]*\])*\]\(\s{0,20}(?:<([^<>\n]+)>|([^\s()<>]+))(?:\s{1,20}[\"'(][^\n]{0,300}?)?\s{0,20}\)"
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_DECORATION = re.compile(r"\*\*|__|`|!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]|!?\[([^\[\]]*)\]\([^()]*\)")
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+")


@dataclass(slots=True)
class Section:
    """The lines below a heading; ``path`` is the heading after its parent headings, ``line`` its line number."""

    path: tuple[str, ...]
    line: int
    lines: list[str] = field(default_factory=list)


def document(text: str) -> tuple[dict[str, str | list[str]], list[Section]]:
    """Split a note into its front matter and its sections, in order."""
    rows = text.split("\n")
    front, start = front_matter(rows)
    heading = front.get("title")
    above = [(1, heading)] if isinstance(heading, str) and heading else []
    return front, list(_sections(rows, start, above))


def _sections(rows: list[str], start: int, above: list[tuple[int, str]]) -> Iterator[Section]:
    section = Section(tuple(title for _, title in above), start + 1)
    fence = ""
    for number, row in enumerate(rows[start:], start + 1):
        fence, inside = _fenced(row, fence)
        level, heading = (0, "") if inside else _heading(row, section.lines)
        if not level:
            section.lines.append(row)
            continue
        if not _ATX.fullmatch(row):
            section.lines.pop()
        yield section
        above = [*(entry for entry in above if entry[0] < level), (level, heading)]
        section = Section(tuple(title for _, title in above if title), number)
    yield section


def _fenced(row: str, fence: str) -> tuple[str, bool]:
    """Return the code fence that is open after a line, and whether the line is in a code block."""
    match = _FENCE.match(row)
    if not fence:
        return (match[1], True) if match else ("", False)
    closes = match is not None and match[1].startswith(fence) and not row.strip().strip(fence[0])
    return ("" if closes else fence), True


def _heading(row: str, before: list[str]) -> tuple[int, str]:
    """Return the level and text of a heading, level 0 for none; a line may underline the lone line above it."""
    if match := _ATX.fullmatch(row):
        text = (match[2] or "").strip()
        bare = text.rstrip("#")
        return len(match[1]), _plain(bare if bare[-1:] in ("", " ", "\t") else text)
    if (match := _UNDERLINE.fullmatch(row)) and before:
        alone = len(before) == 1 or not before[-2].strip()
        if alone and not _NO_PARAGRAPH.match(before[-1]):
            return (1 if match[1][0] == "=" else 2), _plain(before[-1])
    return 0, ""


def _plain(heading: str) -> str:
    return _DECORATION.sub(lambda match: match[1] or match[2] or "", heading).strip()


def pieces(rows: list[str], limit: int) -> Iterator[str]:
    """Yield the text of a section in pieces of at most ``limit`` characters, cut between paragraphs if possible."""
    piece = ""
    for block in _blocks(rows):
        for part in [block] if len(block) <= limit else _cut(block, limit):
            if piece and len(piece) + 2 + len(part) > limit:
                yield piece
                piece = ""
            piece = f"{piece}\n\n{part}" if piece else part
    if piece:
        yield piece


def _blocks(rows: list[str]) -> Iterator[str]:
    """Yield the paragraphs, and each code block as a whole."""
    block: list[str] = []
    fence = ""
    for row in rows:
        opened = fence
        fence, inside = _fenced(row, fence)
        starts = inside and not opened
        if block and (starts or not (inside or row.strip())):
            yield "\n".join(block)
            block = []
        if inside or row.strip():
            block.append(row.rstrip())
        if opened and not fence:
            yield "\n".join(block)
            block = []
    if block:
        yield "\n".join(block)


def _cut(block: str, limit: int) -> Iterator[str]:
    """Cut a paragraph that is too long: at a line end if possible, else at a sentence, else at a word."""
    if _FENCE.match(block):
        limit = STORE.content_limit
    start = 0
    while len(block) - start > limit:
        window = block[start : start + limit + 1]
        end = window.rfind("\n", 1)
        if end < 0:
            end = max((m.start() for m in _SENTENCE.finditer(window)), default=-1)
        if end <= 0:
            end = window.rfind(" ", 1)
        if end <= 0:
            end = limit
        if part := window[:end].rstrip():
            yield part
        start += end
        while block[start : start + 1] in ("\n", " "):
            start += 1
    if start < len(block):
        yield block[start:]


def links(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the targets of links to other notes, and whether each is a wiki link; code is skipped."""
    plain = _CODE.sub(" ", "\n".join(row for row, inside in marked(text) if not inside))
    for match in _WIKI.finditer(plain):
        yield match[1].strip(), True
    for match in _INLINE.finditer(plain):
        target = match[1] or match[2]
        if not _SCHEME.match(target):
            yield target, False


def marked(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the lines of a text, and whether each is in a code block."""
    fence = ""
    for row in text.split("\n"):
        fence, inside = _fenced(row, fence)
        yield row, inside


def _fits(path: Path) -> bool:
    """Tell whether a file is a note by its ending, or a folder holds one."""
    return any(True for _ in files(path, ENDINGS)) if path.is_dir() else path.suffix.lower() in ENDINGS


FORMAT = Format(
    read,
    "Markdown: a note or a folder of notes",
    _fits,
    partial(digest_of, endings=ENDINGS),
    endings=ENDINGS,
)
