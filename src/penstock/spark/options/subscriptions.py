"""Which partitions a DataFrame reads: topics by name, topics by a pattern, or single partitions."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

from penstock.model.ids import TopicPartition
from penstock.spark.options.definition import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscribe:
    """All partitions of these topics."""

    topics: tuple[str, ...]

    def __str__(self) -> str:
        return f"subscribe={','.join(self.topics)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscribePattern:
    """All partitions of all topics whose whole name matches, but for internal ones."""

    pattern: str

    def __str__(self) -> str:
        return f"subscribePattern={self.pattern}"

    def matching(self, topics: Iterable[str]) -> list[str]:
        """Those of ``topics`` that it means."""
        compiled = re.compile(self.pattern)
        return sorted(topic for topic in topics if compiled.fullmatch(topic))


@dataclass(frozen=True, slots=True, kw_only=True)
class Assign:
    """These partitions and no others, whatever is added to their topics."""

    partitions: tuple[TopicPartition, ...]

    def __str__(self) -> str:
        return f"assign={', '.join(map(str, self.partitions))}"


Subscription = Subscribe | SubscribePattern | Assign


def _parse_topics(text: str) -> Subscribe:
    topics = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not topics:
        raise ValueError("it names no topic")
    return Subscribe(topics=topics)


def _parse_pattern(text: str) -> SubscribePattern:
    pattern = text.strip()
    if not pattern:
        raise ValueError("it is empty")
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"it is no regular expression: {error}") from error
    return SubscribePattern(pattern=pattern)


def _parse_assign(text: str) -> Assign:
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"it is no JSON: {error}") from error
    if not isinstance(document, dict) or not all(map(_are_partitions, document.values())):
        raise ValueError("it is no JSON object of lists of partition numbers")
    partitions = {TopicPartition(topic, number) for topic, numbers in document.items() for number in numbers}
    if not partitions:
        raise ValueError("it names no partition")
    return Assign(partitions=tuple(sorted(partitions)))


def _are_partitions(value: object) -> bool:
    return isinstance(value, list) and all(type(number) is int and number >= 0 for number in value)


TOPICS = Kind(name="topics", parse=_parse_topics, expected="names of topics with commas between them")
PATTERN = Kind(
    name="pattern",
    parse=_parse_pattern,
    expected="a regular expression such as orders\\..* that matches whole names of topics",
)
PARTITIONS = Kind(
    name="partitions", parse=_parse_assign, expected='JSON such as {"topicA":[0,1],"topicB":[2,4]}'
)
