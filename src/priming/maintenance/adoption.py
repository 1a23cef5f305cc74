"""What a folder brings that does not count yet, as every surface finds it, tells it and adopts it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from priming.config import adoption, environment
from priming.config.store_urls import Location, place_of, without_password
from priming.config.values import dataclass
from priming.errors import StoreError

if TYPE_CHECKING:
    from priming.config.settings import Settings
    from priming.config.settings_files import File

_MOST_LINES = 40


@dataclass(frozen=True, slots=True)
class FolderContent:
    """The settings and the store of a folder that nobody on this machine adopted; each None where there is none."""

    settings: File | None
    store: Location | None

    def __bool__(self) -> bool:
        """Tell whether there is anything to adopt."""
        return self.settings is not None or self.store is not None

    @property
    def message(self) -> str:
        """What does not count, why, and the remedy, in one line."""
        return f"{' and '.join(self.paths)} {adoption.FOREIGN}"

    @property
    def paths(self) -> list[str]:
        """The files."""
        return [str(path) for path, _ in self._parts]

    @property
    def answer(self) -> str:
        """The answer that is kept about all of it; empty if there is none about a part."""
        answers = {adoption.answer(place_of(path), content) for path, content in self._parts}
        return answers.pop() if len(answers) == 1 else ""

    def first_message(self) -> str:
        """The message for where nobody can be asked: once, and empty from then on, or if nothing is there."""
        if not self or self.answer:
            return ""
        with suppress(StoreError):
            self.record(adoption.SAID)
        return self.message

    def record(self, value: str) -> None:
        """Keep an answer about each part."""
        for path, content in self._parts:
            adoption.record(place_of(path), content, value)

    def adopt(self) -> None:
        """Let the settings and the store count as the user's own.

        Raises:
            StoreError: the store, or the user's own folder, cannot be written.

        """
        if self.store is not None and self.store.path is not None:
            from priming.storage.sqlite.store import SqliteStore

            with closing(SqliteStore(self.store.path)) as store:
                store.adopt()
        if self.settings is not None:
            adoption.record(place_of(self.settings.path), self.settings.content, adoption.YES)

    def disown(self) -> None:
        """Let the settings and the store count no more, as if they had just come with the folder."""
        if self.store is not None and self.store.path is not None:
            from priming.storage.sqlite.store import SqliteStore

            with closing(SqliteStore(self.store.path)) as store:
                store.disown()
        self.record(adoption.NO)

    def description(self) -> Iterator[str]:
        """Say what would count, a line each."""
        if self.settings is not None:
            yield f"{self.settings.path}:"
            values = list(_flat(self.settings.parsed()[0]))
            yield from (f"  {line}" for line in values[:_MOST_LINES])
            if len(values) > _MOST_LINES:
                yield f"  and {len(values) - _MOST_LINES} more"
        if self.store is not None and self.store.path is not None:
            from priming.storage.sqlite.store import SqliteStore

            yield f"{self.store.path}:"
            with closing(SqliteStore(self.store.path, origin=self.store.origin)) as store:
                yield from (f"  {number:,} {name}" for name, number in store.contents().items() if number)

    @property
    def _parts(self) -> Iterator[tuple[Path, str]]:
        if self.settings is not None:
            yield self.settings.path, self.settings.content
        if self.store is not None and self.store.path is not None:
            yield self.store.path, f"store {self.store.path.stat().st_ino}"


def content_of(settings: Settings, *, adopted: bool = False) -> FolderContent:
    """Find what the folder of some settings brings and does not count yet, or with ``adopted`` all that it brings."""
    from priming.storage.sqlite.presence import is_own

    location = environment.locate(settings.store_url)
    path, origin = location.path, location.origin
    is_brought = False
    if path is not None and origin is not None:
        with suppress(sqlite3.Error, OSError):  # it is no store, or damaged: whatever opens it says so
            is_brought = path.exists() if adopted else not is_own(path, origin)
    file = settings.project_file
    counts = file is None or (file.is_adopted and not adopted)
    return FolderContent(None if counts else file, location if is_brought else None)


def _flat(table: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """Yield the values of nested tables as lines."""
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{above}{name}.")
        else:
            yield f"{above}{name} = {without_password(value) if isinstance(value, str) else value!r}"
