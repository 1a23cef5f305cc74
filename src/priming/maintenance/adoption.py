"""What a folder brings that does not count yet, as every surface finds it, tells it and adopts it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from priming.config import adoption, environment
from priming.config.store_urls import Location, without_password
from priming.config.values import dataclass
from priming.errors import StoreError
from priming.text.quotation import terminal_text

if TYPE_CHECKING:
    from priming.config.settings import Settings
    from priming.config.settings_files import File

_LONGEST = 200


@dataclass(frozen=True, slots=True)
class FolderContent:
    """The settings and the store of a folder, each None where there is none that matters."""

    settings: File | None
    store: Location | None

    @property
    def paths(self) -> list[str]:
        """The files."""
        return [str(path) for path, _, _ in self._parts]

    @property
    def message(self) -> str:
        """What does not count, why, and the remedy, in one line; empty if all counts."""
        names = " and ".join(" ".join(terminal_text(path).split())[:_LONGEST] for path in self.paths)
        return f"{names} {adoption.FOREIGN}" if names else ""

    @property
    def answer(self) -> str:
        """The answer that is kept about all of it; empty if there is none about a part."""
        answers = {adoption.answer(place, content) for _, place, content in self._parts}
        return answers.pop() if len(answers) == 1 else ""

    def first_message(self) -> str:
        """Return the message where nobody can be asked: once, and empty from then on."""
        if self.answer:
            return ""
        with suppress(StoreError):
            self.record(adoption.SAID)
        return self.message

    def record(self, value: str) -> None:
        """Keep an answer about each part."""
        for _, place, content in self._parts:
            adoption.record(place, content, value)

    def settle(self, *, adopt: bool) -> None:
        """Let the settings and the store count as the user's own, or no more.

        Raises:
            StoreError: the store, or the user's own folder, cannot be written, or a link of the folder leads there.

        """
        from priming.storage.sqlite.files import keep_out_of_git

        if adopt and self.settings is not None:
            keep_out_of_git(self.settings.path.parent)  # they may name a password
        if self.store is not None and self.store.path is not None:
            from priming.storage.sqlite.store import SqliteStore

            if (real := os.path.realpath(self.store.path)) != self.store.origin:
                rule = "is reached by a link of this folder: name that store itself, by --url or PRIMING_URL"
                raise StoreError(f"{real} {rule}")
            with closing(SqliteStore(self.store.path)) as store:
                store.adopt() if adopt else store.disown()
        self.record(adoption.YES if adopt else adoption.NO)

    def description(self) -> Iterator[str]:
        """Say what would count, a line each."""
        if self.settings is not None:
            yield f"{self.settings.path}:"
            yield from sorted(_flat(self.settings.parsed()[0]), key=_weight)
        if self.store is not None:
            from priming.storage.sqlite.store import SqliteStore

            yield f"{self.store.path}:"
            journals = [f"{self.store.path}{ending}" for ending in ("-wal", "-journal")]
            yield from (
                f"  and {file}, which may replace any of it" for file in journals if _has_content(file)
            )
            with closing(SqliteStore(self.store.path, origin=self.store.origin)) as store:
                yield from (f"  {number:,} {name}" for name, number in store.contents().items() if number)

    @property
    def _parts(self) -> Iterator[tuple[Path, str, str]]:
        if self.settings is not None:
            yield self.settings.path, self.settings.origin, self.settings.content
        if self.store is not None and self.store.path is not None:
            status = self.store.path.lstat()
            content = f"store {status.st_ino} {status.st_mtime_ns} {status.st_size}"
            yield self.store.path, str(self.store.origin), content


def content_of(settings: Settings, *, adopted: bool = False) -> FolderContent:
    """Find what the folder of some settings brings and does not count yet, or with ``adopted`` all that it brings."""
    from priming.storage.sqlite.presence import is_own

    location = environment.locate(settings.store_url)
    path, origin = location.path, location.origin
    is_there = path is not None and origin is not None and os.path.lexists(path)
    is_brought = is_there and path is not None and (adopted or not is_own(path, origin))
    file = settings.project_file
    return FolderContent(
        None if file is None or (file.is_adopted and not adopted) else file, location if is_brought else None
    )


def _has_content(file: str) -> bool:
    return os.path.lexists(file) and os.lstat(file).st_size > 0


def _weight(line: str) -> bool:
    """Return what decides where texts go comes last, where nothing can push it out of sight."""
    return line.startswith(("  store.", "  hooks.", "  server."))


def _flat(table: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """Yield the values of nested tables as lines."""
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{above}{name}.")
        else:
            yield f"  {above}{name} = {without_password(str(value))!r}"[:_LONGEST]
