"""The envelope of the socket's answers, and errors through it: told on one side, raised on the other."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from priming import __version__, errors
from priming.api.host import told
from priming.errors import MissingExtra, ParamError, PrimingError

INTERNAL, TOO_LONG = "internal", "too_long"
"""The codes of what should not have happened, and of an answer that is longer than a message may be."""

_CLASSES: Mapping[str, type[PrimingError]] = {
    one.code: one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, PrimingError)
}
_EXTRA = re.compile(r"needs the extra '([^']*)'")


def done(data: Any) -> dict[str, Any]:
    """The envelope of an answer.

    >>> done("pong")
    {'status': 'ok', 'data': 'pong', 'error': None, 'version': '0.1.0'}
    """
    return {"status": "ok", "data": data, "error": None, "version": __version__}


def failed(error: PrimingError) -> dict[str, Any]:
    """The envelope of an error: its code, its message, and one by one what is wrong with the arguments."""
    about: dict[str, Any] = {**told(error)}
    if isinstance(error, ParamError):
        about["violations"] = list(error.violations)
    return _error(about)


def broken() -> dict[str, Any]:
    """The envelope of what should not have happened: nothing is said of it, the server's log has it."""
    return _error({"code": INTERNAL, "message": "something is wrong with the server: its log says what"})


def too_long(limit: int) -> dict[str, Any]:
    """The envelope in place of one that is longer than a message may be. What was asked for is done."""
    said = f"the answer has more than {limit:,} bytes: ask for less at a time"
    return _error({"code": TOO_LONG, "message": said})


def _error(about: Mapping[str, Any]) -> dict[str, Any]:
    return {"status": "error", "data": None, "error": about, "version": __version__}


def data_of(envelope: Mapping[str, Any]) -> Any:
    """What an envelope holds; the error of another is raised again, in its own class.

    >>> data_of(done([1, 2]))
    [1, 2]
    """
    if envelope.get("status") == "ok":
        return envelope["data"]
    raise raised(envelope["error"])


def raised(about: Mapping[str, Any]) -> PrimingError:
    """The error that was told, in the class that has its code."""
    message = str(about["message"])
    kind = _CLASSES.get(about["code"], PrimingError)
    if issubclass(kind, ParamError):
        error: PrimingError = ParamError.of(about.get("violations") or [message])
        if note := message.removeprefix(str(error)).removeprefix("; "):
            error.add_note(note)
        return error
    error = kind.__new__(kind)
    Exception.__init__(error, message)
    if isinstance(error, MissingExtra):
        named = _EXTRA.search(message)
        error.extra = named[1] if named else ""
    return error
