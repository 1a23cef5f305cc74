"""Cost is bounded by the size of the input: no reader takes more than 2.5 times as long for twice as much.

Every reader is attacked with the general texts that have proved dangerous, and with a sample of its own of the other
general texts and of those derived from the patterns of the reader's modules; a failure names the text.
"""

import importlib
import random
import re

import pytest

from . import measuring
from .crafted import Crafted, derived, general
from .measuring import growth
from .readers import READERS
from .test_registry import patterns_of

SAMPLE = 8
DANGEROUS = tuple(
    Crafted("", unit, tail)
    for unit in (
        "a",
        " ",
        "\n",
        ".",
        "[",
        "(",
        "{",
        '"',
        "`",
        "/",
        "-",
        "_",
        ",",
        "1",
        "<",
        "*",
        "A b ",
        '\\"',
        "{a,b}",
    )
    for tail in ("", "\x01")
)


def texts_for(reader):
    """The texts that a reader is attacked with."""
    chosen = random.Random(reader.name)
    modules = map(importlib.import_module, reader.modules)
    patterns = {
        pattern for module in modules for value in vars(module).values() for pattern in patterns_of(value)
    }
    own = sorted(
        {crafted for pattern in patterns if isinstance(pattern.pattern, str) for crafted in derived(pattern)}
    )
    others = sorted(set(general()))
    return [
        *DANGEROUS,
        *chosen.sample(others, min(SAMPLE, len(others))),
        *chosen.sample(own, min(SAMPLE, len(own))),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_a_reader_takes_as_much_longer_as_its_text_is_longer(reader):
    for crafted in texts_for(reader):
        wrong = growth(reader.read, crafted.text)
        assert wrong is None, f"{reader.name} on {crafted}: {wrong}"


@pytest.mark.slow
def test_the_measure_tells_linear_from_quadratic_and_endless_work(monkeypatch):
    monkeypatch.setattr(measuring, "PATIENCE", 0.5)  # the measure is the same with less of both
    monkeypatch.setattr(measuring, "PAIRS", 3)

    def crafted(size):
        return "a" * size

    assert growth(lambda text: sum(map(ord, text * 20)), crafted) is None
    assert growth(re.compile("a*b").findall, crafted) is not None
    assert growth(lambda text: all(letter for letter in iter(lambda: text, "")), crafted) is not None
