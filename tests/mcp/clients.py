"""The client of the library ``mcp``, with a conversation of ours at the other end of its streams."""

from __future__ import annotations

from contextlib import asynccontextmanager
from functools import partial

import anyio
import mcp_types as types
from anyio import from_thread, to_thread
from mcp.client import Client
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage

from priming.mcp import protocol
from priming.mcp.messages import progress_message


@asynccontextmanager
async def connected(service, namespace="default", groups="core", mode="auto", **options):
    """A client of the library, in this process."""
    conversation = protocol.McpConversation(protocol.McpClient(lambda: service, namespace, groups, **options))
    async with Client(streams(conversation), mode=mode) as client:
        yield client


@asynccontextmanager
async def streams(conversation):
    """Both streams of a client, whose messages a conversation answers in threads."""
    async with (
        create_client_server_memory_streams() as (own, (receiving, sending)),
        anyio.create_task_group() as tasks,
    ):

        async def send(message):
            await sending.send(SessionMessage(types.jsonrpc_message_adapter.validate_python(message)))

        async def answer(message):
            token = protocol.progress_token(message)

            def step(done, total):
                if token is not None:
                    from_thread.run(send, progress_message(token, done, total))

            reply = await to_thread.run_sync(partial(conversation.answer, message, step))
            if reply is not None:
                await send(reply)

        async def serve():
            async for item in receiving:
                assert isinstance(item, SessionMessage)
                message = item.message.model_dump(mode="json", by_alias=True, exclude_unset=True)
                tasks.start_soon(answer, message)

        tasks.start_soon(serve)
        yield own
        tasks.cancel_scope.cancel()
