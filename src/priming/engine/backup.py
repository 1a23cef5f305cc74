"""Backups of a whole store, all namespaces of it, and putting one back."""

from __future__ import annotations

from datetime import datetime
from itertools import count
from pathlib import Path

from priming.checks import check_path
from priming.engine.opened import Opened
from priming.engine.working import RESTORE
from priming.errors import Conflict, ParamError
from priming.ids import uuid7
from priming.store.protocol import Changes


def backup(opened: Opened, path: str | Path | None = None) -> Path:
    """Copy the store to a file, by default one named by the time in the folder of its backups; the file."""
    with opened.lock:
        chosen = _free(opened, opened.now()) if path is None else check_path(path)
        if chosen is None:
            raise ParamError("path", None, "must be given: a store in memory has no folder for backups")
        opened.store.backup(chosen)
        return chosen


def restore_backup(opened: Opened, path: str | Path) -> Path:
    """Put a backup in the place of the whole store, after a backup of what is there; the file of that one."""
    chosen = check_path(path)
    with opened.lock:
        with opened.writing() as now:
            saved = _free(opened, now)
            if saved is None:
                raise Conflict(
                    "a store in memory has no folder for the backup that is made first: open one in a file"
                )
            opened.store.backup(saved)
            try:
                opened.store.restore_backup(chosen, _operations(opened, now, f"put back {chosen}"))
            except BaseException:
                saved.unlink(missing_ok=True)
                raise
        opened.drop_snapshot()
    return saved


def _operations(opened: Opened, now: datetime, message: str) -> list[Changes]:
    """One for each namespace: it tells the processes that follow the log to read everything anew."""
    names = {*opened.store.namespaces(), opened.namespace}
    return [Changes(name, uuid7(now), RESTORE, now, actor="user", message=message) for name in sorted(names)]


def _free(opened: Opened, now: datetime) -> Path | None:
    """A file of the folder of backups that is not there yet, named by the time."""
    folder = opened.store.backups
    if folder is None:
        return None
    stem = now.strftime("%Y-%m-%dT%H-%M-%SZ")
    paths = (folder / (f"{stem}.db" if number == 1 else f"{stem}-{number}.db") for number in count(1))
    return next(path for path in paths if not path.exists())
