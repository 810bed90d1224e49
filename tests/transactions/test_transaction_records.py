"""Records of ``__transaction_state`` against bytes put together by hand from Kafka's definitions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model.errors import CorruptLogError
from penstock.model.limits import ARRAY_ELEMENTS_MAX
from penstock.transactions.records import (
    TransactionKey,
    TransactionRecord,
    TransactionTopic,
    TransactionValue,
    decode,
    encode,
)

KEY = TransactionKey(transactional_id="tx")
KEY_HEX = "0000" + "00027478"

EMPTY = TransactionRecord(
    key=KEY,
    value=TransactionValue(
        producer_id=1000,
        producer_epoch=2,
        transaction_timeout_ms=60_000,
        transaction_last_update_timestamp_ms=9,
        transaction_start_timestamp_ms=-1,
    ),
)
PREPARED = TransactionRecord(
    key=KEY,
    value=TransactionValue(
        producer_id=1000,
        producer_epoch=2,
        transaction_timeout_ms=60_000,
        transaction_status=2,
        transaction_partitions=(TransactionTopic(topic="a", partition_ids=(0, 3)),),
        transaction_last_update_timestamp_ms=9,
        transaction_start_timestamp_ms=8,
        previous_producer_id=999,
        next_producer_id=1001,
        client_transaction_version=2,
        next_producer_epoch=7,
    ),
)

START = "00000000000003e8" + "0002" + "0000ea60"
WRITTEN = [
    pytest.param(
        EMPTY,
        "0001" + START + "00" + "00" + "0000000000000009" + "ffffffffffffffff" + "00",
        id="empty",
    ),
    pytest.param(
        PREPARED,
        "0001" + START + "02"
        "02" + "0261" + "03" + "00000000" + "00000003" + "00"
        "0000000000000009" + "0000000000000008"
        "04" + "0008" + "00000000000003e7" + "0108" + "00000000000003e9" + "0202" + "0002" + "0302" + "0007",
        id="prepared",
    ),
    pytest.param(TransactionRecord(key=KEY, value=None), None, id="forgotten"),
]

OLD = [
    pytest.param(
        EMPTY, "0000" + START + "00" + "ffffffff" + "0000000000000009" + "ffffffffffffffff", id="empty-0"
    ),
    pytest.param(
        TransactionRecord(
            key=KEY,
            value=TransactionValue(
                producer_id=1000,
                producer_epoch=2,
                transaction_timeout_ms=60_000,
                transaction_status=1,
                transaction_partitions=(TransactionTopic(topic="a", partition_ids=(0, 3)),),
                transaction_last_update_timestamp_ms=9,
                transaction_start_timestamp_ms=8,
            ),
        ),
        "0000" + START + "01"
        "00000001" + "000161" + "00000002" + "00000000" + "00000003"
        "0000000000000009" + "0000000000000008",
        id="ongoing-0",
    ),
]


@pytest.mark.parametrize(("record", "value"), WRITTEN)
def test_record_has_the_bytes_of_kafka(record: TransactionRecord, value: str | None) -> None:
    expected = bytes.fromhex(KEY_HEX), None if value is None else bytes.fromhex(value)
    assert encode(record) == expected
    assert decode(*expected) == record


@pytest.mark.parametrize(("record", "value"), OLD)
def test_record_of_version_0_is_read(record: TransactionRecord, value: str) -> None:
    assert decode(bytes.fromhex(KEY_HEX), bytes.fromhex(value)) == record


@pytest.mark.parametrize("number", [1, 2, 32767, -1])
@pytest.mark.parametrize("value", [None, b"\x00\x00anything"])
def test_record_of_an_unknown_type_is_passed_over(number: int, value: bytes | None) -> None:
    assert decode(number.to_bytes(2, signed=True) + b"\x00\x01t", value) is None


@pytest.mark.parametrize(
    ("key", "value"),
    [
        pytest.param("00", None, id="half-a-type"),
        pytest.param("0000", None, id="no-key"),
        pytest.param(KEY_HEX + "00", None, id="key-too-long"),
        pytest.param(KEY_HEX, "", id="no-version"),
        pytest.param(KEY_HEX, "0001", id="no-value"),
    ],
)
def test_damaged_record_is_corruption(key: str, value: str | None) -> None:
    with pytest.raises(CorruptLogError, match="cannot be read"):
        decode(bytes.fromhex(key), None if value is None else bytes.fromhex(value))


@pytest.mark.parametrize("version", ["0002", "ffff"])
def test_value_of_the_future_is_refused_not_guessed(version: str) -> None:
    with pytest.raises(CorruptLogError, match="newer"):
        decode(bytes.fromhex(KEY_HEX), bytes.fromhex(version) + bytes(60))


def test_transaction_over_more_partitions_than_one_request_may_name_is_read_again() -> None:
    topics = tuple(
        TransactionTopic(topic=f"t{i}", partition_ids=tuple(range(10_000)))
        for i in range(ARRAY_ELEMENTS_MAX // 10_000 + 1)
    )
    record = TransactionRecord(key=KEY, value=TransactionValue(transaction_partitions=topics))
    assert decode(*encode(record)) == record


def integers(bits: int) -> st.SearchStrategy[int]:
    return st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


TOPICS = st.builds(
    TransactionTopic, topic=st.text(max_size=20), partition_ids=st.lists(integers(32), max_size=4).map(tuple)
)
VALUES = st.builds(
    TransactionValue,
    producer_id=integers(64),
    previous_producer_id=integers(64),
    next_producer_id=integers(64),
    producer_epoch=integers(16),
    next_producer_epoch=integers(16),
    transaction_timeout_ms=integers(32),
    transaction_status=integers(8),
    transaction_partitions=st.none() | st.lists(TOPICS, max_size=3).map(tuple),
    transaction_last_update_timestamp_ms=integers(64),
    transaction_start_timestamp_ms=integers(64),
    client_transaction_version=integers(16),
)


@given(transactional_id=st.text(max_size=50), value=st.none() | VALUES)
def test_any_record_is_read_as_written(transactional_id: str, value: TransactionValue | None) -> None:
    record = TransactionRecord(key=TransactionKey(transactional_id=transactional_id), value=value)
    assert decode(*encode(record)) == record


@given(key=st.binary(max_size=40), value=st.none() | st.binary(max_size=60))
def test_noise_is_a_record_or_corruption(key: bytes, value: bytes | None) -> None:
    try:
        decode(b"\0\0" + key, value)
    except CorruptLogError:
        return
