"""The operation table: a row for each verb, which ``Memory``, HTTP, the socket, MCP and the command line read.

What a verb takes and answers is the signature of its function, and what it means its docstring: the row has the rest.
Beside the library's ``ROWS`` are those of the packages beside it. A surface reads this table and nothing else of the
engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from priming import extensions
from priming.config.values import rule_of
from priming.config.words import TOOL_GROUPS
from priming.errors import ParamError
from priming.verbs.op import LETTERS, Op

CALLS = "priming.operations.wire_calls"
_ENDS = {
    "source": "from src from_key",
    "target": "to dst to_key",
    "relation": "type kind",
    "weight": "strength",
}
_FILE = "it reads or writes a file that the caller names"
_PACK = """{"format": "priming-pack", "format_version": 1, "name": "house-style", "version": "1",
"description": "how we work", "behaviors": [{"key": "say-why", "when": {"task": "commit"}, "rule": "directive",
"content": "Say in the body of a commit why it was made.", "importance": 0.5, "priority": 0.0, "confidence": 0.6}],
"links": []}"""

ROWS: tuple[Op, ...] = (
    Op(
        "remember",
        "priming.remember.remember",
        "core writes idempotent",
        words={"content": "memory"},
        example={"content": "The staging server listens on port 8080.", "kind": "fact", "tags": ["staging"]},
    ),
    Op(
        "remember_many",
        "priming.remember.remember",
        "care writes idempotent",
        example={"items": [{"content": "Ada asked for a dark theme."}, {"content": "Grace tried it."}]},
    ),
    Op(
        "recall",
        "priming.recall.recall",
        "core",
        example={"text": "Which port does the server listen on?", "limit": 5},
    ),
    Op("get", "priming.recall.records", "core"),
    Op(
        "feedback",
        "priming.learning.feedback",
        "core writes",
        example={"used": ["port"], "reason": "it answered the question"},
    ),
    Op(
        "learn",
        "priming.rules.learn",
        "core writes",
        example={
            "right": "Run the tests before you commit.",
            "cue": {"language": "python", "task": "commit"},
        },
    ),
    Op("active", "priming.rules.active", "core", example={"cue": {"language": "go", "file": "main.go"}}),
    Op("forget", "priming.history.log", "core writes"),
    Op(
        "link",
        "priming.remember.links",
        "care writes idempotent",
        words=_ENDS,
        example={"relation": "requires", "weight": 0.6},
    ),
    Op("status", "priming.maintenance.health", "care"),
    Op("list", "priming.recall.records:list_memories", "core", example={"kinds": ["fact"], "limit": 20}),
    Op(
        "files",
        "priming.recall.task_files",
        "core",
        example={"task": "add retries to the connection pool", "limit": 5},
    ),
    Op("history", "priming.history.log", "time"),
    Op("as_of", "priming.history.as_of", "time"),
    Op("diff", "priming.graph.diff", "time"),
    Op("why", "priming.rules.explain", "rules"),
    Op("links", "priming.remember.links", "care", example={"key": "deploy"}),
    Op("graph", "priming.graph.drawing", "care", example={"format": "json", "limit": 50}),
    Op("log", "priming.history.log", "time", example={"limit": 10}),
    Op("operation", "priming.history.log", "time", wire=CALLS),
    Op("events", "priming.history.weights_over_time", "time", example={"limit": 10}),
    Op("strengths", "priming.history.weights_over_time", "time"),
    Op("oscillating", "priming.history.weights_over_time", "time"),
    Op("stats", "priming.maintenance.health", "care"),
    Op("validate", "priming.maintenance.health", "care"),
    Op("verify", "priming.maintenance.verify", "care"),
    Op("fading", "priming.learning.reviews", "care", example={"limit": 5}),
    Op("review", "priming.maintenance.contradictions", "rules"),
    Op(
        "supersede",
        "priming.maintenance.replacing",
        "core writes",
        example={"content": "The server listens on port 9090."},
    ),
    Op("purge", "priming.maintenance.purge", "care writes destructive admin", example={"key": "port"}),
    Op(
        "link_many",
        "priming.remember.links",
        "care writes idempotent",
        example={"items": [{"source": "deploy", "target": "port"}]},
    ),
    Op(
        "set_strength",
        "priming.remember.links",
        "care writes idempotent",
        words=_ENDS,
        example={"weight": 0.9, "create": True},
    ),
    Op("normalize_strengths", "priming.history.weights_over_time", "care writes", example={"apply": False}),
    Op(
        "deprecate",
        "priming.maintenance.replacing",
        "rules writes",
        example={"key": "run-the-linter-before-you-commit", "reason": "the editor does it"},
    ),
    Op("restore", "priming.maintenance.replacing", "rules writes admin", example={"key": "old-rule"}),
    Op(
        "merge",
        "priming.maintenance.replacing",
        "care writes",
        example={"key": "run-the-linter-before-you-commit", "into": "run-the-checks-before-you-commit"},
    ),
    Op("deduplicate", "priming.maintenance.replacing", "care writes idempotent", example={"dry_run": True}),
    Op("done", "priming.learning.reviews", "loop writes", example={"key": "deploy", "success": True}),
    Op(
        "keep_both",
        "priming.maintenance.contradictions",
        "core writes",
        example={"id": "ada-s-office-is-in-lisbon+ada-s-office-is-in-porto"},
    ),
    Op("aliases", "priming.maintenance.aliases", "care writes idempotent", example={"dry_run": True}),
    Op("undo", "priming.history.undo", "core writes"),
    Op("would_undo", "priming.history.undo", "time"),
    Op("rollback", "priming.history.undo", "time writes admin", example={"source": "conscious"}),
    Op("run_start", "priming.learning.runs", "loop writes", example={"session": "fix-the-build"}),
    Op("run_used", "priming.learning.runs", "loop writes"),
    Op("run_end", "priming.learning.runs", "loop writes", example={"used": True}),
    Op("run_list", "priming.learning.runs", "loop"),
    Op(
        "sleep", "priming.sleep.night", "care writes", example={"stages": ["decay", "light"], "dry_run": True}
    ),
    Op("apply", "priming.sleep.night", "care writes", wire=CALLS),
    Op("reembed", "priming.remember.vectors", "care writes idempotent"),
    Op("pack_list", "priming.rules.packs", "rules"),
    Op("pack_remove", "priming.rules.packs", "rules writes"),
    Op(
        "pack_content",
        CALLS,
        "rules",
        verb=False,
        example={"name": "go-style", "description": "what we learned"},
    ),
    Op("pack_add", CALLS, "rules writes idempotent", verb=False, example={"pack": _PACK}),
    Op("export_lines", CALLS, "care admin", verb=False),
    Op(
        "import_lines",
        CALLS,
        "care writes idempotent",
        verb=False,
        example={"lines": '{"format": "priming", "version": 4, "namespace": "default"}\n'},
    ),
    Op("pack_create", "priming.rules.packs", local=_FILE),
    Op("pack_install", "priming.rules.pack_install", "writes", local=_FILE),
    Op("export", "priming.transfer.export", local=_FILE),
    Op("import_", "priming.transfer.export", "writes", local=_FILE),
    Op(
        "backup",
        "priming.maintenance.health",
        local="it copies the whole store, all of its namespaces, to a file",
    ),
    Op(
        "restore_backup",
        "priming.maintenance.health",
        "writes destructive",
        local="it replaces the whole store, all of its namespaces, by a file",
    ),
)
_OWN_NAMES: Mapping[str, Op] = {op.name: op for op in ROWS}

OPS: tuple[Op, ...]
"""Every operation: those of the library, and of what is installed beside it."""
BY_NAME: Mapping[str, Op]
SERVED: tuple[Op, ...]
"""Those that a server offers."""


@cache
def _all() -> Mapping[str, Op]:
    beside = (op for more in extensions.load(extensions.OPERATIONS) for op in more)
    return {op.name: op for op in (*ROWS, *beside)}


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
    """Return the groups of a list with commas between; case and white space do not count."""
    return {word.strip().lower() for word in groups.split(",")} - {""}


def tools(groups: str, name: str = "tools", *, own: bool = False) -> tuple[Op, ...]:
    """Return the operations of these groups, which have commas between; errors say ``name``.

    They are those that a server offers; to the user's ``own`` process also those for this machine only.
    """
    words = group_names(groups)
    if not words or words - {*TOOL_GROUPS}:
        raise ParamError(name, groups, f"must be {rule_of({'members': TOOL_GROUPS})}")
    ops = (
        ROWS if words == {"core"} else _all().values()
    )  # these are the library's own: no other is looked for
    offered = [op for op in ops if op.group in words or (op.group and "all" in words)]
    return tuple(op for op in offered if not (op.stands_for if own else op.local))


def served(name: str) -> Op:
    """Return the operation of that name that a server offers, or ``ParamError`` with the names there are."""
    op = find(name)
    if op is None or op.local:
        raise ParamError("operation", name, f"is not served: {op.local}" if op else unknown(name))
    return op


OTHER_VERBS: Mapping[str, str] = {
    "remember": "add store save insert create put",
    "remember_many": "add_many add_all",
    "recall": "search query retrieve ask find",
    "get": "show read fetch",
    "list": "get_all all",
    "supersede": "update edit change",
    "forget": "delete remove drop",
    "learn": "correct",
}
"""Other words for a verb."""


def unknown(name: str) -> str:
    """Tell that there is no operation of a name, with the one that may be meant, and those that there are."""
    near, names = meant(name), [op.name for op in _all().values() if not op.local]
    return f"{f'is none: did you mean {near}? There are' if near else 'must be one of'} {', '.join(names)}"


def meant(name: str) -> str | None:
    """Return the operation that a name may mean: by another word for it, or by its letters.

    >>> meant("recal"), meant("search"), meant("xyz")
    ('recall', 'recall', None)
    """
    from difflib import get_close_matches

    by_word = (own for own, words in OTHER_VERBS.items() if name in words.split())
    return next(by_word, None) or next(iter(get_close_matches(name[:LETTERS], [*_all()], 1, 0.75)), None)
