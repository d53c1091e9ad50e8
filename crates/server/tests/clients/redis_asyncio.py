"""redis-py's asyncio side in ordinary use.

    redis_asyncio.py PORT UNIX_SOCKET LOCKED_PORT PARSER

The arguments and the line "restart please" are those of redis_py.py.
"""

import asyncio
import sys

PARSER = sys.argv[4]
if PARSER == "python":
    sys.modules["hiredis"] = None

import redis.asyncio as redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import AuthenticationError, ResponseError, WatchError

PORT, UNIX_SOCKET, LOCKED_PORT = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])


async def raises(error, call):
    """The text of the error that an awaitable must end in."""
    try:
        result = await call
    except error as raised:
        return str(raised)
    raise AssertionError(f"{result!r} instead of {error.__name__}")


async def until(condition):
    """Waits for what another task brings about."""
    for _ in range(3000):
        if await condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("what was waited for did not happen")


async def values(r):
    assert await r.ping() is True
    assert await r.set("k", "v", ex=100) is True
    assert [await r.get("k"), await r.get("missing")] == [b"v", None]
    assert 99 <= await r.ttl("k") <= 100
    assert await r.rpush("l", *range(100)) == 100
    assert await r.lrange("l", 0, 2) == [b"0", b"1", b"2"]
    assert "WRONGTYPE" in await raises(ResponseError, r.get("l"))
    big = bytes(range(256)) * (10 << 20 >> 8)
    assert await r.set("big", big) is True
    assert await r.get("big") == big
    assert {key async for key in r.scan_iter()} == {b"k", b"l", b"big"}


async def side_by_side(r):
    """A pool hands each task its own connection."""
    assert sorted(await asyncio.gather(*[r.incr("n") for _ in range(80)])) == list(range(1, 81))
    async with r.pipeline(transaction=False) as pipe:
        for index in range(1_000):
            pipe.rpush("l", index)
        assert await pipe.execute() == list(range(1, 1_001))


async def transactions(r):
    async with r.pipeline(transaction=True) as pipe:
        assert await pipe.set("a", 1).incr("a").execute() == [True, 2]
        await pipe.watch("a")
        await r.set("a", 7)
        pipe.multi()
        pipe.set("a", 0)
        await raises(WatchError, pipe.execute())
    assert await r.get("a") == b"7"


async def blocking(r):
    assert await r.blpop("none", timeout=0.01) is None
    waiters = [asyncio.create_task(r.blpop("queue", timeout=20)) for _ in range(5)]

    async def all_wait():
        return (await r.info("clients"))["blocked_clients"] == 5

    await until(all_wait)
    assert await r.rpush("queue", *range(5)) == 5
    found = sorted(bytes(pair[1]) for pair in await asyncio.gather(*waiters))
    assert found == [b"0", b"1", b"2", b"3", b"4"], found
    # A task that is cancelled while it waits leaves no connection that swallows the next job.
    waiter = asyncio.create_task(r.blpop("queue", timeout=20))

    async def one_waits():
        return (await r.info("clients"))["blocked_clients"] == 1

    async def none_waits():
        return (await r.info("clients"))["blocked_clients"] == 0

    await until(one_waits)
    waiter.cancel()
    await asyncio.gather(waiter, return_exceptions=True)
    await until(none_waits)
    assert await r.rpush("queue", "kept") == 1
    assert await r.lpop("queue") == b"kept"


async def ports(protocol):
    async with redis.Redis(unix_socket_path=UNIX_SOCKET, protocol=protocol, decode_responses=True) as r:
        assert await r.set("k", "ä") is True
        assert await r.get("k") == "ä"
    never_again = Retry(NoBackoff(), 0)
    async with redis.Redis(port=LOCKED_PORT, protocol=protocol, retry=never_again) as r:
        await raises(AuthenticationError, r.ping())
    async with redis.Redis(port=LOCKED_PORT, protocol=protocol, password="secret") as r:
        assert await r.ping() is True


async def restart(r):
    assert await r.set("kept", "v") is True
    print("restart please", flush=True)
    assert await asyncio.to_thread(sys.stdin.readline) == "done\n"
    assert await r.get("kept") == b"v", "the same client connects again by itself"


async def main():
    for protocol in [2, 3]:
        async with redis.Redis(port=PORT, protocol=protocol) as r:
            for step in [values, side_by_side, transactions, blocking, restart]:
                assert await r.flushall() is True
                await step(r)
        await ports(protocol)
        print(f"redis.asyncio, {PARSER}, protocol {protocol}: all steps done", flush=True)


asyncio.run(main())
