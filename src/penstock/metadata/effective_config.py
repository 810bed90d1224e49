"""The settings in force: what a broker was started with, under what the cluster has agreed on since."""

from penstock.config.broker_config import BrokerConfig
from penstock.config.topic_config import TopicConfig, topic_config
from penstock.metadata.image import ClusterImage
from penstock.model.ids import NodeId


def broker_config_in(image: ClusterImage, started_with: BrokerConfig) -> BrokerConfig:
    """A broker's settings under an image."""
    node_id = NodeId(started_with.integer("node.id"))
    cluster, broker = image.cluster_configs(), image.broker_configs(node_id)
    return started_with.with_dynamic(cluster=cluster, broker=broker) if cluster or broker else started_with


def topic_config_in(image: ClusterImage, topic: str, broker: BrokerConfig) -> TopicConfig:
    """A topic's settings under an image; ``broker`` holds the settings in force."""
    return topic_config(image.topic_configs(topic), broker)
