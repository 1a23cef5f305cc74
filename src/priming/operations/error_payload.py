"""Errors as every surface answers them, and the errors that a client raises from such answers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from priming import errors
from priming.errors import MissingExtra, ParamError, PrimingError

_CLASSES: Mapping[str, type[PrimingError]] = {
    kind.code: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, PrimingError)
}
_EXTRA = re.compile(r"needs the extra '([^']*)'")


def error_payload(error: PrimingError) -> dict[str, str]:
    """An error as every surface answers it: its stable code, and its message with its notes.

    >>> error_payload(errors.NotFound("there is no memory 'x'"))
    {'code': 'not_found', 'message': "there is no memory 'x'"}
    """
    return {"code": error.code, "message": "; ".join([str(error), *getattr(error, "__notes__", [])])}


def full_error_payload(error: PrimingError) -> dict[str, Any]:
    """An error with its violations in a list as well, so that a client can raise the same error again."""
    payload: dict[str, Any] = {**error_payload(error)}
    if isinstance(error, ParamError):
        payload["violations"] = list(error.violations)
    return payload


def error_from_payload(payload: Mapping[str, Any]) -> PrimingError:
    """The error that a payload describes, in the class that has its code."""
    message = str(payload["message"])
    kind = _CLASSES.get(payload["code"], PrimingError)
    if issubclass(kind, ParamError):
        error: PrimingError = ParamError.of(payload.get("violations") or [message])
        if note := message.removeprefix(str(error)).removeprefix("; "):
            error.add_note(note)
        return error
    error = kind.__new__(kind)
    Exception.__init__(error, message)
    if isinstance(error, MissingExtra):
        extra = _EXTRA.search(message)
        error.extra = extra[1] if extra else ""
    return error
