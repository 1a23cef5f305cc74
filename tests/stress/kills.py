"""Processes that are killed at random moments, drawn from a seed, and what they leave behind."""

from __future__ import annotations

import os
import select
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from tests.server.postgres.next_release import CONSTRAINT, INDEX, MISSED, upgraded
from tests.server.postgres.server import empty
from tests.storage.processes import in_child, start
from tests.storage.sqlite.files import make_store

from priming import HashedEmbedder, Memory
from priming_server.postgres.store import PostgresStore

from .databases import EMBEDDER, Database, examine, problems
from .work import Diary, Worker

_STEPS, _FEW = 10, 60
_OTHER = HashedEmbedder(24)


@dataclass(frozen=True, slots=True)
class Moment:
    """When a process is killed: before its n-th call of a function, or after a time."""

    calls: int | None = None
    seconds: float = 0.0


@dataclass(slots=True)
class Tally:
    """How often something was tried and survived, and what was wrong."""

    tried: int = 0
    killed: int = 0
    wrong: list[str] = field(default_factory=list)


Check = Callable[[Database, Diary], list[str]]


def _examined(database: Database, diary: Diary) -> list[str]:
    return examine(database, diary.acknowledged, diary.begun)


@dataclass(frozen=True, slots=True)
class Scene:
    """Something to be killed in: what it does, from which state, and what must hold of what it leaves.

    ``prepare`` makes the state before each kill; without it, a kill continues from what the one before it left.
    """

    name: str
    act: Callable[[Worker, Database], object]
    prepare: Callable[[Database, Random], object] | None = None
    check: Check = _examined


def killed_at(moment: Moment, act: Callable[[], object]) -> bool:
    """Run a function in a process that is killed at a moment; whether it was, before the function returned."""
    child = start(lambda: _counted(act, moment.calls) if moment.calls else act())
    if moment.calls is None:
        select.select([child.answer], [], [], moment.seconds)
        os.kill(child.pid, signal.SIGKILL)
    return child.killed()


def _counted(act: Callable[[], object], last: int) -> int:
    """Run a function and kill this process before its ``last`` call, in Python or in C; the number of calls."""
    count = 0

    def tick(_: Any, event: str, __: Any) -> None:
        nonlocal count
        if event in ("call", "c_call"):
            count += 1
            if count == last:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(tick)
    try:
        act()
    finally:
        sys.setprofile(None)
    return count


def measured(act: Callable[[], object]) -> tuple[int, float]:
    """How many calls a function makes, and how long it takes, in a process of its own."""

    def run() -> tuple[int, float]:
        began = time.monotonic()
        return _counted(act, -1), time.monotonic() - began

    calls, seconds = in_child(run)
    return int(calls), float(seconds)


def kill_often(database: Database, scene: Scene, times: int, seed: int) -> Tally:
    """Kill processes in a scene, at moments drawn from the seed, and examine what each leaves."""
    random, tally, diary = Random(seed), Tally(), Diary(database.folder / "diary")
    if scene.prepare is None:
        in_child(lambda: _begin(database, diary, Random(seed)))
    extent: tuple[int, float] | None = None
    while tally.tried < times:
        own = random.getrandbits(64)
        if scene.prepare is not None:
            in_child(partial(scene.prepare, database, Random(own)))
        act = partial(_act, scene, database, diary, own)
        if extent is None:
            extent = measured(act)
        else:
            calls, seconds = extent
            if random.random() < 0.5:
                moment = Moment(calls=random.randint(1, calls))
            else:
                moment = Moment(seconds=random.uniform(0, seconds))
            tally.killed += killed_at(moment, act)
            tally.tried += 1
        wrong = in_child(partial(scene.check, database, diary))
        tally.wrong += [f"kill {tally.tried}: {each}" for each in wrong]
        if len(tally.wrong) > _FEW:
            break
    in_child(partial(_act, scene, database, diary, seed))
    tally.wrong += [f"half-written: {name}" for name in left_over(database.folder)]
    return tally


def _act(scene: Scene, database: Database, diary: Diary, seed: int) -> None:
    with closing(database.open()) as memory:
        random = Random(seed)
        scene.act(Worker(memory, random, diary, f"k{random.getrandbits(32):x}"), database)


def _begin(database: Database, diary: Diary, random: Random) -> None:
    with closing(database.open()) as memory:
        worker = Worker(memory, random, diary, "first")
        for _ in range(_FEW):
            worker.remember()


def _write(worker: Worker, _: Database) -> None:
    for _step in range(_STEPS):
        worker.step()


def _sleep(worker: Worker, _: Database) -> None:
    for _new in range(3):
        worker.remember()
    worker.memory.sleep()


def _snapshot(worker: Worker, _: Database) -> None:
    """A snapshot is due when so many memories are new: it is written when the memory is closed."""
    worker.remember_many(300)


def _reembed(worker: Worker, database: Database) -> None:
    with closing(database.open(embedder=worker.random.choice((EMBEDDER, _OTHER)))) as memory:
        memory.reembed()


def _complete(database: Database, diary: Diary) -> list[str]:
    """After a re-embedding that was cut short, another completes it."""
    database.settle()
    with closing(database.open()) as memory:
        memory.reembed()
    return _examined(database, diary)


def _back_up(worker: Worker, database: Database) -> None:
    worker.remember()
    worker.memory.backup(database.folder / "own.backup")


def _backups_are_whole(database: Database, diary: Diary) -> list[str]:
    wrong, path = _examined(database, diary), database.folder / "own.backup"
    if path.exists():
        with closing(Database(f"sqlite:///{path}", database.folder).open()) as memory:
            wrong += [f"the backup: {finding}" for finding in memory.validate()]
        for file in database.folder.glob("own.backup*"):
            shutil.rmtree(file) if file.is_dir() else file.unlink()
    return wrong


def _old_store(database: Database, random: Random) -> None:
    """A file of an old schema, without the remains of the last kill; in PostgreSQL nothing yet, or a filled store."""
    if database.file is None:
        database.settle()
        empty(*database.url.split("&schema="))
        for namespace in ("first", "second") if random.random() < 0.7 else ():
            with closing(database.open(namespace)) as memory:
                memory.remember_many(
                    {"content": f"Lamp {i} was sold."} for i in range(random.randint(1, 700))
                )
        return
    for path in database.folder.glob("memory.db*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    make_store(database.file, random.choice((1, 6)))


def _open(_: Worker, database: Database) -> None:
    """The worker's memory is open: that is what migrates a file. A database is opened by the next release as well."""
    if database.file is None:
        with _upgraded(database):
            pass


def _upgraded(database: Database) -> AbstractContextManager[Memory]:
    return upgraded(*database.url.split("&schema="), "first", EMBEDDER)


def _migrated(database: Database, _: Diary) -> list[str]:
    """The next to open a store whose migration was cut short completes it."""
    wrong = []
    database.settle()
    if database.file is None:
        return _completed(database)
    for namespace in _namespaces(database):
        with closing(database.open(namespace)) as memory:
            memory.reembed()
            wrong += [str(finding) for finding in memory.validate()]
            if not memory.list(limit=1):
                wrong.append(f"{namespace} is empty")
    with closing(database.open("new")) as memory:
        memory.remember("It can be used.")
        return wrong + problems(memory, (), [each.id for each in memory.log()])


def _completed(database: Database) -> list[str]:
    with _upgraded(database) as memory, memory.lock:
        store = memory.store
        assert isinstance(store, PostgresStore)
        memory.remember("It can be used.")
        wrong = problems(memory, (), [each.id for each in memory.log(limit=1_000)])
        for namespace in store.namespaces():
            missed = store.connection.run(namespace, MISSED)[0][0]
            wrong += [f"{missed} rows of {namespace} are not filled"] if missed else []
        for part in (INDEX, CONSTRAINT):
            wrong += [] if store.connection.run("first", part) == [(True,)] else [f"not made: {part}"]
    empty(*database.url.split("&schema="))
    return wrong


def _namespaces(database: Database) -> Iterator[str]:
    with closing(database.open()) as memory:
        yield from memory.store.namespaces()


SCENES = (
    Scene("writes", _write),
    Scene("sleep", _sleep),
    Scene("snapshots", _snapshot),
    Scene("re-embedding", _reembed, check=_complete),
    Scene("backup", _back_up, check=_backups_are_whole),
    Scene("migrations", _open, prepare=_old_store, check=_migrated),
)


def left_over(folder: Path) -> list[str]:
    """Files that killed processes left half-written, and that the next one to come to its end did not replace."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.partial"))
