"""Models of fastembed's list, with the packaged model in a folder laid out as the library's cache."""

from __future__ import annotations

import json
import shutil
import socket
from importlib.util import find_spec

import numpy as np
import pytest

from priming import Memory
from priming.config import environment
from priming.embedding.onnx import OnnxEmbedder
from priming.embedding.registry import named
from priming.embedding.weights import packaged
from priming.errors import EmbedderError, ParamError

pytestmark = [
    pytest.mark.slow,  # the library is imported, and a model is loaded
    pytest.mark.skipif(find_spec("fastembed") is None, reason="the extra fastembed is not installed"),
]

NAME = "sentence-transformers/all-MiniLM-L6-v2"
TEXTS = ["The cat sat on the mat.", "Interest rates rose in March.", "naïve café — 東京都 🎉"]


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    """Whoever opens a connection fails."""

    def refuse(*_):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """The cache as a download leaves it: one repository, one revision, its files."""
    from fastembed import TextEmbedding

    (about,) = [each for each in TextEmbedding.list_supported_models() if each["model"] == NAME]
    repository = tmp_path / f"models--{about['sources']['hf'].replace('/', '--')}"
    snapshot = repository / "snapshots" / "5f1b8cd78bc4fb444dd171e59b18f3a3af89a079"
    snapshot.mkdir(parents=True)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(snapshot.name)
    files = packaged()
    (snapshot / about["model_file"]).parent.mkdir(exist_ok=True)
    shutil.copy(files.model, snapshot / about["model_file"])
    shutil.copy(files.tokenizer, snapshot / "tokenizer.json")
    (snapshot / "config.json").write_text(json.dumps({"pad_token_id": 0}))
    (snapshot / "tokenizer_config.json").write_text(
        json.dumps({"model_max_length": 256, "pad_token": "[PAD]"})
    )
    (snapshot / "special_tokens_map.json").write_text(json.dumps({"pad_token": "[PAD]"}))
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(tmp_path))
    return tmp_path


@pytest.mark.usefixtures("cache")
def test_a_model_in_the_cache_gives_the_vectors_that_its_files_give():
    embedder = named(f"fastembed:{NAME}")
    vectors = embedder.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), 384)
    assert vectors == pytest.approx(OnnxEmbedder().embed(TEXTS), abs=1e-4)
    assert embedder.generation.startswith("fastembed-all-MiniLM-L6-v2/384/")


@pytest.mark.usefixtures("cache")
def test_the_vector_of_a_text_does_not_depend_on_its_neighbours_and_an_empty_text_has_none():
    embedder = named(f"fastembed:{NAME}")
    together = embedder.embed([*TEXTS, " "])
    assert (together[:-1] == np.concatenate([embedder.embed([text]) for text in TEXTS])).all()
    assert not together[-1].any()
    assert embedder.embed([]).shape == (0, 384)


@pytest.mark.usefixtures("cache")
def test_a_store_is_embedded_and_recalled_with_it(tmp_path):
    with Memory.open(f"sqlite:///{tmp_path}/m.db", embedder=f"fastembed:{NAME}") as memory:
        memory.remember("The canteen is closed on Fridays.", key="canteen")
        memory.remember("Maria leads the mobile team.", key="maria")
        assert memory.recall("when can I not get lunch?").hits[0].memory.key == "canteen"


@pytest.mark.usefixtures("cache")
def test_a_model_that_is_not_in_the_cache_is_not_downloaded_and_the_remedy_is_told():
    with pytest.raises(
        EmbedderError, match="nothing is downloaded unasked; download it once: PRIMING_DOWNLOAD=yes"
    ):
        named("fastembed:BAAI/bge-small-en-v1.5").embed(["a"])


def test_other_weights_under_the_same_name_are_another_generation(cache):
    before = named(f"fastembed:{NAME}").generation
    (config,) = cache.rglob("config.json")
    config.write_text(json.dumps({"pad_token_id": 0, "revised": True}))
    assert named(f"fastembed:{NAME}").generation != before


@pytest.mark.usefixtures("cache")
def test_a_name_that_is_not_in_the_list_is_refused_with_those_like_it():
    with pytest.raises(ParamError, match=r"such as .*all-MiniLM-L6-v2"):
        named("fastembed:sentence-transformers/all-MiniLM-L6").embed(["a"])


def test_the_cache_is_in_the_users_own_folder_unless_fastembed_has_one(monkeypatch, tmp_path):
    monkeypatch.delenv("FASTEMBED_CACHE_PATH", raising=False)
    monkeypatch.setenv("PRIMING_HOME", str(tmp_path))
    assert environment.models_folder() == tmp_path / "models"


def test_the_permission_to_download_is_a_plain_word(monkeypatch):
    monkeypatch.setenv("PRIMING_DOWNLOAD", "perhaps")
    with pytest.raises(ParamError, match="must be yes or no"):
        named(f"fastembed:{NAME}")
