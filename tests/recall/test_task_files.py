"""The verb ``files``: paths with the memories that say so, and a text for an agent within a budget."""

from datetime import UTC, datetime

import pytest
from tests.rows import each_row

from priming import HashedEmbedder, Memory
from priming.core.pack import estimate_tokens
from priming.errors import ParamError

AT = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def memory():
    with Memory.open("sqlite://", embedder=HashedEmbedder(256)) as opened:
        opened.remember("Close idle connections", key="idle", files=["src/pool.py"], occurred_at=AT)
        opened.remember("Count connections", key="count", files=["src/pool.py", "src/stats.py"])
        opened.remember("Read the proxy", key="proxy", files=["src/proxy.py"])
        yield opened


def test_a_file_comes_with_the_memories_that_say_so_the_strongest_first(memory):
    answer = memory.files("close connections that are idle")
    file = answer.files[0]
    assert (file.path, file.key, file.named) == ("src/pool.py", "file:src/pool.py", False)
    assert [reason.key for reason in file.reasons] == ["idle", "count"]
    assert (file.reasons[0].gist, file.reasons[0].at) == ("Close idle connections", AT)
    assert sum(reason.share for reason in file.reasons) == pytest.approx(1.0)


def test_the_memories_of_a_file_are_limited(memory):
    assert len(memory.files("connections", reasons=1).files[0].reasons) == 1
    assert memory.files("connections", reasons=0).files[0].reasons == ()
    assert len(memory.files("connections", limit=1).files) == 1


def test_a_renamed_file_has_the_reasons_of_its_earlier_name(memory):
    memory.remember("Move it", key="move", files=["src/tunnel.py"])
    memory.link("file:src/proxy.py", "file:src/tunnel.py", "renamed-to", 0.95)
    memory.link("file:src/proxy.py", "move", "removed-in")
    (reason, *_) = memory.files("read the proxy").files[0].reasons
    assert reason.key == "proxy"


def test_a_file_that_changes_with_another_says_so(memory):
    memory.remember("Thank people", files=["AUTHORS"])
    memory.link("file:src/proxy.py", "file:AUTHORS", "co-changed", 0.9)
    (file,) = [file for file in memory.files("read the proxy", limit=50).files if file.path == "AUTHORS"]
    assert "changes with src/proxy.py" in [reason.gist for reason in file.reasons]


def test_the_text_is_quoted_data_and_keeps_to_its_budget(memory):
    whole = memory.files("connections")
    assert whole.text.startswith("Files that this task is likely to touch")
    assert '- src/pool.py: "C' in whole.text
    short = memory.files("connections", tokens=40)
    assert estimate_tokens(short.text) <= 40
    assert len(short.text) < len(whole.text)


def test_the_text_names_commits_as_git_does(memory):
    memory.remember("Count the retries", key="commit:0b1c2d3e4f5a", files=["src/retry.py"])
    assert '- src/retry.py: 0b1c2d3 "Count the retries"' in memory.files("count retries").text


def test_the_answer_can_be_judged(memory):
    answer = memory.files("connections")
    assert answer.recorded
    assert memory.feedback(answer.recall_id, not_relevant=["file:src/stats.py"]).kind == "feedback"


@each_row(
    ("arguments", "name"),
    [({"task": " "}, "task"), ({"task": "x", "limit": 0}, "limit"), ({"task": "x", "reasons": -1}, "reasons"),
     ({"task": "x", "tokens": -1}, "tokens")],
)  # fmt: skip
def test_a_wrong_argument_is_named(memory, arguments, name):
    with pytest.raises(ParamError, match=name):
        memory.files(**arguments)
