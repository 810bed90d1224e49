"""The coordinator of consumer groups: shards of ``__consumer_offsets``."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from penstock.broker.coordination.coordinator import Coordinator
from penstock.broker.coordination.internal_topic import InternalTopic
from penstock.broker.coordination.shard_host import HostSurroundings, ShardHost
from penstock.broker.coordination.shard_kind import Shard, ShardKind
from penstock.config.broker_config import BrokerConfig
from penstock.coordinator.events import TopicsDeleted
from penstock.coordinator.outcome import Effect
from penstock.groups.refusals import refuse
from penstock.groups.settings import GroupSettings, MigrationPolicy
from penstock.groups.shard import GroupShard
from penstock.groups.topics import ImageTopics
from penstock.groups.unavailable import refuse_after_failed_append, refuse_while_loading
from penstock.metadata.image import ClusterImage
from penstock.model.errors import InvariantError
from penstock.model.ids import TopicId
from penstock.model.names import OFFSETS_TOPIC

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


def group_coordinator(broker: "Broker", around: HostSurroundings) -> Coordinator:
    """The broker's coordinator of groups."""

    def make_shard(leader_epoch: int) -> Shard:
        return GroupShard(
            settings=group_settings(broker.config),
            topics=ImageTopics(broker.groups.followed_image),
            new_uuid=broker.entropy.uuid,
        )

    def refresh(shard: Shard) -> None:
        if isinstance(shard, GroupShard):
            shard.use_topics(ImageTopics(broker.groups.followed_image))

    kind = ShardKind(
        topic=OFFSETS_TOPIC,
        make_shard=make_shard,
        refuse=refuse,
        refuse_while_loading=refuse_while_loading,
        refuse_after_failed_append=refuse_after_failed_append,
        carry_out=_carry_out,
        refresh=refresh,
        follow=_follow,
        leave=lambda host: None,
    )
    return Coordinator(broker, kind, around, lambda: offsets_topic(broker.config))


def offsets_topic(config: BrokerConfig) -> InternalTopic:
    """How ``__consumer_offsets`` is made."""
    return InternalTopic(
        name=OFFSETS_TOPIC,
        partition_count=config.integer("offsets.topic.num.partitions"),
        replication_factor=config.integer("offsets.topic.replication.factor"),
        configs={
            "cleanup.policy": "compact",
            "compression.type": "producer",
            "segment.bytes": str(config.integer("offsets.topic.segment.bytes")),
        },
    )


def group_settings(config: BrokerConfig) -> GroupSettings:
    """What the configuration says about groups."""
    return GroupSettings(
        group_min_session_timeout_ms=config.integer("group.min.session.timeout.ms"),
        group_max_session_timeout_ms=config.integer("group.max.session.timeout.ms"),
        group_max_size=config.integer("group.max.size"),
        group_initial_rebalance_delay_ms=config.integer("group.initial.rebalance.delay.ms"),
        group_consumer_session_timeout_ms=config.integer("group.consumer.session.timeout.ms"),
        group_consumer_heartbeat_interval_ms=config.integer("group.consumer.heartbeat.interval.ms"),
        group_consumer_max_size=config.integer("group.consumer.max.size"),
        group_consumer_assignors=config.strings("group.consumer.assignors"),
        group_consumer_migration_policy=MigrationPolicy(config.string("group.consumer.migration.policy")),
        offset_metadata_max_bytes=config.integer("offset.metadata.max.bytes"),
        offsets_retention_minutes=config.integer("offsets.retention.minutes"),
        offsets_retention_check_interval_ms=config.integer("offsets.retention.check.interval.ms"),
    )


def _carry_out(host: ShardHost, effect: Effect) -> None:
    raise InvariantError(f"{host} ordered {effect}, which nobody can carry out")


def _follow(host: ShardHost, image: ClusterImage, gone: Mapping[str, TopicId]) -> None:
    if isinstance(host.shard, GroupShard):
        host.shard.use_topics(ImageTopics(image))
    if gone:
        host.tell(TopicsDeleted(topics=gone), is_kept_while_loading=True)
