from penstock.broker.metrics.response_errors import response_errors
from penstock.wire.messages.api_versions import ApiVersionsResponse
from penstock.wire.messages.create_topics import CreatableTopicResult, CreateTopicsResponse
from penstock.wire.messages.join_cluster import JoinClusterResponse
from penstock.wire.messages.offset_commit import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)


def test_error_at_the_top_is_found() -> None:
    assert list(response_errors(ApiVersionsResponse(error_code=35))) == [35]


def test_error_of_every_part_is_found() -> None:
    partitions = tuple(OffsetCommitResponsePartition(error_code=code) for code in (0, 16, 16))
    response = OffsetCommitResponse(
        topics=(
            OffsetCommitResponseTopic(partitions=partitions),
            OffsetCommitResponseTopic(partitions=(OffsetCommitResponsePartition(error_code=3),)),
        )
    )
    assert list(response_errors(response)) == [16, 16, 3]


def test_good_answer_has_none() -> None:
    assert list(response_errors(CreateTopicsResponse(topics=(CreatableTopicResult(),)))) == []
    assert list(response_errors(JoinClusterResponse())) == []
