"""An error that goes through an envelope comes out as it went in."""

import pytest
from priming.api import envelope

from priming import errors
from priming.errors import MissingExtra, NotFound, ParamError, PrimingError

KINDS = sorted(
    (one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, PrimingError)),
    key=lambda kind: kind.__name__,
)


@pytest.mark.parametrize("kind", [one for one in KINDS if one not in (ParamError, MissingExtra)])
def test_every_error_comes_back_in_its_own_class_with_its_message(kind):
    back = envelope.raised(envelope.failed(kind("what happened"))["error"])
    assert (type(back), str(back)) == (kind, "what happened")


def test_everything_that_is_wrong_with_arguments_comes_back():
    error = ParamError.of(["a = 1: must be 2", "b = 3: must be 4"])
    error.add_note("item 5")
    back = envelope.raised(envelope.failed(error)["error"])
    assert back.violations == error.violations
    assert (str(back), back.__notes__) == (str(error), ["item 5"])


def test_a_missing_extra_still_names_it():
    back = envelope.raised(envelope.failed(MissingExtra("fast", "the kernel"))["error"])
    assert (type(back), back.extra, str(back)) == (
        MissingExtra,
        "fast",
        str(MissingExtra("fast", "the kernel")),
    )


def test_an_unknown_code_is_an_error_of_priming():
    back = envelope.raised({"code": "from a later version", "message": "what happened"})
    assert (type(back), str(back)) == (PrimingError, "what happened")


def test_data_comes_back_and_errors_are_raised():
    assert envelope.data_of(envelope.done({"a": [1]})) == {"a": [1]}
    with pytest.raises(NotFound, match="it is not there"):
        envelope.data_of(envelope.failed(NotFound("it is not there")))
    with pytest.raises(PrimingError, match="its log says what"):
        envelope.data_of(envelope.broken())
