"""A bit flips in a cell or anywhere in the file: each operation answers or names the damage, and the rest is saved.

The store holds something of every kind. For each column of each table a bit of one cell is flipped, and then every
operation of the table of operations is called, reads first. The cells and bits are drawn, the same ones at each run.
"""

import random
import re
import shutil
import sqlite3
import struct
from collections import defaultdict
from contextlib import closing

import pytest
from tests.server.scene import OPERATIONS, example, prepare

from priming import HashedEmbedder, Memory
from priming.errors import Corrupt, PrimingError
from priming.operations.service import LocalService
from priming.recall.candidates import write_weights
from priming.verbs.rows import SERVED

pytestmark = pytest.mark.slow

EMBEDDER = HashedEmbedder(64)
WRITES = {op.name for op in SERVED if op.writes}
CALLS = sorted(OPERATIONS, key=lambda operation: (operation in WRITES, operation))
DERIVED = "words", "sqlite_stat1"
"""Tables that are made from others, or by SQLite; a damaged text index is one of the damages anywhere in the file."""
NAMED = re.compile(
    r"(memory|version|link|verdict|pair|run|weights|sign of relation|log entry|changes of log entry|recall|session"
    r"|activations of memory|embedding generation|vector|a namespace)\b.*?: "
)
PLACES = 60
"""The number of bits that are flipped anywhere in the file."""


def serving(path):
    return closing(LocalService(f"sqlite:///{path}", embedder=EMBEDDER))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A store with something of every kind; and what the ids of the examples stand for."""
    path = tmp_path_factory.mktemp("whole") / "memory.db"
    with serving(path) as service:

        def call(operation, request, operation_id=None):
            return service.call("default", operation, request, operation_id=operation_id)

        ids = prepare(call)
        call("link", {"source": "deploy", "target": "port", "relation": "requires"})
        call("link", {"source": "deploy", "target": "old-rule", "relation": "outdates", "sign": -1})
        call("supersede", {"key": "port", "content": "The server listens on port 8081 now."})
        run = call("run_start", {"session": "evening"})
        call("recall", {"text": "when do we meet", "session": "evening"})
        call("run_end", {"run_id": run["id"], "used": True})
        call("done", {"key": "deploy", "success": True})
        call("sleep", {})
        for text, key in (
            ("which port does the server listen on", "port"),
            ("deploy by pushing the tag", "deploy"),
        ):
            recall = call("recall", {"text": text, "session": "morning"})
            call("feedback", {"recall_id": recall["recall_id"], "used": [key]})
        with service.memory("default") as memory, memory.writing() as now:
            write_weights(memory, memory.profile, {"words": 0.5}, {"words": memory.profile.recall.words}, now)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "INSERT INTO activations SELECT namespace, 'ethos', id, '2026-03-01', 3 FROM memories LIMIT 2"
        )
        connection.execute(
            "INSERT INTO tokens (id, namespace, digest, created_at) VALUES ('t', 'default', x'00', '2026')"
        )
        connection.execute("INSERT INTO read_only VALUES ('another')")
    return path, ids


def cells(path):
    """The cells that hold something, by table and column, each with what identifies its row."""
    with closing(sqlite3.connect(path)) as connection:
        by_column = defaultdict(list)
        for (table,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
        ).fetchall():
            if table.startswith(DERIVED):
                continue
            columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
            row = [name for _, name, *_, in_key in columns if in_key]
            for _, column, *_ in columns:
                names = ", ".join(row)
                sql = f"SELECT {names}, {column} FROM {table} WHERE {column} IS NOT NULL ORDER BY {names}"
                for *identity, value in connection.execute(sql):
                    by_column[table, column].append((dict(zip(row, identity, strict=True)), value))
        return dict(by_column)


def flipped(value, draw):
    """A value of a cell with one bit flipped."""
    match value:
        case int():
            return value ^ 1 << draw.choice((0, 1, 5, 31, 40))
        case float():
            content = bytearray(struct.pack(">d", value))
        case str():
            content = bytearray(value.encode())
        case bytes():
            content = bytearray(value)
    if content:
        content[draw.randrange(len(content))] ^= 1 << draw.choice((7, 7, *range(7)))
    return struct.unpack(">d", content)[0] if isinstance(value, float) else bytes(content)


def flip_in_cell(path, table, column, row, value, draw):
    """Flip a bit of a cell as a disk would: no rule of the schema has a say."""
    place = "cast(:value AS text)" if isinstance(value, str) else ":value"
    where = " AND ".join(f"{name} = :{name}" for name in row)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute(
            f"UPDATE OR IGNORE {table} SET {column} = {place} WHERE {where}".replace(":value", ":new"),
            {**row, "new": flipped(value, draw)},
        )


def call_everything(path, ids):
    """Call each operation; the errors by operation. Any error but Priming's fails the test."""
    errors = {}
    with serving(path) as service:
        for operation in CALLS:
            try:
                service.call("default", operation, example(operation, ids))
            except PrimingError as error:
                errors[operation] = error
            except Exception as error:
                raise AssertionError(f"{operation} ended in {error!r}") from error
    return errors


def keys(path):
    with Memory.open(f"sqlite:///{path}", embedder=EMBEDDER) as memory:
        return {record.key for record in memory.list(limit=1000)}


def salvaged(path):
    """The keys of the memories that a salvage saves."""
    lines = path.with_name("whole.jsonl")
    with Memory.open(f"sqlite:///{path}", embedder=EMBEDDER) as memory:
        memory.export(lines, salvage=True)
    with Memory.open("sqlite://", embedder=EMBEDDER) as memory:
        memory.import_(lines)
        return {record.key for record in memory.list(limit=1000)}


def copy(source, folder, *, with_snapshot):
    """A copy of a store, alone in its folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    path = folder / "memory.db"
    shutil.copy(source, path)
    if with_snapshot:
        shutil.copytree(f"{source}.working", f"{path}.working")
    return path


def tables(path):
    return sorted({table for table, _ in cells(path)})


TABLES = (
    *(
        "activations",
        "adoptions",
        "changes",
        "generations",
        "links",
        "loop_sessions",
        "memories",
        "namespaces",
        "operations",
        "pairs",
    ),
    *(
        "read_only",
        "relations",
        "runs",
        "tokens",
        "touched",
        "traces",
        "vectors",
        "verdicts",
        "versions",
        "weights",
    ),
)


def test_every_table_is_attacked_and_nothing_is_damaged_before(whole):
    path, _ = whole
    assert tuple(tables(path)) == TABLES
    with Memory.open(f"sqlite:///{path}", embedder=EMBEDDER) as memory:
        assert not [finding for finding in memory.validate() if finding.rule == "damaged-row"]


@pytest.mark.parametrize("table", TABLES)
def test_a_bit_in_a_cell_is_survived_or_named(whole, tmp_path, table):
    source, ids = whole
    everything = keys(source)
    for (cell_table, column), candidates in cells(source).items():
        if cell_table != table:
            continue
        draw = random.Random(f"{table}.{column}")
        row, value = draw.choice(candidates)
        path = copy(source, tmp_path / "damaged", with_snapshot=draw.random() < 0.5)
        flip_in_cell(path, table, column, row, value, draw)
        saved = salvaged(path)
        assert len(everything - saved) <= 1, f"{table}.{column} of {row} loses {everything - saved}"
        for operation, error in call_everything(path, ids).items():
            if isinstance(error, Corrupt):
                assert NAMED.search(str(error)), (
                    f"{operation} names no row for {table}.{column} of {row}: {error}"
                )


@pytest.mark.parametrize("part", range(4))
def test_a_bit_anywhere_in_the_file_is_survived_or_found(whole, tmp_path, part):
    source, ids = whole
    draw = random.Random(part)
    content = source.read_bytes()
    for _ in range(PLACES // 4):
        path = copy(source, tmp_path / "damaged", with_snapshot=draw.random() < 0.5)
        damaged = bytearray(content)
        damaged[draw.randrange(100, len(damaged))] ^= 1 << draw.randrange(8)
        path.write_bytes(damaged)
        call_everything(path, ids)
