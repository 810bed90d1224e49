"""The sampler beside a real broker: what it notes, and what a cluster that is away does to it."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.conftest import UniqueName
from tests.gateway.console.conftest import commit

from penstock.client import Admin, Producer
from penstock.gateway.console.sampling.sampler import Sampler
from penstock.gateway.kafka.access import KafkaAccess
from penstock.gateway.settings import GatewaySettings
from penstock.model.ids import TopicPartition


@contextmanager
def sampler_of(bootstrap: str, *, interval_seconds: float = 0.05) -> Iterator[Sampler]:
    kafka = KafkaAccess(GatewaySettings(bootstrap_servers=bootstrap))
    sampler = Sampler(kafka, closing=threading.Event(), interval_seconds=interval_seconds)
    try:
        yield sampler
    finally:
        sampler.stop()
        kafka.close()


@pytest.mark.slow
def test_looks_note_rates_sizes_and_lags(bootstrap: str, unique: UniqueName) -> None:
    topic, group = unique("sampled"), unique("group")
    with (
        Admin(bootstrap_servers=bootstrap) as admin,
        Producer(bootstrap_servers=bootstrap) as producer,
        sampler_of(bootstrap) as sampler,
    ):
        admin.create_topic(topic, partitions=2)
        producer.send(topic, b"first", partition=1).result(10)
        commit(admin, group, {(topic, 1): 0})
        sampler.look(10_000)
        for _ in range(4):
            producer.send(topic, b"x" * 100, partition=1).result(10)
        sampler.look(12_000)

        assert sampler.partition_rates()[TopicPartition(topic, 1)] == 2.0
        assert sampler.topic_rates()[topic] == 2.0
        assert sampler.messages(topic) == [(10_000, None), (12_000, 2.0)]
        assert [time_ms for time_ms, _ in sampler.messages()] == [10_000, 12_000]
        (_, before), (_, after) = sampler.sizes(topic)
        assert before is not None
        assert after is not None
        assert after - before > 400
        assert sampler.lag(group) == [(10_000, 1.0), (12_000, 5.0)]
        assert sampler.newest is not None
        assert sampler.newest.groups_of(topic) == [group]


@pytest.mark.slow
def test_cluster_that_does_not_answer_is_a_gap_and_a_sentence(closed_port: int) -> None:
    with sampler_of(f"127.0.0.1:{closed_port}") as sampler:
        sampler.start()
        deadline = time.monotonic() + 10
        while sampler.problem is None and time.monotonic() < deadline:
            time.sleep(0.01)

        assert sampler.problem is not None
        assert "No broker answers" in sampler.problem
        assert sampler.newest is None
        assert sampler.topic_rates() == {}
