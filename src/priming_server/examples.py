"""An example request of each operation that is served."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

OPERATION = "01890a5d-ac96-774b-bcce-b302099a8057"
RUN = "01890a5d-ac96-774b-bcce-b302099a8058"
PROPOSAL = "01890a5d-ac96-774b-bcce-b302099a8059"
SESSION = "01890a5d-ac96-774b-bcce-b302099a8060"
"""Placeholders for ids that other operations return."""

_EARLIER, _LATER = "2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z"
_PACK = {
    "format": "priming-pack",
    "format_version": 1,
    "name": "house-style",
    "version": "1",
    "description": "how we work",
    "behaviors": [
        {
            "key": "say-why",
            "content": "Say in the body of a commit why it was made.",
            "when": {"task": "commit"},
            "rule": "directive",
            "importance": 0.5,
            "priority": 0.0,
            "confidence": 0.6,
        }
    ],
    "links": [],
}

EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    "remember": {"content": "The staging server listens on port 8080.", "kind": "fact", "tags": ["staging"]},
    "remember_many": {"items": [{"content": "Ada asked for a dark theme."}, {"content": "Grace tried it."}]},
    "recall": {"text": "Which port does the server listen on?", "limit": 5},
    "files": {"task": "add retries to the connection pool", "limit": 5},
    "feedback": {"used": ["port"], "reason": "it answered the question"},
    "learn": {"right": "Run the tests before you commit.", "cue": {"language": "python", "task": "commit"}},
    "active": {"cue": {"language": "go", "file": "main.go"}},
    "forget": {"key": "port"},
    "link": {"source": "deploy", "target": "port", "relation": "requires", "weight": 0.6},
    "status": {},
    "get": {"key": "port"},
    "list": {"kinds": ["fact"], "limit": 20},
    "history": {"key": "port"},
    "as_of": {"key": "port"},
    "diff": {"d1": _EARLIER, "d2": _LATER},
    "why": {"key": "port"},
    "links": {"key": "deploy"},
    "graph": {"format": "json", "limit": 50},
    "log": {"limit": 10},
    "events": {"limit": 10},
    "strengths": {},
    "oscillating": {},
    "stats": {},
    "validate": {},
    "verify": {},
    "fading": {"limit": 5},
    "review": {},
    "supersede": {"key": "port", "content": "The server listens on port 9090."},
    "purge": {"key": "port"},
    "link_many": {"items": [{"source": "deploy", "target": "port"}]},
    "set_strength": {"source": "deploy", "target": "port", "weight": 0.9, "create": True},
    "normalize_strengths": {"apply": False},
    "deprecate": {"key": "run-the-linter-before-you-commit", "reason": "the editor does it"},
    "restore": {"key": "old-rule"},
    "merge": {"key": "run-the-linter-before-you-commit", "into": "run-the-checks-before-you-commit"},
    "deduplicate": {"dry_run": True},
    "done": {"key": "deploy", "success": True},
    "keep_both": {"id": "ada-s-office-is-in-lisbon+ada-s-office-is-in-porto"},
    "aliases": {"dry_run": True},
    "operation": {"operation_id": OPERATION},
    "undo": {"operation_id": OPERATION},
    "would_undo": {"since": _EARLIER},
    "rollback": {"since": _EARLIER, "source": "conscious"},
    "run_start": {"session": "fix-the-build"},
    "run_used": {"run_id": RUN},
    "run_end": {"run_id": RUN, "used": True},
    "run_list": {},
    "sleep": {"stages": ["decay", "light"], "dry_run": True},
    "apply": {"proposal": PROPOSAL},
    "ablate": {"terms": ["spread", "feedback"], "propose": False},
    "reembed": {},
    "pack_list": {},
    "pack_remove": {"name": "house-style"},
    "pack_content": {"name": "go-style", "description": "what we learned"},
    "pack_add": {"pack": json.dumps(_PACK)},
    "export_lines": {},
    "loop_context": {"objective": "Release version 2.2", "cue": {"environment": "staging"}},
    "loop_store": {
        "trigger": "Release a version: the registry answered 403",
        "resolution": "Log in to the registry before tagging",
    },
    "loop_chunk": {
        "task": "Release a version",
        "outcome": "success",
        "approach": "Log in, then push the tag",
    },
    "loop_recall": {"query": "the registry refuses the release", "type": "failure"},
    "loop_feedback": {"utilized": ["deploy"], "injected": ["deploy", "port"]},
    "loop_connected": {"name": "deploy"},
    "loop_prune": {},
    "loop_consolidate": {},
    "loop_decay": {"days": 14},
    "loop_health": {},
    "loop_task_new_session": {"objective": "Release version 2.2"},
    "loop_task_add": {"session": SESSION, "seq": 2, "objective": "Push the tag", "injected": ["deploy"]},
    "loop_task_close": {
        "session": SESSION,
        "seq": 1,
        "delivered": "Wrote the notes.",
        "utilized": ["deploy"],
    },
    "loop_task_block": {"session": SESSION, "seq": 1, "reason": "The registry answered 403."},
    "loop_task_get": {"session": SESSION},
    "loop_meta_record": {"session": SESSION, "seq": 1, "success": True, "notes": "the notes are written"},
    "loop_meta_assess": {"session": SESSION},
    "loop_meta_summary": {"session": SESSION},
    "loop_meta_clear": {"session": SESSION},
    "loop_report": {"session": SESSION},
    "loop_list": {"limit": 5},
    "import_lines": {"lines": '{"format": "priming", "version": 4, "namespace": "default"}\n'},
}
"""By operation. They work if the memories that they name exist."""
