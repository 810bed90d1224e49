"""The hard state survives the log, in the format that Kafka reads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.coordinator.outcome import CoordinatorRecord
from penstock.model.errors import CorruptLogError
from penstock.model.ids import TopicPartition
from penstock.transactions.encoding import from_record, to_record, to_tombstone
from penstock.transactions.metadata import TransactionMetadata
from penstock.transactions.records import (
    TransactionKey,
    TransactionRecord,
    TransactionValue,
    decode,
    encode,
)
from penstock.transactions.state import EXITS, TransactionState
from penstock.transactions.version import TransactionVersion

EPOCHS = st.integers(0, 32767)
IDS = st.integers(0, 2**63 - 1)
TIMES = st.integers(0, 2**53)
PARTITIONS = st.frozensets(
    st.builds(TopicPartition, st.text("abc", min_size=1, max_size=3), st.integers(0, 3)), max_size=6
)
VALUES = st.builds(
    TransactionMetadata,
    transactional_id=st.text(min_size=1, max_size=20),
    producer_id=IDS,
    producer_epoch=EPOCHS,
    timeout_ms=st.integers(1, 2**31 - 1),
    last_update_timestamp=TIMES,
    state=st.sampled_from(
        [state for state in TransactionState if EXITS[state] and state != TransactionState.EMPTY]
    ),
    partitions=PARTITIONS,
    start_timestamp=TIMES,
    previous_producer_id=st.one_of(st.just(-1), IDS),
    next_producer_id=st.one_of(st.just(-1), IDS),
    transaction_version=st.sampled_from(TransactionVersion),
)


def stored(value: TransactionMetadata) -> TransactionValue:
    record = to_record(value)
    decoded = decode(record.key, record.value)
    assert decoded is not None
    assert decoded.value is not None
    return decoded.value


@given(VALUES)
def test_value_survives_the_log(value: TransactionMetadata) -> None:
    assert from_record(to_record(value)) == (value.transactional_id, value)


@given(VALUES)
def test_order_of_partitions_in_a_record_is_fixed(value: TransactionMetadata) -> None:
    topics = stored(value).transaction_partitions or ()
    names = [topic.topic for topic in topics]
    assert names == sorted(set(names))
    for topic in topics:
        assert list(topic.partition_ids) == sorted(topic.partition_ids)


def make(state: TransactionState, *, next_producer_id: int = -1) -> TransactionMetadata:
    return TransactionMetadata(
        transactional_id="app",
        producer_id=5,
        producer_epoch=2,
        timeout_ms=1_000,
        last_update_timestamp=10,
        state=state,
        start_timestamp=9,
        next_producer_id=next_producer_id,
    )


def test_partitions_are_null_in_state_empty_only() -> None:
    assert stored(make(TransactionState.EMPTY)).transaction_partitions is None
    assert stored(make(TransactionState.COMPLETE_COMMIT)).transaction_partitions == ()


def test_next_producer_id_comes_with_its_epoch() -> None:
    assert stored(make(TransactionState.PREPARE_COMMIT)).next_producer_epoch == -1
    assert stored(make(TransactionState.PREPARE_COMMIT, next_producer_id=8)).next_producer_epoch == 0


def test_tombstone_forgets() -> None:
    assert to_tombstone("app").value is None
    assert from_record(to_tombstone("app")) == ("app", None)


def test_unknown_kind_of_record_is_nothing() -> None:
    assert from_record(CoordinatorRecord(key=b"\x00\x09xx", value=None)) is None


@pytest.mark.parametrize("status", [6, 7, 8, -1])
def test_state_that_no_record_may_hold_is_corruption(status: int) -> None:
    value = TransactionValue(producer_id=1, producer_epoch=0, transaction_status=status)
    key, encoded = encode(TransactionRecord(key=TransactionKey(transactional_id="app"), value=value))
    with pytest.raises(CorruptLogError, match=f"'app' is recorded in state {status}"):
        from_record(CoordinatorRecord(key=key, value=encoded))


def test_later_protocol_is_taken_for_the_latest_we_know() -> None:
    value = TransactionValue(
        producer_id=1, producer_epoch=0, transaction_timeout_ms=1, client_transaction_version=3
    )
    key, encoded = encode(TransactionRecord(key=TransactionKey(transactional_id="app"), value=value))
    decoded = from_record(CoordinatorRecord(key=key, value=encoded))
    assert decoded is not None
    assert decoded[1] is not None
    assert decoded[1].transaction_version is TransactionVersion.TV2
