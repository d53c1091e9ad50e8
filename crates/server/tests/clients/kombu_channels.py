"""Kombu on Bobbin's queues, without Celery: what a connection and its channels promise.

    kombu_channels.py PORT SOCKET PORT_WITH_PASSWORD      with clients/python in PYTHONPATH
"""

import os
import socket
import subprocess
import sys
import threading
import time

from kombu import Connection, Consumer, Exchange, Producer, Queue
from kombu.asynchronous import Hub
from kombu.exceptions import ChannelError
from kombu.pidbox import Mailbox
from redis import Redis

import bobbin_kombu
from waiting import until

PORT, SOCKET, LOCKED = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
r = Redis(port=PORT, db=3, decode_responses=True)
URL = f"{bobbin_kombu.SCHEME}://127.0.0.1:{PORT}/3"


def connect(**options):
    return Connection(URL, transport_options=options)


def info(queue):
    if not r.exists(queue):
        return {}
    reply = r.execute_command("Q.INFO", queue)
    return reply if isinstance(reply, dict) else dict(zip(reply[::2], reply[1::2]))


def state(queue):
    counts = info(queue)
    return [counts.get(name, 0) for name in ("ready", "leased", "dead")]


def drain(connection, count, received):
    """Until so many messages were received."""
    while len(received) < count:
        connection.drain_events(timeout=30)


def nothing_comes(connection):
    try:
        connection.drain_events(timeout=0.05)
    except socket.timeout:
        return True
    return False


class Messages(list):
    """A consumer's callback that keeps what it is given."""

    def __call__(self, message):
        self.append(message)

    def __bool__(self):
        return True

    def bodies(self):
        return [message.payload for message in self]

    def consume(self, channel, *queues, **keywords):
        consumer = Consumer(channel, list(queues), on_message=self, **keywords)
        consumer.consume()
        return consumer


def simple_queues():
    with connect() as connection:
        queue = connection.SimpleQueue("simple")
        for number in range(20):
            queue.put({"number": number, "text": "ä\0"})
        assert queue.qsize() == 20 and state("simple") == [20, 0, 0]
        for number in range(10):
            message = queue.get(timeout=30)
            assert message.payload == {"number": number, "text": "ä\0"}
            assert message.delivery_info["redelivered"] is False and message.delivery_info["deliveries"] == 1
            message.ack()
        message = queue.get_nowait()
        assert message.payload["number"] == 10 and not message.acknowledged
        message.reject()
        assert state("simple") == [9, 0, 0]
        message = queue.get(timeout=30)
        message.requeue()
        again = queue.get(timeout=30)
        assert again.payload["number"] == 11 and again.headers["x-delivery-count"] == 1
        assert again.delivery_info["redelivered"] is True and again.delivery_info["deliveries"] == 2
        assert queue.clear() == 8, "what is leased stays"
        again.ack()
        assert state("simple") == [0, 0, 0]
        try:
            queue.get_nowait()
            raise AssertionError("there is nothing")
        except queue.Empty:
            pass
        try:
            queue.get(timeout=0.05)
            raise AssertionError("there is nothing")
        except queue.Empty:
            pass


def windows():
    """Prefetch: no more is leased than was asked for, and what is settled makes room."""
    with connect() as connection:
        channel = connection.channel()
        queue = Queue("window")(channel)
        queue.declare()
        producer = Producer(channel)
        for number in range(30):
            producer.publish(number, routing_key="window")
        received = Messages()
        consumer = received.consume(channel, queue)
        consumer.qos(prefetch_count=5)
        drain(connection, 5, received)
        assert nothing_comes(connection) and state("window") == [25, 5, 0]
        received[0].ack()
        received[1].ack()
        drain(connection, 7, received)
        assert nothing_comes(connection) and state("window") == [23, 5, 0]
        received[6].ack(multiple=True)
        assert state("window") == [23, 0, 0], "all until it"
        drain(connection, 10, received)
        received[7].reject(requeue=True)
        drain(connection, 11, received)
        assert received.bodies() == [*range(10), 7], "to the head"
        channel.basic_recover(requeue=True)
        assert state("window") == [23, 0, 0]
        drain(connection, 14, received)
        assert received.bodies()[11:] == [7, 8, 9]
        consumer.cancel()
        assert state("window") == [20, 3, 0], "a consumer that goes keeps what it has"
        channel.close()
        assert state("window") == [23, 0, 0], "a channel that goes gives all back"
        received[-1].ack()
        received[-2].reject()
        received[-3].reject(requeue=True)
        assert state("window") == [23, 0, 0], "what was given back is nobody's"
        other = connection.channel()
        received = Messages()
        received.consume(other, queue(other), no_ack=True)
        drain(connection, 23, received)
        assert received.bodies() == [*range(7, 30)], "in order of their ids"
        assert state("window") == [0, 0, 0]


def turns():
    """Queues of one consumer have their turns; a consumer that comes or goes is heeded."""
    with connect() as connection:
        channel = connection.channel()
        queues = [Queue(name)(channel) for name in ("one", "two", "three")]
        producer = Producer(channel)
        for queue in queues:
            queue.declare()
            for number in range(4):
                producer.publish(f"{queue.name} {number}", routing_key=queue.name)
        received = Messages()
        consumer = received.consume(channel, *queues)
        drain(connection, 12, received)
        names = [body.split()[0] for body in received.bodies()]
        assert names == ["one", "two", "three"] * 4, names
        consumer.cancel_by_queue("two")
        producer.publish("unheard", routing_key="two")
        producer.publish("heard", routing_key="three")
        drain(connection, 13, received)
        assert received[-1].payload == "heard" and nothing_comes(connection)
        assert [queue.queue_declare(passive=True).message_count for queue in queues] == [0, 1, 0]
        assert queues[1].delete() is None
        try:
            queues[1].queue_declare(passive=True)
            raise AssertionError("it is gone")
        except ChannelError as error:
            assert "NOT_FOUND" in str(error)
        for name in ("count", "Lease"):
            try:
                Queue(name)(channel).declare()
                raise AssertionError("Q.RESERVE would not know it for a key")
            except ChannelError as error:
                assert "option" in str(error)


def routes():
    """Direct and topic exchanges, known to every connection."""
    direct, topic = Exchange("direct", "direct"), Exchange("topic", "topic")
    with connect() as connection, connect() as another:
        channel = connection.channel()
        for name, exchange, key in [
            ("red", direct, "r"), ("both", direct, "r"), ("both", direct, "g"),
            ("all", topic, "#"), ("errors", topic, "*.error"),
        ]:
            Queue(name, exchange, routing_key=key)(channel).declare()
        producer = Producer(another)
        for exchange, key in [(direct, "r"), (direct, "g"), (direct, "x"), (topic, "a.error"), (topic, "a.b.error")]:
            producer.publish(key, exchange=exchange, routing_key=key, declare=[exchange])
        assert [state(name)[0] for name in ("red", "both", "all", "errors")] == [1, 2, 2, 1]
        Queue("both", direct, routing_key="r")(channel).unbind_from(direct, routing_key="r")
        producer.publish("r", exchange=direct, routing_key="r")
        assert [state(name)[0] for name in ("red", "both")] == [2, 2]
        Queue("red", direct, routing_key="r")(channel).delete()
        producer.publish("r", exchange=direct, routing_key="r")
        assert r.exists("red") == 0, "with its bindings"


def broadcasts():
    """A fanout exchange, and what Celery builds on it."""
    news = Exchange("news/of the day", "fanout")
    with connect() as connection, connect() as another:
        heard = [Messages(), Messages()]
        channels = [connection.channel() for _ in heard]
        for number, channel in enumerate(channels):
            heard[number].consume(channel, Queue(f"news {number}", news))
        Producer(another).publish("hello", exchange=news, declare=[news])
        drain(connection, 1, heard[0])
        drain(connection, 1, heard[1])
        assert [messages.bodies() for messages in heard] == [["hello"]] * 2
        r.publish("bobbin/3/news%2Fof%20the%20day/", "none of kombu's")
        assert nothing_comes(connection)
        heard[0][0].reject(requeue=True)
        drain(connection, 2, heard[0])
        heard[0][1].ack()
        assert r.keys("news*") == []

        mailbox = Mailbox("trial", type="fanout")
        node = mailbox(connection).Node("first", state=None)
        node.handlers["double"] = lambda state, number: number * 2
        node.listen(channel=connection.channel())
        ended = threading.Event()
        answerer = threading.Thread(target=answer, args=(connection, ended))
        answerer.start()
        try:
            replies = mailbox(another)._broadcast("double", {"number": 21}, reply=True, limit=1, timeout=30)
        finally:
            ended.set()
            answerer.join()
        assert replies == [{"first": 42}], replies
    assert not [key for key in r.keys("*reply*") if not key.startswith("_bobbin")], "a queue of replies goes with who asked"


def answer(connection, ended):
    while not ended.is_set():
        try:
            connection.drain_events(timeout=0.05)
        except socket.timeout:
            pass


def limits():
    """Queues whose arguments say how long they are, and where messages go that nobody settles."""
    with connect(max_retries=1, dead_letter="dead") as connection:
        channel = connection.channel()
        queue = Queue("tried")(channel)
        queue.declare()
        Queue("dead")(channel).declare()
        producer = Producer(channel)
        producer.publish("stubborn", routing_key="tried")
        received = Messages()
        received.consume(channel, queue)
        drain(connection, 1, received)
        received[0].reject(requeue=True)
        drain(connection, 2, received)
        assert received[1].headers["x-delivery-count"] == 1
        received[1].reject(requeue=True)
        until(lambda: r.llen("dead") == 1)
        assert nothing_comes(connection) and state("tried") == [0, 0, 0]
        producer.publish("refused", routing_key="tried")
        drain(connection, 3, received)
        received[2].reject()
        assert state("tried") == [0, 0, 0] and r.llen("dead") == 2
        dead = connection.SimpleQueue("dead")
        bodies = []
        for _ in range(2):
            message = dead.get(timeout=30)
            bodies.append(message.payload)
            message.ack()
        assert sorted(bodies) == ["refused", "stubborn"]
        dead.close()

        r.set("dead", "no queue")
        producer.publish("buried", routing_key="tried")
        drain(connection, 4, received)
        received[3].reject()
        assert info("tried")["buried"] == 1 and r.get("dead") == "no queue"

        short = Queue("short", max_length=2, message_ttl=60, queue_arguments={"x-delivery-limit": 5})(channel)
        short.declare()
        settings = info("short")
        assert [settings[name] for name in ("max-len", "ttl-ms", "retries")] == [2, 60_000, 5]
        for number in range(2):
            producer.publish(number, routing_key="short")
        try:
            producer.publish(2, routing_key="short", retry=False)
            raise AssertionError("it is full")
        except connection.channel_errors as error:
            assert "QUEUEFULL" in str(error)
        assert r.llen("short") == 2

        Queue("brief", expires=60)(channel).declare()
        assert 0 < r.pttl("brief") <= 60_000
        Queue("own", Exchange("own"), routing_key="own", auto_delete=True)(channel).declare()
        producer.publish("for nobody", exchange="own", routing_key="own")
        consumer = Messages().consume(channel, Queue("own", Exchange("own"), routing_key="own", auto_delete=True))
        consumer.cancel()
        assert r.exists("own", "_bobbin.bindings.own") == 0


def priorities():
    with connect(priority_steps=[0, 3, 6]) as connection:
        channel = connection.channel()
        queue = Queue("urgent")(channel)
        queue.declare()
        for priority in (0, 9, 3, 6, 1):
            Producer(channel).publish(priority, routing_key="urgent", priority=priority)
        assert queue.queue_declare(passive=True).message_count == 5
        received = Messages()
        received.consume(channel, queue)
        drain(connection, 5, received)
        assert received.bodies() == [9, 6, 3, 0, 1]
        [message.ack() for message in received]
        assert r.keys("urgent*") == []


def odd_messages():
    """What is none of kombu's is set aside, and nobody is stopped by it."""
    with connect() as connection:
        queue = connection.SimpleQueue("odd")
        r.rpush("odd", "not JSON", "[1]", '{"body": "no properties"}')
        queue.put("good")
        assert queue.get(timeout=30).payload == "good"
        assert info("odd")["buried"] == 3
        large = os.urandom(600_000).hex()
        queue.put(large)
        message = queue.get(timeout=30)
        assert message.payload == large
        message.ack()


def leases():
    """A lease lasts while its holder lives, and no longer."""
    with connect(lease_ms=60_000) as connection:
        channel = connection.channel()
        Queue("leased")(channel).declare()
        Producer(channel).publish("x", routing_key="leased")
        message = channel.basic_get("leased")
        tag = message.delivery_tag
        receipt, key = tag.split(" ", 1)
        # As if the connection had been away for longer than its lease.
        assert r.execute_command("Q.NACK", key, receipt) == 1
        channel.leases.extend([tag])
        assert not channel.leases.holds(tag)
        message.ack()
        assert state("leased") == [1, 0, 0], "an acknowledgement that is late takes nobody else's message"
        assert channel.basic_get("leased", no_ack=True).payload == message.payload
        assert state("leased") == [0, 0, 0]

    with connect(lease_ms=2_000) as connection:
        channel = connection.channel()
        Producer(channel).publish("kept", routing_key="leased")
        begin = time.monotonic()
        message = channel.basic_get("leased")
        extend, spans = channel.leases.extend, [(begin, begin)]

        def extend_and_note(tags):
            before = time.monotonic()
            extend(tags)
            spans.append((before, time.monotonic()))

        channel.leases.extend = extend_and_note
        until(lambda: len(spans) > 4)
        held = channel.leases.holds(message.delivery_tag) and state("leased") == [0, 1, 0]
        spans.append((time.monotonic(), time.monotonic()))
        # On a machine that stands still for longer than a lease it may be over.
        assert held or max(end - begin for (begin, _), (_, end) in zip(spans, spans[1:])) > 1.9
        message.ack()
    r.delete("leased")

    # A holder that dies.
    script = f"""
import os, sys, bobbin_kombu
from kombu import Connection
channel = Connection({URL!r}, transport_options={{"lease_ms": 1000}}).channel()
assert channel.basic_get("leased").payload == "left"
os._exit(9)
"""
    with connect() as connection:
        Producer(connection).publish("left", routing_key="leased")
        assert subprocess.run([sys.executable, "-c", script]).returncode == 9
        message = connection.SimpleQueue("leased").get(timeout=30)
        assert message.payload == "left" and message.delivery_info["deliveries"] == 2
        message.ack()

    # A process that ends without closing anything gives back at once.
    script = script.replace("1000", "600000").replace("os._exit(9)", "sys.exit(0)")
    with connect() as connection:
        Producer(connection).publish("left", routing_key="leased")
        assert subprocess.run([sys.executable, "-c", script]).returncode == 0
        assert connection.SimpleQueue("leased").get(timeout=30).payload == "left"


def event_loops():
    """In kombu's event loop a message arrives though the question was open long before, and consumers come and go."""
    hub = Hub()
    with connect() as connection, connect() as another:
        channel = connection.channel()
        connection.register_with_event_loop(hub)
        received, late = Messages(), Messages()
        first, second = Queue("first")(channel), Queue("second")(channel)
        consumer = received.consume(channel, first)
        consumer.qos(prefetch_count=2)
        hub.timer.call_repeatedly(0.01, lambda: None)
        until(lambda: hub.run_once() or any(client["flags"] == "b" for client in r.client_list()))
        for number in range(3):
            Producer(another).publish(number, routing_key="first")
        until(lambda: hub.run_once() or len(received) == 2)
        for _ in range(10):
            hub.run_once()
        assert len(received) == 2 and state("first") == [1, 2, 0]
        acknowledged = threading.Thread(target=received[0].ack)
        acknowledged.start()
        until(lambda: hub.run_once() or len(received) == 3)
        acknowledged.join()
        received[1].ack()
        received[2].ack()
        until(lambda: hub.run_once() or channel._question.asked)
        later = late.consume(channel, second)
        Producer(another).publish("late", routing_key="second")
        until(lambda: hub.run_once() or late.bodies() == ["late"])
        until(lambda: hub.run_once() or channel._question.asked)
        late[0].ack()
        later.cancel()
        Producer(another).publish("too late", routing_key="second")
        Producer(another).publish("last", routing_key="first")
        until(lambda: hub.run_once() or received.bodies() == [0, 1, 2, "last"])
        assert state("second") == [1, 0, 0], "nobody takes what nobody consumes"
        until(lambda: hub.run_once() or channel._question.asked)
        channel.check()
        channel._question.asked_at -= 3600
        try:
            channel.check()
            raise AssertionError("no server takes so long")
        except connection.connection_errors:
            pass
        hub.run_once()
        assert channel._question.asked, "by another connection"
        channel.close()
        assert state("second") == [1, 0, 0] and state("first") == [1, 0, 0]
        assert not hub.readers
    hub.close()


def losses():
    """Who loses the connection may still acknowledge what he has by the next."""
    hub = Hub()
    hub.timer.call_repeatedly(0.01, lambda: None)
    with connect() as connection, connect() as another:
        channel = connection.channel()
        connection.register_with_event_loop(hub)
        received = Messages()
        received.consume(channel, Queue("held")(channel))
        for number in range(2):
            Producer(another).publish(number, routing_key="held")
        until(lambda: hub.run_once() or len(received) == 2 and channel._question.asked)
        hub.run_once()
        try:
            # One that had not begun to wait is made again.
            until(lambda: r.client_kill_filter(skipme=True) and False or hub.run_once())
            raise AssertionError("the loss is heard of")
        except connection.connection_errors:
            pass
        connection.collect()
        assert state("held") == [0, 2, 0], "until the leases end"
        received[0].ack()
        received[1].requeue()
        assert state("held") == [1, 0, 0]
    hub.close()


def restarts():
    """What was published lasts, and connections that were lost are made again."""
    with connect() as connection:
        channel = connection.channel()
        queue = connection.SimpleQueue("lasting")
        for number in range(3):
            queue.put(number)
        taken = queue.get(timeout=30)
        print("restart please", flush=True)
        assert sys.stdin.readline() == "done\n"
        taken.ack()
        assert state("lasting") == [2, 0, 0], "the receipt is good"
        Producer(channel).publish(3, routing_key="lasting")
        numbers = []
        while len(numbers) < 3:
            try:
                message = queue.get(timeout=30)
            except connection.connection_errors:
                continue
            numbers.append(message.payload)
            message.ack()
        assert numbers == [1, 2, 3] and state("lasting") == [0, 0, 0]


def addresses():
    for url in (f"bobbin+socket://{SOCKET}?virtual_host=3", f"bobbin://:secret@127.0.0.1:{LOCKED}/3"):
        with Connection(url) as connection:
            queue = connection.SimpleQueue("address")
            queue.put(url)
            message = queue.get(timeout=30)
            assert message.payload == url
            message.ack()
    try:
        Connection(f"bobbin://:wrong@127.0.0.1:{LOCKED}/3").connect()
        raise AssertionError("the password is wrong")
    except Connection(URL).connection_errors:
        pass


def main():
    steps = [simple_queues, windows, turns, routes, broadcasts, limits, priorities, odd_messages, leases, event_loops]
    for step in [*steps, losses, restarts, addresses]:
        r.flushdb()
        begin = time.monotonic()
        step()
        print(f"{step.__name__}: {time.monotonic() - begin:.1f} s", flush=True)
    print("kombu: all steps done")


if __name__ == "__main__":
    main()
