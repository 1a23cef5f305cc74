"""A store with hostile memories: each attack in every field that takes it."""

from __future__ import annotations

from .attacks import ATTACKS, one_line

SOURCES = {"untrusted": "from an untrusted source", "tool": "from a tool"}
TRUSTS = ("untrusted", "tool", "agent", "user")


def fill(memory, names=tuple(ATTACKS)):
    """A memory and a rule for each attack, about ``kestrelN``, and what they touch."""
    for number, name in enumerate(names):
        text, line = ATTACKS[name], one_line(ATTACKS[name])
        memory.remember(
            f"kestrel{number} eats lunch {text}",
            kind="fact",
            key=f"m{number} {line}",
            **{"heading" if number % 2 else "speaker": line},
            session=f"s {line}",
            tags=[line],
            source=line,
            metadata={text: [text]},
            files=[f"src/{number} {line}.py"],
            trust=TRUSTS[number % 4],
            importance=0.9,
        )
        memory.remember(
            f"Feed kestrel{number} {text}",
            kind="behavior",
            key=f"r{number} {line}",
            heading=line,
            when={"task": f"task{number}", "project": [line, "shop"]},
            trust=TRUSTS[number % 4],
            metadata={"rule": "constraint", "steps": [text]},
        )
        memory.remember(
            f"Serving kestrel{number} failed {text}",
            kind="failure",
            key=f"f{number} {line}",
            metadata={"trigger": f"Serve kestrel{number} its lunch", "resolution": text},
            trust=TRUSTS[number % 4],
        )
    return fields_of(memory, names)


def fields_of(memory, names):
    """Every field that may be packed."""
    paths = [f"src/{number} {one_line(ATTACKS[name])}.py" for number, name in enumerate(names)]
    fields = {"", *paths, *(f"file:{path}" for path in paths)}
    for record in memory.list(limit=1_000, kinds=None):
        fields |= {record.key, record.content, record.gist, record.heading, record.speaker}
    return fields
