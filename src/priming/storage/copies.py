"""The copies of texts that Priming makes unasked, on this machine: they end by themselves, and a purge reaches them.

For a store ``m.db`` these are ``m.db.schema-6.backup``, the store before a migration; in ``m.db.backups/replaced``
the store before a backup was put back; in the hooks' folder what sessions of agents were shown, and corrections
that wait; and what killed processes left there, or among temporary files. A person's own backups are none.
A text is reached by the names that it mentions.
"""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from glob import escape
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any

from priming.config import private_files
from priming.config.environment import QUEUED, hooks_folder
from priming.config.params.limits import STORE
from priming.core.arguments.normal_forms import folded, mark_class
from priming.errors import Busy
from priming.results import StoreCopy
from priming.text.tokens import SPACELESS

REPLACED_STORES = "replaced"
_LOCK, _PURGING, _DAY = ".lock", ".purging-", 86_400.0
_UNASKED = re.compile(r"\.schema-\d+\.backup$|\.partial(-journal|-wal|-shm)?$")


def end_old_backups(database: Path) -> None:
    """Remove the backups that were made unasked and have had their time."""
    oldest = time.time() - STORE.copy_days * _DAY
    for path in _backups(database):
        with suppress(OSError):
            if path.stat().st_mtime < oldest:
                path.unlink()


def remove_copies(
    databases: Collection[Path], private: Collection[str], *, dry_run: bool = False
) -> tuple[StoreCopy, ...]:
    """Remove every copy; of the corrections that wait, of which none may be lost, those that have a private text."""
    paths = [path for database in databases for path in (*_backups(database), *_of_hooks(database, private))]
    return tuple(_removed(path, dry_run) for path in (*paths, *private_files.abandoned_folders()))


def purge_mark(databases: Sequence[Path], namespace: str, name: str) -> Path | None:
    """Return the file that says that a purge has begun and has not finished, by a digest of what it is to erase."""
    digest = blake2b(f"{namespace}\n{name}".encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return Path(f"{databases[0]}{_PURGING}{digest}") if databases else None


def begin_purge(mark: Path | None) -> None:
    """Write the mark; where that is impossible, nobody is told if the purge does not finish."""
    if mark is not None:
        with suppress(OSError):
            private_files.make_folder(mark.parent)
            private_files.create_file(mark)


def finish_purges(databases: Collection[Path]) -> None:
    """Remove all marks: a purge that finished has finished those before it."""
    for database in databases:
        for mark in database.parent.glob(f"{escape(database.name)}{_PURGING}*"):
            mark.unlink(missing_ok=True)


def _backups(database: Path) -> Iterator[Path]:
    folder = Path(f"{database}.backups")
    for path in (*database.parent.glob(f"{escape(database.name)}.schema-*"), *folder.glob("*.partial*")):
        if _UNASKED.search(path.name):
            yield path
    yield from folder.glob(f"{REPLACED_STORES}/*")


def _of_hooks(database: Path, private: Collection[str]) -> Iterator[Path]:
    beside = Path(f"{database}.hooks")  # where earlier versions had them
    for path in chain(hooks_folder(database).glob("*"), beside.glob("*")):
        with suppress(OSError, ValueError):
            if path.suffix == QUEUED and not mentions_any(private)(json.loads(private_files.read_text(path))):
                continue
        if path.suffix != _LOCK:
            yield path


def _removed(path: Path, dry_run: bool) -> StoreCopy:
    """Remove a copy; the state of a session only while none of its hooks is at work, which would write it again."""
    lock = path.with_suffix(_LOCK)
    try:
        with private_files.locked(lock, STORE.copy_lock) if lock.exists() else nullcontext():
            if not dry_run:
                shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    except (OSError, Busy) as error:
        return StoreCopy(str(path), f"not reached: {error}", reached=False)
    return StoreCopy(str(path), "would be removed" if dry_run else "removed")


_BETWEEN = r"[\s_.\-]+"
_GENITIVE = "(?:'?s)?"


def mentions_any(names: Collection[str]) -> Callable[[Any], bool]:
    """Tell whether a text, or any text within a list or mapping, mentions one of the names.

    Words are whole, in any case, with accents or without.

    >>> is_named = mentions_any(["Ada Byron"])
    >>> is_named("by ada  byron's hand"), is_named({"key": ["ada-byron"]}), is_named("Ada Byrons"), is_named("Adam")
    (True, True, True, False)
    """
    pattern = re.compile("|".join(map(_pattern, map(folded, names))) or r"(?!)")

    return lambda value: any(pattern.search(folded(text)) for text in texts_in(value))


def texts_in(value: Any) -> Iterator[str]:
    """Yield a text, or every text within a list or mapping."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (Mapping, list, tuple)):
        items = [*value, *value.values()] if isinstance(value, Mapping) else value
        for item in items:
            yield from texts_in(item)


def _pattern(name: str) -> str:
    words = _BETWEEN.join(map(re.escape, name.split()))
    before = "" if SPACELESS.match(name[:1]) else rf"(?<![^\W_])(?<![{mark_class()}])"
    after = "" if SPACELESS.match(name[-1:]) else rf"{_GENITIVE}(?![^\W_]|[{mark_class()}])"
    return f"{before}{words}{after}"
