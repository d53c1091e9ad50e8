"""Celery on Bobbin's queues: what it promises of tasks, when all goes well and when workers or the server die.

    celery_queues.py PORT      with clients/python in PYTHONPATH

Workers are processes of their own, which find the tasks in this file. The server syncs before it replies.
"""

import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager

from celery import Celery, chain, chord, group
from celery.exceptions import Reject
from redis import Redis
from redis.backoff import ConstantBackoff
from redis.exceptions import ConnectionError, TimeoutError
from redis.retry import Retry

import bobbin_kombu
from celery_results import value_of
from waiting import until

PORT = int(sys.argv[1]) if sys.argv[1:] and sys.argv[1].isdigit() else int(os.environ["TRIAL_PORT"])
# Its tasks note what they do while the server is away, too.
patience = Retry(ConstantBackoff(0.1), 600)
r = Redis(port=PORT, db=2, decode_responses=True, retry=patience, retry_on_error=[ConnectionError, TimeoutError])
broker = Redis(port=PORT)
app = Celery("celery_queues", broker=f"{bobbin_kombu.SCHEME}://127.0.0.1:{PORT}/0", backend=f"redis://127.0.0.1:{PORT}/1")
app.conf.update(
    broker_connection_retry_on_startup=True,
    broker_transport_options={"lease_ms": 8000, "max_retries": 2, "dead_letter": "dead"},
    task_acks_late=True,
    worker_cancel_long_running_tasks_on_connection_loss=False,
)
#: Of a task that is to outlast its lease twice.
LONG_S = 18


@app.task
def add(first, second):
    r.incr("ran")
    return first + second


@app.task(acks_late=False)
def total(numbers):
    return sum(numbers)


@app.task(bind=True, max_retries=2)
def fail_at_first(self, times):
    if self.request.retries < times:
        raise self.retry(countdown=0.1, exc=ValueError(f"try {self.request.retries + 1}"))
    return self.request.retries


@app.task(bind=True, ignore_result=True)
def refuse(self, requeue):
    delivery = self.request.delivery_info["redelivered"], self.request.get("x-delivery-count")
    r.rpush("refused", repr((requeue, *delivery)))
    raise Reject("not for me", requeue=requeue)


@app.task(ignore_result=True)
def note(name, number, rest_s=0):
    time.sleep(rest_s)
    r.hincrby(name, number, 1)


@app.task(ignore_result=True)
def stuck():
    """Never ends at its first run."""
    if r.incr("stuck") == 1:
        time.sleep(600)
    r.incr("unstuck")


@app.task
def long(name):
    r.incr(name)
    time.sleep(LONG_S)
    return name


def info(queue):
    if not broker.exists(queue):
        return {}
    reply = broker.execute_command("Q.INFO", queue)
    pairs = reply.items() if isinstance(reply, dict) else zip(reply[::2], reply[1::2])
    return {name.decode(): value for name, value in pairs}


def open_messages(queue):
    return sum(info(queue).get(name, 0) for name in ("ready", "leased", "delayed", "buried", "dead"))


@contextmanager
def worker(name, *arguments):
    """A worker in a process group of its own, which is asked to end and must, unless it was killed."""
    command = [sys.executable, "-m", "celery", "--app", "celery_queues", "worker", "--loglevel", "ERROR"]
    path = os.pathsep.join([os.path.dirname(__file__), os.environ["PYTHONPATH"]])
    environment = dict(os.environ, PYTHONPATH=path, TRIAL_PORT=str(PORT), C_FORCE_ROOT="1")
    process = subprocess.Popen(
        [*command, "--hostname", f"{name}@trial", *arguments],
        env=environment, stdout=subprocess.DEVNULL, start_new_session=True,
    )
    try:
        yield process
        if process.poll() is None:
            process.terminate()
            assert process.wait(60) == 0, f"{name}: {process.returncode}"
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


def many(tasks):
    results = [tasks.add.delay(number, 1) for number in range(300)]
    assert [value_of(result) for result in results] == [*range(1, 301)]
    assert r.get("ran") == "300", "each ran once"


def together(tasks):
    assert value_of(group(tasks.add.s(number, number) for number in range(30))()) == [*range(0, 60, 2)]
    assert value_of(chain(tasks.add.s(1, 2), tasks.add.s(3), tasks.add.s(4))()) == 10
    assert value_of(chord([tasks.add.s(number, 0) for number in range(20)], tasks.total.s())()) == 190


def troubles(tasks):
    assert value_of(tasks.fail_at_first.delay(2)) == 2
    later = tasks.add.apply_async((1, 1), countdown=0.3)
    assert value_of(later) == 2
    tasks.refuse.delay(True)
    until(lambda: r.llen("refused") == 3)
    until(lambda: broker.llen("dead") == 1)
    assert r.lrange("refused", 0, -1) == [
        "(True, False, None)", "(True, True, 1)", "(True, True, 2)"
    ], "two tries more, and no third"
    tasks.refuse.delay(False)
    until(lambda: broker.llen("dead") == 2)
    assert r.lrange("refused", 3, -1) == ["(False, False, None)"]
    with app.connection_for_read() as connection:
        queue = connection.SimpleQueue("dead")
        for _ in range(2):
            message = queue.get(timeout=30)
            assert message.headers["task"].endswith("refuse")
            message.ack()


def asked(tasks):
    """Questions to workers, and orders, over fanout exchanges."""
    names = {f"{name}@trial" for name in ("first", "solo", "threads", "victim")}
    until(lambda: app.control.inspect(timeout=2).ping().keys() == names)
    [registered] = app.control.inspect(["first@trial"], timeout=30, limit=1).registered().values()
    assert "celery_queues.add" in registered
    with app.connection_for_read() as connection:
        receiver = app.events.Receiver(connection)

        def beat(event):
            receiver.should_stop = event["hostname"] == "first@trial"

        receiver.handlers["worker-heartbeat"] = beat
        receiver.capture(timeout=60, wakeup=False)
        assert receiver.should_stop


def consume(queue):
    """Has the first worker consume one more queue."""
    [reply] = app.control.add_consumer(queue, reply=True, destination=["first@trial"], timeout=30, limit=1)
    assert "ok" in reply["first@trial"], reply


def deaths(tasks, victim):
    """A worker is killed with all its processes: what it was at runs once more, and nothing else does."""
    lasting = {name: tasks.long.apply_async((name,), queue=name) for name in ("solo", "threads")}
    for number in range(10):
        tasks.note.apply_async(("victim", number), queue="fatal")
    tasks.stuck.apply_async(queue="fatal")
    for number in range(10, 30):
        tasks.note.apply_async(("victim", number), queue="fatal")
    until(lambda: r.get("stuck") == "1" and info("fatal")["acked"] == 10)
    until(lambda: info("fatal")["leased"] > 1)
    os.killpg(victim.pid, signal.SIGKILL)
    victim.wait()
    assert r.get("unstuck") is None and r.hlen("victim") == 10
    # Whoever else consumes these must not get what somebody has.
    until(lambda: r.get("solo") == r.get("threads") == "1")
    for queue in ("fatal", *lasting):
        consume(queue)
    until(lambda: r.get("unstuck") and open_messages("fatal") == 0)
    assert r.hgetall("victim") == {str(number): "1" for number in range(30)}
    assert r.get("stuck") == "2" and r.get("unstuck") == "1"
    for name, result in lasting.items():
        assert value_of(result) == name
        assert r.get(name) == "1", "a lease lasts as long as its task"
        until(lambda name=name: open_messages(name) == 0)


def crash(tasks):
    """The server is killed while tasks wait and while others run."""
    for number in range(100):
        tasks.note.apply_async(("waiting", number), queue="waiting")
    for number in range(100):
        tasks.note.delay("running", number, 0.02)
    until(lambda: r.hlen("running") >= 10)
    print("kill please", flush=True)
    assert sys.stdin.readline() == "done\n"
    until(lambda: r.hlen("running") == 100 and open_messages("celery") == 0)
    until(lambda: app.control.inspect(["first@trial"], timeout=2).ping())
    consume("waiting")
    until(lambda: open_messages("waiting") == 0)
    assert r.hgetall("waiting") == {str(number): "1" for number in range(100)}


def main():
    import celery_queues  # as workers know it

    for database in range(3):
        Redis(port=PORT, db=database).flushdb()
    with ExitStack() as workers:
        started = {
            name: workers.enter_context(worker(name, *arguments))
            for name, arguments in {
                "first": ["--concurrency", "2"],
                "victim": ["--concurrency", "1", "--queues", "fatal"],
                "solo": ["--pool", "solo", "--queues", "solo"],
                "threads": ["--pool", "threads", "--concurrency", "2", "--queues", "threads"],
            }.items()
        }
        begin = time.monotonic()
        for step, *more in [(many,), (together,), (troubles,), (asked,), (deaths, started["victim"]), (crash,)]:
            step(celery_queues, *more)
            print(f"{step.__name__}: {time.monotonic() - begin:.1f} s", flush=True)
    for queue in ("celery", "fatal", "solo", "threads", "waiting", "dead"):
        assert open_messages(queue) == 0, queue
    print("Celery on queues: all steps done")


if __name__ == "__main__":
    main()
