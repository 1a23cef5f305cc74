"""A long text is cut into passages, and the vectors of all of it are one value in a store."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from priming.config.params.limits import PASSAGES
from priming.core.arguments.arrays import TextVectors, unpacked
from priming.embedding.protocol import HashedEmbedder
from priming.index.document import embedded_text, passage_ends, vectors_of
from priming.remember.drafts import Draft

PROSE = "The ferry was late again. Nobody on the quay had been told why. " * 40
MARKDOWN = "\n\n".join(
    f"## Station {i}\n\nThe gauge at station {i} was read at noon. {'The water stood low. ' * 14}"
    for i in range(9)
)
CHINESE = "会议在星期三举行。大家同意明年修理屋顶。" * 60
CODE = "```\n" + "value = compute(value, other)\n" * 80 + "```"


def parts(text):
    ends = passage_ends(text)
    return [text[start:end] for start, end in zip((0, *ends), ends, strict=False)]


@each_row("text", ["", "It rained.", "é" * (PASSAGES.whole // 2), "\n" * 2_000])
def test_a_text_that_is_read_whole_or_is_one_piece_has_no_passages(text):
    assert passage_ends(text) == ()


@each_row("text", [PROSE, MARKDOWN, CHINESE, CODE, PROSE + CHINESE, "word " * 900])
def test_passages_of_a_long_text_are_about_as_long_as_each_other(text):
    sizes = [len(part.encode()) for part in parts(text)]
    assert "".join(parts(text)) == text
    assert all(PASSAGES.least // 2 <= size <= PASSAGES.most for size in sizes[:-1])
    assert sizes[-1] <= PASSAGES.most + PASSAGES.least


def test_prose_is_cut_after_sentences_and_chinese_after_its_full_stops():
    assert {part.strip()[-1] for part in parts(PROSE)} == {"."}
    assert {part[-1] for part in parts(CHINESE)} == {"。"}


def test_a_heading_stands_with_what_follows_it():
    assert all(part.startswith("## Station") for part in parts(MARKDOWN))


def test_a_text_without_sentences_is_cut_between_words():
    assert {word for part in parts("window " * 500) for word in part.split()} == {"window"}


@given(st.text(st.sampled_from("ab .。\n会!#`-1"), min_size=950, max_size=3_000))
def test_whatever_a_text_is_its_passages_are_all_of_it(text):
    ends = passage_ends(text)
    assert list(ends) == sorted(set(ends))
    assert ends == () or (len(ends) > 1 and ends[0] > 0 and ends[-1] == len(text))


def test_a_long_text_has_the_vector_of_the_whole_and_of_each_passage_under_its_title():
    embedder = HashedEmbedder(32)
    short, long = vectors_of(embedder, [Draft("It rained."), Draft(PROSE, heading="Quay")])
    assert short.whole.tolist() == embedder.embed(["It rained."])[0].tolist()
    assert (len(short.passages), short.ends) == (0, ())
    assert long.whole.tolist() == embedder.embed([embedded_text("Quay", PROSE)])[0].tolist()
    assert long.ends == passage_ends(PROSE)
    expected = embedder.embed([embedded_text("Quay", part) for part in parts(PROSE)])
    assert long.passages.tolist() == expected.tolist()


@each_row("content", ["", "It rained.", PROSE, CHINESE])
def test_what_a_store_holds_is_unpacked_as_it_was(content):
    (vectors,) = vectors_of(HashedEmbedder(32), [Draft(content, heading="Title")])
    again = unpacked(vectors.packed())
    assert again.ends == vectors.ends
    assert again.whole.tolist() == vectors.whole.tolist()
    assert again.passages.tolist() == vectors.passages.tolist()


def test_a_vector_alone_is_stored_as_its_numbers():
    item = np.array([0.6, 0.8], np.float32)
    assert TextVectors(item, np.zeros((0, 2), np.float32)).packed() == item.tobytes()
    assert unpacked(item.tobytes()).ends == ()


@each_row("last", [np.nan, np.inf, -np.inf, 1e30, 2.5, 3.0])
def test_bytes_that_fit_no_passages_are_a_vector_alone(last):
    harmed = np.array([0.6, 0.8, 0.0, 0.0, 0.0, last], "<f4")
    assert len(unpacked(harmed.tobytes()).whole) == 6
