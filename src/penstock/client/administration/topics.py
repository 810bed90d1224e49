"""Topics: create, delete, list, describe, grow; and their records, deleted up to an offset."""

from collections.abc import Iterable, Mapping
from typing import Any

from confluent_kafka import TopicCollection
from confluent_kafka.admin import NewPartitions
from confluent_kafka.admin import NewTopic as RawNewTopic

from penstock.client.administration.requests import AdminRequests
from penstock.client.administration.results import NewTopic, PartitionDescription, TopicDescription
from penstock.client.error_mapping import error_from, translated
from penstock.client.errors import AlreadyExists, ConfigurationError, UnknownTopic
from penstock.client.topic_partition import Offsets, TopicPartition, partition_of, raw_offsets

UNSAID = -1
"""A number of partitions or replicas that is left to the brokers."""


class TopicAdmin(AdminRequests):
    """The part of an administrator that is about topics."""

    def create_topic(
        self,
        name: str,
        *,
        partitions: int | None = None,
        replication_factor: int | None = None,
        config: Mapping[str, str] | None = None,
        exist_ok: bool = False,
        timeout: float | None = None,
    ) -> None:
        """Create one; with ``exist_ok``, one that is there already is good as well."""
        topic = NewTopic(
            name=name, partitions=partitions, replication_factor=replication_factor, config=config or {}
        )
        try:
            self.create_topics([topic], timeout=timeout)
        except AlreadyExists:
            if not exist_ok:
                raise

    def create_topics(
        self, topics: Iterable[NewTopic], *, validate_only: bool = False, timeout: float | None = None
    ) -> None:
        """Create several, or only say whether they could be."""
        raw = [_raw_topic(topic) for topic in topics]
        self._ask_each(
            f"create {', '.join(str(each.topic) for each in raw)}",
            lambda seconds: self._raw().create_topics(
                raw, validate_only=validate_only, **self._timeouts(seconds)
            ),
            timeout,
        )

    def delete_topics(self, names: str | Iterable[str], *, timeout: float | None = None) -> None:
        """Delete topics and all that is in them."""
        listed = _listed(names)
        self._ask_each(
            f"delete {', '.join(listed)}",
            lambda seconds: self._raw().delete_topics(listed, **self._timeouts(seconds)),
            timeout,
        )

    def list_topics(self, *, include_internal: bool = False, timeout: float | None = None) -> list[str]:
        """The names of all topics, in their order."""
        with translated(self._trouble.explain("list topics")):
            found = self._raw().list_topics(timeout=self._seconds(timeout)).topics
        return sorted(name for name in found if include_internal or not name.startswith("__"))

    def describe_topics(
        self, names: str | Iterable[str], *, timeout: float | None = None
    ) -> dict[str, TopicDescription]:
        """Who has their partitions."""
        listed = _listed(names)
        answers = self._ask_each(
            f"describe {', '.join(listed)}",
            lambda seconds: self._raw().describe_topics(TopicCollection(listed), request_timeout=seconds),
            timeout,
        )
        return {name: _topic_description(answer) for name, answer in answers.items()}

    def describe_topic(self, name: str, *, timeout: float | None = None) -> TopicDescription:
        """Who has its partitions."""
        return self.describe_topics(name, timeout=timeout)[name]

    def add_partitions(self, topic: str, total: int, *, timeout: float | None = None) -> None:
        """Let a topic have ``total`` partitions; keys may go to other partitions from then on."""
        if not isinstance(total, int) or total < 1:
            raise ConfigurationError(f"total={total!r} is not allowed: it must be a whole number from 1")
        self._ask_each(
            f"give {topic} {total} partitions",
            lambda seconds: self._raw().create_partitions(
                [NewPartitions(topic, total)], **self._timeouts(seconds)
            ),
            timeout,
        )

    def delete_records(self, before: Offsets, *, timeout: float | None = None) -> dict[TopicPartition, int]:
        """Delete all records before these offsets, -1 for the end; where the partitions start now."""
        answers = self._ask_each(
            "delete records",
            lambda seconds: self._raw().delete_records(raw_offsets(before), **self._timeouts(seconds)),
            timeout,
        )
        return {partition_of(each): answer.low_watermark for each, answer in answers.items()}

    def partitions_of(self, topics: Iterable[str], *, timeout: float | None = None) -> list[TopicPartition]:
        """Every partition of these topics."""
        with translated("find partitions"):
            known = self._raw().list_topics(timeout=self._seconds(timeout)).topics
        found = []
        for name in topics:
            if name not in known or known[name].error is not None:
                raise self._unknown(name, known.get(name))
            found += [TopicPartition(name, number) for number in sorted(known[name].partitions)]
        return found

    def _unknown(self, name: str, answer: Any) -> Exception:
        if answer is not None:
            return error_from(answer.error, doing=f"find partitions of {name}")
        return UnknownTopic(f"There is no topic {name}", code="UNKNOWN_TOPIC_OR_PARTITION")


def _listed(names: str | Iterable[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _raw_topic(topic: NewTopic) -> Any:
    more: dict[str, Any] = {"config": {name: str(value) for name, value in topic.config.items()}}
    if topic.replicas is not None:
        more["replica_assignment"] = [list(brokers) for brokers in topic.replicas]
        return RawNewTopic(topic.name, len(topic.replicas), **more)
    replicas = UNSAID if topic.replication_factor is None else topic.replication_factor
    partitions = UNSAID if topic.partitions is None else topic.partitions
    return RawNewTopic(topic.name, partitions, replicas, **more)


def _topic_description(answer: Any) -> TopicDescription:
    return TopicDescription(
        name=answer.name,
        topic_id=str(answer.topic_id),
        is_internal=bool(answer.is_internal),
        partitions=tuple(
            PartitionDescription(
                partition=each.id,
                leader=None if each.leader is None or each.leader.id < 0 else each.leader.id,
                replicas=tuple(node.id for node in each.replicas),
                in_sync_replicas=tuple(node.id for node in each.isr),
            )
            for each in answer.partitions
        ),
    )
