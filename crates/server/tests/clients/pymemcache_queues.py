"""pymemcache as a client of the queue port: messages in order, of several queues, flags, figures, errors. The first argument
is the port."""

import sys
import threading

from pymemcache.client.base import Client, PooledClient
from pymemcache.exceptions import MemcacheUnknownCommandError
from pymemcache import serde

server = ("127.0.0.1", int(sys.argv[1]))
client = Client(server, default_noreply=False)

assert client.flush_all()
assert client.get("jobs") is None
for number in range(100):
    assert client.set("jobs", b"job %d" % number)
assert [client.get("jobs") for _ in range(100)] == [b"job %d" % number for number in range(100)]
assert client.get("jobs") is None

assert client.set("a", b"1") and client.set("b", b"2")
assert client.get_many(["a", "b", "c"]) == {"a": b"1", "b": b"2"}
assert client.gets("a") == (None, None)
assert client.set("a", b"1") and client.gets("a")[0] == b"1"

whole = Client(server, serde=serde.pickle_serde, default_noreply=False)
for value in ["text", 17, {"a": [1, 2.5, None]}, bytes(range(256)), b""]:
    assert whole.set("values", value)
for value in ["text", 17, {"a": [1, 2.5, None]}, bytes(range(256)), b""]:
    assert whole.get("values") == value

assert client.set("a", b"1") and client.delete("a") and not client.delete("a")
client.set("quiet", b"x", noreply=True)
assert client.get("quiet") == b"x"
assert client.version() == b"0.2.1"
stats = client.stats()
assert stats[b"set_cmds"] == b"110" or stats[b"set_cmds"] == 110, stats
try:
    client.incr("a", 1)
    raise SystemExit("incr is no word of queues")
except MemcacheUnknownCommandError:
    pass

pool = PooledClient(server, max_pool_size=8, default_noreply=False)
taken = []


def work(at):
    for number in range(50):
        assert pool.set("shared", b"%d:%d" % (at, number))
    for _ in range(50):
        taken.append(pool.get("shared"))


threads = [threading.Thread(target=work, args=(at,)) for at in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert len(set(taken)) == 400 and None not in taken
