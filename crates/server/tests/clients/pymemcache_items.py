"""pymemcache in ordinary use: items, versions, counters, many at once, errors. The first argument is the port."""

import sys

from pymemcache.client.base import Client, PooledClient
from pymemcache.exceptions import MemcacheClientError, MemcacheIllegalInputError, MemcacheServerError
from pymemcache.exceptions import MemcacheUnknownCommandError
from pymemcache import serde

server = ("127.0.0.1", int(sys.argv[1]))
client = Client(server, serde=serde.pickle_serde, default_noreply=False)

assert client.flush_all()
assert client.get("absent") is None
assert client.get("absent", default=7) == 7
assert client.set("text", "größe")
assert client.get("text") == "größe"
assert client.set("number", 17) and client.get("number") == 17
assert client.set("whole", {"a": [1, 2.5, None]}) and client.get("whole") == {"a": [1, 2.5, None]}
assert client.set("bytes", bytes(range(256))) and client.get("bytes") == bytes(range(256))
big = b"0123456789" * 100_000
assert client.set("big", big) and client.get("big") == big

assert client.add("text", "other") is False
assert client.add("fresh", "first") is True
assert client.replace("fresh", "second") is True
assert client.replace("absent", "never") is False
assert client.append("absent", "x") is False
assert client.set("tail", b"middle")
assert client.append("tail", b">") and client.prepend("tail", b"<")
assert client.get("tail") == b"<middle>"

value, version = client.gets("fresh")
assert value == "second"
assert client.cas("fresh", "third", version) is True
assert client.cas("fresh", "fourth", version) is False
assert client.cas("absent", "never", version) is None
assert client.get("fresh") == "third"
found = client.gets_many(["fresh", "text", "absent"])
assert set(found) == {"fresh", "text"} and found["fresh"][1] != version

assert client.set("count", b"10")
assert client.incr("count", 5) == 15
assert client.decr("count", 100) == 0
assert client.incr("absent", 1) is None

many = {f"key:{at}": f"value {at}" for at in range(2000)}
assert client.set_many(many) == []
assert client.get_many(list(many)) == many
assert client.delete_many(list(many)) is True
assert client.get_many(list(many)) == {}

assert client.touch("text", 100) is True
assert client.touch("absent", 100) is False
assert client.set("brief", "x", expire=-1) and client.get("brief") is None
assert client.delete("text") is True and client.delete("text") is False

client.set("quiet", "x", noreply=True)
assert client.get("quiet") == "x"
client.delete("quiet", noreply=True)
assert client.get("quiet") is None

for key in ("k" * 251, "with space"):
    try:
        client.get(key)
        raise AssertionError(key)
    except MemcacheIllegalInputError:
        pass
try:
    client.incr("fresh", 1)
    raise AssertionError("no number")
except MemcacheClientError:
    pass
try:
    client.set("large", b"x" * (2 << 20))
    raise AssertionError("too large")
except MemcacheServerError:
    pass

stats = client.stats()
assert stats[b"evictions"] == 0 and stats[b"cmd_get"] > 0, stats
assert client.stats("settings")
assert client.version()
assert client.raw_command("mn", "\r\n") == b"MN"
try:
    client.raw_command("nonsense", "\r\n")
    raise AssertionError("no such command")
except MemcacheUnknownCommandError:
    pass

pool = PooledClient(server, max_pool_size=4)
assert pool.set("pooled", b"x") and pool.get("pooled") == b"x"
assert client.flush_all() and client.get("fresh") is None
client.quit()
