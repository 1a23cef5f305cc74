"""SQLite's FTS5 (Porter stems) and sqlite-vec, joined in SQL by reciprocal rank fusion."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import protocol

protocol.isolate()

protocol.sqlite_with_extensions()
import re
import sqlite3

import sqlite_vec

POOL = 100
FUSED = """
with words as (
  select rowid, row_number() over (order by rank) as place from texts where texts match :words limit :pool
), near as (
  select rowid, row_number() over (order by distance) as place from vectors
  where embedding match :vector and k = :pool
)
select coalesce(words.rowid, near.rowid),
       coalesce(1.0 / (60 + words.place), 0) + coalesce(1.0 / (60 + near.place), 0) as score
from words full outer join near on words.rowid = near.rowid
order by score desc, 1 limit :limit
"""


def load(memories, vectors):
    store = sqlite3.connect(":memory:")
    store.enable_load_extension(True)
    sqlite_vec.load(store)
    store.execute("create virtual table texts using fts5(content, tokenize='porter unicode61')")
    store.execute(
        f"create virtual table vectors using vec0(embedding float[{vectors.shape[1]}] distance_metric=cosine)"
    )
    store.executemany(
        "insert into texts(rowid, content) values (?, ?)", enumerate(m.indexed for m in memories)
    )
    store.executemany(
        "insert into vectors(rowid, embedding) values (?, ?)", enumerate(v.tobytes() for v in vectors)
    )
    return store, [memory.key for memory in memories]


def search(store, text, vector, limit):
    database, keys = store
    words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", text))
    asked = {"words": words, "vector": vector.tobytes(), "pool": POOL, "limit": limit}
    return [keys[row] for row, _ in database.execute(FUSED, asked)]


protocol.serve(load, search, versions=["sqlite-vec"])
