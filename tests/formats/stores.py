"""Small stores of other memories, with the tables and columns that their programs write, as far as they are read."""

from __future__ import annotations

import json
import pickle
import sqlite3
from contextlib import closing
from pathlib import Path


def database(path, script="", **tables):
    """A database of a script and of rows by table, each a mapping by column; an existing one is begun anew."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as opened:
        opened.executescript(script)
        for name, rows in tables.items():
            for row in rows:
                places = ", ".join("?" * len(row))
                opened.execute(f"INSERT INTO {name} ({', '.join(row)}) VALUES ({places})", [*row.values()])
        opened.commit()
    return path


LANGGRAPH = """
    CREATE TABLE store_migrations (v INTEGER PRIMARY KEY);
    CREATE TABLE store (prefix text NOT NULL, key text NOT NULL, value text NOT NULL, created_at TIMESTAMP,
        updated_at TIMESTAMP DEFAULT '2026-03-02 09:00:00', expires_at TIMESTAMP, PRIMARY KEY (prefix, key));
"""


def langgraph(path, *items):
    """Items of a namespace, a key, a value, and when they expire."""
    columns = ("prefix", "key", "value", "expires_at")
    rows = [
        dict(zip(columns, (*item[:2], json.dumps(item[2]).encode(), *item[3:]), strict=False))
        for item in items
    ]
    return database(path, LANGGRAPH, store=rows)


CHROMA = """
    CREATE TABLE collections (id TEXT PRIMARY KEY, name TEXT);
    CREATE TABLE segments (id TEXT PRIMARY KEY, scope TEXT, collection TEXT);
    CREATE TABLE embeddings (id INTEGER PRIMARY KEY, segment_id TEXT, embedding_id TEXT,
        created_at TIMESTAMP DEFAULT '2026-03-02 09:00:00');
    CREATE TABLE embedding_metadata (id INTEGER, key TEXT, string_value TEXT, int_value INTEGER, float_value REAL,
        bool_value INTEGER, PRIMARY KEY (id, key));
    CREATE TABLE embedding_metadata_array (id INTEGER, key TEXT, string_value TEXT, int_value INTEGER,
        float_value REAL, bool_value INTEGER);
"""
_COLUMNS = {str: "string_value", int: "int_value", float: "float_value", bool: "bool_value"}


def chroma(folder, *documents):
    """Documents of a collection, an id, a text and metadata."""
    names = sorted({document[0] for document in documents})
    rows, metadata, lists = [], [], []
    for number, (collection, own, text, values) in enumerate(documents, 1):
        rows.append({"id": number, "segment_id": f"s-{collection}", "embedding_id": own})
        for key, value in ({"chroma:document": text or None} | values).items():
            for item in value if isinstance(value, list) else [value]:
                into = lists if isinstance(value, list) else metadata
                into.append({"id": number, "key": key, _COLUMNS.get(type(item), "string_value"): item})
    return database(
        folder / "chroma.sqlite3",
        CHROMA,
        collections=[{"id": name, "name": name} for name in names],
        segments=[{"id": f"s-{name}", "scope": "METADATA", "collection": name} for name in names],
        embeddings=rows,
        embedding_metadata=metadata,
        embedding_metadata_array=lists,
    ).parent


class PointStruct:
    """A point as pydantic pickles its models."""

    def __init__(self, own, payload):
        self.fields = {"id": own, "vector": {"": [0.5, 0.25]}, "payload": payload}

    def __getstate__(self):
        return {"__dict__": self.fields, "__pydantic_extra__": None, "__pydantic_fields_set__": {"id"}}


def qdrant(folder, *points, collection="mem0"):
    """Points of an id and a payload, or pickles as they are."""
    pickles = [each if isinstance(each, bytes) else pickle.dumps(PointStruct(*each)) for each in points]
    database(
        folder / "collection" / collection / "storage.sqlite",
        "CREATE TABLE points (id TEXT PRIMARY KEY, point BLOB)",
        points=[{"id": str(number), "point": each} for number, each in enumerate(pickles)],
    )
    return folder


HISTORY = """
    CREATE TABLE messages (id TEXT PRIMARY KEY);
    CREATE TABLE history (id TEXT PRIMARY KEY, memory_id TEXT, old_memory TEXT, new_memory TEXT, event TEXT,
        created_at DATETIME, updated_at DATETIME, is_deleted INTEGER, actor_id TEXT, role TEXT);
"""


def history(path, *changes):
    """Changes of an id of a memory, an event and what it says then."""
    rows = [
        {"id": number, "memory_id": own, "event": event, "new_memory": text, "role": "user"}
        for number, (own, event, text) in enumerate(changes)
    ]
    return database(path, HISTORY, history=rows)


CLAUDE_MEM = """
    CREATE TABLE sdk_sessions (content_session_id TEXT, memory_session_id TEXT, project TEXT);
    CREATE TABLE observations (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, text TEXT, type TEXT,
        title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT, files_read TEXT, files_modified TEXT,
        created_at_epoch INTEGER);
    CREATE TABLE session_summaries (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, request TEXT,
        investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT, notes TEXT, created_at_epoch INTEGER);
    CREATE TABLE user_prompts (id INTEGER PRIMARY KEY, content_session_id TEXT, prompt_number INTEGER,
        prompt_text TEXT, created_at_epoch INTEGER);
"""
DIRECTIVES = """
    CREATE TABLE directives (id INTEGER PRIMARY KEY, scope TEXT, project TEXT, content TEXT, status TEXT,
        created_at_epoch INTEGER);
"""


def claude_mem(path, title="Sign-in fixed", **more):
    """A session of a coding agent, and rows of other tables."""
    at = 1_772_442_000_000
    observation = {
        "memory_session_id": "m-1",
        "project": "shop",
        "type": "bugfix",
        "title": title,
        "narrative": "The clock of the test was wrong.",
        "facts": json.dumps(["The test reads the time twice."]),
        "concepts": json.dumps(["testing"]),
        "files_read": json.dumps(["src/clock.py"]),
        "files_modified": json.dumps(["tests/test_sign_in.py"]),
        "created_at_epoch": at + 2000,
    }
    return database(
        path,
        CLAUDE_MEM + (DIRECTIVES if "directives" in more else ""),
        sdk_sessions=[{"content_session_id": "c-1", "memory_session_id": "m-1", "project": "shop"}],
        user_prompts=[
            {
                "content_session_id": "c-1",
                "prompt_number": 1,
                "prompt_text": "Why does sign-in fail?",
                "created_at_epoch": at,
            }
        ],
        observations=[observation, *more.pop("observations", ())],
        session_summaries=[
            {
                "memory_session_id": "m-1",
                "project": "shop",
                "request": "Mend sign-in",
                "learned": "Clocks are injected",
                "created_at_epoch": at + 3000,
            }
        ],
        **more,
    )


def notes(folder, **texts):
    """Notes by the names of their files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        Path(folder, f"{name}.md").write_text(text, "utf-8")
    return folder
