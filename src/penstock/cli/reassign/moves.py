"""Moves of replicas on the wire: begin them, look at them, call them off."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.cli.failure import CommandFailed
from penstock.cli.reassign.plan import Assignment, Replicas
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import TopicPartition
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from penstock.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.controller import ask_controller
from penstock.wire_client.errors import NotServedError, RefusedError, check
from penstock.wire_client.topics import PARTITIONS_PER_REQUEST_MAX, by_topic


@dataclass(frozen=True, slots=True, kw_only=True)
class OngoingMove:
    """A partition on the move: all its replicas at present, those being added, those to go."""

    replicas: Replicas
    adding: Replicas
    removing: Replicas


Refusals = dict[TopicPartition, RefusedError]
"""Partitions that the controller did not agree on, and why."""


def require_reassignments(cluster: Cluster) -> None:
    """Fail with a sentence where replicas cannot be moved through the protocol at all."""
    if not cluster.any_broker().serves(ApiKey.ALTER_PARTITION_REASSIGNMENTS):
        raise CommandFailed(
            "The cluster does not serve AlterPartitionReassignments.",
            hint="Its brokers are older than Kafka 2.4, or of a kind that cannot move replicas.",
        )


def ongoing_moves(
    cluster: Cluster, partitions: Iterable[TopicPartition] | None = None
) -> dict[TopicPartition, OngoingMove]:
    """What moves among these partitions, or anywhere; in order. Nothing where it cannot be asked."""
    request = ListPartitionReassignmentsRequest(topics=None if partitions is None else _topics(partitions))
    try:
        answer = ask_controller(cluster, ApiKey.LIST_PARTITION_REASSIGNMENTS, request)
    except NotServedError:
        return {}
    check(answer.error_code, doing="list reassignments", detail=answer.error_message)
    found = {
        TopicPartition(topic.name, partition.partition_index): OngoingMove(
            replicas=partition.replicas,
            adding=partition.adding_replicas,
            removing=partition.removing_replicas,
        )
        for topic in answer.topics
        for partition in topic.partitions
    }
    return dict(sorted(found.items()))


def begin_moves(cluster: Cluster, assignment: Assignment) -> Refusals:
    """Have partitions moved; one that is refused does not keep the others."""
    return _alter(cluster, assignment, doing="move")


def cancel_moves(cluster: Cluster, partitions: Iterable[TopicPartition]) -> Refusals:
    """Call moves off; partitions go back to where they were. Those that do not move are refused."""
    return _alter(cluster, dict.fromkeys(partitions), doing="stop moving")


def is_not_moving(refusal: RefusedError | None) -> bool:
    """Whether there was no move to call off."""
    return refusal is not None and refusal.code == ErrorCode.NO_REASSIGNMENT_IN_PROGRESS


def _alter(cluster: Cluster, wanted: Mapping[TopicPartition, Replicas | None], *, doing: str) -> Refusals:
    refusals: Refusals = {}
    ordered = sorted(wanted)
    for start in range(0, len(ordered), PARTITIONS_PER_REQUEST_MAX):
        batch = ordered[start : start + PARTITIONS_PER_REQUEST_MAX]
        request = AlterPartitionReassignmentsRequest(topics=_reassignable(batch, wanted))
        answer = ask_controller(cluster, ApiKey.ALTER_PARTITION_REASSIGNMENTS, request)
        check(answer.error_code, doing=f"{doing} partitions", detail=answer.error_message)
        refusals |= _refusals(answer, doing)
    return refusals


def _refusals(answer: Any, doing: str) -> Refusals:
    return {
        where: RefusedError(result.error_code, doing=f"{doing} {where}", detail=result.error_message)
        for topic in answer.responses
        for result in topic.partitions
        if result.error_code != ErrorCode.NONE
        for where in [TopicPartition(topic.name, result.partition_index)]
    }


def _reassignable(
    partitions: Sequence[TopicPartition], wanted: Mapping[TopicPartition, Replicas | None]
) -> tuple[ReassignableTopic, ...]:
    return tuple(
        ReassignableTopic(
            name=topic,
            partitions=tuple(
                ReassignablePartition(partition_index=number, replicas=wanted[TopicPartition(topic, number)])
                for number in numbers
            ),
        )
        for topic, numbers in by_topic(partitions).items()
    )


def _topics(partitions: Iterable[TopicPartition]) -> tuple[ListPartitionReassignmentsTopics, ...]:
    return tuple(
        ListPartitionReassignmentsTopics(name=topic, partition_indexes=tuple(numbers))
        for topic, numbers in by_topic(sorted(partitions)).items()
    )
