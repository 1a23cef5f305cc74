"""Backups of a whole store, all namespaces of it, and putting one back."""

from __future__ import annotations

from datetime import datetime
from itertools import count
from pathlib import Path

from priming.checks import check_path
from priming.errors import Conflict, ParamError
from priming.ids import uuid7
from priming.index.working_set import RESTORE
from priming.namespace import Namespace
from priming.store.protocol import Changes


def backup(memory: Namespace, path: str | Path | None = None) -> Path:
    """Copy the whole store, all of its namespaces, to a new file; others may write meanwhile.

    Args:
        path: the file; None means one named by the time, in the folder ``<database>.backups``.

    Raises:
        ParamError: no path for a store in memory.
        Conflict: the file is there already.
        StoreError: it cannot be written.

    """
    with memory.lock:
        chosen = _free(memory, memory.now()) if path is None else check_path(path)
        if chosen is None:
            raise ParamError("path", None, "must be given: a store in memory has no folder for backups")
        memory.store.backup(chosen)
        return chosen


def restore_backup(memory: Namespace, path: str | Path) -> Path:
    """Put a backup in the place of the whole store, all of its namespaces, in one step.

    What is there is backed up first; the answer is that backup, which takes the step back. Other processes that
    have the store open see what was put back at their next call.

    Args:
        path: a file that ``backup`` wrote, or that a migration left beside the store.

    Raises:
        ParamError: there is no such file.
        Conflict: it is the store itself, or this store is in memory.
        Corrupt, SchemaTooNew: it is no backup of a Priming store, or of a newer one.

    """
    chosen = check_path(path)
    with memory.lock:
        with memory.writing() as now:
            saved = _free(memory, now)
            if saved is None:
                raise Conflict(
                    "a store in memory has no folder for the backup that is made first: open one in a file"
                )
            memory.store.backup(saved)
            try:
                memory.store.restore_backup(chosen, _operations(memory, now, f"put back {chosen}"))
            except BaseException:
                saved.unlink(missing_ok=True)
                raise
        memory.drop_snapshot()
    return saved


def _operations(memory: Namespace, now: datetime, message: str) -> list[Changes]:
    """One for each namespace: it tells the processes that follow the log to read everything anew."""
    names = {*memory.store.namespaces(), memory.namespace}
    return [Changes(name, uuid7(now), RESTORE, now, actor="user", message=message) for name in sorted(names)]


def _free(memory: Namespace, now: datetime) -> Path | None:
    """A file of the folder of backups that is not there yet, named by the time."""
    folder = memory.store.backups
    if folder is None:
        return None
    stem = now.strftime("%Y-%m-%dT%H-%M-%SZ")
    paths = (folder / (f"{stem}.db" if number == 1 else f"{stem}-{number}.db") for number in count(1))
    return next(path for path in paths if not path.exists())
