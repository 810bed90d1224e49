"""CreateTopics: each topic of a request is checked, placed and turned into records, or refused.

Records of a topic: the topic, its settings, its partitions, in this order. Topics of one request see each
other: two names that become one in metrics, or more partitions together than a cluster may have, are refused.
"""

from collections.abc import Callable

from penstock.config.broker_config import BrokerConfig
from penstock.config.topic_config import topic_config
from penstock.metadata.assignments import check_assignment, new_partition_record
from penstock.metadata.config_rules import check_topic_configs
from penstock.metadata.image import ClusterImage
from penstock.metadata.outcome import duplicates, invalid_request, message_of
from penstock.metadata.placement import Placement, Replicas, place
from penstock.metadata.records import ConfigRecord, MetadataRecord, TopicRecord
from penstock.metadata.resources import ResourceType
from penstock.metadata.result import Result
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import ZERO_TOPIC_ID, TopicId
from penstock.model.limits import (
    PARTITIONS_PER_CLUSTER_MAX,
    PARTITIONS_PER_TOPIC_MAX,
    TOPICS_PER_REQUEST_MAX,
)
from penstock.model.names import METADATA_TOPIC, check_topic_name, metric_name
from penstock.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)

DEFAULT = -1
"""In a request: take the broker's default."""

NewId = Callable[[], bytes]


def create_topics(
    image: ClusterImage, request: CreateTopicsRequest, *, config: BrokerConfig, new_id: NewId
) -> Result[CreateTopicsResponse]:
    """Decide on the topics of a request, each by itself; ``config`` gives the defaults."""
    creation = _Creation(image, config, new_id, is_dry_run=request.validate_only)
    refused = _refused_outright(request)
    results = {
        topic.name: _refusal(topic.name, refused[topic.name])
        if topic.name in refused
        else creation.attempt(topic)
        for topic in request.topics
    }
    response = CreateTopicsResponse(topics=tuple(results.values()))
    return Result(records=tuple(creation.records), response=response)


def _refused_outright(request: CreateTopicsRequest) -> dict[str, ApiError]:
    """Topics that need no closer look."""
    names = [topic.name for topic in request.topics]
    if len(names) > TOPICS_PER_REQUEST_MAX:
        limit = f"A request may create {TOPICS_PER_REQUEST_MAX} topics, this one has {len(names)}."
        return dict.fromkeys(names, ApiError(ErrorCode.POLICY_VIOLATION, limit))
    return dict.fromkeys(duplicates(names), invalid_request("Duplicate topic name."))


class _Creation:
    """The topics of one request, as far as they have been decided."""

    def __init__(self, image: ClusterImage, config: BrokerConfig, new_id: NewId, *, is_dry_run: bool) -> None:
        self.records: list[MetadataRecord] = []
        self._image = image
        self._config = config
        self._new_id = new_id
        self._is_dry_run = is_dry_run
        self._new_partitions = 0
        self._new_metric_names: dict[str, str] = {}

    def attempt(self, topic: CreatableTopic) -> CreatableTopicResult:
        """Create one topic, or say why not; a refused topic leaves no trace."""
        try:
            self._check_name(topic.name)
            overrides = _overrides(topic)
            check_topic_configs(overrides, self._config)
            replicas = self._assign(topic)
        except ApiError as error:
            return _refusal(topic.name, error)
        topic_id = ZERO_TOPIC_ID if self._is_dry_run else TopicId(self._new_id())
        self._new_partitions += len(replicas)
        self._new_metric_names[metric_name(topic.name)] = topic.name
        if not self._is_dry_run:
            self._record(topic.name, topic_id, overrides, replicas)
        return CreatableTopicResult(
            name=topic.name,
            topic_id=topic_id,
            num_partitions=len(replicas),
            replication_factor=len(replicas[0]),
            configs=_effective(overrides, self._config),
        )

    def _record(
        self, name: str, topic_id: TopicId, overrides: dict[str, str], replicas: tuple[Replicas, ...]
    ) -> None:
        self.records.append(TopicRecord(name=name, topic_id=topic_id))
        self.records += (
            ConfigRecord(resource_type=ResourceType.TOPIC, resource_name=name, name=key, value=value)
            for key, value in overrides.items()
        )
        self.records += (
            new_partition_record(self._image, topic_id, index, replicas=each)
            for index, each in enumerate(replicas)
        )

    def _check_name(self, name: str) -> None:
        check_topic_name(name)
        if name == METADATA_TOPIC:
            raise invalid_request(f"Creation of internal topic {METADATA_TOPIC} is prohibited.")
        if name in self._image.topics:
            raise ApiError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
        key = metric_name(name)
        other = self._image.metric_names.get(key) or self._new_metric_names.get(key)
        if other is not None:
            raise ApiError(
                ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic '{name}' collides with existing topic: {other}"
            )

    def _assign(self, topic: CreatableTopic) -> tuple[Replicas, ...]:
        if topic.assignments:
            replicas = self._assign_as_told(topic)
            self._check_partition_count(len(replicas))
            return replicas
        if topic.replication_factor < DEFAULT or topic.replication_factor == 0:
            raise ApiError(
                ErrorCode.INVALID_REPLICATION_FACTOR,
                "Replication factor must be larger than 0, or -1 to use the default value.",
            )
        if topic.num_partitions < DEFAULT or topic.num_partitions == 0:
            raise ApiError(
                ErrorCode.INVALID_PARTITIONS, "Number of partitions was set to an invalid non-positive value."
            )
        wanted = Placement(
            partitions=self._given_or("num.partitions", topic.num_partitions),
            replication_factor=self._given_or("default.replication.factor", topic.replication_factor),
            start=self._image.partition_count + self._new_partitions,
        )
        self._check_partition_count(wanted.partitions)
        return place(self._image.brokers.values(), wanted)

    def _given_or(self, key: str, given: int) -> int:
        return self._config.integer(key) if given == DEFAULT else given

    def _assign_as_told(self, topic: CreatableTopic) -> tuple[Replicas, ...]:
        if topic.replication_factor != DEFAULT:
            raise invalid_request(
                "A manual partition assignment was specified, but replication factor was not set to -1."
            )
        if topic.num_partitions != DEFAULT:
            raise invalid_request(
                "A manual partition assignment was specified, but numPartitions was not set to -1."
            )
        found: dict[int, Replicas] = {}
        for each in topic.assignments:
            if each.partition_index in found:
                raise _bad_assignment(
                    f"Found multiple manual partition assignments for partition {each.partition_index}"
                )
            count = len(next(iter(found.values()))) if found else None
            found[each.partition_index] = check_assignment(self._image, each.broker_ids, replica_count=count)
        if found.keys() != set(range(len(found))):
            raise _bad_assignment("partitions should be a consecutive 0-based integer sequence")
        return tuple(found[index] for index in range(len(found)))

    def _check_partition_count(self, count: int) -> None:
        if count > PARTITIONS_PER_TOPIC_MAX:
            raise ApiError(
                ErrorCode.INVALID_PARTITIONS,
                f"A topic may have {PARTITIONS_PER_TOPIC_MAX} partitions, {count} were asked for.",
            )
        if self._image.partition_count + self._new_partitions + count > PARTITIONS_PER_CLUSTER_MAX:
            raise ApiError(
                ErrorCode.POLICY_VIOLATION, f"A cluster may have {PARTITIONS_PER_CLUSTER_MAX} partitions."
            )


def _overrides(topic: CreatableTopic) -> dict[str, str]:
    missing = [each.name for each in topic.configs if each.value is None]
    if missing:
        raise ApiError(
            ErrorCode.INVALID_CONFIG, f"Null value not supported for topic configs: {','.join(missing)}"
        )
    return {each.name: each.value for each in topic.configs if each.value is not None}


def _effective(overrides: dict[str, str], broker: BrokerConfig) -> tuple[CreatableTopicConfigs, ...]:
    config = topic_config(overrides, broker)
    return tuple(
        CreatableTopicConfigs(name=name, value=config.text(name), config_source=config.source(name))
        for name in config
    )


def _refusal(name: str, error: ApiError) -> CreatableTopicResult:
    return CreatableTopicResult(name=name, error_code=error.code, error_message=message_of(error))


def _bad_assignment(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
