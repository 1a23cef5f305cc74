from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from priming.core.lexical import bm25, idf
from priming.engine.lexicon import Lexicon

words = st.sampled_from(["red", "car", "sea", "sky"])
documents = st.lists(st.tuples(st.lists(words, max_size=2), st.lists(words, max_size=6)), max_size=12)


def filled(some):
    lexicon = Lexicon()
    for heading, body in some:
        lexicon.append(heading, body)
    return lexicon


def reloaded(lexicon):
    """The same out of packed arrays that cannot be written."""
    packed = [*lexicon.packed(), *lexicon.sequences.packed()]
    for array in packed:
        array.flags.writeable = False
    made = Lexicon()
    made.load(
        list(lexicon.terms),
        lexicon.words,
        lexicon.df.values,
        tuple(packed[:3]),
        tuple(packed[3:]),
        lexicon.length.values,
        (lexicon.total_length, lexicon.documents),
    )
    return made


@given(documents, documents, st.data())
def test_scores_are_okapi_over_the_documents_that_are_left(first, more, data):
    lexicon = reloaded(filled(first)) if data.draw(st.booleans()) else filled(first)
    for heading, body in more:
        lexicon.append(heading, body)
    texts = [[*heading, *body] for heading, body in [*first, *more]]
    gone = data.draw(st.sets(st.integers(0, max(len(texts) - 1, 0)))) if texts else set()
    for row in gone:
        lexicon.remove(row)
    left = [text for row, text in enumerate(texts) if row not in gone]
    cue = [term for term in ("red", "sea") if lexicon.code(term) is not None]
    found = lexicon.score([lexicon.code(term) for term in cue])
    mean = sum(map(len, left)) / len(left) if sum(map(len, left)) else 1.0
    assert lexicon.documents == len(left)
    for row, text in enumerate(texts):
        if row not in gone:
            wanted = sum(
                bm25(text.count(term), sum(term in other for other in left), len(left), len(text), mean)
                for term in cue
            )
            assert found[row] == pytest.approx(wanted)


@given(documents)
def test_pairs_are_neighbours_in_one_part_of_a_text(some):
    lexicon = filled(some)
    codes = [lexicon.code(term) for term in ("red", "car")]
    found = lexicon.pair_score(codes, np.ones(len(some), np.bool_))

    def beside(part):
        return any(pair == ("red", "car") for pair in pairwise(part))

    holds = [beside(heading) or beside(body) for heading, body in some]
    worth = idf(sum(holds), len(some)) if some else 0.0
    assert found.tolist() == pytest.approx([worth if held else 0.0 for held in holds])


def test_unknown_words_have_no_code_and_an_empty_lexicon_no_scores():
    lexicon = Lexicon()
    assert lexicon.code("red") is None
    assert lexicon.score([]).tolist() == []
    assert lexicon.mean_length == 1.0
    lexicon.append([], [])
    assert lexicon.mean_length == 1.0
    assert lexicon.packed()[0].tolist() == [0]
