"""Ids that sort by time, and within a millisecond by the order in which one process made them; light to import."""

from __future__ import annotations

import os
import threading
from datetime import datetime

_TAIL = 74
_lock = threading.Lock()
_last = (-1, 0)


def uuid7(at: datetime) -> str:
    """A UUID of version 7: 48 bits of milliseconds, then 74 bits.

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


def _tail(milliseconds: int) -> int:
    """The bits after the time: greater than the last ones if the millisecond is the same."""
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
