"""The contestants of ``benchmarks/dropins.py``: each finds again what it was given, also when it is opened anew."""

import json
import warnings

import pytest
from benchmarks.dropin_stores import STORES, Vectors, reopened

pytestmark = pytest.mark.adapters

NOTES = [
    ("kite", "Tomas looks after Kite."),
    ("falcon", "Grace looks after Falcon."),
    ("bread", "Dough rises overnight."),
]


@pytest.mark.parametrize("name", [name for name in STORES if "server" not in name])
def test_a_contestant_finds_a_note_again(name, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "items.json").write_text(json.dumps(NOTES), "utf-8")
    with warnings.catch_warnings(action="ignore"):
        vectors = Vectors()
        store = STORES[name](tmp_path, vectors)
        store.load(NOTES)
        assert store.search("Who cares for Falcon?")[0] == "falcon"
        store.close()
        vectors.save(tmp_path)
        again = reopened(name, tmp_path, saved := Vectors(tmp_path))
        assert again.search("Who cares for Falcon?")[0] == "falcon"
        assert saved.seconds == 0  # it read no text by the model
        again.close()
