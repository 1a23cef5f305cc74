"""The index of a large namespace's vectors, for searches in SQL, with its recall measured."""

from __future__ import annotations

from hashlib import blake2b

from psycopg import sql

from priming.config.params.store import POSTGRES
from priming.config.values import dataclass
from priming.storage.postgres.store import PostgresStore

_SAMPLE, _NEAREST = 50, 10
_INDEX = sql.SQL(
    "CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON vectors"
    " USING hnsw ((vector::vector({size})) vector_cosine_ops)"
    " WHERE namespace = {namespace} AND generation = {generation}"
)
_SEARCH = (
    "SELECT memory FROM vectors WHERE namespace = {namespace} AND generation = {generation}"
    " ORDER BY (vector::vector({size})) <=> (SELECT q.vector::vector({size}) FROM vectors q"
    " WHERE q.namespace = {namespace} AND q.generation = {generation} AND q.memory = {memory} LIMIT 1)"
    " LIMIT {nearest}"
)


@dataclass(frozen=True, slots=True)
class VectorIndex:
    """An index of a namespace's vectors: its size, and the share of the nearest memories that it finds."""

    name: str
    generation: int
    vectors: int
    recall: float


def index_vectors(
    store: PostgresStore, namespace: str, *, least: int = POSTGRES.index_rows
) -> VectorIndex | None:
    """Index the vectors of a namespace (HNSW), unless they are fewer than ``least``, while others read and write.

    The index is of this namespace alone, so that no filter thins out what it returns. Its recall is that of the ten
    nearest of a sample of memories, against a search without it.
    """
    ((generation, size, count),) = store.connection.run(
        namespace,
        "SELECT max(generation), max(vector_dims(vector)), count(*) FROM vectors WHERE namespace = %(namespace)s"
        " AND generation = (SELECT max(generation) FROM vectors WHERE namespace = %(namespace)s)",
    )
    if count < least:
        return None
    digest = blake2b(f"{namespace} {generation}".encode(), digest_size=8).hexdigest()
    parts = {
        "name": sql.Identifier(f"vectors_{digest}"),
        "size": sql.Literal(size),
        "namespace": sql.Literal(namespace),
        "generation": sql.Literal(generation),
    }
    store.connection.administer(_INDEX.format(**parts).as_string())
    every = "SELECT memory FROM vectors WHERE namespace = %(namespace)s AND generation = %(generation)s"
    sample = store.connection.run(
        namespace, f"{every} ORDER BY md5(memory::text) LIMIT {_SAMPLE}", {"generation": generation}
    )
    shares = []
    for (memory,) in sample:
        nearest = sql.SQL(_SEARCH).format(
            **{**parts, "memory": sql.Literal(memory), "nearest": sql.Literal(_NEAREST)}
        )
        exact, indexed = (
            _memories(store, namespace, nearest, without) for without in ("indexscan", "seqscan")
        )
        shares.append(len(exact & indexed) / max(1, len(exact)))
    return VectorIndex(f"vectors_{digest}", generation, count, sum(shares) / max(1, len(shares)))


def _memories(store: PostgresStore, namespace: str, search: sql.Composed, without: str) -> set[int]:
    """The memories that a search finds without scans of the table, or without an index."""
    with store.connection.transaction(write=False):
        store.connection.run(namespace, f"SELECT set_config('enable_{without}', 'off', true)")
        rows = store.connection.run(namespace, search.as_string().replace("%", "%%"))
    return {number for (number,) in rows}
