"""Keeping the store safe."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from priming.engine import backup
from priming.engine.reembed import reembed
from priming.engine.verbs.base import Verbs


class Keeping(Verbs):
    """Keeping the store safe."""

    def backup(self, path: str | Path | None = None) -> Path:
        """Copy the whole store, all of its namespaces, to a new file; others may write meanwhile.

        Args:
            path: the file; None means one named by the time, in the folder ``<database>.backups``.

        Raises:
            ParamError: no path for a store in memory.
            Conflict: the file is there already.
            StoreError: it cannot be written.

        """
        return backup.backup(self._opened, path)

    def restore_backup(self, path: str | Path) -> Path:
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
        return backup.restore_backup(self._opened, path)

    def reembed(self, *, progress: Callable[[int, int | None], None] | None = None) -> int:
        """Make the vectors that the embedder of this memory lacks, of every version of every text; how many it made.

        Wanted where a store was made with another embedder. Interrupted, it goes on where it stopped. Other processes
        that have the namespace open find by these vectors once they have opened it again.

        Args:
            progress: called with (done, total).

        Raises:
            EmbedderError: the embedder made no vectors; those made before are kept.

        """
        return reembed(self._opened, progress)
