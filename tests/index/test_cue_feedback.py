from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from priming.config.ids import uuid7
from priming.index.cue_feedback import AUTOMATIC, AskedCue, CueFeedback
from priming.storage.rows import VerdictRow
from priming.text.tokens import terms

NOW = datetime(2024, 5, 17, tzinfo=UTC)
ASKED = NOW.isoformat()


def query(text, at=NOW, language="english"):
    return AskedCue.of(text, at, language)


def uses(feedback, word, cue=""):
    return feedback.uses(*terms(word), query(cue or word))


def alike(_term):
    """Every term is equally rare."""
    return 1.0


WORDS = ("kestrel", "signs", "builds", "gulls", "nest", "cliffs", "porridge", "honey", "violins", "owls")


def test_verdicts_add_up_to_the_same_in_whatever_order_they_came():
    random, cue = Random(1), query(" ".join(WORDS[:7]))
    for _ in range(50):
        cues = {" ".join(random.sample(WORDS, random.randint(2, 9))) for _ in range(40)}
        verdicts = [
            ("m", "used", f"o{number}", text, "conscious", ASKED) for number, text in enumerate(sorted(cues))
        ]
        assert CueFeedback(verdicts).balance(cue, 0.1, alike) == CueFeedback(reversed(verdicts)).balance(
            cue, 0.1, alike
        )


def test_a_verdict_for_a_memory_and_one_against_it_cancel_out():
    verdicts = [
        ("m", "used", "o1", "gulls nest", "conscious", ASKED),
        ("m", "not-relevant", "o2", "gulls nest", "conscious", ASKED),
    ]
    assert CueFeedback(verdicts).balance(query("gulls nest"), 0.5, alike) == {"m": 0.0}


def test_siblings_of_a_cue_never_say_more_than_the_most_alike_of_them():
    verdicts = [("m", "used", f"o{number}", f"tool {number}", "conscious", ASKED) for number in range(9)]
    (balance,) = CueFeedback(verdicts).balance(query("tool kestrel"), 0.1, alike).values()
    assert balance == pytest.approx((1 / 3 - 0.1) / 0.9)  # one of three words is shared


def test_the_cue_itself_says_it_whole():
    verdicts = [
        ("m", "used", "o1", "tool kestrel", "conscious", ASKED),
        ("m", "used", "o2", "tool osprey", "conscious", ASKED),
    ]
    assert CueFeedback(verdicts).balance(query("tool kestrel"), 0.1, alike) == {"m": 1.0}


def test_the_first_verdict_counts_its_share_and_each_that_agrees_the_same_share_of_the_rest():
    shares = []
    for count in range(4):
        verdicts = [("m", "used", f"o{number}", "gulls nest", "conscious", ASKED) for number in range(count)]
        balance = CueFeedback(verdicts).balance(query("gulls nest"), 0.5, alike, first=0.6)
        shares.append(balance.get("m", 0.0))
    assert shares == pytest.approx([0.0, 0.6, 0.6 + 0.6 * 0.4, 0.6 + 0.6 * 0.4 + 0.6 * 0.16])


def test_ten_verdicts_that_nobody_gave_count_as_one_that_somebody_gave():
    automatic = [("m", "confirmed", f"o{number}", "gulls nest", "automatic", ASKED) for number in range(10)]
    conscious = [("m", "confirmed", "o", "gulls nest", "conscious", ASKED)]
    tenth, item = (
        CueFeedback(verdicts).balance(query("gulls nest"), 0.5, alike, first=0.6)["m"]
        for verdicts in (automatic, conscious)
    )
    assert tenth == pytest.approx(item) == pytest.approx(0.6)


def test_cues_that_name_different_things_are_unlike():
    weights = dict.fromkeys(terms("deployment tool"), 1.0)
    verdicts = [("m", "used", "o1", "deployment tool of Osprey", "conscious", ASKED)]
    cue = query("deployment tool of Kestrel")
    # 2 of 4 terms are shared, and the names weigh 3: 2 / (2 + 3 + 3)
    assert CueFeedback(verdicts).balance(cue, 0.0, lambda term: weights.get(term, 3.0)) == {"m": 0.25}
    assert CueFeedback(verdicts).balance(cue, 0.5, lambda term: weights.get(term, 3.0)) == {}


def test_a_verdict_that_nobody_gave_counts_a_tenth():
    verdicts = [("m", "confirmed", "o1", "gulls nest", "automatic", ASKED)]
    feedback = CueFeedback(verdicts)
    assert feedback.balance(query("gulls nest"), 0.5, alike) == {"m": AUTOMATIC}
    assert uses(feedback, "gulls") == {"m": AUTOMATIC}


def test_a_word_counts_once_for_each_cue_in_which_a_memory_was_useful():
    verdicts = [
        ("m", "used", "o1", "gulls nest", "conscious", ASKED),
        ("m", "used", "o2", "gulls nest", "conscious", ASKED),
        ("m", "used", "o3", "gulls on cliffs", "conscious", ASKED),
        ("m", "not-relevant", "o4", "nest of owls", "conscious", ASKED),
        ("other", "not-relevant", "o4", "nest of owls", "conscious", ASKED),
    ]
    feedback = CueFeedback(verdicts)
    words = {word: uses(feedback, word) for word in ("gulls", "nest", "cliffs", "owls", "honey")}
    assert words == {"gulls": {"m": 2.0}, "nest": {}, "cliffs": {"m": 1.0}, "owls": {}, "honey": {}}


def test_words_go_with_the_verdict_that_is_taken_back():
    row = VerdictRow("m", "used", "o1", "r1", NOW, "conscious", None, {"text": "gulls nest"})
    feedback = CueFeedback()
    feedback.put(row)
    assert uses(feedback, "gulls") == {"m": 1.0}
    feedback.drop(row)
    assert uses(feedback, "gulls") == {}
    assert not feedback


def test_the_same_cue_is_the_same_whatever_of_it_a_recall_leaves_out():
    """A recall drops "use" from a cue that asks for a kind of software; so does what its verdicts are found by."""
    for text, language in [
        ("which database do we use?", "english"),
        ("Welche Datenbank nutzen wir?", "english"),
        ("Spülmaschinen", "german"),
    ]:
        feedback = CueFeedback([("m", "used", "o1", text, "conscious", ASKED)], language)
        assert feedback.balance(query(text, language=language), 0.5, alike) == {"m": 1.0}


def test_a_cue_whose_words_tell_no_language_is_read_in_that_of_the_namespace():
    feedback = CueFeedback([("m", "used", "o1", "Spülmaschinen", "conscious", ASKED)])
    (stem,) = terms("Spülmaschine", "german")
    german = query("Spülmaschine", language="german")
    assert feedback.uses(stem, german) == {}
    feedback.read_in("german")
    assert feedback.uses(stem, german) == {"m": 1.0}


def test_a_verdict_on_what_was_asked_of_one_day_says_nothing_of_another():
    feedback = CueFeedback([("m", "used", "o1", "what broke on Monday?", "conscious", ASKED)])
    week_later = NOW + timedelta(days=7)
    for text, at, expected in [
        ("what broke on Monday?", NOW, {"m": 1.0}),
        ("what broke on 13 May 2024?", NOW, {"m": 1.0}),
        ("what broke three days ago?", datetime(2024, 5, 16, tzinfo=UTC), {"m": 1.0}),
        ("what broke?", NOW, {}),
        ("what broke on Tuesday?", NOW, {}),
        ("what broke on Monday?", week_later, {}),
    ]:
        assert feedback.balance(query(text, at), 0.5, alike) == expected, (text, at)
        assert feedback.uses(*terms("broke"), query(text, at)) == expected


def test_a_cue_was_asked_when_its_recall_was_made_or_for_the_time_that_it_names():
    tuesday = datetime(2024, 5, 14, tzinfo=UTC)
    for recall, cue in [
        (uuid7(tuesday), {"text": "what broke yesterday?"}),
        ("r1", {"text": "what broke yesterday?", "at": "2024-05-14T00:00:00+00:00"}),
    ]:
        feedback = CueFeedback()
        feedback.put(VerdictRow("m", "used", "o1", recall, NOW, "conscious", None, cue))
        assert feedback.balance(query("what broke on 13 May 2024?"), 0.5, alike) == {"m": 1.0}
