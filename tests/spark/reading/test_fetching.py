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
from penstock.spark.offsets.ranges import OffsetRange
from penstock.spark.options.source_options import batch_options
from penstock.spark.reading.fetching import Fetching
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from penstock.wire_client.errors import RefusedError

ORDERS = TopicPartition("orders", 0)


def answer(*base_offsets: int, code: ErrorCode = ErrorCode.NONE) -> FetchResponse:
    """Batches of one record each."""
    records = b"".join(build_batch(keyed("k"), base_offset=offset) for offset in base_offsets)
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
