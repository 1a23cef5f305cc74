"""An error that goes through a payload comes out as it went in."""

from tests.rows import each_row

from priming import errors
from priming.errors import MissingExtra, ParamError, PrimingError
from priming.serialization import error_from_payload, full_error_payload

KINDS = sorted(
    (kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, PrimingError)),
    key=lambda kind: kind.__name__,
)


@each_row("kind", [kind for kind in KINDS if kind not in (ParamError, MissingExtra)])
def test_every_error_comes_back_in_its_own_class_with_its_message(kind):
    back = error_from_payload(full_error_payload(kind("what happened")))
    assert (type(back), str(back)) == (kind, "what happened")


def test_everything_that_is_wrong_with_arguments_comes_back():
    error = ParamError.of(["a = 1: must be 2", "b = 3: must be 4"])
    error.add_note("item 5")
    back = error_from_payload(full_error_payload(error))
    assert back.violations == error.violations
    assert (str(back), back.__notes__) == (str(error), ["item 5"])


def test_a_missing_extra_still_names_it():
    back = error_from_payload(full_error_payload(MissingExtra("fleet", "a Ray cluster")))
    assert (type(back), back.extra, str(back)) == (
        MissingExtra,
        "fleet",
        str(MissingExtra("fleet", "a Ray cluster")),
    )


def test_an_unknown_code_is_an_error_of_priming():
    back = error_from_payload({"code": "from a later version", "message": "what happened"})
    assert (type(back), str(back)) == (PrimingError, "what happened")
