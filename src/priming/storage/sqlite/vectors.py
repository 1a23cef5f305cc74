"""The vectors of a SQLite store. They are derived and not in the log, so each row has a checksum of its own."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing
from zlib import crc32

from priming.storage.protocol import VersionKey
from priming.storage.sqlite.reader import LISTED, SqliteReader, json_list

_DAMAGED = (
    "SELECT 'vector of version ' || x.version || ' of memory '"
    " || iif(m.key IS NULL, 'number ' || x.memory, json_quote(m.key)), x.vector, x.checksum"
    " FROM vectors x LEFT JOIN memories m ON m.namespace = x.namespace AND m.number = x.memory"
    " WHERE x.namespace = ? ORDER BY x.memory, x.version, x.generation"
)


class SqliteVectors(SqliteReader):
    """Vectors by memory, version and embedding generation."""

    def vectors(
        self, namespace: str, generation: str, ids: Collection[str] | None = None
    ) -> Iterator[tuple[VersionKey, bytes]]:
        """The vectors of one embedding generation; None means those of all memories."""
        for key, vector, checksum in self._vectors(namespace, generation, ids):
            if not _is_whole(vector, checksum):
                raise ValueError(f"the vector of {key} is damaged")
            yield key, vector

    def embedded(
        self, namespace: str, generation: str, ids: Collection[str] | None = None
    ) -> set[VersionKey]:
        """The versions with a vector of a generation; those whose vector is damaged lack one."""
        return {
            key
            for key, vector, checksum in self._vectors(namespace, generation, ids)
            if _is_whole(vector, checksum)
        }

    def _vectors(
        self, namespace: str, generation: str, ids: Collection[str] | None
    ) -> Iterator[tuple[VersionKey, bytes, int | None]]:
        values = {"namespace": namespace, "generation": generation}
        which, end = "FROM memories m", "WHERE m.namespace = :namespace"
        if ids is not None:
            which, end, values["listed"] = LISTED, "", json_list(ids)
        sql = (
            f"SELECT m.id, x.version, x.vector, x.checksum {which} CROSS JOIN vectors x"
            " ON x.namespace = m.namespace AND x.memory = m.number AND x.generation ="
            f" (SELECT generation FROM generations WHERE name = :generation) {end}"
        )
        for memory_id, version, vector, checksum in self._db.each(sql, values):
            yield (memory_id, version), vector, checksum

    def add_vectors(self, namespace: str, generation: str, vectors: Mapping[VersionKey, bytes]) -> None:
        """Store derived vectors outside the log, replacing present ones."""
        if not vectors:
            return
        with self._db.transaction(write=True):
            self._db.change("INSERT OR IGNORE INTO generations (name) VALUES (?)", (generation,))
            ((number,),) = self._db.run("SELECT generation FROM generations WHERE name = ?", (generation,))
            numbers = self._numbers(namespace, {memory_id for memory_id, _ in vectors})
            self._db.many(
                "INSERT OR REPLACE INTO vectors (namespace, memory, version, generation, vector, checksum)"
                " SELECT :namespace, :memory, :version, :generation, :vector, :checksum WHERE EXISTS"
                " (SELECT 1 FROM versions"
                " WHERE namespace = :namespace AND memory = :memory AND version = :version)",
                (
                    {
                        "namespace": namespace,
                        "memory": numbers[memory_id],
                        "version": version,
                        "generation": number,
                        "vector": vector,
                        "checksum": crc32(vector),
                    }
                    for (memory_id, version), vector in vectors.items()
                    if memory_id in numbers
                ),
            )


def damaged_vectors(connection: sqlite3.Connection, namespace: str) -> Iterator[str]:
    """The names of the vectors of a namespace that are damaged."""
    former, connection.text_factory = connection.text_factory, lambda text: text.decode("utf-8", "replace")
    try:
        with closing(connection.execute(_DAMAGED, (namespace,))) as rows:
            for name, vector, checksum in rows:
                if not _is_whole(vector, checksum):
                    yield name
    finally:
        connection.text_factory = former


def _is_whole(vector: bytes, checksum: int | None) -> bool:
    """Whether a vector has its checksum; those of earlier versions have none."""
    return isinstance(vector, bytes) and (checksum is None or crc32(vector) == checksum)
