"""Operations whose ids a client chose; light to import, as every call over a connection may need it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from priming.core.arguments.checks import check_uuid
from priming.namespace import Namespace


@contextmanager
def identified(memory: Namespace, operation_id: str) -> Iterator[None]:
    """Give the first operation inside the block an id of the caller's choice, so that the caller can find it.

    A caller that lost the answer to a call looks the id up with ``operation``, and repeats the call only if needed.

    Raises:
        ParamError: the id is not a UUID.
        Conflict: an operation has that id already; the verb inside the block raises it.

    """
    requested = check_uuid("operation_id", operation_id)
    with memory.lock:
        memory.requested_id = requested
        try:
            yield
        finally:
            memory.requested_id = None
