"""Metadata (key 3): how clients find brokers, topics and the leaders of partitions.

Versions 0 to 13.

Behaviour
    - Null topics (at version 0 an empty list) mean all, an empty list none.
    - A name that is no topic is created, with the broker's defaults, if both the client and
      ``auto.create.topics.enable`` allow it; the answer already has the new topic. Otherwise it is
      UNKNOWN_TOPIC_OR_PARTITION, or INVALID_TOPIC_EXCEPTION if it never could be one.
    - Internal topics are made as brokers make them, compacted and with all their partitions, whoever asks
      for them first.
    - An unknown topic id is UNKNOWN_TOPIC_ID; an id before version 12 is INVALID_REQUEST.
    - A partition whose leader cannot be reached has LEADER_NOT_AVAILABLE, or LISTENER_NOT_FOUND when the
      leader is alive but not on the client's listener (since version 6).
    - Authorized operations, when asked for, are all of them: there is no authorizer.

Version notes
    1 controller, racks, internal topics; 2 cluster id; 4 the client may forbid creation; 5 offline replicas;
    7 leader epochs (KIP-320); 8 authorized operations (KIP-430); 9 flexible; 10 topic ids (KIP-516); 12
    topics by id; 13 an error for the whole answer.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from penstock.broker.apis import create_topics
from penstock.broker.coordination.groups import offsets_topic
from penstock.broker.coordination.internal_topic import InternalTopic, wanted_topic
from penstock.broker.logging.log_settings import log_topic
from penstock.broker.transaction_coordinator import transactions_topic
from penstock.config.broker_config import BrokerConfig
from penstock.config.listeners import PLAINTEXT
from penstock.metadata.describe_topics import describe_topics, missing_topics
from penstock.metadata.topic_creation import DEFAULT
from penstock.model.error_codes import ErrorCode
from penstock.model.names import LOGS_TOPIC, OFFSETS_TOPIC, TRANSACTIONS_TOPIC
from penstock.wire.api_keys import ApiKey
from penstock.wire.framing import RequestHeader, header_for
from penstock.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from penstock.wire.messages.metadata import MetadataRequest, MetadataResponse

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

_INTERNAL: Mapping[str, Callable[[BrokerConfig], InternalTopic]] = {
    OFFSETS_TOPIC: offsets_topic,
    TRANSACTIONS_TOPIC: transactions_topic,
    LOGS_TOPIC: log_topic,
}


async def handle(broker: "Broker", request: MetadataRequest, header: RequestHeader) -> MetadataResponse:
    """Describe the cluster, after creating what is asked for and may be created."""
    failures: dict[str, ErrorCode] = {}
    missing = missing_topics(broker.image, request, header.api_version)
    may_create = request.allow_auto_topic_creation and broker.config.boolean("auto.create.topics.enable")
    if missing and may_create:
        failures = await _create(broker, missing, header)
    return describe_topics(
        broker.image,
        request,
        version=header.api_version,
        cluster_id=broker.cluster_id,
        controller_id=broker.controller_id,
        listener=PLAINTEXT,
        failures=failures,
    )


async def _create(broker: "Broker", names: list[str], header: RequestHeader) -> dict[str, ErrorCode]:
    """Create topics with the controller's defaults; returns why some could not be.

    That one exists by now is no failure: somebody else asked for it at the same moment.
    """
    topics = tuple(_wanted(broker, name) for name in names)
    response = await create_topics.handle(
        broker, CreateTopicsRequest(topics=topics), header_for(ApiKey.CREATE_TOPICS, header)
    )
    return {
        result.name: ErrorCode(result.error_code)
        for result in response.topics
        if result.error_code not in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS)
    }


def _wanted(broker: "Broker", name: str) -> CreatableTopic:
    """Offsets in a topic made by the defaults would be gone with its retention: it would not be compacted."""
    internal = _INTERNAL.get(name)
    if internal is not None:
        return wanted_topic(broker.image, internal(broker.config))
    return CreatableTopic(name=name, num_partitions=DEFAULT, replication_factor=DEFAULT)
