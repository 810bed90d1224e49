"""Requests of administrators, and the one error code in each of their answers."""

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.model.error_codes import ErrorCode
from penstock.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from penstock.wire.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from penstock.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from penstock.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from penstock.wire.messages.elect_leaders import PREFERRED_ELECTION, ElectLeadersRequest, TopicPartitions
from penstock.wire.messages.incremental_alter_configs import (
    SET,
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)

CREATE_VERSION = 7
DELETE_VERSION = 6
GROW_VERSION = 3
REASSIGN_VERSION = 1
ELECT_VERSION = 2
ALTER_CONFIGS_VERSION = 1
TIMEOUT_MS = 5000


def create_request(topic: str, partitions: int, replication_factor: int) -> CreateTopicsRequest:
    """Make one topic."""
    wanted = CreatableTopic(name=topic, num_partitions=partitions, replication_factor=replication_factor)
    return CreateTopicsRequest(topics=(wanted,))


def grow_request(topic: str, partitions: int) -> CreatePartitionsRequest:
    """Let a topic have so many partitions."""
    wanted = CreatePartitionsTopic(name=topic, count=partitions, assignments=None)
    return CreatePartitionsRequest(topics=(wanted,), timeout_ms=TIMEOUT_MS)


def delete_request(topic: str) -> DeleteTopicsRequest:
    """Delete one topic."""
    return DeleteTopicsRequest(topics=(DeleteTopicState(name=topic),), timeout_ms=TIMEOUT_MS)


def reassign_request(
    topic: str, partition: int, replicas: Sequence[int]
) -> AlterPartitionReassignmentsRequest:
    """Move one partition."""
    place = ReassignablePartition(partition_index=partition, replicas=tuple(replicas))
    return AlterPartitionReassignmentsRequest(
        timeout_ms=TIMEOUT_MS, topics=(ReassignableTopic(name=topic, partitions=(place,)),)
    )


def elect_request(topic: str, partition: int) -> ElectLeadersRequest:
    """Let the preferred replica of one partition lead."""
    return ElectLeadersRequest(
        election_type=PREFERRED_ELECTION,
        topic_partitions=(TopicPartitions(topic=topic, partitions=(partition,)),),
        timeout_ms=TIMEOUT_MS,
    )


def alter_configs_request(
    resource_type: int, name: str, configs: Mapping[str, str]
) -> IncrementalAlterConfigsRequest:
    """Set some settings of one topic or of brokers."""
    changes = tuple(
        AlterableConfig(name=key, config_operation=SET, value=value) for key, value in configs.items()
    )
    resource = AlterConfigsResource(resource_type=resource_type, resource_name=name, configs=changes)
    return IncrementalAlterConfigsRequest(resources=(resource,))


def outcome_code(answer: Any) -> int:
    """The error of the one thing that was asked for."""
    whole = getattr(answer, "error_code", ErrorCode.NONE)
    return int(whole) or _code_of_one(answer)


def _code_of_one(answer: Any) -> int:
    for name in ("topics", "responses", "results", "replica_election_results"):
        if hasattr(answer, name):
            (result,) = getattr(answer, name)
            break
    for name in ("partitions", "partition_result"):
        if hasattr(result, name):
            (result,) = getattr(result, name)
    return int(result.error_code)
