"""What Kafka 4.0.0 wrote about groups that confluent-kafka's consumers were in, record by record.

One group was classic (cooperative), then a consumer joined that speaks the new protocol; the other subscribed
by a regular expression. In the end all fell silent, and the groups were deleted. Each line is a key and a
value in hex; a dash is no value.
"""

from pathlib import Path

import pytest
from tests.groups.shell import FixedTopics, numbered_uuids

from penstock.coordinator.outcome import CoordinatorRecord
from penstock.groups.consumer.consumer_group import ConsumerGroup
from penstock.groups.consumer.invariants import check_ledger
from penstock.groups.records import decode, encode
from penstock.groups.settings import GroupSettings
from penstock.groups.shard import GroupShard

LINES = (Path(__file__).parent / "written_by_kafka_4_0.txt").read_text().splitlines()


def record(line: str) -> CoordinatorRecord:
    key, value = line.split()
    return CoordinatorRecord(key=bytes.fromhex(key), value=None if value == "-" else bytes.fromhex(value))


def replayed(lines: list[str]) -> GroupShard:
    uuids = numbered_uuids()
    shard = GroupShard(settings=GroupSettings(), topics=FixedTopics({}), new_uuid=lambda: next(uuids))
    for offset, line in enumerate(lines):
        shard.replay(record(line), offset=offset)
    for group in shard._state.groups.values():
        if isinstance(group, ConsumerGroup):
            check_ledger(group.ledger)
    return shard


def group(shard: GroupShard, group_id: str) -> ConsumerGroup:
    found = shard._state.groups[group_id]
    assert isinstance(found, ConsumerGroup)
    return found


@pytest.mark.parametrize("line", LINES, ids=range(len(LINES)))
def test_record_is_written_as_kafka_wrote_it(line: str) -> None:
    original = record(line)
    decoded = decode(original.key, original.value)
    assert decoded is not None
    assert encode(decoded) == (original.key, original.value)


def test_group_that_was_upgraded_is_read_as_kafka_meant_it() -> None:
    mixed = group(replayed(LINES[:20]), "kg-mixed")
    assert mixed.state_name == "Stable"
    assert (mixed.ledger.epoch, mixed.ledger.target_epoch) == (2, 2)
    parts = {
        member.speaks_classic: sorted(each.partition for each in member.progress.assigned)
        for member in mixed.ledger.members.values()
    }
    assert parts == {True: [0, 1, 2], False: [3, 4, 5]}
    assert mixed.ledger.has_partition_metadata


def test_group_with_a_pattern_is_read_as_kafka_meant_it() -> None:
    regex = group(replayed(LINES[:43]), "kg-regex")
    assert regex.state_name == "Stable"
    (pattern,) = regex.ledger.patterns.values()
    assert pattern.topics == ("kg-orders", "kg-payments")
    assert regex.ledger.subscribed_topics == {"kg-orders", "kg-payments"}
    (member,) = regex.ledger.members.values()
    assert len(member.progress.assigned) == 9


def test_groups_that_kafka_deleted_are_gone() -> None:
    assert replayed(LINES).group_count == 0
