"""Kombu, and so Celery, on the queues of Bobbin.

Importing this makes ``bobbin://host:port/database`` known to kombu. What it does is told in README.md.

    leases.py      what a connection has leased, and the thread that keeps it leased
    wires.py       connections on which the server may take its time to answer
    transport.py   kombu's transport, channel and prefetch window on these
"""

from kombu.transport import TRANSPORT_ALIASES

from .transport import Channel, Transport

__all__ = ["SCHEME", "Channel", "Transport"]
__version__ = "0.1.0"

#: What the addresses of brokers begin with.
SCHEME = "bobbin"

TRANSPORT_ALIASES[SCHEME] = "bobbin_kombu:Transport"
