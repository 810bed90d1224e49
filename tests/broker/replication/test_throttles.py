"""Limits on the copying of replicas that are not in sync."""

import pytest
from tests.broker.replication.small_cluster import TOPIC, SmallCluster, no_error

from penstock.broker.replication.throttles import Throttles, TokenBucket
from penstock.config.definition import LONG_MAX
from penstock.config.sources import load_broker_config
from penstock.metadata.image import ClusterImage
from penstock.metadata.records import ConfigRecord
from penstock.model.ids import NodeId


def test_bucket_allows_a_burst_then_waits_until_it_is_even() -> None:
    bucket = TokenBucket(100, now=0.0)
    assert bucket.seconds_to_wait(0.0) == 0.0
    bucket.spend(350, 0.0)
    assert bucket.seconds_to_wait(0.0) == pytest.approx(2.51)
    assert bucket.seconds_to_wait(1.0) == pytest.approx(1.51)
    assert bucket.seconds_to_wait(2.6) == 0.0


def test_bucket_rested_for_long_holds_no_more_than_a_burst() -> None:
    bucket = TokenBucket(100, now=0.0)
    bucket.spend(101, 1_000.0)
    assert bucket.seconds_to_wait(1_000.0) > 0.0


def test_bucket_of_another_rate_goes_on_at_it() -> None:
    bucket = TokenBucket(100, now=0.0)
    bucket.spend(1_100, 0.0)
    bucket.set_rate(1_000, 0.0)
    assert bucket.seconds_to_wait(1.1) == 0.0


def test_bucket_without_limit_never_waits() -> None:
    bucket = TokenBucket(LONG_MAX, now=0.0)
    bucket.spend(1 << 60, 0.0)
    assert bucket.seconds_to_wait(0.0) == 0.0


@pytest.mark.parametrize(
    ("listed", "is_limited"), [("*", True), ("0:3,1:2", True), ("1:3", False), ("", False), ("0:2", False)]
)
def test_replica_is_limited_if_its_topic_lists_it(listed: str, is_limited: bool) -> None:
    config = load_broker_config(flags={})
    throttles = Throttles(config, 0.0)
    keys = [f"{role}.replication.throttled.replicas" for role in ("leader", "follower")]
    records = [
        ConfigRecord(resource_type=2, resource_name=TOPIC, name=key, value=listed) for key in keys if listed
    ]
    throttles.follow(ClusterImage().apply(records), config, 0.0)
    assert throttles.is_leader_limited(TOPIC, 0, NodeId(3)) is is_limited
    assert throttles.is_follower_limited(TOPIC, 0, NodeId(3)) is is_limited


@pytest.mark.parametrize("role", ["leader", "follower"])
def test_new_replica_that_is_limited_is_filled_slowly_and_those_in_sync_are_not_held_up(role: str) -> None:
    settings = {f"{role}.replication.throttled.rate": "1000", "replica.fetch.max.bytes": "1000"}
    cluster = SmallCluster(settings=settings)
    cluster.make_topic((1, 2))
    cluster.configure(f"{role}.replication.throttled.replicas", "*")
    for _ in range(10):
        no_error(cluster.run(cluster.produce(1, bytes(1_000))))
    began = cluster.world.now
    assert began < 5.0
    cluster.reassign(1, 2, 3)
    cluster.run_until(lambda: len(cluster.partition.isr) == 3, seconds_max=60.0)
    assert cluster.world.now - began > 7.0
    cluster.close()
