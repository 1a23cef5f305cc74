"""Ids that sort by time."""

from __future__ import annotations

import os
from datetime import datetime


def uuid7(at: datetime) -> str:
    """A UUID of version 7: 48 bits of milliseconds, then 74 random bits (RFC 9562)."""
    milliseconds = max(0, int(at.timestamp() * 1000)) & (2**48 - 1)
    bits = int.from_bytes(os.urandom(10), "big")
    value = (
        (milliseconds << 80) | (0x7 << 76) | ((bits >> 62 & 0xFFF) << 64) | (0b10 << 62) | bits & (2**62 - 1)
    )
    text = f"{value:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
