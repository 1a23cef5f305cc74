"""Faults of what a store stands on: a full disk, a file that goes away, a clock that jumps."""

from __future__ import annotations

import ctypes
import os
import resource
import shutil
import signal
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random

from tests.storage.processes import in_child

from priming.errors import PrimingError, StoreError

from .databases import Database, examine, problems
from .kills import Tally
from .work import Diary, Worker

_NEW_MOUNTS, _RECURSIVE_PRIVATE = 0x00020000, 0x4000 | 0x40000
_DISK = 8 << 20
"""Room for a store and the longest journal that SQLite lets grow."""


@dataclass(slots=True)
class JumpingClock:
    """A clock that somebody sets, forwards and backwards, between one look at it and the next."""

    random: Random
    at: datetime = datetime(2026, 5, 1, tzinfo=UTC)
    jumps: int = field(default=0)

    def now(self) -> datetime:
        """The present, as far as this clock is concerned."""
        self.at += timedelta(seconds=1)
        if self.random.random() < 0.1:
            self.jumps += 1
            self.at += timedelta(seconds=self.random.uniform(-1, 1) * 10 ** self.random.uniform(0, 7))
        return self.at


def limit_files(size: int) -> None:
    """Let this process make no file longer than ``size``: its disk is full for it."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def small_disk(folder: Path, size: int) -> bool:
    """Give this process a disk of ``size`` bytes at a folder; whether the system permits it."""
    system = ctypes.CDLL(None, use_errno=True)
    options = f"size={size}".encode()
    return not (
        system.unshare(_NEW_MOUNTS)
        or system.mount(b"none", b"/", None, _RECURSIVE_PRIVATE, None)
        or system.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", 0, options)
    )


def full_disk(database: Database, random: Random) -> list[str]:
    """Work until the disk is full, and go on when there is room; nothing half-done is seen meanwhile."""
    diary, wrong = Diary(database.folder.with_suffix(".diary")), list[str]()
    own = small_disk(database.folder, _DISK)
    ballast = database.folder / "ballast"
    with closing(database.open()) as memory:
        worker = Worker(memory, random, diary, "d")
        for _ in range(5):
            worker.remember()
        if own:
            with suppress(OSError), ballast.open("wb", buffering=0) as file:
                while True:
                    file.write(bytes(random.randint(1, 4096)))
        else:
            assert database.file is not None
            limit_files(database.file.stat().st_size + random.randint(0, 50_000))
        wrong += _until_refused(worker)
        if own:
            ballast.unlink()
        else:
            limit_files(resource.RLIM_INFINITY)
        wrong += problems(memory, diary.acknowledged, diary.begun)
        for _ in range(5):
            worker.step()
    return wrong + examine(database, diary.acknowledged, diary.begun)


def _until_refused(worker: Worker) -> list[str]:
    """Store memories until one is refused, and try all verbs a few times more; errors that are not named."""
    worker_errors: list[str] = []
    refused = 0
    for _ in range(2_000):
        try:
            worker.step() if refused else worker.remember()
        except StoreError as error:
            refused += 1
            if "disk" not in str(error) and "full" not in str(error):
                worker_errors.append(f"the error does not name the disk: {error}")
        except PrimingError as error:
            worker_errors.append(f"another error than expected: {error.code}: {error}")
        if refused == 10:
            return worker_errors
    return [*worker_errors, "nothing was refused"]


def lost_file(database: Database, random: Random) -> list[str]:
    """The file is deleted, or replaced by a copy, under an open store: no write is acknowledged any more."""
    diary, wrong, aside = Diary(database.folder / "diary"), list[str](), database.folder / "aside"
    file = database.file
    assert file is not None
    with closing(database.open()) as memory:
        worker = Worker(memory, random, diary, "f")
        for _ in range(random.randint(5, 15)):
            worker.step()
        aside.mkdir()
        names = [path for path in database.folder.glob("memory.db*") if path.is_file()]
        if random.random() < 0.5:
            names = [file]
        for path in names:
            path.rename(aside / path.name)
        if random.random() < 0.5:
            for path in aside.iterdir():
                shutil.copyfile(path, database.folder / path.name)
        for _ in range(5):
            before = diary.acknowledged
            with suppress(StoreError):
                worker.remember()
            wrong += [f"acknowledged without a file: {name}" for name in diary.acknowledged - before]
    for path in aside.iterdir():
        path.replace(database.folder / path.name)
    return wrong + examine(database, diary.acknowledged, diary.begun)


def jumping_clock(database: Database, random: Random) -> list[str]:
    """Work while the clock is set forwards and backwards; the log is in the order of what happened."""
    clock, diary = JumpingClock(Random(random.getrandbits(64))), Diary(database.folder / "diary-clock")
    wrong: list[str] = []
    with closing(database.open(clock=clock)) as memory:
        worker = Worker(memory, random, diary, f"c{random.getrandbits(32):x}")
        for _ in range(30):
            try:
                worker.step()
            except PrimingError as error:
                wrong.append(f"the clock's jumps are an error: {error.code}: {error}")
        memory.sleep()
        wrong += problems(memory, diary.acknowledged, diary.begun)
    return wrong


Fault = Callable[[Database, Random], list[str]]
FAULTS_OF_A_FILE: dict[str, Fault] = {
    "full disk": full_disk,
    "file deleted or replaced": lost_file,
    "clock that jumps": jumping_clock,
}


def repeated(fault: Fault, new: Callable[[str], Database], times: int, seed: int) -> Tally:
    """A fault, so many times, each in a process of its own, with a new database."""
    tally = Tally()
    for number in range(times):
        own = new(str(number))
        random = Random(f"{seed} {number}")
        tally.tried += 1
        try:
            result = in_child(partial(fault, own, random))
        except AssertionError as error:
            result = [str(error)[-600:]]
        tally.wrong += [f"{number}: {each}" for each in result]
        shutil.rmtree(own.folder, ignore_errors=True)
    return tally
