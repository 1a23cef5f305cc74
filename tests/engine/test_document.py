from datetime import UTC, datetime

import numpy as np
import pytest

from priming import Memory
from priming.engine.document import describe, embedded_text, is_rare_word, slot_of, slot_of_title
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
    found = described(
        embedder, content="Did Ada paint walls last week?", speaker="Ada", session="s", occurred_at=AT
    )
    assert found.heading == ("ada",)
    assert found.body == ("ada", "paint", "wall", "last", "week")
    assert (found.timed, found.asks, found.indexed, found.session) == (True, True, True, "s")
    assert found.occurred == AT.timestamp()
    assert (
        found.tokens.tolist()
        == np.unique(embedder.tokens(["Ada: Did Ada paint walls last week?"])[0]).tolist()
    )


def test_a_name_made_by_rule_has_no_text(embedder):
    found = described(embedder, kind="entity", source="rules", content="Ada", metadata={"form": "name"})
    assert (found.body, found.indexed, found.slot) == ((), False, "ada")
    assert len(found.tokens) == 0


def test_an_entity_told_by_hand_has_a_text_and_a_name(embedder):
    found = described(embedder, kind="entity", content="A mathematician of London.", heading="Ada")
    assert (found.indexed, found.slot) == (True, "ada")
    assert described(embedder, kind="entity", content="long " * 40).slot is None
    assert described(embedder, kind="fact", content="Ada").slot is None


@pytest.mark.parametrize(
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
