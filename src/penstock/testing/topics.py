"""Topics as tests need them: made, found, deleted, and given names that nobody else has.

It asks through a function, so that it works for a broker in this process, in another one, and for somebody
else's Kafka alike.
"""

import itertools
import os
import re
import time
from collections.abc import Callable, Mapping
from typing import Any

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import OperatingError
from penstock.testing.movable_clock import steady_seconds
from penstock.testing.settings import as_texts
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from penstock.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from penstock.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from penstock.wire.schema import Struct

Ask = Callable[[ApiKey, Struct], Any]
"""Asks some broker of the cluster."""

TIMEOUT_MS = 10_000
READY_SECONDS_MAX = 10.0
POLL_SECONDS = 0.01
DEFAULT_REPLICATION = -1
NAME_LENGTH_MAX = 200

_RUN = os.urandom(3).hex()
_NUMBERS = itertools.count(1)


class TopicError(OperatingError):
    """A topic could not be made or deleted."""


def unique_topic(prefix: str = "topic") -> str:
    """A name that no other test, worker or run uses."""
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", prefix).strip("-")[:NAME_LENGTH_MAX]
    return f"{plain or 'topic'}-{_RUN}-{next(_NUMBERS)}"


def create_topic(
    ask: Ask, name: str, *, partitions: int, replication_factor: int | None, configs: Mapping[str, object]
) -> None:
    """Make a topic; returns when it was decided."""
    settings = as_texts({key.replace("_", "."): value for key, value in configs.items()})
    topic = CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=DEFAULT_REPLICATION if replication_factor is None else replication_factor,
        configs=tuple(CreatableTopicConfig(name=key, value=value) for key, value in settings.items()),
    )
    answer = ask(ApiKey.CREATE_TOPICS, CreateTopicsRequest(topics=(topic,), timeout_ms=TIMEOUT_MS))
    _check(answer.topics[0].error_code, answer.topics[0].error_message, doing=f"create topic {name!r}")


def delete_topic(ask: Ask, name: str) -> None:
    """Delete a topic; one that is gone already is fine."""
    request = DeleteTopicsRequest(topics=(DeleteTopicState(name=name),), timeout_ms=TIMEOUT_MS)
    answer = ask(ApiKey.DELETE_TOPICS, request)
    code = answer.responses[0].error_code
    if code != ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
        _check(code, answer.responses[0].error_message, doing=f"delete topic {name!r}")


def wait_led(ask: Ask, name: str) -> None:
    """Return when every partition of a topic has a leader, as far as the broker that is asked knows."""
    request = MetadataRequest(topics=(MetadataRequestTopic(name=name),), allow_auto_topic_creation=False)
    deadline = steady_seconds() + READY_SECONDS_MAX
    while not _is_led(topic := ask(ApiKey.METADATA, request).topics[0]):
        if steady_seconds() > deadline:
            raise TopicError(f"Topic {name!r} has no leader after {READY_SECONDS_MAX:g} s: {topic}.")
        time.sleep(POLL_SECONDS)


def _is_led(topic: Any) -> bool:
    return topic.error_code == ErrorCode.NONE and all(
        partition.leader_id >= 0 and partition.error_code == ErrorCode.NONE for partition in topic.partitions
    )


def _check(code: int, message: str | None, *, doing: str) -> None:
    if code != ErrorCode.NONE:
        raise TopicError(f"Could not {doing}: {ErrorCode(code).name}{f' ({message})' if message else ''}.")
