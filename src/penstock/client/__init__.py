"""Clients for Python: typed faces over librdkafka, with and without an event loop.

They work with any Kafka. ``penstock.Producer`` and the like are the same, and docs/clients.md shows how to
use them. Start reading with ``producing/producer.py`` and ``consuming/consumer.py``.
"""

from penstock.client.administration.admin import Admin
from penstock.client.administration.configs import ConfigKind
from penstock.client.administration.results import NewTopic
from penstock.client.asynchronous.admin import AsyncAdmin
from penstock.client.asynchronous.consumer import AsyncConsumer
from penstock.client.asynchronous.producer import AsyncProducer
from penstock.client.choices import (
    AckMode,
    CompressionType,
    GroupProtocol,
    IsolationLevel,
    OffsetResetPolicy,
    SecurityProtocol,
)
from penstock.client.config.admin_config import AdminConfig
from penstock.client.config.consumer_config import ConsumerConfig
from penstock.client.config.producer_config import ProducerConfig
from penstock.client.consuming.consumer import Consumer
from penstock.client.consuming.lag import Lag
from penstock.client.consuming.message import Message
from penstock.client.errors import PenstockClientError
from penstock.client.partitioners import Partitioner
from penstock.client.producing.metrics import ProducerMetrics
from penstock.client.producing.producer import Producer
from penstock.client.producing.record import Record, RecordMetadata
from penstock.client.topic_partition import TopicPartition

__all__ = [
    "AckMode",
    "Admin",
    "AdminConfig",
    "AsyncAdmin",
    "AsyncConsumer",
    "AsyncProducer",
    "CompressionType",
    "ConfigKind",
    "Consumer",
    "ConsumerConfig",
    "GroupProtocol",
    "IsolationLevel",
    "Lag",
    "Message",
    "NewTopic",
    "OffsetResetPolicy",
    "Partitioner",
    "PenstockClientError",
    "Producer",
    "ProducerConfig",
    "ProducerMetrics",
    "Record",
    "RecordMetadata",
    "SecurityProtocol",
    "TopicPartition",
]
