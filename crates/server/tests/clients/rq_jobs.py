"""RQ at work: what it promises of jobs must hold with Bobbin beneath.

    rq_jobs.py PORT

All of it must hold with redis-server beneath, too. Each worker is a process of its own, which finds the jobs in this file.
"""

import os
import subprocess
import sys
import time
from datetime import timedelta

from redis import Redis
from rq import Callback, Queue, Repeat, Retry, get_current_job
from rq.job import Job, JobStatus
from rq.registry import FailedJobRegistry, FinishedJobRegistry, ScheduledJobRegistry, StartedJobRegistry

PORT = int(sys.argv[1]) if sys.argv[1:] and sys.argv[1].isdigit() else int(os.environ["TRIAL_PORT"])
r = Redis(port=PORT)


def double(number):
    r.rpush("log", number)
    return number * 2


def total(*names):
    return sum(Job.fetch(name, connection=r).return_value() for name in names)


def fail_at_first(times):
    """Fails that many times, then returns how often it ran."""
    tries = r.incr(f"tries:{get_current_job().id}")
    if tries <= times:
        raise ValueError(f"try {tries}")
    return tries


def noted(job, connection, result, *_):
    connection.hset("noted", job.id, str(result))


def burst(*names, workers=1, scheduler=False):
    """Lets workers run until nothing is left in the queues."""
    command = [sys.executable, "-m", "rq.cli", "worker", "--url", f"redis://127.0.0.1:{PORT}", "--burst", "--quiet"]
    command += ["--worker-class", "rq.SimpleWorker", *(["--with-scheduler"] if scheduler else []), *names]
    environment = dict(os.environ, PYTHONPATH=os.path.dirname(__file__), TRIAL_PORT=str(PORT))
    started = [subprocess.Popen(command, env=environment) for _ in range(workers)]
    assert [worker.wait(60) for worker in started] == [0] * workers


def counts(queue):
    registries = StartedJobRegistry, FinishedJobRegistry, FailedJobRegistry, ScheduledJobRegistry
    return [len(queue), *(len(registry(queue.name, connection=r)) for registry in registries)]


def many(rq):
    high, low = Queue("high", connection=r), Queue("low", connection=r)
    behind = low.enqueue_many([Queue.prepare_data(rq.double, [number]) for number in range(100)])
    before = [high.enqueue(rq.double, number, job_id=f"high-{number}") for number in range(100, 200)]
    assert [job.get_status() for job in before + behind] == [JobStatus.QUEUED] * 200
    assert high.job_ids == [f"high-{number}" for number in range(100, 200)]
    burst("high", "low")
    assert [int(number) for number in r.lrange("log", 0, -1)] == [*range(100, 200), *range(100)], "each once, in order"
    assert [job.return_value() for job in before + behind] == [*range(200, 400, 2), *range(0, 200, 2)]
    assert [counts(queue) for queue in (high, low)] == [[0, 0, 100, 0, 0]] * 2


def shared(rq):
    queue = Queue("shared", connection=r)
    jobs = [queue.enqueue(rq.double, number) for number in range(200)]
    burst("shared", workers=2)
    assert sorted(int(number) for number in r.lrange("log", 0, -1)) == [*range(200)], "each once, by either worker"
    assert [job.return_value() for job in jobs] == [*range(0, 400, 2)]
    assert counts(queue) == [0, 0, 200, 0, 0]


def troubles(rq):
    queue = Queue("troubles", connection=r)
    stubborn = queue.enqueue(rq.fail_at_first, 2, retry=Retry(max=2), on_success=Callback(rq.noted))
    hopeless = queue.enqueue(rq.fail_at_first, 9, retry=Retry(max=1), on_failure=Callback(rq.noted))
    parts = [queue.enqueue(rq.double, number) for number in (1, 2, 3)]
    last = queue.enqueue(rq.total, *[job.id for job in parts], depends_on=parts)
    never = queue.enqueue(rq.double, 0, depends_on=hopeless)
    cancelled = queue.enqueue(rq.double, 4)
    cancelled.cancel()
    burst("troubles")
    assert stubborn.return_value() == 3 and stubborn.get_status() == JobStatus.FINISHED
    assert hopeless.get_status() == JobStatus.FAILED and "try 2" in hopeless.latest_result().exc_string
    assert last.return_value() == 12
    assert never.get_status() == JobStatus.DEFERRED and cancelled.get_status() == JobStatus.CANCELED
    assert set(r.hkeys("noted")) == {stubborn.id.encode(), hopeless.id.encode()}
    assert counts(queue) == [0, 0, 5, 1, 0]
    assert FailedJobRegistry(queue=queue).requeue(hopeless).id == hopeless.id
    assert queue.job_ids == [hopeless.id]


def later(rq):
    queue = Queue("later", connection=r)
    begin = time.time()
    job = queue.enqueue_in(timedelta(seconds=1), rq.double, 21)
    again = queue.enqueue(rq.double, 1, repeat=Repeat(times=1, interval=1))
    assert job.get_status() == JobStatus.SCHEDULED and counts(queue) == [1, 0, 0, 0, 1]
    while r.llen("log") < 3:
        assert time.time() < begin + 30
        burst("later", scheduler=True)
    assert job.return_value() == 42 and len(again.results()) == 2


def main():
    import rq_jobs  # as workers know it

    for step in [many, shared, troubles, later]:
        r.flushall()
        step(rq_jobs)
    print("RQ: all steps done")


if __name__ == "__main__":
    main()
