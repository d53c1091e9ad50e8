"""Waits of trials in Python for what a server, another process or the clock brings about."""

import time


def until(condition):
    """Returns once the condition is true; fails after a minute and a half."""
    for _ in range(9000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("what was waited for did not happen")
