"""The two clusters of a mirror."""

import pytest

from penstock.client import TopicPartition
from penstock.spark.mirror.access import Access
from penstock.spark.mirror.clusters import Clusters, patiently
from penstock.spark.mirror.errors import MirrorError
from penstock.testing import Broker


def test_cluster_is_not_mirrored_into_itself(east: Broker) -> None:
    with pytest.raises(MirrorError, match="are the same cluster"):
        Clusters.connect(
            source=Access(bootstrap_servers=east.bootstrap_servers),
            target=Access(bootstrap_servers=east.bootstrap_servers),
        )


def test_answer_that_is_delayed_is_waited_for(east: Broker, clusters: Clusters) -> None:
    east.create_topic("orders")
    fault = east.faults.fail("OffsetCommit", error="NOT_COORDINATOR", times=2)

    patiently(lambda: clusters.source.admin.alter_group_offsets("billing", {("orders", 0): 0}))

    assert clusters.source.admin.group_offsets("billing") == {TopicPartition("orders", 0): 0}
    assert fault.hits == 2
