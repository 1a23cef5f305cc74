"""Run an importer: find what reads a path, follow it, report what became of its items; again as files change."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from inspect import signature
from pathlib import Path
from threading import Event
from typing import Any

from priming.config.values import dataclass
from priming.errors import ParamError, PrimingError, StoreError
from priming.namespace import Namespace
from priming.transfer.following import Following
from priming.transfer.importers import Format, Importer, Item, Report, Skipped, Stored, find, recognised
from priming.transfer.reading import files, other_files, unreadable
from priming.types import Progress

_TIES_IN_MEMORY = 1 << 20


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during an import; ``report`` counts the finished batches, which are kept."""

    def __init__(self, report: Report) -> None:
        self.report = report
        super().__init__(f"interrupted: {progress_summary(report)}")


def progress_summary(report: Report) -> str:
    """Return what an interrupted import has stored, in words."""
    if not report.stored:
        return "nothing was stored yet"
    return f"{report.stored:,} new memories are kept; repeat the command to continue from there"


def run(
    memory: Namespace,
    name: str,
    path: str | Path,
    progress: Progress | None = None,
    *,
    operation_id: str | None = None,
    later: bool = False,
    prune: bool = False,
    strict: bool = False,
    **options: Any,
) -> Report:
    """Import ``path``, or follow it: what is new is stored, what changed superseded, what is gone reported.

    An item that cannot be read or stored is skipped and reported; an error or an interrupt keeps the batches before
    it. A source that has not changed since it was last followed is not read again.

    Args:
        memory: the namespace to import into.
        name: the format.
        path: the file or folder.
        progress: called with (entries done, None) after each batch, then with (done, total) of their vectors.
        operation_id: a UUID; a batch of an import with this id is stored once.
        later: leave the vectors to what follows.
        prune: deprecate the memories of this path that are no longer in it.
        strict: stop at the first item that cannot be read.
        options: the importer's own.

    Raises:
        ParamError: the importer does not exist, has no such option, or cannot read the path, or with ``strict`` an
            item.
        Interrupted: at Ctrl-C, with the report so far.

    """
    from priming.remember.vectors import complete

    form = find(name)
    importer = _with_options(memory, name, form, options)
    can_be_read_twice = Path(path).is_file() or Path(path).is_dir()
    digest = partial(form.digest, Path(path), **options) if form.digest and can_be_read_twice else None
    with tempfile.SpooledTemporaryFile(_TIES_IN_MEMORY, "w+", encoding="utf-8") as ties:
        only = f"/{options['only']}" if "only" in options else ""
        place = Path(f"{form.place(Path(path))}{only}")
        job = Following(memory, name, place, ties, progress, operation_id, own_keys=form.own_keys)
        try:
            is_emptied = _is_empty(Path(path), form) and job.of_path()
            items = partial(_items, importer, Path(path), strict=strict)
            job.follow((lambda: iter(())) if is_emptied else items, digest, prune=prune)
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
        report = job.report()
        left_out = Path(path).is_dir() and form.endings
        return replace(report, others=other_files(Path(path), form.endings)) if left_out else report


def _is_empty(path: Path, form: Format) -> bool:
    """Tell whether a folder has no file of a format that reads all of its kind below it."""
    return bool(form.endings) and path.is_dir() and next(files(path, form.endings), None) is None


def _with_options(memory: Namespace, name: str, form: Format, options: Mapping[str, Any]) -> Importer:
    """Return an importer with its options, and with what the namespace has, if it wants to know that."""
    accepted = [*signature(form.read).parameters][1:]
    for option, value in options.items():
        if option not in accepted or option == "stored":
            raise ParamError(option, value, f"is no option of the importer {name!r}: leave it out")
    present = {"stored": Stored(memory)} if "stored" in accepted else {}
    return partial(form.read, **options, **present)


def _items(importer: Importer, path: Path, *, strict: bool) -> Iterator[Item]:
    """Yield the items of an importer, with its reading errors as errors of Priming."""
    try:
        for item in importer(path):
            if not isinstance(item, Item):
                rule = "must be an Entry, a Tie or a Present: the importer is at fault"
                raise ParamError("item", item, rule)
            if strict and isinstance(item, Skipped):
                raise item.error
            yield item
    except OSError as error:
        raise unreadable(path, error) from error
    except UnicodeDecodeError as error:
        raise ParamError("path", str(path), f"must be UTF-8 text ({error.reason})") from error


_PAUSE = 1.0
"""Seconds between two looks at files, where the system tells of no changes."""
_TICK = 200
"""Milliseconds after which a watch looks whether it is to stop."""
_GIT = ("HEAD", "packed-refs", "refs", "logs")


@dataclass
class Follower:
    """Sources that are read again when something in them changed since they were last read.

    ``paths`` are followed by the format that they have by their shape, or by ``name``.
    """

    paths: Sequence[Path]
    name: str | None = None
    _seen: dict[Path, int] = field(default_factory=dict)

    def follow(self, memory: Namespace) -> Iterator[tuple[Path, Report | ParamError]]:
        """Bring the memories of changed sources in step, those that are gone too; yield what became of each.

        A source that cannot be read, such as a folder that is away, is left as it is until it changes.
        """
        for path in self.paths:
            state = state_of(path)
            if self._seen.get(path) != state:
                self._seen[path] = state
                try:
                    name = self.name or recognised(path, Stored(memory))
                    yield path, run(memory, name, path, prune=True)
                except ParamError as error:
                    yield path, error

    def changes(self, stop: Event) -> Iterator[None]:
        """Yield at once, and whenever something changed, until ``stop`` is set; by ``watchfiles`` where that is."""
        try:
            from watchfiles import watch
        except ImportError:
            yield
            while not stop.wait(_PAUSE):
                if any(state_of(path) != self._seen.get(path) for path in self.paths):
                    yield
            return
        events = watch(*self.paths, stop_event=stop, rust_timeout=_TICK, yield_on_timeout=True)
        for first, changed in enumerate(events):
            if changed or not first:  # what happens while this is followed waits for its turn
                yield


def state_of(path: Path) -> int:
    """Return a hash of the names, sizes and times of the files below a path, equal while nothing changes."""
    return hash(tuple(_stats(path)))


def _stats(path: Path) -> Iterator[tuple[str, int, int]]:
    """Yield the files below a path that are not hidden, and what changes in a repository when there is a commit."""
    waiting = [os.fspath(path), *(os.path.join(path, ".git", name) for name in _GIT)]
    while waiting:
        place = waiting.pop()
        try:
            with os.scandir(place) as entries:
                waiting += [entry.path for entry in entries if not entry.name.startswith(".")]
            continue
        except NotADirectoryError:
            pass
        except OSError:
            continue
        try:
            stat = os.stat(place)
        except OSError:
            continue
        yield place, stat.st_mtime_ns, stat.st_size
