"""Keep files, folders of notes and repositories in step with a memory, as they change."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import field
from pathlib import Path
from threading import Event

from priming.config.values import dataclass
from priming.errors import ParamError
from priming.namespace import Namespace
from priming.transfer.importers import Report, Stored, recognised
from priming.transfer.run import run

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
            state = signature(path)
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
                if any(signature(path) != self._seen.get(path) for path in self.paths):
                    yield
            return
        events = watch(*self.paths, stop_event=stop, rust_timeout=_TICK, yield_on_timeout=True)
        for first, changed in enumerate(events):
            if changed or not first:  # what happens while this is followed waits for its turn
                yield


def signature(path: Path) -> int:
    """Return a hash of the names, sizes and times of the files below a path, equal while nothing changes."""
    return hash(tuple(_stats(path)))


def _stats(path: Path) -> Iterator[tuple[str, int, int]]:
    """The files below a path that are not hidden, and what changes in a repository when there is a commit."""
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
