"""One tree of errors with stable codes, and messages that can be acted on."""

import pytest

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


@pytest.mark.parametrize(("name", "code"), CODES.items())
def test_each_error_is_of_the_tree_and_has_its_code(name, code):
    cls = getattr(errors, name)
    assert issubclass(cls, PrimingError)
    assert cls.code == code


@pytest.mark.parametrize("name", ["Busy", "Corrupt", "SchemaTooNew"])
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
    assert "pip install 'priming[fast]'" in str(MissingExtra("fast", "the compiled kernel"))
