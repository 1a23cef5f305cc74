"""Notes of basic-memory: Markdown with facts, ``- [category] text #tag (context)``, and relations in its lists.

``- relation [[Note]]`` has a name of a word, or of several in quotation marks; elsewhere, a ``[[Note]]`` refers. A
note is known by the ``permalink`` of its front matter, else by its path, and named by its title, permalink or path.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import Any

from priming.config.params.laws import PLASTICITY
from priming.config.values import dataclass
from priming.errors import ParamError
from priming.transfer.importers import AllTies, Entry, Format, Item, Tie
from priming.transfer.markdown import (
    ENDINGS,
    MOST_LETTERS,
    REFERS,
    document,
    links,
    marked,
    pieces,
    written_at,
)
from priming.transfer.reading import (
    checked_entry,
    digest,
    digest_of,
    files,
    label,
    name_below,
    read_text,
    skipping,
    title,
)
from priming_formats.stores.note_lines import observation, relation

_PART_OF = "part-of"


@dataclass(slots=True)
class _Vault:
    """By what names a note, its key; and the relations: the key of a memory, the relation, the note that is named."""

    keys: dict[str, str] = field(default_factory=dict)
    relations: list[tuple[str, str, str]] = field(default_factory=list)

    def ties(self) -> Iterator[Tie]:
        """Yield the relations, each once; one to a note that is missing has no end."""
        for source, name, other in dict.fromkeys(self.relations):
            target = self.keys.get(other.casefold(), label(f"basic-memory:{other}"))
            if source != target:
                yield Tie(source, target, name, PLASTICITY.start)


def read(path: Path) -> Iterator[Item]:
    """Read a note, or all of a folder: the note, its texts and its facts, which are part of it, then relations."""
    notes = _Vault()
    for file in files(path, ENDINGS) if path.is_dir() else (path,):
        yield from skipping(_memories(path if path.is_dir() else path.parent, file, notes))
    if not notes.keys:
        raise ParamError("path", str(path), "must be a note or a folder of notes: no file ends in .md")
    ties = [*notes.ties()]
    yield from map(AllTies, sorted({tie.relation for tie in ties} | {_PART_OF, REFERS}))
    yield from ties


def _memories(root: Path, file: Path, notes: _Vault) -> Iterator[Item]:
    below = name_below(root, file)
    front, sections = document(read_text(file))
    name, kind = title(str(front.pop("title", ""))) or file.stem, title(str(front.pop("type", "")))
    tags, link = front.pop("tags", []), str(front.pop("permalink", "") or below.removesuffix(".md"))
    shared: dict[str, Any] = {
        "kind": "fact",
        "heading": name,
        "session": label(below),
        "occurred_at": written_at(front, file),
        "tags": [tag for text in ([tags] if isinstance(tags, str) else tags) if (tag := title(text))],
        "metadata": {**front, "file": below.partition("/")[2]},
        "source": label(f"basic-memory:{file.absolute()}"),
        "trust": "tool",
    }
    key = label(f"basic-memory:{link}")
    for other in (name, link, below.partition("/")[2].removesuffix(".md"), file.stem):
        notes.keys.setdefault(other.casefold(), key)

    def entry(content: str, line: int, own: str = "", **more: Any) -> Entry:
        return checked_entry(
            {**shared, "content": content, "key": label(key + own), **more}, f"{file}, line {line}"
        )

    yield entry(f"{name} ({kind})" if kind else name, 1, heading=None)
    for number, section in enumerate(sections):
        items, rest = [], []
        for line, is_code in marked("\n".join(section.lines)):
            if not is_code and (fact := observation(line)):
                own_tags = [*dict.fromkeys([*fact[1], *shared["tags"]])]
                own = f"#{number}-{digest(line)}"
                items.append(entry(fact[0], section.line, own, tags=own_tags))
            elif not is_code and (typed := relation(line)):
                notes.relations.append((key, typed[0] or REFERS, typed[1]))
            else:
                rest.append(line)
        heading = title(" > ".join(dict.fromkeys([name, *section.path])))
        for piece, text in enumerate(pieces(rest, MOST_LETTERS)):
            items.append(text_entry := entry(text, section.line, f"#{number}~{piece}", heading=heading))
            names = (to.partition("#")[0] for to, is_wiki in links(text) if is_wiki)
            notes.relations += [(text_entry.arguments["key"], REFERS, other) for other in names]
        for item in items:
            yield from (item, Tie(item.arguments["key"], key, _PART_OF, PLASTICITY.start))


_SHAPE = "notes of basic-memory: Markdown with facts and relations"
FORMAT = Format(read, _SHAPE, digest=partial(digest_of, endings=ENDINGS), endings=ENDINGS)
