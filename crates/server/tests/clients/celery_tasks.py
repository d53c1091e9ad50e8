"""Celery at work, with its messages and results in the server: what it promises of tasks must hold with Bobbin beneath.

    celery_tasks.py PORT

All of it must hold with redis-server beneath, too. The worker is a process of its own, which finds the tasks in this file.
"""

import os
import subprocess
import sys

from celery import Celery, chain, chord, group
from celery.exceptions import TaskRevokedError
from celery_results import value_of
from redis import Redis
from waiting import until

PORT = int(sys.argv[1]) if sys.argv[1:] and sys.argv[1].isdigit() else int(os.environ["TRIAL_PORT"])
r = Redis(port=PORT, db=2)
app = Celery("celery_tasks", broker=f"redis://127.0.0.1:{PORT}/0", backend=f"redis://127.0.0.1:{PORT}/1")
app.conf.update(broker_connection_retry_on_startup=True, result_extended=True, task_acks_late=True,
                worker_prefetch_multiplier=4)


@app.task
def add(first, second):
    r.incr("ran")
    return first + second


@app.task
def total(numbers):
    return sum(numbers)


@app.task(bind=True, max_retries=2)
def fail_at_first(self, times):
    if self.request.retries < times:
        raise self.retry(countdown=0.1, exc=ValueError(f"try {self.request.retries + 1}"))
    return self.request.retries


@app.task(ignore_result=True)
def note(text):
    r.rpush("notes", text)


def many(tasks):
    results = [tasks.add.delay(number, 1) for number in range(300)]
    assert [value_of(result) for result in results] == [*range(1, 301)]
    assert r.get("ran") == b"300", "each ran once"
    assert all(result.successful() for result in results)


def together(tasks):
    assert value_of(group(tasks.add.s(number, number) for number in range(50))()) == [*range(0, 100, 2)]
    assert value_of(chain(tasks.add.s(1, 2), tasks.add.s(3), tasks.add.s(4))()) == 10
    assert value_of(chord([tasks.add.s(number, 0) for number in range(20)], tasks.total.s())()) == 190
    assert value_of(chord([tasks.add.s(1, 1), tasks.add.s(2, 2)], chain(tasks.total.s(), tasks.add.s(4)))()) == 10


def troubles(tasks):
    assert value_of(tasks.fail_at_first.delay(2)) == 2
    hopeless = tasks.fail_at_first.delay(9)
    error = value_of(hopeless, propagate=False)
    assert isinstance(error, ValueError) and "try 3" in str(error), error
    later, dropped = tasks.add.apply_async((1, 1), countdown=1), tasks.add.apply_async((2, 2), countdown=1)
    dropped.revoke()
    expired = tasks.note.apply_async(("expired",), countdown=0.5, expires=0.1)
    assert value_of(later) == 2
    assert isinstance(value_of(dropped, propagate=False), TaskRevokedError)
    [tasks.note.delay(text) for text in "abc"]
    until(lambda: r.llen("notes") == 3)
    assert sorted(r.lrange("notes", 0, -1)) == [b"a", b"b", b"c"]
    later.forget()
    assert expired.state in ("PENDING", "REVOKED") and later.state == "PENDING", "what was forgotten is not known"


def asked(tasks):
    """Questions to all workers, over pub/sub."""
    inspect = app.control.inspect(timeout=30, limit=1)
    [answer] = inspect.ping().values()
    assert answer == {"ok": "pong"}
    [registered] = inspect.registered().values()
    assert any("celery_tasks.add" in name for name in registered)
    [statistics] = inspect.stats().values()
    assert statistics["total"]["celery_tasks.note"] == 3


def main():
    import celery_tasks  # as the worker knows it

    for database in range(3):
        Redis(port=PORT, db=database).flushdb()
    command = [sys.executable, "-m", "celery", "--app", "celery_tasks", "worker", "--concurrency", "2", "--loglevel", "ERROR"]
    environment = dict(os.environ, PYTHONPATH=os.path.dirname(__file__), TRIAL_PORT=str(PORT), C_FORCE_ROOT="1")
    worker = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    try:
        for step in [many, together, troubles, asked]:
            step(celery_tasks)
    finally:
        worker.terminate()
        code = worker.wait(30)
    assert code == 0, code
    broker = Redis(port=PORT)
    assert broker.llen("celery") == 0 and broker.exists("unacked", "unacked_index") == 0, "nothing is left undone"
    print("Celery: all steps done")


if __name__ == "__main__":
    main()
