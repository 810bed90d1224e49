"""Answers to administrators: the one error code, wherever an API hides it."""

import pytest

from penstock.model.error_codes import ErrorCode
from penstock.sim.workloads.admin_requests import outcome_code
from penstock.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsResponse,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from penstock.wire.messages.create_partitions import CreatePartitionsResponse, CreatePartitionsTopicResult
from penstock.wire.messages.create_topics import CreatableTopicResult, CreateTopicsResponse
from penstock.wire.messages.delete_topics import DeletableTopicResult, DeleteTopicsResponse
from penstock.wire.messages.elect_leaders import ElectLeadersResponse, PartitionResult, ReplicaElectionResult
from penstock.wire.messages.incremental_alter_configs import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsResponse,
)
from penstock.wire.schema import Struct

CODE = ErrorCode.NOT_CONTROLLER


@pytest.mark.parametrize(
    "answer",
    [
        CreateTopicsResponse(topics=(CreatableTopicResult(error_code=CODE),)),
        DeleteTopicsResponse(responses=(DeletableTopicResult(error_code=CODE),)),
        CreatePartitionsResponse(results=(CreatePartitionsTopicResult(error_code=CODE),)),
        IncrementalAlterConfigsResponse(responses=(AlterConfigsResourceResponse(error_code=CODE),)),
        AlterPartitionReassignmentsResponse(
            responses=(
                ReassignableTopicResponse(partitions=(ReassignablePartitionResponse(error_code=CODE),)),
            )
        ),
        AlterPartitionReassignmentsResponse(error_code=CODE),
        ElectLeadersResponse(
            replica_election_results=(
                ReplicaElectionResult(partition_result=(PartitionResult(error_code=CODE),)),
            )
        ),
        ElectLeadersResponse(error_code=CODE),
    ],
    ids=lambda answer: type(answer).__name__,
)
def test_error_of_the_one_thing_that_was_asked_is_found(answer: Struct) -> None:
    assert outcome_code(answer) == CODE
