"""An example request of each operation that is served: its required arguments, and what its row adds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from priming.verbs.rows import SERVED

OPERATION = "01890a5d-ac96-774b-bcce-b302099a8057"
RUN = "01890a5d-ac96-774b-bcce-b302099a8058"
PROPOSAL = "01890a5d-ac96-774b-bcce-b302099a8059"
SESSION = "01890a5d-ac96-774b-bcce-b302099a8060"
"""Placeholders for ids that other operations return."""

_REQUIRED = {
    "key": "port",
    "name": "house-style",
    "source": "deploy",
    "target": "port",
    "operation_id": OPERATION,
    "run_id": RUN,
    "proposal": PROPOSAL,
    "session": SESSION,
    "seq": 1,
    "objective": "Release version 2.2",
    "since": "2026-03-01T00:00:00Z",
    "d1": "2026-03-01T00:00:00Z",
    "d2": "2026-03-02T00:00:00Z",
}
"""Arguments that are the same in many requests."""

EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    op.name: {
        **{
            name: _REQUIRED[name]
            for name, argument in op.declared.arguments.items()
            if argument.is_required and name in _REQUIRED
        },
        **op.example,
    }
    for op in SERVED
}
"""By operation. They work if the memories that they name exist."""
