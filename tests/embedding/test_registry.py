"""Embedders by the names that settings and options give them."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.rows import each_row

from priming.embedding.endpoint import EndpointEmbedder
from priming.embedding.onnx import OnnxEmbedder, packaged
from priming.embedding.protocol import HashedEmbedder, SemanticEmbedder
from priming.embedding.registry import NAMES, named, stamp, stamp_of
from priming.embedding.wordllama import StaticEmbedder
from priming.errors import ParamError


@each_row(
    ("name", "kind"),
    [
        ("wordllama", StaticEmbedder),
        (" WordLlama ", StaticEmbedder),
        ("hashed", HashedEmbedder),
        ("onnx", OnnxEmbedder),
        ("semantic", SemanticEmbedder),
        ("Auto", SemanticEmbedder),
    ],
)
def test_a_name_makes_its_embedder(name, kind):
    assert isinstance(named(name), kind)


def test_every_name_of_the_list_is_one():
    assert [named(name).embed(["a"]).shape[0] for name in NAMES] == [1] * len(NAMES)


def test_a_dimension_may_follow():
    assert named("hashed:128").dimension == 128


def test_a_folder_may_follow(tmp_path):
    files = packaged()
    (tmp_path / "model.onnx").symlink_to(files.model)
    (tmp_path / "tokenizer.json").symlink_to(files.tokenizer)
    assert named(f"onnx:{tmp_path}").generation == named("onnx").generation


@pytest.mark.extra
def test_an_address_names_its_model_and_may_name_dimensions(monkeypatch):
    monkeypatch.setenv("PRIMING_EMBEDDER_KEY", "sk-secret")
    item = named("https://example.org/v1?model=big%2Fone&dimensions=256")
    assert isinstance(item, EndpointEmbedder)
    assert (item.url, item.model, item.key, item.dimension) == (
        "https://example.org/v1",
        "big/one",
        "sk-secret",
        256,
    )
    assert named("http://localhost:8080/v1?model=m").dimensions is None


@each_row(
    "name", ["", "bert", "wordllama:2", "auto:onnx", "semantic:", "hashed:", "onnx:", "mailto:x", None, 7]
)
def test_a_name_that_is_none_is_refused_with_those_there_are(name):
    with pytest.raises(
        ParamError, match=r"must be one of auto .* wordllama, semantic, .* onnx, .* hashed, .* endpoint"
    ):
        named(name)


@each_row("name", ["hashed:0", "hashed:-1", "hashed:x", "hashed:1.5"])
def test_a_dimension_that_is_none_is_refused(name):
    with pytest.raises(ParamError, match="must be hashed:DIMENSION"):
        named(name)


@each_row(
    ("query", "rule"),
    [
        ("", "must end in"),
        ("?model=", "must end in"),
        ("?model=a&model=b", "must end in"),
        ("?model=a&key=b", "must end in"),
        ("?model", "is not an address"),
        ("?model=a&dimensions=0", "whole number of dimensions"),
    ],
)
def test_an_address_without_a_model_is_refused(query, rule):
    with pytest.raises(ParamError, match=rule):
        named(f"http://localhost:8080/v1{query}")


@pytest.mark.parametrize("name", ["http://u:sk-secret@h/v1?model=m", "http://h/v1?model=m&key=sk-secret"])
def test_a_key_in_an_address_is_refused_and_not_repeated(name):
    with pytest.raises(ParamError) as caught:
        named(name)
    assert "sk-secret" not in str(caught.value)


@pytest.mark.parametrize(
    "name",
    [
        *("wordllama", "semantic", "hashed:8", "onnx"),
        pytest.param("http://localhost:1/v1?model=m", marks=pytest.mark.extra),
    ],
)
def test_the_stamp_of_a_name_is_that_of_its_embedder(name):
    assert stamp(name) == stamp_of(named(name))


@pytest.mark.extra
def test_embedders_that_make_other_vectors_have_other_stamps():
    names = ["auto", "wordllama", "semantic", "hashed", "hashed:8", "onnx"]
    names += ["http://h/v1?model=m", "http://h/v1?model=n"]
    assert len({stamp(name) for name in names}) == len(names)


@pytest.mark.slow
def test_the_stamp_of_the_default_loads_neither_numpy_nor_weights():
    code = "import sys, priming.embedding.registry as r; r.stamp('auto'), r.stamp('wordllama');"
    code += "print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
