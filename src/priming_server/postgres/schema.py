"""What the schema of a PostgreSQL store is: its migrations, each of which declares the steps that make it.

A file of ``migrations`` is divided by lines ``-- step: …``; without one it is a single short step. How each kind lets
others go on is said in ``docs/postgresql.md``.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

from priming.config.profiles import ETHOS
from priming.config.values import dataclass
from priming.config.words import BUILT_IN, KINDS, SIGN_PATTERNS, SUPPRESSING
from priming.errors import SchemaTooNew

EVERY_NAMESPACE = "*\n"
"""The scope in which the role that made the store lists namespaces. None has that name: a name is one line."""
NAMESPACES = (
    "SELECT namespace FROM namespaces UNION SELECT namespace FROM traces UNION SELECT namespace FROM activations"
    " UNION SELECT namespace FROM loop_sessions ORDER BY 1"
)
"""The namespaces of all rows, those without operations included."""
HOLDER = (
    "SELECT a.pid, coalesce(nullif(a.application_name, ''), 'a program'), host(a.client_addr) FROM pg_locks l"
    " JOIN pg_stat_activity a ON a.pid = l.pid WHERE l.locktype = 'advisory' AND l.granted"
    " AND (l.classid::bigint << 32) | l.objid::bigint = hashtextextended(%(key)s, 0) LIMIT 1"
)
"""Who holds an advisory lock: its server process, name and address."""
LOCK = (
    "SELECT set_config('priming.namespace', %(namespace)s, true), set_config('lock_timeout', %(patience)s, true),"
    " pg_advisory_xact_lock(hashtextextended(%(key)s, 0))"
)
"""Takes an advisory lock until the transaction ends, and scopes what follows to its namespace."""
TRY_LEASE = "SELECT pg_try_advisory_lock(hashtextextended(%(key)s, 0))"
END_LEASE = "SELECT pg_advisory_unlock(hashtextextended(%(key)s, 0))"
MAY_LIST = (
    "SELECT NOT row_security_active('namespaces') OR EXISTS (SELECT 1 FROM pg_policy p, unnest(p.polroles) AS r(role)"
    " WHERE p.polrelid = 'namespaces'::regclass AND p.polname = 'of_store' AND pg_has_role(r.role, 'USAGE'))"
)
"""Whether the role of the connection sees the namespaces of a store in ``EVERY_NAMESPACE``."""


@dataclass(frozen=True, slots=True)
class PostgresParams:
    """How a process uses a PostgreSQL database."""

    pool: int = 16
    """Most connections of one process, `?pool=` in the URL."""
    idle_after: float = 300.0
    """Time after which an idle connection is closed, in seconds."""
    connect_timeout: int = 5
    """Time limit for a connection to be made, in seconds."""
    retry_pause: float = 0.1
    """Longest pause before a lost connection is tried again, in seconds."""
    listening_interval: float = 1.0
    """Longest wait for a notification, and pause before a lost connection is made again, in seconds."""
    migration_wait: float = 1.5
    """Longest time for which a step of a migration makes others wait, in seconds; an automatic vacuum gives way
    after 1."""
    migration_batch: float = 0.1
    """Time after which a migration's batch of rows is halved, in seconds."""
    migration_patience: float = 600.0
    """Time for which a step of a migration is tried again, in seconds."""


POSTGRES = PostgresParams()


_STEP = re.compile(r"^-- step: *(.*?) *$", re.MULTILINE)
_BACKFILL = re.compile(r"backfill (\w+) \((\w+(?:, \w+)*)\)")
_INDEX = re.compile(r"CREATE (?:UNIQUE )?INDEX CONCURRENTLY (?:IF NOT EXISTS )?(\w+)", re.IGNORECASE)
_ONLINE = re.compile(
    r"CREATE\s.*\bCONCURRENTLY|DROP\s.*\bCONCURRENTLY IF EXISTS|\bVALIDATE\s+CONSTRAINT",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class ShortStep:
    """Statements of one transaction, which change no row: a column, a trigger, a constraint that is not yet valid."""

    sql: str


@dataclass(frozen=True, slots=True)
class OnlineStep:
    """One statement that takes long and that nobody waits for: it builds ``index``, or validates a constraint."""

    sql: str
    index: str | None


@dataclass(frozen=True, slots=True)
class Backfill:
    """A statement for a ``batch`` of a table's rows at a time, by ``key``: its columns after the namespace."""

    sql: str
    table: str
    key: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PostgresMigration:
    """A numbered change of the schema. Its steps are made in order, and its number is written after the last."""

    number: int
    steps: tuple[ShortStep | OnlineStep | Backfill, ...]


def lock_key(schema: str, lock: str, namespace: str) -> str:
    """Return what the advisory lock of a namespace is named by.

    >>> lock_key("priming", "write", "team")
    'priming write team'
    """
    return f"{schema} {lock} {namespace}"


def declared(number: int, text: str) -> PostgresMigration:
    """Return a migration as its file declares it; ``ValueError`` for a step that would make others wait.

    >>> declared(11, '''-- step: short
    ... ALTER TABLE memories ADD COLUMN letters BIGINT;
    ... -- step: online
    ... CREATE INDEX CONCURRENTLY memories_by_letters ON memories (namespace, letters);
    ... ''').steps[1].index
    'memories_by_letters'
    """
    head, *parts = _STEP.split(text)
    if not parts:
        return PostgresMigration(number, (ShortStep(text),))
    if any(line and not line.startswith("--") for line in head.splitlines()):
        raise ValueError(f"migration {number}: statements before the first step")
    return PostgresMigration(
        number, tuple(_step(number, kind, sql) for kind, sql in zip(parts[::2], parts[1::2], strict=True))
    )


def _step(number: int, kind: str, sql: str) -> ShortStep | OnlineStep | Backfill:
    statement = "\n".join(line for line in sql.splitlines() if not line.startswith("--")).strip()
    alone = statement.removesuffix(";")
    if kind == "short":
        if _ONLINE.search(statement):
            raise ValueError(f"migration {number}: what takes long is a step of its own, `-- step: online`")
        return ShortStep(statement)
    if not alone or ";" in alone:
        raise ValueError(f"migration {number}: the step {kind!r} must be one statement")
    if kind == "online":
        if not _ONLINE.search(alone):
            raise ValueError(
                f"migration {number}: an online step is CREATE INDEX CONCURRENTLY, DROP INDEX CONCURRENTLY IF EXISTS,"
                " or VALIDATE CONSTRAINT"
            )
        index = _INDEX.match(alone)
        return OnlineStep(alone, index[1] if index else None)
    if of_rows := _BACKFILL.fullmatch(kind):
        if not re.search(r"\bbatch\b", alone):
            raise ValueError(f"migration {number}: a backfill reads the rows of `batch`")
        return Backfill(alone, of_rows[1], tuple(of_rows[2].split(", ")))
    raise ValueError(f"migration {number}: {kind!r} must be short, online, or backfill TABLE (KEY, …)")


@cache
def migrations() -> tuple[PostgresMigration, ...]:
    """Return this version's migrations, in order. They have SQLite's numbers; the first holds all up to its own."""
    folder = resources.files("priming_server.postgres").joinpath("migrations")
    files = sorted(
        (file for file in folder.iterdir() if file.name.endswith(".sql")), key=lambda file: file.name
    )
    return tuple(declared(int(file.name[:3]), _with_lists(file.read_text("utf-8"))) for file in files)


def _with_lists(text: str) -> str:
    """Return a migration with the lists that its names between @ stand for."""
    lists = {
        "kinds": KINDS,
        "built_in": sorted(BUILT_IN),
        "suppressing": SUPPRESSING,
        "silent": [name for name, factor in ETHOS.links.by_relation if not factor],
    }
    values = {name: f"ARRAY[{', '.join(map(repr, names))}]" for name, names in lists.items()}
    values |= {name: pattern.replace(r"\b", r"\y") for name, pattern in SIGN_PATTERNS.items()}
    return re.sub(r"@(\w+)@", lambda name: values[name[1]], text)


def check_version(version: int, newest: int, place: str) -> None:
    """Refuse a store that a newer Priming has migrated."""
    if version > newest:
        raise SchemaTooNew(
            f"{place} was written by a newer Priming (schema {version}, this one knows {newest}): upgrade Priming;"
            " it was not changed"
        )
