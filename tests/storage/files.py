"""What tests ask of SQLite files directly, once no store has them open."""

import sqlite3
from contextlib import closing
from pathlib import Path

from priming.storage.sqlite_files import APPLICATION_ID, migrations, sql_statements


def check_text_index(path: Path) -> None:
    """That the full-text index holds exactly the texts that are known now; an error of SQLite's otherwise."""
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("INSERT INTO words (words, rank) VALUES ('integrity-check', 1)")


def schema(path: Path) -> int:
    """The number of the last migration."""
    with closing(sqlite3.connect(path)) as raw:
        return int(raw.execute("PRAGMA user_version").fetchone()[0])


def execute(path: Path, *statements: str) -> None:
    """Statements sent to a file past the store."""
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        for one in statements:
            raw.execute(one)


def make_schema_1(path: Path) -> None:
    """A store of the first schema, full of rows that the Priming of its day wrote: ``schema_1.sql``."""
    rows = Path(__file__).with_name("schema_1.sql").read_text("utf-8")
    execute(
        path,
        "PRAGMA journal_mode = WAL",
        *sql_statements(migrations()[0].sql),
        *sql_statements(rows),
        "INSERT INTO words (words) VALUES ('rebuild')",
        "PRAGMA user_version = 1",
        f"PRAGMA application_id = {APPLICATION_ID}",
    )


def contents(folder: Path) -> dict[str, bytes]:
    """Every file under a folder, byte for byte."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
