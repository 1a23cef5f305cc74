"""Pydantic AI: the tools that Priming offers over MCP, as a toolset of an agent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from priming import MissingExtra, PrimingError
from priming.config.caller import calling, present_caller
from priming.mcp import tools as described
from priming.operations import replies
from priming.operations.schema import arguments
from priming.serialization import encode
from priming.verbs.op import Op
from priming.verbs.rows import tools
from priming_adapters.common import Source, Users

with MissingExtra("pydantic-ai", "a toolset of Pydantic AI"):
    from pydantic_ai import FunctionToolset, ModelRetry, RunContext, Tool

User = str | None | Callable[[RunContext[Any]], str | None]
"""The user of a run: an id, or a function of the run's context, such as of its ``deps``."""


class PrimingToolset(FunctionToolset[Any]):
    """Tools to remember, recall, correct and forget, with the instructions for them.

    Args:
        source: the memory, or the URL or path of its store.
        user: whose memory a run uses; None: the one that was opened.
        groups: the groups of tools, as of ``priming mcp``.

    """

    def __init__(self, source: Source = None, *, user: User = None, groups: str = "core") -> None:
        self._users, self._user = Users(source), user
        own = [self._tool(op) for op in tools(groups)]
        super().__init__(own, id="priming", instructions=described.instructions(groups))

    def close(self) -> None:
        """Close the store, if it was opened here."""
        self._users.close()

    def _tool(self, op: Op) -> Tool[Any]:
        about = described.tool(op)
        call = partial(self._call, op)
        call.__name__ = op.name  # type: ignore[attr-defined]
        return Tool.from_schema(call, op.name, about["description"], about["inputSchema"], takes_ctx=True)

    def _call(self, op: Op, ctx: RunContext[Any], **request: Any) -> str:
        """Carry out a tool, in a thread; a model may mend what it asked for wrongly."""
        user = self._user(ctx) if callable(self._user) else self._user
        memory = self._users.of(user)
        if op.name in described.PACKED:
            request.setdefault("tokens", described.TOKENS)
        caller = present_caller()
        if user is not None:  # whose model learns of no other user
            caller = replace(caller, everywhere=False)
        try:
            with calling(caller):
                answer = encode(op.function(memory, **arguments(op, request, forgiving=True)))
        except PrimingError as error:
            raise ModelRetry(str(error)) from error
        if replies.is_short(op):
            return replies.short(op, answer, None)[1]
        return replies.shown(op, answer, replies.limit_of(op, request))
