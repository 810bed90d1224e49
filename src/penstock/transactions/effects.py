"""What a transaction shard orders."""

from dataclasses import dataclass

from penstock.coordinator.outcome import Effect
from penstock.model.ids import TopicPartition
from penstock.transactions.version import TransactionVersion


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteMarkers(Effect):
    """End this transaction on these partitions, and report ``MarkersWritten`` until none is left.

    To be carried out only when the decision is committed, like all effects: a marker cannot be taken back.
    The shell tries until it has succeeded; after a restart the order is given again.
    """

    transactional_id: str
    #: Never the same for two transactions of an id, also over restarts. They may have the same epoch; by
    #: this, news of the one are not taken for news of the other.
    number: int
    producer_id: int
    #: For the second protocol already the raised one: it fences late writes of the transaction that ends.
    producer_epoch: int
    coordinator_epoch: int
    is_commit: bool
    #: Tells the leaders how strictly to compare epochs.
    transaction_version: TransactionVersion
    #: In a fixed order; never empty.
    partitions: tuple[TopicPartition, ...]
