"""Fingerprints: equal for equal items however a number was stored, and different for all others."""

from dataclasses import replace

from priming.maintenance.migrate import DigestedItems, PartDigest, fingerprint
from priming.storage.protocol import Logged
from priming.storage.rows import RowChange, VectorRow

from .making import DAY, NOW, link, memory, trace, version


def test_equal_items_have_equal_fingerprints_whatever_kind_of_number_they_hold():
    assert fingerprint(memory("a", priority=0)) == fingerprint(memory("a", priority=0.0))
    first = version("a", metadata={"n": 1, "x": {"b": 1, "a": 2}})
    second = version("a", metadata={"x": {"a": 2, "b": 1}, "n": 1})
    assert fingerprint(first) == fingerprint(second)
    assert fingerprint(version("a", metadata={"n": 1})) != fingerprint(version("a", metadata={"n": "1"}))


def test_every_field_counts():
    items = (memory("a"), version("a"), link("a", "b"), trace("r", NOW, "a", flow=b"x", nodes=("a",)))
    changed = (
        replace(items[0], weight=0.25),
        replace(items[1], tags=("x",)),
        replace(items[2], created_at=NOW + DAY),
        replace(items[3], flow=b"y"),
    )
    for before, after in zip(items, changed, strict=True):
        assert fingerprint(before) != fingerprint(after)
    logged = Logged(1, "o", "remember", NOW, rows=(RowChange(None, memory("a")),))
    assert fingerprint(logged) != fingerprint(replace(logged, rows=(RowChange(memory("a"), None),)))
    assert fingerprint(logged) != fingerprint(replace(logged, number=2))
    assert fingerprint(VectorRow("a", 1, "g", b"1234")) != fingerprint(VectorRow("a", 1, "g", b"1235"))


def test_a_digest_counts_its_items_and_depends_on_their_order():
    def digest(*items) -> PartDigest:
        digested = DigestedItems()
        digested.add(items)
        return digested.digest

    assert digest(memory("a"), memory("b")) == digest(memory("a"), memory("b"))
    assert digest(memory("a"), memory("b")) != digest(memory("b"), memory("a"))
    assert digest(memory("a")).count == 1
    assert digest().count == 0
