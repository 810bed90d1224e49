"""The handlers of administration requests, over a quorum that lives in memory; every answer goes by wire."""

import asyncio
from collections.abc import Callable
from importlib import import_module
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar, cast

import pytest

from penstock.broker.clock import SystemClock
from penstock.broker.control.channel import ControllerChannel
from penstock.broker.control.following import ImageFollower
from penstock.config.broker_config import BrokerConfig
from penstock.config.sources import load_broker_config
from penstock.metadata.effective_config import broker_config_in
from penstock.metadata.features import missing_features
from penstock.metadata.image import ClusterImage
from penstock.metadata.records import BrokerEndpoint, RegisterBrokerRecord
from penstock.metadata.result import Result
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import NodeId
from penstock.wire.api_keys import APIS, ApiKey
from penstock.wire.compiler import decode_struct, encode_struct
from penstock.wire.framing import RequestHeader
from penstock.wire.messages import alter_configs as whole
from penstock.wire.messages import incremental_alter_configs as incremental
from penstock.wire.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from penstock.wire.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from penstock.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from penstock.wire.messages.describe_cluster import DescribeClusterRequest
from penstock.wire.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from penstock.wire.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    RequestCursor,
    TopicRequest,
)
from penstock.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from penstock.wire.schema import Struct

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

R = TypeVar("R")
TOPIC = 2


class MemoryQuorum:
    """Decides and applies as the real one does, but keeps no log; ``error`` stands for a log that fails."""

    is_leader = True

    def __init__(self, broker: "MemoryBroker") -> None:
        self._broker = broker
        self.error: ApiError | None = None
        self.applied_offset = 0

    async def submit_at(self, decide: Callable[[ClusterImage, int], Result[R]]) -> R:
        result = decide(self._broker.image, self.applied_offset)
        if self.error is not None and result.records:
            raise self.error
        self._broker.follow(self._broker.image.apply(result.records))
        self.applied_offset += len(result.records)
        return result.response

    async def wait_applied(self, offset: int, *, seconds_max: float) -> bool:
        return offset <= self.applied_offset


class MemoryBroker:
    """What the handlers use of a broker."""

    def __init__(self, **flags: str) -> None:
        self._started_with = load_broker_config(flags=flags)
        self.config: BrokerConfig = self._started_with
        self.node_id = self.controller_id = NodeId(1)
        self.clock = SystemClock()
        self.follower = ImageFollower(lambda: (self.image, self.quorum.applied_offset), self._follow)
        self.control = ControllerChannel(cast("Broker", self))
        self.cluster_id = "cluster"
        self.quorum = MemoryQuorum(self)
        self.entropy = self
        self._numbers = count(1)
        self.image = ClusterImage().apply(
            [
                *missing_features(ClusterImage()),
                RegisterBrokerRecord(
                    broker_id=self.node_id,
                    end_points=(BrokerEndpoint(name="PLAINTEXT", host="localhost", port=9092),),
                    fenced=False,
                    log_dirs=(b"d" * 16,),
                ),
            ]
        )

    def uuid(self) -> bytes:
        return next(self._numbers).to_bytes(16, "big")

    def follow(self, image: ClusterImage) -> None:
        self.image = image
        self.config = broker_config_in(image, self._started_with)

    async def _follow(self, before: ClusterImage, image: ClusterImage) -> None:
        """There is nothing beside the image."""

    def call(self, key: ApiKey, request: Struct, version: int | None = None) -> Any:
        """Handle a request as it arrives at a version, and read the answer as a client would."""
        spec = APIS[key]
        version = spec.max_version if version is None else version
        flexible = spec.is_flexible(version)
        arrived = decode_struct(
            spec.request,
            encode_struct(request, version=version, flexible=flexible),
            version=version,
            flexible=flexible,
        )
        header = RequestHeader(key, version, 1, "test", 0)
        handle = import_module(f"penstock.broker.apis.{key.name.lower()}").handle
        answer = asyncio.run(handle(cast("Broker", self), arrived, header))
        sent = encode_struct(answer, version=version, flexible=flexible)
        return decode_struct(spec.response, sent, version=version, flexible=flexible)


def make_topics(*names: str, **rest: Any) -> CreateTopicsRequest:
    return CreateTopicsRequest(
        topics=tuple(CreatableTopic(name=name, num_partitions=1, replication_factor=1) for name in names),
        **rest,
    )


@pytest.fixture
def broker() -> MemoryBroker:
    broker = MemoryBroker()
    broker.call(ApiKey.CREATE_TOPICS, make_topics("orders"))
    return broker


SAMPLES: dict[ApiKey, Struct] = {
    ApiKey.METADATA: MetadataRequest(
        topics=(MetadataRequestTopic(name="orders"), MetadataRequestTopic(name="a b"))
    ),
    ApiKey.CREATE_TOPICS: CreateTopicsRequest(
        topics=(
            CreatableTopic(
                name="new",
                num_partitions=2,
                replication_factor=1,
                configs=(CreatableTopicConfig(name="retention.ms", value="5"),),
            ),
            CreatableTopic(name="orders", num_partitions=1, replication_factor=1),
        )
    ),
    ApiKey.DELETE_TOPICS: DeleteTopicsRequest(
        topics=(DeleteTopicState(name="orders"), DeleteTopicState(name="x")), topic_names=("orders", "x")
    ),
    ApiKey.CREATE_PARTITIONS: CreatePartitionsRequest(
        topics=(CreatePartitionsTopic(name="orders", count=3), CreatePartitionsTopic(name="x", count=3))
    ),
    ApiKey.DESCRIBE_CONFIGS: DescribeConfigsRequest(
        resources=(
            DescribeConfigsResource(resource_type=TOPIC, resource_name="orders"),
            DescribeConfigsResource(resource_type=TOPIC, resource_name="x"),
        ),
        include_synonyms=True,
        include_documentation=True,
    ),
    ApiKey.ALTER_CONFIGS: whole.AlterConfigsRequest(
        resources=tuple(
            whole.AlterConfigsResource(
                resource_type=TOPIC,
                resource_name=name,
                configs=(whole.AlterableConfig(name="retention.ms", value="5"),),
            )
            for name in ("orders", "x")
        )
    ),
    ApiKey.INCREMENTAL_ALTER_CONFIGS: incremental.IncrementalAlterConfigsRequest(
        resources=tuple(
            incremental.AlterConfigsResource(
                resource_type=TOPIC,
                resource_name=name,
                configs=(incremental.AlterableConfig(name="retention.ms", value="5"),),
            )
            for name in ("orders", "x")
        )
    ),
    ApiKey.DESCRIBE_CLUSTER: DescribeClusterRequest(),
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: DescribeTopicPartitionsRequest(
        topics=(TopicRequest(name="orders"), TopicRequest(name="x"))
    ),
}
RESULTS = {
    ApiKey.METADATA: "topics",
    ApiKey.CREATE_TOPICS: "topics",
    ApiKey.DELETE_TOPICS: "responses",
    ApiKey.CREATE_PARTITIONS: "results",
    ApiKey.DESCRIBE_CONFIGS: "results",
    ApiKey.ALTER_CONFIGS: "responses",
    ApiKey.INCREMENTAL_ALTER_CONFIGS: "responses",
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: "topics",
}
VERSIONS = [
    (key, version) for key in SAMPLES for version in range(APIS[key].min_version, APIS[key].max_version + 1)
]


@pytest.mark.parametrize(("key", "version"), VERSIONS, ids=lambda value: str(value))
def test_every_version_answers_one_success_and_one_refusal(
    broker: MemoryBroker, key: ApiKey, version: int
) -> None:
    response = broker.call(key, SAMPLES[key], version)
    if key in RESULTS:
        codes = [result.error_code for result in getattr(response, RESULTS[key])]
        assert [bool(code) for code in sorted(codes)] == [False, True]
    else:
        assert response.error_code == 0


CHANGES = [
    ApiKey.CREATE_TOPICS,
    ApiKey.DELETE_TOPICS,
    ApiKey.CREATE_PARTITIONS,
    ApiKey.ALTER_CONFIGS,
    ApiKey.INCREMENTAL_ALTER_CONFIGS,
]


@pytest.mark.parametrize("key", CHANGES)
def test_change_that_cannot_be_logged_is_refused_and_has_not_happened(
    broker: MemoryBroker, key: ApiKey
) -> None:
    before = broker.image
    broker.quorum.error = ApiError(ErrorCode.KAFKA_STORAGE_ERROR, "The metadata log cannot be written.")
    response = broker.call(key, SAMPLES[key])
    results = getattr(response, RESULTS[key])
    assert len(results) == 2
    for result in results:
        assert result.error_code == ErrorCode.KAFKA_STORAGE_ERROR
        assert result.error_message == "The metadata log cannot be written."
    assert broker.image is before


def ask(broker: MemoryBroker, name: str, *, may_create: bool = True) -> Any:
    request = MetadataRequest(topics=(MetadataRequestTopic(name=name),), allow_auto_topic_creation=may_create)
    (topic,) = broker.call(ApiKey.METADATA, request).topics
    return topic


def test_metadata_creates_what_is_asked_for() -> None:
    broker = MemoryBroker(**{"num.partitions": "3"})
    topic = ask(broker, "new")
    assert (topic.error_code, len(topic.partitions), topic.partitions[0].leader_id) == (0, 3, 1)
    assert "new" in broker.image.topics


@pytest.mark.parametrize(
    ("name", "key", "policy"),
    [
        ("__consumer_offsets", "offsets.topic.num.partitions", "compact"),
        ("__transaction_state", "transaction.state.log.num.partitions", "compact"),
        ("__penstock_logs", "server.log.topic.num.partitions", "delete"),
    ],
)
def test_internal_topic_that_a_client_asks_for_first_is_as_brokers_make_it(
    name: str, key: str, policy: str
) -> None:
    broker = MemoryBroker(**{key: "7", "num.partitions": "2", "default.replication.factor": "3"})
    topic = ask(broker, name)
    assert (topic.error_code, len(topic.partitions), topic.is_internal) == (0, 7, True)
    assert len(topic.partitions[0].replica_nodes) == 1  # as many as there are brokers
    assert broker.image.topic_configs(name)["cleanup.policy"] == policy


@pytest.mark.parametrize(
    ("flags", "may_create"), [({"auto.create.topics.enable": "false"}, True), ({}, False)]
)
def test_metadata_creates_nothing_unless_both_sides_allow_it(flags: dict[str, str], may_create: bool) -> None:
    broker = MemoryBroker(**flags)
    topic = ask(broker, "new", may_create=may_create)
    assert topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert broker.image.topics == {}


def test_metadata_says_why_a_topic_could_not_be_created() -> None:
    broker = MemoryBroker(**{"default.replication.factor": "3"})
    assert ask(broker, "new").error_code == ErrorCode.INVALID_REPLICATION_FACTOR
    assert ask(broker, "../x").error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    broker = MemoryBroker()
    broker.quorum.error = ApiError(ErrorCode.KAFKA_STORAGE_ERROR)
    assert ask(broker, "new").error_code == ErrorCode.KAFKA_STORAGE_ERROR


def test_metadata_for_all_topics_creates_nothing() -> None:
    broker = MemoryBroker()
    assert broker.call(ApiKey.METADATA, MetadataRequest(topics=None)).topics == ()
    assert broker.image.topics == {}


def test_cursor_that_points_nowhere_fails_every_topic(broker: MemoryBroker) -> None:
    request = DescribeTopicPartitionsRequest(
        topics=(TopicRequest(name="orders"),), cursor=RequestCursor(topic_name="x", partition_index=0)
    )
    (topic,) = broker.call(ApiKey.DESCRIBE_TOPIC_PARTITIONS, request).topics
    assert (topic.name, topic.error_code) == ("orders", ErrorCode.INVALID_REQUEST)


def test_changed_settings_show_at_once(broker: MemoryBroker) -> None:
    broker.call(ApiKey.INCREMENTAL_ALTER_CONFIGS, SAMPLES[ApiKey.INCREMENTAL_ALTER_CONFIGS])
    described = broker.call(ApiKey.DESCRIBE_CONFIGS, SAMPLES[ApiKey.DESCRIBE_CONFIGS]).results[0]
    values = {each.name: (each.value, each.config_source) for each in described.configs}
    assert values["retention.ms"] == ("5", 1)
