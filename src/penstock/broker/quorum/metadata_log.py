"""The log that the quorum keeps: its name, its settings, and how it is opened."""

from penstock.model.ids import TopicId, TopicPartition
from penstock.model.names import METADATA_TOPIC
from penstock.storage.log_config import FOREVER_MS, UNLIMITED, LogConfig
from penstock.storage.log_loading import LogSpec

METADATA_PARTITION = TopicPartition(METADATA_TOPIC, 0)
METADATA_TOPIC_ID = TopicId(bytes(15) + b"\x01")
METADATA_LOG = LogConfig(
    retention_ms=UNLIMITED,
    retention_bytes=UNLIMITED,
    segment_bytes=16 * 1024 * 1024,
    segment_ms=FOREVER_MS,
)
"""What lies before a snapshot goes segment by segment, so these are small. Age means nothing: the machine's
own entries have no time."""

METADATA_SPEC = LogSpec(partition=METADATA_PARTITION, topic_id=METADATA_TOPIC_ID, config=METADATA_LOG)
