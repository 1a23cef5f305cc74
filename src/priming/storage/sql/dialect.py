"""What differs between databases as SQL: its forms, a filter, the words of a search; and how a statement is sent.

A statement names its values ``:name``, the namespace among them, and is written in what SQLite and PostgreSQL share;
for the rest a ``Dialect`` has a form each. A value that is a list is bound as the database takes lists. What
comes from the caller is bound, never written into the SQL.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, ClassVar, Protocol

from priming.serialization import stamp
from priming.storage.filters import Comparison, Condition
from priming.text.tokens import bigrams

NO_NAMESPACE = ""
"""The scope of a statement on tables of the whole store, such as tokens: no row of a namespace is seen in it."""
WRITE, TRACES = "write", "traces"
"""The locks of a namespace: of its writers, and of the recalls that are recorded, which wait for no writer."""
Values = Mapping[str, Any]
TABLES = (
    "namespaces",
    "memories",
    "versions",
    "generations",
    "vectors",
    "links",
    "verdicts",
    "pairs",
    "runs",
    "weights",
    "relations",
    "operations",
    "changes",
    "touched",
    "traces",
    "activations",
    "loop_sessions",
)
"""All tables but tokens and what is derived, in an order in which they can be filled."""
_FIRST = "SELECT min(w.recorded_at) FROM versions w WHERE w.namespace = v.namespace AND w.memory = v.memory"
RECORDED_AT = f"CASE v.revision WHEN 1 THEN v.recorded_at ELSE ({_FIRST} AND w.version = v.version) END"
"""When a version was stored: in its first row."""
RETIRED_AT = f"({_FIRST} AND w.version > v.version AND w.valid_from = v.valid_to)"
"""When a version was superseded: in the first row of a later one that begins where it ends."""


class Database(Protocol):
    """Sends statements, each in the scope of a namespace, and in the transaction of its thread if there is one."""

    @property
    def place(self) -> str:
        """The database as errors name it."""

    def run(self, namespace: str, sql: str, values: Values | None = None) -> list[tuple[Any, ...]]:
        """Return all rows of one statement that reads."""

    def of_every(self, sql: str) -> list[tuple[Any, ...]]:
        """Return all rows of one statement over every namespace; ``StoreError`` for a role that may not see them."""

    def each(
        self, namespace: str, sql: str, values: Values | None = None, *, batch: int = 2000
    ) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a large read, fetched in batches."""

    def change(self, namespace: str, sql: str, values: Values | None = None) -> int:
        """Execute one statement that writes; the number of rows it changed."""

    def many(self, namespace: str, sql: str, rows: Iterable[Sequence[Any]]) -> int:
        """Execute one statement, with ``?`` for its values, for each of ``rows``; the number of rows it changed."""

    def transaction(
        self, *, write: bool = True, patience: float | None = None, lock: str = WRITE
    ) -> AbstractContextManager[object]:
        """Begin a transaction, or join that of this thread; ``patience`` is the time to wait for others."""

    def lock(self, namespace: str, name: str = WRITE) -> None:
        """Take a lock of a namespace until the transaction ends, if the database has such locks."""

    def notify(self, namespace: str) -> None:
        """Announce, once the transaction is committed, that a namespace has changed."""

    def close(self) -> None:
        """Release the database; a second call does nothing."""


class Dialect(ABC):
    """The SQL of one database, where it is not that of the other."""

    generations_of_all: ClassVar[bool] = False
    """Whether the generations of vectors are numbered over all namespaces, rather than in each."""
    contains: ClassVar[str]
    """The function for the place of a text within another."""
    quoted: ClassVar[str]
    """A text as JSON has it, in quotation marks."""
    hit: ClassVar[str]
    """The id of a hit, an element ``h.value`` of a trace's hits."""
    fence: ClassVar[str] = ""
    """What keeps a planner from reordering a subquery."""
    text_column: ClassVar[str]
    """The column of ``versions`` by which texts are found by their words."""
    vector_column: ClassVar[str]
    """The column of ``vectors`` beside the vector of the whole text."""
    checks_vectors: ClassVar[bool] = False
    """Whether a damaged vector is recognised by its columns."""
    bytes_value: ClassVar[str] = "?"
    """A value of bytes in a list of selected columns."""

    @abstractmethod
    def among(self, column: str, name: str, kind: str = "text") -> str:
        """Return the condition that a column is in the list ``name``."""

    @abstractmethod
    def listed(self, name: str, alias: str, kind: str = "text") -> str:
        """Return a table of the values of the list ``name``, with the column ``value``."""

    @abstractmethod
    def of_memories(self, column: str, name: str) -> str:
        """Return the condition that a column has the number of a memory whose id is in the list ``name``."""

    @abstractmethod
    def each(
        self, table: str, alias: str, column: str, other: str, number: str, *, outer: bool = False
    ) -> str:
        """Return a join that looks up rows by an index for each row of another table, in this order."""

    @abstractmethod
    def elements(self, column: str, alias: str, *, texts: bool = False) -> str:
        """Return a table of the elements of a JSON list, with the column ``value``."""

    @abstractmethod
    def unindexed(self, column: str) -> str:
        """Return a column such that no index is chosen for its order."""

    @abstractmethod
    def search(self, words: str) -> tuple[str, str, Any]:
        """Return tables of memories ``m`` and versions ``v``, the condition that texts have the words, its value."""

    @abstractmethod
    def condition(self, condition: Condition) -> tuple[str, dict[str, Any]]:
        """Return a filter as a condition over ``memories m`` and ``versions v``, and its values."""

    @abstractmethod
    def text_index(self, text: str) -> str | None:
        """Return the value of ``text_column`` for a text."""

    @abstractmethod
    def vector_values(self, packed: bytes) -> tuple[Any, Any]:
        """Return the vectors of a text as their two columns hold them."""

    @abstractmethod
    def vector(self, vector: Any, beside: Any) -> bytes | None:
        """Return the vectors of a text from their two columns; None if they are damaged."""

    @abstractmethod
    def size(self, namespace: str, run: Callable[..., list[tuple[Any, ...]]]) -> int:
        """Return the bytes of a namespace's rows, without indexes: nothing of it is about another namespace."""


def bound(which: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is bound for restrictions, without those that are None."""
    return {name: _bound(value) for name, value in which.items() if value is not None}


def _bound(value: Any) -> Any:
    if isinstance(value, datetime):
        return stamp(value)
    return list(value) if isinstance(value, Collection) and not isinstance(value, str) else value


COMPARE = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
_OF_MEMORY = {"id", "key", "kind", "priority", "weight", "uses"}
_NUMBERS = {"importance", "priority", "weight", "version", "uses"}


def can_order(value: Any) -> bool:
    """Tell whether a value is a number, as true and false are not."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


class Clauses(ABC):
    """Writes clauses over ``memories m`` and ``versions v``: never NULL, so that ``not`` may precede each."""

    false: ClassVar[str]
    true: ClassVar[str]
    text_kind: ClassVar[str]
    """The type of a text in JSON."""
    element: ClassVar[tuple[str, str]]
    """The type and the value of an element of an array."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    def clause(self, condition: Condition) -> str:
        """Return the condition in SQL; its values are in ``values``."""
        if isinstance(condition, Comparison):
            return self._comparison(condition)
        parts = [self.clause(part) for part in condition.parts]
        if condition.operator == "not":
            return f"NOT ({parts[0]})"
        if not parts:
            return self.true if condition.operator == "and" else self.false
        # SQLite's parser is a hundred parentheses deep.
        joined = f" {condition.operator.upper()} ".join(f"({part})" for part in parts)
        return parts[0] if len(parts) == 1 else joined

    def _comparison(self, comparison: Comparison) -> str:
        name, operator = comparison.path[0], comparison.operator
        if operator in ("ne", "nin"):
            positive = Comparison(comparison.path, {"ne": "eq", "nin": "in"}[operator], comparison.value)
            return f"NOT ({self._comparison(positive)})"
        operands = comparison.value if operator == "in" else (comparison.value,)
        if name == "metadata":
            return self.of_metadata(comparison, operands)
        column = f"m.{name}" if name in _OF_MEMORY else f"v.{name}"
        column = f"({RECORDED_AT})" if name == "recorded_at" else column
        if operator == "exists":
            return f"{column} IS {'NOT ' if comparison.value else ''}NULL"
        if name == "tags" or operator in ("eq", "in"):
            return self._any(name, column, operands)
        if operator == "contains":
            return self.has_part(column, comparison.value)
        return self.ordered(column, COMPARE[operator], comparison.value, is_number=name in _NUMBERS)

    def _any(self, name: str, column: str, operands: Sequence[Any]) -> str:
        """Tell whether a column equals, or has as a tag, any of some values, of which one may be null."""
        values = [operand for operand in operands if operand is not None and self.can_be_stored(operand)]
        clauses = [f"{column} IS NULL"] if any(operand is None for operand in operands) else []
        if values and name == "tags":
            clauses.append(self.has_tag(column, values))
        elif values:
            clauses.append(self.equals(column, values, is_number=name in _NUMBERS))
        return " OR ".join(clauses) or self.false

    def bind(self, value: Any) -> str:
        """Return the name under which a value, or a list, is bound."""
        name = f"filter_{len(self.values)}"
        self.values[name] = [*map(self.plain, value)] if isinstance(value, list) else self.plain(value)
        return f":{name}"

    def plain(self, value: Any) -> Any:
        """Return a value as it is bound: a time as its stamp."""
        return stamp(value) if isinstance(value, datetime) else value

    def can_be_stored(self, value: Any) -> bool:  # noqa: ARG002
        """Tell whether a text of this database can have this value."""
        return True

    @abstractmethod
    def equals(self, column: str, values: Sequence[Any], *, is_number: bool) -> str:
        """Tell whether a column has one of the values."""

    @abstractmethod
    def has_tag(self, column: str, values: Sequence[Any]) -> str:
        """Tell whether a column of tags has one of the values."""

    @abstractmethod
    def has_part(self, column: str, part: str) -> str:
        """Tell whether a text contains another."""

    @abstractmethod
    def ordered(self, column: str, operator: str, value: Any, *, is_number: bool) -> str:
        """Tell whether a column is before or after a value."""

    def of_metadata(self, comparison: Comparison, operands: Sequence[Any]) -> str:
        """Tell whether a value of the user's metadata satisfies a comparison."""
        kind, value, elements = self.member(comparison.path[1:])
        operator, operand = comparison.operator, comparison.value
        if operator == "exists":
            return f"coalesce({kind}, 'null') {'<>' if operand else '='} 'null'"
        if operator in ("eq", "in"):
            return self._equals_any(kind, value, operands)
        if operator == "contains":
            each = f"SELECT 1 FROM {elements} WHERE {self._equals_any(*self.element, operands)}"
            in_array = f"coalesce({kind}, '') = 'array' AND EXISTS ({each})"
            if not isinstance(operand, str):
                return in_array
            in_text = f"{kind} = '{self.text_kind}' AND {self.has_part(self.as_text(value), operand)}"
            return f"({in_array}) OR coalesce({in_text}, {self.false})"
        place = self.as_text(value) if isinstance(operand, str) else self.as_number(kind, value)
        same = f"{kind} = '{self.text_kind}' AND " if isinstance(operand, str) else ""
        return f"coalesce({same}{self.ordered(place, COMPARE[operator], operand, is_number=not same)}, {self.false})"

    def _equals_any(self, kind: str, value: str, operands: Sequence[Any]) -> str:
        """Tell whether a JSON value equals any of some others, of its own type."""
        texts = [operand for operand in operands if isinstance(operand, str) and self.can_be_stored(operand)]
        numbers = [operand for operand in operands if can_order(operand)]
        flags = {operand for operand in operands if isinstance(operand, bool)}
        clauses = [self.is_flag(kind, value, flag) for flag in sorted(flags)]
        if any(operand is None for operand in operands):
            clauses.append(f"coalesce({kind}, 'null') = 'null'")
        if texts:
            same = self.equals(self.as_text(value), texts, is_number=False)
            clauses.append(f"(coalesce({kind}, '') = '{self.text_kind}' AND {same})")
        if numbers:
            clauses.append(self.equals(self.as_number(kind, value), numbers, is_number=True))
        return " OR ".join(clauses) or self.false

    @abstractmethod
    def member(self, path: Sequence[str]) -> tuple[str, str, str]:
        """Return the type of a value of the metadata, the value, and a table of its elements if it is an array."""

    @abstractmethod
    def is_flag(self, kind: str, value: str, flag: bool) -> str:
        """Tell whether a JSON value is true, or false."""

    @abstractmethod
    def as_number(self, kind: str, value: str) -> str:
        """Return a JSON value as a number; NULL for one of another type."""

    def as_text(self, value: str) -> str:
        """Return a JSON value that is a text."""
        return value


def searched_text(heading: str | None, content: str) -> str:
    """Return the text by whose words a version is found."""
    return f"{heading}\n{content}" if heading else content


def cjk_pairs(text: str) -> str | None:
    """Return the pairs of adjacent characters of each run without spaces, and the run's last character alone.

    A run then matches the phrase of its pairs, and a single character matches the pairs that begin with it.

    >>> cjk_pairs("I moved to 大阪府")
    '大阪 阪府 府'
    """
    return " ".join(pair for run in _runs(text) for pair in (*run, run[-1][1:])).strip() or None


def phrases(words: str) -> list[tuple[str, bool]]:
    """Return the phrases that a text must contain to contain all of the words; of some, only the beginning of a word.

    >>> phrases("moved 大阪府 春")
    [('moved', False), ('大阪 阪府', False), ('春', True)]
    """
    return [phrase for word in words.replace("\x00", " ").split() for phrase in _phrases(word)]


def _phrases(word: str) -> list[tuple[str, bool]]:
    runs = _runs(word)
    spaced = "".join(" " if bigrams(letter) else letter for letter in word) if runs else word
    return [(part, False) for part in spaced.split()] + [(" ".join(run), len(run[0]) == 1) for run in runs]


def _runs(text: str) -> list[list[str]]:
    """Return the pairs of a text, in runs in which each begins with the last character of the previous one."""
    runs: list[list[str]] = []
    for pair in bigrams(text).split():
        if runs and len(runs[-1][-1]) > 1 and runs[-1][-1][-1] == pair[0]:
            runs[-1].append(pair)
        else:
            runs.append([pair])
    return runs
