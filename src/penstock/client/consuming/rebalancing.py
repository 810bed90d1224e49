"""Partitions come and go: telling the caller, and starting where the caller wants."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from confluent_kafka import OFFSET_INVALID
from confluent_kafka import TopicPartition as RawPartition

from penstock.client.error_mapping import CallbackFailed
from penstock.client.topic_partition import TopicPartition, partition_of
from penstock.client.trouble import logger

RebalanceCallback = Callable[[Sequence[TopicPartition]], object]
"""Called while the consumer polls, with the partitions that have come or go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RebalanceCallbacks:
    """What the caller wants to hear of."""

    on_assigned: RebalanceCallback | None = None
    on_revoked: RebalanceCallback | None = None
    on_lost: RebalanceCallback | None = None


class Teller:
    """Tells the caller; one for all subscriptions of a consumer."""

    def __init__(self) -> None:
        self.is_telling = False
        """Whether librdkafka waits for a callback to return."""

    def tell(self, callback: RebalanceCallback | None, partitions: Sequence[TopicPartition]) -> None:
        """Call back, if there is whom to call; what that raises comes out of ``poll`` as it is."""
        if callback is None or not partitions:
            return
        self.is_telling = True
        try:
            callback(partitions)
        except Exception as error:
            logger.exception("a rebalance callback failed")
            raise CallbackFailed(error) from error
        finally:
            self.is_telling = False


class Rebalancing:
    """What librdkafka calls for one subscription."""

    def __init__(
        self,
        raw: Any,
        give_up: RebalanceCallback,
        teller: Teller,
        callbacks: RebalanceCallbacks,
        *,
        is_cooperative: bool,
    ) -> None:
        self._raw = raw
        self._give_up = give_up
        self._tell = teller.tell
        self._callbacks = callbacks
        self._assign = raw.incremental_assign if is_cooperative else raw.assign
        self.coming: Sequence[TopicPartition] = ()
        """What is just being assigned; nothing at other times."""
        self.starts: dict[TopicPartition, int] = {}
        """Where the caller wants those to start."""
        self.partitions: set[TopicPartition] = set()
        """What the group has given and not taken away."""

    def arguments(self) -> dict[str, Any]:
        """For ``subscribe``."""
        return {"on_assign": self._assigned, "on_revoke": self._revoked, "on_lost": self._lost}

    def _assigned(self, _: Any, partitions: list[Any]) -> None:
        """The caller is asked first: librdkafka cannot seek in what it has only just begun to fetch."""
        named = [partition_of(each) for each in partitions]
        self.coming, self.starts = named, {}
        try:
            self._tell(self._callbacks.on_assigned, named)
        finally:
            starts, self.coming = self.starts, ()
            self._assign([RawPartition(*each, starts.get(each, OFFSET_INVALID)) for each in named])
            self.partitions.update(named)

    def _revoked(self, _: Any, partitions: list[Any]) -> None:
        named = [partition_of(each) for each in partitions]
        self.partitions.difference_update(named)
        try:
            self._tell(self._callbacks.on_revoked, named)
        finally:
            # Whatever the callback raised: what is somebody else's now is not to be committed later.
            self._give_up(named)

    def _lost(self, _: Any, partitions: list[Any]) -> None:
        """They are somebody else's already; nothing can be committed for them."""
        named = [partition_of(each) for each in partitions]
        self.partitions.difference_update(named)
        self._give_up(named)
        callback = self._callbacks.on_lost or self._callbacks.on_revoked
        self._tell(callback, named)
