"""What a topic demands of its replicas, as far as the metadata log alone says so.

The controller and the leaders must agree on these to the letter: who is eligible to lead (KIP-966) follows
from when a leader may commit. So a broker's own files have no say here: a setting holds for the topic, or for
all brokers at once, or it has Kafka's default. ``agreed_defaults`` puts the first broker's own choice into
the log, so that nobody has to set it twice.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from penstock.config.broker_config import BrokerConfig
from penstock.config.settings import ConfigSource
from penstock.metadata.image import ClusterImage
from penstock.metadata.records import ConfigRecord
from penstock.metadata.resources import ResourceType
from penstock.metadata.topic_image import PartitionImage

_AGREED = {
    "min.insync.replicas": "1",
    "unclean.leader.election.enable": "false",
    "log.flush.interval.messages": "1",
}
"""Settings of brokers that must be the same everywhere, with their defaults."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicRules:
    """What holds for every partition of a topic."""

    min_insync_replicas: int = 1
    #: Whether a replica that may lack committed records may lead when nobody else can.
    allows_unclean_election: bool = False
    #: Whether acknowledged records may be lost in a crash, since the topic does not flush each of them.
    accepts_loss: bool = False

    def min_isr(self, replica_count: int) -> int:
        """How many must be in sync for anything to be committed; never more than there are replicas."""
        return min(self.min_insync_replicas, replica_count)


def topic_rules(image: ClusterImage, topic: str) -> TopicRules:
    """The rules of a topic under an image."""
    own, cluster = image.topic_configs(topic), image.cluster_configs()

    def text(key: str, broker_key: str) -> str:
        return own.get(key) or cluster.get(broker_key) or _AGREED[broker_key]

    return TopicRules(
        min_insync_replicas=int(text("min.insync.replicas", "min.insync.replicas")),
        allows_unclean_election=_is_true(
            text("unclean.leader.election.enable", "unclean.leader.election.enable")
        ),
        accepts_loss=int(text("flush.messages", "log.flush.interval.messages")) > 1,
    )


def settled_replica_count(partition: PartitionImage) -> int:
    """Replicas that count for ``min_isr``: not those which are only being added.

    So a partition that grows from one replica to three stays writable while the new ones catch up.
    """
    return len(partition.replicas) - len(partition.adding_replicas)


def agreed_defaults(image: ClusterImage, config: BrokerConfig) -> Iterable[ConfigRecord]:
    """Records that make a broker's own choice everybody's, where nothing has been agreed on yet."""
    return [
        ConfigRecord(resource_type=ResourceType.BROKER, resource_name="", name=key, value=config.text(key))
        for key, default in _AGREED.items()
        if key in config and key not in image.cluster_configs() and config.text(key) != default
    ]


def overruled_settings(image: ClusterImage, config: BrokerConfig) -> list[str]:
    """Settings that a broker was started with and that have no effect, since the cluster agreed otherwise."""
    agreed = image.cluster_configs()
    return [
        key
        for key, default in _AGREED.items()
        if config.source(key) is not ConfigSource.DEFAULT and config.text(key) != agreed.get(key, default)
    ]


def _is_true(text: str) -> bool:
    return text.strip().lower() == "true"
