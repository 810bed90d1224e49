"""How long a consumer's fetch waits, as a client sees it."""

import struct
import time
from collections.abc import Iterator

import pytest
from tests.broker_process import wait_until
from tests.raw_kafka import (
    FETCH,
    Connection,
    FetchAnswer,
    array,
    read_fetch,
    request_frame,
    string,
    values_batch,
)

from penstock.testing import Broker

BATCH_BYTES = 100_000
BATCH_COUNT = 20
LONG_MS = 15_000
SECONDS_MAX = 5.0
"""Of an answer that waits for nothing, on a busy machine."""


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker() as one:
        yield one


@pytest.fixture
def client(broker: Broker) -> Iterator[Connection]:
    with Connection(broker.bootstrap_servers, timeout=2 * LONG_MS / 1000) as connection:
        yield connection


def filled_topic(broker: Broker, client: Connection, *, segment_bytes: int = 1 << 30) -> str:
    topic = broker.create_topic(segment_bytes=segment_bytes)
    for _ in range(BATCH_COUNT):
        assert client.produce(topic, 0, values_batch(bytes(BATCH_BYTES))).error_code == 0
    return topic


def fetch_body(
    topic: str,
    *,
    min_bytes: int,
    wait_ms: int = LONG_MS,
    max_bytes: int = 50 << 20,
    partition_max_bytes: int = 50 << 20,
) -> bytes:
    """Fetch version 11, from the beginning of one partition."""
    head = struct.pack(">iiiibii", -1, wait_ms, min_bytes, max_bytes, 0, 0, -1)
    wanted = struct.pack(">iiqqi", 0, -1, 0, -1, partition_max_bytes)
    return head + array([string(topic) + array([wanted])]) + array([]) + string("")


def fetch(client: Connection, body: bytes) -> FetchAnswer:
    return read_fetch(client.request(FETCH, 11, body))


@pytest.mark.parametrize(
    ("max_bytes", "partition_max_bytes"), [(50 << 20, 1 << 20), (1 << 20, 50 << 20), (1 << 19, 50 << 20)]
)
def test_answer_that_is_as_full_as_it_may_be_is_not_kept_back_for_min_bytes(
    broker: Broker, client: Connection, max_bytes: int, partition_max_bytes: int
) -> None:
    topic = filled_topic(broker, client)
    began = time.monotonic()
    body = fetch_body(topic, min_bytes=1 << 20, max_bytes=max_bytes, partition_max_bytes=partition_max_bytes)
    answer = fetch(client, body)
    assert time.monotonic() - began < SECONDS_MAX
    room = min(max_bytes, partition_max_bytes)
    assert room - 2 * BATCH_BYTES < len(answer.records) <= room


def test_last_batches_of_a_segment_are_not_kept_back_for_min_bytes(
    broker: Broker, client: Connection
) -> None:
    topic = filled_topic(broker, client, segment_bytes=(1 << 20) + 12)
    broker.restart()  # nothing is in memory any more
    with Connection(broker.bootstrap_servers, timeout=2 * LONG_MS / 1000) as again:
        began = time.monotonic()
        answer = fetch(again, fetch_body(topic, min_bytes=15 * BATCH_BYTES))
    assert time.monotonic() - began < SECONDS_MAX
    assert 8 * BATCH_BYTES < len(answer.records) < 12 * BATCH_BYTES


def test_fetch_of_a_client_that_hangs_up_is_forgotten(broker: Broker) -> None:
    topic = broker.create_topic()

    def waiting() -> int:
        return broker.thread_home.look(lambda inner: len(inner.replicas.by_name(topic, 0).waiters.fetchers))

    with Connection(broker.bootstrap_servers) as client:
        client.send(request_frame(FETCH, 11, fetch_body(topic, min_bytes=1)))
        wait_until(lambda: waiting() == 1, what="the fetch to wait")
    wait_until(lambda: waiting() == 0, what="it to be forgotten", seconds=SECONDS_MAX)


def test_fetch_of_less_than_min_bytes_waits_for_more(broker: Broker, client: Connection) -> None:
    topic = broker.create_topic()
    assert client.produce(topic, 0, values_batch(b"little")).error_code == 0
    began = time.monotonic()
    fetch(client, fetch_body(topic, min_bytes=1 << 20, wait_ms=300))
    assert time.monotonic() - began >= 0.3
