"""Kombu's transport on queues of Bobbin.

    publish ----> Q.PUSH --------> key = queue --> Q.RESERVE ... BLOCK --> inbox --> callback
            |                                                                 ^
            +---> PUBLISH (fanout) ------------------> PSUBSCRIBE ------------+

    ack: Q.ACK    reject with requeue, close: Q.NACK    reject: Q.ACK, and RPUSH to the dead letters

Each channel has a connection on which it asks for messages, with room for what its prefetch window has left, and
one more while it listens to fanout exchanges; all else goes through a pool. In an event loop the question stays
open, so a message arrives as soon as it is there; ``drain_events`` takes it back before it returns.
"""

import math
import socket
import threading
import time
from bisect import bisect_right
from collections import deque
from queue import Empty
from types import SimpleNamespace
from urllib.parse import quote

import redis
from kombu.exceptions import ChannelError
from kombu.log import get_logger
from kombu.transport import base, virtual
from kombu.utils.encoding import bytes_to_str
from kombu.utils.json import dumps, loads
from kombu.utils.url import url_to_parts
from kombu.utils.uuid import uuid
from redis.backoff import NoBackoff
from redis.exceptions import RedisError, ResponseError
from redis.retry import Retry

from .leases import Leases
from .wires import Listener, Question, TcpConnection, UnixConnection, wait

logger = get_logger(__name__)

#: Transport options and what they are unless given.
OPTIONS = {
    "lease_ms": 30_000,
    "block_ms": 10_000,
    "max_retries": None,
    "dead_letter": None,
    "priority_steps": (0,),
    "socket_timeout": 30,
    "socket_connect_timeout": 10,
    "client_name": None,
}
#: Messages in one reply, at most.
BATCH = 100
#: How long an answer is waited for that is about to come anyhow.
GRACE_S = 0.1
#: A question that was not answered so long after its time was lost on the way.
OVERDUE_S = 15
#: Names of queues that exist though no key says so, since they are empty.
QUEUES = "_bobbin.queues"
#: A sorted set for each exchange: bindings, and when they end unless their queue is consumed.
BINDINGS = "_bobbin.bindings."
#: A queue that expires is bound so much longer, and for a minute at least.
BOUND_TIMES, BOUND_MS_MIN = 3, 60_000
#: Messages that one turn of a purge removes.
PURGE = "local gone = redis.call('LPOP', KEYS[1], ARGV[1]) return gone and #gone or 0"
PURGE_TURN = 1000
#: Q.LIMIT's words for arguments of queues.
LIMITS = {
    "x-max-length": "MAXLEN",
    "x-max-length-bytes": "MAXBYTES",
    "x-message-ttl": "TTL",
    "x-delivery-limit": "RETRIES",
    "x-dead-letter-routing-key": "DEADLETTER",
}
#: Words that end the keys of Q.RESERVE.
RESERVED = {"COUNT", "LEASE", "BLOCK"}
#: Of delivery tags that no lease stands behind.
FANOUT_TAG = "fanout "


class QoS(virtual.QoS):
    """The prefetch window: what was delivered and is not settled."""

    def ack(self, delivery_tag):
        self.channel.leases.ack(delivery_tag)
        self._settled(delivery_tag)

    def reject(self, delivery_tag, requeue=False):
        if delivery_tag.startswith(FANOUT_TAG):
            if requeue and delivery_tag in self._delivered:
                self.channel.deliver_again(self._delivered[delivery_tag])
        elif requeue:
            self.channel.leases.give_back([delivery_tag])
        else:
            self.channel.discard(delivery_tag, self._delivered.get(delivery_tag))
        self._settled(delivery_tag)

    def _settled(self, delivery_tag):
        super().ack(delivery_tag)
        self.channel.room_made()

    def up_to(self, delivery_tag):
        """What was delivered until this, in order, and is not settled."""
        self._flush()
        tags = list(self._delivered)
        return tags[: tags.index(delivery_tag) + 1] if delivery_tag in self._delivered else []

    def room(self):
        """How many messages may be asked for."""
        if not self.can_consume():
            return 0
        if "can_consume" in vars(self):
            # Somebody has put a rule of his own in its place (Celery's worker_disable_prefetch), which knows no number.
            return 1
        room = self.can_consume_max_estimate()
        return BATCH if room is None else min(room, BATCH)

    def restore_unacked(self):
        """Gives all back at once. What the server cannot be told of comes back when its lease ends."""
        self._flush()
        tags = list(self._delivered)
        self._delivered.clear()
        self.channel.give_back(tags)
        return []


class Channel(virtual.Channel):
    """A channel: consumers, their prefetch window, and what is on its way to them."""

    QoS = QoS
    supports_fanout = True

    def __init__(self, connection, **keywords):
        super().__init__(connection, **keywords)
        # A late acknowledgement or rejection may come when the channel is closed.
        self.leases = connection.leases
        self._dead_letters = connection.dead_letters
        self._call = connection.call
        self._options = connection.options
        self._steps = sorted(connection.options.priority_steps)
        self._question = Question(connection)
        self._listener = Listener(connection)
        self._inbox = deque()
        self._turn = []
        self._no_ack = set()
        self._auto_delete = set()
        #: Whether messages go out just now: a task may run before they have (Celery's solo pool).
        self.delivering = False

    # Queues

    def prepare_queue_arguments(self, arguments, **keywords):
        return base.to_rabbitmq_queue_arguments(arguments, **keywords)

    def _keys(self, queue):
        """The keys of a queue, that of the most urgent messages first."""
        return [f"{queue}:{step}" if step else queue for step in reversed(self._steps)]

    def _key(self, queue, message):
        step = self._steps[max(bisect_right(self._steps, self._get_message_priority(message)) - 1, 0)]
        return f"{queue}:{step}" if step else queue

    def _new_queue(self, queue, auto_delete=False, arguments=None, **keywords):
        if queue.upper() in RESERVED:
            raise ChannelError(f"{queue!r} cannot be the name of a queue: Q.RESERVE takes it for its option")
        arguments = arguments or {}
        expires_ms = arguments.get("x-expires")
        limits = {word: arguments[name] for name, word in LIMITS.items() if arguments.get(name) is not None}
        if not auto_delete and not expires_ms and queue != self._options.dead_letter:
            defaults = {"RETRIES": self._options.max_retries, "DEADLETTER": self._options.dead_letter}
            limits = {**{word: value for word, value in defaults.items() if value is not None}, **limits}
        if expires_ms and not limits:
            # Only what is there can expire, and limits keep an empty queue there.
            limits = {"MAXLEN": 2**31}
        commands = [
            ("Q.LIMIT", key, *(word for limit in limits.items() for word in limit))
            for key in self._keys(queue)
            if limits
        ]
        if expires_ms:
            self.connection.expires_ms[queue] = expires_ms
            commands += [("PEXPIRE", key, expires_ms) for key in self._keys(queue)]
        elif not auto_delete:
            commands.append(("SADD", QUEUES, queue))
        self.connection.call_all(commands)
        if "DEADLETTER" in limits:
            self._dead_letters[queue] = limits["DEADLETTER"]
        if auto_delete:
            self._auto_delete.add(queue)

    def _has_queue(self, queue, **keywords):
        if queue in self._active_queues:
            return True
        known, there = self.connection.call_all([("SISMEMBER", QUEUES, queue), ("EXISTS", *self._keys(queue))])
        return bool(known or there)

    def _size(self, queue):
        return sum(self.connection.call_all([("LLEN", key) for key in self._keys(queue)]))

    def _purge(self, queue):
        purged = 0
        for key in self._keys(queue):
            # What is pushed meanwhile may stay.
            left = self._call("LLEN", key)
            while left > 0:
                gone = self._call("EVAL", PURGE, 1, key, min(left, PURGE_TURN))
                purged += gone
                left = left - gone if gone else 0
        return purged

    def queue_delete(self, queue, if_unused=False, if_empty=False, **keywords):
        if if_empty and self._size(queue):
            return
        for exchange, routing_key, arguments in list(self.state.queue_bindings(queue)):
            self.queue_unbind(queue, exchange, routing_key, arguments)
        self.state.queue_bindings_delete(queue)
        self.connection.expires_ms.pop(queue, None)
        self._dead_letters.pop(queue, None)
        self.connection.call_all([("DEL", *self._keys(queue)), ("SREM", QUEUES, queue)])

    # Exchanges

    def _queue_bind(self, exchange, routing_key, pattern, queue):
        if self.typeof(exchange).type == "fanout":
            # What is heard needs no key.
            self.connection.fanout_queues.setdefault(queue, set()).add(self._heard_as(exchange, routing_key))
            if self.connection.expires_ms.pop(queue, None):
                self._call("DEL", *self._keys(queue))
            return
        self._sweep(exchange)
        self._bind(exchange, self._binding(routing_key, pattern, queue), self.connection.expires_ms.get(queue))

    def _binding(self, routing_key, pattern, queue):
        return dumps([routing_key, pattern, queue, self.connection.expires_ms.get(queue)])

    def _bind(self, exchange, binding, expires_ms):
        until = "+inf"
        if expires_ms:
            until = self._now_ms() + max(expires_ms * BOUND_TIMES, BOUND_MS_MIN)
        self._call("ZADD", BINDINGS + exchange, until, binding)

    def _sweep(self, exchange):
        self._call("ZREMRANGEBYSCORE", BINDINGS + exchange, "-inf", self._now_ms())

    def _now_ms(self):
        seconds, microseconds = self._call("TIME")
        return int(seconds) * 1000 + int(microseconds) // 1000

    def queue_unbind(self, queue, exchange=None, routing_key="", arguments=None, **keywords):
        self.state.binding_delete(queue, exchange, routing_key)
        kind = self.typeof(exchange)
        if kind.type == "fanout":
            self.connection.fanout_queues.get(queue, set()).discard(self._heard_as(exchange, routing_key))
            return
        bindings = [
            binding
            for binding in self._call("ZRANGE", BINDINGS + exchange, 0, -1)
            if loads(bytes_to_str(binding))[:3] == [*kind.prepare_bind(queue, exchange, routing_key, arguments)]
        ]
        if bindings:
            self._call("ZREM", BINDINGS + exchange, *bindings)

    def exchange_delete(self, exchange, if_unused=False, nowait=False):
        self._call("DEL", BINDINGS + exchange)
        self.state.exchanges.pop(exchange, None)

    def get_table(self, exchange):
        table = []
        for binding in self._call("ZRANGE", BINDINGS + exchange, 0, -1):
            routing_key, pattern, queue, expires_ms = loads(bytes_to_str(binding))
            if expires_ms:
                self.connection.expires_ms.setdefault(queue, expires_ms)
            table.append((routing_key, pattern, queue))
        return table

    # Publishing

    def _put(self, queue, message, **keywords):
        commands = [("Q.PUSH", self._key(queue, message), dumps(message))]
        expires_ms = self.connection.expires_ms.get(queue)
        if expires_ms:
            # Whoever declared it may have gone, and it with him.
            commands.append(("PEXPIRE", self._key(queue, message), expires_ms, "NX"))
        self.connection.call_all(commands)

    def _put_fanout(self, exchange, message, routing_key, **keywords):
        self._call("PUBLISH", self._channel_of(exchange, routing_key or ""), dumps(message))

    def _channel_of(self, exchange, routing_key):
        return f"bobbin/{self.connection.database}/{quote(exchange, safe='')}/{routing_key}"

    def _heard_as(self, exchange, routing_key):
        """A pattern of channels: all of the exchange, unless the key is a pattern, as those of Celery's events are."""
        key = (routing_key or "").replace("#", "*")
        return self._channel_of(exchange, key if "*" in key else "*")

    # Consuming

    def basic_consume(self, queue, no_ack, callback, consumer_tag, **keywords):
        self._take_back()
        super().basic_consume(queue, no_ack, callback, consumer_tag, **keywords)
        if no_ack:
            self._no_ack.add(queue)
        if queue in self.connection.fanout_queues:
            self._listen()
        elif queue in self.connection.expires_ms:
            self._keep_queue(queue, self.connection.expires_ms[queue])

    def _keep_queue(self, queue, expires_ms):
        """Keeps a queue that expires, and its bindings, as long as it is consumed."""
        bindings = [
            (exchange, self._binding(*self.typeof(exchange).prepare_bind(queue, exchange, routing_key, arguments)))
            for exchange, routing_key, arguments in self.state.queue_bindings(queue)
        ]
        call_all, keys = self.connection.call_all, self._keys(queue)

        def refresh():
            call_all([("PEXPIRE", key, expires_ms) for key in keys])
            for exchange, binding in bindings:
                self._bind(exchange, binding, expires_ms)

        self.leases.keep_queue(queue, expires_ms, refresh)

    def basic_cancel(self, consumer_tag):
        if consumer_tag not in self._consumers:
            return
        queue = self._tag_to_queue[consumer_tag]
        self._take_back()
        super().basic_cancel(consumer_tag)
        if queue in self._active_queues:
            return
        self._no_ack.discard(queue)
        self.leases.leave_queue(queue)
        self._listen()
        self._return(lambda item: item.queue == queue)
        if queue in self._auto_delete:
            self._auto_delete.discard(queue)
            self.queue_delete(queue)

    def _get(self, queue, timeout=None):
        for key in self._keys(queue):
            reply = self._call("Q.RESERVE", key, "LEASE", self.leases.lease_ms)
            for receipt, deliveries, payload in reply[1] if reply else []:
                tag = self.leases.take(key, bytes_to_str(receipt))
                payload = self._read(tag, deliveries, payload, queue)
                if payload is not None:
                    return payload
        raise Empty()

    def basic_get(self, queue, no_ack=False, **keywords):
        message = super().basic_get(queue, no_ack=no_ack, **keywords)
        if message is not None and no_ack:
            self.leases.ack(message.delivery_tag)
        return message

    def basic_ack(self, delivery_tag, multiple=False):
        for tag in self.qos.up_to(delivery_tag) if multiple else [delivery_tag]:
            self.qos.ack(tag)

    def discard(self, tag, message):
        """Removes a message that was rejected, to the dead letters if its queue has some."""
        if message is None:
            # It has been given back.
            return
        dead_letter = self._dead_letters.get(message.delivery_info.get("queue"))
        self.leases.discard(tag, dead_letter, dead_letter and dumps(message.serializable()))

    def give_back(self, tags):
        """Makes messages ready again; what the server cannot be told of is ready when its lease ends."""
        try:
            self.leases.give_back(tags)
        except (RedisError, OSError) as error:
            logger.warning("%d messages come back when their leases end: %r", len(tags), error)

    def deliver_again(self, message):
        """Delivers a message of a fanout exchange once more, to this channel: no server has it."""
        self._inbox.append(self._fanout_item(message.delivery_info["queue"], message.serializable()))

    def room_made(self):
        if self.connection is not None:
            self.connection.room_made(self)

    # What is on its way

    def ask(self, block_ms, count=BATCH):
        """Asks for messages, if there is room for any and no question is open."""
        if self._question.asked or self._inbox or self.closed:
            return
        queues = self._next_queues()
        room = min(self.qos.room(), count) if queues else 0
        if room:
            keys = {key: queue for queue in queues for key in self._keys(queue)}
            # A batch is of one queue: the others are to have their turn.
            self._question.ask(keys, max(room // len(queues), 1), self.leases.lease_ms, block_ms)

    def _next_queues(self):
        active = [queue for queue in self._active_queues if queue not in self.connection.fanout_queues]
        if set(active) != set(self._turn):
            known = [queue for queue in self._turn if queue in active]
            self._turn = [*known, *(queue for queue in dict.fromkeys(active) if queue not in known)]
        return self._turn

    def wires(self):
        """What may have something to read."""
        wires = [self._question] if self._question.asked else []
        return wires + ([self._listener] if self._listener.patterns else [])

    def read(self, wire):
        """Takes what there is to read into the inbox."""
        if wire is self._listener:
            for pattern, payload in wire.heard():
                self._heard(pattern, payload)
            return
        asked_at = wire.asked_at
        reply = wire.answer()
        if not reply:
            return
        key, queue = bytes_to_str(reply[0]), wire.keys[bytes_to_str(reply[0])]
        self._turn = [*(other for other in self._turn if other != queue), queue]
        tags = [(self.leases.take(key, bytes_to_str(receipt)), *rest) for receipt, *rest in reply[1]]
        if time.monotonic() - asked_at > self.leases.lease_ms / 2000:
            # It may have lain in the socket for longer than the lease.
            self.leases.extend([tag for tag, *_ in tags])
        for tag, deliveries, payload in tags:
            payload = self._read(tag, deliveries, payload, queue)
            if payload is not None:
                self._inbox.append(SimpleNamespace(queue=queue, payload=payload, tag=tag))

    def _read(self, tag, deliveries, payload, queue):
        """The message as kombu knows it, or None if it is not to be delivered."""
        if not self.leases.holds(tag):
            return None
        try:
            payload = loads(bytes_to_str(payload))
            properties = payload["properties"]
            info = properties.setdefault("delivery_info", {})
            payload["headers"] = dict(payload.get("headers") or {})
        except (ValueError, KeyError, TypeError, AttributeError):
            logger.error("Message %s is none of kombu's: it is buried", tag)
            self.leases.bury(tag)
            return None
        properties["delivery_tag"] = tag
        info.update(redelivered=deliveries > 1, deliveries=deliveries, queue=queue)
        payload["headers"].pop("x-delivery-count", None)
        if deliveries > 1:
            payload["headers"]["x-delivery-count"] = deliveries - 1
        return payload

    def _heard(self, pattern, payload):
        for queue, patterns in list(self.connection.fanout_queues.items()):
            if pattern in patterns and queue in self._active_queues:
                try:
                    self._inbox.append(self._fanout_item(queue, loads(bytes_to_str(payload))))
                except (ValueError, KeyError, TypeError, AttributeError):
                    logger.error("What was published to %s is none of kombu's", pattern)

    def _fanout_item(self, queue, payload):
        tag = FANOUT_TAG + uuid()
        payload["properties"]["delivery_tag"] = tag
        payload["properties"].setdefault("delivery_info", {})["queue"] = queue
        return SimpleNamespace(queue=queue, payload=payload, tag=tag)

    def _listen(self):
        queues = self.connection.fanout_queues
        patterns = {pattern for queue in self._active_queues for pattern in queues.get(queue, ())}
        if patterns != self._listener.patterns:
            for pattern, payload in self._listener.listen(patterns):
                self._heard(pattern, payload)

    def hand_out(self):
        """Gives the next message of the inbox to its consumer; false if there is none."""
        while self._inbox:
            item = self._inbox.popleft()
            callback = self.connection._callbacks.get(item.queue)
            if callback is None:
                self.give_back([item.tag])
            elif item.queue not in self._no_ack or self._let_go(item.tag):
                callback(item.payload)
                return True
        return False

    def _let_go(self, tag):
        """Of a message that nobody will acknowledge."""
        return tag.startswith(FANOUT_TAG) or self.leases.ack(tag)

    def attend(self, loop):
        """In an event loop, at each of its turns: what is there goes out, and the question is asked."""
        self._hand_out_all()
        if self.closed:
            return
        self._listen()
        self.ask_on(loop)

    def ask_on(self, loop):
        self.ask(self.connection.block_ms)
        for wire in (self._question, self._listener):
            wire.watch(loop, self._readable)

    def _readable(self, wire):
        self.read(wire)
        self._hand_out_all()

    def _hand_out_all(self):
        self.delivering = True
        try:
            while self.hand_out():
                pass
        finally:
            self.delivering = False

    def check(self):
        """Whether an answer is overdue, so that the connection must be lost."""
        asked_at = self._question.asked_at
        if asked_at is None or self._question.readable(0):
            return
        waited_s = time.monotonic() - asked_at
        if waited_s > self.connection.block_ms / 1000 + OVERDUE_S:
            self._question.close()
            self.connection.lost = True
            raise redis.ConnectionError(f"the server has not answered for {waited_s:.0f} seconds")

    def _take_back(self, patience_s=0):
        """Takes the question back: what was reserved by then is in the inbox."""
        question = self._question
        until = time.monotonic() + OVERDUE_S
        while question.asked and not question.readable(patience_s):
            if time.monotonic() > until:
                question.close()
                raise redis.TimeoutError("the server does not answer")
            question.unblock(self._call)
            patience_s = GRACE_S
        if question.asked:
            self.read(question)

    def settle(self):
        """Leaves nothing under way: when nobody reads, nothing may be reserved."""
        self._take_back(GRACE_S)

    def _return(self, condition):
        """Gives back what is in the inbox and meets the condition."""
        items = [item for item in self._inbox if condition(item)]
        self._inbox = deque(item for item in self._inbox if item not in items)
        self.give_back([item.tag for item in items])

    def close(self):
        """Gives back what is not settled, unless the connection was lost: then tasks that run may still be done with it."""
        if self.closed:
            return
        try:
            if not self.connection.lost:
                self._take_back()
                for consumer in list(self._consumers):
                    self.basic_cancel(consumer)
                self._return(lambda item: True)
        except (RedisError, OSError) as error:
            self.connection.lost = True
            logger.debug("The server is not there to be told that a channel is closed: %r", error)
        self._question.close()
        self._listener.close()
        # Whoever could not be cancelled above need not tell the server.
        for consumer in list(self._consumers):
            self.leases.leave_queue(self._tag_to_queue[consumer])
            super().basic_cancel(consumer)
        if self.connection.lost and self._qos:
            self._qos.restore_at_shutdown = False
        super().close()


class Transport(virtual.Transport):
    """A connection to a server, with its channels."""

    Channel = Channel
    default_port = 6379
    #: Celery has its events in a fanout exchange for this type, and workers hear of each other.
    driver_type = "redis"
    driver_name = "bobbin"

    implements = base.Transport.implements.extend(
        asynchronous=True,
        exchange_type=frozenset(["direct", "topic", "fanout"]),
        heartbeats=False,
    )
    connection_errors = virtual.Transport.connection_errors + (
        redis.ConnectionError,
        redis.TimeoutError,
        OSError,
    )
    channel_errors = virtual.Transport.channel_errors + (redis.DataError, redis.InvalidResponse, ResponseError)

    def __init__(self, client, **keywords):
        super().__init__(client, **keywords)
        given = client.transport_options
        self.options = SimpleNamespace(**{name: given.get(name, default) for name, default in OPTIONS.items()})
        #: A question ends long before what it reserves.
        self.block_ms = max(1, min(self.options.block_ms, self.options.lease_ms // 3))
        self._class, self._parameters = self._connection_parameters()
        self.database = self._parameters["db"]
        self._redis = redis.Redis(
            connection_pool=redis.ConnectionPool(connection_class=self._class, **self._parameters)
        )
        self.call = self._redis.execute_command
        self.leases = Leases(self.call, self.options.lease_ms)
        #: Patterns of what the queues of fanout exchanges hear.
        self.fanout_queues = {}
        self.expires_ms = {}
        self.dead_letters = {}
        #: Whether the connection was lost and is not made again: channels that are closed need not tell the server.
        self.lost = False
        self._loop = self._timer = None
        self._thread = None
        self._room = threading.Event()

    def _connection_parameters(self):
        client, options = self.client, self.options
        parameters = {
            "db": int(str(client.virtual_host or "0").strip("/") or 0),
            "username": client.userid,
            "password": client.password,
            "client_name": options.client_name,
            "socket_timeout": options.socket_timeout,
            "socket_connect_timeout": options.socket_connect_timeout,
            "protocol": 2,
            # A push that is tried again may be there twice: kombu decides.
            "retry": Retry(NoBackoff(), 0),
        }
        host = client.hostname or "localhost"
        if "://" in host:
            # bobbin+socket:///path?virtual_host=database
            parts = url_to_parts(host)
            database = parts.query.get("virtual_host", parameters["db"])
            where = {"path": "/" + parts.path.lstrip("/"), "db": int(database)}
            where.update(username=parts.username or client.userid, password=parts.password or client.password)
            del parameters["socket_connect_timeout"]
            return UnixConnection, {**parameters, **where}
        where = {"host": host, "port": client.port or self.default_port, "socket_keepalive": True}
        return TcpConnection, {**parameters, **where}

    def make_connection(self):
        return self._class(**self._parameters)

    def call_all(self, commands):
        """Sends commands together; returns their replies, or raises the first error."""
        with self._redis.pipeline(transaction=False) as pipeline:
            for command in commands:
                pipeline.execute_command(*command)
            return pipeline.execute()

    def driver_version(self):
        return redis.__version__

    def establish_connection(self):
        self.lost = False
        try:
            self.call("PING")
            return super().establish_connection()
        except BaseException:
            self._redis.connection_pool.disconnect()
            raise

    def close_connection(self, connection):
        if self._loop is not None:
            self._loop.on_tick.discard(self._tick)
            self._timer.cancel()
        super().close_connection(connection)
        self.leases.stop()
        self._redis.connection_pool.disconnect()

    # In an event loop

    def register_with_event_loop(self, connection, loop):
        self._loop = loop
        loop.on_tick.add(self._tick)
        self._timer = loop.call_repeatedly(OVERDUE_S, self._check)

    def _tick(self):
        self._thread = threading.get_ident()
        for channel in list(self.channels):
            channel.attend(self._loop)

    def _check(self):
        for channel in list(self.channels):
            channel.check()

    def room_made(self, channel):
        """A message was settled, in whatever thread."""
        self._room.set()
        if self._loop is None:
            return
        if threading.get_ident() != self._thread:
            self._loop.call_soon(self._tick)
        elif not channel.closed and not channel.delivering:
            # The loop may rest before its next turn.
            channel.ask_on(self._loop)

    # Without one

    def drain_events(self, connection, timeout=None):
        """Delivers one message, or raises ``socket.timeout``."""
        until = None if timeout is None else time.monotonic() + timeout
        try:
            self._fetch(until)
        finally:
            for channel in list(self.channels):
                channel.settle()

    def _fetch(self, until):
        last = False
        while not any(channel.hand_out() for channel in list(self.channels)):
            if last:
                raise socket.timeout("timed out")
            left_s = None if until is None else max(0, until - time.monotonic())
            last = left_s == 0
            self._room.clear()
            wires = self._ask(left_s)
            if wires:
                ready = wait(wires, left_s)
                for wire in ready:
                    wires[wire].read(wire)
            else:
                self._room.wait(1 if left_s is None else min(left_s, 1))
            if last:
                for channel in list(self.channels):
                    channel.settle()

    def _ask(self, left_s):
        """Asks for a message for each channel; returns the wires that may be read, with their channels."""
        block_ms = self.block_ms if left_s is None else min(self.block_ms, math.ceil(left_s * 1000))
        wires = {}
        for channel in list(self.channels):
            channel.ask(block_ms, count=1)
            wires.update((wire, channel) for wire in channel.wires())
        return wires
