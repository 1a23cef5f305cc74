"""Request and response bodies: JSON read within limits, answers and errors written as JSON."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from priming.core.arguments.checks import parse_json
from priming.errors import Busy, PrimingError, StoreError, brief
from priming.operations.connection import JSON
from priming.operations.local_http import STATUS, json_bytes
from priming.serialization import error_payload, outward_message
from priming_server import telemetry

MEANINGS: Mapping[int, str] = {
    400: "An argument is missing, unknown or out of range (`bad_param`)",
    401: "No token, or an unknown or revoked one (`unauthorised`)",
    403: "A token of another namespace, or a request from another site (`forbidden`)",
    404: "There is nothing of that name (`not_found`)",
    405: "This path needs another method (`method_not_allowed`)",
    408: "The body did not arrive in time (`timeout`)",
    409: "It conflicts with the current state: a key is taken, or the operation was already carried out (`conflict`)",
    413: "The body is too large (`too_large`)",
    415: "The body is no `application/json` (`unsupported_media_type`)",
    429: "Too many requests: see `Retry-After` (`too_many`)",
    500: "The store cannot be read or written, or a bug (`store`, `corrupt`, `schema_too_new`, `internal`)",
    501: "An optional dependency is not installed (`missing_extra`)",
    502: "A model failed (`embedder`, `agent`)",
    503: "Another process writes, or too many calls are waiting: see `Retry-After` (`busy`, `overloaded`)",
    504: "It takes too long; what was begun goes on (`timeout`)",
}
"""The meaning of each error status, and its codes."""


class Refused(Exception):
    """A request that the server does not carry out, with the error that it answers."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        headers: Mapping[str, str] | None = None,
        *,
        payload: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message
        self.headers = dict(headers or {})
        self.payload = dict(payload or {"code": code, "message": message})

    def response(self) -> Response:
        """Return the error as a response."""
        return respond({"error": self.payload}, self.status, headers=self.headers)


def refusal(error: PrimingError, *, everywhere: bool) -> Refused:
    """Return the response to an error of the library.

    Names of other namespaces and of files are only for those who may use all namespaces.
    """
    payload = dict(error_payload(error))
    if not everywhere:
        payload["message"] = outward_message(error)
    if isinstance(error, StoreError) and not isinstance(error, Busy):
        telemetry.write(logging.ERROR, "the store failed", error=error, reason=brief(str(error)))
    headers = {"Retry-After": "1"} if error.code == "busy" else None
    return Refused(STATUS.get(error.code, 500), payload["code"], payload["message"], headers, payload=payload)


def bug(error: Exception, subject: str, **fields: object) -> Refused:
    """Return the response to what nobody expected; the log has it, with the fields by which ``subject`` is found."""
    telemetry.write(logging.ERROR, "a bug", error=error, **fields)
    return Refused(500, "internal", f"a bug: the server's log has it under {subject}")


def respond(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a value as a response."""
    return Response(json_bytes(value), status, headers, JSON)


def parse_body(body: bytes, depth: int, values: int) -> Any:
    """Return the value of a JSON body; an empty body is a request without arguments.

    >>> parse_body(b'{"limit": 3}', 64, 1_000)
    {'limit': 3}
    """
    return parse_json("body", body, depth, values) if body.strip() else {}
