"""Requests that name what belongs to another: for each operation, each argument that can name something."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

PLAIN = {
    *(
        "content",
        "heading",
        "text",
        "task",
        "question",
        "matching",
        "query",
        "later",
        "objective",
        "outcome",
        "approach",
    ),
    *(
        "right",
        "wrong",
        "trigger",
        "resolution",
        "delivered",
        "delta",
        "description",
        "notes",
        "reason",
        "message",
    ),
    *(
        "kind",
        "kinds",
        "type",
        "format",
        "status",
        "rule",
        "trust",
        "tier",
        "profile",
        "terms",
        "stages",
        "relations",
    ),
    *(
        "limit",
        "tokens",
        "depth",
        "floor",
        "below",
        "threshold",
        "days",
        "min_uses",
        "window",
        "turns",
        "over",
    ),
    *(
        "weight",
        "sign",
        "priority",
        "importance",
        "seq",
        "success",
        "version",
        "spread",
        "trace",
        "gists",
        "reasons",
    ),
    *(
        "at",
        "since",
        "until",
        "d1",
        "d2",
        "valid_at",
        "known_at",
        "valid_from",
        "occurred_at",
        "include_superseded",
    ),
    *("cue", "when", "metadata", "speaker", "create", "apply", "propose", "dry_run", "ablate", "echo_guard"),
}
"""Arguments that name nothing that is stored: texts, words of a list, numbers, times and switches."""
OWN = {"folder", "verify"}
"""Arguments that only the user's own processes may send."""


def pack(name: str, key: str) -> str:
    """The file of a pack with one behaviour."""
    behaviour = {
        "key": key,
        "content": "Say in the body of a commit why it was made.",
        "when": {"task": "commit"},
        "rule": "directive",
        "importance": 0.5,
        "priority": 0.0,
        "confidence": 0.6,
    }
    whole = {"format": "priming-pack", "format_version": 1, "name": name, "version": "1", "description": "x"}
    return json.dumps({**whole, "behaviors": [behaviour], "links": []})


_VERDICTS = ("used", "not_relevant", "not_useful", "confirmed", "overridden")
_LOOP = {"session": "{loop}", "seq": 1}
_ITEM = {"content": "A note of our own.", "key": "{key}", "session": "{session}", "tags": ["{tag}"]}
_NOTE: Mapping[str, Any] = {**_ITEM, "source": "{source}", "files": ["{file}"]}


def _by_key(**more: Any) -> tuple[Mapping[str, Any], ...]:
    return ({"key": "{key}", **more}, {"key": "{memory}", **more})


FORGED: Mapping[str, tuple[Mapping[str, Any], ...]] = {
    "remember": (_NOTE, {**_NOTE, "key": "{memory}", "content": "Another note."}),
    "remember_many": ({"items": [{**_NOTE, "key": "{both}"}, {"content": "One more.", "key": "{pack}"}]},),
    "recall": (
        {"text": "port", "session": "{session}"},
        *(
            {"text": "port", "filters": {name: value}}
            for name, value in (
                ("key", "{key}"),
                ("id", "{memory}"),
                ("session", "{session}"),
                ("tags", "{tag}"),
                ("source", "{source}"),
            )
        ),
        {"text": "port", "filters": {"not": {"key": "{key}"}}},
    ),
    "feedback": (
        *({name: ["{key}"]} for name in _VERDICTS),
        *({name: ["{memory}"], "recall_id": "{recall}"} for name in _VERDICTS),
        {"used": ["port"], "recall_id": "{recall}"},
        {"used": ["port"], "session": "{session}"},
        {"used": ["port", "{key}"]},
    ),
    "learn": ({"right": "Close the tap.", "tags": ["{tag}"], "source": "{source}"},),
    "active": ({"session": "{session}"},),
    "forget": _by_key(),
    "link": (
        {"source": "{key}", "target": "port", "relation": "{relation}"},
        {"source": "port", "target": "{memory}"},
        {"source": "port", "target": "deploy", "relation": "{relation}"},
    ),
    "status": (),
    "get": _by_key(),
    "list": ({"after": "{memory}"}, {"after": "{key}"}),
    "files": ({"task": "mend the port", "session": "{session}"},),
    "history": _by_key(),
    "as_of": _by_key(),
    "diff": (),
    "why": (*_by_key(), {"key": "port", "recall_id": "{recall}"}, {"key": "{key}", "recall_id": "{recall}"}),
    "links": (
        *_by_key(),
        {"relation": "{relation}"},
        {"by": "{source}"},
        {"key": "port", "relation": "{relation}"},
    ),
    "graph": _by_key(format="json"),
    "log": (*_by_key(), {"source": "{source}"}),
    "operation": ({"operation_id": "{operation}"}, {"operation_id": "{recall}"}),
    "events": (*_by_key(), {"source": "{source}"}),
    "strengths": ({"relation": "{relation}"},),
    "oscillating": (),
    "stats": (),
    "validate": (),
    "verify": (),
    "fading": (),
    "review": (),
    "supersede": _by_key(
        content="Another text.", session="{session}", tags=["{tag}"], source="{source}", files=["{file}"]
    ),
    "purge": (
        *_by_key(),
        {"subject": "{person}"},
        {"subject": "{session}", "dry_run": True},
        {"subject": "{person}", "include": ["{key}"]},
    ),
    "link_many": (
        {"items": [{"source": "port", "target": "deploy"}, {"source": "port", "target": "{key}"}]},
    ),
    "set_strength": (
        {"source": "port", "target": "{key}", "weight": 0.4, "create": True},
        {"source": "{memory}", "target": "port", "weight": 0.4},
        {"source": "port", "target": "deploy", "weight": 0.4, "relation": "{relation}"},
    ),
    "normalize_strengths": ({"relation": "{relation}", "apply": True},),
    "deprecate": (*_by_key(), {"key": "old-rule", "by": "{key}"}),
    "restore": _by_key(),
    "merge": ({"key": "{key}", "into": "port"}, {"key": "port", "into": "{memory}"}),
    "deduplicate": (),
    "done": (*_by_key(success=True), {"key": "deploy", "success": True, "recall_id": "{recall}"}),
    "keep_both": ({"id": "{both}"}, {"id": "{memory}"}),
    "aliases": (),
    "undo": ({"operation_id": "{operation}"}, {"operation_id": "{recall}"}),
    "would_undo": ({"source": "{source}"},),
    "rollback": ({"source": "{source}"},),
    "run_start": ({"session": "{session}"},),
    "run_used": ({"run_id": "{run}"}, {"run_id": "{loop}"}),
    "run_end": ({"run_id": "{run}", "used": True},),
    "run_list": (),
    "sleep": (),
    "apply": ({"proposal": "{proposal}"}, {"proposal": "{proposal}", "only": ["{memory}"]}),
    "ablate": (),
    "reembed": (),
    "pack_list": (),
    "pack_remove": ({"name": "{pack}"},),
    "pack_content": ({"name": "{pack}", "keys": ["{key}"]}, {"name": "{pack}", "tags": ["{tag}"]}),
    "pack_add": ({"pack": pack("{pack}", "{key}")},),
    "export_lines": (),
    "import_lines": ({"lines": "{lines}"},),
    "loop_context": ({"objective": "Release version 2", "session": "{loop}"},),
    "loop_store": ({"trigger": "Lock: the key broke", "resolution": "Use the spare", "source": "{source}"},),
    "loop_chunk": (
        {"session": "{loop}", "task": "Ship it", "outcome": "success", "approach": "Slowly"},
        {"session": "{session}", "task": "Ship it", "outcome": "success", "approach": "Slowly"},
    ),
    "loop_recall": ({"query": "the registry refuses", "session": "{loop}"},),
    "loop_feedback": ({"utilized": ["{key}"], "injected": ["{memory}", "deploy"]},),
    "loop_connected": ({"name": "{key}"}, {"name": "{memory}"}),
    "loop_prune": (),
    "loop_consolidate": (),
    "loop_decay": (),
    "loop_health": (),
    "loop_task_new_session": (),
    "loop_task_add": (
        {**_LOOP, "objective": "Ship it"},
        {"session": "{own loop}", "seq": 7, "objective": "Ship it", "injected": ["{key}"]},
    ),
    "loop_task_close": (
        {**_LOOP, "delivered": "All"},
        {"session": "{own loop}", "seq": 1, "delivered": "All", "utilized": ["{key}"]},
    ),
    "loop_task_block": (
        {**_LOOP, "reason": "It rains."},
        {"session": "{own loop}", "seq": 7, "reason": "It rains.", "utilized": ["{memory}"]},
    ),
    "loop_task_get": ({"session": "{loop}"}, _LOOP),
    "loop_meta_record": ({**_LOOP, "success": True},),
    "loop_meta_assess": ({"session": "{loop}"},),
    "loop_meta_summary": ({"session": "{loop}"},),
    "loop_meta_clear": ({"session": "{loop}"},),
    "loop_report": ({"session": "{loop}"},),
    "loop_list": (),
    "loop_task_complete": ({**_LOOP, "delivered": "All", "utilized": ["{key}"]},),
    "loop_think": (),
    "loop_run": (),
    "loop_resume": ({"session": "{loop}"},),
    "pack_create": ({"path": "{path}", "name": "{pack}", "keys": ["{key}"], "tags": ["{tag}"]},),
    "pack_install": (),
    "export": (),
    "import_": (),
    "backup": (),
    "restore_backup": (),
}
"""By operation: the requests that name what another has, in braces. Nothing: none of its arguments names anything."""


def filled(value: Any, names: Mapping[str, str]) -> Any:
    """A request with the names in braces replaced by those that they stand for."""
    if isinstance(value, str):
        for name, stands_for in names.items():
            value = value.replace(f"{{{name}}}", stands_for)
        return value
    if isinstance(value, Mapping):
        return {name: filled(inner, names) for name, inner in value.items()}
    return [filled(inner, names) for inner in value] if isinstance(value, (list, tuple)) else value
