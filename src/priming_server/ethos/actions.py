"""The actions of Ethos, in terms of the operations of the table. They follow Ethos in any profile."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from priming.config.profiles import ALL
from priming.errors import ParamError, shown
from priming.operations.service import LocalService
from priming.types import Progress
from priming.verbs.rows import BY_NAME

ACTIONS = ("hello", "ping", "health", "ingest", "search", "get", "consolidate", "embed")
"""The actions; the server itself answers hello, since it knows what to say of itself."""
PROFILE = "ethos"
SEARCH_LIMIT = 5
_MORE = {"profile": ("profile",), "trace": ("spread", "carried"), "tokens": ("text", "omitted")}
"""The additions to the answer of a search, by argument."""


def act(service: LocalService, request: Mapping[str, Any], progress: Progress | None = None) -> Any:
    """Carry out an action; its arguments are beside its name."""
    fields = dict(request)
    name = fields.pop("action")
    namespace = fields.pop("namespace", None)
    call = partial(service.call, "default" if namespace is None else namespace)
    match name:
        case "ping":
            _refuse_others(fields)
            return "pong"
        case "health":
            _refuse_others(fields)
            return {"healthy": True, **call("status", {})}
        case "ingest":
            return _ingest(call, fields)
        case "search":
            return _search(call, fields)
        case "get":
            return call("get", fields, forgiving=True)
        case "consolidate":
            return call("sleep", fields, progress=progress)
        case "embed":
            return _embed(service, fields)
    raise ParamError("action", name, f"must be one of {', '.join(ACTIONS)}")


def _ingest(call: Callable[..., Any], fields: dict[str, Any]) -> Any:
    """Remember as Ethos does: linked to the nearest, whose links grow when the same text comes again."""
    payload = fields.pop("payload", None)
    if payload is None:
        payload = {}
    if not isinstance(payload, Mapping):
        raise ParamError("payload", payload, "must be an object: the arguments of remember")
    beside = {name: value for name, value in fields.items() if value is not None}
    for name, value in beside.items():
        other = payload.get(name)
        if other is not None and other != value:
            raise ParamError(
                f"payload.{name}", other, f"contradicts {name} = {shown(value)}: give one of the two"
            )
    return call("remember", {"profile": PROFILE, **payload, **beside}, forgiving=True)


def _search(call: Callable[..., Any], fields: dict[str, Any]) -> dict[str, Any]:
    """Search anchors by cosine, and what they spread to if ``use_spreading``; other arguments are ``recall``'s."""
    query, spread = fields.pop("query", None), _spreading(fields)
    if not isinstance(query, str):
        raise ParamError("query", query, "must be given: the text to search for")
    if "text" in fields:
        raise ParamError("text", fields["text"], "is called query here: leave it out")
    defaults = {"text": query, "limit": SEARCH_LIMIT, "profile": PROFILE}
    arguments = {name: value for name, value in fields.items() if value is not None}
    request = {**defaults, **arguments, "spread": spread}
    taken = search_arguments()
    for name, value in fields.items():
        if name not in taken:
            raise ParamError(name, value, f"is not an argument: search takes {', '.join(taken)}")
    _refuse_ineffective(request)
    try:
        recall = call("recall", request)
    except ParamError as error:
        raise ParamError.of([re.sub(r"^text = ", "query = ", text) for text in error.violations]) from None
    return {
        "results": [_result(hit) for hit in recall["hits"]],
        "recall_id": recall["recall_id"],
        "reason": recall["reason"],
        **{
            name: recall[name]
            for field, names in _MORE.items()
            if arguments.get(field, False) is not False
            for name in names
        },
    }


def search_arguments() -> tuple[str, ...]:
    """Return the names of the arguments of a search: those of recall, but for its text."""
    from priming.operations.schema import argument_names

    names = argument_names(BY_NAME["recall"])
    return ("query", "use_spreading", *(name for name in names if name != "text"))


def _spreading(fields: dict[str, Any]) -> bool:
    """Tell whether to spread: ``use_spreading``, or recall's ``spread``; without either, no."""
    values = {name: fields.pop(name, None) for name in ("use_spreading", "spread")}
    for name, value in values.items():
        if value is not None and not isinstance(value, bool):
            raise ParamError(name, value, "must be true or false")
    own, other = values.values()
    if own is not None and other is not None and own != other:
        raise ParamError("spread", other, f"contradicts use_spreading = {own}: give one of the two")
    return bool(own or other)


def _refuse_ineffective(request: Mapping[str, Any]) -> None:
    """Refuse a floor in a profile without a relevance, and to spread in one whose score has no activation."""
    name = request["profile"]
    profile = ALL.get(name) if isinstance(name, str) else None
    if profile is None:
        return
    if (floor := request.get("floor")) and profile.relevance is None:
        raise ParamError("floor", floor, f"has no effect: the profile {name} computes no relevance")
    if request["spread"] and not profile.spreads:
        spreading = ", ".join(other.name for other in ALL.values() if other.spreads)
        rule = f"has no effect: nothing spreads in the profile {name}; leave it out, or choose one of {spreading}"
        raise ParamError("use_spreading", True, rule)


def _result(hit: Mapping[str, Any]) -> dict[str, Any]:
    """Return a hit as one flat object."""
    memory = hit["memory"]
    return {
        **{name: memory[name] for name in ("id", "key", "kind", "content", "source", "metadata")},
        "created_at": memory["recorded_at"],
        **{name: hit[name] for name in ("score", "components", "path", "distance")},
    }


def _embed(service: LocalService, fields: dict[str, Any]) -> dict[str, Any]:
    text = fields.pop("text", None)
    _refuse_others(fields)
    if not isinstance(text, str):
        raise ParamError("text", text, "must be given: the text to embed")
    embedder = service.embedder
    (vector,) = embedder.embed([text]).tolist()
    return {"embedding": vector, "dimension": embedder.dimension, "generation": embedder.generation}


def greet(greeting: Mapping[str, str], request: Mapping[str, Any]) -> dict[str, str]:
    """Return the answer to a hello, which takes no argument."""
    _refuse_others({name: value for name, value in request.items() if name != "action"})
    return dict(greeting)


def _refuse_others(fields: Mapping[str, Any]) -> None:
    for name, value in fields.items():
        raise ParamError(name, value, "is not an argument of this action")
