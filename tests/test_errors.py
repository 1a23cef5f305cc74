"""One tree of errors with stable codes, and messages that can be acted on."""

import tracemalloc
from datetime import UTC, datetime

import pytest
from tests.rows import each_row

from priming import errors
from priming.errors import MissingExtra, ParamError, PrimingError

CODES = {
    "AgentError": "agent",
    "BenchError": "bench",
    "Busy": "busy",
    "Conflict": "conflict",
    "Corrupt": "corrupt",
    "EmbedderError": "embedder",
    "MissingExtra": "missing_extra",
    "NotFound": "not_found",
    "ParamError": "bad_param",
    "SchemaTooNew": "schema_too_new",
    "StoreError": "store",
}


@each_row(("name", "code"), CODES.items())
def test_each_error_is_of_the_tree_and_has_its_code(name, code):
    cls = getattr(errors, name)
    assert issubclass(cls, PrimingError)
    assert cls.code == code


@each_row("name", ["Busy", "Corrupt", "SchemaTooNew"])
def test_what_a_database_can_suffer_is_a_store_error(name):
    assert issubclass(getattr(errors, name), errors.StoreError)


def test_the_tree_in_the_docstring_is_the_tree():
    drawn = {word for word in errors.__doc__.split() if word in vars(errors)}
    assert drawn == {*CODES, "PrimingError"}


def test_a_bad_argument_is_also_a_value_error_and_says_name_value_and_rule():
    with pytest.raises(ValueError, match=r"^weight = 1.5: must be in \[0, 1\]$"):
        raise ParamError("weight", 1.5, "must be in [0, 1]")


def test_a_huge_value_is_cut_in_the_message():
    assert len(str(ParamError("content", "x" * 10_000_000, "is too long"))) < 200


def test_a_missing_extra_names_the_command_that_installs_it():
    assert "pip install 'priming[fleet]'" in str(MissingExtra("fleet", "work on many machines"))


def test_around_an_import_that_fails_a_missing_extra_is_raised_and_around_others_nothing():
    with (
        pytest.raises(MissingExtra, match=r"a cluster needs the extra 'fleet'") as raised,
        MissingExtra("fleet", "a cluster"),
    ):
        raise ImportError("no module")
    assert isinstance(raised.value.__cause__, ImportError)
    with pytest.raises(ValueError, match="mine"), MissingExtra("fleet", "a cluster"):
        raise ValueError("mine")


def test_fifty_violations_are_told_and_the_others_counted():
    error = ParamError.of([f"item {n}: must be given" for n in range(10_000)])
    assert len(error.violations) == 51
    assert error.violations[-2:] == ("item 49: must be given", "… and 9,950 more")
    assert str(error).endswith("… and 9,950 more")
    assert len(ParamError.of([f"{n}" for n in range(50)]).violations) == 50


def test_what_is_counted_stays_counted_when_an_error_is_told_again():
    first = ParamError.of([f"{n}: must be given" for n in range(60)])
    again = ParamError.of([f"line 3: {violation}" for violation in first.violations])
    assert again.violations[-1] == "… and 10 more"
    assert ParamError.of(["a", *again.violations]).violations[-1] == "… and 11 more"


@each_row(
    "value",
    [
        [{}] * 3_000_000,
        {"a": [["x" * 100] * 10_000]},
        ({"k": 1},) * 10_000,
        [[[["deep"] * 10_000] * 1_000] * 1_000],
    ],
)
def test_a_huge_container_is_not_written_out_to_be_cut(value):
    tracemalloc.start()
    try:
        assert len(str(ParamError("items", value, "must be short"))) < 200
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


def test_a_time_is_shown_as_it_is_typed():
    assert errors.shown(datetime(2026, 3, 1, tzinfo=UTC)) == "'2026-03-01T00:00:00+00:00'"


@each_row("value", [[1, "a"], {"b": (1,)}, (), {}, [[]], {1: None}, "x", 2.5, b"y", None, (1, 2)])
def test_a_small_value_is_shown_as_python_writes_it(value):
    assert errors.shown(value) == repr(value)
