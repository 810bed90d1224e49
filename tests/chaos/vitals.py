"""Whether a broker is unharmed: same process, memory within bounds, no unexpected error, clients served."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from confluent_kafka import KafkaError, Message, Producer
from tests.broker_process import Server
from tests.raw_kafka import Connection

GROWTH_BYTES_MAX = 64 * 1024 * 1024
PULSE_TOPIC = "pulse"
KILL_ROUNDS = int(os.environ.get("PENSTOCK_KILL_ROUNDS", "5"))
IS_LONG_RUN = KILL_ROUNDS >= 50
"""Whether somebody asked for more than the daily portion, and so has time."""

long_run = pytest.mark.skipif(not IS_LONG_RUN, reason="only in the long run, for its time")
"""For what the daily portion has a shorter relative of."""

TRACEBACK = "Traceback (most recent call last)"


@contextmanager
def unharmed(server: Server, *, growth_bytes_max: int = GROWTH_BYTES_MAX) -> Iterator[None]:
    """Whatever is done inside, the broker lives on as if nothing had happened."""
    check_pulse(server)
    pid, resident_bytes, logged = server.pid, server.resident_bytes(), len(server.stderr_text())
    yield
    assert server.is_running, f"the broker died\n{server.stderr_tail()}"
    assert server.pid == pid
    check_pulse(server)
    grown = server.resident_bytes() - resident_bytes
    assert grown < growth_bytes_max, f"memory grew by {grown >> 20} MiB"
    assert TRACEBACK not in server.stderr_text()[logged:]


def check_pulse(server: Server) -> None:
    """A real client produces a record and it can be read back."""
    producer = Producer({"bootstrap.servers": server.bootstrap, "log_level": 0, "linger.ms": 0})
    outcome: list[tuple[KafkaError | None, Message]] = []
    producer.produce(PULSE_TOPIC, b"beat", on_delivery=lambda *report: outcome.append(report))
    assert producer.flush(20) == 0, "a well-behaved producer is not served"
    ((error, message),) = outcome
    assert error is None, error
    offset = message.offset()
    assert offset is not None
    with Connection(server.bootstrap) as raw:
        assert raw.fetch_values(PULSE_TOPIC, offset=offset)[0] == b"beat"
