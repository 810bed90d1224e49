"""A task that asks a leader which has nothing; scripted brokers, since a healthy follower soon has it all."""

from collections.abc import Callable
from itertools import chain, repeat
from typing import Any

import pytest
from tests.analysis.analysis_testing import keyed
from tests.cli.scripted_broker import ScriptedBroker, scripted_cluster
from tests.spark.reading.conftest import QUICK

from penstock.model.error_codes import ErrorCode
from penstock.model.ids import TopicPartition
from penstock.records.builder import build_batch
from penstock.spark.columns.errors import UnreadableRecordsError
from penstock.spark.offsets.ranges import OffsetRange
from penstock.spark.options.source_options import batch_options
from penstock.spark.reading.fetching import Fetching
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from penstock.wire_client.errors import RefusedError

ORDERS = TopicPartition("orders", 0)


def batches(*base_offsets: int) -> bytes:
    """Of one record each."""
    return b"".join(build_batch(keyed("k"), base_offset=offset) for offset in base_offsets)


def old_message(offset: int, size: int) -> bytes:
    """As Kafka 0.10 has them in its files, and sends them to whoever asks: offset, size, checksum, magic."""
    return offset.to_bytes(8, "big") + (size - 12).to_bytes(4, "big") + bytes(4) + b"\1" + bytes(size - 17)


def answer(*base_offsets: int, code: ErrorCode = ErrorCode.NONE) -> FetchResponse:
    return brought(batches(*base_offsets), code=code)


def brought(records: bytes, *, code: ErrorCode = ErrorCode.NONE) -> FetchResponse:
    data = PartitionData(partition_index=0, error_code=code, high_watermark=9, records=records)
    return FetchResponse(responses=(FetchableTopicResponse(topic="orders", partitions=(data,)),))


FORBIDDEN = answer(code=ErrorCode.TOPIC_AUTHORIZATION_FAILED)


def answers(*parts: FetchResponse) -> Callable[[Any], FetchResponse]:
    """One after the other; who asks for more is turned away for good."""
    following = chain(parts, repeat(FORBIDDEN))
    return lambda _: next(following)


def positions_read(broker: ScriptedBroker, end: int) -> list[int]:
    """Where each answer ended that brought something."""
    options = batch_options({"kafka.bootstrap.servers": broker.bootstrap, "subscribe": "orders", **QUICK})
    with options.client.connect() as cluster:
        wanted = OffsetRange(partition=ORDERS, start=0, end=end)
        return [fetched.next_offset for fetched in Fetching(cluster, options, wanted).answers()]


def times_asked(broker: ScriptedBroker, api: ApiKey) -> int:
    return sum(asked.api is api for asked in broker.asked)


def test_leader_that_moved_without_a_word_is_looked_up_when_nothing_comes() -> None:
    """A former leader that follows answers consumers without an error."""
    topics = {"orders": [1]}
    with scripted_cluster(2, topics=topics) as (first, second):

        def hand_over(_: Any) -> FetchResponse:
            topics["orders"] = [2]
            first.on(ApiKey.FETCH, FORBIDDEN)
            return answer()

        script = iter([lambda _: answer(0), hand_over])
        first.on(ApiKey.FETCH, lambda request: next(script)(request))
        second.on(ApiKey.FETCH, answers(answer(1), answer(2)))

        assert positions_read(first, 3) == [1, 2, 3]


def test_leader_that_has_nothing_yet_is_asked_again_and_looked_up_once_each_time() -> None:
    with scripted_cluster(topics={"orders": [1]}) as (broker,):
        broker.on(ApiKey.FETCH, answers(answer(0), answer(), answer(), answer(1), answer(2)))

        assert positions_read(broker, 3) == [1, 2, 3]
        assert times_asked(broker, ApiKey.FETCH) == 5
        # To get to know the cluster, for the leader, and after both of the answers without anything.
        assert times_asked(broker, ApiKey.METADATA) == 4


def test_leader_that_brings_something_is_never_looked_up_again() -> None:
    with scripted_cluster(topics={"orders": [1]}) as (broker,):
        broker.on(ApiKey.FETCH, answers(answer(0), answer(1), answer(2)))

        assert positions_read(broker, 3) == [1, 2, 3]
        assert times_asked(broker, ApiKey.METADATA) == 2


def test_refusal_after_an_answer_without_anything_is_raised() -> None:
    with scripted_cluster(topics={"orders": [1]}) as (broker,):
        broker.on(ApiKey.FETCH, answers(answer()))

        with pytest.raises(RefusedError, match="TOPIC_AUTHORIZATION_FAILED"):
            positions_read(broker, 1)


@pytest.mark.parametrize(
    ("records", "offset", "reason"),
    [
        (old_message(0, size=100), 0, "magic 1, .* only 2 is read"),
        (old_message(0, size=39), 0, "magic 1, .* only 2 is read"),  # Shorter than the header of a batch.
        (batches(0) + old_message(1, size=39), 1, "magic 1, .* only 2 is read"),
        (batches(0)[:8] + (3).to_bytes(4, "big") + batches(0)[12:], 0, "Batch length is 3"),
        (batches(1, 0), 0, "stands behind offset 1"),
    ],
    ids=["old format", "short and old", "behind a batch", "a length that lies", "out of order"],
)
def test_what_cannot_be_read_is_named_with_its_place_at_once(
    records: bytes, offset: int, reason: str
) -> None:
    """And is not taken for a leader that has nothing yet."""
    with scripted_cluster(topics={"orders": [1]}) as (broker,):
        broker.on(ApiKey.FETCH, brought(records))

        with pytest.raises(
            UnreadableRecordsError, match=f"'orders', partition 0, batch at offset {offset}: .*{reason}"
        ):
            positions_read(broker, 3)
        assert times_asked(broker, ApiKey.FETCH) == 1
