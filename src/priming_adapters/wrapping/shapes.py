"""The shapes of requests and answers: chat completions, responses and messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from priming_adapters.common import text_of

Body = dict[str, Any]


class ChatShape(NamedTuple):
    """How a kind of request has its messages, its system text and its user, and an answer its text."""

    messages: str
    with_system: Callable[[Body, str], Body]
    user: Callable[[Body], Any]
    answer: Callable[[Any], str]
    delta: Callable[[Any], Any]


def field_of(value: Any, name: str) -> Any:
    """Return a field of a mapping or of an object, or None."""
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


def content_of(message: Any) -> str:
    """Return the text of a message."""
    return text_of(field_of(message, "content"))


def _joined(content: Any, text: str) -> Any:
    """A system text, or its parts, with another text behind it."""
    if isinstance(content, (list, tuple)):
        return [*content, {"type": "text", "text": text}]
    return f"{content}\n\n{text}" if isinstance(content, str) and content else text


def _chat_with(body: Body, text: str) -> Body:
    first, *rest = messages = [*body["messages"]]
    if isinstance(first, dict) and first.get("role") in ("system", "developer"):
        return {**body, "messages": [{**first, "content": _joined(first.get("content"), text)}, *rest]}
    return {**body, "messages": [{"role": "system", "content": text}, *messages]}


def _first_choice(result: Any, name: str) -> Any:
    choices = getattr(result, "choices", None)
    return getattr(getattr(choices[0], name, None), "content", None) if choices else None


def _event_text(event: Any) -> Any:
    return event.delta if getattr(event, "type", None) == "response.output_text.delta" else None


CHAT = ChatShape(
    "messages",
    _chat_with,
    lambda body: body.get("safety_identifier") or body.get("user"),
    lambda result: text_of(_first_choice(result, "message")),
    lambda event: _first_choice(event, "delta"),
)
RESPONSES = ChatShape(
    "input",
    lambda body, text: {**body, "instructions": _joined(body.get("instructions"), text)},
    CHAT.user,
    lambda result: getattr(result, "output_text", None) or "",
    _event_text,
)
MESSAGES = ChatShape(
    "messages",
    lambda body, text: {**body, "system": _joined(body.get("system"), text)},
    lambda body: field_of(body.get("metadata"), "user_id"),
    lambda result: text_of(getattr(result, "content", None)),
    lambda event: field_of(getattr(event, "delta", None), "text"),
)
