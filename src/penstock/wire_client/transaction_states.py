"""What the coordinators of a cluster tell about transactions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from penstock.model.error_codes import ErrorCode
from penstock.model.ids import TopicPartition
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages import describe_transactions as wire
from penstock.wire.messages.list_transactions import ListTransactionsRequest
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.connection import Connection
from penstock.wire_client.coordinators import Coordinated, ask_coordinators, find_coordinators
from penstock.wire_client.errors import check

OPEN_STATES = frozenset({"Ongoing", "PrepareCommit", "PrepareAbort", "PrepareEpochFence"})
"""Those in which partitions wait for the end of a transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionListing:
    """A transactional id and how its transaction is; ``started_ms`` is None while none is open."""

    transactional_id: str
    state: str
    producer_id: int
    coordinator: int
    started_ms: int | None = None

    @property
    def is_open(self) -> bool:
        """Whether partitions wait for its end."""
        return self.state in OPEN_STATES

    def running_ms(self, now_ms: int) -> int | None:
        """How long it has been open."""
        return None if self.started_ms is None or not self.is_open else max(0, now_ms - self.started_ms)

    def as_json(self, now_ms: int) -> dict[str, Any]:
        """The fields under their names."""
        return {
            "transactional_id": self.transactional_id,
            "state": self.state,
            "producer_id": self.producer_id,
            "coordinator": self.coordinator,
            "started_ms": self.started_ms,
            "running_ms": self.running_ms(now_ms),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction(TransactionListing):
    """A transactional id with all that its coordinator knows."""

    producer_epoch: int
    timeout_ms: int
    partitions: tuple[TopicPartition, ...]


def list_transactions(cluster: Cluster, *, producer_ids: Iterable[int] = ()) -> list[TransactionListing]:
    """Every transactional id of the cluster, sorted; only those of ``producer_ids`` if there are any."""
    request = ListTransactionsRequest(producer_id_filters=tuple(producer_ids))
    return transactions_in(
        cluster.ask_every_broker(ApiKey.LIST_TRANSACTIONS, request, doing="list the transactions")
    )


def transactions_in(answers: Mapping[int, Any]) -> list[TransactionListing]:
    """The transactional ids that brokers told of, sorted."""
    found = [
        TransactionListing(
            transactional_id=entry.transactional_id,
            state=entry.transaction_state,
            producer_id=entry.producer_id,
            coordinator=node_id,
        )
        for node_id, answer in answers.items()
        for entry in answer.transaction_states
    ]
    return sorted(found, key=lambda listing: listing.transactional_id)


def with_start_times(cluster: Cluster, listings: Iterable[TransactionListing]) -> list[TransactionListing]:
    """The same, those that are open with the time since when; only they are asked about."""
    listed = list(listings)
    described = describe_transactions(cluster, [one.transactional_id for one in listed if one.is_open])
    return [
        replace(one, started_ms=described[one.transactional_id].started_ms)
        if one.transactional_id in described
        else one
        for one in listed
    ]


def describe_transactions(cluster: Cluster, transactional_ids: Iterable[str]) -> dict[str, Transaction]:
    """The transaction of every id that exists, in their order."""
    answers = ask_coordinators(cluster, Coordinated.TRANSACTION, transactional_ids, _ask)
    known = {}
    for name, answer in answers.items():
        if answer.error_code != ErrorCode.TRANSACTIONAL_ID_NOT_FOUND:
            check(answer.error_code, doing=f"describe the transaction of {name!r}")
            known[name] = answer
    coordinators = find_coordinators(cluster, Coordinated.TRANSACTION, known)
    return {name: _transaction(answer, coordinators[name]) for name, answer in known.items()}


def _ask(broker: Connection, transactional_ids: Sequence[str]) -> dict[str, wire.TransactionState]:
    request = wire.DescribeTransactionsRequest(transactional_ids=tuple(transactional_ids))
    answer = broker.call(ApiKey.DESCRIBE_TRANSACTIONS, request)
    return {entry.transactional_id: entry for entry in answer.transaction_states}


def _transaction(answer: wire.TransactionState, coordinator: int) -> Transaction:
    partitions = [
        TopicPartition(topic.topic, number) for topic in answer.topics for number in topic.partitions
    ]
    return Transaction(
        transactional_id=answer.transactional_id,
        state=answer.transaction_state,
        producer_id=answer.producer_id,
        producer_epoch=answer.producer_epoch,
        timeout_ms=answer.transaction_timeout_ms,
        started_ms=None if answer.transaction_start_time_ms < 0 else answer.transaction_start_time_ms,
        partitions=tuple(sorted(partitions)),
        coordinator=coordinator,
    )
