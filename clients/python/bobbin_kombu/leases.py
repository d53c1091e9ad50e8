"""What a connection has leased, and the thread that keeps it leased.

    Q.RESERVE --> take --> held ----------------> ack, give_back, discard, bury --> settled
                            |  ^
                            +--+  the keeper, three times within a lease: Q.EXTEND

A delivery tag is the receipt and the key, so that it tells all that is needed to settle it.
"""

import os
import threading
import time

from kombu.log import get_logger
from redis.exceptions import RedisError, ResponseError

logger = get_logger(__name__)

#: Receipts in one command.
CHUNK = 500

#: Puts a message into another queue instead, if the receipt is good and that queue takes it.
MOVE = """
if redis.call('Q.EXTEND', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('RPUSH', KEYS[2], ARGV[2])
return redis.call('Q.ACK', KEYS[1], ARGV[1])
"""


class Leases:
    """The leases of one connection. Threads may share it."""

    def __init__(self, call, lease_ms):
        """``call`` sends a command and returns its reply, in any thread."""
        self.lease_ms = lease_ms
        self._call = call
        self._begin()

    def _begin(self):
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._held = {}
        self._expiring = {}
        self._stopped = threading.Event()
        self._thread = None

    # What is held

    def take(self, key, receipt):
        """Holds what was reserved; returns its delivery tag."""
        tag = f"{receipt} {key}"
        if self._process != os.getpid():
            # A fork: what the parent holds is the parent's, and so are its thread and its lock.
            self._begin()
        with self._lock:
            self._held[tag] = (key, receipt)
            self._keep()
        return tag

    def holds(self, tag):
        return tag in self._held

    def ack(self, tag):
        """Removes the message; false if it is no longer this connection's."""
        return self._settle(tag, "Q.ACK")

    def bury(self, tag):
        """Sets the message aside."""
        return self._settle(tag, "Q.BURY")

    def discard(self, tag, dead_letter=None, message=None):
        """Removes the message, into the queue ``dead_letter`` if that is given; if it does not take it, buries it."""
        if dead_letter is None:
            return self.ack(tag)
        lease = self._held.get(tag)
        if lease is None:
            return False
        try:
            moved = self._call("EVAL", MOVE, 2, lease[0], dead_letter, lease[1], message)
        except ResponseError as error:
            logger.error("Message %s is buried, since %s does not take it: %s", tag, dead_letter, error)
            return self.bury(tag)
        return self._settled(tag, moved)

    def give_back(self, tags):
        """Makes messages ready again, at the head of their queues."""
        for key, receipts in self._by_key(tags).items():
            for chunk in _chunks(receipts):
                self._call("Q.NACK", key, *chunk)
                self._forget(key, chunk)

    def _settle(self, tag, verb):
        lease = self._held.get(tag)
        return lease is not None and self._settled(tag, self._call(verb, *lease))

    def _settled(self, tag, count):
        with self._lock:
            self._held.pop(tag, None)
        if not count:
            logger.warning("The lease of message %s had ended: it is or was delivered again", tag)
        return bool(count)

    def _by_key(self, tags):
        keys = {}
        for tag in tags:
            lease = self._held.get(tag)
            if lease is not None:
                keys.setdefault(lease[0], []).append(lease[1])
        return keys

    def _forget(self, key, receipts):
        with self._lock:
            return [self._held.pop(f"{receipt} {key}", None) for receipt in receipts]

    # Queues that expire unless somebody consumes them

    def keep_queue(self, queue, expires_ms, refresh):
        """Calls ``refresh`` three times within ``expires_ms``, until :meth:`leave_queue`."""
        with self._lock:
            self._expiring[queue] = (expires_ms, refresh)
            # The keeper may rest for longer than this queue lasts.
            self._stop()
            self._keep()

    def leave_queue(self, queue):
        with self._lock:
            self._expiring.pop(queue, None)

    # The keeper

    def _keep(self):
        if self._thread is None:
            self._stopped = threading.Event()
            self._thread = threading.Thread(target=self._run, args=(self._stopped,), name="bobbin-leases", daemon=True)
            self._thread.start()

    def _stop(self):
        self._stopped.set()
        self._thread = None

    def stop(self):
        """Ends the keeper: leases run out from now on, unless they are settled."""
        with self._lock:
            self._stop()

    def _run(self, stopped):
        rest_s = self._rest_s()
        while not stopped.wait(rest_s):
            begin = time.monotonic()
            with self._lock:
                if stopped.is_set():
                    return
                if not self._held and not self._expiring:
                    # The next lease starts another thread.
                    self._thread = None
                    return
                held, expiring = list(self._held), list(self._expiring.values())
            try:
                self.extend(held)
                for _, refresh in expiring:
                    refresh()
            except (RedisError, OSError) as error:
                logger.warning("Leases could not be extended, to be tried again: %r", error)
                rest_s = min(1.0, self._rest_s())
            else:
                rest_s = max(0.0, self._rest_s() - (time.monotonic() - begin))

    def _rest_s(self):
        with self._lock:
            return min([self.lease_ms, *(expires_ms for expires_ms, _ in self._expiring.values())]) / 3000

    def extend(self, tags):
        """Has leases last anew from now on. Forgets those that have ended."""
        for key, receipts in self._by_key(tags).items():
            for chunk in _chunks(receipts):
                if self._extend(key, chunk) < len(chunk):
                    ended = [receipt for receipt in chunk if not self._extend(key, [receipt])]
                    # What was settled meanwhile is not held any more.
                    for lease in filter(None, self._forget(key, ended)):
                        logger.warning("The lease of a message of %s has ended: it is delivered again", lease[0])

    def _extend(self, key, receipts):
        return self._call("Q.EXTEND", key, *receipts, "LEASE", self.lease_ms)


def _chunks(items):
    return (items[start : start + CHUNK] for start in range(0, len(items), CHUNK))
