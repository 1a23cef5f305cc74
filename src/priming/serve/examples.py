"""An example of each operation's request, for the OpenAPI document and the page that tries them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

OPERATION = "01890a5d-ac96-774b-bcce-b302099a8057"
RUN = "01890a5d-ac96-774b-bcce-b302099a8058"
PROPOSAL = "01890a5d-ac96-774b-bcce-b302099a8059"
"""These stand for ids that other operations answer."""

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
    "fading": {"limit": 5},
    "review": {},
    "supersede": {"key": "port", "content": "The server listens on port 9090."},
    "purge": {"key": "port"},
    "link_many": {"items": [{"source": "deploy", "target": "port"}]},
    "set_strength": {"source": "deploy", "target": "port", "weight": 0.9},
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
    "ablate": {"terms": ["spread", "proved"], "propose": False},
    "reembed": {},
    "pack_list": {},
    "pack_remove": {"name": "house-style"},
    "pack_content": {"name": "go-style", "description": "what we learned"},
    "pack_add": {"pack": json.dumps(_PACK)},
    "export_lines": {},
    "import_lines": {"lines": '{"format": "priming", "version": 4, "namespace": "default"}\n'},
}
"""By operation. They work where the memories that they name are there."""
