"""Packs of behaviours that can be handed on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from priming.behaviors import Pack
from priming.checks import check_path
from priming.engine import installing, packs
from priming.engine.verbs.base import Verbs
from priming.types import Operation


class Packing(Verbs):
    """Packs of behaviours that can be handed on."""

    def pack_create(
        self,
        path: str | Path,
        *,
        name: str,
        version: str = "1",
        description: str = "",
        tags: Sequence[str] | None = None,
        keys: Sequence[str] | None = None,
    ) -> Pack:
        """Write active behaviours and the links among them to a new file, without what this store knows of their use.

        Args:
            path: the file; it must not be there.
            name: what the pack is called, such as ``go-style``.
            version: such as ``1`` or ``2.1``.
            description: one line about it.
            tags: only behaviours with one of these tags.
            keys: these behaviours; with ``tags``, these as well. Neither: all.

        Raises:
            ParamError: a name or version that is none, or a key of something else than a behaviour.
            NotFound: a key that is not there, or no behaviour to pack.
            Conflict: the file is there already, or a behaviour that is named is not active.
            StoreError: a file that cannot be written.

        """
        return packs.create(
            self._opened,
            check_path(path),
            name=name,
            version=version,
            description=description,
            tags=tags,
            keys=keys,
        )

    def pack_install(self, path: str | Path, *, trust: str = "tool") -> Pack:
        """Take in the behaviours of a pack, under ``NAME/KEY``; another version of it that is there is replaced.

        The same version again changes nothing: the answer has no operation then.

        Args:
            path: the file.
            trust: how far its author is trusted; below ``agent`` its behaviours are shown as data, never as rules.

        Raises:
            ParamError: a file that is no pack, with everything that is wrong with it.
            SchemaTooNew: the file was written by a newer Priming.
            Conflict: a key of the pack names a memory that is not of it.

        """
        return installing.install(self._opened, check_path(path), trust=trust)

    def pack_list(self) -> list[Pack]:
        """The packs that are installed, by name."""
        with self._opened.lock:
            return packs.list_(self._opened)

    def pack_remove(self, name: str) -> Operation:
        """Take all behaviours of a pack out of recall; undo brings them back, and so does installing it again.

        Raises:
            NotFound: no such pack.
            Conflict: it is removed already.

        """
        return packs.remove(self._opened, name)
