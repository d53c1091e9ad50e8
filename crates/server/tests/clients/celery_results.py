"""Waits for Celery's results."""

from waiting import until


def value_of(result, propagate=True):
    """Returns what a result is once it is there.

    Asks again and again. `get` by itself subscribes on one connection and then looks once on another: if the first is slow
    to be served, the task may end after that look and before the subscription, and its notice is never sent.
    """
    until(result.ready)
    return result.get(timeout=60, propagate=propagate)
