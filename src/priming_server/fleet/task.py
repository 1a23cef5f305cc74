"""One namespace's part of a run: what a worker is handed, and what it hands back."""

from __future__ import annotations

import os
import socket
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from priming.config.caller import Caller, calling
from priming.config.values import dataclass
from priming.config.variables import VERSION
from priming.errors import ParamError, PrimingError
from priming.verbs.rows import BY_NAME

if TYPE_CHECKING:
    from priming.config.settings import Settings
    from priming.memory import Memory

LOST = "lost"
"""The code of a task whose worker ended before it answered."""
_FINDINGS, _REFUSED, _VERSION, _BUG = "findings", "refused", "version", "unexpected"
_REASONS = 3
"""Reasons of a failure that are shown."""


@dataclass(frozen=True, slots=True)
class FleetTask:
    """A verb on one namespace. Another attempt has the same ``operation_id``: the log shows what is done already."""

    number: int
    url: str
    namespace: str
    verb: str
    operation_id: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    profile: str = "priming"
    settings: Settings | None = None
    agent: Any = None
    actor: str = "user"
    version: str = VERSION


@dataclass(frozen=True, slots=True)
class FleetOutcome:
    """How an attempt ended: ``code`` and ``reason`` of the failure, else None; ``counts`` is what was done."""

    code: str | None = None
    reason: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    worker: str = ""
    seconds: float = 0.0


Done = tuple[Mapping[str, int], str | None, str | None]
"""What a verb counted, and the code and the reason if that is a failure."""


def carry_out(task: FleetTask) -> FleetOutcome:
    """Carry out a task in this process; whatever fails is an outcome."""
    began = time.perf_counter()
    try:
        counts, code, reason = _carry_out(task)
    except PrimingError as error:
        notes = getattr(error, "__notes__", [])
        counts, code, reason = {}, error.code, "; ".join([str(error), *notes])
    except Exception as error:  # noqa: BLE001 - the outermost handler of a worker: a bug fails one namespace
        counts, code, reason = {}, _BUG, f"{type(error).__name__}: {error}"
    name = f"{socket.gethostname()}, process {os.getpid()}"
    return FleetOutcome(code, reason, counts, name, time.perf_counter() - began)


def _carry_out(task: FleetTask) -> Done:
    from priming.memory import Memory

    if task.version != VERSION:
        rule = f"{socket.gethostname()} has Priming {VERSION}, and the run {task.version}: install the same"
        return {}, _VERSION, rule
    with (
        calling(Caller(task.actor, f"fleet {task.verb}")),
        Memory.open(
            task.url, namespace=task.namespace, profile=task.profile, settings=task.settings
        ) as memory,
        memory.identified(task.operation_id),
    ):
        return VERBS[task.verb](memory, task)


def _sleep(memory: Memory, task: FleetTask) -> Done:
    night = BY_NAME["sleep"].function(memory, **task.arguments, agent=task.agent)
    return Counter(item.action for item in night.items), None, None


def _reembed(memory: Memory, task: FleetTask) -> Done:
    if task.arguments:
        return _changed_embedder(memory, task), None, None
    return {"vectors": BY_NAME["reembed"].function(memory)}, None, None


def _changed_embedder(memory: Memory, task: FleetTask) -> Mapping[str, int]:
    """Change the embedder, or return to the former one, once: an attempt before this one may have done so.

    Namespaces differ: one that has the embedder already, or never had another, is none that failed.
    """
    from priming.embedding.registry import named
    from priming.maintenance.generations import change_embedder, latest_choice, roll_back_embedder

    to, is_back = str(task.arguments.get("to", "")), bool(task.arguments.get("roll_back"))
    word = "rolled back" if is_back else "changed"
    if memory.operation(task.operation_id) is not None:
        return {word: 1}
    if is_back:
        choice = latest_choice(memory)
        if choice is None or (to and choice != to):
            return {"left as they are": 1}
        return {"vectors": roll_back_embedder(memory).vectors, word: 1}
    if named(to).generation == memory.embedder.generation:
        return {"answered by it already": 1}
    change = change_embedder(memory, to, switch=task.arguments.get("switch"))
    if change.switched:
        return {"vectors": change.vectors, word: 1}
    if task.arguments.get("switch") is False:
        why = "compared and kept"
    else:
        why = "kept, without judged recalls" if change.comparison is None else "kept, as it answers worse"
    return {"vectors": change.vectors, why: 1}


def _verify(memory: Memory, task: FleetTask) -> Done:
    verified = BY_NAME["verify"].function(memory, **task.arguments)
    counts = {"rows": verified.rows, "operations": verified.operations, "findings": len(verified.findings)}
    if not verified.findings:
        return counts, None, None
    texts = [f"{each.rule} {each.subject}: {each.detail}" for each in verified.findings[:_REASONS]]
    return counts, _FINDINGS, _listed(texts, len(verified.findings))


def _import(memory: Memory, task: FleetTask) -> Done:
    from priming.transfer import importers
    from priming.transfer.run import run

    source, path = task.arguments["source"], Path(task.arguments["path"])
    if not path.exists():
        raise ParamError("path", str(path), "must be a file or folder that every machine of the cluster has")
    if source == importers.OWN:
        return {"memories": BY_NAME["import_"].function(memory, path)}, None, None
    memory.requested_id = None  # each batch has an id of its own
    report = run(memory, source, path, operation_id=task.operation_id)
    counts = {"memories": report.stored, "duplicates": report.duplicates, "links": report.links}
    if not report.refused:
        return counts, None, None
    return counts, _REFUSED, _listed(report.skipped[:_REASONS], report.refused)


def _listed(texts: tuple[str, ...] | list[str], number: int) -> str:
    more = f"; … and {number - len(texts):,} more" if number > len(texts) else ""
    return "; ".join(texts) + more


VERBS: Mapping[str, Callable[[Memory, FleetTask], Done]] = {
    "sleep": _sleep,
    "reembed": _reembed,
    "import": _import,
    "verify": _verify,
}
"""The verbs of a fleet, with what carries each out."""
