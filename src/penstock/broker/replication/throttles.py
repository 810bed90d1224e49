"""Limits on the copying of replicas that are not in sync, so that a move of many does not starve clients.

A broker setting says how many bytes a second, for leaders and for followers; a topic setting says for which
replicas (KIP-73). A bucket may be overdrawn by what came at once; then nothing more comes until it is even.
"""

from penstock.config.broker_config import BrokerConfig
from penstock.config.definition import LONG_MAX
from penstock.metadata.image import ClusterImage
from penstock.model.ids import NodeId

EVERYTHING = "*"
BURST_SECONDS = 1.0
"""Of the rate: so much may come at once after a rest."""


class TokenBucket:
    """Bytes that may still be copied; refilled as time goes by."""

    __slots__ = ("_balance", "_filled_at", "_rate")

    def __init__(self, bytes_per_second: int, now: float) -> None:
        self._rate = bytes_per_second
        self._balance: float = bytes_per_second * BURST_SECONDS
        self._filled_at = now

    def set_rate(self, bytes_per_second: int, now: float) -> None:
        """Go on at another rate."""
        self._fill(now)
        self._rate = bytes_per_second
        self._balance = min(self._balance, bytes_per_second * BURST_SECONDS)

    @property
    def is_unlimited(self) -> bool:
        """Whether nobody ever has to wait."""
        return self._rate >= LONG_MAX

    def spend(self, size: int, now: float) -> None:
        """So much has been copied."""
        if not self.is_unlimited:
            self._fill(now)
            self._balance -= size

    def seconds_to_wait(self, now: float) -> float:
        """Until more may be copied; 0 if it may be now."""
        if self.is_unlimited:
            return 0.0
        self._fill(now)
        return 0.0 if self._balance > 0 else (1 - self._balance) / self._rate

    def _fill(self, now: float) -> None:
        gained = (now - self._filled_at) * self._rate
        self._balance = min(self._balance + gained, self._rate * BURST_SECONDS)
        self._filled_at = now


class Throttles:
    """The limits of one broker, in both of its roles."""

    def __init__(self, config: BrokerConfig, now: float) -> None:
        self.leader = TokenBucket(config.integer("leader.replication.throttled.rate"), now)
        self.follower = TokenBucket(config.integer("follower.replication.throttled.rate"), now)
        self._image = ClusterImage()

    def follow(self, image: ClusterImage, config: BrokerConfig, now: float) -> None:
        """Settings may have changed."""
        self._image = image
        self.leader.set_rate(config.integer("leader.replication.throttled.rate"), now)
        self.follower.set_rate(config.integer("follower.replication.throttled.rate"), now)

    def is_leader_limited(self, topic: str, index: int, node_id: NodeId) -> bool:
        """Whether what a leader sends to this replica counts."""
        return self._is_listed("leader.replication.throttled.replicas", topic, index, node_id)

    def is_follower_limited(self, topic: str, index: int, node_id: NodeId) -> bool:
        """Whether what this replica fetches counts."""
        return self._is_listed("follower.replication.throttled.replicas", topic, index, node_id)

    def _is_listed(self, key: str, topic: str, index: int, node_id: NodeId) -> bool:
        listed = self._image.topic_configs(topic).get(key, "")
        if not listed:
            return False
        items = [item.strip() for item in listed.split(",")]
        return EVERYTHING in items or f"{index}:{node_id}" in items
