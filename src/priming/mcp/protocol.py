"""The protocol: the operations as tools, memories as resources, recall as a prompt.

Models read text: recalled memories as quoted data, what an operation moved as a line for each memory, other answers
as lines within a budget. Beside it is structured content where it says no more, or where ``explain`` asks for all of
an answer as data. Only the answer of ``operation`` has rows of the log. Clients greet with ``initialize``, or state
the version with each request, as from 2026-07-28 on. The library ``mcp`` is the oracle of the tests.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from priming.config.caller import Caller, calling
from priming.config.environment import default_actor
from priming.config.values import dataclass
from priming.errors import NotFound, ParamError, PrimingError, shown
from priming.mcp.messages import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    LATER_VERSIONS,
    METHOD_NOT_FOUND,
    OFFERED,
    SERVER,
    UNSUPPORTED_VERSION,
    VERSIONS,
    RequestError,
    error_message,
    method_of,
    number_of,
    result_message,
)
from priming.mcp.tools import PROMPTS, instructions, prompt_text
from priming.serialization import error_payload
from priming.types import Progress
from priming.verbs.op import Op
from priming.verbs.rows import find, meant, named, tools

if TYPE_CHECKING:
    from priming.operations.service import Service

ACTIVE, MEMORY = "priming://active", "priming://memory/"
TEXT, JSON = "text/plain", "application/json"
LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")
READY = ("initialize", "server/discover", "ping", *LISTS)
"""What is answered without a store; of a process of the user at once."""
_META = "io.modelcontextprotocol/"
_VERSION, _CLIENT, _CAPABILITIES = (
    f"{_META}protocolVersion",
    f"{_META}clientInfo",
    f"{_META}clientCapabilities",
)
_UNCACHED = {"cacheScope": "private", "ttlMs": 0}
_CACHEABLE = (*LISTS, "server/discover", "resources/read")
_NAME_LETTERS = 120
_INVALID = "Invalid request parameters"


@dataclass(frozen=True, slots=True)
class McpClient:
    """Whose requests are answered, and what they may reach.

    ``groups`` are those of its tools, with commas between. ``agent`` opens the agent of the loop, for a client that
    is the user's own process: it may run commands. ``may`` says which operations it may call: those are its tools.
    ``caller`` is who calls an operation, None: the client by its own name; ``payload`` an error as it may read it.
    """

    service: Callable[[], Service]
    namespace: str
    groups: str = "core"
    agent: Callable[[], Any] | None = None
    may: Callable[[Op], bool] = lambda _: True
    caller: Callable[[str], Caller] | None = None
    payload: Callable[[PrimingError], Mapping[str, str]] = error_payload

    @property
    def ops(self) -> dict[str, Op]:
        """The operations that are its tools, by name."""
        own = self.agent is not None
        return {op.name: op for op in tools(self.groups, own=own) if self.may(op)}


class McpConversation:
    """The answers to one client, in any number of threads; its own name is that of its greeting."""

    def __init__(self, client: McpClient) -> None:
        self._client = client
        self._name: str | None = None
        tools(client.groups)

    def answer(self, message: Any, progress: Progress | None = None) -> dict[str, Any] | None:
        """Return the answer to a message; None if it needs none.

        Args:
            message: a request or a notification.
            progress: called with (done, total or None) while a long operation goes on; what it raises ends it.

        """
        number, method = number_of(message), method_of(message)
        if number is None or method is None:
            return None
        try:
            return result_message(number, self._result(method, message.get("params"), progress))
        except RequestError as error:
            return error_message(number, error)

    def _result(self, method: str, params: Any, progress: Progress | None) -> dict[str, Any]:
        params = {} if params is None else params
        if not isinstance(params, dict):
            raise RequestError(INVALID_PARAMS, _INVALID)
        meta = _meta_of(params)
        is_later = _VERSION in meta
        if method == "server/discover" and not is_later:
            rule = f"params._meta must be an object carrying the required {_VERSION!r} and {_CAPABILITIES!r}"
            raise RequestError(INVALID_PARAMS, f"{rule} envelope keys")
        if not is_later:
            if method == "initialize":
                return self._introduction(params)
            return {} if method == "ping" else self._handled(method, params, self._name, progress)
        name = self._envelope_name(meta)
        if method == "server/discover":
            result = {"supportedVersions": [*LATER_VERSIONS], **self.offer()}
        else:
            result = self._handled(method, params, name, progress)
        cached = _UNCACHED if method in _CACHEABLE else {}
        return {**result, **cached, "resultType": "complete", "_meta": {f"{_META}serverInfo": SERVER}}

    def _introduction(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to a client that greets."""
        version, client = params.get("protocolVersion"), params.get("clientInfo")
        is_complete = isinstance(version, str) and isinstance(params.get("capabilities"), dict)
        if not is_complete or not isinstance(client, dict):
            raise RequestError(INVALID_PARAMS, _INVALID)
        if not all(isinstance(client.get(part), str) for part in ("name", "version")):
            raise RequestError(INVALID_PARAMS, _INVALID)
        self._name = client["name"]
        return {
            "protocolVersion": version if version in VERSIONS else VERSIONS[-1],
            **self.offer(),
            "serverInfo": SERVER,
        }

    def _envelope_name(self, meta: Mapping[str, Any]) -> str | None:
        """Return the client's own name in a request that states its version, once that is checked."""
        version, client = meta[_VERSION], meta.get(_CLIENT)
        if _CAPABILITIES not in meta:
            rule = f"params._meta is missing the required envelope key(s): {_CAPABILITIES}"
            raise RequestError(INVALID_PARAMS, rule)
        if version not in LATER_VERSIONS:
            about = {"supported": [*LATER_VERSIONS], "requested": version}
            raise RequestError(UNSUPPORTED_VERSION, "Unsupported protocol version", about)
        return str(client.get("name") or "") if isinstance(client, dict) else None

    def _handled(
        self, method: str, params: dict[str, Any], name: str | None, progress: Progress | None
    ) -> dict[str, Any]:
        handlers = self.handlers(params, name, progress)
        if method not in handlers:
            raise RequestError(METHOD_NOT_FOUND, "Method not found", method)
        return handlers[method]()

    def offer(self) -> dict[str, Any]:
        """Return what the server can do, and how its tools are used."""
        return {"capabilities": OFFERED, "instructions": instructions(self._client.ops)}

    def handlers(
        self, params: dict[str, Any], name: str | None, progress: Progress | None
    ) -> Mapping[str, Callable[[], dict[str, Any]]]:
        """Return what answers a request of each method; ``name`` is the client's own."""
        call = _Call(self._client, name, progress)
        return {
            "tools/list": lambda: {"tools": _tools(self._client)},
            "tools/call": partial(call.tool, params),
            "prompts/list": lambda: {"prompts": [*PROMPTS.values()]},
            "prompts/get": partial(call.prompt, params),
            "resources/list": lambda: {"resources": [_ACTIVE]},
            "resources/templates/list": lambda: {"resourceTemplates": [_TEMPLATE]},
            "resources/read": partial(call.resource, params),
        }


_ACTIVE = {
    "uri": ACTIVE,
    "name": "active",
    "description": "The rules learned from corrections that apply everywhere",
    "mimeType": TEXT,
}
_TEMPLATE = {
    "uriTemplate": f"{MEMORY}{{key}}",
    "name": "memory",
    "description": "One memory in full",
    "mimeType": JSON,
}


def stated_version(message: Any) -> Any:
    """Return the version that a request states itself; None for one of a client that greets."""
    return _meta_of(message.get("params") if isinstance(message, dict) else None).get(_VERSION)


def progress_token(message: Mapping[str, Any]) -> str | int | None:
    """Return what a request wants its progress reported under; None: it does not."""
    token = _meta_of(message.get("params")).get("progressToken")
    return token if isinstance(token, (str, int)) and not isinstance(token, bool) else None


def _meta_of(params: Any) -> Mapping[str, Any]:
    """Return what the parameters of a request say about it; empty where they say nothing."""
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta if isinstance(meta, dict) else {}


def _tools(client: McpClient) -> list[Mapping[str, Any]]:
    """Return a client's tools: those of a user's process are ready-made, with the heavy modules not yet loaded."""
    from priming.mcp import tools as described

    ops = client.ops
    if client.agent is not None:
        return [tool for tool in described.ready_made() if tool["name"] in ops]
    return [described.tool(op) for op in ops.values()]


class _Call:
    """One request that reads or changes memories."""

    def __init__(self, client: McpClient, name: str | None, progress: Progress | None) -> None:
        self._client, self._name, self._progress = client, name, progress

    def tool(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Carry out an operation. Its error is the tool's own error, for the model to read."""
        from priming.operations import replies

        name, request = _text(params, "name"), params.get("arguments")
        if request is not None and not isinstance(request, dict):
            raise RequestError(INVALID_PARAMS, _INVALID)
        ops = self._client.ops
        if name not in ops:
            hidden = find(name)
            needs = None if hidden is None or self._client.may(hidden) else hidden.needs
            return {"content": [_content(_no_tool(name, ops, needs))], "isError": True}
        try:
            return self._result(ops[name], request or {})
        except PrimingError as error:
            text = replies.compact({"error": self._client.payload(error)})
            return {"content": [_content(text)], "isError": True}

    def _result(self, op: Op, request: dict[str, Any]) -> dict[str, Any]:
        """Return the answer of an operation as text; for a program that asks with ``explain``, as data too."""
        from priming.config.ids import uuid7
        from priming.mcp.tools import PACKED, TOKENS, is_object
        from priming.operations import replies
        from priming.text.quotation import visible, visible_value

        explain, request = _explaining(request)
        if replies.is_short(op):
            operation_id = uuid7(datetime.now(UTC))
            answer, logged = self._call(op.name, request, operation_id), None
            if op.answers != "Operation":
                with suppress(NotFound):  # a dry run wrote nothing
                    logged = self._call("operation", {"operation_id": operation_id})
            fields, text = replies.short(op, answer, logged)
            return _tool_result(visible(text), visible_value(fields) if explain else None)
        if op.name in PACKED and not any(op.other_names.get(name, name) == "tokens" for name in request):
            request["tokens"] = TOKENS
        answer = replies.without_rows(op, self._call(op.name, request))
        reason, limit = self._reason(op, answer), replies.limit_of(op, request)
        text = visible(reason) if reason else replies.shown(op, answer, limit)
        whole = answer if is_object(op) else replies.wrapped(answer, reason)
        return _tool_result(text, visible_value(whole) if explain else None)

    def resource(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the text of a resource."""
        from priming.operations import replies

        uri = _text(params, "uri")
        if uri == ACTIVE:
            active = self._read("active", {"cue": {}})
            return _contents(uri, TEXT, active["text"] or active["reason"] or active["notice"])
        if not uri.startswith(MEMORY) or uri == MEMORY:
            raise RequestError(
                INVALID_PARAMS, f"no resource {shown(uri)}: there are {ACTIVE} and {MEMORY}KEY"
            )
        record = self._read("get", {"key": unquote(uri.removeprefix(MEMORY))})
        return _contents(uri, JSON, replies.compact(record))

    def prompt(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return a prompt, filled in."""
        from priming.operations import replies

        name, arguments = _text(params, "name"), params.get("arguments") or {}
        if not isinstance(arguments, dict) or not all(isinstance(text, str) for text in arguments.values()):
            raise RequestError(INVALID_PARAMS, _INVALID)
        if name not in PROMPTS:
            raise RequestError(INVALID_PARAMS, f"no prompt {shown(name)}: there are {', '.join(PROMPTS)}")
        if name != "recall":
            return _prompt(prompt_text(name, arguments, partial(self._read, "list", {"kinds": ["behavior"]})))
        question = arguments.get("question", "")
        recall = self._read("recall", {"text": question})
        return _prompt(f"{question}\n\n{replies.shown(named('recall'), recall)}")

    def _read(self, operation: str, request: Mapping[str, Any]) -> Any:
        """Call; an error becomes an error of the protocol itself."""
        try:
            return self._call(operation, request)
        except PrimingError as error:
            code = INVALID_PARAMS if isinstance(error, (ParamError, NotFound)) else INTERNAL_ERROR
            payload = dict(self._client.payload(error))
            raise RequestError(code, payload["message"], payload) from None

    def _call(self, operation: str, request: Mapping[str, Any], operation_id: str | None = None) -> Any:
        """Carry out an operation in this thread; a long one reports its progress."""
        from priming.operations.schema import refuse_own
        from priming.operations.service import call_here

        client, op = self._client, named(operation)
        progress = self._progress if op.long else None
        if client.agent is None and op.own:
            refuse_own(op, request)
        with calling(self._caller(operation)):
            if op.local and client.agent is not None:
                service, namespace = client.service(), client.namespace
                return call_here(service, namespace, op, request, progress=progress, agent=client.agent)
            return client.service().call(
                client.namespace,
                operation,
                request,
                forgiving=True,
                progress=progress,
                operation_id=operation_id,
            )

    def _caller(self, operation: str) -> Caller:
        """Return the caller of a tool."""
        if self._client.caller is not None:
            return self._client.caller(operation)
        return named_caller(self._name, operation)

    def _reason(self, op: Op, answer: Any) -> str | None:
        """Tell why an answer is empty, where the answer has no field for it."""
        from priming.operations.service import reason_of

        with calling(self._caller(op.name)):
            return reason_of(self._client.service(), self._client.namespace, op, answer)


def named_caller(name: str | None, operation: str) -> Caller:
    """Return the caller that a client is by its own name."""
    return Caller(" ".join((name or "").split())[:_NAME_LETTERS] or default_actor(), f"mcp {operation}")


def _text(params: Mapping[str, Any], name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str):
        raise RequestError(INVALID_PARAMS, _INVALID)
    return value


def _content(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _explaining(request: Mapping[str, Any]) -> tuple[bool, dict[str, Any]]:
    """Tell whether a program asks for the whole answer as data, and the arguments of the operation."""
    arguments = dict(request)
    explain = arguments.pop("explain", None) or False
    if not isinstance(explain, bool):
        raise ParamError("explain", explain, "must be true or false")
    return explain, arguments


def _tool_result(text: str, structured: Mapping[str, Any] | None) -> dict[str, Any]:
    result: dict[str, Any] = {"content": [_content(text)], "isError": False}
    return result if structured is None else {**result, "structuredContent": structured}


def _no_tool(name: str, ops: Collection[str], needs: str | None = None) -> str:
    """Return the answer to a client that calls a tool it was not offered."""
    message = f"no tool {shown(name)}: there are {', '.join(ops)}"
    near, op = meant(name), find(name)
    if op is None and near in ops:
        return f"{message}; did you mean {near}?"
    if needs is not None:
        return f"{message}; it needs a token of the kind {needs!r}"
    return message if op is None or op.local else f"{message}; it is in the group {op.group!r} of tools"


def _contents(uri: str, mime: str, text: str) -> dict[str, Any]:
    return {"contents": [{"uri": uri, "mimeType": mime, "text": text}]}


def _prompt(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": _content(text)}]}
