"""What the index reads out of a memory's text."""

from datetime import UTC, datetime

import numpy as np
import pytest
from tests.rows import each_row

from priming import Memory
from priming.index.document import describe, embedded_text, is_rare_word, slot_of, slot_of_title
from priming.types import MemoryRecord

AT = datetime(2024, 5, 17, 9, 30, tzinfo=UTC)


def record(**more):
    return MemoryRecord(
        **{
            "id": "1",
            "namespace": "default",
            "key": "a",
            "kind": "fact",
            "content": "All.",
            "gist": "All.",
            **more,
        }
    )


def described(embedder, **more):
    (document,) = describe([record(**more)], [None], embedder)
    return document


def test_a_text_is_read_into_terms_tokens_and_signs_of_time(embedder):
    document = described(
        embedder, content="Did Ada paint walls last week?", speaker="Ada", session="s", occurred_at=AT
    )
    assert document.heading == ("ada",)
    assert document.body == ("ada", "paint", "wall", "last", "week")
    assert (document.asks, document.indexed, document.session) == (True, True, "s")
    assert document.occurred == AT.timestamp()
    assert (
        document.tokens.tolist()
        == np.unique(embedder.tokens(["Ada: Did Ada paint walls last week?"])[0]).tolist()
    )


def test_a_name_made_by_rule_has_no_text(embedder):
    document = described(embedder, kind="entity", source="rules", content="Ada", metadata={"form": "name"})
    assert (document.body, document.indexed, document.slot) == ((), False, "ada")
    assert len(document.tokens) == 0


def test_an_entity_added_by_hand_has_a_text_and_a_name(embedder):
    document = described(embedder, kind="entity", content="A mathematician of London.", heading="Ada")
    assert (document.indexed, document.slot) == (True, "ada")
    assert described(embedder, kind="entity", content="long " * 40).slot is None
    assert described(embedder, kind="fact", content="Ada").slot is None


@each_row(
    ("form", "name", "slot"),
    [
        ("name", "The Beatles'", "beatles"),
        ("file", "src/App.py", "src/app.py"),
        ("session", "Monday", "session:Monday"),
        ("term", "xylophon", "term:xylophon"),
        (None, "Ada's", "ada"),
    ],
)
def test_names_of_any_form_share_their_places_and_sessions_and_words_have_their_own(form, name, slot):
    assert slot_of(form, name) == slot
    assert is_rare_word(slot) == (form == "term")


def test_a_title_names_an_entity_without_its_brackets():
    assert slot_of_title("Lilu (mythology)") == "lilu"
    assert not is_rare_word(None)


def test_the_vector_is_of_the_title_and_the_text():
    assert embedded_text("Ada", "paints") == "Ada: paints"
    assert embedded_text(None, "paints") == "paints"


def test_a_procedure_is_found_by_when_it_is_due_and_by_what_is_done():
    with Memory.open("sqlite://") as memory:
        how = {"trigger": "a rollout failed", "steps": ["Open the ledger.", "Revert the tag."]}
        memory.remember("Put the old build back.", kind="procedure", key="back", metadata=how)
        memory.remember("Bake the bread.", kind="procedure", key="bread", metadata={"odd": {"steps": 3}})
        for question in ("the rollout failed, what now?", "where do I revert a tag?"):
            assert [hit.memory.key for hit in memory.recall(question).hits][:1] == ["back"], question


@pytest.mark.parametrize(
    ("more", "labels"),
    [
        ({"key": "boiler", "tags": ("heating",)}, ("boiler", "heat")),
        ({"key": "note:boiler_2024-b7"}, ("boiler",)),
        ({"key": "serviced-in-march"}, ()),
        ({"key": "boiler", "version": 2}, ("boiler",)),
        ({"key": "serviced-in-may-by-ada", "version": 2}, ()),
        ({"key": "serviced", "tags": ("march",)}, ()),
    ],
)
def test_a_key_that_somebody_gave_and_tags_are_words_of_a_memory(embedder, more, labels):
    document = described(embedder, content="Serviced in March.", **more)
    assert document.body == ("servic", "march", *labels)


def test_a_question_finds_the_memory_whose_key_or_tag_it_names():
    with Memory.open("sqlite://") as memory:
        memory.remember("The service is due in March.", key="boiler")
        memory.remember("The service is due in June.", key="roof", tags=["gutters"])
        assert [hit.memory.key for hit in memory.recall("when is the boiler due for service?").hits][:1] == [
            "boiler"
        ]
        assert [hit.memory.key for hit in memory.recall("when are the gutters due?").hits][:1] == ["roof"]


def test_a_key_or_an_id_names_its_memory():
    with Memory.open("sqlite://") as memory:
        remembered = memory.remember("The service is due in March.", key="the boiler")
        now = memory.now()
        working = memory.working(now)
        row = working.row_of[remembered.id]
        for name in ("the boiler", " the boiler\n", "[the boiler]", remembered.id):
            assert working.named_by(name, now) == row, name
        for other in ("boiler", "The boiler", "[]", "", "the boiler?"):
            assert working.named_by(other, now) is None, other
