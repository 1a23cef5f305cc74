"""Files and folders that only their user may read, whatever the umask."""

from __future__ import annotations

import errno
import os
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from priming.errors import Busy

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

try:
    import fcntl
except ImportError:  # a system without it has no servers either: two hooks at once may show a memory twice
    fcntl = None  # type: ignore[assignment]

HAS_LOCKS = fcntl is not None
FOLDER, FILE = 0o700, 0o600
_IN_MEMORY = "/dev/shm"
_CREATING = threading.Lock()
_LONGEST = 1 << 24
_AT_ONCE = getattr(os, "O_NONBLOCK", 0)
_PAUSE = 0.005


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
    """Return the text of a small file in UTF-8.

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
    """Write a text to a file that only the user may read, as a whole: a reader sees the old text or the new one."""
    partial = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}")
    with replacing(path, partial):
        create_file(partial)
        partial.write_text(text, "utf-8")


@contextmanager
def replacing(path: Path, partial: Path) -> Iterator[None]:
    """Let a file that the block writes take the place of another at its end; one that is not finished is removed."""
    try:
        yield
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def locked(path: Path, patience: float) -> Iterator[None]:
    """Hold a lock file for the block; the system releases it however the process ends. Without one, nothing is held.

    Raises:
        Busy: another process holds it for longer than ``patience`` seconds.

    """
    try:
        make_folder(path.parent)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE)
    except OSError:  # nothing can be written there
        yield
        return
    deadline = time.monotonic() + patience
    try:
        while not try_lock(handle):
            if time.monotonic() > deadline:
                raise Busy("another hook of this session is at work")
            time.sleep(_PAUSE)
        os.utime(path)
        yield
    finally:
        os.close(handle)


def take(path: Path) -> int | None:
    """Lock a file, which is made if there is none, until the descriptor is closed; None: another process has it."""
    make_folder(path.parent)
    create_file(path)
    handle, is_ours = os.open(path, os.O_RDWR | os.O_CLOEXEC), False
    try:
        is_ours = try_lock(handle)
    finally:
        if not is_ours:
            os.close(handle)
    return handle if is_ours else None


def try_lock(handle: int, *, shared: bool = False) -> bool:
    """Lock an open file until it is closed or its process ends; False: another process has it, and is not awaited."""
    if not HAS_LOCKS:
        return True
    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def temporary_folder(*, in_memory: bool = False) -> TemporaryDirectory[str]:
    """Return a folder for texts, which is removed at the end of a block, and names the process that it belongs to."""
    import tempfile

    shared = _IN_MEMORY if in_memory and os.access(_IN_MEMORY, os.W_OK) else None
    return tempfile.TemporaryDirectory(prefix=f"priming-{os.getpid()}-", dir=shared)


def abandoned_folders() -> list[Path]:
    """Return the temporary folders of this user whose processes were killed."""
    import tempfile

    places = (tempfile.gettempdir(), _IN_MEMORY)
    folders = (path for place in places for path in Path(place).glob("priming-[0-9]*-*"))
    return [path for path in folders if os.access(path, os.W_OK) and not is_alive(path.name.split("-")[1])]


def is_alive(process: str) -> bool:
    """Tell whether a process that is named by its number may still run."""
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except (OSError, ValueError):
        return True
    return True
