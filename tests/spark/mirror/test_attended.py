"""What looks after topics and groups beside a stream, also while a cluster is slow."""

import logging
import threading

import pytest

from penstock.client import Admin, TopicPartition
from penstock.spark.mirror import attended, offset_map
from penstock.spark.mirror.access import Access
from penstock.spark.mirror.mirroring import Mirror, MirrorPlan
from penstock.spark.mirror.naming import Selection
from penstock.spark.mirror.offset_map import MirroredPartition, OffsetMap
from penstock.testing import Broker

SECONDS_MAX = 30.0


class EndlessQuery:
    """A stream that runs until it is told to end; what it does is of no interest here."""

    def __init__(self) -> None:
        self.isActive = True


def test_map_that_cannot_be_read_for_a_while_is_read_again(
    east: Broker, west: Broker, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(offset_map, "_READ_SECONDS_MAX", 2.0)
    monkeypatch.setattr(attended, "POLL_SECONDS", 0.05)
    east.create_topic("orders")
    with OffsetMap(Access(bootstrap_servers=east.bootstrap_servers)) as of_another_mirror:
        of_another_mirror.begin([MirroredPartition("elsewhere", "pumps", 0, "pumps")])
    mirror = Mirror.connect(
        MirrorPlan(
            source=Access(bootstrap_servers=east.bootstrap_servers),
            target=Access(bootstrap_servers=west.bootstrap_servers),
            selection=Selection(topic_pattern="orders"),
        )
    )
    mirror.keep_topics()
    query = EndlessQuery()
    attend = threading.Thread(target=attended._attend, args=(mirror, query, 0.1), daemon=True)

    with caplog.at_level(logging.WARNING), east.faults.drop("Fetch", client_id="penstock-mirror"):
        attend.start()
        for _ in range(int(SECONDS_MAX / 0.1)):
            if "was read up to offset 0 of 1" in caplog.text:
                break
            attend.join(0.1)
    assert "topics and groups could not be brought in step" in caplog.text
    assert attend.is_alive()
    with Admin(bootstrap_servers=east.bootstrap_servers) as admin:
        admin.alter_group_offsets("billing", {TopicPartition("orders", 0): 0})
    with Admin(bootstrap_servers=west.bootstrap_servers) as admin:
        for _ in range(int(SECONDS_MAX / 0.1)):
            if carried := admin.group_offsets("billing"):
                break
            attend.join(0.1)
    query.isActive = False
    attend.join(SECONDS_MAX)

    assert carried == {TopicPartition("orders", 0): 0}
    assert not attend.is_alive()
