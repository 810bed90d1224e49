"""How stories of groups speak of ids, partitions, and what is in the log about consumer groups."""

import re
from collections.abc import Iterable

from tests.groups.shell import TOPICS

from penstock.groups.consumer.member import MemberState
from penstock.groups.consumer_protocol import (
    ConsumerProtocolAssignment,
    ProtocolTopicPartitions,
    read_assignment,
    write_assignment,
)
from penstock.groups.consumer_records import (
    ConsumerGroupCurrentMemberAssignmentRecord,
    ConsumerGroupMemberMetadataRecord,
    ConsumerGroupMetadataRecord,
    ConsumerGroupRecord,
    ConsumerGroupRegularExpressionRecord,
    ConsumerGroupTargetAssignmentMemberRecord,
    ConsumerGroupTargetAssignmentMetadataRecord,
)
from penstock.groups.partitions import PartitionsOfTopic

_NUMBERED_ID = re.compile(r"-00000000-0000-0000-0000-([0-9a-f]{12})")
STATES = {
    MemberState.STABLE: "",
    MemberState.UNREVOKED_PARTITIONS: ", to let go of ",
    MemberState.UNRELEASED_PARTITIONS: ", waits for more",
}


def short(text: str) -> str:
    """Ids as people can read them: ``ann-1``."""
    return _NUMBERED_ID.sub(lambda match: f"-{int(match.group(1), 16)}", text)


def meant_assignment(text: str) -> bytes:
    """What a leader assigns: ``@orders-0,1`` as real consumers write it, anything else as it is."""
    if not text.startswith("@"):
        return text.encode()
    topic, numbers = text[1:].rsplit("-", 1)
    part = ProtocolTopicPartitions(topic=topic, partitions=tuple(map(int, numbers.split(","))))
    return write_assignment(ConsumerProtocolAssignment(assigned_partitions=(part,)))


def told_assignment(assignment: bytes) -> str:
    """What a member was assigned, be it as real consumers write it or just a word."""
    decoded = read_assignment(assignment)
    if decoded is None:
        return assignment.decode()
    parts = [f"{of.topic}-{_numbers(of.partitions)}" for of in decoded.assigned_partitions]
    return " ".join(parts) or "nothing"


def told_topics(topics: Iterable[PartitionsOfTopic]) -> str:
    """Partitions by the names of their topics."""
    parts = [f"{TOPICS.name_of(of.topic_id) or 'gone'}-{_numbers(of.partitions)}" for of in topics]
    return " ".join(parts) or "nothing"


def told_consumer_record(record: ConsumerGroupRecord) -> str:
    """A record about a consumer group as a story tells it."""
    match record:
        case ConsumerGroupMetadataRecord(value=None):
            return "group is deleted"
        case ConsumerGroupMetadataRecord(value=value) if value is not None:
            return f"group at epoch {value.epoch}"
        case ConsumerGroupMemberMetadataRecord(key=key, value=value):
            if value is None:
                return f"{key.member_id} is gone"
            wants = [*value.subscribed_topic_names, *filter(None, [value.subscribed_topic_regex])]
            return f"{key.member_id} wants {' '.join(wants)}"
        case ConsumerGroupTargetAssignmentMemberRecord(key=key, value=value):
            return f"{key.member_id} is to have " + told_topics(
                () if value is None else value.topic_partitions
            )
        case ConsumerGroupTargetAssignmentMetadataRecord(value=value):
            return "no target" if value is None else f"target of epoch {value.assignment_epoch}"
        case ConsumerGroupCurrentMemberAssignmentRecord():
            return _told_progress(record)
        case ConsumerGroupRegularExpressionRecord(key=key, value=value):
            meant = "nothing any more" if value is None else " ".join(value.topics)
            return f"{key.regular_expression} means {meant}"
    raise AssertionError(f"no story has {record}")


def _told_progress(record: ConsumerGroupCurrentMemberAssignmentRecord) -> str:
    value = record.value
    if value is None:
        return f"{record.key.member_id} has nothing"
    revoking = value.partitions_pending_revocation
    return (
        f"{record.key.member_id} at epoch {value.member_epoch} has {told_topics(value.assigned_partitions)}"
        + STATES[MemberState(value.state)]
        + (told_topics(revoking) if revoking else "")
    )


def _numbers(partitions: Iterable[int]) -> str:
    return ",".join(map(str, partitions))
