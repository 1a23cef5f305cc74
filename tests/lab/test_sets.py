import json
from datetime import UTC, datetime

import numpy as np
import pytest
from tests.rows import each_row

from priming import ParamError
from priming_lab import sets


def test_a_turn_is_a_memory_with_its_speaker_session_date_and_key(small):
    (part, _) = small.parts
    assert part.items[3].arguments() == {
        "content": "My bicycle was stolen from the station.",
        "key": "D2:1",
        "kind": "episode",
        "speaker": "Ben",
        "session": "session_2",
        "occurred_at": datetime(2023, 5, 25, 9, 5, tzinfo=UTC),
    }


def test_the_caption_of_an_image_stands_behind_the_words(small):
    text = small.parts[0].items[0].text
    assert text == "I adopted a grey cat called Turing last week. [a photo of a grey cat]"
    assert small.parts[0].items[0].indexed == f"Ada: {text}"


def test_evidence_is_repaired_where_it_is_mistyped(small):
    gold = [query.gold for query in small.parts[0].queries]
    assert gold == [{"D1:1"}, {"D1:3"}, {"D2:3", "D2:1"}, {"D1:3"}]


def test_a_question_whose_evidence_is_not_there_is_left_out_and_counted(small):
    assert (small.questions, small.skipped) == (8, 2)
    assert "3" not in {query.category for part in small.parts for query in part.queries}


def test_a_set_has_the_digest_of_its_files(locomo, small):
    before = small.digest
    locomo.write_text(locomo.read_text("utf-8") + " ", "utf-8")
    assert sets.load("locomo", locomo).digest != before
    assert len(before) == 64


def test_passages_are_facts_under_their_titles_and_gold_are_titles(hotpot):
    result = sets.load("hotpot", hotpot)
    (part,) = result.parts
    assert part.items[0].arguments() == {
        "content": "Ada Lovelace wrote notes. They are on the Engine.",
        "key": "hotpot_small-0",
        "kind": "fact",
        "heading": "Ada Lovelace",
    }
    assert [query.gold for query in part.queries] == [{"Ada Lovelace", "Analytical Engine"}, {"Tuna"}]
    assert [query.category for query in part.queries] == ["bridge", "comparison"]


def test_the_hops_of_musique_are_its_categories_and_a_title_may_stand_twice(musique):
    (part,) = sets.load("musique", musique).parts
    assert [item.label for item in part.items] == ["Bath", "Bath", "Somerset"]
    assert [(query.category, query.gold) for query in part.queries] == [("3hop", {"Bath", "Somerset"})]


@pytest.mark.parametrize("name", ["locomo", "hotpot", "musique"])
def test_a_folder_stands_for_the_set_that_it_holds(name, locomo, hotpot, musique):
    paths = {"locomo": locomo, "hotpot": hotpot, "musique": musique}
    assert sets.load(name, locomo.parent) == sets.load(name, paths[name])


def test_a_folder_with_two_files_of_a_set_is_not_guessed_at(locomo):
    locomo.with_name("locomo_other.json").write_text("[]", "utf-8")
    with pytest.raises(ParamError, match=r"holds 2 files locomo\*\.json: name one of locomo_other\.json, "):
        sets.load("locomo", locomo.parent)


@each_row(
    ("text", "rule"),
    [
        ("{", "must be JSON"),
        ("[]", "must hold at least one dialogue"),
        ('[{"qa": []}]', r"is no file of locomo \(KeyError: 'conversation'\)"),
        ('{"a": 1}', "is no file of locomo"),
        ('[{"sample_id": "x", "qa": [], "conversation": {"session_1_date_time": "soon"}}]', "is no file of"),
    ],
)
def test_a_bad_file_is_named_with_what_is_wrong_with_it(tmp_path, text, rule):
    path = tmp_path / "locomo.json"
    path.write_text(text, "utf-8")
    with pytest.raises(ParamError, match=rule) as raised:
        sets.load("locomo", path)
    assert str(path) in str(raised.value)


def test_what_is_not_there_is_asked_for(tmp_path):
    with pytest.raises(ParamError, match="must be the file of hotpot, or the folder that holds it"):
        sets.load("hotpot", tmp_path / "nowhere")
    with pytest.raises(ParamError, match=r"holds no file hotpot\*\.json: name the file itself"):
        sets.load("hotpot", tmp_path)


def test_passages_must_stand_beside_their_questions(hotpot):
    hotpot.with_name("hotpot_small_corpus.json").unlink()
    with pytest.raises(ParamError, match=r"must have its passages beside it, in hotpot_small_corpus\.json"):
        sets.load("hotpot", hotpot)


def test_a_set_of_another_name_is_refused(tmp_path):
    with pytest.raises(ParamError, match="must be one of locomo, hotpot, musique"):
        sets.load("trivia", tmp_path)


def test_fewer_questions_are_taken_evenly_from_all_parts(small):
    several = small.first(2)
    assert [(part.name, [query.text for query in part.queries]) for part in several.parts] == [
        ("one", [small.parts[0].queries[0].text]),
        ("two", [small.parts[1].queries[0].text]),
    ]
    assert small.first(None) == small.first(100) == small
    with pytest.raises(ParamError, match="limit = 0"):
        small.first(0)


def test_a_part_that_no_question_is_left_for_is_dropped(small):
    assert [part.name for part in small.first(1).parts] == ["one"]


def test_shuffling_deals_the_same_gold_to_other_questions_of_the_part(tmp_path):
    question = [{"question": f"q{i}", "evidence": [f"D1:{i % 3 + 1}"], "category": 1} for i in range(12)]
    turns = [{"speaker": "Ada", "dia_id": f"D1:{i}", "text": str(i)} for i in (1, 2, 3)]
    item = {"sample_id": "one", "conversation": {"session_1": turns}, "qa": question}
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([item]), "utf-8")
    before = sets.load("locomo", path)
    after = before.shuffled(np.random.default_rng(1))
    old, new = before.parts[0].queries, after.parts[0].queries
    assert [query.text for query in new] == [query.text for query in old]
    assert sorted(map(sorted, (query.gold for query in new))) == sorted(
        map(sorted, (query.gold for query in old))
    )
    assert [query.gold for query in new] != [query.gold for query in old]
    assert after.parts[0].items == before.parts[0].items
