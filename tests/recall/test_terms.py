"""The terms of recall, and the weights of a namespace: those of terms that are gone have no effect."""

from dataclasses import fields, replace

import pytest

from priming import Memory, ParamError
from priming.config.params.recall import RecallParams
from priming.recall.candidates import (
    TERMS,
    weighted_profile,
    with_weights,
    write_weights,
)
from priming.storage.rows import RowChange, WeightsRow


def test_the_recipe_has_twenty_terms_and_at_most_two_numbers_for_each():
    numbers = [field for field in fields(RecallParams) if field.type in ("float", "int")]
    assert len(TERMS) == 20
    assert len(numbers) <= 40


def test_an_unknown_term_is_named_as_it_was_given(memory):
    memory.remember("Ada wrote the first program.")
    with pytest.raises(ParamError, match=r"ablate = 'luck': must be one of words, .*information"):
        memory.recall("Ada", ablate=["luck"])


def store_early_weights(memory, weights):
    """Write weights as an early version stored them."""
    with memory.writing() as now:
        memory.write("ablate", now, [RowChange(None, WeightsRow("priming", weights))])


def test_stored_weights_of_terms_that_are_gone_have_no_effect(memory):
    memory.remember("Ada wrote the first program.")
    store_early_weights(memory, {"news": 0.3, "novelty": 0.3, "window": 0.9, "date": 0.1})
    recall = weighted_profile(memory, memory.profile).recall
    assert recall == replace(memory.profile.recall, date=0.1)
    assert memory.stats().weights == {"priming": {"date": 0.1}}


def test_new_weights_are_stored_without_those_of_terms_that_are_gone(memory):
    memory.remember("Ada wrote the first program.")
    store_early_weights(memory, {"news": 0.3, "date": 0.1})
    with memory.writing() as now:
        write_weights(memory, memory.profile, {"named": 0.2}, {"named": memory.profile.recall.named}, now)
    (row,) = memory.store.rows(memory.namespace, WeightsRow, profile="priming")
    assert row.weights == {"date": 0.1, "named": 0.2}


def test_a_weight_out_of_range_is_refused():
    with pytest.raises(ParamError, match=r"date = -1\.0: must be in "):
        with_weights(RecallParams(), {"date": -1.0})


def test_memories_excluded_by_id_are_left_out_as_by_any_other_filter():
    with Memory.open("sqlite://") as memory:
        shown, left = (
            memory.remember(f"The {colour} kettle is on the stove", key=colour) for colour in ("red", "blue")
        )
        by_id = memory.recall("Which kettle is on the stove?", filters={"id": {"nin": [left.id]}})
        by_key = memory.recall("Which kettle is on the stove?", filters={"key": {"ne": "blue"}})
        assert [hit.memory.id for hit in by_id.hits] == [hit.memory.id for hit in by_key.hits] == [shown.id]
        assert not memory.recall("kettle", filters={"id": {"nin": [shown.id, left.id]}}).hits
