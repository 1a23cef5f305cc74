"""What a person is asked about before it is done, whatever else was agreed: what cannot be taken back."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from priming.config.params.loop import LOOP, LoopParams
from priming.looping import TaskPlan

_WORD = re.compile(r"[^\s;|&()<>\"'`$=]+")


def why_destructive(plan: TaskPlan, params: LoopParams = LOOP) -> str | None:
    """Why a person is asked before a task is begun, None where there is no reason.

    Its command, wherever in it, has the words of a rule of ``params.destructive`` in their order, paths before a
    program's name aside; or one of its files is among ``params.precious``, or outside the folder.

    >>> why_destructive(TaskPlan("Tidy up.", verify="sh -c 'cd build; /bin/rm -r .'"))
    "its command has 'rm' in it"
    >>> why_destructive(TaskPlan("Mend it.", ("src/app.py",), "pytest -q tests/test_rm.py"))
    """
    said = [word.rsplit("/", 1)[-1].casefold() for word in _WORD.findall(plan.verify or "")]
    for rule in params.destructive:
        if _in_order(said, rule.casefold().split()):
            return f"its command has {rule!r} in it"
    for path in plan.delta:
        if _outside(path):
            return f"it is about {path}, which is outside the folder"
        if any(_fits(path, rule) for rule in params.precious):
            return f"it is about {path}"
    return None


def _in_order(said: list[str], rule: list[str]) -> bool:
    left = iter(said)
    return all(any(fnmatchcase(word, part) for word in left) for part in rule)


def _outside(path: str) -> bool:
    parts = PurePosixPath(path.replace("\\", "/"))
    return parts.is_absolute() or ".." in parts.parts or path.startswith("~")


def _fits(path: str, rule: str) -> bool:
    plain = path.removeprefix("./")
    return fnmatchcase(plain, rule) or fnmatchcase(plain.rsplit("/", 1)[-1], rule)
