"""SQL as SQLite has it, and the rows of a file as they are stored, read past what is damaged."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, TypeVar
from zlib import crc32

from priming.storage.filters import Condition
from priming.storage.sql.dialect import Clauses, Dialect, cjk_pairs, phrases
from priming.storage.sql.walk import RowScan

T = TypeVar("T")
_FETCHED = 100
_MOST_ROWS = 512
"""The most rows of a page of 4 KiB."""
_COLUMNS = (
    "SELECT t.name, c.name, c.type IN ('INTEGER', 'REAL'), c.\"notnull\""
    " FROM sqlite_schema t, pragma_table_info(t.name) c"
    " WHERE t.type = 'table' AND t.name != 'tokens'"
    " AND EXISTS (SELECT 1 FROM pragma_table_info(t.name) n WHERE n.name = 'namespace')"
    " ORDER BY t.name, c.cid"
)
"""The columns of tables whose rows belong to namespaces: whether each is a number, and whether it is never NULL."""


class SqliteDialect(Dialect):
    """Lists are JSON texts. The order in which tables are visited is that of CROSS JOIN."""

    generations_of_all = checks_vectors = True
    contains = "instr"
    quoted = "json_quote({})"
    hit = "json_extract(h.value, '$[0]')"
    text_column = "bigrams"
    vector_column = "checksum"

    def among(self, column: str, name: str, kind: str = "text") -> str:  # noqa: ARG002
        """Return the condition that a column is in the list ``name``."""
        return f"{column} IN (SELECT value FROM json_each(:{name}))"

    def listed(self, name: str, alias: str, kind: str = "text") -> str:  # noqa: ARG002
        """Return a table of the values of the list ``name``."""
        return f"json_each(:{name}) {alias}"

    def of_memories(self, column: str, name: str) -> str:
        """Return the condition that a column has the number of a memory whose id is in the list ``name``."""
        ids = self.among("id", name)
        return f"{column} IN (SELECT number FROM memories WHERE namespace = :namespace AND {ids})"

    def each(
        self, table: str, alias: str, column: str, other: str, number: str, *, outer: bool = False
    ) -> str:
        """Return a join that looks up rows by an index: otherwise SQLite may read whole namespaces."""
        same = f"{alias}.namespace = {other}.namespace AND {alias}.{column} = {other}.{number}"
        return f" {'LEFT' if outer else 'CROSS'} JOIN {table} {alias} ON {same}"

    def elements(self, column: str, alias: str, *, texts: bool = False) -> str:  # noqa: ARG002
        """Return a table of the elements of a JSON list."""
        return f"json_each({column}) {alias}"

    def unindexed(self, column: str) -> str:
        """Return a column such that no index is chosen for its order."""
        return f"+{column}"

    def search(self, words: str) -> tuple[str, str, Any]:
        """Return the tables that a search by words visits, its condition and value."""
        tables = (
            "words CROSS JOIN versions v ON v.number = words.rowid CROSS JOIN memories m"
            " ON m.namespace = v.namespace AND m.number = v.memory"
        )
        return tables, "words MATCH :words", fts_query(words)

    def condition(self, condition: Condition) -> tuple[str, dict[str, Any]]:
        """Return a filter as a condition, and its values."""
        clauses = _SqliteClauses()
        return clauses.clause(condition), clauses.values

    def text_index(self, text: str) -> str | None:
        """Return the pairs of characters of what is written without spaces."""
        return cjk_pairs(text)

    def vector_values(self, packed: bytes) -> tuple[Any, Any]:
        """Return the vectors of a text, and their checksum: they are derived, and the log has none."""
        return packed, crc32(packed)

    def vector(self, vector: Any, beside: Any) -> bytes | None:
        """Return the vectors if they have their checksum; those of earlier versions have none."""
        is_whole = isinstance(vector, bytes) and (beside is None or crc32(vector) == beside)
        return vector if is_whole else None

    def size(self, namespace: str, run: Callable[..., list[tuple[Any, ...]]]) -> int:
        """Return the bytes of a namespace's rows."""
        columns: dict[str, list[str]] = {}
        for table, column, is_number, is_filled in run(namespace, _COLUMNS):
            # Of eight bytes each, numbers do not tell by their digits how many rows others have in the file.
            text = f"coalesce(length(CAST({column} AS BLOB)), 0)"
            number = "8" if is_filled else f"8 * ({column} IS NOT NULL)"
            columns.setdefault(table, []).append(number if is_number else text)
        total = 0
        for table, lengths in columns.items():
            sql = f"SELECT coalesce(sum({' + '.join(lengths)}), 0) FROM {table} WHERE namespace = :namespace"
            total += run(namespace, sql)[0][0]
        return total


class _SqliteClauses(Clauses):
    false, true = "0", "1"
    text_kind, element = "text", ("type", "value")

    def equals(self, column: str, values: Sequence[Any], *, is_number: bool) -> str:  # noqa: ARG002
        return f"coalesce({column} IN {self._list(values)}, 0)"

    def has_tag(self, column: str, values: Sequence[Any]) -> str:
        return f"EXISTS (SELECT 1 FROM json_each({column}) WHERE value IN {self._list(values)})"

    def has_part(self, column: str, part: str) -> str:
        return f"coalesce(instr({column}, {self.bind(part)}), 0) > 0"

    def ordered(self, column: str, operator: str, value: Any, *, is_number: bool) -> str:  # noqa: ARG002
        return f"coalesce({column} {operator} {self.bind(value)}, 0)"

    def member(self, path: Sequence[str]) -> tuple[str, str, str]:
        place = self.bind("$" + "".join(f".{json.dumps(part, ensure_ascii=False)}" for part in path))
        at = f"(v.metadata, {place})"
        return f"json_type{at}", f"json_extract{at}", f"json_each{at}"

    def is_flag(self, kind: str, value: str, flag: bool) -> str:  # noqa: ARG002
        return f"coalesce({kind} = '{str(flag).lower()}', 0)"

    def as_number(self, kind: str, value: str) -> str:
        return f"CASE WHEN {kind} IN ('integer', 'real') THEN {value} END"

    def _list(self, values: Sequence[Any]) -> str:
        return f"(SELECT value FROM json_each({self.bind(list(values))}))"


def fts_query(words: str) -> str:
    """Return the query for texts that contain all of the words.

    >>> fts_query("moved 大阪府 春")
    '"moved" "大阪 阪府" "春" *'
    """
    return (
        " ".join(_quoted(phrase) + (" *" if beginning else "") for phrase, beginning in phrases(words))
        or '""'
    )


def _quoted(phrase: str) -> str:
    return '"' + phrase.replace('"', '""') + '"'


class _Text(bytes):
    """What a column has as text, undecoded; a blob is ``bytes``."""


class SqliteScan(RowScan):
    """The rows of a SQLite store: a bit that flips leaves texts that are not UTF-8, and blobs."""

    of_pages = (sqlite3.DatabaseError,)
    records = (
        (
            str,
            "SELECT DISTINCT 'embedding generation ' || g.generation, g.name FROM vectors t JOIN generations g"
            " ON g.generation = t.generation WHERE t.namespace = :namespace",
        ),
    )
    of_all = (
        (str, "SELECT 'a namespace', t.namespace FROM namespaces t"),
        (str, "SELECT 'a read-only namespace', t.namespace FROM read_only t"),
    )

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__(SqliteDialect())
        self._connection = connection

    def select(self, sql: str, namespace: str | None) -> Iterator[tuple[str, Sequence[Any]]]:
        """Read the rows of a query with their names, texts as bytes, a few at a time; a damaged page ends them."""
        return self._rows(sql, {"namespace": namespace})

    def around(self, sql: str, namespace: str, key: str | None) -> Iterator[tuple[str, Sequence[Any]]]:
        """Yield the rows that lie on no damaged page, and are not read through one: by halves of spans of ``key``."""
        ((pages,),) = self._connection.execute("PRAGMA page_count")
        spans = [(1, pages * _MOST_ROWS)] if key else [(0, 0)]
        within = f" AND t.{key} BETWEEN :first AND :last" if key else ""
        while spans:
            first, last = spans.pop()
            try:
                values = {"namespace": namespace, "first": first, "last": last}
                yield from list(self._rows(sql + within, values))
            except sqlite3.OperationalError:
                raise
            except sqlite3.DatabaseError:
                middle = (first + last) // 2
                spans += [(middle + 1, last), (first, middle)] if first < last else []

    def _rows(self, sql: str, values: Mapping[str, str | int | None]) -> Iterator[tuple[str, Sequence[Any]]]:
        with closing(self._undecoded(lambda: self._connection.execute(sql, values))) as cursor:
            while rows := self._undecoded(lambda: cursor.fetchmany(_FETCHED)):
                for name, *columns in rows:
                    yield (name or b"a row without a name").decode("utf-8", "replace"), columns

    def _undecoded(self, call: Callable[[], T]) -> T:
        """Return what a call returns that reads texts as bytes."""
        former, self._connection.text_factory = self._connection.text_factory, _Text
        try:
            return call()
        finally:
            self._connection.text_factory = former

    def decode(self, values: Sequence[Any]) -> list[Any]:
        """Return the values of a row; an error for a text that is not UTF-8, and for a blob."""
        for value in values:
            if isinstance(value, bytes) and not isinstance(value, _Text):
                raise TypeError("a blob")
        return [value.decode() if isinstance(value, _Text) else value for value in values]
