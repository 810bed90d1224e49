"""What a topic's settings mean to its logs and to those who write to it."""

from penstock.config.broker_config import BrokerConfig
from penstock.config.topic_config import TopicConfig
from penstock.records.compression import Codec
from penstock.records.validation import ProduceRules
from penstock.storage.log_config import LogConfig

LOG_APPEND_TIME = "LogAppendTime"
_CODECS = {
    "uncompressed": Codec.NONE,
    "gzip": Codec.GZIP,
    "snappy": Codec.SNAPPY,
    "lz4": Codec.LZ4,
    "zstd": Codec.ZSTD,
}


def log_config(topic: TopicConfig, broker: BrokerConfig) -> LogConfig:
    """The settings that matter to files."""
    return LogConfig(
        segment_bytes=topic.integer("segment.bytes"),
        segment_ms=topic.integer("segment.ms"),
        segment_index_bytes=topic.integer("segment.index.bytes"),
        index_interval_bytes=topic.integer("index.interval.bytes"),
        retention_ms=topic.integer("retention.ms"),
        retention_bytes=topic.integer("retention.bytes"),
        flush_messages=topic.integer("flush.messages"),
        flush_ms=topic.integer("flush.ms"),
        max_message_bytes=topic.integer("max.message.bytes"),
        preallocate=topic.boolean("preallocate"),
        file_delete_delay_ms=topic.integer("file.delete.delay.ms"),
        cleanup_policy=frozenset(topic.strings("cleanup.policy")),
        log_append_time=topic.string("message.timestamp.type") == LOG_APPEND_TIME,
        producer_id_expiration_ms=broker.integer("producer.id.expiration.ms"),
        delete_retention_ms=topic.integer("delete.retention.ms"),
        min_compaction_lag_ms=topic.integer("min.compaction.lag.ms"),
        max_compaction_lag_ms=topic.integer("max.compaction.lag.ms"),
        min_cleanable_dirty_ratio=topic.number("min.cleanable.dirty.ratio"),
    )


def produce_rules(topic: TopicConfig) -> ProduceRules:
    """The settings that matter to what producers send."""
    return ProduceRules(
        max_message_bytes=topic.integer("max.message.bytes"),
        segment_bytes=topic.integer("segment.bytes"),
        timestamp_before_max_ms=topic.integer("message.timestamp.before.max.ms"),
        timestamp_after_max_ms=topic.integer("message.timestamp.after.max.ms"),
        is_compacted="compact" in topic.strings("cleanup.policy"),
        log_append_time=topic.string("message.timestamp.type") == LOG_APPEND_TIME,
        target_codec=_CODECS.get(topic.string("compression.type")),
    )
