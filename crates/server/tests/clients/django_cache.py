"""django-redis in ordinary use: what Django's documentation and its own promise must hold against Bobbin.

    django_cache.py PORT

All of it must hold against redis-server, too.
"""

import sys
import threading
import time

import django
from django.conf import settings

PORT = int(sys.argv[1])
LOCATION = f"redis://127.0.0.1:{PORT}"


def cache_of(database, **options):
    return {"BACKEND": "django_redis.cache.RedisCache", "LOCATION": f"{LOCATION}/{database}", "OPTIONS": options}


settings.configure(
    CACHES={
        "default": cache_of(1),
        "packed": cache_of(2, SERIALIZER="django_redis.serializers.json.JSONSerializer",
                           COMPRESSOR="django_redis.compressors.zlib.ZlibCompressor"),
        "own": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": f"{LOCATION}/3"},
    },
    SESSION_ENGINE="django.contrib.sessions.backends.cache",
    INSTALLED_APPS=["django.contrib.sessions"],
)
django.setup()

from django.contrib.sessions.backends.cache import SessionStore
from django.core.cache import caches
from django_redis import get_redis_connection


def raises(error, call, *arguments, **options):
    try:
        result = call(*arguments, **options)
    except error:
        return
    raise AssertionError(f"{call} gave {result!r} instead of {error.__name__}")


def ordinary(cache):
    """What every cache of Django does."""
    assert cache.get("missing") is None and cache.get("missing", "else") == "else"
    cache.set("k", {"list": [1, 2.5, None], "text": "ä✓"}, timeout=100)
    assert cache.get("k") == {"list": [1, 2.5, None], "text": "ä✓"}
    assert cache.add("k", 1) is False and cache.add("fresh", 1) is True
    assert cache.get_or_set("computed", lambda: 42) == 42 and cache.get("computed") == 42
    cache.set("n", 1)
    assert [cache.incr("n"), cache.incr("n", 10), cache.decr("n")] == [2, 12, 11]
    raises(ValueError, cache.incr, "missing")
    assert not cache.set_many({f"many:{number}": number for number in range(100)})
    assert cache.get_many([f"many:{number}" for number in range(101)]) == {f"many:{number}": number for number in range(100)}
    cache.delete_many([f"many:{number}" for number in range(50)])
    assert len(cache.get_many([f"many:{number}" for number in range(100)])) == 50
    assert "k" in cache and "missing" not in cache
    assert cache.touch("k", 50) is True and cache.touch("missing", 50) is False
    cache.set("gone", "v", timeout=0)
    assert cache.get("gone") is None
    cache.set("k", "second", version=2)
    assert cache.get("k", version=2) == "second" and cache.get("k") != "second"
    assert cache.incr_version("fresh") == 2 and cache.get("fresh") is None and cache.get("fresh", version=2) == 1
    assert cache.delete("k") is True and cache.delete("k") is False
    cache.set("big", "x" * 3_000_000)
    assert cache.get("big") == "x" * 3_000_000
    cache.set("short", "v", timeout=1)
    time.sleep(1.05)
    assert cache.get("short") is None
    cache.clear()
    assert cache.get("n") is None


def more(cache):
    """What only django-redis does."""
    cache.set("k", "v", timeout=100)
    assert 95 <= cache.ttl("k") <= 100 and 95_000 <= cache.pttl("k") <= 100_000
    assert cache.persist("k") is True and cache.ttl("k") is None
    assert cache.expire("k", 50) is True and cache.ttl("k") <= 50
    assert cache.ttl("missing") == 0
    assert cache.set("k", "w", nx=True) is False and cache.get("k") == "v"
    cache.set_many({f"user:{number}:name": number for number in range(300)})
    assert len(cache.keys("user:*")) == 300
    assert sorted(cache.iter_keys("user:1?:name")) == [f"user:{number}:name" for number in range(10, 20)]
    assert cache.delete_pattern("user:*", itersize=50) == 300
    cache.sadd("s", "x", "y")
    assert cache.smembers("s") == {"x", "y"} and cache.sismember("s", "x")
    cache.hset("h", "field", 1)
    assert cache.hlen("h") == 1
    raw = get_redis_connection("default")
    assert raw.ping() is True and raw.exists(cache.make_key("k")) == 1


def locks(cache):
    """Sixteen who each add one to what only one may change at a time."""
    cache.set("shared", 0, timeout=None)

    def work():
        for _ in range(10):
            with cache.lock("door", timeout=20, blocking_timeout=30, sleep=0.002):
                cache.set("shared", cache.get("shared") + 1, timeout=None)

    threads = [threading.Thread(target=work) for _ in range(16)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert cache.get("shared") == 160
    held = cache.lock("other", timeout=20)
    assert held.acquire() is True and held.owned()
    assert cache.lock("other", timeout=20).acquire(blocking=False) is False
    assert held.extend(10) is True and 25 <= held.reacquire() + 24
    held.release()
    assert cache.lock("other", timeout=20).acquire(blocking=False) is True


def sessions():
    session = SessionStore()
    session["user"] = 7
    session.set_expiry(300)
    session.save()
    again = SessionStore(session.session_key)
    assert again["user"] == 7 and again.exists(session.session_key)
    again.cycle_key()
    assert not again.exists(session.session_key) and SessionStore(again.session_key)["user"] == 7
    again.flush()


def main():
    for name in ["default", "packed", "own"]:
        caches[name].clear()
        ordinary(caches[name])
    more(caches["default"])
    locks(caches["default"])
    sessions()
    print("django-redis: all steps done")


main()
