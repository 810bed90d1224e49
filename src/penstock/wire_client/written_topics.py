"""The topics that somebody writes to: how many partitions they have, and that they are there at all."""

import time
from collections.abc import Iterable
from typing import Any

from penstock.model.error_codes import ErrorCode
from penstock.wire_client.cluster import PASSING, Cluster
from penstock.wire_client.errors import RefusedError, WireClientError, check
from penstock.wire_client.patience import Patience, ask_again
from penstock.wire_client.topics import ABSENT

CREATION_SECONDS_MAX = 3.0
"""For a topic that the brokers make when they are asked for it; some deny that it exists until it does."""


class NoSuchTopicError(WireClientError):
    """A topic that is to be written to does not exist."""

    def __init__(self, topic: str) -> None:
        super().__init__(
            f"Topic {topic!r} does not exist. Make it with 'penstock topic create {topic} --partitions 3', "
            "or let brokers make topics with auto.create.topics.enable=true."
        )
        self.topic = topic


def partition_counts(
    cluster: Cluster, topics: Iterable[str], *, patience: Patience | None = None
) -> dict[str, int]:
    """The number of partitions of each topic, which the brokers may make now if they are set to do so."""
    wanted = sorted(set(topics))
    made_by = time.monotonic() + CREATION_SECONDS_MAX

    def is_passing(topic: Any) -> bool:
        return topic.error_code in PASSING or (topic.error_code in ABSENT and time.monotonic() < made_by)

    answer = ask_again(
        lambda: cluster.metadata(wanted, may_create=True),
        is_passing=lambda answer: any(map(is_passing, answer.topics)),
        patience=patience or Patience(),
    )
    return {topic.name or "": _count(topic) for topic in answer.topics}


def _count(topic: Any) -> int:
    if topic.error_code in ABSENT:
        raise NoSuchTopicError(topic.name or "")
    if topic.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION:
        raise RefusedError(
            topic.error_code, doing=f"write to topic {topic.name!r}: that is no name of a topic"
        )
    check(topic.error_code, doing=f"read the metadata of topic {topic.name!r}")
    return len(topic.partitions)
