"""Connections on which the server may take its time to answer.

    Question   Q.RESERVE ... BLOCK, at most one at a time
    Listener   PSUBSCRIBE: what is published to fanout exchanges

They are read when there is something to read: by kombu's event loop, or by ``drain_events``.
"""

import os
import select
import time

import redis
from redis.exceptions import ConnectionError, RedisError, ResponseError


class Watched:
    """A connection that the event loop forgets before it is closed: a forked child may keep its socket open."""

    before_disconnect = None

    def disconnect(self, *arguments, **keywords):
        if self.before_disconnect is not None:
            self.before_disconnect()
        return super().disconnect(*arguments, **keywords)


class TcpConnection(Watched, redis.Connection):
    """Over TCP."""


class UnixConnection(Watched, redis.UnixDomainSocketConnection):
    """Over a unix socket."""


class Wire:
    """A connection of a transport's, made when it is first needed and again when it was lost."""

    def __init__(self, transport):
        self._transport = transport
        self._connection = None
        self._loop = None
        self._watched = None
        self._process = None

    @property
    def socket(self):
        connection = self._connection
        return None if connection is None else connection._sock

    def open(self):
        if self.socket is None:
            connection = self._connection = self._transport.make_connection()
            connection.before_disconnect = self._unwatch
            connection.connect()
        return self._connection

    def close(self):
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.disconnect()

    def send(self, *command):
        try:
            self.open().send_command(*command)
        except BaseException:
            self._lost()
            raise

    def receive(self):
        try:
            reply = self._connection.read_response()
        except ResponseError:
            raise
        except BaseException:
            self._lost()
            raise
        self._transport.lost = False
        return reply

    def _lost(self):
        self._transport.lost = True
        self.close()

    def more(self):
        """Whether another reply is there, be it in the parser. A connection that was lost is opened anew later."""
        try:
            return self._connection.can_read(0)
        except (RedisError, OSError):
            self.close()
            return False

    def readable(self, timeout_s):
        return bool(wait([self], timeout_s))

    def watch(self, loop, callback):
        """Has the event loop call back when there is something to read."""
        if self.socket is not None:
            descriptor = self.socket.fileno()
            if descriptor != self._watched or descriptor not in loop.readers:
                loop.add_reader(descriptor, callback, self)
                self._loop, self._watched, self._process = loop, descriptor, os.getpid()

    def _unwatch(self):
        loop, descriptor, self._watched = self._loop, self._watched, None
        # A forked child shares what the loop polls with its parent.
        if descriptor is not None and self._process == os.getpid():
            loop.remove_reader(descriptor)


class Question(Wire):
    """Asks for messages."""

    def __init__(self, transport):
        super().__init__(transport)
        self.asked_at = None
        self.keys = {}
        self._id = None

    @property
    def asked(self):
        return self.asked_at is not None

    def open(self):
        if self.socket is None:
            super().open()
            self._connection.send_command("CLIENT", "ID")
            self._id = self.receive()
        return self._connection

    def close(self):
        self.asked_at = None
        super().close()

    def ask(self, keys, count, lease_ms, block_ms):
        """Asks for up to ``count`` messages of the first of ``keys``, which tell their queues."""
        if self.socket is not None and self.readable(0):
            # Nothing was asked, so the server has hung up.
            self.close()
        block = ["BLOCK", block_ms] if block_ms else []
        self.send("Q.RESERVE", *keys, "COUNT", count, "LEASE", lease_ms, *block)
        self.keys = keys
        self.asked_at = time.monotonic()

    def answer(self):
        """The reply: the key, and of each message the receipt, the number of deliveries and the bytes; or None."""
        if not self.asked:
            self.close()
            return None
        try:
            return self.receive()
        finally:
            self.asked_at = None

    def unblock(self, call):
        """Has the server answer at once, by another connection."""
        call("CLIENT", "UNBLOCK", self._id)


class Listener(Wire):
    """Listens to patterns of channels."""

    def __init__(self, transport):
        super().__init__(transport)
        self.patterns = set()

    def close(self):
        self.patterns = set()
        super().close()

    def listen(self, patterns):
        """Listens to these patterns and no others; yields what is heard meanwhile, as :meth:`heard` does."""
        add, remove = patterns - self.patterns, self.patterns - patterns
        if add:
            self.send("PSUBSCRIBE", *add)
        if remove:
            self.send("PUNSUBSCRIBE", *remove)
        confirmations = len(add) + len(remove)
        while confirmations:
            kind, *rest = self.receive()
            if kind == b"pmessage":
                yield rest[0].decode(), rest[2]
            else:
                confirmations -= 1
        self.patterns = patterns
        if not patterns:
            self.close()

    def heard(self):
        """The pattern and the bytes of each message that is there."""
        messages = []
        while True:
            kind, *rest = self.receive()
            if kind == b"pmessage":
                messages.append((rest[0].decode(), rest[2]))
            if not self.more():
                return messages


def wait(wires, timeout_s):
    """Those of ``wires`` that can be read, after at most ``timeout_s``, None for ever."""
    poll, by_descriptor = select.poll(), {}
    for wire in wires:
        if wire.socket is None:
            raise ConnectionError("the connection was closed")
        by_descriptor[wire.socket.fileno()] = wire
        poll.register(wire.socket.fileno(), select.POLLIN)
    timeout_ms = None if timeout_s is None else max(0, round(timeout_s * 1000))
    return [by_descriptor[descriptor] for descriptor, _ in poll.poll(timeout_ms)]
