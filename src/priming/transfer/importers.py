"""The seam for importers: each turns a file or folder into memories and links, one at a time.

An importer is a function from a path to an iterator of ``Entry`` and ``Tie``, registered under its name in
the entry-point group ``priming.importers``, by this package or any other:

    [project.entry-points."priming.importers"]
    mail = "my_package.mail:read"
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

from priming.errors import Conflict, NotFound, ParamError, PrimingError, StoreError
from priming.types import ImportedState, Progress

if TYPE_CHECKING:
    from priming.memory import Memory
    from priming.results import Remembered

GROUP = "priming.importers"
OWN = "priming"
"""The name of Priming's own export format, which ``Memory.import_`` reads."""

T = TypeVar("T")
_REASONS = 100
_TIES_IN_MEMORY = 1 << 20


@dataclass(frozen=True, slots=True)
class Entry:
    """One memory to be remembered: the arguments of ``remember``, and the state that it brings, if any.

    The state is given to a memory that is new here; one that is there already keeps its own.
    """

    arguments: Mapping[str, Any]
    state: ImportedState | None = None


@dataclass(frozen=True, slots=True)
class Tie:
    """One link between two memories, named by their keys; they may come before or after it.

    A link that was made before is set to this weight, unless the tie is only for a ``fresh`` one: then it is left
    alone.
    """

    source: str
    target: str
    relation: str
    weight: float
    fresh: bool = False


Item = Entry | Tie
Importer = Callable[[Path], Iterator[Item]]


@dataclass(frozen=True, slots=True)
class Report:
    """What an import did. ``refused`` entries could not be stored, ``loose`` ties not be made.

    ``skipped`` says why, for the first hundred of both.
    """

    stored: int = 0
    duplicates: int = 0
    echoes: int = 0
    links: int = 0
    refused: int = 0
    loose: int = 0
    skipped: tuple[str, ...] = ()


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during an import: ``report`` counts the finished batches, which are kept."""

    def __init__(self, report: Report) -> None:
        self.report = report
        super().__init__(f"interrupted: {progress_summary(report)}")


def progress_summary(report: Report) -> str:
    """What an import that stopped early leaves behind, in words."""
    if not report.stored:
        return "nothing was stored yet"
    return f"{report.stored:,} new memories are kept; the same command again goes on from there"


def names() -> list[str]:
    """The importers there are, by name, beside Priming's own format."""
    from importlib.metadata import entry_points

    return sorted({point.name for point in entry_points(group=GROUP)})


def find(name: str) -> Importer:
    """The importer of that name; ``ParamError`` lists the names there are."""
    from importlib.metadata import entry_points

    for point in entry_points(group=GROUP, name=name):
        try:
            importer: Importer = point.load()
        except (ImportError, AttributeError) as error:
            raise PrimingError(f"the importer {name!r} ({point.value}) cannot be loaded: {error}") from error
        return importer
    raise ParamError("source", name, f"must be one of {', '.join([OWN, *names()])}")


def run(memory: Memory, name: str, path: str | Path, progress: Progress | None = None) -> Report:
    """Import ``path``: entries as they come, in batches; then the ties, when all their ends are there.

    What cannot be stored is skipped and reported; an error or an interrupt keeps the batches before it.
    ``progress`` is called with (entries done, None) after each batch.

    Raises:
        ParamError: no such importer, or a path that it cannot read.
        Interrupted: at Ctrl-C, with the report so far.

    """
    importer = find(name)
    with tempfile.SpooledTemporaryFile(_TIES_IN_MEMORY, "w+", encoding="utf-8") as ties:
        loading = _Loading(memory, ties, progress)
        try:
            loading.take(_items(importer, Path(path)))
            loading.make_ties()
        except KeyboardInterrupt:
            raise Interrupted(loading.report()) from None
        except PrimingError as error:
            if loading.done:
                error.add_note(progress_summary(loading.report()))
            raise
        except OSError as error:
            raise StoreError(
                f"the links could not be put aside in {tempfile.gettempdir()}: {error}"
            ) from error
        return loading.report()


def _items(importer: Importer, path: Path) -> Iterator[Item]:
    """What the importer yields; its reading errors as errors of the tree."""
    try:
        for item in importer(path):
            if not isinstance(item, (Entry, Tie)):
                raise ParamError("item", item, "must be an Entry or a Tie: the importer is at fault")
            yield item
    except OSError as error:
        raise _unreadable(path, f"cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise _unreadable(path, f"must be UTF-8 text ({error.reason})") from error


def _unreadable(path: Path, rule: str) -> ParamError:
    """The path in full: what matters most is its end."""
    return ParamError.of([f"path = {str(path)!r}: {rule}"])


@dataclass
class _Loading:
    """One import under way."""

    memory: Memory
    ties: IO[str]
    progress: Progress | None
    done: int = 0
    links: int = 0
    refused: int = 0
    loose: int = 0
    statuses: dict[str, int] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)
    stored_as: dict[str, str] = field(default_factory=dict)
    """Keys of entries that were there already under another key."""

    def report(self) -> Report:
        """What was done so far."""
        of = self.statuses.get
        return Report(
            stored=of("stored", 0),
            duplicates=of("duplicate", 0),
            echoes=of("echo", 0),
            links=self.links,
            refused=self.refused,
            loose=self.loose,
            skipped=tuple(self.reasons),
        )

    def take(self, items: Iterator[Item]) -> None:
        """Remember the entries, and put the ties aside: an end of one may come later, or never."""
        for batch in _batches(self._entries(items)):
            self._remember(batch)
            self.done += len(batch)
            if self.progress is not None:
                self.progress(self.done, None)

    def make_ties(self) -> None:
        """Make the ties that were put aside."""
        self.ties.seek(0)
        for batch in _batches(Tie(*json.loads(line)) for line in self.ties):
            self._link(batch)

    def _entries(self, items: Iterator[Item]) -> Iterator[Entry]:
        for item in items:
            if isinstance(item, Entry):
                yield item
            else:
                self.ties.write(json.dumps(astuple(item)) + "\n")

    def _remember(self, batch: list[Entry]) -> None:
        """Remember a batch; one that is refused is halved until the entry at fault stands alone."""
        try:
            answers = self._stored(batch)
        except (ParamError, Conflict) as error:
            if len(batch) > 1:
                self._remember(batch[: len(batch) // 2])
                self._remember(batch[len(batch) // 2 :])
                return
            self.refused += 1
            self._note(f"{_called(batch[0])}: {str(error).removeprefix('item 0: ')}")
            return
        for entry, answer in zip(batch, answers, strict=True):
            key = entry.arguments.get("key")
            if key is not None and key != answer.key:
                self.stored_as[key] = answer.key
            self.statuses[answer.status] = self.statuses.get(answer.status, 0) + 1

    def _stored(self, batch: list[Entry]) -> list[Remembered]:
        arguments = [entry.arguments for entry in batch]
        if all(entry.state is None for entry in batch):
            return self.memory.remember_many(arguments)
        from priming.transfer import state

        return state.remember_states(self.memory, arguments, [entry.state for entry in batch])

    def _link_arguments(self, batch: list[Tie]) -> list[Mapping[str, Any]]:
        """The links of a batch as ``link_many`` takes them, without those that are to be left alone."""
        links: list[Mapping[str, Any]] = [
            {
                "source": self.stored_as.get(tie.source, tie.source),
                "target": self.stored_as.get(tie.target, tie.target),
                "relation": tie.relation,
                "weight": tie.weight,
            }
            for tie in batch
        ]
        if not any(tie.fresh for tie in batch):
            return links
        from priming.transfer import state

        fresh = [link for link, tie in zip(links, batch, strict=True) if tie.fresh]
        others = [link for link, tie in zip(links, batch, strict=True) if not tie.fresh]
        return others + state.to_link(self.memory, fresh)

    def _link(self, batch: list[Tie]) -> None:
        """Make a batch of ties, halved like a batch of entries."""
        try:
            self.links += len(self.memory.link_many(self._link_arguments(batch)))
        except (NotFound, ParamError) as error:
            if len(batch) > 1:
                self._link(batch[: len(batch) // 2])
                self._link(batch[len(batch) // 2 :])
                return
            self.loose += 1
            self._note(f"{batch[0].source} ─{batch[0].relation}→ {batch[0].target}: {error}")

    def _note(self, reason: str) -> None:
        if len(self.reasons) < _REASONS:
            self.reasons.append(reason)


def _called(entry: Entry) -> str:
    """What names an entry to a reader."""
    names = map(entry.arguments.get, ("key", "heading", "source", "content"))
    name = next(filter(None, names), "")
    text = " ".join(str(name).split())
    return repr(text if len(text) <= 60 else text[:59] + "…")


def _batches(items: Iterable[T]) -> Iterator[list[T]]:
    from priming.config.params.store import STORE

    source = iter(items)
    while batch := list(islice(source, STORE.batch)):
        yield batch
