"""Files and folders that only their user may read, whatever the umask."""

from __future__ import annotations

import errno
import os
import stat
import threading
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

FOLDER, FILE = 0o700, 0o600
_CREATING = threading.Lock()
_LONGEST = 1 << 24
_AT_ONCE = getattr(os, "O_NONBLOCK", 0)


def make_folder(folder: Path) -> None:
    """Create a folder, and the parents that are missing, with mode 0700; those that exist are left as they are."""
    missing = [folder] if not folder.exists() else []
    while missing and not missing[-1].parent.exists():
        missing.append(missing[-1].parent)
    for path in reversed(missing):
        with suppress(FileExistsError):
            path.mkdir(FOLDER)
            path.chmod(FOLDER)  # the umask may have taken rights of the user, too
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))


def create_file(path: Path) -> None:
    """Create an empty file with mode 0600 if there is none; one that exists is left as it is."""
    # Closing a database file drops the locks of this process on it: nobody else may open the new file before that.
    with _CREATING, suppress(FileExistsError):
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE)
        try:
            os.fchmod(handle, FILE)
        finally:
            os.close(handle)


def open_file(path: Path, *, buffering: int = -1) -> BinaryIO:
    """Open what has to be a file, to read it: a pipe would be waited for, and a device has no end.

    Raises:
        OSError: there is none, or it is none.

    """
    handle = os.open(path, os.O_RDONLY | _AT_ONCE | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "is no file", str(path))
    return os.fdopen(handle, "rb", buffering)


def read_text(path: Path) -> str:
    """The text of a small file in UTF-8.

    Raises:
        OSError: there is none, or it is none.
        ValueError: it is too long, or in another encoding.

    """
    with open_file(path) as file:
        data = file.read(_LONGEST + 1)
    if len(data) > _LONGEST:
        raise ValueError(f"{path} has more than {_LONGEST:,} bytes")
    return data.decode("utf-8")


def write_text(path: Path, text: str) -> None:
    """Write a text to a file that only the user may read: a new one, or one whose mode becomes that."""
    path.unlink(missing_ok=True)
    create_file(path)
    path.write_text(text, "utf-8")
