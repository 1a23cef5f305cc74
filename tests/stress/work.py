"""What the processes under stress do: verbs drawn at random, and a diary of them that outlives the process."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from uuid import UUID

from priming import Memory
from priming.errors import Conflict, NotFound

_PEOPLE = ("Ada", "Grace", "Edsger", "Barbara", "Alan", "Margaret", "Donald", "Frances")
_THINGS = ("lamp", "boat", "cellar", "ledger", "harbour", "engine", "garden", "bell", "ladder", "kitchen")
_DEEDS = ("painted", "mended", "sold", "lost", "measured", "borrowed", "cleaned", "drew")


@dataclass(slots=True)
class Diary:
    """The operations that a process began, and those that were acknowledged: written down before and after each."""

    path: Path
    _file: int = -1

    def write(self, mark: str, name: str) -> None:
        """Write a line, which is there even if the process is killed next."""
        if self._file < 0:
            self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.write(self._file, f"{mark}{name}\n".encode())

    def read(self, mark: str) -> set[str]:
        """The operations with a mark."""
        if not self.path.exists():
            return set()
        lines = self.path.read_text().splitlines()
        return {line[1:] for line in lines if line.startswith(mark)}

    @property
    def acknowledged(self) -> set[str]:
        """The operations whose calls returned."""
        return self.read("+")

    @property
    def begun(self) -> set[str]:
        """The operations that were begun."""
        return self.read("?")


@dataclass(slots=True)
class Worker:
    """Carries out verbs, each as an operation whose id the diary has."""

    memory: Memory
    random: Random
    diary: Diary
    name: str
    keys: list[str] = field(default_factory=list)
    done: int = 0
    unrecorded: int = 0

    def identified(self, call: Callable[[], object], *, always: bool = True) -> None:
        """Carry out a call; unless it ``always`` writes, it is acknowledged if the log has it."""
        name = str(UUID(int=self.random.getrandbits(128), version=4))
        self.diary.write("?", name)
        with self.memory.identified(name):
            call()
        with self.memory.lock:  # another thread reads the log when others have written
            is_logged = always or self.memory.operation_of(name) is not None
        if is_logged:
            self.diary.write("+", name)

    def remember(self) -> None:
        """Store a memory that nobody else stores."""
        key = f"{self.name}-{len(self.keys)}-{self.random.getrandbits(32):x}"
        self.identified(lambda: self.memory.remember(self.sentence(key), key=key, session=self.name))
        self.keys.append(key)

    def remember_many(self, count: int) -> None:
        """Store many memories in one operation."""
        keys = [f"{self.name}-{i}" for i in range(count)]
        items = [{"content": self.sentence(key), "key": key} for key in keys]
        self.identified(lambda: self.memory.remember_many(items))
        self.keys += keys

    def sentence(self, key: str) -> str:
        """A sentence of words that others share, and one that is its own."""
        person, deed, thing = map(self.random.choice, (_PEOPLE, _DEEDS, _THINGS))
        return f"{person} {deed} the {thing} of the lighthouse and called it {key}."

    def supersede(self) -> None:
        """Replace the text of a memory."""
        key = self.any_key()
        self.identified(lambda: self.memory.supersede(key, self.sentence(f"{key} anew {self.done}")))

    def link(self) -> None:
        """Link two memories."""
        ends = self.any_key(), self.any_key()
        if ends[0] != ends[1]:
            self.identified(
                lambda: self.memory.link(*ends, "my-own", self.random.uniform(0.1, 0.9)), always=False
            )

    def recall(self) -> None:
        """Recall, and report that the first hit helped, or did not fit."""
        query = f"Who {self.random.choice(_DEEDS)} the {self.random.choice(_THINGS)}?"
        recall = self.memory.recall(query, limit=5)
        keys = [hit.memory.key for hit in recall.hits[:1]]
        if not recall.recorded:
            self.unrecorded += 1  # it says so: a recall waits for no writer
        elif keys:
            verdict = self.random.choice(("used", "not_relevant"))
            self.identified(
                lambda: self.memory.feedback(recall.recall_id, **{verdict: keys}),  # type: ignore[arg-type]
                always=False,
            )

    def forget(self) -> None:
        """Forget a memory."""
        key = self.any_key()
        self.keys.remove(key)
        self.identified(lambda: self.memory.forget(key))

    def purge(self) -> None:
        """Erase a memory."""
        key = self.any_key()
        self.keys.remove(key)
        self.identified(lambda: self.memory.purge(key))

    def undo(self) -> None:
        """Take back a recent operation, unless later ones forbid it."""
        recent = self.random.choice(self.memory.log(limit=5))
        self.identified(lambda: self.memory.undo(recent.id), always=False)

    def any_key(self) -> str:
        """The key of a memory of its own."""
        return self.random.choice(self.keys)

    def step(self) -> None:
        """One verb, drawn at random; what the state forbids is refused, which is right."""
        verbs = (self.remember, self.supersede, self.link, self.recall, self.forget, self.undo, self.purge)
        (verb,) = self.random.choices(verbs, (8, 2, 2, 4, 1, 1, 0.3))
        if len(self.keys) < 3:
            verb = self.remember
        with suppress(Conflict, NotFound):
            verb()
        self.done += 1
