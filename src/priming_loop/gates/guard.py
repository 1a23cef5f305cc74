"""The guard: what a task may touch and what its command would do, before either happens.

A path outside the folder is refused. A person must say yes to a command that removes, overwrites, publishes, ends
processes, or reaches beyond this machine; to one that cannot be read; and to files that a folder cannot bring back.
Everything else runs. docs/loop.md has the table.
"""

from __future__ import annotations

from pathlib import Path

from priming.errors import ParamError
from priming_loop.gates.paths import PRECIOUS, fits, place_of, project_path
from priming_loop.gates.programs import Script
from priming_loop.session import TaskPlan


def checked_plan(plan: TaskPlan, folder: str) -> TaskPlan:
    """Return a plan whose paths are in the folder, links followed; ``ParamError`` for any other."""
    delta = tuple(dict.fromkeys(project_path("delta", path) for path in plan.delta))
    for path in delta if folder else ():
        if place_of(path, Path(folder)) is None:
            raise ParamError("delta", path, "leads out of the folder: name a file in it")
    if plan.verify is not None and "\x00" in plan.verify:
        raise ParamError("verify", plan.verify, "must not contain the NUL character")
    return TaskPlan(plan.objective, delta, plan.verify)


def destructive_reason(plan: TaskPlan, folder: Path | str = ".") -> str | None:
    r"""Why a person must say yes before a task begins and before its gate runs; None if there is no reason.

    >>> destructive_reason(TaskPlan("Tidy up.", verify="sh -c 'cd build; /bin/r\\m -r .'"))
    "its command contains 'rm'"
    >>> destructive_reason(TaskPlan("Mend it.", ("src/app.py",), "pytest -q tests/test_rm.py"))
    """
    for path in plan.delta:
        place = place_of(path, Path(folder))
        if place is None:
            return f"it concerns {path}, which is outside the folder"
        if any(fits(name, PRECIOUS) for name in (path, place)):
            return f"it is about {path}" + ("" if path.endswith(place) else f", which is {place}")
    why = next(Script(Path(folder)).reasons(plan.verify), None) if plan.verify else None
    return None if why is None else f"its command {why}"
