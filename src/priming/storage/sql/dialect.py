"""What differs between databases as SQL, and how a statement reaches a database.

A statement names its values ``:name``, the namespace among them, and is written in what SQLite and PostgreSQL share;
for the rest a ``Dialect`` has a form each. A value that is a list is bound as the database takes lists.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar, Protocol

from priming.storage.filters import Condition

NO_NAMESPACE = ""
"""The scope of a statement on tables of the whole store, such as tokens: no row of a namespace is seen in it."""
WRITE, TRACES = "write", "traces"
"""The locks of a namespace: of its writers, and of the recalls that are recorded, which wait for no writer."""
Values = Mapping[str, Any]


class Database(Protocol):
    """Sends statements, each in the scope of a namespace, and in the transaction of its thread if there is one."""

    @property
    def place(self) -> str:
        """The database as errors name it."""

    def run(self, namespace: str, sql: str, values: Values | None = None) -> list[tuple[Any, ...]]:
        """All rows of one statement that reads."""

    def of_every(self, sql: str) -> list[tuple[Any, ...]]:
        """All rows of one statement over every namespace; ``StoreError`` for a role that may not see them."""

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
