"""Ids that sort by time, and within a millisecond by the order in which one process made them; light to import."""

from __future__ import annotations

import hashlib
import os
import re
import threading
from datetime import UTC, datetime, timedelta

_TAIL = 74
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_VERSION_7 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
_lock = threading.Lock()
_last = (-1, 0)


def uuid7(at: datetime) -> str:
    """Return a UUID of version 7: 48 bits of milliseconds, then 74 bits.

    The 74 bits are random for the first id of a millisecond; each further id of this process adds a random step
    (RFC 9562, section 6.2, method 2), so that ids sort in order of creation even if the clock does not move.
    """
    milliseconds = max(0, int(at.timestamp() * 1000)) & (2**48 - 1)
    tail = _tail(milliseconds)
    value = (
        (milliseconds << 80) | (0x7 << 76) | ((tail >> 62 & 0xFFF) << 64) | (0b10 << 62) | tail & (2**62 - 1)
    )
    text = f"{value:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def derived(base: str, *names: str) -> str:
    """Return the id that follows from another and some names: always the same, with the time of ``base``.

    >>> derived("01890a5d-ac96-774b-bcce-b302099a8057", "sleep") == derived(
    ...     "01890a5d-ac96-774b-bcce-b302099a8057", "sleep"
    ... )
    True
    """
    text = "\0".join((base, *names)).encode("utf-8", "surrogatepass")
    tail = hashlib.blake2b(text, digest_size=10).hexdigest()
    return f"{base[:13]}-7{tail[:3]}-{'89ab'[int(tail[3], 16) & 3]}{tail[4:7]}-{tail[7:19]}"


def time_of(memory_id: str) -> datetime | None:
    """Return when an id of version 7 was made, to the millisecond; None for another id.

    >>> time_of(uuid7(datetime(2026, 3, 4, 9, 30, tzinfo=UTC))), time_of("note")
    (datetime.datetime(2026, 3, 4, 9, 30, tzinfo=datetime.timezone.utc), None)
    """
    if not _VERSION_7.fullmatch(memory_id):
        return None
    return _EPOCH + timedelta(milliseconds=int(memory_id[:8] + memory_id[9:13], 16))


def _tail(milliseconds: int) -> int:
    """Return the bits after the time: greater than the last ones if the millisecond is the same."""
    global _last
    with _lock:
        last, tail = _last
        if milliseconds == last:
            tail += 1 + int.from_bytes(os.urandom(5), "big")
        else:
            # The top bit is free for the steps.
            tail = int.from_bytes(os.urandom(10), "big") >> (80 - _TAIL + 1)
        _last = (milliseconds, tail)
        return tail
