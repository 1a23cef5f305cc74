"""From what an agent said to a valid answer."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from priming import AgentError, ParamError
from priming.config.params.services import AgentParams
from priming.llm.protocol import parse_answer, problem_of, request_answer, with_problem

SCHEMA = {
    "type": "object",
    "properties": {"gist": {"type": "string", "minLength": 1, "maxLength": 20}},
    "required": ["gist"],
    "additionalProperties": False,
}
GOOD = {"gist": "Disks fill up."}
PROMPT = "PRIMING-PHASE: gist\n\nSay it.\n\nThe schema:\n{}\n"


@each_row(
    "reply",
    [
        '{"gist": "Disks fill up."}',
        'Here it is:\n```json\n{\n  "gist": "Disks fill up."\n}\n```\nAnything else?',
        '{"thought": 1} is wrong, so {"gist": "Disks fill up."} it is, not {"gist": "later"}',
        'a {brace} and {"gist": unquoted} before {"gist": "Disks fill up."}',
        '{"gist": NaN} {"gist": "Disks fill up."}',
        '{"gist": "\\ud800"} {"gist": "Disks fill up."}',
        '{"a":' * 5_000 + '{"gist": "Disks fill up."}',
    ],
)
def test_the_first_object_that_fits_is_the_answer_whatever_stands_about_it(reply):
    assert parse_answer(reply, SCHEMA) == GOOD


@each_row(
    ("reply", "problem"),
    [
        ("", "there is no JSON object in it"),
        ("I cannot do that.", "there is no JSON object in it"),
        ('["Disks fill up."]', "there is no JSON object in it"),
        ('{"gist": "Disks', "there is no JSON object in it"),
        ('{"gist": 5}', "$.gist: 5 is not of type 'string'"),
        ('{"gist": "' + "x" * 21 + '"}', "is too long (maxLength: 20)"),
        ("{}", "$: 'gist' is a required property"),
        ('{"gist": "\\ud800"}', "it has half a surrogate pair, which is not valid text"),
    ],
)
def test_of_what_does_not_fit_it_is_said_why(reply, problem):
    assert parse_answer(reply, SCHEMA).endswith(problem)


def test_an_object_within_another_is_no_answer():
    assert isinstance(parse_answer('{"result": {"gist": "Disks fill up."}}', SCHEMA), str)


@given(st.text(), st.text().filter(lambda item: "{" not in item), st.dictionaries(st.text(), st.integers()))
def test_any_object_is_found_behind_any_prose(before, after, value):
    prose = before.replace("{", "(")
    assert parse_answer(prose + json.dumps(value) + after, {}) == value


@each_row("value", [[], "gist", 5, None])
def test_an_answer_is_an_object(value):
    assert problem_of(value, {}).endswith("is not a JSON object")


def test_a_schema_that_is_none_is_refused():
    with pytest.raises(ParamError, match="must be a JSON Schema"):
        problem_of({}, {"type": "text"})


def test_a_malformed_answer_is_asked_for_again_with_what_was_wrong():
    questions, answers = [], iter(['{"gist": 5}', json.dumps(GOOD)])

    def ask(prompt):
        questions.append(prompt)
        return next(answers)

    assert request_answer(ask, PROMPT, SCHEMA, "the agent") == GOOD
    first, second = questions
    assert first == PROMPT
    assert "$.gist: 5 is not of type 'string'" in second


def test_a_repair_begins_and_ends_as_the_prompt_did():
    again = with_problem(PROMPT, "there is no JSON object in it")
    assert again.startswith("PRIMING-PHASE: gist\n\nYour last answer")
    assert again.endswith("\n\nSay it.\n\nThe schema:\n{}\n")


@each_row(("repairs", "times"), [(0, 1), (1, 2), (2, 3)])
def test_what_stays_malformed_is_an_error_that_says_what_was_said(repairs, times):
    questions = []

    def ask(prompt):
        questions.append(prompt)
        return "I would rather not."

    with pytest.raises(AgentError) as caught:
        request_answer(ask, PROMPT, SCHEMA, "the agent 'x'", AgentParams(repairs=repairs))
    assert len(questions) == times
    assert str(caught.value).startswith(
        f"the agent 'x' gave no valid answer, asked {times} times: there is no"
    )
    assert "it said 'I would rather not.'" in str(caught.value)


def test_what_is_wrong_is_told_shortly():
    with pytest.raises(AgentError) as caught:
        request_answer(
            lambda _: json.dumps({"gist": "x" * 100_000}), PROMPT, SCHEMA, "it", AgentParams(repeated=80)
        )
    assert len(str(caught.value)) < 500
    assert "is too long (maxLength: 20)" in str(caught.value)
