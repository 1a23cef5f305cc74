"""Who sleeps: one process at a time for each namespace, and none that is gone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from priming.errors import Busy, StoreError

_MOST = 200


@contextmanager
def asleep(path: Path | None, now: datetime, doing: str = "sleeps over this namespace") -> Iterator[None]:
    """Hold the lock of a night, or of other long work, while the block runs.

    ``Busy`` where another holds it, said by whom and since when. The system lets go of it when the process ends,
    however it ends. None: nobody else can come to this store.
    """
    if path is None:
        yield
        return
    import fcntl  # not on every system: only who holds such a lock needs it

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise StoreError(f"{path} cannot be written, which says who {doing}: {error}") from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            who = os.read(descriptor, _MOST).decode("utf-8", "replace").strip() or "another process"
            raise Busy(f"{who} {doing}: wait until it is done, or stop it") from None
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"process {os.getpid()}, since {now.isoformat(timespec='seconds')},".encode())
        yield
    finally:
        os.close(descriptor)
