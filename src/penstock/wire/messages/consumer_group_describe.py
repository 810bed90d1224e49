"""ConsumerGroupDescribe (key 69): the state and members of groups that the broker assigns (KIP-848).

Flexible from the start. Version notes: 1 which protocol a member speaks.
"""

from penstock.model.ids import TopicId
from penstock.wire.primitives import BOOLEAN, INT8, INT16, INT32, STRING, TOPIC_ID
from penstock.wire.schema import Struct, array, field, nullable, struct

OPERATIONS_NOT_ASKED = -2147483648
"""The bit field of authorized operations when the client did not ask for it."""

UNKNOWN_MEMBER = -1
CLASSIC_MEMBER = 0
CONSUMER_MEMBER = 1


class ConsumerGroupDescribeRequest(Struct):
    """How are these groups?"""

    group_ids: tuple[str, ...] = array(STRING)
    include_authorized_operations: bool = field(BOOLEAN)


class TopicPartitions(Struct):
    """Partitions of one topic."""

    topic_id: TopicId = field(TOPIC_ID)
    topic_name: str = field(STRING)
    partitions: tuple[int, ...] = array(INT32)


class Assignment(Struct):
    """What a member has, or is to have."""

    topic_partitions: tuple[TopicPartitions, ...] = array(TopicPartitions)


class Member(Struct):
    """A member, what it wants, has and is to have."""

    member_id: str = field(STRING)
    instance_id: str | None = nullable(STRING)
    rack_id: str | None = nullable(STRING)
    member_epoch: int = field(INT32)
    client_id: str = field(STRING)
    client_host: str = field(STRING)
    subscribed_topic_names: tuple[str, ...] = array(STRING)
    subscribed_topic_regex: str | None = nullable(STRING)
    assignment: Assignment = struct(Assignment)
    target_assignment: Assignment = struct(Assignment)
    member_type: int = field(INT8, "1+", default=UNKNOWN_MEMBER)


class DescribedGroup(Struct):
    """A group, or why it cannot be described."""

    error_code: int = field(INT16)
    error_message: str | None = nullable(STRING)
    group_id: str = field(STRING)
    group_state: str = field(STRING)
    group_epoch: int = field(INT32)
    assignment_epoch: int = field(INT32)
    assignor_name: str = field(STRING)
    members: tuple[Member, ...] = array(Member)
    authorized_operations: int = field(INT32, default=OPERATIONS_NOT_ASKED)


class ConsumerGroupDescribeResponse(Struct):
    """The groups asked about."""

    throttle_time_ms: int = field(INT32)
    groups: tuple[DescribedGroup, ...] = array(DescribedGroup)
