"""The folder in which a repository of git keeps what is its own, for each of its work trees; light to import."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from priming.config import private_files


def repository_root(folder: Path) -> Path:
    """Return the folder of the main work tree of a repository, for the root of any; of a bare one its own folder.

    A link is followed if it is mutual.
    """
    try:
        linked = _git_folder(folder)
        common = Path(os.path.realpath(linked / private_files.read_text(linked / "commondir").strip()))
        back = private_files.read_text(linked / "gitdir").strip()
    except (OSError, ValueError):
        return folder
    is_mutual = linked.parent == common / "worktrees" and os.path.realpath(linked / back) == os.path.realpath(
        folder / ".git"
    )
    if not is_mutual:
        return folder
    with suppress(
        OSError, ValueError
    ):  # a folder whose file .git names the bare repository in it is its root
        return common.parent if common.name == ".git" or _git_folder(common.parent) == common else common
    return common


def _git_folder(root: Path) -> Path:
    """Return the folder that the file ``.git`` of a work tree names; a link names none."""
    text = "" if os.path.islink(root / ".git") else private_files.read_text(root / ".git")
    return Path(os.path.realpath(root / text.removeprefix("gitdir:").strip()))
