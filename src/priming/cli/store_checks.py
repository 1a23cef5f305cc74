"""The checks of a store by ``priming doctor``, whose form all checks have."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from priming.cli.options import StoreOptions
from priming.config import environment
from priming.config.values import dataclass
from priming.errors import Corrupt, PrimingError
from priming.storage.protocol import TokenRow
from priming.storage.rows import LoopSessionRow

OK, WARN, FAIL = "ok", "warn", "fail"
_MIB = 1 << 20
_LARGE_LOG = 256 * _MIB
_MAX_FINDINGS = 3


@dataclass(frozen=True, slots=True)
class Check:
    """The result of a check, and its remedy."""

    name: str
    status: str
    detail: str
    remedy: str = ""


def store_checks(store: StoreOptions) -> Iterator[Check]:
    """Whether the file exists, is a store, is intact and has this schema; and the findings of ``validate``."""
    location = environment.locate(store.location())
    path = location.path
    if path is None:
        yield from _database(store) if location.url else [Check("store", OK, "in memory: nothing is stored")]
        return
    if not path.exists():
        remedy = "the first memory creates it: priming remember TEXT"
        yield Check("store", WARN, f"there is none at {path} yet", remedy)
        return
    from priming.storage.sqlite import presence
    from priming.storage.sqlite import store as sqlite

    try:
        with closing(presence.reader(path)) as connection:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            (mark,) = connection.execute("PRAGMA application_id").fetchone()
            (sound,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        remedy = "check its permissions, or restore a backup: priming restore-backup"
        yield Check("store", FAIL, f"{path} cannot be read: {error}", remedy)
        return
    newest, ours = sqlite.newest(), sqlite.mark()
    if mark != ours or version > newest:
        problem = (
            "belongs to another program"
            if mark != ours
            else f"has schema {version}; the newest known is {newest}"
        )
        remedy = "name another file with --url" if mark != ours else "install a newer Priming"
        yield Check("store", FAIL, f"{path} {problem}", remedy)
        return
    if sound != "ok":
        remedy = "restore a backup: priming restore-backup"
        yield Check("store", FAIL, f"{path} is damaged: {sound}", remedy)
        return
    yield Check("store", OK, f"{path}, {path.stat().st_size / _MIB:.1f} MiB, schema {version}")
    if (reason := presence.why_unwritable(path)) is not None:
        yield Check("store", WARN, f"{path} is read, and cannot be written", reason)
    yield from _write_ahead(path)
    if version < newest:
        detail = f"schema {version} becomes {newest} at the next use, after a backup"
        yield Check("schema", WARN, detail, "no action is needed")
        return
    yield from _validity(store)


def _database(store: StoreOptions) -> Iterator[Check]:
    """Whether a store in PostgreSQL can be used, and keeps namespaces apart; and the findings of ``validate``."""
    from priming.storage.opening import database_check

    try:
        detail, unsafe = database_check(environment.locate(store.location()))
    except PrimingError as error:
        yield Check("store", FAIL, str(error), "check the URL, and that the server is running")
        return
    yield Check("store", OK, detail)
    for problem, remedy in unsafe:
        yield Check("database", WARN, problem, remedy)
    yield from _validity(store)


def _write_ahead(path: Path) -> Iterator[Check]:
    log = Path(f"{path}-wal")
    size = log.stat().st_size if log.exists() else 0
    if size > _LARGE_LOG:
        remedy = "end processes that read for a long time; it shrinks when the last process closes"
        yield Check("log", WARN, f"the write-ahead log has {size / _MIB:.0f} MiB", remedy)


def _validity(store: StoreOptions) -> Iterator[Check]:
    with store.open_file() as memory:
        try:
            findings = memory.validate()
            _ = (
                memory.store.rows(memory.namespace, LoopSessionRow, limit=20),
                memory.store.rows(None, TokenRow),
            )
        except PrimingError as error:
            state = FAIL if isinstance(error, Corrupt) else WARN
            yield Check("validate", state, str(error), "restore a backup, or name another --namespace")
            return
    for finding in findings[:_MAX_FINDINGS]:
        detail = f"{finding.rule}: {finding.subject}: {finding.detail}"
        yield Check("validate", FAIL, detail, finding.remedy)
    if len(findings) > _MAX_FINDINGS:
        detail = f"{len(findings) - _MAX_FINDINGS} more findings"
        yield Check("validate", FAIL, detail, "priming validate lists all")
    if not findings:
        namespace = str(store.settings()["store.namespace"])
        yield Check("validate", OK, f"no inconsistencies in namespace {namespace!r}")


def path_of(store: StoreOptions) -> Path | None:
    """The file of the store; None for one in memory or in a database."""
    return environment.locate(store.location()).path
