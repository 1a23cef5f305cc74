"""What goes over HTTP: requests as JSON, read with limits, and answers and errors as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from priming.api.host import told
from priming.errors import NotFound, ParamError, PrimingError, StoreError

JSON = "application/json"
STATUS: Mapping[str, int] = {
    "bad_param": 400,
    "not_found": 404,
    "conflict": 409,
    "store": 500,
    "corrupt": 500,
    "schema_too_new": 500,
    "priming": 500,
    "missing_extra": 501,
    "embedder": 502,
    "agent": 502,
    "busy": 503,
}
"""The status of an answer by the code of the error."""

MEANINGS: Mapping[int, str] = {
    400: "An argument is missing, unknown or out of range (`bad_param`)",
    401: "No token, or one that is not known or was revoked (`unauthorised`)",
    403: "A token of another namespace, or a request from another site (`forbidden`)",
    404: "There is nothing of that name (`not_found`)",
    405: "There is something here, for another method (`method_not_allowed`)",
    408: "The body did not arrive in time (`timeout`)",
    409: "It contradicts what is there: a key that is taken, an operation carried out already (`conflict`)",
    413: "The body is too large (`too_large`)",
    415: "The body is no `application/json` (`unsupported_media_type`)",
    429: "Too many requests: see `Retry-After` (`too_many`)",
    500: "The store cannot be read or written, or a bug (`store`, `corrupt`, `schema_too_new`, `internal`)",
    501: "An optional dependency is not installed (`missing_extra`)",
    502: "A model did not do its part (`embedder`, `agent`)",
    503: "Another process writes, or too many calls are waiting: see `Retry-After` (`busy`, `overloaded`)",
    504: "It takes too long; what was begun goes on (`timeout`)",
}
"""What each status of an error means, and the codes it comes with."""


class Refused(Exception):
    """A request that the server does not carry out, with the answer that it gets."""

    def __init__(
        self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message
        self.headers = dict(headers or {})

    def response(self) -> Response:
        """The answer."""
        return respond(
            {"error": {"code": self.code, "message": self.message}}, self.status, headers=self.headers
        )


def refusal(error: PrimingError, *, everywhere: bool) -> Refused:
    """What an error of the library becomes. Only who may use all namespaces reads names of others, and of files."""
    said = told(error)
    if not everywhere and isinstance(error, NotFound):
        said["message"] = str(error)
    if not everywhere and isinstance(error, StoreError):
        said["message"] = f"the store failed ({error.code}): nothing was changed; the server's log says more"
    headers = {"Retry-After": "1"} if error.code == "busy" else None
    return Refused(STATUS.get(error.code, 500), said["code"], said["message"], headers)


def respond(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A value as an answer."""
    return Response(written(value), status, headers, JSON)


def written(value: Any) -> bytes:
    """A value as JSON."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")


def parsed(body: bytes, depth: int) -> Any:
    """What a body says; an empty one is a request without arguments.

    >>> parsed(b'{"limit": 3}', 64)
    {'limit': 3}
    """
    if not body.strip():
        return {}
    try:
        text = body.decode("utf-8")
        value = json.loads(text, parse_constant=_refuse, parse_float=_finite)
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeError:
        raise ParamError("body", body[:60], "must be text in UTF-8") from None
    except RecursionError:
        raise _too_deep(depth) from None
    except ValueError as error:
        raise ParamError("body", body[:60], f"must be JSON: {error}") from None
    level = [value]
    for _ in range(depth + 1):
        level = [
            inner
            for one in level
            for inner in (one.values() if isinstance(one, dict) else one if isinstance(one, list) else ())
        ]
    if level:
        raise _too_deep(depth)
    return value


def _too_deep(depth: int) -> ParamError:
    return ParamError("body", "…", f"must be nested at most {depth} deep")


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:20]} is too large a number")
    return number
