"""Deleting groups, and single offsets of groups."""

from collections.abc import Sequence
from typing import NamedTuple

from penstock.cli.failure import CommandFailed
from penstock.cli.partition_choice import PartitionChoice, chosen_partitions
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import TopicPartition
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.delete_groups import DeletableGroupResult, DeleteGroupsRequest
from penstock.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
)
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.connection import Connection
from penstock.wire_client.coordinators import Coordinated, ask_coordinator, ask_coordinators
from penstock.wire_client.errors import RefusedError, check
from penstock.wire_client.groups.offsets import committed_offsets
from penstock.wire_client.topics import by_topic


class Deletion(NamedTuple):
    """What became of one group or offset: deleted, unless there is a ``refusal``."""

    name: str
    refusal: RefusedError | None


def delete_groups(cluster: Cluster, groups: Sequence[str]) -> list[Deletion]:
    """Delete groups with all their offsets; one that cannot be deleted does not keep the others."""
    answers = ask_coordinators(cluster, Coordinated.GROUP, groups, _delete)
    return [_deletion(group, answer.error_code, f"group {group!r}") for group, answer in answers.items()]


def delete_chosen_offsets(cluster: Cluster, group: str, choice: PartitionChoice) -> list[Deletion]:
    """Make a group forget the chosen partitions, as far as it has an offset for them."""
    committed = committed_offsets(cluster, [group])[group]
    known = {partition for partition in committed if partition.topic in choice}
    for topic in choice:
        if not any(partition.topic == topic for partition in known):
            raise CommandFailed(
                f"Group {group!r} has committed no offset in topic {topic!r}.",
                hint=f"See what it has with `penstock group describe {group}`.",
            )
    return delete_offsets(cluster, group, chosen_partitions(choice, known))


def delete_offsets(cluster: Cluster, group: str, partitions: Sequence[TopicPartition]) -> list[Deletion]:
    """Make a group forget ``partitions``; where members still read a topic, that is refused."""
    answer = ask_coordinator(
        cluster, Coordinated.GROUP, group, lambda broker: _delete_offsets(broker, group, partitions)
    )
    check(answer.error_code, doing=f"delete offsets of group {group!r}")
    return [
        _deletion(
            str(TopicPartition(topic.name, partition.partition_index)),
            partition.error_code,
            f"the offset of group {group!r} in {TopicPartition(topic.name, partition.partition_index)}",
        )
        for topic in answer.topics
        for partition in topic.partitions
    ]


def _deletion(name: str, code: int, what: str) -> Deletion:
    return Deletion(name, None if code == ErrorCode.NONE else RefusedError(code, doing=f"delete {what}"))


def _delete(broker: Connection, groups: Sequence[str]) -> dict[str, DeletableGroupResult]:
    answer = broker.call(ApiKey.DELETE_GROUPS, DeleteGroupsRequest(groups_names=tuple(groups)))
    return {result.group_id: result for result in answer.results}


def _delete_offsets(
    broker: Connection, group: str, partitions: Sequence[TopicPartition]
) -> OffsetDeleteResponse:
    topics = tuple(
        OffsetDeleteRequestTopic(
            name=topic,
            partitions=tuple(OffsetDeleteRequestPartition(partition_index=number) for number in numbers),
        )
        for topic, numbers in by_topic(partitions).items()
    )
    request = OffsetDeleteRequest(group_id=group, topics=topics)
    answer: OffsetDeleteResponse = broker.call(ApiKey.OFFSET_DELETE, request)
    return answer
