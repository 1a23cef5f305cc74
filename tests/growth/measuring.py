"""How the work of a reader grows with its input, in processor time, so that no load of the machine counts.

A doubled input may take 2.5 times the time. What takes less than the noise floor at the greatest size passes; what
seems to grow too fast is measured again, the best of several; what uses up its time is stopped there.
"""

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
SIZES = (4_000, 16_000, 64_000, 128_000)


class TooSlow(Exception):
    pass


@contextmanager
def stopped_after(seconds: float) -> Iterator[None]:
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
    try:
        with stopped_after(PATIENCE):
            start = time.process_time()
            read(value)
            return time.process_time() - start
    except TooSlow:
        return float("inf")


def best(read: Callable[[Any], Any], make: Callable[[int], Any], size: int, tries: int) -> float:
    return min(seconds(read, make(size)) for _ in range(tries))


def growth(
    read: Callable[[Any], Any], make: Callable[[int], Any], sizes: tuple[int, ...] = SIZES
) -> str | None:
    """What is wrong with how the time of ``read(make(size))`` grows; None if nothing is."""
    for size in sizes:
        spent = seconds(read, make(size))
        if spent < FLOOR:
            continue
        half, whole = best(read, make, size // 2, 1), spent
        if whole <= MOST * max(half, FLOOR / 2):
            if size * 4 > sizes[-1] or spent > 4 * FLOOR:
                return None
            continue
        for tries in (3, 5):
            half, whole = best(read, make, size // 2, tries), best(read, make, size, tries)
            if whole <= MOST * max(half, FLOOR / 2):
                break
        else:
            return f"{size // 2:,} → {size:,} characters: {half:.3f} → {whole:.3f} s"
    return None
