"""The database of claude-mem, ``~/.claude-mem/claude-mem.db``: what was observed in sessions of coding agents.

``observations`` have ``title``, ``subtitle``, ``narrative`` and, as lists in JSON, ``facts``, ``concepts`` and files;
``session_summaries`` a column for each question; ``user_prompts`` what was asked, by the id of the agent's session,
which ``sdk_sessions`` tie to that of the memory; ``directives``, in later versions, are rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from priming.transfer.reading import label, parse_json, time_of, title
from priming_formats.stores.tables import Columns, StoredMemory, has_tables, rows, store_format, texts

_TABLES = ("sdk_sessions", "observations", "session_summaries", "user_prompts")
_QUESTIONS = ("request", "investigated", "learned", "completed", "next_steps", "notes")
_OBSERVED = "SELECT * FROM observations ORDER BY id"
_SUMMED_UP = "SELECT * FROM session_summaries ORDER BY id"
_SAID = """
    SELECT user_prompts.*, sdk_sessions.project, coalesce(memory_session_id, user_prompts.content_session_id)
    AS memory_session_id FROM user_prompts LEFT JOIN sdk_sessions USING (content_session_id) ORDER BY user_prompts.id
"""
_RULES = "SELECT * FROM directives WHERE status = 'active' ORDER BY id"


def _memories(path: Path, _only: str | None) -> Iterator[StoredMemory]:
    """Read what was asked, observed and summed up in a project, each an episode of its session, and the rules."""
    for name, query, own in (
        ("prompt", _SAID, _prompt),
        ("observation", _OBSERVED, _observation),
        ("summary", _SUMMED_UP, _summary),
        *([("directive", _RULES, _directive)] if has_tables(path, "directives") else ()),
    ):
        for row in rows(path, query, *_TABLES):
            yield [row.get("project")], f"{path}, {name} {row['id']}", partial(_arguments, own, name, row)


def _arguments(
    own: Callable[[Columns, str], dict[str, Any]], name: str, row: Columns, where: str
) -> dict[str, Any]:
    session = row.get("memory_session_id")
    about = {"project": row.get("project"), "type": row.get("type"), "subtitle": row.get("subtitle")}
    return {
        "trust": "agent",
        **own(row, where),
        "key": f"claude-mem:{name}:{row['id']}",
        "session": label(f"claude-mem:{session}") if session else None,
        "occurred_at": time_of(row.get("created_at_epoch"), f"{where}: created_at_epoch"),
        "metadata": {field: value for field, value in about.items() if value},
    }


def _prompt(row: Columns, _: str) -> dict[str, Any]:
    return {"content": str(row["prompt_text"]), "speaker": "user", "trust": "user"}


def _observation(row: Columns, where: str) -> dict[str, Any]:
    narrative = texts([row.get("narrative"), row.get("text")])[:1]
    facts = [f"- {fact}" for fact in _list(row, "facts", where)]
    heading = title(str(row.get("title") or ""))
    tags = [row.get("type"), *_list(row, "concepts", where)]
    return {
        "content": "\n".join([*narrative, *facts]) or heading or "",
        "heading": heading,
        "tags": [*dict.fromkeys(filter(None, map(title, texts(tags))))],
        "files": [*dict.fromkeys(_list(row, "files_read", where) + _list(row, "files_modified", where))],
    }


def _summary(row: Columns, _: str) -> dict[str, Any]:
    answers = [
        f"{name.replace('_', ' ').capitalize()}: {text}" for name in _QUESTIONS if (text := row.get(name))
    ]
    return {"content": "\n".join(answers), "heading": "Summary of a session"}


def _directive(row: Columns, _: str) -> dict[str, Any]:
    return {"content": str(row["content"]), "kind": "behavior", "trust": "user"}


def _list(row: Columns, name: str, where: str) -> list[str]:
    """Return the texts of a list in JSON."""
    value = row.get(name)
    items = parse_json(value, f"{where}: {name}") if isinstance(value, str) and value.strip() else ()
    return texts(items if isinstance(items, list) else ())


FORMAT = store_format(
    "claude-mem", "the database of claude-mem", _memories, lambda path: has_tables(path, *_TABLES)
)
