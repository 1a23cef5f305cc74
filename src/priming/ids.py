"""Ids that sort by time, and within a millisecond by the order in which one process made them."""

from __future__ import annotations

import os
import threading
from datetime import datetime

_TAIL = 74
_lock = threading.Lock()
_last = (-1, 0)


def uuid7(at: datetime) -> str:
    """A UUID of version 7: 48 bits of milliseconds, then 74 bits.

    Those are random at the first id of a millisecond; each further id of it, in this process, adds a random step
    (RFC 9562, section 6.2, method 2), so that what is told first sorts first even where the clock stands still.
    """
    milliseconds = max(0, int(at.timestamp() * 1000)) & (2**48 - 1)
    tail = _tail(milliseconds)
    value = (
        (milliseconds << 80) | (0x7 << 76) | ((tail >> 62 & 0xFFF) << 64) | (0b10 << 62) | tail & (2**62 - 1)
    )
    text = f"{value:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def _tail(milliseconds: int) -> int:
    """The bits after the time: above the last ones where that millisecond has begun."""
    global _last
    with _lock:
        begun, tail = _last
        if milliseconds == begun:
            tail += 1 + int.from_bytes(os.urandom(5), "big")
        else:
            # A bit is kept free at the top, for the steps.
            tail = int.from_bytes(os.urandom(10), "big") >> (80 - _TAIL + 1)
        _last = (milliseconds, tail)
        return tail
