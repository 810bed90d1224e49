"""Consumer groups: who is in them, and where they stand."""

from collections.abc import Iterable
from datetime import datetime
from functools import partial
from time import monotonic
from typing import Any

from confluent_kafka import ConsumerGroupTopicPartitions
from confluent_kafka.admin import OffsetSpec

from penstock.client.administration.results import Broker, GroupDescription, GroupListing, GroupMember
from penstock.client.administration.topics import TopicAdmin
from penstock.client.choices import OffsetResetPolicy
from penstock.client.consuming.moments import milliseconds
from penstock.client.error_mapping import error_from
from penstock.client.errors import (
    BrokerUnavailable,
    ConfigurationError,
    PenstockClientError,
    RequestTimedOut,
)
from penstock.client.topic_partition import (
    Offsets,
    TopicPartition,
    checked_partition,
    partition_of,
    raw_offsets,
    raw_partitions,
)
from penstock.client.trouble import logger

ResetTarget = OffsetResetPolicy | str | datetime | int
"""The earliest or latest message, the first one since a moment, or an offset."""

_ALL = "all groups"


class GroupAdmin(TopicAdmin):
    """The part of an administrator that is about groups."""

    def list_groups(self, *, timeout: float | None = None) -> list[GroupListing]:
        """All groups, by name; every broker that is there has told of its own."""
        answers = self._ask_each(
            "list groups",
            lambda seconds: {_ALL: self._raw().list_consumer_groups(request_timeout=seconds)},
            timeout,
            error_in=_error_in_listing,
        )
        found = [
            GroupListing(
                group_id=each.group_id, state=each.state.name.lower(), protocol=each.type.name.lower()
            )
            for each in answers[_ALL].valid
        ]
        return sorted(found, key=lambda each: each.group_id)

    def describe_groups(
        self, group_ids: str | Iterable[str], *, timeout: float | None = None
    ) -> dict[str, GroupDescription]:
        """Who is in them and reads what."""
        ids = _ids(group_ids)
        answers = self._ask_each(
            f"describe {', '.join(ids)}",
            lambda seconds: self._raw().describe_consumer_groups(ids, request_timeout=seconds),
            timeout,
        )
        return {name: _group_description(answer) for name, answer in answers.items()}

    def describe_group(self, group_id: str, *, timeout: float | None = None) -> GroupDescription:
        """Who is in it and reads what."""
        return self.describe_groups(group_id, timeout=timeout)[group_id]

    def delete_groups(self, group_ids: str | Iterable[str], *, timeout: float | None = None) -> None:
        """Delete groups without members, and what they have committed."""
        ids = _ids(group_ids)
        self._ask_each(
            f"delete {', '.join(ids)}",
            lambda seconds: self._raw().delete_consumer_groups(ids, request_timeout=seconds),
            timeout,
        )

    def group_offsets(
        self,
        group_id: str,
        partitions: Iterable[tuple[str, int]] | None = None,
        *,
        timeout: float | None = None,
    ) -> dict[TopicPartition, int]:
        """What a group has committed, of all partitions unless some are named."""
        deadline = monotonic() + self._seconds(timeout)
        doing = f"find what {group_id} has committed"
        asked = None if partitions is None else raw_partitions(partitions)
        request = ConsumerGroupTopicPartitions(group_id, asked)
        self._wait_for_coordinator(group_id, timeout)
        answers = self._ask_each(
            doing,
            lambda seconds: self._raw().list_consumer_group_offsets([request], request_timeout=seconds),
            max(0.001, deadline - monotonic()),
            error_in=partial(_error_in, doing=doing),
        )
        found = answers[group_id].topic_partitions
        return {partition_of(each): each.offset for each in found if each.offset >= 0}

    def alter_group_offsets(self, group_id: str, offsets: Offsets, *, timeout: float | None = None) -> None:
        """Let a group without members go on from these offsets."""
        if not offsets:
            return
        doing = f"alter what {group_id} has committed"
        request = ConsumerGroupTopicPartitions(group_id, raw_offsets(offsets))
        self._ask_each(
            doing,
            lambda seconds: self._raw().alter_consumer_group_offsets([request], request_timeout=seconds),
            timeout,
            error_in=partial(_error_in, doing=doing),
        )

    def reset_group_offsets(
        self,
        group_id: str,
        to: ResetTarget,
        *,
        topics: str | Iterable[str] | None = None,
        timeout: float | None = None,
    ) -> dict[TopicPartition, int]:
        """Let a group without members go on from there, in these topics or all it has read; the offsets."""
        if topics is None:
            partitions = list(self.group_offsets(group_id, timeout=timeout))
        else:
            partitions = self.partitions_of(_ids(topics), timeout=timeout)
        if isinstance(to, int):
            offsets: dict[TopicPartition, int] = dict.fromkeys(partitions, to)
        else:
            offsets = self.list_offsets(partitions, to, timeout=timeout)
        self.alter_group_offsets(group_id, offsets, timeout=timeout)
        return offsets

    def list_offsets(
        self,
        partitions: Iterable[tuple[str, int]],
        at: OffsetResetPolicy | str | datetime = OffsetResetPolicy.LATEST,
        *,
        timeout: float | None = None,
    ) -> dict[TopicPartition, int]:
        """The first offset, the one after the last, or that of the first message since a moment."""
        named = [checked_partition(each) for each in partitions]
        found = self._offsets_at(named, _specification(at), timeout)
        later = [each for each, offset in found.items() if offset < 0]
        return found | (self._offsets_at(later, OffsetSpec.latest(), timeout) if later else {})

    def _wait_for_coordinator(self, group_id: str, timeout: float | None) -> None:
        """Until a group's coordinator answers for it, whether there is such a group or not.

        The coordinators' topic is made when the first group is used. librdkafka 2.16 crashes the process if
        an administrator who asks for committed offsets is told NOT_COORDINATOR; one who describes a group is
        only told so, and may ask again.
        """
        try:
            self.describe_groups(group_id, timeout=timeout)
        except (BrokerUnavailable, RequestTimedOut):
            raise
        except PenstockClientError as error:
            logger.debug("%s is not described: %s", group_id, error)

    def _offsets_at(
        self, partitions: list[TopicPartition], at: Any, timeout: float | None
    ) -> dict[TopicPartition, int]:
        if not partitions:
            return {}
        asked = dict.fromkeys(raw_partitions(partitions), at)
        answers = self._ask_each(
            "find offsets", lambda seconds: self._raw().list_offsets(asked, request_timeout=seconds), timeout
        )
        return {partition_of(each): answer.offset for each, answer in answers.items()}


def _ids(names: str | Iterable[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _specification(at: OffsetResetPolicy | str | datetime) -> Any:
    if isinstance(at, datetime):
        return OffsetSpec.for_timestamp(milliseconds(at))
    if at == OffsetResetPolicy.EARLIEST:
        return OffsetSpec.earliest()
    if at == OffsetResetPolicy.LATEST:
        return OffsetSpec.latest()
    raise ConfigurationError(f"{at!r} is not allowed: give 'earliest', 'latest', an offset or a datetime")


def _error_in_listing(answer: Any) -> PenstockClientError | None:
    """The first broker's that has one: the groups that it coordinates are missing."""
    return error_from(answer.errors[0], doing="list groups") if answer.errors else None


def _error_in(answer: Any, *, doing: str) -> PenstockClientError | None:
    """The first partition's that has one."""
    for each in answer.topic_partitions:
        if each.error is not None:
            return error_from(each.error, doing=f"{doing} in {each.topic}-{each.partition}")
    return None


def _group_description(answer: Any) -> GroupDescription:
    coordinator = answer.coordinator
    return GroupDescription(
        group_id=answer.group_id,
        state=answer.state.name.lower(),
        protocol=answer.type.name.lower(),
        assignor=answer.partition_assignor or "",
        coordinator=None if coordinator is None else broker_of(coordinator),
        members=tuple(map(_member, answer.members)),
    )


def _member(answer: Any) -> GroupMember:
    return GroupMember(
        member_id=answer.member_id,
        group_instance_id=answer.group_instance_id,
        client_id=answer.client_id,
        host=answer.host,
        partitions=tuple(sorted(map(partition_of, answer.assignment.topic_partitions))),
    )


def broker_of(node: Any) -> Broker:
    """As librdkafka tells it."""
    return Broker(id=node.id, host=node.host, port=node.port, rack=node.rack)
