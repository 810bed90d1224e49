import warnings
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.groups.consumer_protocol import (
    HIGHEST_VERSION,
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    ProtocolTopicPartitions,
    read_assignment,
    read_subscription,
    read_version,
    write_assignment,
    write_subscription,
)

with warnings.catch_warnings():
    # It loads its schema files by a function that newer Pythons warn about.
    warnings.simplefilter("ignore", DeprecationWarning)
    import kafka.protocol.consumer.metadata as theirs

VERSIONS = range(HIGHEST_VERSION + 1)

FULL = ConsumerProtocolSubscription(
    topics=("a", "bc"),
    user_data=b"u",
    owned_partitions=(ProtocolTopicPartitions(topic="a", partitions=(0, 2)),),
    generation_id=6,
    rack_id="r",
)
AT_0 = "00000002" + "000161" + "00026263" + "0000000175"
AT_1 = AT_0 + "00000001" + "000161" + "00000002" + "00000000" + "00000002"
AT_2 = AT_1 + "00000006"
AT_3 = AT_2 + "000172"

ASSIGNMENT = ConsumerProtocolAssignment(
    assigned_partitions=(ProtocolTopicPartitions(topic="a", partitions=(1,)),)
)
ASSIGNMENT_HEX = "00000001" + "000161" + "00000001" + "00000001" + "ffffffff"


def as_of(version: int) -> ConsumerProtocolSubscription:
    """What is left of ``FULL`` at a version."""
    return ConsumerProtocolSubscription(
        topics=FULL.topics,
        user_data=FULL.user_data,
        owned_partitions=FULL.owned_partitions if version >= 1 else (),
        generation_id=FULL.generation_id if version >= 2 else -1,
        rack_id=FULL.rack_id if version >= 3 else None,
    )


@pytest.mark.parametrize(("version", "body"), list(enumerate([AT_0, AT_1, AT_2, AT_3])))
def test_subscription_has_the_bytes_of_its_version(version: int, body: str) -> None:
    encoded = bytes.fromhex(f"{version:04x}" + body)
    assert write_subscription(FULL, version=version) == encoded
    assert read_subscription(encoded) == as_of(version)
    assert read_version(encoded) == version


@pytest.mark.parametrize("version", VERSIONS)
def test_assignment_has_the_same_bytes_at_every_version(version: int) -> None:
    encoded = bytes.fromhex(f"{version:04x}" + ASSIGNMENT_HEX)
    assert write_assignment(ASSIGNMENT, version=version) == encoded
    assert read_assignment(encoded) == ASSIGNMENT


def test_version_of_the_future_is_read_as_the_newest_with_more_behind_it() -> None:
    encoded = bytes.fromhex("0007" + AT_3 + "0badcafe")
    assert read_subscription(encoded) == FULL
    assert read_version(encoded) == 7
    assert write_assignment(ASSIGNMENT, version=7) == bytes.fromhex("0003" + ASSIGNMENT_HEX)


@pytest.mark.parametrize(("present", "body"), list(enumerate([AT_0, AT_1, AT_2])))
@pytest.mark.parametrize("claimed", [1, 2, 3, 9])
def test_fields_left_out_at_the_end_have_their_defaults(present: int, body: str, claimed: int) -> None:
    assert read_subscription(bytes.fromhex(f"{claimed:04x}" + body)) == as_of(min(present, claimed))


@pytest.mark.parametrize("encoded", [b"", b"\0", b"\0\1", b"\xff\xff" + bytes.fromhex(AT_0), b"\0\0\0\0\0\1"])
def test_subscription_that_is_none_is_none(encoded: bytes) -> None:
    assert read_subscription(encoded) is None


def test_empty_bytes_assign_nothing_but_nonsense_is_no_assignment() -> None:
    assert read_assignment(b"") == ConsumerProtocolAssignment()
    assert read_assignment(b"nonsense") is None


@pytest.mark.parametrize("encoded", [b"", b"\0", b"\xff\xff"])
def test_version_that_is_none_is_none(encoded: bytes) -> None:
    assert read_version(encoded) is None


TEXT = st.text(max_size=20)
PARTITIONS = st.lists(
    st.builds(
        ProtocolTopicPartitions,
        topic=TEXT,
        partitions=st.lists(st.integers(0, 2**31 - 1), max_size=4).map(tuple),
    ),
    max_size=3,
).map(tuple)
SUBSCRIPTIONS = st.builds(
    ConsumerProtocolSubscription,
    topics=st.lists(TEXT, max_size=4).map(tuple),
    user_data=st.none() | st.binary(max_size=20),
    owned_partitions=PARTITIONS,
    generation_id=st.integers(-1, 2**31 - 1),
    rack_id=st.none() | TEXT,
)
ASSIGNMENTS = st.builds(
    ConsumerProtocolAssignment, assigned_partitions=PARTITIONS, user_data=st.none() | st.binary(max_size=20)
)


@given(subscription=SUBSCRIPTIONS)
def test_any_subscription_is_read_as_written(subscription: ConsumerProtocolSubscription) -> None:
    assert read_subscription(write_subscription(subscription)) == subscription


@given(assignment=ASSIGNMENTS, version=st.sampled_from(VERSIONS))
def test_any_assignment_is_read_as_written(assignment: ConsumerProtocolAssignment, version: int) -> None:
    assert read_assignment(write_assignment(assignment, version=version)) == assignment


@given(encoded=st.binary(max_size=60))
def test_noise_never_fails(encoded: bytes) -> None:
    read_subscription(encoded)
    read_assignment(encoded)


def their_partitions(partitions: Any) -> list[tuple[str, tuple[int, ...]]]:
    return [(entry.topic, tuple(entry.partitions)) for entry in partitions]


@given(subscription=SUBSCRIPTIONS, assignment=ASSIGNMENTS, version=st.sampled_from(VERSIONS))
def test_another_implementation_reads_the_same(
    subscription: ConsumerProtocolSubscription, assignment: ConsumerProtocolAssignment, version: int
) -> None:
    encoded = write_subscription(subscription, version=version)
    read = theirs.ConsumerProtocolSubscription.decode(encoded)
    assert (tuple(read.topics), read.user_data) == (subscription.topics, subscription.user_data)
    if version >= 1:
        assert their_partitions(read.owned_partitions) == their_partitions(subscription.owned_partitions)
    assert bytes(read.encode(version=version)) == encoded
    encoded = write_assignment(assignment, version=version)
    understood = theirs.ConsumerProtocolAssignment.decode(encoded)
    assert their_partitions(understood.assigned_partitions) == their_partitions(
        assignment.assigned_partitions
    )
    assert bytes(understood.encode(version=version)) == encoded
