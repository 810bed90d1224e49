"""What a transaction shard can be told, besides requests as they come."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from penstock.coordinator.events import RequestReceived, TopicsDeleted
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import TopicPartition
from penstock.transactions.effects import WriteMarkers


@dataclass(frozen=True, slots=True, kw_only=True)
class AddPartitionsReceived(RequestReceived):
    """AddPartitionsToTxn, and what the shell found out about the partitions it names.

    All transactions of a batched request must belong to the shard. Partitions may be unknown to the cluster
    or forbidden to the client; one of them keeps all of its transaction from being added to.
    """

    refused: Mapping[TopicPartition, ErrorCode] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkersWritten:
    """Markers that were ordered are committed on these partitions, now or earlier.

    To be told also of a partition that needs no marker any more: its topic is gone, or its leader says that
    the producer or another coordinator has moved on. May come in parts, repeatedly and late.
    """

    order: WriteMarkers
    partitions: tuple[TopicPartition, ...]


TransactionEvent: TypeAlias = RequestReceived | MarkersWritten | TopicsDeleted
