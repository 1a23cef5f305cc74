"""The actions of Ethos: its requests as they were sent to its socket, answered by the operations of the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from priming.api.host import Host, Progress
from priming.errors import ParamError

LIMIT = 5
"""Memories that a search answers unless told otherwise."""

Action = Callable[[Host, str, dict[str, Any], Progress | None], Any]


def act(host: Host, request: Mapping[str, Any], progress: Progress | None = None) -> Any:
    """Carry out an action; what it takes stands beside its name."""
    given = dict(request)
    name = given.pop("action")
    action = ACTIONS.get(name) if isinstance(name, str) else None
    if action is None:
        raise ParamError("action", name, f"must be one of {', '.join(ACTIONS)}")
    namespace = given.pop("namespace", None)
    return action(host, "default" if namespace is None else namespace, given, progress)


def _ping(_host: Host, _namespace: str, given: dict[str, Any], _progress: Progress | None) -> str:
    _nothing_else(given)
    return "pong"


def _health(host: Host, namespace: str, given: dict[str, Any], _progress: Progress | None) -> dict[str, Any]:
    _nothing_else(given)
    return {"healthy": True, **host.call(namespace, "status", {})}


def _ingest(host: Host, namespace: str, given: dict[str, Any], _progress: Progress | None) -> Any:
    """A memory: the arguments of ``remember``, beside the action or as its ``payload``."""
    payload = given.pop("payload", {})
    if not isinstance(payload, Mapping):
        raise ParamError("payload", payload, "must be an object: the arguments of remember")
    return host.call(namespace, "remember", {**payload, **given}, forgiving=True)


def _search(host: Host, namespace: str, given: dict[str, Any], _progress: Progress | None) -> dict[str, Any]:
    """Anchors by cosine, and what they spread to if ``use_spreading``; other arguments are those of ``recall``."""
    query, spread = given.pop("query", None), given.pop("use_spreading", None)
    if not isinstance(query, str):
        raise ParamError("query", query, "must be given, as text: what is searched for")
    if spread is not None and not isinstance(spread, bool):
        raise ParamError("use_spreading", spread, "must be true or false")
    asked = {"text": query, "limit": given.pop("limit", LIMIT), **given}
    found = host.call(namespace, "recall", {**asked, "profile": "ethos", "spread": bool(spread)})
    return {
        "results": [_result(hit) for hit in found["hits"]],
        "recall_id": found["recall_id"],
        "reason": found["reason"],
    }


def _result(hit: Mapping[str, Any]) -> dict[str, Any]:
    """A hit in one level: what was remembered, and why it is here."""
    memory = hit["memory"]
    return {
        **{name: memory[name] for name in ("id", "key", "kind", "content", "source", "metadata")},
        "created_at": memory["recorded_at"],
        **{name: hit[name] for name in ("score", "components", "path", "distance")},
    }


def _get(host: Host, namespace: str, given: dict[str, Any], _progress: Progress | None) -> Any:
    return host.call(namespace, "get", given, forgiving=True)


def _consolidate(host: Host, namespace: str, given: dict[str, Any], progress: Progress | None) -> Any:
    return host.call(namespace, "sleep", given, progress=progress)


def _embed(host: Host, _namespace: str, given: dict[str, Any], _progress: Progress | None) -> dict[str, Any]:
    text = given.pop("text", None)
    _nothing_else(given)
    if not isinstance(text, str):
        raise ParamError("text", text, "must be given: the text to embed")
    (vector,) = host.embedder.embed([text]).tolist()
    return {
        "embedding": vector,
        "dimension": host.embedder.dimension,
        "generation": host.embedder.generation,
    }


def _nothing_else(given: Mapping[str, Any]) -> None:
    for name, value in given.items():
        raise ParamError(name, value, "is no argument of this action")


ACTIONS: Mapping[str, Action] = {
    "ping": _ping,
    "health": _health,
    "ingest": _ingest,
    "search": _search,
    "get": _get,
    "consolidate": _consolidate,
    "embed": _embed,
}
