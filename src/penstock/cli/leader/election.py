"""Asking the controller to elect leaders: the preferred ones, or any replica at the price of records."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from penstock.cli.failure import CommandFailed
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import TopicPartition
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.elect_leaders import (
    PREFERRED_ELECTION,
    UNCLEAN_ELECTION,
    ElectLeadersRequest,
    TopicPartitions,
)
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.controller import ask_controller
from penstock.wire_client.errors import RefusedError, check
from penstock.wire_client.topics import by_topic

_ELECTION_TYPE_VERSION = 1
"""Of ElectLeaders: the first in which there is more than one kind of election."""


class ElectionOutcome(StrEnum):
    """What became of one partition."""

    ELECTED = "elected"
    UNCHANGED = "unchanged"
    """It is led as it should be."""
    REFUSED = "refused"


class ElectionResult(NamedTuple):
    """The outcome for one partition, and the refusal if there is one."""

    where: TopicPartition
    outcome: ElectionOutcome
    refusal: RefusedError | None

    def as_json(self) -> dict[str, Any]:
        """The fields under their names."""
        problem = None if self.refusal is None else str(self.refusal)
        return {
            "topic": self.where.topic,
            "partition": self.where.partition,
            "outcome": self.outcome,
            "error": problem,
        }


def elect_leaders(
    cluster: Cluster, partitions: Sequence[TopicPartition] | None, *, is_unclean: bool
) -> list[ElectionResult]:
    """Elect leaders of these partitions or of all; of all, brokers tell only those that had to change."""
    _check_version(cluster, is_unclean=is_unclean)
    request = ElectLeadersRequest(
        election_type=UNCLEAN_ELECTION if is_unclean else PREFERRED_ELECTION,
        topic_partitions=None if partitions is None else _topics(partitions),
    )
    answer = ask_controller(cluster, ApiKey.ELECT_LEADERS, request)
    check(answer.error_code, doing="elect leaders")
    return sorted(
        _result(TopicPartition(topic.topic, each.partition_id), each.error_code, each.error_message)
        for topic in answer.replica_election_results
        for each in topic.partition_result
    )


def _check_version(cluster: Cluster, *, is_unclean: bool) -> None:
    broker = cluster.any_broker()
    if is_unclean and broker.version(ApiKey.ELECT_LEADERS) < _ELECTION_TYPE_VERSION:
        raise CommandFailed("The brokers are too old to elect a replica that is not in sync.")


def _topics(partitions: Iterable[TopicPartition]) -> tuple[TopicPartitions, ...]:
    return tuple(
        TopicPartitions(topic=topic, partitions=tuple(numbers))
        for topic, numbers in by_topic(partitions).items()
    )


def _result(where: TopicPartition, code: int, message: str | None) -> ElectionResult:
    if code == ErrorCode.NONE:
        return ElectionResult(where, ElectionOutcome.ELECTED, None)
    if code == ErrorCode.ELECTION_NOT_NEEDED:
        return ElectionResult(where, ElectionOutcome.UNCHANGED, None)
    refusal = RefusedError(code, doing=f"elect a leader of {where}", detail=message)
    return ElectionResult(where, ElectionOutcome.REFUSED, refusal)
