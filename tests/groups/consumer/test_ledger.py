"""What the log says of a consumer group, in whatever order compaction has left it."""

import pytest

from penstock.groups.consumer.draft import Draft
from penstock.groups.consumer.invariants import check_ledger
from penstock.groups.consumer.ledger import Ledger
from penstock.groups.consumer.member import ConsumerMember, MemberState, Progress
from penstock.groups.consumer.records import (
    epoch_record,
    member_records,
    pattern_record,
    profile_record,
    progress_record,
    target_epoch_record,
    target_record,
)
from penstock.groups.consumer_records import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentRecord,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupRecord,
    CurrentTopicPartitions,
)
from penstock.groups.partitions import NO_PARTITIONS, TopicIdPartition
from penstock.model.errors import InvariantError
from penstock.model.ids import TopicId

TOPIC = TopicId(bytes(range(16)))
FIRST, SECOND = TopicIdPartition(TOPIC, 0), TopicIdPartition(TOPIC, 1)


def member(name: str, *partitions: TopicIdPartition, instance: str | None = None) -> ConsumerMember:
    profile = ConsumerGroupMemberMetadataValue(instance_id=instance, subscribed_topic_names=("orders",))
    progress = Progress(epoch=1, assigned=dict.fromkeys(partitions, 1))
    return ConsumerMember(member_id=name, profile=profile, progress=progress)


def ledger_with(*members: ConsumerMember) -> Ledger:
    ledger = Ledger("g")
    for record in (epoch_record("g", 1), target_epoch_record("g", 1)):
        ledger.apply(record)
    for each in members:
        for part in member_records("g", each, each.assigned_partitions()):
            ledger.apply(part)
    return ledger


def test_member_is_what_its_records_say() -> None:
    ann = member("ann", FIRST, instance="desk")
    ledger = ledger_with(ann)
    check_ledger(ledger)
    assert ledger.members == {"ann": ann}
    assert ledger.static_member("desk") == ann
    assert ledger.owners == {FIRST: "ann"}
    assert ledger.subscribed_topics == {"orders"}


def test_partition_passes_from_one_to_another() -> None:
    ledger = ledger_with(member("ann", FIRST), member("bob"))
    ledger.apply(progress_record("g", "ann", Progress(epoch=1)))
    ledger.apply(progress_record("g", "bob", Progress(epoch=1, assigned={FIRST: 1})))
    assert ledger.owners == {FIRST: "bob"}


def test_progress_of_a_member_whose_profile_is_missing_is_read_all_the_same() -> None:
    ledger = Ledger("g")
    ledger.apply(progress_record("g", "ann", Progress(epoch=1, assigned={FIRST: 1})))
    ledger.apply(profile_record("g", "ann", member("ann").profile))
    assert ledger.members["ann"] == member("ann", FIRST)


def test_tombstones_take_everything_back_in_any_order() -> None:
    ledger = ledger_with(member("ann", FIRST, instance="desk"))
    ledger.apply(pattern_record("g", "x.*", ("xa",)))
    for record in (
        profile_record("g", "ann", None),
        progress_record("g", "ann", None),
        target_record("g", "ann", None),
        target_epoch_record("g", None),
        pattern_record("g", "x.*", None),
        epoch_record("g", None),
    ):
        ledger.apply(record)
    assert ledger.is_blank
    assert ledger.state() == Ledger("g").state()
    assert not ledger.owners
    assert not ledger.static_ids


def test_instance_that_has_passed_to_another_member_stays_with_it() -> None:
    ledger = ledger_with(member("ann", instance="desk"))
    ledger.apply(profile_record("g", "bob", member("bob", instance="desk").profile))
    ledger.apply(profile_record("g", "ann", None))
    assert ledger.static_ids == {"desk": "bob"}


def test_topics_of_a_member_are_its_names_and_what_its_pattern_means() -> None:
    ledger = ledger_with(member("ann"))
    profile = ConsumerGroupMemberMetadataValue(subscribed_topic_names=("b",), subscribed_topic_regex="x.*")
    ledger.apply(profile_record("g", "bob", profile))
    ledger.apply(pattern_record("g", "x.*", ("xb", "xa")))
    assert ledger.topics_of(ledger.members["bob"]) == {"b", "xa", "xb"}
    assert ledger.topics_of(ledger.members["ann"]) == {"orders"}
    assert ledger.subscribed_topics == {"orders", "b", "xa", "xb"}


def test_partitions_without_epochs_were_given_at_the_epoch_of_the_member() -> None:
    ledger = Ledger("g")
    value = ConsumerGroupCurrentMemberAssignmentValue(
        member_epoch=7,
        previous_member_epoch=6,
        state=99,
        assigned_partitions=(CurrentTopicPartitions(topic_id=TOPIC, partitions=(0, 1)),),
    )
    key = ConsumerGroupCurrentMemberAssignmentKey(group_id="g", member_id="ann")
    ledger.apply(ConsumerGroupCurrentMemberAssignmentRecord(key=key, value=value))
    progress = ledger.members["ann"].progress
    assert progress.assigned == {FIRST: 7, SECOND: 7}
    # A state from the future is one that is looked at again with every heartbeat.
    assert progress.state is MemberState.UNRELEASED_PARTITIONS


def test_draft_leaves_the_ledger_alone() -> None:
    ledger = ledger_with(member("ann", FIRST))
    before = ledger.state()
    draft = Draft(ledger)
    assert (draft.records(), draft.ledger) == ((), ledger)
    draft.write(progress_record("g", "ann", None), profile_record("g", "ann", None), epoch_record("g", 9))
    assert len(draft.records()) == 3
    assert ledger.state() == before
    assert (draft.ledger.epoch, draft.ledger.members, draft.ledger.owners) == (9, {}, {})


BROKEN: dict[str, ConsumerGroupRecord] = {
    "held twice": progress_record("g", "bob", Progress(epoch=1, assigned={FIRST: 1})),
    "to be held twice": target_record("g", "bob", frozenset({FIRST})),
    "only members": target_record("g", "cal", NO_PARTITIONS),
    "target is not ahead": target_epoch_record("g", 2),
    "is not ahead of the target": progress_record("g", "bob", Progress(epoch=2)),
    "let go of": progress_record("g", "bob", Progress(epoch=1, revoking={SECOND: 1})),
    "is to have": target_record("g", "bob", frozenset({SECOND})),
    "later than now": progress_record("g", "bob", Progress(epoch=1, assigned={SECOND: 8})),
}


@pytest.mark.parametrize("what", BROKEN)
def test_ledger_that_makes_no_sense_is_seen(what: str) -> None:
    ledger = ledger_with(member("ann", FIRST), member("bob"))
    check_ledger(ledger)
    ledger.apply(BROKEN[what])
    with pytest.raises(InvariantError, match="group 'g'"):
        check_ledger(ledger)
