import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model.ids import TopicPartition
from penstock.storage.partition_directory import (
    deleted_name,
    is_deleted_name,
    parse_directory_name,
    stray_name,
)

topics = st.text(alphabet="abzAZ09._-", min_size=1, max_size=249).filter(lambda name: name not in (".", ".."))
partitions = st.builds(TopicPartition, topics, st.integers(0, 2**31 - 1))
ids = st.binary(min_size=16, max_size=16)


@given(partitions)
def test_directory_name_reads_back_as_its_partition(partition: TopicPartition) -> None:
    assert parse_directory_name(str(partition)) == partition


@pytest.mark.parametrize(
    "name",
    [
        "",
        "orders",
        "orders-",
        "-0",
        "orders-00",
        "orders-x",
        "orders-2147483648",
        "..-0",
        "a/b-0",
        "ä-0",
        "o-0\n",
    ],
)
def test_other_names_are_no_partitions(name: str) -> None:
    assert parse_directory_name(name) is None


@given(partitions, ids)
def test_parting_names_fit_a_file_system_and_are_no_partitions(
    partition: TopicPartition, unique: bytes
) -> None:
    for name in (deleted_name(partition, unique), stray_name(partition, unique)):
        assert len(name) <= 255
        assert unique.hex() in name
        assert parse_directory_name(name) is None


@given(partitions, ids)
def test_only_deleted_names_are_deleted(partition: TopicPartition, unique: bytes) -> None:
    assert is_deleted_name(deleted_name(partition, unique))
    assert not is_deleted_name(stray_name(partition, unique))
    assert not is_deleted_name(str(partition))


def test_deleted_name_is_kafkas() -> None:
    name = deleted_name(TopicPartition("orders", 3), bytes(range(16)))
    assert name == "orders-3.000102030405060708090a0b0c0d0e0f-delete"


def test_topic_named_like_a_deletion_is_still_a_topic() -> None:
    assert not is_deleted_name("my-delete")
    assert not is_deleted_name("orders.0123-delete")
