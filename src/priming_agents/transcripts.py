"""What a session was about, from the file in which its client keeps it: JSON Lines of messages, or one JSON of them.

What the client wrote in the name of its user, such as the output of a command, is nobody's saying.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import Any

from priming.config import private_files
from priming.config.values import dataclass
from priming_agents import agents
from priming_agents.calls import INPUT

_ASKING = ("user", "human", "user_message")
_ANSWERING = ("assistant", "gemini", "model", "agent_message")
_CALLS = ("tool_use", "function_call", "custom_tool_call", "local_shell_call")
_HIDDEN = ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly")
_OF_CLIENT = re.compile(
    r"<([a-z]+(?:[-_][a-z]+)+)\b[^>]{0,200}>.*?(?:</\1>|\Z)|^\[[A-Z][^\]\n]{0,200}\]$|\A/[\w:-]+\Z",
    re.DOTALL | re.MULTILINE,
)
"""A block in a tag whose name has several words, a line in brackets, and a command without arguments."""
COMMITTED = re.compile(r"^\[[^\]\n]{1,200} ([0-9a-f]{7,40})\] (.{1,200})", re.MULTILINE)
"""What git prints of a commit."""


@dataclass(slots=True)
class Recording:
    """What was asked, what was answered last, which files were changed, and the commits: hash and subject."""

    requests: list[str] = field(default_factory=list)
    answered: str = ""
    changed: list[str] = field(default_factory=list)
    commits: list[str] = field(default_factory=list)


def typed(text: str) -> str:
    """Return what a person said in a prompt, without what only the client wrote.

    >>> typed("<command-name>/clear</command-name>"), typed("[Request interrupted by user]"), typed("Use <b>b</b>.")
    ('', '', 'Use <b>b</b>.')
    """
    return _OF_CLIENT.sub("", text).strip()


def read(path: Path) -> Recording:
    """Read the end of a transcript; what is no message is left out, and what cannot be read is empty."""
    recording = Recording()
    with suppress(OSError):
        with private_files.open_file(path) as file:
            file.seek(max(file.seek(0, 2) - INPUT, 0))
            data = file.read().decode("utf-8", "replace")
        for value in _values(data):
            for message in _messages(value):
                _take(message, recording)
    return recording


def _values(data: str) -> Iterator[Any]:
    for line in data.splitlines():
        with suppress(ValueError, RecursionError):
            if isinstance(value := json.loads(line), dict):
                yield value
    with suppress(ValueError, RecursionError):
        yield json.loads(data) if "\n" in data.strip() else None


def _messages(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the messages of a line, or of a whole conversation."""
    if isinstance(value, list):
        for item in value:
            yield from _messages(item)
    elif isinstance(value, dict) and not any(value.get(name) for name in _HIDDEN):
        if isinstance(value.get("messages"), list):
            yield from _messages(value["messages"])
        elif isinstance(inner := value.get("message", value.get("payload")), dict):
            yield {"role": value.get("type"), **inner}
        else:
            yield value


def _take(message: Mapping[str, Any], recording: Recording) -> None:
    """Add what a message tells to a recording."""
    content = message.get("content", message.get("text", message.get("message")))
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    calls = message.get("toolCalls") or message.get("tool_calls") or ()
    for part in (message, *parts, *(calls if isinstance(calls, list) else ())):
        if isinstance(part, dict):
            _take_tool(part, recording)
    role = message.get("role") if message.get("role") in (*_ASKING, *_ANSWERING) else message.get("type")
    texts = [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]
    text = "\n".join(texts).strip()
    if role in _ASKING and (prompt := typed(text)) and recording.requests[-1:] != [prompt]:
        recording.requests.append(prompt)
    elif role in _ANSWERING and text:
        recording.answered = text


def _take_tool(part: Mapping[str, Any], recording: Recording) -> None:
    """Add the files that a call of a tool changes, and the commits that the output of one reports."""
    sent = next((part[name] for name in ("input", "arguments", "args") if part.get(name)), None)
    if sent is not None and (part.get("type") in _CALLS or part.get("name")):
        recording.changed += agents.changed_files(sent)
    output = part.get("output", part.get("result", part.get("content") if "tool_use_id" in part else None))
    recording.commits += [" ".join(commit) for commit in COMMITTED.findall(agents.plain_text(output))]
