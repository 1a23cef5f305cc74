"""What the tests of hooks share."""

import threading
import time

DEADLINE = 30.0


def until(condition, what="it", seconds=DEADLINE):
    """Ask again and again, until the answer is true; that answer."""
    deadline = time.monotonic() + seconds
    while not (result := condition()):
        assert time.monotonic() < deadline, f"{what} did not come about in {seconds} s"
        threading.Event().wait(0.005)
    return result
