"""What the brokers of a cluster say about it, each for itself."""

from collections.abc import Callable, Sequence
from typing import Any

from penstock.model.error_codes import ErrorCode
from penstock.testing.broker import Broker
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.describe_quorum import DescribeQuorumRequest, PartitionRequest, TopicRequest
from penstock.wire.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse

METADATA_TOPIC = "__cluster_metadata"
NOBODY = -1


class ClusterSight:
    """Asks whoever runs."""

    def __init__(self, running: Callable[[], Sequence[Broker]]) -> None:
        self._running = running

    def is_whole(self, brokers: int, voters: int) -> bool:
        """Whether so many brokers agree that they are so many, and on who decides."""
        views = [self._metadata(broker, ()) for broker in self._running()]
        agreed = {view.controller_id for view in views}
        return (
            all(len(view.brokers) >= brokers for view in views)
            and len(agreed) == 1
            and agreed != {NOBODY}
            and self._voter_count() >= voters
        )

    def controller(self) -> int:
        """Who decides, as the first broker believes; -1 for nobody."""
        return self._metadata(self._running()[0], ()).controller_id

    def leader(self, topic: str, partition: int) -> int:
        """Who leads, as most brokers believe; -1 for nobody."""
        leaders = [
            found.leader_id
            for broker in self._running()
            for found in self._partitions(broker, topic)
            if found.partition_index == partition
        ]
        return max(set(leaders), key=leaders.count) if leaders else NOBODY

    def is_in_sync(self, topic: str) -> bool:
        """Whether everybody says that every replica of the topic is in sync."""
        seen = [self._partitions(broker, topic) for broker in self._running()]
        return all(seen) and all(
            each.leader_id != NOBODY and set(each.isr_nodes) == set(each.replica_nodes)
            for partitions in seen
            for each in partitions
        )

    def _voter_count(self) -> int:
        request = DescribeQuorumRequest(
            topics=(
                TopicRequest(topic_name=METADATA_TOPIC, partitions=(PartitionRequest(partition_index=0),)),
            )
        )
        answer = self._running()[0].ask(ApiKey.DESCRIBE_QUORUM, request)
        if answer.error_code != ErrorCode.NONE or not answer.topics:
            return 0
        return len(answer.topics[0].partitions[0].current_voters)

    def _partitions(self, broker: Broker, topic: str) -> tuple[Any, ...]:
        answered = self._metadata(broker, (topic,)).topics
        return answered[0].partitions if answered else ()

    def _metadata(self, broker: Broker, topics: tuple[str, ...]) -> MetadataResponse:
        request = MetadataRequest(
            topics=tuple(MetadataRequestTopic(name=name) for name in topics), allow_auto_topic_creation=False
        )
        answer: MetadataResponse = broker.ask(ApiKey.METADATA, request)
        return answer
