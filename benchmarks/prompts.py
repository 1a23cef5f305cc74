"""How the hook reads prompts: what it learns, what it asks the agent about, and what it leaves alone.

Each prompt is sent to the hook as a client sends it, in a project of its own. The file (``--prompts``) has a line of
JSON for each: ``prompt``; ``label``: lasting, withdraw or innocent; ``must``: beginnings of words that the rule has,
"a|b" for either; ``must_not``: words that it may not have; ``about``: the rule in force that is withdrawn.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from priming.memory import Memory
from priming_agents.command import respond
from priming_agents.teaching import ASK

Prompt = Mapping[str, Any]
FIRST = "What is in this folder?"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prompts", type=Path, required=True, help="a file of labelled prompts")
    parser.add_argument(
        "--failures", action="store_true", help="print the prompts that count against the hook"
    )
    options = parser.parse_args()
    os.environ |= {"PRIMING_EMBEDDER": "hashed", "PRIMING_HOOKS_SERVER": "off"}
    counts: Counter[tuple[str, str]] = Counter()
    console = Console(width=110)
    with tempfile.TemporaryDirectory() as home:
        os.environ["PRIMING_HOME"] = home
        for number, line in enumerate(options.prompts.read_text("utf-8").splitlines()):
            prompt = json.loads(line)
            outcome, details = answered(prompt, Path(home) / str(number))
            counts[prompt["label"], outcome] += 1
            if options.failures and outcome in FAILURES[prompt["label"]]:
                console.print(f"{prompt['label']} {outcome}: {prompt['prompt']!r} {details}", markup=False)
    console.print(table(counts))


FAILURES = {
    "lasting": ("missed", "garbled"),
    "innocent": ("learned", "asked", "withdrawn"),
    "withdraw": ("missed", "confirmed", "garbled"),
}


def answered(prompt: Prompt, folder: Path) -> tuple[str, list[str]]:
    """What a hook does with a prompt, and the rules that it learned."""
    folder.mkdir()
    url = f"sqlite:///{folder}/.priming/memory.db"
    (folder / ".priming").mkdir()
    with Memory.open(url) as memory:
        about = memory.learn(prompt.get("about") or "Water the plants in the hall").key
    for event, text in (("session-start", ""), ("prompt", FIRST), ("prompt", prompt["prompt"])):
        before = followed(url, about)
        output = send(event, folder, text)
    with Memory.open(url) as memory:
        in_force = {rule.key: rule.content for rule in memory.list(kinds=["behavior"], limit=100)}
        confirmed = memory.get(about).use.followed > before
    settled = prompt.get("about") and prompt["about"] != in_force.get(about)
    learned = [content for key, content in in_force.items() if key != about or settled]
    if any(is_garbled(rule, prompt) for rule in learned):
        return "garbled", learned
    if prompt["label"] == "withdraw":
        asked = f"[{about}]" in output and "`" in output
        return "confirmed" if confirmed else "settled" if settled else "asked" if asked else "missed", learned
    asked = ASK in output
    return (
        "learned" if learned else "withdrawn" if about not in in_force else "asked" if asked else "missed",
        learned,
    )


def followed(url: str, key: str) -> int:
    with Memory.open(url) as memory:
        return memory.get(key).use.followed


def send(event: str, folder: Path, text: str) -> str:
    """What a hook tells the agent of an event."""
    sent = json.dumps({"session_id": "s", "cwd": str(folder), "prompt": text}).encode()
    output = respond(event, sent, "claude-code", attended=True)
    return json.loads(output)["hookSpecificOutput"]["additionalContext"] if output else ""


def is_garbled(rule: str, prompt: Prompt) -> bool:
    """Whether a rule that was learned lacks a word, or has what is no part of it."""
    if prompt["label"] == "innocent":
        return False
    text = rule.casefold()
    lacks = any(
        not any(re.search(rf"(?<!\w){re.escape(start)}", text) for start in each.split("|"))
        for each in prompt.get("must", ())
    )
    return lacks or any(
        re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) for word in prompt.get("must_not", ())
    )


def table(counts: Counter[tuple[str, str]]) -> Table:
    """The shares of each label's prompts."""
    result = Table(
        "prompts", "number", "learned", "asked", "settled", "missed", "garbled", "confirmed", "withdrawn"
    )
    for label in FAILURES:
        number = sum(count for (each, _), count in counts.items() if each == label)
        shares = [counts[label, column.header] / max(1, number) for column in result.columns[2:]]
        result.add_row(label, str(number), *(f"{share:.3f}" for share in shares))
    return result


if __name__ == "__main__":
    main()
