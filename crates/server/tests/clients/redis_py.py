"""redis-py in ordinary use: what its documentation promises must hold against Bobbin.

    redis_py.py PORT UNIX_SOCKET LOCKED_PORT PARSER

LOCKED_PORT is a server with the password "secret". PARSER is "hiredis", which is used where it is installed, or "python",
redis-py's own. The line "restart please" on standard output asks whoever started
this to restart the first server; a line on standard input says that it is done.

All of it must hold against redis-server too, whatever its version, but for what is behind `since`.
"""

import sys
import threading
import time

PARSER = sys.argv[4]
if PARSER == "python":
    sys.modules["hiredis"] = None

import redis
from redis import Redis
from redis.backoff import NoBackoff
from redis.commands.core import DataPersistOptions
from redis.exceptions import AuthenticationError, ConnectionError, DataError, ResponseError, WatchError
from redis.maint_notifications import MaintNotificationsConfig
from redis.retry import Retry
from waiting import until

PORT, UNIX_SOCKET, LOCKED_PORT = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
assert redis.utils.HIREDIS_AVAILABLE == (PARSER == "hiredis")
ALL_BYTES = bytes(range(256))
with Redis(port=PORT) as first:
    SERVER = first.info("server")


def since(version):
    """Whether the server is one of that version of Redis, or newer, or promises its replies."""
    return [int(part) for part in SERVER["redis_version"].split(".")] >= [int(part) for part in version.split(".")]


def raises(error, call, *arguments, **options):
    """The text of the error that a call must end in."""
    try:
        result = call(*arguments, **options)
    except error as raised:
        return str(raised)
    raise AssertionError(f"{call} gave {result!r} instead of {error.__name__}")


def plain(value):
    """Names as str: some are bytes where protocol 3 was chosen."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value.decode() if isinstance(value, bytes) else value


def connects(r):
    assert r.ping() is True
    assert r.echo("hello") == b"hello"
    assert isinstance(r.client_id(), int)
    if since("7.2"):
        assert r.client_info()["lib-name"].startswith("redis-py"), r.client_info()
        assert r.client_info()["lib-ver"] == redis.__version__
    named = Redis(port=PORT, client_name="a-name", db=1)
    assert plain(named.client_getname()) == "a-name"
    assert any(client["name"] == "a-name" and client["db"] == "1" for client in r.client_list())
    named.close()
    assert r.info("server")["redis_mode"] == "standalone"
    assert r.info()["connected_clients"] >= 1
    assert r.config_get("port")["port"] == str(PORT)
    assert r.config_set("slowlog-max-len", 64) is True
    assert r.config_get("slowlog-*")["slowlog-max-len"] == "64"
    seconds, microseconds = r.time()
    assert seconds > 1_700_000_000
    assert 0 <= microseconds < 1_000_000
    assert "get" in r.command()
    assert r.command_count() == len(r.command())
    assert plain(r.command_getkeys("MSET", "a", 1, "b", 2)) == ["a", "b"]
    assert r.slowlog_reset() is True
    assert isinstance(r.slowlog_get(), list)
    assert plain(r.role()[0]) == "master"


def strings(r):
    assert r.set("name", "value") is True
    assert r.get("name") == b"value"
    assert r["name"] == b"value"
    assert "name" in r
    assert r.get("missing") is None
    assert r.set("name", "other", nx=True) is None
    assert r.set("fresh", "value", xx=True) is None
    assert r.set("name", "other", get=True) == b"value"
    assert r.setnx("name", 1) is False
    assert r.mset({"a": 1, "b": 2.5, "c": b"\x00"}) is True
    assert r.msetnx({"a": 1, "fresh": 2}) is False
    assert r.mget("a", "missing", "b", "c") == [b"1", None, b"2.5", b"\x00"]
    assert [r.incr("n"), r.incr("n", 10), r.decr("n"), r.decrby("n", 5)] == [1, 11, 10, 5]
    assert r.incrbyfloat("f", 0.1) == 0.1
    assert r.append("name", "wise") == 9
    assert r.strlen("name") == 9
    assert r.getrange("name", 5, -1) == b"wise"
    assert r.setrange("name", 5, "ness") == 9
    assert r.getset("name", "new") == b"otherness"
    assert r.getdel("name") == b"new"
    assert r.exists("name", "a", "a") == 2
    assert r.mset({"one": "ohmytext", "two": "mynewtext"}) is True
    assert r.lcs("one", "two") == b"mytext"
    assert r.lcs("one", "two", len=True) == 6
    assert r.type("a") == b"string"
    assert r.rename("a", "renamed") is True
    assert "no such key" in raises(ResponseError, r.rename, "a", "b")
    assert r.copy("renamed", "copied") is True
    assert r.touch("renamed", "copied", "missing") == 2
    assert r.delete("renamed", "copied", "missing") == 2
    assert r.unlink("b") == 1
    assert plain(r.object("encoding", "n")) == "int"
    assert r.memory_usage("n") > 0
    assert r.dbsize() == len(r.keys("*"))
    raises(DataError, r.set, "name", None)
    assert r.get("one") == b"ohmytext", "the connection is usable after what cannot be sent"


def lists(r):
    assert r.rpush("l", "a", "b", "c") == 3
    assert r.lpush("l", "z") == 4
    assert [r.lpushx("none", 1), r.rpushx("none", 1)] == [0, 0]
    assert r.lrange("l", 0, -1) == [b"z", b"a", b"b", b"c"]
    assert [r.lindex("l", 1), r.lindex("l", 9), r.llen("l")] == [b"a", None, 4]
    assert r.lset("l", 0, "y") is True
    assert "index out of range" in raises(ResponseError, r.lset, "l", 99, "x")
    assert r.linsert("l", "BEFORE", "b", "a2") == 5
    assert r.linsert("l", "AFTER", "nothing", "a2") == -1
    assert r.lpos("l", "b") == 3
    assert r.lpos("l", "missing") is None
    assert r.lpos("l", "b", count=0) == [3]
    assert r.lrem("l", 0, "a2") == 1
    assert r.lpop("l") == b"y"
    assert r.rpop("l", 2) == [b"c", b"b"]
    assert [r.lpop("none"), r.lpop("none", 2)] == [None, None]
    assert r.lmove("l", "m", "LEFT", "RIGHT") == b"a"
    assert r.rpoplpush("m", "l") == b"a"
    assert r.rpush("l", *range(100)) == 101
    assert r.ltrim("l", 1, 10) is True
    assert plain(r.lmpop(2, "none", "l", direction="LEFT", count=2)) == ["l", ["0", "1"]]
    assert r.lmpop(1, "none", direction="LEFT") is None
    assert "WRONGTYPE" in raises(ResponseError, r.get, "l")


def pipelines(r):
    pipe = r.pipeline(transaction=False)
    for index in range(5_000):
        pipe.rpush("l", index)
    assert pipe.execute() == list(range(1, 5_001))
    assert [int(item) for item in r.lrange("l", 0, -1)] == list(range(5_000))
    replies = r.pipeline(transaction=False).set("s", "v").lpush("s", 1).get("s").execute(raise_on_error=False)
    assert replies[0] is True and isinstance(replies[1], ResponseError) and replies[2] == b"v"
    with r.pipeline() as pipe:
        assert pipe.set("a", 1).incr("a").get("a").execute() == [True, 2, b"2"]
        text = raises(ResponseError, pipe.set("a", "x").incr("a").execute)
        assert "Command # 2" in text and "not an integer" in text, text
        assert r.get("a") == b"x", "the rest of a transaction is done"
        text = raises(ResponseError, pipe.set("a", "y").execute_command("GET").execute)
        assert r.get("a") == b"x", "a transaction that cannot be queued does nothing"


def transactions(r):
    r.set("stock", 10)
    with r.pipeline() as pipe:
        pipe.watch("stock")
        stock = int(pipe.get("stock"))
        pipe.multi()
        pipe.set("stock", stock - 1)
        assert pipe.execute() == [True]
        pipe.watch("stock")
        r.set("stock", 5)
        pipe.multi()
        pipe.set("stock", 0)
        raises(WatchError, pipe.execute)
        pipe.watch("stock")
        pipe.unwatch()
        r.set("stock", 6)
        assert pipe.get("stock").execute() == [b"6"]
    assert r.get("stock") == b"6"

    def take(pipe):
        left = int(pipe.get("stock"))
        pipe.multi()
        pipe.set("stock", left + 1)

    def work():
        own = Redis(port=PORT)
        for _ in range(50):
            own.transaction(take, "stock")
        own.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert r.get("stock") == b"206", "each of 4 times 50 transactions counted once"


def blocking(r):
    assert r.blpop("none", timeout=0.01) is None
    assert r.brpop(["none", "nothing"], timeout=0.01) is None
    assert r.blmove("none", "other", 0.01) is None
    assert r.brpoplpush("none", "other", 0.01) is None
    assert r.blmpop(0.01, 1, "none", direction="LEFT") is None
    r.rpush("there", 1, 2)
    pair = r.blpop(["none", "there"], timeout=1)
    assert tuple(pair) == (b"there", b"1"), pair

    found = []

    def wait():
        own = Redis(port=PORT, client_name="waits")
        found.append(own.blpop(["queue", "other"], timeout=20))
        found.append(own.blmove("queue", "done", 20))
        own.close()

    thread = threading.Thread(target=wait)
    thread.start()
    until(lambda: r.info("clients")["blocked_clients"] == 1)
    assert r.rpush("queue", "job", "next") == 2
    thread.join()
    assert tuple(found[0]) == (b"queue", b"job") and found[1] == b"next", found
    assert r.lrange("done", 0, -1) == [b"next"]

    thread = threading.Thread(target=wait)
    thread.start()
    until(lambda: r.info("clients")["blocked_clients"] == 1)
    waiting = next(client for client in r.client_list() if client["name"] == "waits")
    assert r.client_unblock(int(waiting["id"])) == 1
    until(lambda: len(found) == 3)
    r.rpush("queue", "again")
    thread.join()
    assert found[2:] == [None, b"again"], found


def next_message(p):
    """The next message that is neither a confirmation nor for a handler."""
    got = []
    until(lambda: got.append(p.get_message(timeout=0.01)) or got[-1])
    return got[-1]


def messages(r):
    heard = []
    p = r.pubsub(ignore_subscribe_messages=True)
    p.subscribe("news", "other")
    p.psubscribe(**{"ne*": lambda message: heard.append(message["data"])})
    # Confirmations are read before anything is said.
    until(lambda: p.get_message(timeout=0.01) is None and r.pubsub_numpat() == 1)
    assert dict(r.pubsub_numsub("news", "none")) == {b"news": 1, b"none": 0}
    assert sorted(r.pubsub_channels()) == [b"news", b"other"]
    assert r.publish("news", ALL_BYTES) == 2
    message = next_message(p)
    assert message == {"type": "message", "pattern": None, "channel": b"news", "data": ALL_BYTES}, message
    until(lambda: p.get_message(timeout=0.01) is None and heard == [ALL_BYTES])
    with r.pipeline(transaction=True) as pipe:
        pipe.publish("other", "one").set("k", "v").publish("other", "two")
        assert pipe.execute() == [1, True, 1]
    assert [next_message(p)["data"] for _ in range(2)] == [b"one", b"two"]
    p.ping()
    p.unsubscribe()
    p.punsubscribe()
    until(lambda: p.get_message(timeout=0.01) is None and not p.subscribed)
    assert r.publish("news", "nobody") == 0
    p.close()

    before = r.config_get("notify-keyspace-events")["notify-keyspace-events"]
    r.config_set("notify-keyspace-events", "KEA")
    with r.pubsub(ignore_subscribe_messages=True) as events:
        events.psubscribe("__keyevent@*__:*")
        until(lambda: r.pubsub_numpat() == 1)
        r.set("k", "v", px=20)
        r.lpush("l", 1)
        r.rename("l", "m")
        received = [next_message(events) for _ in range(6)]
        reported = [(one["channel"].split(b":")[1].decode(), one["data"].decode()) for one in received]
        expected = [("set", "k"), ("expire", "k"), ("lpush", "l"), ("rename_from", "l"), ("rename_to", "m")]
        assert [one for one in reported if one[0] != "expired"] == expected, reported
        assert ("expired", "k") in reported, reported
    r.config_set("notify-keyspace-events", before)

    threaded = []
    p = r.pubsub()
    p.subscribe(**{"thread": lambda message: threaded.append(message["data"])})
    thread = p.run_in_thread(sleep_time=0.01)
    until(lambda: r.publish("thread", "x") == 1 and threaded)
    thread.stop()
    thread.join()


def scans(r):
    names = {f"scan:{index}" for index in range(2_000)}
    r.mset({name: "v" for name in names})
    r.rpush("scan:list", 1)
    keys = [key.decode() for key in r.scan_iter(match="scan:*", count=100, _type="string")]
    assert len(keys) >= 2_000 and set(keys) == names
    assert list(r.scan_iter(match="scan:*", _type="list")) == [b"scan:list"]
    cursor, page = r.scan(0, count=10)
    assert cursor != 0 and isinstance(page, list)
    assert len(r.keys("scan:1???")) == 1_000
    assert r.randomkey() is not None


def expiry(r):
    assert r.set("k", "v", ex=100) is True
    assert 99 <= r.ttl("k") <= 100
    assert [r.ttl("missing"), r.pttl("missing")] == [-2, -2]
    assert r.persist("k") is True
    assert r.ttl("k") == -1
    assert r.expire("k", 100, nx=True) is True
    assert r.expire("k", 50, gt=True) is False
    assert r.expireat("k", 33_177_117_420) is True
    assert [r.expiretime("k"), r.pexpiretime("k")] == [33_177_117_420, 33_177_117_420_000]
    assert r.set("k", "w", keepttl=True) and r.expiretime("k") == 33_177_117_420
    assert r.getex("k", persist=True) == b"w"
    assert r.set("gone", "v", px=30) is True
    r.rpush("gone:list", 1)
    r.pexpire("gone:list", 30)
    until(lambda: r.exists("gone", "gone:list") == 0)
    assert r.get("gone") is None
    assert "invalid expire time" in raises(ResponseError, r.set, "k", "v", ex=0)


def big_values(r):
    big = ALL_BYTES * (10 << 20 >> 8)
    assert r.set("big", big) is True
    assert r.get("big") == big
    assert r.getrange("big", 5 << 20, (5 << 20) + 3) == b"\x00\x01\x02\x03"
    assert r.rpush("big:list", big, b"small", big) == 3
    assert r.lrange("big:list", 0, -1) == [big, b"small", big]
    assert r.lpop("big:list") == big
    assert r.pipeline().append("big", big).strlen("big").get("big").execute() == [20 << 20, 20 << 20, big + big]
    assert r.delete("big", "big:list") == 2


def binary_keys(r):
    for key in [ALL_BYTES, b"", b"\r\n", b"$3\r\nabc\r\n", b"\x00" * 1000, "schlüssel ✓", "x" * 70_000]:
        assert r.set(key, b"\x00\r\n") is True
        assert r.get(key) == b"\x00\r\n"
        key = key.encode() if isinstance(key, str) else key
        assert key in r.keys()
        assert r.delete(key) == 1


def texts(protocol):
    """decode_responses gives str everywhere."""
    with Redis(port=PORT, protocol=protocol, decode_responses=True) as r:
        r.set("k", "wörter")
        r.rpush("l", "ä", "b")
        assert r.get("k") == "wörter"
        assert r.lrange("l", 0, -1) == ["ä", "b"]
        assert tuple(r.blpop("l", timeout=1)) == ("l", "ä")
        assert r.type("l") == "list"
        assert sorted(r.scan_iter()) == ["k", "l"]
        r.set("k", b"\xff")
        raises(UnicodeDecodeError, r.get, "k")
        assert r.ping() is True, "the connection is usable after what cannot be decoded"
        r.flushdb()


def collections(r):
    assert r.hset("h", mapping={"a": 1, "b": "two"}) == 2
    assert r.hgetall("h") == {b"a": b"1", b"b": b"two"}
    assert r.hmget("h", "b", "missing") == [b"two", None]
    assert r.hincrby("h", "a", 41) == 42
    assert dict(r.hscan_iter("h")) == {b"a": b"42", b"b": b"two"}
    assert r.sadd("s", "x", "y", "x") == 2
    assert r.smembers("s") == {b"x", b"y"}
    assert r.smismember("s", ["x", "z"]) == [1, 0]
    assert set(r.sscan_iter("s")) == {b"x", b"y"}
    assert r.zadd("z", {"a": 1, "b": 2.5}) == 2
    assert r.zrange("z", 0, -1) == [b"a", b"b"]
    assert r.zscore("z", "b") == 2.5
    assert r.zrem("z", "a") == 1
    assert r.zcard("z") == 1
    assert r.setbit("bits", 100, 1) == 0
    assert r.bitcount("bits") == 1
    assert r.pfadd("seen", "a", "b") == 1
    assert r.pfcount("seen") == 2
    raises(ResponseError, r.hget, "z", "a")


def streams(r):
    """A queue with a group: what one consumer leaves, another takes over."""
    first = r.xadd("jobs", {"task": "a", "by": "x"}, maxlen=1000, approximate=True)
    second = r.xadd("jobs", {"task": "b", "by": "x"})
    assert r.xlen("jobs") == 2 and r.xrange("jobs", first, first) == [(first, {b"task": b"a", b"by": b"x"})]
    assert [at for at, _ in r.xrevrange("jobs")] == [second, first]
    read = r.xread({"jobs": first}, count=10)
    assert read == ({b"jobs": [[(second, {b"task": b"b", b"by": b"x"})]]} if isinstance(read, dict)
                    else [[b"jobs", [(second, {b"task": b"b", b"by": b"x"})]]])
    assert not r.xread({"jobs": "$"}, block=1)
    assert r.xgroup_create("jobs", "workers", id="0") is True
    assert "BUSYGROUP" in raises(ResponseError, r.xgroup_create, "jobs", "workers")
    assert r.xreadgroup("workers", "one", {"jobs": ">"}, count=10)
    assert r.xpending("jobs", "workers")["pending"] == 2
    assert r.xack("jobs", "workers", first) == 1
    assert [entry["message_id"] for entry in r.xpending_range("jobs", "workers", "-", "+", 10)] == [second]
    assert r.xautoclaim("jobs", "workers", "two", 0)[1] == [(second, {b"task": b"b", b"by": b"x"})]
    assert [group["lag"] for group in r.xinfo_groups("jobs")] == [0]
    assert r.xinfo_stream("jobs")["length"] == 2
    assert r.xdel("jobs", first) == 1 and r.xtrim("jobs", maxlen=0, approximate=False) == 1
    assert r.type("jobs") == b"stream"


def newer(r):
    """What Redis has had since 8.2 and 8.4, by the methods that are there for it."""
    if "bobbin_version" not in SERVER and not since("8.4"):
        return
    first, second, third = [r.xadd("jobs", {"task": task}) for task in "abc"]
    for group in ["workers", "others"]:
        r.xgroup_create("jobs", group, id="0")
    assert r.xreadgroup("workers", "one", {"jobs": ">"}, count=1)
    # What is pending is taken over in the same call: how long it was idle, and how often it was delivered, come along.
    read = r.xreadgroup("workers", "two", {"jobs": ">"}, count=2, claim_min_idle_time=0)
    entries = read[b"jobs"][0] if isinstance(read, dict) else read[0][1]
    assert [(entry[0], entry[-1]) for entry in entries] == [(first, 1), (second, 0)]
    assert r.xackdel("jobs", "workers", first, ref_policy="ACKED") == [2]
    assert r.xdelex("jobs", first, third, "0-1", ref_policy="ACKED") == [2, 2, -1]
    assert r.xreadgroup("others", "three", {"jobs": ">"}, noack=True)
    assert r.xdelex("jobs", first, second, ref_policy="ACKED") == [1, 2]
    assert r.xackdel("jobs", "workers", second, ref_policy="DELREF") == [1]
    r.xadd("jobs", {"task": "d"}, maxlen=1, approximate=False, ref_policy="ACKED")
    assert r.xlen("jobs") == 2 and r.xtrim("jobs", maxlen=1, approximate=False, ref_policy="KEEPREF") == 1
    assert r.set("lock", "mine") is True and r.set("lock", "still mine", ifeq="mine", ex=100) is True
    assert r.set("lock", "yours", ifeq="mine") is None and r.set("lock", "yours", ifne="still mine") is None
    digest = r.digest("lock").decode()
    assert len(digest) == 16 and r.digest("none") is None
    assert r.set("lock", "mine", ifdne=digest) is None and r.set("lock", "mine", ifdeq=digest) is True
    assert r.delex("lock", ifdeq=digest) == 0 and r.delex("lock", ifne="mine") == 0
    assert r.delex("lock", ifeq="mine") == 1 and r.delex("lock") == 0
    assert r.msetex({"a": 1, "b": 2}, ex=100) == 1 and 0 < r.ttl("b") <= 100
    assert r.msetex({"b": 3, "c": 4}, data_persist_option=DataPersistOptions.XX) == 0
    assert r.mget("a", "b", "c") == [b"1", b"2", None]


def scripts(r):
    add = r.register_script("return redis.call('INCRBY', KEYS[1], ARGV[1])")
    assert add(keys=["sum"], args=[2]) == 2
    r.script_flush()
    assert add(keys=["sum"], args=[3]) == 5
    pipe = r.pipeline()
    for number in range(5):
        add(keys=["sum"], args=[number], client=pipe)
    assert pipe.execute() == [5, 6, 8, 11, 15]
    assert r.script_exists(add.sha, "f" * 40) == [True, False]
    assert "my words" in raises(ResponseError, r.eval, "return redis.error_reply('my words')", 0)


def functions(r):
    code = """#!lua name=counters
        redis.register_function('add', function(keys, args) return redis.call('INCRBY', keys[1], args[1]) end)
        redis.register_function{function_name='look', flags={'no-writes'},
            callback=function(keys) return redis.call('GET', keys[1]) end}"""
    name = r.function_load(code, replace=True)
    assert name in (b"counters", "counters")
    assert r.fcall("add", 1, "sum", 4) == 4 and r.fcall_ro("look", 1, "sum") == b"4"
    assert "already exists" in raises(ResponseError, r.function_load, code)
    assert "write flag" in raises(ResponseError, r.fcall_ro, "add", 1, "sum", 4)
    assert len(r.function_list()) == 1 and len(r.function_list(library="nosuch*")) == 0
    payload = r.function_dump()
    assert r.function_delete("counters") in (True, b"OK", "OK")
    assert "Function not found" in raises(ResponseError, r.fcall, "add", 1, "sum", 4)
    assert r.function_restore(payload) in (True, b"OK", "OK")
    assert r.fcall("add", 1, "sum", 1) == 5
    assert r.function_flush() in (True, b"OK", "OK")
    assert "NOTBUSY" in raises(ResponseError, r.function_kill)


def refusals(r):
    """What is not there gets an error, never an OK."""
    assert "unknown command" in raises(ResponseError, r.execute_command, "NONSENSE", "a")
    assert "wrong number of arguments" in raises(ResponseError, r.execute_command, "GET")
    assert r.ping() is True


def saves(r):
    before = r.lastsave()
    assert r.save() is True
    assert r.lastsave() >= before
    assert r.bgsave() is True
    assert r.ping() is True


def passwords(protocol):
    def at(port=LOCKED_PORT, **options):
        # By default it tries again and again, with pauses, even where it is not let in.
        return Redis(port=port, protocol=protocol, retry=Retry(NoBackoff(), 0), **options)

    with at() as r:
        raises(AuthenticationError, r.ping)
    for wrong in [{"password": "wrong"}, {"username": "nobody", "password": "secret"}]:
        with at(**wrong) as r:
            assert "invalid username-password" in raises(AuthenticationError, r.ping)
    for right in [{"password": "secret"}, {"username": "default", "password": "secret"}]:
        with at(**right) as r:
            assert r.ping() is True
    with Redis.from_url(f"redis://:secret@127.0.0.1:{LOCKED_PORT}/2") as r:
        assert r.client_info()["db"] == 2
    if protocol == 2:
        with at(PORT, password="secret") as r:
            assert "without any password configured" in raises(AuthenticationError, r.ping)


def databases(r):
    with Redis(port=PORT, db=3) as third:
        third.set("only", "here")
        assert r.exists("only") == 0
        assert r.swapdb(0, 3) is True
        assert r.get("only") == b"here"
        assert r.move("only", 3) == 1
        assert third.flushdb() is True
    with Redis(port=PORT, db=99_999) as none:
        assert "out of range" in raises(ResponseError, none.ping)


def unix_socket(protocol):
    with Redis(unix_socket_path=UNIX_SOCKET, protocol=protocol) as r:
        assert r.set("k", "v") is True
        assert r.get("k") == b"v"
        assert r.client_info()["laddr"].startswith(UNIX_SOCKET)
    with Redis.from_url(f"unix://{UNIX_SOCKET}?db=1") as r:
        assert r.exists("k") == 0


def pools(protocol):
    pool = redis.BlockingConnectionPool(port=PORT, protocol=protocol, max_connections=4, timeout=30)
    r = Redis(connection_pool=pool)

    def work():
        for _ in range(100):
            r.incr("pooled")

    threads = [threading.Thread(target=work) for _ in range(16)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert r.get("pooled") == b"1600"
    assert pool.connection_kwargs.get("port") == PORT
    pool.disconnect()
    small = Redis(connection_pool=redis.ConnectionPool(port=PORT, protocol=protocol, max_connections=1))
    with small.pipeline() as pipe:
        pipe.watch("pooled")
        raises(ConnectionError, small.ping)
    assert small.ping() is True
    small.close()


def client_side_caching():
    """What this client keeps goes when another writes."""
    from redis.cache import CacheConfig

    with Redis(port=PORT, protocol=3, cache_config=CacheConfig(), decode_responses=True) as r, Redis(port=PORT) as other:
        cache = r.get_cache()
        r.set("kept", "one")
        assert r.get("kept") == "one" and r.get("kept") == "one"
        assert cache.size == 1
        other.set("kept", "two")
        eventually(lambda: r.get("kept") == "two")
        r.hset("h", "f", "1")
        assert r.hget("h", "f") == "1" and r.hgetall("h") == {"f": "1"}
        other.hset("h", "f", "2")
        eventually(lambda: r.hget("h", "f") == "2" and r.hgetall("h") == {"f": "2"})
        assert r.mget("kept", "none") == ["two", None]
        other.mset({"none": "three", "kept": "four"})
        eventually(lambda: r.mget("kept", "none") == ["four", "three"])
        other.flushall()
        eventually(lambda: r.get("kept") is None)


def eventually(holds):
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline


def maintenance_notices():
    """There are none: who insists gets an error, whoever asks politely goes on without."""
    with Redis(port=PORT, protocol=3, maint_notifications_config=MaintNotificationsConfig(enabled="auto")) as r:
        assert r.ping() is True
    with Redis(port=PORT, protocol=3, maint_notifications_config=MaintNotificationsConfig(enabled=True)) as r:
        raises(ResponseError, r.ping)


def restart(protocol):
    r = Redis(port=PORT, protocol=protocol)
    r.set("kept", "over the restart")
    r.rpush("kept:list", *range(1_000))
    print("restart please", flush=True)
    assert sys.stdin.readline() == "done\n"
    assert r.get("kept") == b"over the restart", "the same client connects again by itself"
    assert r.llen("kept:list") == 1_000
    r.delete("kept", "kept:list")
    r.close()


def main():
    for protocol in [None, 2, 3]:
        r = Redis(port=PORT) if protocol is None else Redis(port=PORT, protocol=protocol)
        connects(r)
        steps = [strings, lists, collections, streams, newer, pipelines, transactions, blocking, messages, scans,
                 expiry, binary_keys, scripts, functions, refusals, databases]
        for step in steps + ([big_values] if protocol else []):
            assert r.flushall() is True
            step(r)
        if protocol is None:
            saves(r)
        r.flushall()
        r.close()
        for step in [texts, passwords, unix_socket, pools, restart]:
            step(protocol)
        print(f"redis-py {redis.__version__}, {PARSER}, protocol {protocol or 'not chosen'}: all steps done", flush=True)
    if since("7.4.0"):
        client_side_caching()
    maintenance_notices()


main()
