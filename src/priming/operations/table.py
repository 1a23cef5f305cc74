"""The operation table: every operation once, for the command line, HTTP, the socket and MCP alike.

A surface reads this table and nothing else of the engine. What an operation takes is the signature of its function,
read when first needed (``priming.operations.schema``). The type of its answer is named here, so that a client needs
no engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from priming import extensions
from priming.config.params.checked import rule_of
from priming.config.words import TOOL_GROUPS
from priming.errors import ParamError
from priming.operations.op import CALLS, Op

_KEY = {"id": "key", "name": "key", "memory": "key", "memory_id": "key", "memory_key": "key"}
_ENDS = {
    "from": "source",
    "src": "source",
    "from_key": "source",
    "to": "target",
    "dst": "target",
    "to_key": "target",
    "type": "relation",
    "kind": "relation",
    "strength": "weight",
}
_FILE = "it reads or writes a file that the caller names"

_OWN: tuple[Op, ...] = (
    Op(
        "remember",
        "Remembered",
        ("content",),
        writes=True,
        idempotent=True,
        other_names={
            "text": "content",
            "memory": "content",
            "note": "content",
            "fact": "content",
            "value": "content",
            "echo": "echo_guard",
            "title": "heading",
            "type": "kind",
        },
        group="core",
    ),
    Op(
        "remember_many",
        "list[Remembered]",
        ("items",),
        writes=True,
        idempotent=True,
        long=True,
        other_names={"memories": "items"},
        group="care",
    ),
    Op(
        "recall",
        "Recall",
        ("text",),
        other_names={
            "query": "text",
            "q": "text",
            "question": "text",
            "prompt": "text",
            "top_k": "limit",
            "k": "limit",
            "max_results": "limit",
            "max_tokens": "tokens",
            "budget": "tokens",
            "kind": "kinds",
            "types": "kinds",
            "filter": "filters",
        },
        group="core",
    ),
    Op("get", "MemoryRecord", ("key",), other_names=_KEY, group="core"),
    Op(
        "feedback",
        "Operation",
        ("recall_id",),
        writes=True,
        other_names={
            "id": "recall_id",
            "helpful": "used",
            "useful": "used",
            "irrelevant": "not_relevant",
            "useless": "not_useful",
            "contradicted": "overridden",
        },
        group="core",
    ),
    Op(
        "learn",
        "Learned",
        ("right",),
        writes=True,
        other_names={
            "text": "right",
            "content": "right",
            "correction": "right",
            "instead": "right",
            "mistake": "wrong",
            "context": "cue",
            "when": "cue",
        },
        group="core",
    ),
    Op(
        "active",
        "Recall",
        ("cue",),
        other_names={"context": "cue", "max_tokens": "tokens", "budget": "tokens"},
        group="core",
    ),
    Op("forget", "Operation", ("key",), writes=True, other_names=_KEY, group="core"),
    Op(
        "link",
        "Link",
        ("source", "target", "relation", "weight", "sign"),
        writes=True,
        idempotent=True,
        other_names=_ENDS,
        group="core",
    ),
    Op("status", "Status", group="core"),
    Op(
        "list",
        "list[MemoryRecord]",
        other_names={"kind": "kinds", "query": "matching", "text": "matching"},
        group="care",
    ),
    Op(
        "files",
        "TaskFiles",
        ("task",),
        other_names={
            "text": "task",
            "query": "task",
            "prompt": "task",
            "top_k": "limit",
            "k": "limit",
            "max_tokens": "tokens",
            "budget": "tokens",
        },
        group="care",
    ),
    Op("history", "list[Version]", ("key",), other_names=_KEY, group="time"),
    Op("as_of", "Version", ("key",), other_names=_KEY, group="time"),
    Op(
        "diff",
        "Diff",
        ("d1", "d2"),
        other_names={"since": "d1", "until": "d2", "query": "question"},
        group="time",
    ),
    Op("why", "Why", ("key",), other_names=_KEY, group="rules"),
    Op("links", "list[Link]", ("key",), other_names=_KEY, group="care"),
    Op("graph", "str", ("format",), group="care"),
    Op("log", "list[Operation]", group="time"),
    Op(
        "operation",
        "Operation",
        ("operation_id",),
        other_names={"id": "operation_id"},
        at=f"{CALLS}:operation",
        group="time",
    ),
    Op("events", "list[StrengthEvent]", group="time"),
    Op("strengths", "list[Strengths]", group="time"),
    Op("oscillating", "list[Oscillation]", group="time"),
    Op("stats", "Stats", group="care"),
    Op("validate", "list[Finding]", group="care"),
    Op("verify", "Verified", long=True, group="care"),
    Op("fading", "list[Fading]", group="care"),
    Op("review", "list[Review]", group="rules"),
    Op(
        "supersede",
        "MemoryRecord",
        ("key", "content"),
        writes=True,
        other_names={**_KEY, "text": "content"},
        group="time",
    ),
    Op(
        "purge",
        "Receipt",
        ("key",),
        writes=True,
        destructive=True,
        admin=True,
        other_names=_KEY,
        group="care",
    ),
    Op("link_many", "list[Link]", ("items",), writes=True, idempotent=True, group="care"),
    Op(
        "set_strength",
        "Operation",
        ("source", "target", "weight", "relation", "create"),
        writes=True,
        idempotent=True,
        other_names=_ENDS,
        group="care",
    ),
    Op("normalize_strengths", "list[StrengthEvent]", writes=True, group="care"),
    Op("deprecate", "Operation", ("key",), writes=True, other_names=_KEY, group="rules"),
    Op("restore", "Operation", ("key",), writes=True, admin=True, other_names=_KEY, group="rules"),
    Op("merge", "Operation", ("key", "into"), writes=True, other_names=_KEY, group="care"),
    Op("deduplicate", "list[NearDuplicates]", writes=True, idempotent=True, group="care"),
    Op("done", "Operation", ("key",), writes=True, other_names=_KEY, group="loop"),
    Op("keep_both", "Operation", ("id",), writes=True, group="rules"),
    Op("aliases", "list[Alias]", writes=True, idempotent=True, group="care"),
    Op(
        "undo",
        "Operation",
        ("operation_id",),
        writes=True,
        other_names={"id": "operation_id", "operation": "operation_id"},
        group="time",
    ),
    Op("would_undo", "list[Operation]", group="time"),
    Op("rollback", "Operation", writes=True, admin=True, group="time"),
    Op("run_start", "Run", ("session",), writes=True, group="loop"),
    Op("run_used", "Run", ("run_id",), writes=True, other_names={"id": "run_id"}, group="loop"),
    Op("run_end", "Run", ("run_id",), writes=True, other_names={"id": "run_id"}, group="loop"),
    Op("run_list", "list[Run]", group="loop"),
    Op("sleep", "Proposal", ("stages",), writes=True, long=True, group="care"),
    Op(
        "apply",
        "Operation",
        ("proposal",),
        writes=True,
        at=f"{CALLS}:apply",
        other_names={"id": "proposal"},
        group="care",
    ),
    Op("reembed", "int", writes=True, idempotent=True, long=True, group="care"),
    Op("pack_list", "list[Pack]", group="rules"),
    Op("pack_remove", "Operation", ("name",), writes=True, group="rules"),
    Op("pack_content", "str", at=f"{CALLS}:pack_content", group="rules"),
    Op("pack_add", "Pack", ("pack",), writes=True, idempotent=True, at=f"{CALLS}:pack_add", group="rules"),
    Op("export_lines", "Exported", long=True, admin=True, at=f"{CALLS}:export_lines", group="care"),
    Op(
        "import_lines",
        "int",
        ("lines",),
        writes=True,
        idempotent=True,
        long=True,
        at=f"{CALLS}:import_lines",
        group="care",
    ),
    Op("pack_create", "Pack", ("path",), local=_FILE),
    Op("pack_install", "Pack", ("path",), writes=True, local=_FILE),
    Op("export", "int", ("path",), long=True, local=_FILE),
    Op("import_", "int", ("path",), writes=True, long=True, local=_FILE),
    Op("backup", "Path", ("path",), local="it copies the whole store, all of its namespaces, to a file"),
    Op(
        "restore_backup",
        "Path",
        ("path", "previous"),
        writes=True,
        destructive=True,
        local="it replaces the whole store, all of its namespaces, by a file",
    ),
)

_OWN_NAMES: Mapping[str, Op] = {op.name: op for op in _OWN}

OPS: tuple[Op, ...]
"""Every operation: those of the library, and of what is installed beside it."""
BY_NAME: Mapping[str, Op]
SERVED: tuple[Op, ...]
"""Those that a server offers."""


@cache
def _all() -> Mapping[str, Op]:
    beside = (op for more in extensions.load(extensions.OPERATIONS) for op in more)
    return {op.name: op for op in (*_OWN, *beside)}


def __getattr__(name: str) -> Any:
    """Return ``BY_NAME``, ``OPS`` or ``SERVED``, for which what is installed is looked up when first needed."""
    match name:
        case "BY_NAME":
            return _all()
        case "OPS":
            return tuple(_all().values())
        case "SERVED":
            return tuple(op for op in _all().values() if not op.local)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def find(name: str) -> Op | None:
    """Return the operation of that name; the library's own are found without looking for others."""
    return _OWN_NAMES.get(name) or _all().get(name)


def named(name: str) -> Op:
    """Return the operation of a name that there is."""
    return _OWN_NAMES.get(name) or _all()[name]


def group_names(groups: str) -> set[str]:
    """The groups of a list with commas between; case and white space do not count."""
    return {word.strip().lower() for word in groups.split(",")} - {""}


def tools(groups: str, name: str = "tools", *, own: bool = False) -> tuple[Op, ...]:
    """The operations of these groups, which have commas between; errors say ``name``.

    They are those that a server offers; to the user's ``own`` process also those for this machine only.
    """
    words = group_names(groups)
    if not words or words - {*TOOL_GROUPS}:
        raise ParamError(name, groups, f"must be {rule_of({'members': TOOL_GROUPS})}")
    offered = [op for op in _all().values() if op.group in words or (op.group and "all" in words)]
    return tuple(op for op in offered if not (op.stands_for if own else op.local))


def served(name: str) -> Op:
    """The operation of that name that a server offers, or ``ParamError`` with the names there are."""
    op = find(name)
    if op is None or op.local:
        why = (
            f"is not served: {op.local}"
            if op
            else f"must be one of {', '.join(each.name for each in _all().values() if not each.local)}"
        )
        raise ParamError("operation", name, why)
    return op
