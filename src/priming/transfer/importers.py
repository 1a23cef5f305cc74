"""The interface of importers: each reads a file or folder as a stream of memories and links.

An importer is a function from a path to an iterator of ``Entry`` and ``Tie``, registered under its name in
the entry-point group ``priming.importers``, by this package or any other:

    [project.entry-points."priming.importers"]
    mail = "my_package.mail:read"
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import astuple, field
from functools import partial
from inspect import signature
from itertools import chain, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar, cast

from priming import extensions
from priming.config.values import dataclass
from priming.errors import Conflict, NotFound, ParamError, PrimingError, StoreError
from priming.storage.rows import LinkRow, ends_of
from priming.types import Progress

if TYPE_CHECKING:
    from priming.namespace import Namespace
    from priming.transfer.state import ImportedState

OWN = "priming"
"""The name of Priming's own export format, which ``Memory.import_`` reads."""

T = TypeVar("T")
_REASONS = 100
_TIES_IN_MEMORY = 1 << 20


@dataclass(frozen=True, slots=True)
class Entry:
    """A memory to import: the arguments of ``remember``, and its state, if any.

    The state is applied to a new memory; an existing memory keeps its own.
    """

    arguments: Mapping[str, Any]
    state: ImportedState | None = None


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
    """Memories that an importer did not read again, because the namespace has them."""

    number: int


Item = Entry | Tie | Present
Importer = Callable[..., Iterator[Item]]
"""A function of a path; its other parameters are options, except ``stored``, which the import fills in."""


@dataclass(frozen=True, slots=True)
class Stored:
    """What a namespace has before an import; None: one that has nothing."""

    memory: Namespace | None = None

    def keys(self, keys: Iterable[str]) -> set[str]:
        """Those of some keys that memories have."""
        if self.memory is None:
            return set()
        with self.memory.reading():
            return set(self.memory.store.names(self.memory.namespace, keys=list(keys)).values())

    def links(self, relation: str) -> Iterable[tuple[str, str]]:
        """The links of a relation, as the keys of both ends."""
        if self.memory is None:
            return ()
        with self.memory.reading():
            rows = self.memory.store.rows(self.memory.namespace, LinkRow, relation=relation)
            names = self.memory.store.names(self.memory.namespace, ids={*chain(*map(ends_of, rows))})
        return [(names[row.source], names[row.target]) for row in rows]


NOTHING = Stored()


@dataclass(frozen=True, slots=True)
class Report:
    """The counts of an import. ``refused`` entries could not be stored, ``loose`` ties could not be made.

    ``skipped`` lists the reasons for the first hundred of both.
    """

    stored: int = 0
    duplicates: int = 0
    echoes: int = 0
    links: int = 0
    refused: int = 0
    loose: int = 0
    skipped: tuple[str, ...] = ()


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during an import; ``report`` counts the finished batches, which are kept."""

    def __init__(self, report: Report) -> None:
        self.report = report
        super().__init__(f"interrupted: {progress_summary(report)}")


def progress_summary(report: Report) -> str:
    """What an interrupted import has stored, in words."""
    if not report.stored:
        return "nothing was stored yet"
    return f"{report.stored:,} new memories are kept; repeat the command to continue from there"


def names() -> list[str]:
    """Return the names of the installed importers, without Priming's own format."""
    return extensions.names(extensions.IMPORTERS)


def find(name: str) -> Importer:
    """Return the importer of a name; for an unknown name, ``ParamError`` lists the installed ones."""
    for importer in extensions.load(extensions.IMPORTERS, name):
        return cast("Importer", importer)
    raise ParamError("source", name, f"must be one of {', '.join([OWN, *names()])}")


def run(
    memory: Namespace,
    name: str,
    path: str | Path,
    progress: Progress | None = None,
    *,
    operation_id: str | None = None,
    later: bool = False,
    **options: Any,
) -> Report:
    """Import ``path``: the entries as they are read, in batches, then the ties between them.

    An entry that cannot be stored is skipped and reported; an error or an interrupt keeps the batches before it.
    ``progress`` is called with (entries done, None) after each batch, then with (done, total) of their vectors, which
    ``later`` leaves to what follows. ``options`` are the importer's own. With an
    ``operation_id``, a batch is stored once, whatever the profile learns from a memory that comes twice.

    Raises:
        ParamError: the importer does not exist, has no such option, or cannot read the path.
        Interrupted: at Ctrl-C, with the report so far.

    """
    from priming.remember.vectors import complete

    importer = _with_options(memory, name, options)
    with tempfile.SpooledTemporaryFile(_TIES_IN_MEMORY, "w+", encoding="utf-8") as ties:
        job = _Import(memory, ties, progress, operation_id)
        try:
            job.load_entries(_items(importer, Path(path)))
            job.make_ties()
            if not later:
                complete(memory, job.ids, progress=progress)
        except KeyboardInterrupt:
            raise Interrupted(job.report()) from None
        except PrimingError as error:
            if job.done:
                error.add_note(progress_summary(job.report()))
            raise
        except OSError as error:
            raise StoreError(
                f"the links could not be written to a temporary file in {tempfile.gettempdir()}: {error}"
            ) from error
        return job.report()


def _with_options(memory: Namespace, name: str, options: Mapping[str, Any]) -> Importer:
    """An importer with its options, and with what the namespace has, if it wants to know that."""
    importer = find(name)
    accepted = [*signature(importer).parameters][1:]
    for option, value in options.items():
        if option not in accepted or option == "stored":
            raise ParamError(option, value, f"is no option of the importer {name!r}: leave it out")
    present = {"stored": Stored(memory)} if "stored" in accepted else {}
    return partial(importer, **options, **present)


def _items(importer: Importer, path: Path) -> Iterator[Item]:
    """The items of an importer, with its reading errors as errors of Priming."""
    try:
        for item in importer(path):
            if not isinstance(item, (Entry, Tie, Present)):
                rule = "must be an Entry, a Tie or a Present: the importer is at fault"
                raise ParamError("item", item, rule)
            yield item
    except OSError as error:
        raise _unreadable(path, f"cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise _unreadable(path, f"must be UTF-8 text ({error.reason})") from error


def _unreadable(path: Path, rule: str) -> ParamError:
    """The error for a path, which is shown uncut, since its end matters most."""
    return ParamError.of([f"path = {str(path)!r}: {rule}"])


@dataclass
class _Import:
    """A running import."""

    memory: Namespace
    ties: IO[str]
    progress: Progress | None
    operation_id: str | None = None
    done: int = 0
    links: int = 0
    refused: int = 0
    loose: int = 0
    statuses: dict[str, int] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)
    ids: dict[str, None] = field(default_factory=dict)
    """The ids of the memories that its entries are."""
    stored_as: dict[str, str] = field(default_factory=dict)
    """By key of an entry, the other key of the memory that it duplicates."""

    def report(self) -> Report:
        """The counts so far."""
        count = self.statuses.get
        stored, duplicates, echoes = count("stored", 0), count("duplicate", 0), count("echo", 0)
        return Report(stored, duplicates, echoes, self.links, self.refused, self.loose, tuple(self.reasons))

    def load_entries(self, items: Iterator[Item]) -> None:
        """Remember the entries, and write the ties to a file: the end of a tie may come later, or never."""
        for batch in _batches(self._entries(items)):
            for entry, error in _refused(batch, self._remember, (ParamError, Conflict)):
                self.refused += 1
                self._note(f"{_entry_name(entry)}: {str(error).removeprefix('item 0: ')}")
            self.done += len(batch)
            if self.progress is not None:
                self.progress(self.done, None)

    def make_ties(self) -> None:
        """Make the links of the ties in the file."""
        self.ties.seek(0)
        for batch in _batches(Tie(*json.loads(line)) for line in self.ties):
            for tie, error in _refused(batch, self._link, (NotFound, ParamError)):
                self.loose += 1
                self._note(f"{tie.source} ─{tie.relation}→ {tie.target}: {error}")

    def _entries(self, items: Iterator[Item]) -> Iterator[Entry]:
        for item in items:
            if isinstance(item, Entry):
                yield item
            elif isinstance(item, Present):
                self.statuses["duplicate"] = self.statuses.get("duplicate", 0) + item.number
            else:
                self.ties.write(json.dumps(astuple(item)) + "\n")

    def _remember(self, batch: list[Entry]) -> None:
        """Remember a batch; if the import has an id, once only, by an id that follows from it and from the batch."""
        from priming.transfer import state

        texts = [entry.arguments for entry in batch]
        write = partial(state.remember_states, self.memory, texts, [entry.state for entry in batch])
        results = (
            write() if self.operation_id is None else state.once(self.memory, self.operation_id, texts, write)
        )
        for entry, result in zip(batch, results, strict=True):
            key = entry.arguments.get("key")
            if key is not None and key != result.key:
                self.stored_as[key] = result.key
            self.statuses[result.status] = self.statuses.get(result.status, 0) + 1
            self.ids[result.id] = None

    def _link(self, batch: list[Tie]) -> None:
        """Make the links of a batch but those that must stay unchanged, with the times of those that have any."""
        from priming.transfer import state

        fresh, others, times = list[Mapping[str, Any]](), list[Mapping[str, Any]](), {}
        for tie in batch:
            source, target = (self.stored_as.get(name, name) for name in (tie.source, tie.target))
            link = {"source": source, "target": target, "relation": tie.relation, "weight": tie.weight}
            (fresh if tie.fresh else others).append(link)
            if tie.created_at or tie.last_activated:
                stamps = state.moment(tie.created_at), state.moment(tie.last_activated)
                times[source, tie.relation, target] = stamps
        links = others + (state.without_user_links(self.memory, fresh) if fresh else [])
        self.links += state.link_with_times(self.memory, links, times)

    def _note(self, reason: str) -> None:
        if len(self.reasons) < _REASONS:
            self.reasons.append(reason)


def _refused(
    batch: list[T], work: Callable[[list[T]], None], refusals: tuple[type[PrimingError], ...]
) -> list[tuple[T, PrimingError]]:
    """Do the work of a batch, halved until an invalid item is alone; the items that are refused, and why."""
    try:
        work(batch)
    except refusals as error:
        if len(batch) == 1:
            return [(batch[0], error)]
        half = len(batch) // 2
        return _refused(batch[:half], work, refusals) + _refused(batch[half:], work, refusals)
    return []


def _entry_name(entry: Entry) -> str:
    """The name of an entry in a message: its key, else its heading, its source or the start of its content."""
    names = map(entry.arguments.get, ("key", "heading", "source", "content"))
    name = next(filter(None, names), "")
    text = " ".join(str(name).split())
    return repr(text if len(text) <= 60 else text[:59] + "…")


def _batches(items: Iterable[T]) -> Iterator[list[T]]:
    from priming.config.params.limits import STORE

    source = iter(items)
    while batch := list(islice(source, STORE.batch)):
        yield batch
