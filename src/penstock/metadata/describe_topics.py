"""Metadata: how clients find brokers, topics and the leaders of partitions."""

from collections.abc import Iterable, Mapping

from penstock.metadata.image import ClusterImage
from penstock.metadata.operations import CLUSTER_OPERATIONS, OPERATIONS_NOT_ASKED, TOPIC_OPERATIONS
from penstock.metadata.topic_image import PartitionImage, TopicImage
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import ZERO_TOPIC_ID, NodeId
from penstock.model.names import INTERNAL_TOPICS, check_topic_name
from penstock.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

NO_LEADER = NodeId(-1)
ALL_WHEN_EMPTY_VERSION = 0
LISTENER_NOT_FOUND_SINCE_VERSION = 6
IDS_SINCE_VERSION = 12


def wants_all(request: MetadataRequest, version: int) -> bool:
    """Whether every topic is asked for: by null, or at version 0 by an empty list."""
    return request.topics is None or (version == ALL_WHEN_EMPTY_VERSION and not request.topics)


def missing_topics(image: ClusterImage, request: MetadataRequest, version: int) -> list[str]:
    """Names asked for that are no topics; creating them is the caller's affair."""
    if wants_all(request, version):
        return []
    names = dict.fromkeys(each.name for each in request.topics or () if each.topic_id == ZERO_TOPIC_ID)
    return [name for name in names if name is not None and name not in image.topics]


def describe_topics(
    image: ClusterImage,
    request: MetadataRequest,
    *,
    version: int,
    cluster_id: str,
    controller_id: NodeId,
    listener: str,
    failures: Mapping[str, ErrorCode] | None = None,
) -> MetadataResponse:
    """The answer to a Metadata request; ``failures`` says why topics could not be created on the way."""
    view = _View(
        image,
        version=version,
        listener=listener,
        failures=failures or {},
        operations=TOPIC_OPERATIONS if request.include_topic_authorized_operations else OPERATIONS_NOT_ASKED,
    )
    asked = request.include_cluster_authorized_operations
    return MetadataResponse(
        brokers=tuple(view.brokers()),
        cluster_id=cluster_id,
        controller_id=controller_id,
        topics=tuple(view.topics(request)),
        cluster_authorized_operations=CLUSTER_OPERATIONS if asked else OPERATIONS_NOT_ASKED,
    )


def online_leader(image: ClusterImage, partition: PartitionImage, listener: str) -> NodeId:
    """The leader if clients of a listener can reach it, else none."""
    broker = image.brokers.get(partition.leader)
    is_online = broker is not None and not broker.is_fenced and broker.endpoint(listener) is not None
    return partition.leader if is_online else NO_LEADER


def offline_replicas(image: ClusterImage, partition: PartitionImage, listener: str) -> tuple[NodeId, ...]:
    """The replicas that clients of a listener cannot reach."""
    return tuple(
        node_id
        for node_id in partition.replicas
        if (broker := image.brokers.get(node_id)) is None
        or broker.is_fenced
        or broker.endpoint(listener) is None
    )


def why_unknown(name: str) -> ErrorCode:
    """The code for a name that is no topic: because it is not there, or because it never could be."""
    try:
        check_topic_name(name)
    except ApiError as error:
        return error.code
    return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


class _View:
    """An image, as a client of one listener sees it at one version."""

    def __init__(
        self,
        image: ClusterImage,
        *,
        version: int,
        listener: str,
        failures: Mapping[str, ErrorCode],
        operations: int,
    ) -> None:
        self._image = image
        self._version = version
        self._listener = listener
        self._failures = failures
        self._operations = operations

    def brokers(self) -> Iterable[MetadataResponseBroker]:
        for broker in self._image.live_brokers():
            endpoint = broker.endpoint(self._listener)
            if endpoint is not None:
                yield MetadataResponseBroker(
                    node_id=broker.node_id, host=endpoint.host, port=endpoint.port, rack=broker.rack
                )

    def topics(self, request: MetadataRequest) -> Iterable[MetadataResponseTopic]:
        if wants_all(request, self._version):
            return map(self._known, self._image.topics.values())
        return map(self._asked, dict.fromkeys(request.topics or ()))

    def _asked(self, asked: MetadataRequestTopic) -> MetadataResponseTopic:
        has_id = asked.topic_id != ZERO_TOPIC_ID
        if (has_id and self._version < IDS_SINCE_VERSION) or (asked.name is None and not has_id):
            return self._refused(asked, ErrorCode.INVALID_REQUEST)
        if has_id:
            by_id = self._image.topics_by_id.get(asked.topic_id)
            return self._known(by_id) if by_id else self._refused(asked, ErrorCode.UNKNOWN_TOPIC_ID)
        assert asked.name is not None
        by_name = self._image.topics.get(asked.name)
        if by_name is not None:
            return self._known(by_name)
        return self._refused(asked, self._failures.get(asked.name) or why_unknown(asked.name))

    def _refused(self, asked: MetadataRequestTopic, code: ErrorCode) -> MetadataResponseTopic:
        """An error; an id that is unknown has no name, and before version 12 a name cannot be null."""
        name = asked.name
        if code is ErrorCode.UNKNOWN_TOPIC_ID:
            name = None
        elif name is None and self._version < IDS_SINCE_VERSION:
            name = ""
        return MetadataResponseTopic(
            error_code=code,
            name=name,
            topic_id=asked.topic_id,
            is_internal=name in INTERNAL_TOPICS,
            topic_authorized_operations=self._operations,
        )

    def _known(self, topic: TopicImage) -> MetadataResponseTopic:
        return MetadataResponseTopic(
            name=topic.name,
            topic_id=topic.topic_id,
            is_internal=topic.name in INTERNAL_TOPICS,
            partitions=tuple(
                self._partition(index, partition) for index, partition in enumerate(topic.partitions)
            ),
            topic_authorized_operations=self._operations,
        )

    def _partition(self, index: int, partition: PartitionImage) -> MetadataResponsePartition:
        leader = online_leader(self._image, partition, self._listener)
        return MetadataResponsePartition(
            error_code=ErrorCode.NONE if leader != NO_LEADER else self._why_no_leader(partition),
            partition_index=index,
            leader_id=leader,
            leader_epoch=partition.leader_epoch,
            replica_nodes=partition.replicas,
            isr_nodes=partition.isr,
            offline_replicas=offline_replicas(self._image, partition, self._listener),
        )

    def _why_no_leader(self, partition: PartitionImage) -> ErrorCode:
        broker = self._image.brokers.get(partition.leader)
        if broker is not None and not broker.is_fenced and self._version >= LISTENER_NOT_FOUND_SINCE_VERSION:
            return ErrorCode.LISTENER_NOT_FOUND
        return ErrorCode.LEADER_NOT_AVAILABLE
