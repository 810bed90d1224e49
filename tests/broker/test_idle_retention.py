"""Retention where nobody writes any more: the last records of a topic go as well, in time."""

import pytest
from tests.broker_process import wait_until
from tests.testing.records import log_range, produce

from penstock.testing import Broker


@pytest.mark.slow
def test_last_segment_of_an_idle_topic_expires_without_another_append() -> None:
    with Broker(settings={"log.retention.check.interval.ms": 1}) as broker:
        topic = broker.create_topic(retention_ms=100)
        produce(broker.bootstrap_servers, topic, "one", "two")
        wait_until(lambda: log_range(broker.bootstrap_servers, topic) == (2, 2), what="an empty log")
        assert produce(broker.bootstrap_servers, topic, "three") == [2]
