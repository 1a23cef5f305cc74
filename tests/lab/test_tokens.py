import pytest

from priming.core.pack import estimate_tokens
from priming.memory import Memory
from priming.recall.formatting import HEADER
from priming_lab import scoring
from priming_lab.scoring import ScoredAnswer

SIZES = {"p": {"a": 10, "b": 20, "c": 30, "d": 40}}


def entry(gold, keys):
    return ScoredAnswer("p", 0, "1", frozenset(gold), keys, keys, None, None, 1.0)


# The first holds half at 10 tokens and all at 60, the second all at 20: means .25, .75, 1.
ANSWERS = [entry("ac", ("a", "b", "c")), entry("b", ("b", "d"))]


def test_the_smallest_budget_and_the_fewest_hits_that_hold_a_share_are_found():
    half, most = scoring.costs(ANSWERS, SIZES, (0.5, 0.9))
    assert (half.budget, half.k, half.tokens) == (20, 1, 15.0)
    assert (most.budget, most.k, most.tokens) == (60, 3, 60.0)
    assert (half.whole, half.saved) == (100.0, 0.8)


def test_what_the_ranking_never_holds_has_no_cost():
    (result,) = scoring.costs([entry("ad", ("a", "b"))], SIZES, (0.8,))
    assert (result.budget, result.k, result.tokens, result.saved) == (None, None, None, None)


def test_thirds_of_three_questions_make_a_whole():
    answers = [entry("abc", ("a", "b", "c"))] * 3
    assert scoring.costs(answers, SIZES, (1.0,))[0].k == 3


def test_the_curve_says_what_each_budget_holds():
    assert scoring.curve(ANSWERS, SIZES, (5, 10, 59, 60)) == [(5, 0.0), (10, 0.25), (59, 0.75), (60, 1.0)]


@pytest.mark.parametrize("name", ["locomo", "hotpot"])
def test_an_item_is_as_long_as_recall_packs_it(name, request, embedder):
    from priming_lab import sets

    (part, *_) = sets.load(name, request.getfixturevalue(name)).parts
    with Memory.open("sqlite://", embedder=embedder) as memory:
        memory.remember_many([item.arguments() for item in part.items])
        recall = memory.recall("Ada", limit=1)
    (hit,) = recall.hits
    (item,) = [item for item in part.items if item.key == hit.memory.key]
    assert scoring.length(item) == estimate_tokens(recall.text.removeprefix(HEADER) + "\n")


def test_the_whole_is_all_memories_of_the_part(small):
    sizes = scoring.lengths(small)
    (part, _) = small.parts
    assert scoring.tokens_of_part(
        [ScoredAnswer("one", 0, "1", frozenset("x"), (), (), None, None, 1.0)], sizes
    ) == sum(scoring.length(item) for item in part.items)
