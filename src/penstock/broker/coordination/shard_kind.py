"""What the host of a shard must know about it, and no more."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from penstock.coordinator.outcome import CoordinatorRecord, Effect, Outcome
from penstock.metadata.image import ClusterImage
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import Millis, TopicId
from penstock.wire.schema import Struct

if TYPE_CHECKING:
    from penstock.broker.coordination.shard_host import ShardHost


class Shard(Protocol):
    """A machine that decides for the keys of one partition of an internal topic."""

    def handle(self, event: Any, now: Millis) -> Outcome:
        """Decide on an event."""

    def tick(self, now: Millis) -> Outcome:
        """Do what is due."""

    def next_deadline(self) -> Millis | None:
        """When ``tick`` has something to do."""

    def replay(
        self, record: CoordinatorRecord, *, offset: int, producer_id: int = ..., producer_epoch: int = ...
    ) -> None:
        """Take in a record of the log."""

    def complete_transaction(self, producer_id: int, producer_epoch: int, *, is_commit: bool) -> None:
        """Take in a marker of the log."""

    def loaded(self, now: Millis) -> Outcome:
        """The log has been read to its end."""


Refuse = Callable[[Struct, int, ErrorCode], Struct]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardKind:
    """How one kind of coordinator makes its shards and speaks to clients when a shard cannot."""

    #: The internal topic whose partitions its shards are.
    topic: str
    #: A new shard, for a partition at this leader epoch.
    make_shard: Callable[[int], Shard]
    #: The answer that refuses a request of some version.
    refuse: Refuse
    refuse_while_loading: Callable[[Struct, int], Struct]
    #: Given the error of the log.
    refuse_after_failed_append: Refuse
    #: Carries out an order whose decision is committed.
    carry_out: Callable[["ShardHost", Effect], None]
    #: Shows a shard that is just loaded the cluster as others see it, which may have changed while it loaded.
    refresh: Callable[[Shard], None]
    #: Tells a host that topics have changed, and which of them, by their names, are gone.
    follow: Callable[["ShardHost", ClusterImage, Mapping[str, TopicId]], None]
    #: A host has left: what it ordered is no longer to be carried out.
    leave: Callable[["ShardHost"], None]
