"""Topics of one cluster kept as those of another, between two real ones."""

import pytest

from penstock.spark.mirror.access import Access
from penstock.spark.mirror.clusters import Clusters
from penstock.spark.mirror.errors import MirrorError
from penstock.spark.mirror.naming import Renaming, Selection
from penstock.spark.mirror.offset_map import MirroredPartition, OffsetMap
from penstock.spark.mirror.topic_sync import TopicChange, TopicSync
from penstock.testing import Broker


def topic_sync(clusters: Clusters, *, pattern: str = ".*", template: str = "{topic}") -> TopicSync:
    return TopicSync(
        clusters=clusters,
        selection=Selection(topic_pattern=pattern),
        renaming=Renaming(template=template),
    )


def test_topics_are_made_and_kept_in_step(east: Broker, west: Broker, clusters: Clusters) -> None:
    east.create_topic("orders", 2, retention_ms=1000, min_insync_replicas=1)
    sync = topic_sync(clusters, template="east.{topic}")
    target = clusters.target.admin

    (made,) = sync.bring_in_step(sync.topics())
    assert str(made) == "topic east.orders was created, partitions: 2"
    settings = target.describe_config("east.orders")
    assert settings["retention.ms"].value == "1000"
    assert settings["min.insync.replicas"].source == "DEFAULT_CONFIG"
    assert sync.bring_in_step(sync.topics()) == []

    clusters.source.admin.add_partitions("orders", 3)
    clusters.source.admin.alter_config("orders", {"retention.ms": None, "cleanup.policy": "compact"})
    east.create_topic("payments", 1)
    more, changed, new = sync.bring_in_step(sync.topics())
    assert (more.topic, more.partitions) == ("east.orders", 3)
    assert changed == TopicChange(
        topic="east.orders", configs={"cleanup.policy": "compact", "retention.ms": None}
    )
    assert str(changed).endswith("settings now: cleanup.policy=compact, no retention.ms")
    assert new == TopicChange(topic="east.payments", is_new=True, partitions=1)
    assert len(target.partitions_of(["east.orders"])) == 3
    assert sync.bring_in_step(sync.topics()) == []


def test_copies_of_the_targets_own_topics_do_not_go_back(
    east: Broker, west: Broker, clusters: Clusters
) -> None:
    for topic in ("orders", "west.orders", "payments"):
        east.create_topic(topic)
    west_id = clusters.target.cluster_id
    with OffsetMap(Access(bootstrap_servers=east.bootstrap_servers)) as came:
        came.begin(
            [
                MirroredPartition(west_id, "orders", 0, "west.orders"),
                MirroredPartition(west_id, "payments", 0, "payments"),
            ]
        )

    assert topic_sync(clusters).topics() == ["orders", "payments"]


def test_topic_that_was_named_must_be_there(clusters: Clusters) -> None:
    sync = TopicSync(clusters=clusters, selection=Selection(topics=("oders",)), renaming=Renaming())

    with pytest.raises(MirrorError, match="no topic 'oders' at 127"):
        sync.topics()
