"""Operations of servers whose counterparts in the library take files or proposals, which a request cannot have."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from priming.config import private_files
from priming.errors import NotFound, ParamError
from priming.memory import Memory
from priming.results import Exported
from priming.rules.results import Pack
from priming.types import Operation, Progress


def apply(memory: Memory, proposal: str, *, only: Collection[str] | None = None) -> Operation:
    """Apply a proposal of this server, or only the items with these ids, as one operation.

    Args:
        proposal: the id of one of the latest that ``sleep`` made with ``dry_run``.
        only: ids of its items; null means all.

    """
    return memory.apply(proposal, only=only)


def operation(memory: Memory, operation_id: str) -> Operation:
    """Return the operation with an id and what it changed: a caller that lost the answer to a call finds it here.

    Raises:
        NotFound: there is no such operation: the call was not carried out, or wrote nothing.

    """
    logged = memory.operation(operation_id)
    if logged is None:
        raise NotFound(
            f"there is no operation {operation_id}: the call was not carried out, or wrote nothing"
        )
    return logged


def pack_content(
    memory: Memory,
    *,
    name: str,
    version: str = "1",
    description: str = "",
    tags: Sequence[str] | None = None,
    keys: Sequence[str] | None = None,
) -> str:
    """Return the file of a pack of active behaviours, as its text, without what this store knows of their use.

    Args:
        name: what the pack is called, such as ``go-style``.
        version: such as ``1`` or ``2.1``.
        description: one line about it.
        tags: only behaviours with one of these tags.
        keys: these behaviours; with ``tags``, these as well. Neither: all.

    """
    with private_files.temporary_folder() as folder:
        path = Path(folder, "pack.json")
        memory.pack_create(path, name=name, version=version, description=description, tags=tags, keys=keys)
        return path.read_text("utf-8")


def pack_add(memory: Memory, pack: str, *, trust: str = "tool") -> Pack:
    """Install the behaviours of a pack; another installed version is replaced.

    Args:
        pack: the text of its file.
        trust: how far its author is trusted; below ``agent`` its behaviours are shown as data, never as rules.

    """
    with _file("pack.json", "pack", pack) as path:
        return memory.pack_install(path, trust=trust)


def export_lines(memory: Memory, *, progress: Progress | None = None) -> Exported:
    """Return the whole namespace, its log included, as JSON Lines."""
    with private_files.temporary_folder() as folder:
        path = Path(folder, "export.jsonl")
        number = memory.export(path, progress=progress)
        return Exported(number, path.read_text("utf-8"), None if number else memory.empty_reason())


def import_lines(memory: Memory, lines: str, *, progress: Progress | None = None) -> int:
    """Read an export; the number of memories that were new.

    Args:
        lines: what ``export_lines`` answered, or the text of an exported file.

    """
    with _file("export.jsonl", "lines", lines) as path:
        return memory.import_(path, progress=progress)


@contextmanager
def _file(name: str, argument: str, text: str) -> Iterator[Path]:
    """Hold a file of a text that was sent; errors name the argument, since the caller has no file."""
    with private_files.temporary_folder() as folder:
        path = Path(folder, name)
        path.write_text(text, "utf-8")
        try:
            yield path
        except ParamError as error:
            raise ParamError.of(
                [violation.replace(str(path), argument) for violation in error.violations]
            ) from None
