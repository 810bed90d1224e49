"""Penstock: a distributed log-based message queue that speaks Kafka's protocol.

The clients are here by name, and loaded when they are first used: a broker has no need of them.
"""

import importlib
from typing import TYPE_CHECKING, Any

from penstock.model.version import __version__ as __version__

if TYPE_CHECKING:
    from penstock.client import (
        AckMode,
        Admin,
        AdminConfig,
        AsyncAdmin,
        AsyncConsumer,
        AsyncProducer,
        CompressionType,
        ConfigKind,
        Consumer,
        ConsumerConfig,
        GroupProtocol,
        IsolationLevel,
        Lag,
        Message,
        NewTopic,
        OffsetResetPolicy,
        Partitioner,
        PenstockClientError,
        Producer,
        ProducerConfig,
        ProducerMetrics,
        Record,
        RecordMetadata,
        SecurityProtocol,
        TopicPartition,
    )

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


def __getattr__(name: str) -> Any:
    """A client, its settings or its results; see ``penstock.client``."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module("penstock.client"), name)
