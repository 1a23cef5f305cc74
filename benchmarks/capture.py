"""Measure capture on the ten recorded sessions: what is stored, in how many tokens, whether it is found, and leaks.

    python benchmarks/capture.py

Each recording goes through the hooks as its client would send it, into a store of its own folder.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

SESSIONS = Path(__file__).with_name("sessions")


def played(folder: Path) -> list[dict[str, Any]]:
    """Play all sessions in a folder; a row for each, with what was stored and whether its question finds it first."""
    from priming import Memory
    from priming.config.store_urls import url_of
    from priming.core.pack import estimate_tokens
    from priming_agents.command import respond

    expected = json.loads((SESSIONS / "expected.json").read_text("utf-8"))
    (folder / ".git").mkdir(parents=True)

    def hook(event: str, session: str, **more: object) -> str:
        payload = {"session_id": session, "cwd": str(folder), **more}
        return respond(event, json.dumps(payload).encode(), "claude-code", attended=True)

    starts = dict[str, str]()
    names = sorted(path.stem for path in SESSIONS.glob("*.json*") if path.stem != "expected")
    for name in names:
        (transcript,) = SESSIONS.glob(f"{name}.json*")
        starts[name] = hook("session-start", name, source="startup")
        hook("prompt", name, prompt="Good morning.", transcript_path=str(transcript))
        hook("stop", name, transcript_path=str(transcript))
        hook("session-end", name, transcript_path=str(transcript), reason="exit")
    rows = []
    database = folder / ".priming" / "memory.db"
    with closing(Memory.open(url_of(database))) as memory:
        stored = {record.session: record for record in memory.list()}
        everything = json.dumps([str(record) for record in memory.list()]) + "".join(starts.values())
        for name in names:
            record = stored.get(name)
            hits = memory.recall(expected["questions"][name]).hits
            text = record.content if record else ""
            row = {
                "session": name,
                "stored": record is not None,
                "tokens": estimate_tokens(text),
                "commit": expected["commits"].get(name, "") in text,
                "rank": next((i for i, hit in enumerate(hits, 1) if hit.memory.session == name), 0),
            }
            rows.append(row)
    for row in rows:
        row["secrets"] = [secret for secret in expected["secrets"] if secret in everything]
        row["client"] = [text for text in expected["of_client"] if text in everything]
    return rows


def main() -> None:
    """Print the rows and their sums."""
    with tempfile.TemporaryDirectory() as home:
        os.environ.update(
            PRIMING_HOME=f"{home}/priming", PRIMING_HOOKS_CAPTURE="on", PRIMING_HOOKS_SERVER="off"
        )
        rows = played(Path(home, "repository"))
    for row in rows:
        print(
            "{session:12} stored {stored!s:5} {tokens:4} tokens  commit {commit!s:5} rank {rank}".format(
                **row
            )
        )
    first = sum(row["rank"] == 1 for row in rows)
    print(f"{sum(row['stored'] for row in rows)} of {len(rows)} stored, {first} found first")
    print(
        f"secrets: {rows[0]['secrets'] or 'none'}; written by the client alone: {rows[0]['client'] or 'none'}"
    )
    sys.exit(not all(row["stored"] and row["rank"] == 1 for row in rows) or bool(rows[0]["secrets"]))


if __name__ == "__main__":
    main()
