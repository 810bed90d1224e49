"""What one partition has for the answer to a fetch."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from penstock.broker.fetch_sessions import PartitionKey
from penstock.broker.partition import Partition
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import CorruptLogError, StorageError
from penstock.model.ids import NodeId
from penstock.storage.log_reader import LogSlice
from penstock.storage.transaction_index import AbortedTransaction

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

NO_REPLICA = NodeId(-1)
NO_ERROR = ErrorCode.NONE


class PartitionRead(NamedTuple):
    """Records, or why there are none."""

    key: PartitionKey
    code: ErrorCode
    high_watermark: int = -1
    last_stable_offset: int = -1
    log_start_offset: int = -1
    records: LogSlice | None = None
    aborted: Sequence[AbortedTransaction] | None = None
    diverging: tuple[int, int] | None = None
    partition: Partition | None = None
    #: Where the consumer should read instead.
    preferred: NodeId = NO_REPLICA

    @property
    def size(self) -> int:
        """Bytes of records."""
        return 0 if self.records is None else self.records.size

    @property
    def is_urgent(self) -> bool:
        """Whether it must be told at once, however little else there is to tell."""
        return self.code is not NO_ERROR or self.diverging is not None or self.preferred != NO_REPLICA

    @property
    def has_more(self) -> bool:
        """Whether there is more to read than this, so that waiting would bring nothing that is not there."""
        return self.records is not None and self.records.has_more

    @property
    def needs_verification(self) -> bool:
        """Whether its bytes come from a file and were never checked by this process."""
        if self.records is None or self.partition is None or not self.records.size:
            return False
        return self.partition.log.needs_verification(self.records)


def unreadable(
    broker: "Broker", key: PartitionKey, partition: Partition, error: StorageError
) -> PartitionRead:
    """The answer where the disk has not what it should, or does not hand it over; others get theirs."""
    if isinstance(error, CorruptLogError):
        broker.report_corruption(partition, error)
        return PartitionRead(key, ErrorCode.CORRUPT_MESSAGE)
    broker.report_unreadable(partition, error)
    return PartitionRead(key, ErrorCode.KAFKA_STORAGE_ERROR)
