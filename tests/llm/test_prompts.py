"""The form of every prompt, and data in it that stays data."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from priming import ParamError
from priming.llm.protocol import fenced, prompt

SCHEMA = {"type": "object", "required": ["gist"]}
SLEEP = "priming.sleep"


def test_a_prompt_begins_with_its_phase_and_ends_with_the_schema():
    text = prompt(SLEEP, "gist", {"length": "400", "episodes": "…"}, SCHEMA)
    assert text.splitlines()[0] == "PRIMING-PHASE: gist"
    assert json.loads(text.splitlines()[-1]) == SCHEMA


def test_what_is_put_in_a_place_is_not_looked_through_for_places():
    text = prompt(SLEEP, "gist", {"length": "400", "episodes": "{{length}}"}, SCHEMA)
    assert "{{length}}" in text


@each_row("places", [{}, {"length": "400"}, {"length": "1", "episodes": "…", "more": "…"}])
def test_a_place_without_a_text_and_a_text_without_a_place_are_refused(places):
    with pytest.raises(ParamError, match=re.escape("must be those of gist.txt: episodes, length")):
        prompt(SLEEP, "gist", places, SCHEMA)


@given(st.text(alphabet="`a\n~", max_size=40))
def test_no_text_closes_its_own_fence(text):
    opening, *lines, closing = fenced(text).split("\n")
    assert "\n".join(lines) == text
    assert opening == f"{closing}text"
    assert set(closing) == {"`"}
    assert not any(closing in line for line in lines)
