"""Consumer groups follow their topics: new ones, deleted ones, more partitions, and what patterns mean."""

import pytest
from tests.groups.actors import GROUP
from tests.groups.modern import Modern, ledger_of, settle
from tests.groups.shell import FixedTopics, Shell

from penstock.coordinator.outcome import Outcome
from penstock.groups.consumer.records import epoch_record
from penstock.groups.consumer_records import (
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupPartitionMetadataRecord,
    ConsumerGroupPartitionMetadataValue,
)
from penstock.groups.group_record import encoded
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import TopicId

IDS = {
    name: TopicId(bytes([number] * 16)) for number, name in enumerate(("orders", "payments", "parcels"), 1)
}


def topics(**counts: int) -> FixedTopics:
    return FixedTopics(counts, {name: IDS[name] for name in counts})


@pytest.fixture
def shell() -> Shell:
    return Shell(topics=topics(orders=2, payments=2))


def names(member: Modern) -> set[str]:
    return {member.shell.topics.name_of(each.topic_id) or "?" for each in member.owned}


def test_partitions_that_are_added_are_assigned_with_the_next_heartbeat(shell: Shell) -> None:
    ann = Modern(shell, "ann")
    ann.settle(2)
    shell.change_topics(topics(orders=4, payments=2))
    ann.beat()
    assert (ann.epoch, ann.numbers()) == (2, [0, 1, 2, 3])


def test_member_that_goes_away_for_a_while_does_not_keep_the_group_from_seeing_new_partitions(
    shell: Shell,
) -> None:
    ann = Modern(shell, "ann", instance="desk")
    ann.settle(2)
    shell.change_topics(topics(orders=4, payments=2))
    assert ann.go_away() == ErrorCode.NONE
    again = Modern(shell, "ann again", instance="desk")
    again.settle(2)
    assert again.numbers() == [0, 1, 2, 3]


def test_change_that_does_not_concern_the_group_is_none(shell: Shell) -> None:
    ann = Modern(shell, "ann")
    ann.settle(2)
    length = len(shell.log)
    shell.change_topics(topics(orders=2, payments=5))
    ann.beat()
    assert (ann.epoch, len(shell.log)) == (1, length)


def test_topic_that_is_deleted_is_let_go_of(shell: Shell) -> None:
    ann = Modern(shell, "ann", topics=("orders", "payments"))
    ann.settle(2)
    shell.change_topics(topics(orders=2))
    ann.settle(3)
    assert names(ann) == {"orders"}
    assert ann.epoch == 2


def test_topic_that_is_made_again_is_another_one(shell: Shell) -> None:
    ann = Modern(shell, "ann")
    ann.settle(2)
    again = TopicId(bytes([9] * 16))
    shell.change_topics(FixedTopics({"orders": 2}, {"orders": again}))
    ann.settle(4)
    assert {each.topic_id for each in ann.owned} == {again}


def test_topic_that_does_not_exist_yet_is_assigned_when_it_does(shell: Shell) -> None:
    ann = Modern(shell, "ann", topics=("parcels",))
    ann.settle(2)
    assert ann.numbers() == []
    shell.change_topics(topics(orders=2, parcels=3))
    ann.beat()
    assert ann.numbers() == [0, 1, 2]


def test_topics_that_change_while_there_is_no_coordinator_are_noticed(shell: Shell) -> None:
    ann = Modern(shell, "ann")
    ann.settle(2)
    shell.topics = topics(orders=3)
    shell.crash()
    ann.beat()
    assert ann.numbers() == [0, 1, 2]


def test_pattern_means_the_topics_whose_whole_name_it_matches(shell: Shell) -> None:
    ann = Modern(shell, "ann", topics=None, pattern="p.*")
    ann.settle(2)
    assert names(ann) == {"payments"}
    shell.change_topics(topics(orders=2, payments=2, parcels=1))
    ann.beat()
    assert names(ann) == {"payments", "parcels"}
    shell.change_topics(topics(orders=2, parcels=1))
    ann.settle(3)
    assert names(ann) == {"parcels"}
    assert ledger_of(shell).patterns["p.*"].topics == ("parcels",)


def test_pattern_and_names_add_up(shell: Shell) -> None:
    ann = Modern(shell, "ann", topics=("orders",), pattern="pay.*")
    ann.settle(2)
    assert names(ann) == {"orders", "payments"}
    ann.pattern, ann.is_unsure = "", True
    ann.settle(3)
    assert names(ann) == {"orders"}
    assert not ledger_of(shell).patterns


def test_pattern_of_a_member_that_leaves_is_forgotten(shell: Shell) -> None:
    ann, bob = Modern(shell, "ann", topics=None, pattern="pay.*"), Modern(shell, "bob")
    settle(ann, bob)
    ann.leave()
    assert not ledger_of(shell).patterns


def test_members_with_different_patterns_get_what_they_want(shell: Shell) -> None:
    ann, bob = Modern(shell, "ann", topics=None, pattern="pay.*"), Modern(shell, "bob", pattern="ord.*")
    settle(ann, bob)
    assert (names(ann), names(bob)) == ({"payments"}, {"orders"})


def test_pattern_that_is_none_is_refused_and_nothing_changes(shell: Shell) -> None:
    ann = Modern(shell, "ann", topics=None, pattern="(")
    assert ann.beat() == ErrorCode.INVALID_REGULAR_EXPRESSION
    assert not shell.log
    ann.pattern = "pay.*"
    ann.settle(2)
    ann.pattern, ann.is_unsure = "[", True
    assert ann.beat() == ErrorCode.INVALID_REGULAR_EXPRESSION
    assert names(ann) == {"payments"}


def test_internal_topics_are_never_meant(shell: Shell) -> None:
    shell.change_topics(FixedTopics({"__consumer_offsets": 50, "orders": 2}))
    ann = Modern(shell, "ann", topics=None, pattern=".*")
    ann.settle(2)
    assert names(ann) == {"orders"}


def test_group_that_kafka_wrote_before_4_1_loses_what_is_written_no_more(shell: Shell) -> None:
    key = ConsumerGroupPartitionMetadataKey(group_id=GROUP)
    old = ConsumerGroupPartitionMetadataRecord(key=key, value=ConsumerGroupPartitionMetadataValue())
    shell.take(Outcome(records=(encoded(epoch_record(GROUP, 7)), encoded(old))))
    ann = Modern(shell, "ann")
    ann.beat()
    assert ann.epoch == 8
    assert ConsumerGroupPartitionMetadataRecord(key=key, value=None) in shell.records()
    assert not ledger_of(shell).has_partition_metadata
