"""What tests ask of SQLite files directly, once no store has them open."""

import sqlite3
from contextlib import closing
from pathlib import Path

from priming.storage.sqlite.files import APPLICATION_ID, migrations, sql_statements


def check_text_index(path: Path) -> None:
    """Check that the full-text index holds exactly the current texts; SQLite raises an error if it does not."""
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("INSERT INTO words (words, rank) VALUES ('integrity-check', 1)")


def schema(path: Path) -> int:
    """The number of the last migration."""
    with closing(sqlite3.connect(path)) as raw:
        return int(raw.execute("PRAGMA user_version").fetchone()[0])


def whole_database(path: Path) -> dict[str, object]:
    """How every table, index and view is made, and all rows but the stamps of machines."""
    with closing(sqlite3.connect(path)) as raw:
        made_by = dict(raw.execute("SELECT name, sql FROM sqlite_schema"))
        tables = [name for (name,) in raw.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        rows = {name: raw.execute(f"SELECT * FROM {name}").fetchall() for name in {*tables} - {"adoptions"}}
    return {"schema": made_by, **rows}


def execute(path: Path, *statements: str) -> None:
    """Statements sent to a file past the store."""
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        for statement in statements:
            raw.execute(statement)


def make_schema_1(path: Path) -> None:
    """A store of the first schema, with rows that the Priming of its day wrote: ``schema_1.sql``."""
    make_store(path, 1)


def make_store(path: Path, number: int) -> None:
    """A store as the first ``number`` migrations make it, with the rows of ``schema_NUMBER.sql``."""
    rows = Path(__file__).with_name(f"schema_{number}.sql").read_text("utf-8")
    execute(
        path,
        "PRAGMA journal_mode = WAL",
        *(sql for migration in migrations()[:number] for sql in sql_statements(migration.sql)),
        *sql_statements(rows),
        "INSERT INTO words (words) VALUES ('rebuild')",
        f"PRAGMA user_version = {number}",
        f"PRAGMA application_id = {APPLICATION_ID}",
    )


def contents(folder: Path) -> dict[str, bytes]:
    """Every file under a folder, byte for byte."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
