"""Texts to measure on: sentences of the standard library's documentation strings, and mixtures of them.

They are on every machine that has Python, they are real prose, and nothing has to be fetched.
"""

from __future__ import annotations

import ast
import random
import re
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_SKIP = {"test", "tests", "idlelib", "lib2to3", "site-packages", "turtledemo"}


def sentences() -> list[str]:
    """Sentences of 5 to 60 words, each once, in the order of the files."""
    found: dict[str, None] = {}
    for doc in _documentation():
        for sentence in _SENTENCE.split(" ".join(doc.split())):
            if 5 <= len(sentence.split()) <= 60:
                found[sentence] = None
    return list(found)


def memories(count: int, *, seed: int = 7) -> list[dict[str, Any]]:
    """``count`` items for ``remember_many``: one or two sentences each, twenty to a session."""
    pool, rng = sentences(), random.Random(seed)
    rng.shuffle(pool)
    items = []
    for i in range(count):
        text = pool[i] if i < len(pool) else f"{rng.choice(pool)} {rng.choice(pool)}"
        items.append({"content": text, "session": f"session {i // 20}", "key": f"m{i}"})
    return items


def questions(count: int, *, seed: int = 11) -> list[str]:
    """Cues: five to eight words of a sentence, in their order."""
    pool, rng = sentences(), random.Random(seed)
    made = []
    for sentence in rng.sample(pool, count):
        words = sentence.split()
        start = rng.randrange(max(1, len(words) - 7))
        made.append(" ".join(words[start : start + rng.randint(5, 8)]))
    return made


def _documentation() -> Iterator[str]:
    root = Path(sysconfig.get_path("stdlib"))
    for path in sorted(root.rglob("*.py")):
        if _SKIP.intersection(path.relative_to(root).parts):
            continue
        try:
            tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                doc = ast.get_docstring(node)
                if doc:
                    yield doc
