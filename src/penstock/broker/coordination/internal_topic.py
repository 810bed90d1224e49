"""The topics in which coordinators keep what they know, made when somebody first needs one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.broker.apis import create_topics
from penstock.metadata.image import ClusterImage
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.wire.api_keys import ApiKey
from penstock.wire.framing import header_for
from penstock.wire.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


@dataclass(frozen=True, slots=True, kw_only=True)
class InternalTopic:
    """One of them, as it is to be made."""

    name: str
    partition_count: int
    #: At most; a smaller cluster has as many as it has brokers.
    replication_factor: int
    configs: Mapping[str, str]


def partition_count(image: ClusterImage, topic: InternalTopic) -> int:
    """How many partitions it has, or will have."""
    known = image.topics.get(topic.name)
    return topic.partition_count if known is None else len(known.partitions)


def wanted_topic(image: ClusterImage, topic: InternalTopic) -> CreatableTopic:
    """The topic as a request asks for it, with as many replicas as there are brokers for now."""
    brokers = sum(not each.is_fenced for each in image.brokers.values())
    return CreatableTopic(
        name=topic.name,
        num_partitions=topic.partition_count,
        replication_factor=max(1, min(topic.replication_factor, brokers)),
        configs=tuple(CreatableTopicConfig(name=name, value=text) for name, text in topic.configs.items()),
    )


async def ensure_exists(broker: "Broker", topic: InternalTopic) -> None:
    """Make the topic unless it is there; raises what stands in the way."""
    if topic.name in broker.image.topics:
        return
    request = CreateTopicsRequest(topics=(wanted_topic(broker.image, topic),))
    header = header_for(ApiKey.CREATE_TOPICS)
    (result,) = (await create_topics.handle(broker, request, header)).topics
    if result.error_code not in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS):
        raise ApiError(ErrorCode(result.error_code), result.error_message or "")
