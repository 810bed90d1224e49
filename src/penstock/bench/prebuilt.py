"""Requests made once and sent many times, and where in an answer to look.

A place in a message differs from version to version. It is found by encoding the message twice with two
values and seeing which bytes differ, so that no layout is written down here.
"""

import random
import time
from collections.abc import Sequence
from typing import NamedTuple

from penstock.bench.connection import CLIENT_ID
from penstock.bench.topics import BenchPartition
from penstock.model.ids import TopicId
from penstock.records.batch import HEADER_BYTES
from penstock.records.builder import build_batch
from penstock.records.compression import Codec
from penstock.records.record import NewRecord
from penstock.wire.api_keys import ApiKey
from penstock.wire.framing import encode_request, encode_response
from penstock.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from penstock.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)

ACKS_NONE = 0
ACKS_LEADER = 1
ACKS_ALL = -1
PRODUCE_TIMEOUT_MS = 30_000
CORRELATION_ID_AT = 8
"""In a request: after length, API key and version."""

_SEED = 20


class PrebuiltBatch(NamedTuple):
    """A batch and what counting needs to know of it."""

    data: bytes
    records: int


def make_batch(*, record_bytes: int, batch_bytes: int, codec: Codec = Codec.NONE) -> PrebuiltBatch:
    """A batch of as many records of ``record_bytes`` as ``batch_bytes`` holds uncompressed; at least one."""
    entropy = random.Random(_SEED)
    now = int(time.time() * 1000)
    one = NewRecord(value=entropy.randbytes(record_bytes), timestamp=now)
    single = len(build_batch([one]))
    # Deltas grow by a byte or two along the batch; two bytes more for each record is never too few.
    count = max(1, (batch_bytes - HEADER_BYTES) // (single - HEADER_BYTES + 2))
    records = [NewRecord(value=entropy.randbytes(record_bytes), timestamp=now) for _ in range(count)]
    return PrebuiltBatch(bytes(build_batch(records, codec=codec)), count)


def produce_request(
    partition: BenchPartition, batch: bytes | bytearray, *, acks: int, version: int, correlation_id: int
) -> bytes:
    """A whole frame that appends ``batch`` to ``partition``."""
    data = PartitionProduceData(index=partition.number, records=bytearray(batch))
    topic = TopicProduceData(
        name=partition.topic, topic_id=TopicId(partition.topic_id), partition_data=(data,)
    )
    request = ProduceRequest(acks=acks, timeout_ms=PRODUCE_TIMEOUT_MS, topic_data=(topic,))
    return encode_request(ApiKey.PRODUCE, version, correlation_id, request, client_id=CLIENT_ID)


def produce_error_position(partition: BenchPartition, *, version: int) -> int:
    """Where the error code stands in the answer to a ``produce_request``, its length included."""
    first, second = (
        encode_response(ApiKey.PRODUCE, version, 0, _produce_response(partition, error_code))
        for error_code in (0, -1)
    )
    return first_difference(first, second)


def fetch_request(
    partition: BenchPartition,
    *,
    offset: int,
    version: int,
    max_bytes: int,
    max_wait_ms: int,
) -> bytes:
    """A whole frame that reads ``partition`` from ``offset``, outside any fetch session."""
    wanted = FetchPartition(partition=partition.number, fetch_offset=offset, partition_max_bytes=max_bytes)
    topic = FetchTopic(topic=partition.topic, topic_id=TopicId(partition.topic_id), partitions=(wanted,))
    request = FetchRequest(max_wait_ms=max_wait_ms, min_bytes=1, max_bytes=max_bytes, topics=(topic,))
    return encode_request(ApiKey.FETCH, version, 0, request, client_id=CLIENT_ID)


def fetch_offset_position(partition: BenchPartition, *, version: int) -> int:
    """Where the offset stands in a ``fetch_request``."""
    first, second = (
        fetch_request(partition, offset=offset, version=version, max_bytes=1, max_wait_ms=0)
        for offset in (0, -1)
    )
    return first_difference(first, second)


def first_difference(first: Sequence[int], second: Sequence[int]) -> int:
    """The position of the first byte in which the two differ."""
    return next(
        position for position, pair in enumerate(zip(first, second, strict=True)) if pair[0] != pair[1]
    )


def _produce_response(partition: BenchPartition, error_code: int) -> ProduceResponse:
    outcome = PartitionProduceResponse(index=partition.number, error_code=error_code)
    topic = TopicProduceResponse(
        name=partition.topic, topic_id=TopicId(partition.topic_id), partition_responses=(outcome,)
    )
    return ProduceResponse(responses=(topic,))
