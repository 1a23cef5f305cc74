"""Postings and their statistics: BM25, and which memory held a term first."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from priming.core.lexical import bm25
from priming.index.lexicon import Lexicon

words = st.sampled_from(["red", "car", "sea", "sky"])
documents = st.lists(st.tuples(st.lists(words, max_size=2), st.lists(words, max_size=6)), max_size=12)


def filled(texts):
    lexicon = Lexicon()
    for heading, body in texts:
        lexicon.append(heading, body)
    return lexicon


def reloaded(lexicon):
    """A copy out of packed arrays that cannot be written."""
    packed = [*lexicon.packed(), *lexicon.sequences.packed()]
    for array in packed:
        array.flags.writeable = False
    copy = Lexicon()
    copy.load(
        list(lexicon.terms),
        lexicon.words,
        lexicon.df.values,
        tuple(packed[:3]),
        tuple(packed[3:]),
        lexicon.length.values,
        (lexicon.total_length, lexicon.documents),
    )
    return copy


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
    codes = [lexicon.code(term) for term in cue]
    scores = lexicon.score(codes)
    assert lexicon.score(codes, np.arange(len(texts))[::2]).tolist() == scores[::2].tolist()
    mean = sum(map(len, left)) / len(left) if sum(map(len, left)) else 1.0
    assert lexicon.documents == len(left)
    for row, text in enumerate(texts):
        if row not in gone:
            expected = sum(
                bm25(text.count(term), sum(term in other for other in left), len(left), len(text), mean)
                for term in cue
            )
            assert scores[row] == pytest.approx(expected)


def test_unknown_words_have_no_code_and_an_empty_lexicon_no_scores():
    lexicon = Lexicon()
    assert lexicon.code("red") is None
    assert lexicon.score([]).tolist() == []
    assert lexicon.mean_length == 1.0
    lexicon.append([], [])
    assert lexicon.mean_length == 1.0
    assert lexicon.packed()[0].tolist() == [0]


NOVEL_WORDS = ["red", "car", "sea", "sky", "wind", "boat", "lamp", "wall", "rain", "road", "bread", "stone"]


def text(rng):
    return " ".join(rng.sample(NOVEL_WORDS, rng.randint(1, 5)))


@pytest.mark.parametrize("seed", range(3))
def test_novel_terms_that_are_updated_are_those_counted_again(memory, seed):
    rng = random.Random(seed)
    opened = memory
    keys, gone = [], []
    for step in range(40):
        kind = rng.choice(("remember", "remember", "forget", "restore", "supersede"))
        if kind == "remember" or not keys:
            keys.append(memory.remember(f"{text(rng)} number{step}", session="s").key)
        elif kind == "forget":
            gone.append(keys.pop(rng.randrange(len(keys))))
            memory.forget(gone[-1])
        elif kind == "restore" and gone:
            keys.append(gone.pop())
            memory.restore(keys[-1])
        elif kind == "supersede":
            memory.supersede(rng.choice(keys), f"{text(rng)} again{step}")
        working = opened.working(opened.now())
        counted = working.lexicon.novel_terms(working.row.values, working.living.values)
        assert working.novelty.tolist() == counted.tolist()


def test_a_term_is_novel_in_the_next_oldest_memory_once_the_oldest_is_forgotten(memory):
    for key, content in (("1st", "red car"), ("2nd", "red sea"), ("3rd", "red sky")):
        memory.remember(content, key=key)
    opened = memory
    assert opened.working(opened.now()).novelty.tolist() == [2, 1, 1]
    memory.forget("1st")
    assert opened.working(opened.now()).novelty.tolist() == [0, 2, 1]
    memory.restore("1st")
    working = opened.working(opened.now())
    assert working.novelty[working.document[working.row_of[memory.get("1st").id]]] == 2
