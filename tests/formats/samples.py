"""A small export in each format, as its program writes it, and the same exports with a message edited or broken.

``write(folder)`` writes a sample and returns its path; ``edit`` and ``spoil`` change the sample's text.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple


class Sample(NamedTuple):
    """An export: its files by their paths, the path to import, and what is changed in one of its files."""

    format: str
    files: dict[str, str]
    path: str
    memories: int
    edit: tuple[str, str, str]
    """A file, a text in it that somebody said, and what it says after an edit."""
    spoil: tuple[str, str, str]
    """A file, a part of an item in it, and what stands there when the item is broken."""

    def write(self, folder: Path, change: Callable[[str, str], str] = lambda _, text: text) -> Path:
        """Write the files below a folder, each text changed; the path to import."""
        for name, text in self.files.items():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(change(name, text), encoding="utf-8")
        return folder / self.path

    def replaced(self, folder: Path, change: tuple[str, str, str]) -> Path:
        """Write the files with one of the changes."""
        name, old, new = change
        assert old in self.files[name]
        return self.write(folder, lambda file, text: text.replace(old, new) if file == name else text)


def lines(*values):
    return "".join(json.dumps(value) + "\n" for value in values)


def node(own, parent, role, *parts, seconds=1_767_312_000, **more):
    """A node of a conversation of ChatGPT, with its message."""
    content = {"content_type": "text", "parts": list(parts)}
    message = {
        "id": own,
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": seconds,
        "content": content,
        "recipient": "all",
        "metadata": {},
        **more,
    }
    return own, {"id": own, "message": message, "parent": parent, "children": []}


def conversation(*nodes, last=None):
    """A conversation of ChatGPT of a tree of nodes."""
    mapping = {"root": {"id": "root", "message": None, "parent": None, "children": []}, **dict(nodes)}
    return {
        "title": "Porridge",
        "create_time": 1_767_312_000.5,
        "mapping": mapping,
        "current_node": last or nodes[-1][0],
        "conversation_id": "c-1",
        "id": "c-1",
    }


CHATGPT = Sample(
    "chatgpt",
    {
        "export/conversations.json": json.dumps(
            [
                conversation(
                    node("m-1", "root", "user", "How long does porridge take?", seconds=1_767_312_001.25),
                    node("m-2", "m-1", "assistant", "Ten minutes on a low flame."),
                )
            ]
        ),
        "export/user.json": '{"id": "user-1", "email": "ada@example.org"}',
        "export/message_feedback.json": "[]",
    },
    "export",
    2,
    ("export/conversations.json", "Ten minutes", "Twelve minutes"),
    ("export/conversations.json", '"id": "m-2", "author"', '"id": null, "author"'),
)
CLAUDE_AI = Sample(
    "claude-ai",
    {
        "conversations.json": json.dumps(
            [
                {
                    "uuid": "c-1",
                    "name": "Tomatoes",
                    "created_at": "2026-01-02T00:00:00.000000Z",
                    "chat_messages": [
                        {
                            "uuid": "m-1",
                            "text": "When do I sow tomatoes?",
                            "content": [{"type": "text", "text": "When do I sow tomatoes?"}],
                            "sender": "human",
                            "created_at": "2026-01-02T00:00:00.000000Z",
                            "attachments": [{"file_name": "garden.pdf", "extracted_content": "beds"}],
                            "files": [],
                        },
                        {
                            "uuid": "m-2",
                            "text": "In March, indoors.",
                            "content": [],
                            "sender": "assistant",
                            "created_at": "2026-01-02T00:00:09.000000Z",
                            "attachments": [],
                            "files": [],
                        },
                    ],
                }
            ]
        )
    },
    "conversations.json",
    2,
    ("conversations.json", "In March, indoors.", "In late February, indoors."),
    ("conversations.json", '"sender": "assistant"', '"sender": 7'),
)


def codex_line(kind, at="2026-01-02T08:00:00.000Z", /, **payload):
    return {"timestamp": at, "type": kind, "payload": payload}


def item(role, *texts):
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text} for text in texts]}


CODEX = Sample(
    "codex",
    {
        "2026/01/02/rollout-2026-01-02T08-00-00-0199.jsonl": lines(
            codex_line(
                "session_meta",
                id="0199",
                cwd="/home/ada/shop",
                originator="codex_cli_rs",
                source="cli",
                git={"branch": "main"},
            ),
            codex_line(
                "response_item",
                **item("developer", "<permissions instructions>none</permissions instructions>"),
            ),
            codex_line(
                "response_item",
                **item(
                    "user",
                    "# AGENTS.md instructions for /home/ada/shop\n\n<INSTRUCTIONS>\nUse tabs.\n</INSTRUCTIONS>",
                    "<environment_context>\n  <cwd>/home/ada/shop</cwd>\n</environment_context>",
                ),
            ),
            codex_line(
                "response_item", "2026-01-02T08:00:01.000Z", **item("user", "Why does the sign-in test fail?")
            ),
            codex_line(
                "event_msg",
                "2026-01-02T08:00:01.001Z",
                type="user_message",
                message="Why does the sign-in test fail?",
                kind="plain",
            ),
            codex_line("turn_context", model="gpt-5-codex", cwd="/home/ada/shop"),
            codex_line("response_item", type="reasoning", summary=[], encrypted_content="x"),
            codex_line(
                "response_item",
                "2026-01-02T08:00:02.000Z",
                type="function_call",
                name="shell",
                arguments='{"command": ["bash", "-lc", "pytest"], "workdir": "/home/ada/shop"}',
                call_id="call-1",
            ),
            codex_line("response_item", type="function_call_output", call_id="call-1", output="1 failed"),
            codex_line(
                "event_msg", "2026-01-02T08:00:03.000Z", type="agent_message", message="The clock is wrong."
            ),
            codex_line(
                "response_item", "2026-01-02T08:00:03.000Z", **item("assistant", "The clock is wrong.")
            ),
            codex_line("event_msg", type="token_count", info=None),
        )
    },
    "2026",
    3,
    ("2026/01/02/rollout-2026-01-02T08-00-00-0199.jsonl", "sign-in test fail", "sign-out test fail"),
    (
        "2026/01/02/rollout-2026-01-02T08-00-00-0199.jsonl",
        '"2026-01-02T08:00:02.000Z", "type"',
        '"2026-01-02T08:00:02.000Z", type',
    ),
)


def turn(own, kind, content, **more):
    return {"id": own, "timestamp": "2026-01-02T08:00:00.000Z", "type": kind, "content": content, **more}


GEMINI_SESSION = {"sessionId": "s-1", "projectHash": "79b6", "startTime": "2026-01-02T08:00:00.000Z"}
GEMINI = Sample(
    "gemini",
    {
        "79b6/chats/session-2026-01-02T08-00-s1.json": json.dumps(
            {
                **GEMINI_SESSION,
                "messages": [
                    turn("m-1", "user", "Which port does the shop use?"),
                    turn("m-2", "info", "Update available"),
                    turn(
                        "m-3",
                        "gemini",
                        "Port 8080.",
                        toolCalls=[{"id": "t", "name": "read_file", "args": {"file_path": "shop.toml"}}],
                        thoughts=[{"subject": "Reading"}],
                    ),
                ],
            }
        ),
        "79b6/logs.json": json.dumps(
            [
                {
                    "sessionId": "s-1",
                    "messageId": 0,
                    "type": "user",
                    "message": "Which port does the shop use?",
                    "timestamp": "2026-01-02T08:00:00.000Z",
                }
            ]
        ),
    },
    "79b6",
    2,
    ("79b6/chats/session-2026-01-02T08-00-s1.json", "Port 8080.", "Port 9090."),
    ("79b6/chats/session-2026-01-02T08-00-s1.json", '"id": "m-3"', '"id": 3'),
)
GEMINI_CHECKPOINT = Sample(
    "gemini",
    {
        "79b6/checkpoint-ports.json": json.dumps(
            {
                "history": [
                    {"role": "user", "parts": [{"text": "<session_context>\nLinux\n</session_context>"}]},
                    {"role": "user", "parts": [{"text": "List the ports."}]},
                    {"role": "model", "parts": [{"text": "One port."}]},
                ]
            }
        )
    },
    "79b6/checkpoint-ports.json",
    2,
    ("79b6/checkpoint-ports.json", "One port.", "Two ports."),
    ("79b6/checkpoint-ports.json", '"role": "model"', '"role": 7'),
)
SLACK = Sample(
    "slack",
    {
        "team/users.json": json.dumps(
            [
                {"id": "U1", "name": "ada", "profile": {"display_name": "Ada", "real_name": "Ada Byron"}},
                {"id": "U2", "name": "bo", "real_name": "Bo Lind", "profile": {"display_name": ""}},
            ]
        ),
        "team/channels.json": json.dumps([{"id": "C1", "name": "kitchen", "members": ["U1", "U2"]}]),
        "team/kitchen/2026-01-02.json": json.dumps(
            [
                {
                    "type": "message",
                    "subtype": "channel_join",
                    "ts": "1767340799.000100",
                    "user": "U1",
                    "text": "<@U1> has joined",
                },
                {
                    "type": "message",
                    "ts": "1767340800.000100",
                    "user": "U1",
                    "text": "Who has the key, <@U2>?",
                    "client_msg_id": "x",
                },
                {
                    "type": "message",
                    "ts": "1767340860.000200",
                    "user": "U2",
                    "text": "It hangs by the door.",
                    "thread_ts": "1767340800.000100",
                },
                {
                    "type": "message",
                    "subtype": "bot_message",
                    "ts": "1767340900.000100",
                    "bot_id": "B1",
                    "text": "Deployed",
                },
            ]
        ),
    },
    "team",
    2,
    ("team/kitchen/2026-01-02.json", "by the door", "in the hall"),
    ("team/kitchen/2026-01-02.json", '"ts": "1767340860.000200"', '"ts": "soon"'),
)
TELEGRAM = Sample(
    "telegram",
    {
        "ChatExport/result.json": json.dumps(
            {
                "name": "Bo",
                "type": "personal_chat",
                "id": 4242,
                "messages": [
                    {
                        "id": 1,
                        "type": "service",
                        "date": "2026-01-02T09:00:00",
                        "date_unixtime": "1767344400",
                        "actor": "Bo",
                        "action": "phone_call",
                        "text": "",
                    },
                    {
                        "id": 2,
                        "type": "message",
                        "date": "2026-01-02T09:01:00",
                        "date_unixtime": "1767344460",
                        "from": "Bo",
                        "from_id": "user2",
                        "text": "The train leaves at nine.",
                    },
                    {
                        "id": 3,
                        "type": "message",
                        "date": "2026-01-02T09:02:00",
                        "date_unixtime": "1767344520",
                        "from": "Ada",
                        "from_id": "user1",
                        "reply_to_message_id": 2,
                        "text": ["See ", {"type": "link", "text": "https://trains.example"}, " too."],
                    },
                ],
            }
        )
    },
    "ChatExport/result.json",
    2,
    ("ChatExport/result.json", "at nine", "at ten"),
    ("ChatExport/result.json", '"date_unixtime": "1767344520"', '"date_unixtime": "soon"'),
)


def discord_message(own, text, name="Ada", **more):
    return {
        "id": own,
        "type": "Default",
        "timestamp": "2026-01-02T10:00:00.5+01:00",
        "timestampEdited": None,
        "content": text,
        "author": {
            "id": name,
            "name": name.lower(),
            "discriminator": "0000",
            "nickname": name,
            "isBot": False,
        },
        **more,
    }


DISCORD = Sample(
    "discord",
    {
        "Club - general.json": json.dumps(
            {
                "guild": {"id": "1", "name": "Chess club", "iconUrl": ""},
                "channel": {
                    "id": "77",
                    "type": "GuildTextChat",
                    "category": "Text",
                    "name": "general",
                    "topic": None,
                },
                "dateRange": {"after": None, "before": None},
                "messages": [
                    discord_message("900", "Joined the server.", type="GuildMemberJoin"),
                    discord_message("901", "We play on Tuesday."),
                    discord_message(
                        "902", "I bring the clocks.", "Bo", type="Reply", reference={"messageId": "901"}
                    ),
                ],
                "messageCount": 3,
            }
        )
    },
    "Club - general.json",
    2,
    ("Club - general.json", "on Tuesday", "on Thursday"),
    ("Club - general.json", '"id": "902"', '"id": 902'),
)
DISCORD_PACKAGE = Sample(
    "discord",
    {
        "package/Account/user.json": '{"id": "5", "username": "ada", "global_name": "Ada"}',
        "package/Messages/index.json": '{"77": "general in Chess club"}',
        "package/Messages/c77/channel.json": json.dumps(
            {"id": "77", "type": 0, "name": "general", "guild": {"id": "1", "name": "Chess club"}}
        ),
        "package/Messages/c77/messages.json": json.dumps(
            [
                {
                    "ID": 902,
                    "Timestamp": "2026-01-02 10:05:00",
                    "Contents": "We open with the clocks.",
                    "Attachments": "",
                },
                {
                    "ID": 901,
                    "Timestamp": "2026-01-02 10:00:00",
                    "Contents": "We play on Tuesday.",
                    "Attachments": "",
                },
            ]
        ),
    },
    "package",
    2,
    ("package/Messages/c77/messages.json", "on Tuesday", "on Thursday"),
    ("package/Messages/c77/messages.json", '"Timestamp": "2026-01-02 10:05:00"', '"Timestamp": "soon"'),
)
WHATSAPP = Sample(
    "whatsapp",
    {
        "WhatsApp Chat with Bo.txt": (
            "13/03/2026, 14:04 - Messages and calls are end-to-end encrypted.\n"
            "13/03/2026, 14:05 - Bo: The boiler is mended.\n"
            "13/03/2026, 14:06 - Ada: Good.\nWho mended it?\n"
            "13/03/2026, 14:07 - Bo: <Media omitted>\n"
        )
    },
    "WhatsApp Chat with Bo.txt",
    2,
    ("WhatsApp Chat with Bo.txt", "is mended", "is mended again"),
    ("WhatsApp Chat with Bo.txt", "13/03/2026, 14:06", "33/03/2026, 14:06"),
)
SERVER_MEMORY = Sample(
    "server-memory",
    {
        "memory.jsonl": lines(
            {
                "type": "entity",
                "name": "Ada Byron",
                "entityType": "person",
                "observations": ["Speaks Danish", "Rises early"],
            },
            {"type": "entity", "name": "Kestrel", "entityType": "program", "observations": []},
            {"type": "relation", "from": "Ada Byron", "to": "Kestrel", "relationType": "maintains"},
        )
    },
    "memory.jsonl",
    4,
    ("memory.jsonl", "Speaks Danish", "Speaks Danish and Dutch"),
    ("memory.jsonl", '"Rises early"', "7"),
)
SAMPLES = (
    *(CHATGPT, CLAUDE_AI, CODEX, GEMINI, GEMINI_CHECKPOINT, SLACK, TELEGRAM),
    *(DISCORD, DISCORD_PACKAGE, WHATSAPP, SERVER_MEMORY),
)
