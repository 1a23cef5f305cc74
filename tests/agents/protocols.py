"""The protocols of models: what a request holds, and an answer as its client expects it."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

_NUMBERS = itertools.count(1)
Event = tuple[str, Mapping[str, Any] | str]


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool by the model; ``namespace`` where the client groups its tools."""

    tool: str
    input: Mapping[str, Any]
    namespace: str | None = None


@dataclass(frozen=True, slots=True)
class Heard:
    """What a model received: its instructions, the messages, the names of its tools, the number of their results."""

    path: str
    body: Mapping[str, Any]
    system: str
    messages: tuple[tuple[str, str], ...]
    tools: tuple[str, ...]
    results: int
    streams: bool

    @property
    def text(self) -> str:
        """The instructions and the messages."""
        return "\n".join([self.system, *(text for _, text in self.messages)])

    def of(self, role: str) -> str:
        """The messages of a role."""
        return "\n".join(text for name, text in self.messages if name == role)


class ModelProtocol(Protocol):
    """How a client and its model speak."""

    def read(self, path: str, body: Mapping[str, Any]) -> Heard:
        """What a request holds."""

    def stream(self, step: str | Call, heard: Heard) -> Iterator[Event]:
        """The events of an answer."""

    def whole(self, step: str | Call, heard: Heard) -> Mapping[str, Any]:
        """An answer at once."""


def of(path: str) -> ModelProtocol | None:
    """The protocol of a path; None for whatever else a client asks for."""
    endings: Mapping[str, ModelProtocol] = {
        "/messages": _Messages(),
        "/responses": _Responses(),
        "/chat/completions": _Chat(),
        ":streamGenerateContent": _Google(),
        ":generateContent": _Google(),
    }
    return next((protocol for ending, protocol in endings.items() if path.endswith(ending)), None)


def plain(value: Any) -> str:
    """The texts in a value, whatever its shape."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        inner = [
            value[key]
            for key in ("text", "content", "output", "input", "response", "arguments")
            if key in value
        ]
        return "\n".join(filter(None, map(plain, inner))) if inner else json.dumps(value, ensure_ascii=False)
    if isinstance(value, Sequence):
        return "\n".join(filter(None, map(plain, value)))
    return "" if value is None else str(value)


class _Messages:
    """The Messages API of Anthropic."""

    def read(self, path: str, body: Mapping[str, Any]) -> Heard:
        blocks = [
            block
            for message in body.get("messages", ())
            for block in (message["content"] if isinstance(message["content"], list) else ())
        ]
        return Heard(
            path,
            body,
            plain(body.get("system")),
            tuple((message["role"], plain(message["content"])) for message in body.get("messages", ())),
            tuple(tool["name"] for tool in body.get("tools", ())),
            sum(block.get("type") == "tool_result" for block in blocks),
            bool(body.get("stream")),
        )

    def stream(self, step: str | Call, heard: Heard) -> Iterator[Event]:
        message = {**self._message(heard), "content": [], "stop_reason": None}
        yield "message_start", {"type": "message_start", "message": message}
        block = self._block(step)
        if isinstance(step, Call):
            begin = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(step.input)}
        else:
            begin, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": step}
        yield "content_block_start", {"type": "content_block_start", "index": 0, "content_block": begin}
        yield "content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}
        yield "content_block_stop", {"type": "content_block_stop", "index": 0}
        end = {"stop_reason": self._reason(step), "stop_sequence": None}
        yield "message_delta", {"type": "message_delta", "delta": end, "usage": {"output_tokens": 5}}
        yield "message_stop", {"type": "message_stop"}

    def whole(self, step: str | Call, heard: Heard) -> Mapping[str, Any]:
        return {**self._message(heard), "content": [self._block(step)], "stop_reason": self._reason(step)}

    def _message(self, heard: Heard) -> dict[str, Any]:
        return {
            "id": f"msg_{next(_NUMBERS)}",
            "type": "message",
            "role": "assistant",
            "model": heard.body.get("model", "stub"),
            "stop_sequence": None,
            "usage": {"input_tokens": 10, "output_tokens": 1},
        }

    def _block(self, step: str | Call) -> dict[str, Any]:
        if isinstance(step, Call):
            return {
                "type": "tool_use",
                "id": f"toolu_{next(_NUMBERS)}",
                "name": step.tool,
                "input": dict(step.input),
            }
        return {"type": "text", "text": step}

    def _reason(self, step: str | Call) -> str:
        return "tool_use" if isinstance(step, Call) else "end_turn"


class _Responses:
    """The Responses API of OpenAI."""

    def read(self, path: str, body: Mapping[str, Any]) -> Heard:
        items = body.get("input", ())
        items = items if isinstance(items, list) else [{"role": "user", "content": items}]
        return Heard(
            path,
            body,
            plain(body.get("instructions")),
            tuple((str(item.get("role") or item.get("type")), plain(item)) for item in items),
            tuple(self._tools(body.get("tools") or ())),
            sum(str(item.get("type")).endswith("_output") for item in items),
            bool(body.get("stream")),
        )

    def _tools(self, tools: Sequence[Mapping[str, Any]]) -> Iterator[str]:
        for tool in tools:
            name = str(tool.get("name") or tool.get("type"))
            yield name
            for inner in tool.get("tools", ()):
                yield f"{name}{inner['name']}"

    def stream(self, step: str | Call, heard: Heard) -> Iterator[Event]:
        item = self._item(step)
        response = {
            "id": f"resp_{next(_NUMBERS)}",
            "object": "response",
            "status": "in_progress",
            "output": [],
        }
        yield "response.created", {"type": "response.created", "response": response}
        started = {**item, **({"content": []} if isinstance(step, str) else {})}
        yield (
            "response.output_item.added",
            {"type": "response.output_item.added", "output_index": 0, "item": started},
        )
        if isinstance(step, str):
            place = {"item_id": item["id"], "output_index": 0, "content_index": 0}
            yield (
                "response.output_text.delta",
                {"type": "response.output_text.delta", "delta": step, **place},
            )
        yield (
            "response.output_item.done",
            {"type": "response.output_item.done", "output_index": 0, "item": item},
        )
        done = {**response, "status": "completed", "output": [item], "usage": self._usage()}
        yield "response.completed", {"type": "response.completed", "response": done}

    def whole(self, step: str | Call, heard: Heard) -> Mapping[str, Any]:
        return {
            "id": f"resp_{next(_NUMBERS)}",
            "object": "response",
            "status": "completed",
            "output": [self._item(step)],
            "usage": self._usage(),
        }

    def _item(self, step: str | Call) -> dict[str, Any]:
        number = next(_NUMBERS)
        if isinstance(step, str):
            content = [{"type": "output_text", "text": step, "annotations": []}]
            return {"type": "message", "id": f"msg_{number}", "role": "assistant", "content": content}
        namespace = {"namespace": step.namespace} if step.namespace else {}
        if "input" in step.input and step.tool == "apply_patch":
            call = {"type": "custom_tool_call", "input": step.input["input"]}
        else:
            call = {"type": "function_call", "arguments": json.dumps(step.input)}
        return {**call, "id": f"fc_{number}", "call_id": f"call_{number}", "name": step.tool, **namespace}

    def _usage(self) -> Mapping[str, Any]:
        details = {
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        }
        return {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15, **details}


class _Chat:
    """The Chat Completions API of OpenAI."""

    def read(self, path: str, body: Mapping[str, Any]) -> Heard:
        messages = body.get("messages", ())
        return Heard(
            path,
            body,
            "\n".join(plain(message["content"]) for message in messages if message["role"] == "system"),
            tuple(
                (message["role"], plain(message.get("content")))
                for message in messages
                if message["role"] != "system"
            ),
            tuple(tool["function"]["name"] for tool in body.get("tools") or ()),
            sum(message["role"] == "tool" for message in messages),
            bool(body.get("stream")),
        )

    def stream(self, step: str | Call, heard: Heard) -> Iterator[Event]:
        delta: dict[str, Any] = {"role": "assistant", **self._content(step)}
        yield "", self._chunk(heard, delta, None)
        yield "", {**self._chunk(heard, {}, self._reason(step)), "usage": self._usage()}
        yield "", "[DONE]"

    def whole(self, step: str | Call, heard: Heard) -> Mapping[str, Any]:
        message = {"role": "assistant", "content": None, **self._content(step)}
        choice = {"index": 0, "message": message, "finish_reason": self._reason(step)}
        chunk = self._chunk(heard, {}, None)
        return {**chunk, "object": "chat.completion", "choices": [choice], "usage": self._usage()}

    def _chunk(self, heard: Heard, delta: Mapping[str, Any], reason: str | None) -> dict[str, Any]:
        return {
            "id": f"chatcmpl-{next(_NUMBERS)}",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": heard.body.get("model", "stub"),
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
        }

    def _content(self, step: str | Call) -> dict[str, Any]:
        if isinstance(step, str):
            return {"content": step}
        function = {"name": step.tool, "arguments": json.dumps(step.input)}
        return {
            "tool_calls": [
                {"index": 0, "id": f"call_{next(_NUMBERS)}", "type": "function", "function": function}
            ]
        }

    def _reason(self, step: str | Call) -> str:
        return "tool_calls" if isinstance(step, Call) else "stop"

    def _usage(self) -> Mapping[str, Any]:
        return {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


class _Google:
    """The API of Gemini."""

    def read(self, path: str, body: Mapping[str, Any]) -> Heard:
        contents = body.get("contents", ())
        parts = [part for content in contents for part in content.get("parts", ())]
        instruction = body.get("systemInstruction") or {}
        return Heard(
            path,
            body,
            plain(instruction.get("parts", instruction)),
            tuple(
                (content.get("role", "user"), self._text(content.get("parts", ()))) for content in contents
            ),
            tuple(
                declaration["name"]
                for tool in body.get("tools") or ()
                for declaration in tool.get("functionDeclarations", ())
            ),
            sum("functionResponse" in part for part in parts),
            path.endswith(":streamGenerateContent"),
        )

    def _text(self, parts: Sequence[Mapping[str, Any]]) -> str:
        return "\n".join(
            part["text"] if "text" in part else json.dumps(part, ensure_ascii=False) for part in parts
        )

    def stream(self, step: str | Call, heard: Heard) -> Iterator[Event]:
        yield "", self.whole(step, heard)

    def whole(self, step: str | Call, heard: Heard) -> Mapping[str, Any]:
        if isinstance(step, Call):
            part: dict[str, Any] = {"functionCall": {"name": step.tool, "args": dict(step.input)}}
        else:
            part = {"text": step}
        candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
        return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "stub"}
