"""How a consumer works."""

from dataclasses import dataclass
from typing import Any

from penstock.client.choices import GroupProtocol, IsolationLevel, OffsetResetPolicy
from penstock.client.config.client_config import ClientConfig, ClientSettings
from penstock.client.config.rules import flag, one_of, optional, refusal, setting, text, whole
from penstock.client.serializers import Deserializer, deserializer

NO_GROUP = "penstock-no-group"
"""librdkafka wants a name of everybody; without one of ours, nothing is ever committed under it."""

FULL_QUEUE_MS = 10
"""How long librdkafka fetches nothing after enough was waiting. By itself it would take a second, in which a
quick reader is long through with what was there."""


class ConsumerSettings(ClientSettings, total=False):
    """The fields of ``ConsumerConfig`` as keyword arguments."""

    group_id: str | None
    group_instance_id: str | None
    group_protocol: GroupProtocol | str
    auto_offset_reset: OffsetResetPolicy | str
    enable_auto_commit: bool
    auto_commit_interval_ms: int
    max_poll_records: int
    max_poll_interval_ms: int
    session_timeout_ms: int | None
    heartbeat_interval_ms: int | None
    isolation_level: IsolationLevel | str
    assignment_strategy: str | None
    client_rack: str | None
    fetch_min_bytes: int
    fetch_max_wait_ms: int
    prefetch_records: int
    prefetch_bytes: int
    allow_auto_create_topics: bool
    check_crcs: bool
    key_deserializer: Deserializer | str
    value_deserializer: Deserializer | str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerConfig(ClientConfig):
    """Settings of a ``Consumer`` or ``AsyncConsumer``."""

    group_id: str | None = setting(None, optional(text))
    """The group whose members share the topics, and under which offsets are committed."""

    group_instance_id: str | None = setting(None, optional(text), kafka="group.instance.id")
    """A member's own name: it keeps its partitions over a restart."""

    group_protocol: GroupProtocol | str = setting(
        GroupProtocol.CLASSIC, one_of(GroupProtocol), kafka="group.protocol"
    )
    """Who computes assignments: a member (CLASSIC) or the broker (CONSUMER, KIP-848)."""

    auto_offset_reset: OffsetResetPolicy | str = setting(OffsetResetPolicy.LATEST, one_of(OffsetResetPolicy))
    """Where to begin without a committed offset."""

    enable_auto_commit: bool = setting(True, flag)
    """Whether what the caller has seen is committed from time to time, and when the consumer is closed."""

    auto_commit_interval_ms: int = setting(5_000, whole(1, 86_400_000), kafka="auto.commit.interval.ms")
    """From which time to which."""

    max_poll_records: int = setting(500, whole(1, 1_000_000))
    """The most messages that one ``poll`` returns."""

    max_poll_interval_ms: int = setting(300_000, whole(1, 86_400_000), kafka="max.poll.interval.ms")
    """A member that does not poll for so long loses its partitions to others."""

    session_timeout_ms: int | None = setting(None, optional(whole(1, 3_600_000)))
    """A member that is not heard of for so long is taken for dead; unless given, 45 s or as brokers say."""

    heartbeat_interval_ms: int | None = setting(None, optional(whole(1, 3_600_000)))
    """How often it makes itself heard; unless given, 3 s or a third of ``session_timeout_ms``."""

    isolation_level: IsolationLevel | str = setting(
        IsolationLevel.READ_COMMITTED, one_of(IsolationLevel), kafka="isolation.level"
    )
    """Whether records of transactions that are not committed are read."""

    assignment_strategy: str | None = setting(None, optional(text))
    """range, roundrobin or cooperative-sticky (CLASSIC), uniform or range (CONSUMER)."""

    client_rack: str | None = setting(None, optional(text), kafka="client.rack")
    """Where this consumer is, to read from the nearest replica."""

    fetch_min_bytes: int = setting(1, whole(1, 100_000_000), kafka="fetch.min.bytes")
    """A broker waits for so many bytes before it answers."""

    fetch_max_wait_ms: int = setting(500, whole(0, 300_000), kafka="fetch.wait.max.ms")
    """But not for longer than that."""

    prefetch_records: int = setting(100_000, whole(1, 10_000_000), kafka="queued.min.messages")
    """Messages of one partition that are fetched before they are asked for."""

    prefetch_bytes: int = setting(64 * 1024 * 1024, whole(1024, 2_000_000_000))
    """The most bytes of them."""

    allow_auto_create_topics: bool = setting(False, flag, kafka="allow.auto.create.topics")
    """Whether asking for a topic may create it."""

    check_crcs: bool = setting(False, flag, kafka="check.crcs")
    """Whether every batch's checksum is checked here, too."""

    key_deserializer: Deserializer | str = setting("bytes", deserializer)
    """What ``message.key`` is: 'bytes', 'str', 'json', or what a function makes of the bytes."""

    value_deserializer: Deserializer | str = setting("bytes", deserializer)
    """What ``message.value`` is: 'bytes', 'str', 'json', or what a function makes of the bytes."""

    @property
    def is_modern(self) -> bool:
        """Whether the broker computes assignments."""
        return self.group_protocol == GroupProtocol.CONSUMER

    def _check_together(self) -> None:
        if self.is_modern:
            for name in ("session_timeout_ms", "heartbeat_interval_ms"):
                if (value := getattr(self, name)) is not None:
                    raise refusal(name, value, "None with GroupProtocol.CONSUMER: the broker decides it")
        elif self.session_timeout_ms is not None and self.session_timeout_ms > self.max_poll_interval_ms:
            allowed = f"at most max_poll_interval_ms, {self.max_poll_interval_ms}"
            raise refusal("session_timeout_ms", self.session_timeout_ms, allowed)
        if self.group_instance_id is not None and self.group_id is None:
            raise refusal("group_instance_id", self.group_instance_id, "None without a group_id")

    def _more(self) -> dict[str, Any]:
        resets = {OffsetResetPolicy.NONE: "error"}
        policy = OffsetResetPolicy(self.auto_offset_reset)
        more: dict[str, Any] = {
            "group.id": self.group_id or NO_GROUP,
            "auto.offset.reset": resets.get(policy, str(policy)),
            "enable.auto.commit": self.enable_auto_commit and self.group_id is not None,
            "enable.auto.offset.store": False,
            "fetch.queue.backoff.ms": FULL_QUEUE_MS,
            "queued.max.messages.kbytes": max(1, self.prefetch_bytes // 1024),
        }
        heartbeat_interval_ms = self.heartbeat_interval_ms
        if heartbeat_interval_ms is None and self.session_timeout_ms is not None:
            heartbeat_interval_ms = min(3_000, max(1, self.session_timeout_ms // 3))
        wanted: dict[str, int | str | None] = {
            "session.timeout.ms": self.session_timeout_ms,
            "heartbeat.interval.ms": heartbeat_interval_ms,
        }
        strategy = "group.remote.assignor" if self.is_modern else "partition.assignment.strategy"
        wanted[strategy] = self.assignment_strategy
        return more | {name: value for name, value in wanted.items() if value is not None}
