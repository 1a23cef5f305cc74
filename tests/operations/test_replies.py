"""Replies to agents: short, with what moved and the operation that undoes it."""

import json
from contextlib import closing
from datetime import UTC, datetime

import pytest

from priming import HashedEmbedder
from priming.operations import replies
from priming.operations.service import LocalService
from priming.serialization import encode
from priming.types import LeftAlone, Proposal, ProposedItem
from priming.verbs.rows import BY_NAME, SERVED


@pytest.fixture
def call(url):
    with closing(LocalService(url, embedder=HashedEmbedder())) as service:
        yield lambda name, **request: service.call("default", name, request)


def reply(call, name, logged=True, **request):
    answer = call(name, **request)
    operation = call("log", limit=1)[0] if logged else None
    return replies.short(BY_NAME[name], answer, operation)


def test_a_duplicate_says_that_nothing_was_stored_and_names_no_operation(call):
    call("remember", content="Ada wrote it.", key="ada")
    fields, text = reply(call, "remember", logged=False, content="Ada wrote it.", key="ada")
    assert text == "ada: the same text is stored already: nothing was stored"
    assert "operation" not in fields


def test_a_learned_rule_is_read_back_with_its_conditions(call):
    _, text = reply(call, "learn", right="Always use tabs", cue={"language": "go"})
    first = text.splitlines()[0]
    assert "Always use tabs" in first
    assert '{"language":"go"}' in first
    assert "confidence 0.60" in first


@pytest.mark.parametrize("name", ["forget", "supersede", "deprecate", "undo", "link", "set_strength"])
def test_every_reply_ends_with_the_operation_and_fits_in_a_few_lines(call, name):
    call("remember", content="Ada wrote it.", key="ada")
    call("remember", content="Bob read it.", key="bob")
    call("link", source="ada", target="bob")
    requests = {
        "supersede": {"key": "ada", "content": "Ada printed it."},
        "undo": {"operation_id": call("log", limit=1)[0]["id"]},
        "link": {"source": "bob", "target": "ada"},
        "set_strength": {"source": "ada", "target": "bob", "weight": 0.7},
    }
    fields, text = reply(call, name, **requests.get(name, {"key": "ada"}))
    assert text.splitlines()[-1] == f"operation: {call('log', limit=1)[0]['id']}"
    assert len(text.splitlines()) <= 5
    assert len(text.splitlines()) > 1
    assert len(json.dumps(fields)) < 400
    assert "changes" not in fields


def test_a_list_of_operations_has_their_lines_and_not_their_rows(call):
    call("remember", content="Ada wrote it.", key="ada")
    call("forget", key="ada")
    (forgotten, stored) = replies.without_rows(BY_NAME["log"], call("log"))
    assert (forgotten["changes"], stored["changes"]) == ([], [])
    assert forgotten["message"] == "ada: status active → forgotten"
    assert "ada: new" in stored["message"]


def test_the_whole_operation_is_there_for_who_names_it(call):
    call("remember", content="Ada wrote it.", key="ada")
    operation = call("operation", operation_id=call("log")[0]["id"])
    assert replies.without_rows(BY_NAME["operation"], operation)["changes"]


def test_only_answers_of_writing_operations_are_shortened():
    assert all(op.writes for op in SERVED if replies.is_short(op))
    assert not replies.is_short(BY_NAME["recall"])


def test_the_reply_to_a_long_night_is_bounded_and_counts_the_rest():
    keys = tuple(f"memory-{n}" for n in range(40))
    items = [
        ProposedItem(str(n), "light", "mark", keys, "memory-0", "the same text " * 40, {"copies": [*keys]})
        for n in range(300)
    ]
    alone = [LeftAlone(keys, "other versions", ("3.11", "3.12"), "link") for _ in range(90)]
    at = datetime(2026, 3, 1, tzinfo=UTC)
    night = Proposal("night", at, "default", ("light",), tuple(items), left_alone=tuple(alone))
    answer = replies.without_rows(BY_NAME["sleep"], encode(night))
    text = replies.shown(BY_NAME["sleep"], answer)
    assert len(json.dumps(answer)) < 20_000
    assert len(text) < 8_000
    assert answer["omitted"] == {"items": 280, "left_alone": 70}
    assert text.startswith("light: would change 300 things\n- light: mark memory-0, ")
    assert text.endswith(
        "and 280 more\nsimilar, but left alone: 90\nproposal: night, to be carried out by apply"
    )


def test_the_reply_to_a_night_without_changes_says_so(call):
    call("remember", content="Ada wrote it.", key="ada")
    answer = replies.without_rows(BY_NAME["sleep"], call("sleep"))
    assert replies.shown(BY_NAME["sleep"], answer).endswith(": changed 0 things")
