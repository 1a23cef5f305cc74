"""A memory for any program that chats: wrap the client of OpenAI or Anthropic, and go on as before.

What the last user message of a request recalls goes into its system message. Afterwards that message and the answer
are remembered, and memories from which the answer has words that the request lacks count as used. This happens where
the client sends a request, for plain calls, parsed answers and streams alike. An error of the memory is logged.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property, partial, wraps
from typing import Any, NamedTuple, TypeVar

from priming import Memory, PrimingError, Recall
from priming.namespace import DEFAULT_NAMESPACE
from priming.text.tokens import terms
from priming_adapters.common import Source, Users, message, remember, text_of

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


def content_of(turn: Any) -> str:
    """Return the text of a message."""
    return text_of(field_of(turn, "content"))


def _joined(content: Any, text: str) -> Any:
    """Return a system text, or its parts, with another text behind it."""
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


LOG = logging.getLogger(__name__)
Client = TypeVar("Client", bound=Any)
_TOKENS = 800
_LATEST = 50
"""The latest messages of a request that are not recalled as well."""


class ChatTurn(NamedTuple):
    """A request under way: whose it is, its texts, the last of its user, and what that recalled."""

    memory: Memory
    texts: list[str]
    prompt: str
    speaker: str
    recalled: Recall


def wrap_openai(client: Client, source: Source = None, **options: Any) -> Client:
    """Give a client of OpenAI, synchronous or not, a memory for chat completions and responses; return the client.

    Args:
        client: an ``OpenAI`` or ``AsyncOpenAI``; wrap the copies that ``with_options`` makes, too.
        source: an open memory, or the URL or path of a store. A request with a ``safety_identifier`` or ``user`` has
            the namespace of that name.
        options: ``session``, of what is remembered; ``tokens``, the budget of what is recalled, 800 by default;
            ``namespace``, for requests without a user.

    """
    return _wrapped(client, {"/chat/completions": CHAT, "/responses": RESPONSES}, source, **options)


def wrap_anthropic(client: Client, source: Source = None, **options: Any) -> Client:
    """Give a client of Anthropic a memory for messages, as ``wrap_openai`` does; the user is ``metadata.user_id``."""
    return _wrapped(client, {"/v1/messages": MESSAGES}, source, **options)


class _Wrapping:
    """What happens before and after the requests of a client."""

    def __init__(self, users: Users, session: str | None, tokens: int) -> None:
        self._users, self._session, self._tokens = users, session, tokens

    def before(self, shape: ChatShape, body: Body) -> tuple[Body, ChatTurn | None]:
        """Return the request with what it recalls."""
        with _warning("nothing is recalled"):
            if (turn := self._turn(shape, body)) is not None:
                return (shape.with_system(body, turn.recalled.text) if turn.recalled else body), turn
        return body, None

    def _turn(self, shape: ChatShape, body: Body) -> ChatTurn | None:
        messages = body.get(shape.messages)
        if isinstance(messages, str):
            messages = [{"role": "user", "content": messages}]
        if not isinstance(messages, (list, tuple)):
            return None
        asking = [each for each in messages if field_of(each, "role") == "user" and content_of(each).strip()]
        if not asking:
            return None
        texts, prompt = [*map(content_of, messages)], content_of(asking[-1])
        memory = self._users.of(shape.user(body) or None)
        filters = {"content": {"nin": texts[-_LATEST:]}}
        recalled = memory.recall(prompt, tokens=self._tokens, session=self._session, filters=filters)
        return ChatTurn(memory, texts, prompt, field_of(asking[-1], "name") or "user", recalled)

    def after(self, turn: ChatTurn | None, read: Callable[[], str]) -> None:
        """Remember both sides, and judge what was recalled; ``read`` returns the answer's text."""
        if turn is None:
            return
        memory, recalled, answer = turn.memory, turn.recalled, ""
        with _warning("an answer is not remembered"):
            answer = read()
        with _warning("a turn is not remembered"):
            both = message(turn.prompt, speaker=turn.speaker), message(answer, role="assistant")
            remember(memory, *({**each, "session": self._session} for each in both))
        with _warning("what was recalled is not judged"):
            new = {*terms(answer)}.difference(*map(terms, turn.texts))
            used = [hit for hit in recalled if new.intersection(terms(hit.content))]
            if used:
                memory.feedback(recall_id=recalled, used=used, tier="automatic")


@contextmanager
def _warning(what: str) -> Iterator[None]:
    """Log an error instead of raising it: a program gets its answer, whatever becomes of the memory."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - a store, an embedder or a client of any version may raise anything
        # Its message may hold what the user wrote.
        LOG.warning("%s: %s", what, error.code if isinstance(error, PrimingError) else type(error).__name__)


def _wrapped(
    client: Client,
    shapes: dict[str, ChatShape],
    source: Source,
    *,
    namespace: str = DEFAULT_NAMESPACE,
    session: str | None = None,
    tokens: int = _TOKENS,
) -> Client:
    wrapping = _Wrapping(Users(source, namespace=namespace), session, tokens)
    post = getattr(client.post, "__wrapped__", client.post)

    def shape_of(path: str, options: Body) -> ChatShape | None:
        return shapes.get(path.partition("?")[0]) if isinstance(options.get("body"), dict) else None

    @wraps(post)
    def send(path: str, **options: Any) -> Any:
        if (shape := shape_of(path, options)) is None:
            return post(path, **options)
        options["body"], turn = wrapping.before(shape, options["body"])
        result = post(path, **options)
        if hasattr(result, "_iterator"):
            result._iterator = _watched(result._iterator, shape, partial(wrapping.after, turn))
        else:
            wrapping.after(turn, partial(shape.answer, result))
        return result

    @wraps(post)
    async def send_later(path: str, **options: Any) -> Any:
        if (shape := shape_of(path, options)) is None:
            return await post(path, **options)
        options["body"], turn = await asyncio.to_thread(wrapping.before, shape, options["body"])
        result = await post(path, **options)
        if hasattr(result, "_iterator"):
            result._iterator = _watched_later(result._iterator, shape, partial(wrapping.after, turn))
        else:
            await asyncio.to_thread(wrapping.after, turn, partial(shape.answer, result))
        return result

    client.post = send_later if inspect.iscoroutinefunction(post) else send
    for name, value in vars(type(client)).items():
        if isinstance(value, cached_property):  # what it holds may have the former ``post``
            vars(client).pop(name, None)
    return client


def _watched(
    events: Iterator[Any], shape: ChatShape, after: Callable[[Callable[[], str]], None]
) -> Iterator[Any]:
    """Yield the events of a stream; once it has ended, what it said is passed on."""
    past = []
    for event in events:
        past.append(event)
        yield event
    after(partial(_whole, shape, past))


async def _watched_later(
    events: AsyncIterator[Any], shape: ChatShape, after: Callable[[Callable[[], str]], None]
) -> AsyncIterator[Any]:
    past = []
    async for event in events:
        past.append(event)
        yield event
    await asyncio.to_thread(after, partial(_whole, shape, past))


def _whole(shape: ChatShape, events: Iterable[Any]) -> str:
    return "".join(shape.delta(event) or "" for event in events)
