"""The interface of importers: each reads a file or folder as a stream of memories and links.

A format is registered under its name in the entry-point group ``priming.importers``, by this package or any other: a
``Format``, or a function from a path to an iterator of ``Entry`` and ``Tie``:

    [project.entry-points."priming.importers"]
    mail = "my_package.mail:read"

What an importer yields is compared with what the namespace has: the same import, run again, follows its source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from priming import extensions
from priming.config.values import dataclass
from priming.errors import ParamError, PrimingError
from priming.storage.filters import parse
from priming.storage.rows import LinkRow, MemoryRow, ends_of

if TYPE_CHECKING:
    from priming.namespace import Namespace
    from priming.remember.drafts import Draft
    from priming.transfer.state import ImportedState

OWN = "priming"
"""The name of Priming's own export format, which ``Memory.import_`` reads."""
TAKEN_OUT = {"deprecated": "deprecate", "merged": "merge"}
"""The statuses of what an import takes out of recall, and by which operation: it may come back."""
_FIRST_BYTES = 256


@dataclass(frozen=True, slots=True)
class Entry:
    """A memory to import: the arguments of ``remember``, and its state, if any.

    Its ``key`` is its identity: while it stays, another text is a new version of the same memory. ``source`` is the
    importer's name, ``:`` and its place. The state is applied to a new memory; an existing memory keeps its own.
    """

    arguments: Mapping[str, Any]
    state: ImportedState | None = None
    checked: Draft | None = field(default=None, compare=False, repr=False)
    """The arguments, if the importer has checked them."""


@dataclass(frozen=True, slots=True)
class Tie:
    """A link to import between two memories, named by their keys; the memories may come before or after it.

    An existing link is set to this weight. With ``fresh``, a link that a user or an importer made is left unchanged.
    """

    source: str
    target: str
    relation: str
    weight: float
    fresh: bool = False
    created_at: str | None = field(default=None, compare=False)
    """When the link was made, in ISO 8601; None: at the import."""
    last_activated: str | None = field(default=None, compare=False)
    """When it last carried something to a memory that proved useful, in ISO 8601."""


@dataclass(frozen=True, slots=True)
class Present:
    """Memories that an importer did not read again, because the namespace has them, by their keys.

    With ``all``, nothing that the namespace has of the source is gone, whether it can be seen or not.
    """

    keys: tuple[str, ...]
    all: bool = False


@dataclass(frozen=True, slots=True)
class Skipped:
    """An item that cannot be read: where it stands, the rule that it breaks, and the remedy.

    ``hides`` says whether it may be a memory that the namespace has: then nothing of its ``source``, or where that is
    not known of the whole path, is known to be gone.
    """

    error: ParamError
    hides: bool = True
    source: str | None = None


@dataclass(frozen=True, slots=True)
class AllTies:
    """The ties of this relation have all been yielded: earlier ones of the importer that were not are removed."""

    relation: str


Item = Entry | Tie | Present | Skipped | AllTies
Importer = Callable[..., Iterator[Item]]
"""A function of a path; its other parameters are options, except ``stored``, which the import fills in."""


@dataclass(frozen=True, slots=True)
class Format:
    """What an importer reads: its function, its shape in words, and how it is recognised.

    ``fits`` tells from the head of a file, or the names in a folder, whether it is of this format. ``digest`` is
    equal for two states of a path that give the same items; ``place`` is what the sources of its memories begin with,
    after the name of the format. Without ``digest``, items that do not come again are not gone. With ``own_keys``, a
    key names the same item wherever its file lies: a file elsewhere, such as a later export, has another state of it.
    ``endings`` are those of the files below a folder, where it reads all of them: others are counted.
    """

    read: Importer
    shape: str
    fits: Callable[[Path], bool] = lambda _: False
    digest: Callable[..., str] | None = None
    place: Callable[[Path], Path] = Path.absolute
    own_keys: bool = False
    endings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stored:
    """What a namespace has before an import; None: one that has nothing."""

    memory: Namespace | None = None

    def keys(self, keys: Iterable[str]) -> set[str]:
        """Return those of some keys that memories have, but for what an import may have taken out of recall."""
        if self.memory is None:
            return set()
        with self.memory.reading():
            rows = self.memory.rows(MemoryRow, ids=self.memory.names(keys=list(keys)))
        return {row.key for row in rows if row.status not in TAKEN_OUT}

    def below(self, place: str) -> dict[str, str]:
        """Map ids to keys of active memories whose source is a place, such as ``markdown:/notes``, or below it."""
        if self.memory is None:
            return {}
        place = place.rstrip("/")
        condition = parse({"or": [{"source": place}, {"source": {"gte": f"{place}/", "lt": f"{place}0"}}]})
        with self.memory.reading() as now:
            return self.memory.names(condition=condition, at=now)

    def links(self, relation: str) -> Iterable[tuple[str, str]]:
        """Return the links of a relation, as the keys of both ends."""
        if self.memory is None:
            return ()
        with self.memory.reading():
            rows = self.memory.rows(LinkRow, relation=relation)
            names = self.memory.names(ids={*chain(*map(ends_of, rows))})
        return [(names[row.source], names[row.target]) for row in rows]


NOTHING = Stored()


@dataclass(frozen=True, slots=True)
class Report:
    """The counts of an import, and their reasons.

    ``changed`` memories have a new version, ``renamed`` ones another key, ``gone`` ones are no longer in the source;
    ``retired`` of these were deprecated. ``refused`` items could not be read or stored, ``loose`` ties could not be
    made. ``skipped`` lists the reasons of both, ``moved`` the memories that were changed, renamed, gone: the first
    hundred of each. ``others`` counts the files of a folder by their ending that the format does not read.
    """

    stored: int = 0
    duplicates: int = 0
    echoes: int = 0
    links: int = 0
    refused: int = 0
    loose: int = 0
    skipped: tuple[str, ...] = ()
    changed: int = 0
    renamed: int = 0
    gone: int = 0
    retired: int = 0
    moved: tuple[str, ...] = ()
    others: Mapping[str, int] = field(default_factory=dict)


def names() -> list[str]:
    """Return the names of the installed importers, without Priming's own format."""
    return extensions.names(extensions.IMPORTERS)


def find(name: str) -> Format:
    """Return the format of a name; for an unknown name, ``ParamError`` lists the installed ones."""
    for loaded in extensions.load(extensions.IMPORTERS, name):
        return loaded if isinstance(loaded, Format) else _plain(loaded)
    raise ParamError("source", name, f"must be one of {', '.join([OWN, *names()])}")


def _plain(function: Importer) -> Format:
    """Return a function as a format, which is used by its name alone; what it does not yield again is not gone."""
    shape = (function.__doc__ or "").strip().partition("\n")[0].rstrip(".")
    return Format(function, shape)


def formats() -> dict[str, Format]:
    """Return the installed formats by name; one that cannot be loaded is left out."""
    installed = {}
    for name in names():
        try:
            installed[name] = find(name)
        except PrimingError:
            continue
    return installed


def recognised(path: Path, stored: Stored = NOTHING) -> str:
    """Return the name of the only format that a file or folder has by its shape; an emptied folder has what it had.

    Raises:
        ParamError: nothing exists there, no format fits, or more than one does.

    """
    if not path.exists():
        raise ParamError("path", str(path), "must be a file or a folder: nothing exists there")
    if not (path.is_file() or path.is_dir()):
        raise ParamError("path", str(path), "must be a file or a folder: of a pipe, name the format")
    fitting = [name for name, form in formats().items() if form.fits(path)]
    fitting += [OWN] if _is_export(path) else []
    if not fitting and path.is_dir():
        whole = ((name, form) for name, form in formats().items() if form.endings)
        fitting = [name for name, form in whole if stored.below(f"{name}:{form.place(path)}")]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        rule = (
            f"can be read as {' or '.join(fitting)}: name the one you mean, as in priming import {fitting[0]}"
        )
    else:
        rule = "has the shape of no format: priming import --list names them, priming import NAME PATH chooses one"
    raise ParamError.of([f"path = {str(path)!r}: {rule}"])


def _is_export(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return b'"format": "priming"' in file.readline(_FIRST_BYTES)
