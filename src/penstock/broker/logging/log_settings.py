"""What this process was told about its log."""

import os
from dataclasses import dataclass

from penstock.broker.coordination.internal_topic import InternalTopic
from penstock.broker.logging.log_files import DAY_MS, FileLimits
from penstock.config.broker_config import BrokerConfig
from penstock.model.names import LOGS_TOPIC

TOPIC_BATCH_BYTES_MAX = 1024 * 1024
TOPIC_PARTITION_BYTES_MAX = 256 * 1024 * 1024
"""However much brokers have to say, a partition of the topic holds about this much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSettings:
    """Where the log goes besides standard error."""

    has_files: bool
    has_topic: bool
    directory: str
    limits: FileLimits


def log_settings(config: BrokerConfig, data_directory: str) -> LogSettings:
    """The settings of one process."""
    directory = config.string("server.log.dir")
    return LogSettings(
        has_files=config.boolean("server.log.file.enable"),
        has_topic=config.boolean("server.log.topic.enable"),
        directory=directory or os.path.join(data_directory, "logs"),
        limits=FileLimits(
            file_bytes_max=config.integer("server.log.file.bytes"),
            age_ms_max=config.integer("server.log.retention.days") * DAY_MS,
            files_max=config.integer("server.log.files.max"),
        ),
    )


def log_topic(config: BrokerConfig) -> InternalTopic:
    """The topic of all brokers' logs, as it is to be made."""
    retention_ms = config.integer("server.log.topic.retention.ms")
    return InternalTopic(
        name=LOGS_TOPIC,
        partition_count=config.integer("server.log.topic.num.partitions"),
        replication_factor=config.integer("server.log.topic.replication.factor"),
        configs={
            "cleanup.policy": "delete",
            "retention.ms": str(retention_ms),
            "retention.bytes": str(TOPIC_PARTITION_BYTES_MAX),
            "segment.ms": str(DAY_MS),
            "segment.bytes": str(TOPIC_PARTITION_BYTES_MAX // 8),
            "max.message.bytes": str(TOPIC_BATCH_BYTES_MAX),
            # One broker that lives must be able to tell that the others do not.
            "min.insync.replicas": "1",
        },
    )
