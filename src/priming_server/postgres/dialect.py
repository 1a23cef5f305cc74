"""SQL as PostgreSQL has it, and texts for its full-text search.

The words of a search are those of SQLite's index (letters and digits, without accents, by their Porter stems), so
that both databases find the same memories.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any

import numpy as np

from priming.core.arguments.arrays import unpacked
from priming.core.arguments.normal_forms import normalized
from priming.core.when import stemmer
from priming.storage.filters import Condition
from priming.storage.sql.dialect import TABLES, Clauses, Dialect, cjk_pairs, phrases

_JSON = r"replace({}, '\u0000', '\ufffd')::jsonb"
"""JSON text as a value; PostgreSQL has no NUL, which JSON writes as an escape."""


_VALUE = re.compile(r"(?<!:):([a-z_]\w*)|\?(?!\|)")


class PostgresDialect(Dialect):
    """Lists are arrays. What a planner that knows nothing of a namespace could read whole, is fenced."""

    contains = "strpos"
    quoted = "to_json({})::text"
    hit = "h.value ->> 0"
    fence = " OFFSET 0"
    text_column = "words"
    vector_column = "passages"
    bytes_value = "?::bytea"

    def among(self, column: str, name: str, kind: str = "text") -> str:
        """Return the condition that a column is in the list ``name``."""
        return f"{column} = ANY(:{name}::{kind}[])"

    def listed(self, name: str, alias: str, kind: str = "text") -> str:
        """Return a table of the values of the list ``name``."""
        return f"unnest(:{name}::{kind}[]) AS {alias}(value)"

    def of_memories(self, column: str, name: str) -> str:
        """Return the condition that a column has the number of a memory whose id is in the list ``name``."""
        ids = self.among("id", name)
        return f"{column} = ANY(ARRAY(SELECT number FROM memories WHERE namespace = :namespace AND {ids}))"

    def each(
        self, table: str, alias: str, column: str, other: str, number: str, *, outer: bool = False
    ) -> str:
        """Return a join that looks up rows by an index, whatever the planner expects.

        ``OFFSET 0`` keeps it from reading the whole namespace where it takes that for a row or two.
        """
        rows = f"FROM {table} j WHERE j.namespace = {other}.namespace AND j.{column} = {other}.{number}"
        join, end = ("LEFT", " ON true") if outer else ("CROSS", "")
        return f" {join} JOIN LATERAL (SELECT * {rows} OFFSET 0) {alias}{end}"

    def elements(self, column: str, alias: str, *, texts: bool = False) -> str:
        """Return a table of the elements of a JSON list."""
        return f"json_array_elements{'_text' * texts}(coalesce({column}, '[]')::json) AS {alias}(value)"

    def unindexed(self, column: str) -> str:
        """Return the column: statistics make the planner choose."""
        return column

    def search(self, words: str) -> tuple[str, str, Any]:
        """Return the tables that a search by words visits, its condition and value."""
        tables = f"memories m{self.each('versions', 'v', 'memory', 'm', 'number')}"
        return tables, "v.words @@ :words::tsquery", text_query(words)

    def condition(self, condition: Condition) -> tuple[str, dict[str, Any]]:
        """Return a filter as a condition, and its values."""
        clauses = _PostgresClauses()
        return clauses.clause(condition), clauses.values

    def text_index(self, text: str) -> str | None:
        """Return the words of a text, and the pairs of characters of what is written without spaces."""
        return text_vector(text)

    def vector_values(self, packed: bytes) -> tuple[Any, Any]:
        """Return the vectors of a text: what pgvector compares is that of the whole."""
        whole = unpacked(packed).whole
        return whole, packed[whole.nbytes :] or None

    def vector(self, vector: Any, beside: Any) -> bytes | None:
        """Return the vectors of a text: PostgreSQL's own checksums find a damaged one."""
        whole = np.asarray(vector.to_numpy() if hasattr(vector, "to_numpy") else vector, "<f4").tobytes()
        return whole + (beside or b"")

    def size(self, namespace: str, run: Callable[..., list[tuple[Any, ...]]]) -> int:
        """Return the bytes of a namespace's rows."""
        sizes = " + ".join(
            f"(SELECT coalesce(sum(pg_column_size(t.*)), 0) FROM {table} t WHERE t.namespace = :namespace)"
            for table in (*TABLES, "read_only")
        )
        return int(run(namespace, f"SELECT {sizes}")[0][0])


@lru_cache(maxsize=512)
def in_psycopg(sql: str) -> str:
    """Return a statement with its values, ``:name`` or ``?``, in psycopg's notation.

    >>> in_psycopg("SELECT :key::text WHERE '5%' = ?")
    "SELECT %(key)s::text WHERE '5%%' = %s"
    """
    return _VALUE.sub(lambda match: f"%({match[1]})s" if match[1] else "%s", sql.replace("%", "%%"))


class _PostgresClauses(Clauses):
    false, true = "false", "true"
    text_kind, element = "string", ("jsonb_typeof(e.value)", "e.value")

    def equals(self, column: str, values: Sequence[Any], *, is_number: bool) -> str:
        exact = f"{column}::numeric" if is_number else column
        return f"coalesce({exact} = ANY({self._list(values, is_number)}), false)"

    def has_tag(self, column: str, values: Sequence[Any]) -> str:
        return f"coalesce({_JSON.format(column)} ?| {self._list(values)}, false)"

    def has_part(self, column: str, part: str) -> str:
        if not self.can_be_stored(part):
            return "false"
        return f"coalesce(strpos({column}, {self.bind(part)}::text), 0) > 0"

    def ordered(self, column: str, operator: str, value: Any, *, is_number: bool) -> str:
        return f"coalesce({column} {operator} {self.bind(value)}::{_kind(is_number)}, false)"

    def member(self, path: Sequence[str]) -> tuple[str, str, str]:
        value = f"({_JSON.format('v.metadata')}{''.join(f' -> {self.bind(part)}::text' for part in path)})"
        kind = f"jsonb_typeof({value})"
        # The set of an array's elements is asked for only of arrays.
        array = f"CASE {kind} WHEN 'array' THEN {value} ELSE '[]' END"
        return kind, value, f"jsonb_array_elements({array}) AS e(value)"

    def is_flag(self, kind: str, value: str, flag: bool) -> str:  # noqa: ARG002
        return f"coalesce({value} = '{str(flag).lower()}'::jsonb, false)"

    def as_number(self, kind: str, value: str) -> str:
        """Return a JSON value as a number: of other types none is made, in whatever order the parts are tried."""
        return f"(CASE {kind} WHEN 'number' THEN ({value} #>> '{{}}')::numeric END)"

    def as_text(self, value: str) -> str:
        return f"(({value} #>> '{{}}') COLLATE \"C\")"

    def _list(self, values: Sequence[Any], is_number: bool = False) -> str:
        return f"{self.bind(list(values))}::{_kind(is_number)}[]"

    def can_be_stored(self, value: Any) -> bool:
        """Tell whether a text is without NUL, which no text of PostgreSQL contains."""
        return not (isinstance(value, str) and "\x00" in value)

    def plain(self, value: Any) -> Any:
        """Return a value as it is bound: a number exactly."""
        if not self.can_be_stored(value):
            return None
        if isinstance(value, float):
            return Decimal(repr(value))
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        return Decimal(value) if is_whole else super().plain(value)


def _kind(is_number: bool) -> str:
    return "numeric" if is_number else "text"


_MOST_PLACES, _MOST_WORDS, _LONGEST = 16_000, 20_000, 200
_WORD = re.compile(r"[^\W_]+")


def text_vector(text: str) -> str:
    """Return a text as a literal of ``tsvector``.

    >>> text_vector("The deploys were failing")
    "'the':1 'deploi':2 'were':3 'fail':4"
    """
    own = stems(text)
    pairs = (cjk_pairs(text) or "").split()
    places: dict[str, list[int]] = {}
    for place, word in enumerate([*own, "", *pairs], 1):
        if word and len(places) < _MOST_WORDS:
            places.setdefault(word, []).append(min(place, _MOST_PLACES))
    return " ".join(f"{_literal(word)}:{','.join(map(str, at[:200]))}" for word, at in places.items())


def text_query(words: str) -> str | None:
    """Return the literal of ``tsquery`` for texts that contain all of the words; None if there is no word.

    >>> text_query("moved 大阪府 春")
    "'move' & ('大阪' <-> '阪府') & '春':*"
    """
    return " & ".join(_queries(words)) or None


def _queries(words: str) -> Iterator[str]:
    for phrase, is_beginning in phrases(words):
        parts = stems(phrase)
        if len(parts) > 1:
            yield f"({' <-> '.join(map(_literal, parts))})"
        elif parts:
            yield _literal(parts[0]) + (":*" if is_beginning else "")


def stems(text: str) -> list[str]:
    """Return the words of a text, in lower case, without accents, by their stems.

    >>> stems("Wörds, file_one.py")
    ['word', 'file', 'on', 'py']
    """
    return [_stem(word) for word in _WORD.findall(_plain(text))]


def _plain(text: str) -> str:
    """Return a text in lower case without accents."""
    if text.isascii():
        return text.lower()
    letters: Iterable[str] = (c for c in normalized("NFD", text) if unicodedata.category(c) != "Mn")
    return normalized("NFC", "".join(letters)).lower()


def _stem(word: str) -> str:
    return (stemmer("porter")(word) if word.isascii() else word)[:_LONGEST]


def _literal(word: str) -> str:
    escaped = word.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"
