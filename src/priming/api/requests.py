"""A message of the socket becomes a call, and the call's outcome an envelope."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from priming.api import actions, envelope
from priming.api.host import Host, Progress
from priming.errors import ParamError, PrimingError

TAKES = ("op", "namespace", "args", "id", "operation_id", "progress", "forgiving")
"""What a request of an operation may hold."""


class Gone(Exception):
    """Whoever asked went away, or the server ends: raised by ``progress``, so that what takes long ends, too."""


_log = logging.getLogger(__name__)


def reply(host: Host, message: Mapping[str, Any], progress: Progress | None = None) -> dict[str, Any]:
    """The envelope that answers a message; an ``id`` of an operation's request stands in it, too."""
    try:
        told = envelope.done(_call(host, message, progress))
    except PrimingError as error:
        told = envelope.failed(error)
    except Gone:
        raise
    except Exception as error:  # noqa: BLE001
        _tell(error)
        told = envelope.broken()
    return {**told, "id": message["id"]} if "op" in message and "id" in message else told


def wants_progress(message: Mapping[str, Any]) -> bool:
    """Whether the sender of a request wants to hear how far it is."""
    return message.get("progress") is True


def _call(host: Host, message: Mapping[str, Any], progress: Progress | None) -> Any:
    if "action" in message:
        return actions.act(host, message, progress)
    if not isinstance(message.get("op"), str):
        raise ParamError("op", message.get("op"), 'must name an operation, such as "recall"')
    for name in message:
        if name not in TAKES:
            raise ParamError(name, message[name], f"is no part of a request: it has {', '.join(TAKES)}")
    namespace, asked = message.get("namespace"), message.get("operation_id")
    if asked is not None and not isinstance(asked, str):
        raise ParamError("operation_id", asked, "must be a UUID, as text")
    args = message.get("args")
    return host.call(
        "default" if namespace is None else namespace,
        message["op"],
        {} if args is None else args,
        forgiving=message.get("forgiving") is True,
        progress=progress,
        operation_id=asked,
    )


def _tell(error: Exception) -> None:
    """Log where it broke; what was said there may be of a memory, and is for debugging only."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    _log.error("%s in %s, line %d", type(error).__name__, Path(last.filename).name, last.lineno or 0)
    _log.debug("it was", exc_info=error)
