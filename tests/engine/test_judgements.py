from random import Random

from priming.core.lexical import terms
from priming.engine.judgements import Judgements

WORDS = ("kestrel", "signs", "builds", "gulls", "nest", "cliffs", "porridge", "honey", "violins", "owls")


def test_verdicts_add_up_to_the_same_in_whatever_order_they_came():
    random, asked = Random(1), terms(" ".join(WORDS[:7]))
    for _ in range(50):
        cues = {" ".join(random.sample(WORDS, random.randint(2, 9))) for _ in range(40)}
        told = [("m", "used", f"o{number}", cue) for number, cue in enumerate(sorted(cues))]
        assert Judgements(told).on(asked, 0.1) == Judgements(reversed(told)).on(asked, 0.1)


def test_a_verdict_for_a_memory_and_one_against_it_cancel_out():
    told = [("m", "used", "o1", "gulls nest"), ("m", "not-relevant", "o2", "gulls nest")]
    assert Judgements(told).on(terms("gulls nest"), 0.5) == {"m": 0.0}
