"""The agent of the life: prompt on standard input, JSON on standard output, work in the working directory.

It knows what an objective means, and how to do it in the obvious way, which is wrong. What else is to be heeded it
knows from nowhere but its prompt: from what the gate printed, from its own earlier attempts, or from a memory.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from objectives import FILES, OBJECTIVES, RULES, WAYS
from project import gate

_MEMORY = re.compile(r"^\[(.+?)\] .*$", re.MULTILINE)
_GREETINGS = {"da": "Hej", "fi": "Hei", "et": "Tere"}


def reason(prompt: str) -> dict[str, object]:
    """One task, with the test of its kind as its gate."""
    asked = prompt.split("The objective:", 1)[1]
    objective = min((one for one in OBJECTIVES if one.text in asked), key=lambda one: asked.index(one.text))
    task = {"objective": objective.task, "delta": [FILES[objective.kind]], "verify": gate(objective.kind)}
    return {
        "assessment": "simple",
        "tasks": [task],
        "question": None,
        "impasse": None,
        "reasoning": "one thing to do",
    }


def act(prompt: str) -> dict[str, object]:
    """Do the task in the obvious way, but for what the prompt says."""
    line = re.search(r"^objective: (.*)$", prompt, re.MULTILINE)
    assert line is not None
    objective = next(one for one in OBJECTIVES if one.task == json.loads(line[1]))
    heeded = [rule for rules in RULES.values() for rule in rules if rule in prompt]
    ways = [*heeded, *filter(None, [WAYS.get(objective.kind)])]
    used = [found[1] for found in _MEMORY.finditer(prompt) if any(way in found[0] for way in ways)]
    work(objective.kind, objective.name, heeded)
    own = [rule for rule in RULES[objective.kind] if rule in heeded]
    first = "This is attempt 1." in prompt
    return {
        "status": "delivered",
        "details": "; ".join(own or filter(None, [WAYS.get(objective.kind)])) or "Did it in the obvious way.",
        "utilized": used,
        "obstacle": None,
        "learning": "; ".join(own) if own and not first else None,
    }


def work(kind: str, name: str, heeded: list[str]) -> None:
    """Change the project; of two rules each is heeded or not."""
    first, second = ([rule in heeded for rule in RULES[kind]] + [False, False])[:2]
    path = Path(FILES[kind])
    if kind == "currency":
        rates = {code: rate for code, rate in _read(path, "RATES").items() if code != name}
        rates[name] = "1.5" if first else 1.5
        _write(path, "RATES", dict(sorted(rates.items())) if second else rates)
    elif kind == "sandbox":
        misled = RULES["currency"][0] in heeded and not first
        _write(path, "RATES", {**_read(path, "RATES"), name: "1.5" if misled else 1.5})
    elif kind == "command":
        (path / f"{name}.py").write_text(f'"""The command {name}."""\n' if first else "DONE = True\n")
        names = [other for other in _read(path / "__init__.py", "NAMES") if other != name]
        (path / "__init__.py").write_text(f"NAMES = {[*names, name] if second else names!r}\n")
    elif kind == "message":
        text = f"{_GREETINGS[name]}{' {name}' if first else ''}"
        (path / f"{name}.txt").write_text(text + ("\n" if second else ""))
    elif kind == "migration":
        for earlier in path.glob(f"*{name}.sql"):
            earlier.unlink()
        number = f"{len(list(path.iterdir())) + 1:04d}_" if first else ""
        column = f"ALTER TABLE shipments ADD COLUMN {name} TEXT"
        (path / f"{number}{name}.sql").write_text(column + (";\n" if second else "\n"))
    elif kind == "route":
        routes = [route for route in _read(path, "ROUTES") if name not in route]
        own = f"{'GET ' if second else ''}/{name}{'' if first else '/'}"
        path.write_text(f"ROUTES = {[*routes, own]!r}\n")
    elif kind == "fee":
        lines = [line for line in path.read_text().splitlines() if f"'{name}'" not in line]
        own = f"    '{name}': {250 if first else 2.5}," + ("  # why: it is work" if second else "")
        path.write_text("\n".join([*lines[:-1], own, lines[-1]]) + "\n")
    else:
        (path / f"{name}.md").write_text(f"# {name.title()}\n")


def _read(path: Path, name: str) -> Any:
    values: dict[str, object] = {}
    exec(path.read_text(), values)
    return values[name]


def _write(path: Path, name: str, table: dict[str, object]) -> None:
    rows = "".join(f"    {code!r}: {rate!r},\n" for code, rate in table.items())
    path.write_text(f"{name} = {{\n{rows}}}\n")


if __name__ == "__main__":
    text = sys.stdin.read()
    json.dump(reason(text) if text.startswith("PRIMING-PHASE: reason") else act(text), sys.stdout)
