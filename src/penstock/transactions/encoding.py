"""The hard state of a transactional id as a record of ``__transaction_state``, and back."""

from penstock.coordinator.outcome import CoordinatorRecord
from penstock.model.errors import CorruptLogError
from penstock.model.ids import NO_PRODUCER_ID, TopicPartition
from penstock.transactions.metadata import NO_EPOCH, TransactionMetadata
from penstock.transactions.records import (
    TransactionKey,
    TransactionRecord,
    TransactionTopic,
    TransactionValue,
    decode,
    encode,
)
from penstock.transactions.responses import by_topic
from penstock.transactions.state import EXITS, STATUS_NUMBERS, TransactionState
from penstock.transactions.version import TransactionVersion

_STATES = {number: state for state, number in STATUS_NUMBERS.items() if EXITS[state]}
"""The states that a record may hold."""


def to_record(value: TransactionMetadata) -> CoordinatorRecord:
    """The record that makes ``value`` the present one."""
    return _record(value.transactional_id, _stored(value))


def to_tombstone(transactional_id: str) -> CoordinatorRecord:
    """The record that forgets an id."""
    return _record(transactional_id, None)


def from_record(record: CoordinatorRecord) -> tuple[str, TransactionMetadata | None] | None:
    """The id and its value, which is none when it is forgotten; nothing for a record of an unknown type."""
    decoded = decode(record.key, record.value)
    if decoded is None:
        return None
    name = decoded.key.transactional_id
    return name, None if decoded.value is None else _metadata(name, decoded.value)


def _record(transactional_id: str, stored: TransactionValue | None) -> CoordinatorRecord:
    key = TransactionKey(transactional_id=transactional_id)
    encoded_key, encoded_value = encode(TransactionRecord(key=key, value=stored))
    return CoordinatorRecord(key=encoded_key, value=encoded_value)


def _stored(value: TransactionMetadata) -> TransactionValue:
    return TransactionValue(
        producer_id=value.producer_id,
        previous_producer_id=value.previous_producer_id,
        next_producer_id=value.next_producer_id,
        producer_epoch=value.producer_epoch,
        next_producer_epoch=NO_EPOCH if value.next_producer_id == NO_PRODUCER_ID else 0,
        transaction_timeout_ms=value.timeout_ms,
        transaction_status=STATUS_NUMBERS[value.state],
        transaction_partitions=_stored_partitions(value),
        transaction_last_update_timestamp_ms=value.last_update_timestamp,
        transaction_start_timestamp_ms=value.start_timestamp,
        client_transaction_version=value.transaction_version,
    )


def _stored_partitions(value: TransactionMetadata) -> tuple[TransactionTopic, ...] | None:
    """Kafka reads null only in state Empty, and nothing else there."""
    if value.state is TransactionState.EMPTY:
        return None
    return tuple(
        TransactionTopic(topic=topic, partition_ids=numbers) for topic, numbers in by_topic(value.partitions)
    )


def _metadata(transactional_id: str, stored: TransactionValue) -> TransactionMetadata:
    state = _STATES.get(stored.transaction_status)
    if state is None:
        raise CorruptLogError(
            f"transactional id {transactional_id!r} is recorded in state {stored.transaction_status}, "
            f"which is none of {sorted(_STATES)}"
        )
    return TransactionMetadata(
        transactional_id=transactional_id,
        producer_id=stored.producer_id,
        producer_epoch=stored.producer_epoch,
        timeout_ms=stored.transaction_timeout_ms,
        last_update_timestamp=stored.transaction_last_update_timestamp_ms,
        state=state,
        partitions=frozenset(
            TopicPartition(topic.topic, number)
            for topic in stored.transaction_partitions or ()
            for number in topic.partition_ids
        ),
        start_timestamp=stored.transaction_start_timestamp_ms,
        previous_producer_id=stored.previous_producer_id,
        next_producer_id=stored.next_producer_id,
        transaction_version=TransactionVersion(
            min(stored.client_transaction_version, TransactionVersion.TV2)
        ),
    )
