"""What a small team's store holds after some weeks: something for each list of the page."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from priming import Cue, FixedClock, HashedEmbedder, Memory

STORY = Path(__file__).parents[4] / "demo" / "story" / "documents.jsonl"
HOSTILE = (
    "<script>document.title='owned'</script><img src=x onerror=alert(1)> \u202eabc\u202c \x07\x1b[31m red"
)
LONG = "A line of a very long log. " * 38_000
"""Of about a megabyte."""
COMMIT = Cue(task="commit")


def fill(url, folder, now=None):
    """Fill a store, beginning sixty days ago; tasks of the loop have their gates in a folder."""
    clock = FixedClock((now or datetime.now(UTC)) - timedelta(days=60))
    memory = Memory.open(url, embedder=HashedEmbedder(), clock=clock)
    notes = [json.loads(line) for line in STORY.read_text("utf-8").splitlines()]
    memory.remember_many(
        {"key": each["id"], "content": each["text"], "speaker": each["speaker"], "source": "notes"}
        | {"occurred_at": datetime.fromisoformat(each["time"]), "files": each.get("files", [])}
        for each in notes
    )
    memory.remember("Rotate the signing key before every release.", key="sign", kind="fact", importance=0.95)
    clock.at += timedelta(days=40)
    memory.remember(HOSTILE, key="hostile", session="<b>mail</b>", source="mail", metadata={"a": HOSTILE})
    memory.remember(LONG, key="long", session="logs")
    memory.remember("The port of Kestrel is 8080.", kind="fact", key="old-port")
    memory.remember("Kestrel's port is 9090.", kind="fact", key="new-port")
    memory.remember("Kestrel runs on Kubernetes, or K8s.", key="where")
    memory.remember("K8s was upgraded.", key="upgraded")
    for day in ("monday", "tuesday"):
        memory.remember("The disk of Kestrel is full.", session=day, key=f"full-{day}")
    _rules(memory, clock)
    _sessions(memory, clock)
    _loop(memory, folder)
    memory.forget("upgraded", reason="nobody asks")
    memory.close()


def _rules(memory, clock):
    memory.learn("Never push to main on a Friday.", cue=COMMIT)
    memory.learn("Use uv instead of pip.", cue=Cue(language="python"))
    rule = memory.learn("Write every commit message in the imperative, however small it is.", cue=COMMIT).key
    for verdict in ("confirmed", *["overridden"] * 4):
        clock.at += timedelta(hours=5)
        answer = memory.active(COMMIT, session=f"s{clock.at.timestamp():.0f}")
        memory.feedback(answer.recall_id, **{verdict: [rule]})


def _sessions(memory, clock):
    requests = ["Why does the passenger list arrive late?", "Then mend it, please.", HOSTILE]
    for day in range(3):
        clock.at += timedelta(days=1)
        parts = {
            "asked": requests[day:] or requests,
            "answered": "The job waited for worker-2, which had no disk left; manifest.py now tries the next.",
            "changed": ["manifest.py", "jobs/queue.py", "tests/test_manifest.py", "docs/jobs.md"][day:],
            "commits": [f"{day}a1b2c3 Try the next worker when one is full"],
        }
        date = clock.at.date().isoformat()
        memory.remember(
            f"Asked: {parts['asked'][0]}\nAnswered: {parts['answered']}",
            key=f"session-{date}-{day}abc12",
            heading=f"Session of {date}",
            tags=["session"],
            session=f"conversation-{day}",
            source="capture",
            trust="agent",
            occurred_at=clock.at,
            metadata={"captured": parts},
            files=parts["changed"],
        )


def _loop(memory, folder):
    objective = "Release version 2.2 of the ferry's timetable"
    session = memory.loop_task_new_session(objective, folder=str(folder)).session_id
    memory.loop_task_add(session, 1, "Write the notes of the release", verify="test -d .")
    memory.loop_task_complete(session, 1, "The notes name all five changes.")
    memory.loop_task_add(session, 2, "Push the tag", verify="test -e pushed")
    memory.loop_task_complete(session, 2, "The tag is pushed.")
    memory.loop_task_block(session, 2, "The registry answered 403.")
