"""How the work of a reader grows with its input, in processor time, so that no load of the machine counts.

A doubled input may take 2.5 times the time. What takes less than the noise floor passes; what seems to grow too fast
is measured again, in pairs over three doublings, and what uses up its time is stopped there.
"""

import gc
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

FLOOR = 0.03
"""Seconds of processor time below which a measurement says nothing."""
MOST = 2.5
"""How many times the time a doubled input may take."""
PATIENCE = 4.0
"""Seconds of processor time after which one reading is stopped."""
ENDLESS = float("inf")
SMALL, LARGE = 32_000, 128_000
"""Characters that a reader is measured with; with the large number of them if it is fast enough."""
PAIRS = 9
"""How many pairs of measurements have to agree that the time grows too fast."""
FAST = 0.004
"""Seconds for the small number of characters that let the large one be measured too."""


class TooSlow(Exception):
    pass


@contextmanager
def stopped_after(seconds: float) -> Iterator[None]:
    """Raise ``TooSlow`` after some processor time; the matching of patterns can be interrupted as well."""

    def stop(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def seconds(read: Callable[[Any], Any], value: Any) -> float:
    """The processor time of one reading; infinite if it is stopped."""
    gc.disable()
    try:
        with stopped_after(PATIENCE):
            start = time.process_time()
            read(value)
            return time.process_time() - start
    except TooSlow:
        return ENDLESS
    finally:
        gc.enable()


def growth(
    read: Callable[[Any], Any], make: Callable[[int], Any], sizes: tuple[int, ...] = (SMALL, LARGE)
) -> str | None:
    """What is wrong with how the time of ``read(make(size))`` grows; None if nothing is."""
    spent = 0.0
    for size in sizes:
        if size != sizes[0] and spent > FAST:
            return None
        spent = seconds(read, make(size))
        if spent >= FLOOR and (wrong := _too_fast(read, make, size, spent)):
            return wrong
    return None


def _too_fast(read: Callable[[Any], Any], make: Callable[[int], Any], size: int, spent: float) -> str | None:
    half, whole = ENDLESS, spent
    for _ in range(3):
        half = min(half, seconds(read, make(size // 2)))
        if half == ENDLESS:
            return f"{size // 2:,} characters: stopped after {PATIENCE} s"
        if whole <= MOST * max(half, FLOOR / 2):
            return None
        whole = min(whole, seconds(read, make(size)))
    # What grows too fast goes on to do so, a step in the cost of memory does not: over three doublings. The two times
    # of a pair are taken one after the other, so that a machine that is slow for a while is slow for both.
    for _ in range(PAIRS):
        small, large = seconds(read, make(size // 2)), seconds(read, make(4 * size))
        if small < ENDLESS and large <= MOST**3 * max(small, FLOOR / 2):
            return None
    return f"{size // 2:,} → {4 * size:,} characters: {small:.3f} → {large:.3f} s"
