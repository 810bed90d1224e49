"""AddPartitionsToTxn and AddOffsetsToTxn: what is written to these partitions belongs to the transaction.

- Until version 3 a client names the partitions of one transaction. From version 4 on leaders do, for many
  transactions at once, either to add to them (TV2 clients leave that to the leaders) or only to ask whether
  a partition is in (``verify_only``, KIP-890: before the first batch of a TV1 client is appended).
- Only the owner may; while a decision is being completed it is to come back (CONCURRENT_TRANSACTIONS).
- All or nothing: if one partition of a transaction cannot be added, it gets the reason and the others
  OPERATION_NOT_ATTEMPTED.
- What is in already is not written again.
- A partition that verification does not find gets TRANSACTION_ABORTABLE (INVALID_TXN_STATE before version 5).

AddOffsetsToTxn is the same for the one partition that holds a group's offsets.
"""

from collections.abc import Callable, Collection, Mapping
from typing import TypeAlias

from penstock.coordinator.outcome import ProducerEpoch
from penstock.coordinator.partitioning import partition_for
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import Millis, TopicPartition
from penstock.model.limits import PARTITIONS_PER_TRANSACTION_MAX
from penstock.model.names import OFFSETS_TOPIC
from penstock.transactions.change import Change
from penstock.transactions.events import AddPartitionsReceived
from penstock.transactions.metadata import TransactionMetadata
from penstock.transactions.owner import require_known, require_owner
from penstock.transactions.responses import (
    BATCHED_ADD_PARTITIONS,
    PartitionErrors,
    addition_response,
    partitions_of,
    transactions_of,
)
from penstock.transactions.version import TransactionVersion, version_of_add_partitions
from penstock.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from penstock.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTransaction,
)

Lookup: TypeAlias = Callable[[str], TransactionMetadata | None]

_ABORTABLE_KNOWN_FROM = 5


def decide_additions(
    event: AddPartitionsReceived, request: AddPartitionsToTxnRequest, *, lookup: Lookup, now: Millis
) -> Change:
    """Decide on each transaction of the request by itself; one may come twice, so each sees those before."""
    values: dict[str, TransactionMetadata] = {}
    errors: list[PartitionErrors] = []
    for transaction in transactions_of(request, event.api_version):
        name = transaction.transactional_id
        current = values.get(name) or lookup(name)
        value, found = _decide_transaction(current, transaction, event, now)
        errors.append(found)
        if value is not None:
            values[name] = value
    response = addition_response(request, event.api_version, errors)
    return Change(values=tuple(values.values()), response=response)


def decide_offsets(
    current: TransactionMetadata | None,
    request: AddOffsetsToTxnRequest,
    *,
    offsets_partition_count: int,
    now: Millis,
) -> Change:
    """Let the transaction hold offsets of a group."""
    known = require_known(current, request.transactional_id)
    identity = ProducerEpoch(producer_id=request.producer_id, producer_epoch=request.producer_epoch)
    partition = TopicPartition(OFFSETS_TOPIC, partition_for(request.group_id, offsets_partition_count))
    value = _added(known, identity, {partition}, version=TransactionVersion.TV0, now=now)
    return Change(values=() if value is None else (value,), response=AddOffsetsToTxnResponse())


def _decide_transaction(
    current: TransactionMetadata | None,
    transaction: AddPartitionsToTxnTransaction,
    event: AddPartitionsReceived,
    now: Millis,
) -> tuple[TransactionMetadata | None, PartitionErrors]:
    """The next value, if there is one, and what is answered for each partition."""
    partitions = partitions_of(transaction)
    refused = {partition: event.refused[partition] for partition in partitions if partition in event.refused}
    if refused:
        return None, dict.fromkeys(partitions, ErrorCode.OPERATION_NOT_ATTEMPTED) | refused
    try:
        known = require_known(current, transaction.transactional_id)
        identity = ProducerEpoch(
            producer_id=transaction.producer_id, producer_epoch=transaction.producer_epoch
        )
        if transaction.verify_only and event.api_version >= BATCHED_ADD_PARTITIONS:
            return None, _verified(known, identity, partitions, event.api_version)
        version = version_of_add_partitions(event.api_version)
        value = _added(known, identity, partitions, version=version, now=now)
    except ApiError as error:
        return None, dict.fromkeys(partitions, error.code)
    return value, dict.fromkeys(partitions, ErrorCode.NONE)


def _added(
    current: TransactionMetadata,
    identity: ProducerEpoch,
    partitions: Collection[TopicPartition],
    *,
    version: TransactionVersion,
    now: Millis,
) -> TransactionMetadata | None:
    """The value with the partitions, or none if they are there already."""
    require_owner(current, identity)
    value = current.prepare_addition(partitions, version=version, now=now)
    if value.state is current.state and value.partitions == current.partitions:
        return None
    if len(value.partitions) > PARTITIONS_PER_TRANSACTION_MAX:
        raise ApiError(
            ErrorCode.POLICY_VIOLATION,
            f"The transaction of {current.transactional_id!r} would have {len(value.partitions)} partitions; "
            f"the limit is {PARTITIONS_PER_TRANSACTION_MAX}.",
        )
    return value


def _verified(
    current: TransactionMetadata,
    identity: ProducerEpoch,
    partitions: Collection[TopicPartition],
    api_version: int,
) -> Mapping[TopicPartition, ErrorCode]:
    require_owner(current, identity)
    is_abortable_known = api_version >= _ABORTABLE_KNOWN_FROM
    missing = ErrorCode.TRANSACTION_ABORTABLE if is_abortable_known else ErrorCode.INVALID_TXN_STATE
    return {
        partition: ErrorCode.NONE if partition in current.partitions else missing for partition in partitions
    }
