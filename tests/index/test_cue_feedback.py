from random import Random

from priming.index.cue_feedback import CueFeedback
from priming.text.tokens import terms


def alike(_term):
    """Every term is equally rare."""
    return 1.0


WORDS = ("kestrel", "signs", "builds", "gulls", "nest", "cliffs", "porridge", "honey", "violins", "owls")


def test_verdicts_add_up_to_the_same_in_whatever_order_they_came():
    random, cue = Random(1), terms(" ".join(WORDS[:7]))
    for _ in range(50):
        cues = {" ".join(random.sample(WORDS, random.randint(2, 9))) for _ in range(40)}
        verdicts = [("m", "used", f"o{number}", text) for number, text in enumerate(sorted(cues))]
        assert CueFeedback(verdicts).balance(cue, 0.1, alike) == CueFeedback(reversed(verdicts)).balance(
            cue, 0.1, alike
        )


def test_a_verdict_for_a_memory_and_one_against_it_cancel_out():
    verdicts = [("m", "used", "o1", "gulls nest"), ("m", "not-relevant", "o2", "gulls nest")]
    assert CueFeedback(verdicts).balance(terms("gulls nest"), 0.5, alike) == {"m": 0.0}


def test_siblings_of_a_cue_never_say_more_than_the_most_alike_of_them():
    verdicts = [("m", "used", f"o{number}", f"tool {number}") for number in range(9)]
    assert CueFeedback(verdicts).balance(terms("tool kestrel"), 0.1, alike) == {"m": 1 / 3}


def test_the_cue_itself_says_it_whole():
    verdicts = [("m", "used", "o1", "tool kestrel"), ("m", "used", "o2", "tool osprey")]
    assert CueFeedback(verdicts).balance(terms("tool kestrel"), 0.1, alike) == {"m": 1.0}


def test_cues_that_name_different_things_are_unlike():
    weights = dict.fromkeys(terms("deployment tool"), 1.0)
    verdicts = [("m", "used", "o1", "deployment tool of Osprey")]
    cue = terms("deployment tool of Kestrel")
    # 2 of 4 terms are shared, and the names weigh 3: 2 / (2 + 3 + 3)
    assert CueFeedback(verdicts).balance(cue, 0.0, lambda term: weights.get(term, 3.0)) == {"m": 0.25}
    assert CueFeedback(verdicts).balance(cue, 0.5, lambda term: weights.get(term, 3.0)) == {}
