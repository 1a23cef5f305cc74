"""The protocol: the operations as tools, memories as resources, recall as a prompt.

Models read text: recalled memories as quoted data, what an operation moved as a line for each memory, other answers
as compact JSON. Beside it is structured content, with its schema. Only the answer of ``operation`` has rows of the
log. The engine is loaded at its first use, so that the protocol answers at once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import UTC, datetime
from functools import cache, partial
from typing import Any, TypeAlias
from urllib.parse import unquote

import mcp_types as types
from anyio import CapacityLimiter, from_thread, to_thread
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

from priming.config.caller import Caller, calling
from priming.config.environment import VERSION, default_actor
from priming.config.ids import uuid7
from priming.errors import NotFound, ParamError, PrimingError, shown
from priming.mcp.tools import PACKED, TOKENS, is_object, tool
from priming.mcp.wording import REFLECT, instructions
from priming.operations import replies
from priming.operations.op import Op
from priming.operations.service import Service, call_here, reason_of
from priming.operations.table import find, named, tools
from priming.serialization import error_payload, outward_message
from priming.text.quotation import visible, visible_value

ACTIVE, MEMORY = "priming://active", "priming://memory/"
TEXT, JSON = "text/plain", "application/json"
PROMPTS = {
    "recall": types.Prompt(
        name="recall",
        description="Add the memories about a question to the conversation",
        arguments=[
            types.PromptArgument(
                name="question", description="The question, or what is about to be done", required=True
            )
        ],
    ),
    "reflect": types.Prompt(
        name="reflect",
        description="Look back on this conversation, and keep what is worth keeping",
        arguments=[],
    ),
}
Context: TypeAlias = ServerRequestContext[Any, Any]


def server(
    service: Callable[[], Service],
    namespace: Callable[[Context], str],
    groups: str = "core",
    chosen: Callable[[Context], str | None] = lambda _: None,
    agent: Callable[[], Any] | None = None,
    everywhere: Callable[[Context], bool] = lambda _: True,
    threads: Callable[[Context], CapacityLimiter | None] = lambda _: None,
    may: Callable[[Context, Op], bool] = lambda *_: True,
) -> Server[Any]:
    """A protocol server over a service. ``service`` is called at first need; ``namespace`` for each request.

    ``groups`` are those of its tools, with commas between; ``chosen`` may name others for a request. ``agent`` opens
    the agent of the loop, for a client that is the user's own process: it may run commands. ``everywhere`` says
    whether the client of a request may learn the names of other namespaces, ``threads`` which
    threads run its calls, and ``may`` which operations it may call: those are its tools.
    """
    handlers = _Handlers(cache(service), namespace, groups, chosen, agent, everywhere, threads, may)
    return Server(
        "priming",
        version=VERSION,
        title="Priming",
        description="Associative memory for AI agents",
        instructions=instructions(groups),
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )


class _Handlers:
    """The handlers of the protocol's requests."""

    def __init__(
        self,
        service: Callable[[], Service],
        namespace: Callable[[Context], str],
        groups: str,
        chosen: Callable[[Context], str | None],
        agent: Callable[[], Any] | None,
        everywhere: Callable[[Context], bool],
        threads: Callable[[Context], CapacityLimiter | None],
        may: Callable[[Context, Op], bool],
    ) -> None:
        self._service, self._namespace = service, namespace
        self._groups, self._chosen, self._agent = groups, chosen, agent
        self._everywhere, self._threads, self._may = everywhere, threads, may
        tools(groups)

    def _ops(self, context: Context) -> tuple[Op, ...]:
        """The operations that are tools for a request."""
        ops = tools(self._chosen(context) or self._groups, own=self._agent is not None)
        return tuple(op for op in ops if self._may(context, op))

    async def list_tools(self, context: Context, _params: Any) -> types.ListToolsResult:
        """The tools, with the schemas of what they take and answer."""
        ops = self._ops(context)
        return types.ListToolsResult(
            tools=await to_thread.run_sync(self._tools, ops, limiter=self._threads(context))
        )

    def _tools(self, ops: Iterable[Op]) -> list[types.Tool]:
        return [types.Tool.model_validate(tool(op, own=self._agent is not None)) for op in ops]

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Carry out an operation. Its error is the tool's own error, for the model to read."""
        ops = {op.name: op for op in self._ops(context)}
        op = ops.get(params.name)
        if op is None:
            hidden = find(params.name)
            needs = None if hidden is None or self._may(context, hidden) else hidden.needs
            raise MCPError(types.INVALID_PARAMS, _no_tool(params.name, ops, needs))
        try:
            return await self._result(context, op, params.arguments or {})
        except PrimingError as error:
            text = replies.compact({"error": self._payload(context, error)})
            return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)

    async def _result(self, context: Context, op: Op, request: Mapping[str, Any]) -> types.CallToolResult:
        """The answer of an operation; of an operation that writes, a short one with its id in the log."""
        if op.name in PACKED:
            return await self._packed(context, op, dict(request))
        if not replies.is_short(op):
            answer = visible_value(replies.without_rows(op, await self._call(context, op.name, request)))
            reason = await self._reason(context, op, answer)
            structured = answer if is_object(op) else replies.wrapped(answer, reason)
            return _tool_result(reason or replies.shown(op, answer), structured)
        operation_id = uuid7(datetime.now(UTC))
        answer = await self._call(context, op.name, request, operation_id)
        logged = None
        if op.answers != "Operation":
            logged = await self._call(context, "operation", {"operation_id": operation_id})
        reply = replies.short(op, answer, logged)
        return _tool_result(visible(reply.text), visible_value(dict(reply.fields)))

    async def _packed(self, context: Context, op: Op, request: dict[str, Any]) -> types.CallToolResult:
        """Memories or rules: for programs no more than the text says, unless they ask for the evidence."""
        explain = request.pop("explain", None) or False
        if not isinstance(explain, bool):
            raise ParamError("explain", explain, "must be true or false")
        named = [name for name in request if op.other_names.get(name, name) == "tokens"]
        tokens = request[named[0]] if named else TOKENS
        answer = await self._call(context, op.name, request if named else {**request, "tokens": tokens})
        structured = visible_value(answer) if explain else replies.packed(answer, tokens)
        return _tool_result(replies.shown(op, answer), structured)

    async def list_resources(self, _context: Context, _params: Any) -> types.ListResourcesResult:
        """The resources that need no key."""
        about = "The rules learned from corrections that apply everywhere"
        active = types.Resource(uri=ACTIVE, name="active", description=about, mime_type=TEXT)
        return types.ListResourcesResult(resources=[active])

    async def list_templates(self, _context: Context, _params: Any) -> types.ListResourceTemplatesResult:
        """The resources that need a key."""
        memory = types.ResourceTemplate(
            uri_template=f"{MEMORY}{{key}}", name="memory", description="One memory in full", mime_type=JSON
        )
        return types.ListResourceTemplatesResult(resource_templates=[memory])

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """The text of a resource."""
        uri = str(params.uri)
        if uri == ACTIVE:
            active = await self._read(context, "active", {"cue": {}})
            return _contents(uri, TEXT, active["text"] or active["reason"] or active["notice"])
        if not uri.startswith(MEMORY) or uri == MEMORY:
            raise MCPError(
                types.INVALID_PARAMS, f"no resource {shown(uri)}: there are {ACTIVE} and {MEMORY}KEY"
            )
        record = await self._read(context, "get", {"key": unquote(uri.removeprefix(MEMORY))})
        return _contents(uri, JSON, replies.compact(record))

    async def list_prompts(self, _context: Context, _params: Any) -> types.ListPromptsResult:
        """The prompts."""
        return types.ListPromptsResult(prompts=list(PROMPTS.values()))

    async def get_prompt(
        self, context: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        """A prompt, filled in."""
        if params.name not in PROMPTS:
            raise MCPError(
                types.INVALID_PARAMS, f"no prompt {shown(params.name)}: there are {', '.join(PROMPTS)}"
            )
        if params.name == "reflect":
            return _prompt(REFLECT)
        question = (params.arguments or {}).get("question", "")
        recall = await self._read(context, "recall", {"text": question})
        return _prompt(f"{question}\n\n{replies.shown(named('recall'), recall)}")

    async def _read(self, context: Context, operation: str, request: Mapping[str, Any]) -> Any:
        """Call; an error becomes an error of the protocol itself."""
        try:
            return await self._call(context, operation, request)
        except PrimingError as error:
            code = types.INVALID_PARAMS if isinstance(error, (ParamError, NotFound)) else types.INTERNAL_ERROR
            payload = self._payload(context, error)
            raise MCPError(code, payload["message"], payload) from None

    async def _call(
        self,
        context: Context,
        operation: str,
        request: Mapping[str, Any],
        operation_id: str | None = None,
    ) -> Any:
        """Call in a thread; a long call reports its progress, and stops when the client went away."""

        def step(done: int, total: int | None) -> None:
            from_thread.check_cancelled()
            from_thread.run(context.session.report_progress, done, total)

        op = named(operation)
        service, namespace, progress = self._service(), self._namespace(context), step if op.long else None
        if self._agent is None and op.own:
            from priming.operations.schema import refuse_own

            refuse_own(op, request)
        if op.local and self._agent is not None:
            call = partial(call_here, service, namespace, op, request, progress=progress, agent=self._agent)
        else:
            call = partial(
                service.call,
                namespace,
                operation,
                request,
                forgiving=True,
                progress=progress,
                operation_id=operation_id,
            )
        threads = self._threads(context)
        return await to_thread.run_sync(_call_as, _caller(context, operation), call, limiter=threads)

    def _payload(self, context: Context, error: PrimingError) -> dict[str, str]:
        """An error as its client may read it: without other namespaces and files, unless it may use all."""
        payload = error_payload(error)
        if not self._everywhere(context):
            payload["message"] = outward_message(error)
        return payload

    async def _reason(self, context: Context, op: Op, answer: Any) -> str | None:
        """Why an answer is empty, where the answer has no field for it."""
        ask = partial(reason_of, self._service(), self._namespace(context), op, answer)
        return await to_thread.run_sync(
            _call_as, _caller(context, op.name), ask, limiter=self._threads(context)
        )


def _call_as(caller: Caller, call: Callable[[], Any]) -> Any:
    with calling(caller):
        return call()


def _caller(context: Context, operation: str) -> Caller:
    """The caller of a tool: the token of the request, or else the client's own name."""
    via = f"mcp {operation}"
    request: Any = context.request  # None on stdio
    if request is not None and (sender := request.scope["state"]["context"]).token is not None:
        own: Caller = sender.caller(request.headers, via)
        return own
    params = context.session.client_params
    name = None if params is None else params.client_info.name
    return Caller(" ".join((name or "").split())[:120] or default_actor(), via)


def _tool_result(text: str, structured: dict[str, Any]) -> types.CallToolResult:
    content = types.TextContent(type="text", text=text)
    return types.CallToolResult(content=[content], structured_content=structured)


def _no_tool(name: str, ops: Collection[str], needs: str | None = None) -> str:
    """The answer to a client that calls a tool it was not offered."""
    message = f"no tool {shown(name)}: there are {', '.join(ops)}"
    op = find(name)
    if needs is not None:
        return f"{message}; it needs a token of the kind {needs!r}"
    return message if op is None or op.local else f"{message}; it is in the group {op.group!r} of tools"


def _contents(uri: str, mime: str, text: str) -> types.ReadResourceResult:
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=mime, text=text)])


def _prompt(text: str) -> types.GetPromptResult:
    content = types.TextContent(type="text", text=text)
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])
