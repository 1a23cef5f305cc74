"""How mem0's ``add`` remembers what was said: as it is, as a change, or as the facts that a model reads in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from priming import Hit, Memory
from priming.config.values import dataclass
from priming.llm.protocol import Agent, fenced, prompt
from priming.text.statements.judge import judge
from priming_adapters.common import remember

_NEAREST = 10
"""How many of the nearest memories a new text is compared with."""
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


@dataclass(frozen=True, slots=True)
class Adding:
    """One call of ``add``: into which memory, and what all of its memories share."""

    memory: Memory
    fields: dict[str, Any]

    def plain(self, message: Said, kind: str = "episode") -> dict[str, Any]:
        """Remember a text; one that is there already is not stored again."""
        about = {**self.fields, "metadata": {**self.fields["metadata"], "role": message.role}}
        about |= {"speaker": message.name} if message.name else {}
        done = remember(self.memory, message.text, role=message.role, kind=kind, echo_guard=False, **about)
        event = "ADD" if done is not None and done.status == "stored" else "NONE"
        return {"id": done.id if done else None, "memory": message.text, "event": event}

    def judged(self, message: Said) -> dict[str, Any]:
        """Remember a statement: the same is not stored again, and one that changes another is its new version."""
        with self.memory.lock:
            for hit in self._nearest(message.text, {"speaker": message.name or message.role}):
                kind = judge(hit.content, message.text).kind
                if kind == "same":
                    return {"id": hit.memory.id, "memory": hit.content, "event": "NONE"}
                if kind in ("changes", "wider"):
                    return self._changed(hit, message.text)
            return self.plain(message, "fact")

    def read(
        self, agent: Agent, spoken: Sequence[Said], instructions: str | None
    ) -> Iterator[dict[str, Any]]:
        """Let a model read the facts in what was said, and do what it says of each, as far as it can be done."""
        near = self._nearest("\n".join(message.text for message in spoken), {})
        places = {
            "instructions": fenced(instructions) if instructions else "",
            "memories": fenced("\n".join(f"{n} {hit.content}" for n, hit in enumerate(near, 1)) or "nothing"),
            "messages": fenced(
                "\n".join(f"{message.name or message.role}: {message.text}" for message in spoken)
            ),
        }
        answer = agent.answer(prompt("priming_adapters.mem0", "facts", places, _ANSWER), _ANSWER)
        for each in answer["memories"]:
            number, text = each.get("number", 0), str(each.get("text") or "").strip()
            hit = near[number - 1] if 0 < number <= len(near) else None
            if hit is not None and each["event"] == "DELETE":
                self.memory.forget(hit.memory.id)
                yield {"id": hit.memory.id, "memory": hit.content, "event": "DELETE"}
            elif hit is not None and each["event"] == "UPDATE" and text:
                yield self._changed(hit, text)
            elif each["event"] == "ADD" and text:
                yield self.plain(replace(spoken[0], text=text), "fact")

    def _nearest(self, text: str, more: dict[str, Any]) -> Sequence[Hit]:
        ids = {
            f"metadata.{name}": value
            for name, value in self.fields["metadata"].items()
            if name.endswith("_id")
        }
        ids.pop("metadata.run_id", None)  # what was said in an earlier run may change too
        return self.memory.recall(text, filters={**ids, **more}, limit=_NEAREST, spread=False, floor=0).hits

    def _changed(self, hit: Hit, text: str) -> dict[str, Any]:
        metadata = {**hit.memory.metadata, **self.fields["metadata"]}
        changes = {name: self.fields[name] for name in ("session", "occurred_at")}
        self.memory.supersede(hit.memory.id, text, metadata=metadata, **changes)
        return {"id": hit.memory.id, "memory": text, "event": "UPDATE", "previous_memory": hit.content}
