"""StaticEmbedder against WordLlama itself, and against damaged files."""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from priming.embedding.protocol import Embedder, TokenEmbedder
from priming.embedding.weights import TOKENIZER, WEIGHTS
from priming.embedding.wordllama import StaticEmbedder
from priming.errors import EmbedderError, ParamError

TEXTS = [
    "When did Caroline go to the LGBTQ support group?",
    "a",
    "  two   spaces and a\nnew line\t ",
    "MiXeD CASE, don’t, naïve café — 東京都 🎉 Ωmega",
    "<s> special </s> <unk> tokens in the text",
    "a null \x00 character",
    "snake_case = foo.bar(42)  # comment",
    "long " * 3000,
]
ANY_TEXT = st.text(st.characters(), max_size=60)
ONE = StaticEmbedder()


@pytest.fixture
def embedder():
    return ONE


@pytest.fixture(scope="module")
def oracle(tmp_path_factory):
    """What WordLlama itself says of TEXTS, in a process of its own, since its import is slow and warns."""
    out = tmp_path_factory.mktemp("oracle") / "rows.npy"
    code = (
        "import json, sys, pathlib, numpy, wordllama\n"
        "folder = pathlib.Path(wordllama.__file__).parent\n"
        "model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)\n"
        "numpy.save(sys.argv[1], model.embed(json.load(sys.stdin), norm=True, batch_size=3))\n"
    )
    subprocess.run([sys.executable, "-c", code, str(out)], input=json.dumps(TEXTS), text=True, check=True)
    return np.load(out)


@pytest.fixture
def copied(tmp_path):
    """The folder of the package, copied so that it may be damaged."""
    source = StaticEmbedder()._folder
    for part in (WEIGHTS, TOKENIZER):
        (tmp_path / part).parent.mkdir()
        shutil.copy(source / part, tmp_path / part)
    return tmp_path


@pytest.mark.slow
def test_rows_equal_those_of_wordllama_itself(embedder, oracle):
    np.testing.assert_allclose(embedder.embed(TEXTS), oracle, atol=1e-6)


def test_it_is_an_embedder_of_tokens(embedder):
    assert isinstance(embedder, Embedder)
    assert isinstance(embedder, TokenEmbedder)
    assert embedder.dimension == 256
    assert embedder.vocabulary == 32_000


def test_rows_are_float32_and_of_length_one(embedder):
    rows = embedder.embed(TEXTS)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-6)


def test_a_text_without_tokens_gives_a_row_of_zeros(embedder):
    rows = embedder.embed(["", "word", ""])
    assert not rows[0].any()
    assert rows[1].any()
    assert not rows[2].any()


def test_no_texts_give_no_rows(embedder):
    assert embedder.embed([]).shape == (0, 256)
    assert embedder.tokens([]) == []


def test_a_row_does_not_depend_on_its_neighbours(embedder):
    together = embedder.embed(TEXTS)
    for row, text in zip(together, TEXTS, strict=True):
        assert np.array_equal(embedder.embed([text])[0], row)


def test_more_texts_than_a_batch_holds_keep_their_order(embedder):
    many = [f"memory number {i}" for i in range(2500)]
    rows = embedder.embed(many)
    assert np.array_equal(rows[1999], embedder.embed([many[1999]])[0])
    assert len(embedder.tokens(many)) == 2500


@given(st.lists(ANY_TEXT, max_size=4))
def test_any_text_gives_a_unit_row_or_zeros_and_always_the_same(texts):
    rows = ONE.embed(texts)
    for row, ids in zip(rows, ONE.tokens(texts), strict=True):
        assert np.linalg.norm(row) == pytest.approx(1.0 if len(ids) else 0.0, abs=1e-6)
    assert np.array_equal(rows, ONE.embed(texts))


def test_half_a_surrogate_pair_reads_as_a_question_mark(embedder):
    assert np.array_equal(embedder.embed(["a\ud800b"]), embedder.embed(["a?b"]))


def test_a_long_text_is_the_mean_of_its_tokens(embedder):
    text = "the quick brown fox " * 5_000
    ids = embedder.tokens([text])[0]
    np.testing.assert_allclose(embedder.embed([text])[0], embedder.pool(ids, np.ones(len(ids))), atol=1e-6)


def test_pooling_with_equal_weights_is_embedding(embedder):
    ids = embedder.tokens(TEXTS)[0]
    np.testing.assert_allclose(
        embedder.pool(ids, np.full(len(ids), 0.3)), embedder.embed(TEXTS[:1])[0], atol=1e-6
    )


def test_a_token_of_no_weight_might_as_well_be_absent(embedder):
    ids = embedder.tokens(["red fish"])[0]
    weights = np.zeros(len(ids))
    weights[0] = 7.0
    np.testing.assert_allclose(embedder.pool(ids, weights), embedder.pool(ids[:1], [1.0]), atol=1e-6)


def test_nothing_to_pool_gives_zeros(embedder):
    assert not embedder.pool([], []).any()
    assert not embedder.pool([5, 6], [0.0, 0.0]).any()


@each_row(("ids", "weights"), [([1, 2], [1.0]), ([1], [np.nan]), ([-1], [1.0]), ([32_000], [1.0])])
def test_a_wrong_pool_is_refused(embedder, ids, weights):
    with pytest.raises(ParamError):
        embedder.pool(ids, weights)


@each_row("texts", ["one text", [b"bytes"], [None]])
def test_what_is_no_list_of_texts_is_refused(embedder, texts):
    with pytest.raises(ParamError, match="texts"):
        embedder.embed(texts)


def test_the_generation_names_model_dimension_and_digest(embedder):
    model, dimension, digest = embedder.generation.split("/")
    assert (model, dimension) == ("wordllama-l2_supercat", "256")
    assert len(digest) == 12
    assert embedder.generation == StaticEmbedder().generation


def test_other_weights_are_another_generation(embedder, copied):
    path = copied / WEIGHTS
    data = bytearray(path.read_bytes())
    data[-256 * 32_000 * 2 :] = bytes(256 * 32_000 * 2)
    path.write_bytes(data)
    assert StaticEmbedder(copied).generation != embedder.generation


def test_a_given_folder_serves_as_well(embedder, copied):
    assert np.array_equal(StaticEmbedder(copied).embed(TEXTS), embedder.embed(TEXTS))


def test_an_embedder_is_made_without_touching_a_file(tmp_path):
    StaticEmbedder(tmp_path / "nowhere")


@pytest.mark.parametrize("missing", [WEIGHTS, TOKENIZER])
def test_a_missing_file_is_an_error_with_a_remedy(copied, missing):
    (copied / missing).unlink()
    with pytest.raises(EmbedderError, match=r"cannot be read .*reinstall Priming: pip install"):
        StaticEmbedder(copied).embed(["text"])


def _header(about: object) -> bytes:
    text = json.dumps(about).encode()
    return struct.pack("<Q", len(text)) + text


WHOLE = {"embedding.weight": {"dtype": "F16", "shape": [4, 2], "data_offsets": [0, 16]}}


@each_row(
    "data",
    [
        b"",
        b"short",
        struct.pack("<Q", 1 << 60) + b"{}",
        struct.pack("<Q", 9) + b"not json!",
        _header([]),
        _header({}),
        _header({"embedding.weight": {"dtype": "F32", "shape": [4, 1], "data_offsets": [0, 16]}}) + bytes(16),
        _header({"embedding.weight": {"dtype": "F16", "shape": [4], "data_offsets": [0, 8]}}) + bytes(8),
        _header({"embedding.weight": {"dtype": "F16", "shape": [4, 3], "data_offsets": [0, 16]}}) + bytes(16),
        _header({"embedding.weight": {"dtype": "F16", "shape": [0, 0], "data_offsets": [0, 0]}}),
        _header(WHOLE) + bytes(15),
    ],
)
def test_damaged_weights_are_an_error_with_a_remedy(copied, data):
    (copied / WEIGHTS).write_bytes(data)
    with pytest.raises(EmbedderError, match=r"is damaged .*reinstall Priming"):
        StaticEmbedder(copied).embed(["text"])


def test_a_damaged_tokenizer_is_an_error_with_a_remedy(copied):
    (copied / TOKENIZER).write_text("{}")
    with pytest.raises(EmbedderError, match=r"is not the tokenizer .*reinstall Priming"):
        StaticEmbedder(copied).embed(["text"])


def test_a_small_table_of_the_same_form_is_read_where_its_header_says(copied):
    padded = {"first": {"dtype": "U8", "shape": [3], "data_offsets": [0, 3]}}
    padded["embedding.weight"] = {"dtype": "F16", "shape": [2, 2], "data_offsets": [3, 11]}
    values = np.array([[1, 0], [3, 4]], dtype="<f2")
    (copied / WEIGHTS).write_bytes(_header(padded) + b"abc" + values.tobytes())
    small = StaticEmbedder(copied)
    assert (small.vocabulary, small.dimension) == (2, 2)
    np.testing.assert_allclose(small.pool([1], [1.0]), [0.6, 0.8], atol=1e-6)
    np.testing.assert_allclose(small.embed(["far beyond the table"])[0], small.pool([1], [1.0]), atol=1e-6)


@pytest.mark.slow
def test_importing_loads_neither_tokenizers_nor_wordllama():
    code = (
        "import sys, priming.embedding.wordllama as s; s.StaticEmbedder()\n"
        "sys.exit(bool({'tokenizers', 'wordllama', 'Stemmer'} & set(sys.modules)))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.slow
def test_a_forked_child_embeds_without_a_word_on_stderr():
    code = (
        "import os, sys\n"
        "from priming.embedding.wordllama import StaticEmbedder\n"
        "one = StaticEmbedder()\n"
        "want = one.embed(['before the fork'] * 50)\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    os._exit(0 if (one.embed(['before the fork'] * 50) == want).all() else 3)\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n"
    )
    free = {name: value for name, value in os.environ.items() if name != "TOKENIZERS_PARALLELISM"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", code],
        env=free,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
