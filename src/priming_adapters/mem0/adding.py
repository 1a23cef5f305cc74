"""How mem0's ``add`` remembers what was said: as it is, as a change, or as the facts that a model reads in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from priming import Memory, MemoryRecord
from priming.config.values import dataclass
from priming.llm.protocol import Agent, fenced, prompt
from priming.text.statements.judge import judge
from priming.text.tokens import terms
from priming_adapters.common import message

_NEAREST = 10
"""How many of the nearest memories a new text is compared with, and how many of what was said before it."""
_CHANGES = {
    "type": "object",
    "required": ["event"],
    "properties": {
        "event": {"enum": ["ADD", "UPDATE", "DELETE", "NONE"]},
        "number": {"type": "integer"},
        "text": {"type": "string"},
    },
}
_ANSWER = {
    "type": "object",
    "required": ["memories"],
    "properties": {"memories": {"type": "array", "items": _CHANGES}},
}


@dataclass(frozen=True, slots=True)
class Said:
    """A text of a role, or of somebody named."""

    role: str
    name: str | None
    text: str

    @property
    def speaker(self) -> str:
        """Who said it."""
        return self.name or self.role


@dataclass(slots=True)
class Fact:
    """What a memory says once the steps so far are done; a memory that is yet to be has no id."""

    text: str
    metadata: Mapping[str, Any]
    speaker: str | None
    id: str = ""

    @classmethod
    def of(cls, record: MemoryRecord) -> Fact:
        """Return what a memory says."""
        return cls(record.content, record.metadata, record.speaker, record.id)


@dataclass(slots=True)
class AddStep:
    """What becomes of a text: a new memory, a change of one, its end, or nothing."""

    event: str
    fact: Fact
    text: str
    item: Mapping[str, Any] | None = None
    """The arguments of ``remember`` for a new memory."""
    before: str | None = None

    @property
    def result(self) -> dict[str, Any]:
        """The step as mem0 tells of it."""
        more = {} if self.before is None else {"previous_memory": self.before}
        return {"id": self.fact.id, "memory": self.text, "event": self.event, **more}


@dataclass(frozen=True, slots=True)
class Adding:
    """One call of ``add``: into which memory, and what all of its memories share."""

    memory: Memory
    fields: dict[str, Any]

    def plain(self, spoken: Iterable[Said], kind: str = "episode") -> list[dict[str, Any]]:
        """Remember texts; one that is there already is not stored again."""
        return self._done([self._new(turn, kind) for turn in spoken])

    def judged(self, spoken: Iterable[Said]) -> list[dict[str, Any]]:
        """Remember statements: the same is not stored again, and one that changes another is its new version."""
        facts, steps, moved = dict[str, Fact](), list[AddStep](), list[Fact]()
        with self.memory.lock:
            for turn in spoken:
                stored = self._nearest(turn.text, {"speaker": turn.speaker})
                near = [facts.setdefault(record.id, Fact.of(record)) for record in stored]
                step = self._step(turn, [*_alike(turn, moved), *near])
                if step.event != "NONE":
                    step.fact.text = turn.text
                    moved += [] if step.fact in moved else [step.fact]
                steps.append(step)
            return self._done(steps)

    def read(self, agent: Agent, spoken: Sequence[Said], instructions: str | None) -> list[dict[str, Any]]:
        """Let a model read the facts in what was said, and do what it says of each, as far as it can be done."""
        near = dict(enumerate(map(Fact.of, self._nearest("\n".join(turn.text for turn in spoken), {})), 1))
        places = {
            "instructions": fenced(instructions) if instructions else "",
            "memories": fenced("\n".join(f"{n} {fact.text}" for n, fact in near.items()) or "nothing"),
            "messages": fenced("\n".join(f"{turn.speaker}: {turn.text}" for turn in spoken)),
        }
        answer = agent.answer(prompt("priming_adapters.mem0", "facts", places, _ANSWER), _ANSWER)
        return self._done([*self._steps(answer["memories"], near, spoken[0])])

    def _steps(self, answers: Any, near: dict[int, Fact], turn: Said) -> Iterator[AddStep]:
        for each in answers:
            event, number, text = each["event"], each.get("number", 0), str(each.get("text") or "").strip()
            fact = near.get(number)
            if fact is not None and event == "DELETE":
                yield AddStep(event, near.pop(number), fact.text)
            elif fact is not None and event == "UPDATE" and text:
                yield AddStep(event, fact, text, before=fact.text)
                fact.text = text
            elif event == "ADD" and text:
                yield self._new(Said(turn.role, turn.name, text), "fact")

    def _step(self, turn: Said, near: Iterable[Fact]) -> AddStep:
        """Return what a statement does to the first of the nearest that says the same or what it changes."""
        for fact in near:
            kind = judge(fact.text, turn.text).kind
            if kind == "same":
                return AddStep("NONE", fact, fact.text)
            if kind in ("changes", "wider"):
                return AddStep("UPDATE", fact, turn.text, before=fact.text)
        return self._new(turn, "fact")

    def _new(self, turn: Said, kind: str) -> AddStep:
        metadata = {**self.fields["metadata"], "role": turn.role}
        fields = {**self.fields, "metadata": metadata, **({"speaker": turn.name} if turn.name else {})}
        item = message(turn.text, role=turn.role, kind=kind, echo_guard=False, **fields)
        return AddStep("ADD", Fact(turn.text, metadata, turn.speaker), turn.text, item)

    def _nearest(self, text: str, more: dict[str, Any]) -> list[MemoryRecord]:
        ids = {
            f"metadata.{name}": value
            for name, value in self.fields["metadata"].items()
            if name.endswith("_id") and name != "run_id"  # what was said in an earlier run may change too
        }
        hits = self.memory.recall(text, filters={**ids, **more}, limit=_NEAREST, spread=False, floor=0)
        return [hit.memory for hit in hits]

    def _done(self, steps: Sequence[AddStep]) -> list[dict[str, Any]]:
        """Return the results of steps, once all are done, in one transaction: new memories first."""
        changes = {name: self.fields[name] for name in ("session", "occurred_at")}
        new = {id(step): step.item for step in steps if step.item is not None}
        with self.memory.writing():
            remembered = dict(zip(new, self.memory.remember_many([*new.values()]), strict=True))
            for step in steps:
                if id(step) in remembered:
                    done = remembered[id(step)]
                    step.fact.id, step.event = done.id, "ADD" if done.status == "stored" else "NONE"
                elif step.event == "UPDATE":
                    metadata = {**step.fact.metadata, **self.fields["metadata"]}
                    self.memory.supersede(step.fact.id, step.text, metadata=metadata, **changes)
                elif step.event == "DELETE":
                    self.memory.forget(step.fact.id)
        return [step.result for step in steps]


def _alike(turn: Said, facts: Iterable[Fact]) -> list[Fact]:
    """Return the facts of the same speaker that share most words with a text, if any."""
    words = {*terms(turn.text)}
    shared = [
        (len(words.intersection(terms(fact.text))), fact) for fact in facts if fact.speaker == turn.speaker
    ]
    best = sorted((pair for pair in shared if pair[0]), key=lambda pair: -pair[0])
    return [fact for _, fact in best[:_NEAREST]]
