"""Why an answer is empty, on the surfaces whose answers are JSON: the namespace, and those that resemble it."""

from __future__ import annotations

from typing import Any

from priming.operations.service import Service
from priming.operations.table import Op
from priming.results import no_memories

_NEVER_EMPTY = ("graph", "strengths")
"""Operations that answer something about a namespace without memories too, such as an empty drawing."""


def may_be_empty(op: Op, answer: Any) -> bool:
    """Whether an answer may be that of a namespace without memories."""
    return not answer or op.name in _NEVER_EMPTY


def reason_of(service: Service, namespace: str, op: Op, answer: Any) -> str | None:
    """Why the answer of an operation that reads is empty; None if it is not, or has a field for the reason."""
    if op.writes or isinstance(answer, dict) or not may_be_empty(op, answer):
        return None
    reason = service.call(namespace, "status", {})["reason"]
    return None if reason is None else str(reason)


def without_other_names(namespace: str, answer: Any) -> Any:
    """An answer whose reason names no other namespace, for a client that must not learn their names."""
    reason, plain = answer.get("reason") if isinstance(answer, dict) else None, no_memories(namespace)
    if isinstance(reason, str) and reason.startswith(plain):
        return {**answer, "reason": plain}
    return answer
