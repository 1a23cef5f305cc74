"""An agent that knows nothing of what it is asked, but has rules: run as a command, prompt in, JSON out.

It sets the names in a file that are None: to what the failing gate says that they must be, else to what a memory
says, else to 1. ``FAULT`` is crash or garbage: so it fails in the phase that ``FAULT_AT`` names.
"""

import json
import os
import re
import sys
from pathlib import Path

GATE = re.compile(r"assert \S+ == (\d+)\n.*where \S+ = \S+\.([A-Z]+)")
RULE = re.compile(r"(\w+)\.py: ([A-Z]+ = \d+(?:, [A-Z]+ = \d+)*)")
SETS = re.compile(r"([A-Z]+) = (\w+)")
MEMORY = re.compile(r"^\[(.+?)\] ", re.MULTILINE)


def reason():
    """A task for each file of tests."""
    names = sorted(item.stem.removeprefix("test_") for item in Path("tests").glob("test_*.py"))
    tasks = [
        {
            "objective": f"Make the tests of {name} pass",
            "delta": [f"{name}.py"],
            "verify": f"{sys.executable} -m pytest -q -p no:cacheprovider tests/test_{name}.py",
        }
        for name in names
    ]
    return {
        "assessment": "moderate",
        "tasks": tasks,
        "question": None,
        "impasse": None,
        "reasoning": "one file after the other",
    }


def act(prompt):
    """Set what is None, by what the prompt says."""
    name = re.search(r'files: "?(\w+)\.py', prompt)[1]
    file = Path(f"{name}.py")
    values = dict(SETS.findall(file.read_text()))
    keys = []
    gate = GATE.search(prompt)
    familiar = [item for item in RULE.finditer(prompt) if item[1] == name]
    if gate:
        values[gate[2]] = gate[1]
    elif familiar:
        values.update(SETS.findall(familiar[-1][2]))
        before = prompt[: familiar[-1].start()]
        keys = MEMORY.findall(before)[-1:]
    values = {item: "1" if value == "None" and not gate else value for item, value in values.items()}
    file.write_text("".join(f"{item} = {value}\n" for item, value in values.items()))
    reply = f"{name}.py: " + ", ".join(f"{item} = {value}" for item, value in values.items())
    return {
        "status": "delivered",
        "details": reply,
        "utilized": keys,
        "obstacle": None,
        "learning": reply,
    }


def fail(phase, prompt):
    """Fail as the environment asks, at the first attempt of the phase that it names."""
    if phase != os.environ["FAULT_AT"] or (phase == "act" and "This is attempt 1." not in prompt):
        return
    if os.environ["FAULT"] == "crash":
        sys.exit("it crashed")
    sys.stdout.write("I am sorry, I cannot do that in JSON.")
    sys.exit()


def main():
    """Answer a prompt."""
    prompt = sys.stdin.read()
    phase = prompt.split("\n")[0].removeprefix("PRIMING-PHASE: ")
    if "FAULT" in os.environ:
        fail(phase, prompt)
    sys.stdout.write(json.dumps(reason() if phase == "reason" else act(prompt)))


if __name__ == "__main__":
    main()
