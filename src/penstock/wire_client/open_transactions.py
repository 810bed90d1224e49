"""What the leaders of partitions know of those who write to them, and transactions that nobody will end.

A transaction *hangs* when a partition waits for its end while no coordinator knows of it: readers of
committed records never get past its first record. It takes lost state of a coordinator, or a client that
breaks the rules.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from penstock.model.ids import TopicPartition
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages import describe_producers as wire
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.connection import Connection
from penstock.wire_client.errors import check
from penstock.wire_client.topics import ask_leaders, by_topic
from penstock.wire_client.transaction_states import Transaction, describe_transactions, list_transactions


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTransaction:
    """A transaction as one partition sees it: open since ``start_offset``."""

    topic: str
    partition: int
    start_offset: int
    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    last_write_ms: int

    @property
    def topic_partition(self) -> TopicPartition:
        """Where it is open."""
        return TopicPartition(self.topic, self.partition)

    def as_json(self) -> dict[str, Any]:
        """The fields under their names."""
        return asdict(self)


def open_transactions(cluster: Cluster, partitions: Iterable[TopicPartition]) -> list[OpenTransaction]:
    """Every transaction that is open in one of ``partitions``, in their order."""
    answers = ask_leaders(cluster, partitions, _ask)
    found = []
    for partition, answer in sorted(answers.items()):
        check(answer.error_code, doing=f"describe the producers of {partition}", detail=answer.error_message)
        found += [
            _open_transaction(partition, producer)
            for producer in answer.active_producers
            if producer.current_txn_start_offset >= 0
        ]
    return found


def start_offsets(cluster: Cluster, transaction: Transaction) -> dict[TopicPartition, int]:
    """Since which offset each partition of a transaction waits; nothing for one that it has not reached."""
    return {
        one.topic_partition: one.start_offset
        for one in open_transactions(cluster, transaction.partitions)
        if one.producer_id == transaction.producer_id
    }


def hanging(cluster: Cluster, candidates: Sequence[OpenTransaction]) -> list[OpenTransaction]:
    """Those of ``candidates`` whose end no coordinator is going to write."""
    if not candidates:
        return []
    alive = transactions_of(cluster, {candidate.producer_id for candidate in candidates})
    return [
        candidate
        for candidate in candidates
        if not any(waits_for(transaction, candidate) for transaction in alive[candidate.producer_id])
    ]


def transactions_of(cluster: Cluster, producer_ids: Iterable[int]) -> dict[int, list[Transaction]]:
    """What the coordinators know of each producer."""
    listed = list_transactions(cluster, producer_ids=sorted(producer_ids))
    found: dict[int, list[Transaction]] = defaultdict(list)
    described = describe_transactions(cluster, [listing.transactional_id for listing in listed])
    for transaction in described.values():
        found[transaction.producer_id].append(transaction)
    return found


def waits_for(transaction: Transaction, candidate: OpenTransaction) -> bool:
    """Whether the coordinator has the partition among those that it will tell of the end."""
    return transaction.is_open and candidate.topic_partition in transaction.partitions


def _ask(
    broker: Connection, partitions: Sequence[TopicPartition]
) -> dict[TopicPartition, wire.PartitionResponse]:
    topics = tuple(
        wire.TopicRequest(name=topic, partition_indexes=tuple(numbers))
        for topic, numbers in by_topic(partitions).items()
    )
    answer = broker.call(ApiKey.DESCRIBE_PRODUCERS, wire.DescribeProducersRequest(topics=topics))
    return {
        TopicPartition(topic.name, partition.partition_index): partition
        for topic in answer.topics
        for partition in topic.partitions
    }


def _open_transaction(partition: TopicPartition, producer: wire.ProducerState) -> OpenTransaction:
    return OpenTransaction(
        topic=partition.topic,
        partition=partition.partition,
        start_offset=producer.current_txn_start_offset,
        producer_id=producer.producer_id,
        producer_epoch=producer.producer_epoch,
        coordinator_epoch=producer.coordinator_epoch,
        last_write_ms=producer.last_timestamp,
    )
