"""ElectLeaders: elections that somebody asks for, and those that keep leadership where it is preferred."""

from collections.abc import Iterator

from penstock.metadata.image import ClusterImage
from penstock.metadata.leadership import circumstances_in, is_active, partitions_of
from penstock.metadata.outcome import message_of
from penstock.metadata.partition_change import Election, as_it_is, change_partition
from penstock.metadata.records import PartitionChangeRecord
from penstock.metadata.replication_rules import topic_rules
from penstock.metadata.result import Result
from penstock.metadata.topic_image import PartitionImage, TopicImage
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.wire.messages.elect_leaders import (
    PREFERRED_ELECTION,
    UNCLEAN_ELECTION,
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)

_ELECTIONS = {PREFERRED_ELECTION: Election.PREFERRED, UNCLEAN_ELECTION: Election.UNCLEAN}


def elect_leaders(image: ClusterImage, request: ElectLeadersRequest) -> Result[ElectLeadersResponse]:
    """Decide on the partitions of a request, each by itself; of all, it tells only those that needed it."""
    election = _ELECTIONS.get(request.election_type)
    if election is None:
        return Result(records=(), response=ElectLeadersResponse(error_code=ErrorCode.INVALID_REQUEST))
    records: dict[tuple[str, int], PartitionChangeRecord] = {}
    results: dict[str, list[PartitionResult]] = {}
    for topic, index in _asked(image, request):
        outcomes = results.setdefault(topic, [])
        try:
            records[topic, index] = _elect(image, topic, index, election=election)
            outcomes.append(PartitionResult(partition_id=index))
        except ApiError as error:
            if request.topic_partitions is not None or error.code is not ErrorCode.ELECTION_NOT_NEEDED:
                outcomes.append(_refusal(index, error))
    response = ElectLeadersResponse(
        replica_election_results=tuple(
            ReplicaElectionResult(topic=topic, partition_result=tuple(each))
            for topic, each in results.items()
        )
    )
    return Result(records=tuple(records.values()), response=response)


def preferred_elections(image: ClusterImage, *, limit: int) -> tuple[PartitionChangeRecord, ...]:
    """Give leadership back to preferred replicas that are in sync again, of at most ``limit`` partitions."""
    records: list[PartitionChangeRecord] = []
    for topic, index, partition in partitions_of(image):
        if len(records) == limit:
            break
        if _could_be_led_by_preferred(image, partition):
            records.append(_elect(image, topic.name, index, election=Election.PREFERRED))
    return tuple(records)


def _could_be_led_by_preferred(image: ClusterImage, partition: PartitionImage) -> bool:
    preferred = partition.replicas[0]
    return partition.leader != preferred and preferred in partition.isr and is_active(image, preferred)


def _asked(image: ClusterImage, request: ElectLeadersRequest) -> Iterator[tuple[str, int]]:
    if request.topic_partitions is None:
        return ((place.topic.name, place.partition_index) for place in partitions_of(image))
    return ((each.topic, index) for each in request.topic_partitions for index in each.partitions)


def _elect(image: ClusterImage, name: str, index: int, *, election: Election) -> PartitionChangeRecord:
    topic = image.topics.get(name)
    if topic is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such topic as {name}")
    if not 0 <= index < len(topic.partitions):
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such partition as {name}-{index}")
    partition = topic.partitions[index]
    if _is_needless(partition, election):
        raise ApiError(ErrorCode.ELECTION_NOT_NEEDED, "Leader election not needed for topic partition.")
    record = _record(image, topic, index, election=election)
    if record is None:
        raise _nobody(election)
    return record


def _record(
    image: ClusterImage, topic: TopicImage, index: int, *, election: Election
) -> PartitionChangeRecord | None:
    partition = topic.partitions[index]
    circumstances = circumstances_in(image, topic_rules(image, topic.name), election=election)
    return change_partition(
        partition, as_it_is(partition), circumstances, topic_id=topic.topic_id, index=index
    )


def _is_needless(partition: PartitionImage, election: Election) -> bool:
    if election is Election.PREFERRED:
        return partition.leader == partition.replicas[0]
    return partition.has_leader


def _nobody(election: Election) -> ApiError:
    if election is Election.PREFERRED:
        return ApiError(ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE, "The preferred leader was not available.")
    return ApiError(
        ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE,
        "Eligible topic partition leaders are not available.",
    )


def _refusal(index: int, error: ApiError) -> PartitionResult:
    return PartitionResult(partition_id=index, error_code=error.code, error_message=message_of(error))
