"""Requests: what callers send becomes arguments, or one error that says all."""

from datetime import UTC, datetime

import pytest
from tests.rows import each_row

from priming.errors import ParamError
from priming.operations import schema as wire
from priming.types import Cue
from priming.verbs.rows import BY_NAME, SERVED

RECALL, REMEMBER = BY_NAME["recall"], BY_NAME["remember"]


@each_row("op", SERVED)
def test_every_operation_has_a_schema_of_what_it_takes_and_answers(op):
    request = wire.request_schema(op)
    assert request["type"] == "object"
    assert request["additionalProperties"] is False
    assert wire.answer_schema(op.name)
    assert op.declared.summary


@each_row("sent", [["a", "b"], "a, b", '["a", "b"]'])
def test_a_list_may_be_an_array_words_between_commas_or_json_text(sent):
    assert wire.arguments(REMEMBER, {"content": "x", "tags": sent})["tags"] == ["a", "b"]


@pytest.mark.parametrize("sent", [{"a": 1}, '{"a": 1}'])
def test_an_object_may_be_json_text(sent):
    assert wire.arguments(REMEMBER, {"content": "x", "metadata": sent})["metadata"] == {"a": 1}


def test_null_means_not_given():
    assert wire.arguments(REMEMBER, {"content": "x", "importance": None, "kind": None}) == {"content": "x"}


def test_null_is_handed_on_where_it_means_something():
    assert wire.arguments(BY_NAME["list"], {"status": None}) == {"status": None}


def test_a_cue_is_an_object_with_any_other_predicate():
    query = wire.arguments(RECALL, {"cue": {"file": "a.go", "branch": "main", "at": "2026-03-01T09:00:00Z"}})
    assert query["cue"] == Cue(file="a.go", branch="main", at=datetime(2026, 3, 1, 9, tzinfo=UTC))


def test_items_are_requests_themselves():
    items = [{"content": "a", "tags": "x,y"}, {"content": "b", "importance": None}]
    assert wire.arguments(BY_NAME["remember_many"], {"items": items}) == {
        "items": [{"content": "a", "tags": ["x", "y"]}, {"content": "b"}]
    }


def test_all_that_is_wrong_is_said_at_once():
    with pytest.raises(ParamError) as caught:
        wire.arguments(RECALL, {"text": 3, "limit": "many", "topic": 1, "valid_at": "2026-03-01T09:00:00"})
    message = str(caught.value)
    assert len(caught.value.violations) == 4
    assert "text = 3: must be a text" in message
    assert "limit = 'many': must be a valid integer" in message
    assert "valid_at = '2026-03-01T09:00:00': must carry a time zone" in message
    assert "topic = 1: is not an argument: recall takes text, cue, " in message


@each_row("sent", [1756000000, 1756000000.5, True])
def test_a_number_is_no_time(sent):
    with pytest.raises(ParamError, match=r"occurred_at.*ISO 8601"):
        wire.arguments(REMEMBER, {"content": "x", "occurred_at": sent})


@each_row("sent", [None, [], "text", 3])
def test_a_request_is_an_object(sent):
    with pytest.raises(ParamError, match=r"request.*object of arguments"):
        wire.arguments(RECALL, sent)


def test_what_is_needed_and_missing_is_named():
    with pytest.raises(ParamError, match="content = None: must be given: what to remember"):
        wire.arguments(REMEMBER, {})


def test_other_names_do_only_where_asked_for():
    assert wire.arguments(RECALL, {"query": "x", "top_k": 3}, forgiving=True) == {"text": "x", "limit": 3}
    with pytest.raises(ParamError, match="query"):
        wire.arguments(RECALL, {"query": "x"})


def test_two_names_of_one_argument_must_have_one_value():
    for sent in (
        {"text": "own", "query": "own"},
        {"text": "own", "query": None},
        {"text": None, "query": "own"},
    ):
        assert wire.arguments(RECALL, sent, forgiving=True) == {"text": "own"}
    with pytest.raises(ParamError, match="query = 'other': contradicts text = 'own', which is the same"):
        wire.arguments(RECALL, {"query": "other", "text": "own"}, forgiving=True)


def test_parts_of_a_cue_may_stand_beside_it():
    query = wire.arguments(BY_NAME["active"], {"file": "a.go", "cue": {"task": "test"}}, forgiving=True)
    assert query == {"cue": Cue(file="a.go", task="test")}


def test_a_part_of_a_cue_that_is_an_argument_itself_stays_one():
    query = wire.arguments(
        BY_NAME["learn"], {"right": "x", "source": "review", "file": "a.go"}, forgiving=True
    )
    assert query == {"right": "x", "source": "review", "cue": Cue(file="a.go")}


def test_of_many_violations_fifty_are_told_with_their_places():
    items = [{"content": "x"}] * 1_500 + [{}] * 3_000 + [{"content": 4}]
    with pytest.raises(ParamError) as caught:
        wire.arguments(BY_NAME["remember_many"], {"items": items})
    assert caught.value.violations[0].startswith("items.1500.content")
    assert caught.value.violations[-1] == "… and 2,951 more"
    assert len(str(caught.value)) < 5_000


def test_a_long_list_is_read_whole():
    items = [{"content": f"note {n}", "tags": "a, b"} for n in range(2_345)]
    parsed = wire.arguments(BY_NAME["remember_many"], {"items": items})["items"]
    assert [item["content"] for item in parsed] == [item["content"] for item in items]
    assert parsed[-1]["tags"] == ["a", "b"]


@pytest.mark.parametrize(
    "request_", [{f"k{n}": 1 for n in range(100_000)}, {"items": [{f"k{n}": 1 for n in range(100_000)}]}]
)
def test_an_object_with_more_members_than_any_has_is_one_violation(request_):
    with pytest.raises(ParamError, match="has 100,000 members, at most 100") as caught:
        wire.arguments(BY_NAME["remember_many"], request_)
    assert len(caught.value.violations) == 1


def test_a_text_where_an_object_belongs_is_refused_with_an_example_of_one():
    with pytest.raises(ParamError, match=r'cue = .* must be an object, in a cue for instance \{"text"'):
        wire.arguments(RECALL, {"cue": "harbour boats"})
    with pytest.raises(ParamError, match=r"items\.0 = 'a note': must be an object"):
        wire.arguments(BY_NAME["remember_many"], {"items": ["a note"]})
    with pytest.raises(ParamError, match=r"metadata = 'red': must be an object$"):
        wire.arguments(REMEMBER, {"content": "x", "metadata": "red"})


def test_a_long_list_where_a_text_belongs_is_refused_like_a_short_one():
    with pytest.raises(ParamError, match=r"content = .* must be a text"):
        wire.arguments(REMEMBER, {"content": ["{}"] * 60_000})
    with pytest.raises(ParamError, match="is not an argument"):
        wire.arguments(REMEMBER, {"content": "x", "contents": ["{}"] * 60_000})


def test_what_a_strict_client_leaves_blank_is_absent_and_what_must_be_given_is_refused():
    sent = {"text": "x", "session": "", "filters": {}, "valid_at": "", "file": "", "limit": ""}
    assert wire.arguments(RECALL, sent, forgiving=True) == {"text": "x", "filters": {}}
    assert wire.arguments(REMEMBER, {"content": ""}, forgiving=True) == {"content": ""}
    with pytest.raises(ParamError, match="valid_at"):
        wire.arguments(RECALL, {"text": "x", "valid_at": ""})
