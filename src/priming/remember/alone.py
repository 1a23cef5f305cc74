"""Long work that one process does at a time: a lock file beside the database, or a lease of the database's server."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import datetime
from pathlib import Path

from priming.config import private_files
from priming.errors import Busy, StoreError
from priming.storage.protocol import Store

_MOST = 200


def alone(store: Store, name: str, kind: str, now: datetime, doing: str) -> AbstractContextManager[None]:
    """Do work of a kind on what ``name`` names while the block runs; ``Busy`` if another process does."""
    folder, digest = store.place.scratch, hashlib.blake2b(name.encode(), digest_size=8).hexdigest()
    if folder is None:
        return store.lease(name, doing)
    return _lock_file(folder / f"{digest}.{kind}", now, doing)


@contextmanager
def _lock_file(path: Path, now: datetime, doing: str) -> Iterator[None]:
    """Hold a lock file while the block runs.

    ``Busy`` names the process that holds it, and since when. The system releases the lock when the process ends,
    even if it is killed.
    """
    try:
        import fcntl
    except ImportError:  # the system has none
        yield
        return
    try:
        private_files.make_folder(path.parent)
        private_files.create_file(path)
        descriptor = os.open(path, os.O_RDWR)
    except OSError as error:
        raise StoreError(f"the lock file {path} cannot be written: {error}") from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            who = os.read(descriptor, _MOST).decode("utf-8", "replace").strip() or "another process"
            raise Busy(f"{who} {doing}: wait for it to finish, or stop it") from None
        with suppress(OSError):  # a full disk
            os.ftruncate(descriptor, 0)
            os.write(
                descriptor, f"process {os.getpid()}, since {now.isoformat(timespec='seconds')},".encode()
            )
        yield
    finally:
        os.close(descriptor)
