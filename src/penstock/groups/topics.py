"""What groups need to know of topics: their names, ids and sizes."""

from collections.abc import Collection
from typing import Protocol

from penstock.metadata.image import ClusterImage
from penstock.model.ids import ZERO_TOPIC_ID, TopicId


class Topics(Protocol):
    """The topics that exist, as far as the broker knows at the moment."""

    def name_of(self, topic_id: TopicId) -> str | None:
        """The name behind an id."""

    def id_of(self, name: str) -> TopicId:
        """The id behind a name; all zero when there is no such topic."""

    def has_partition(self, name: str, partition: int) -> bool:
        """Whether a partition exists."""

    def partition_count(self, name: str) -> int:
        """How many partitions a topic has; none when there is no such topic."""

    def names(self) -> Collection[str]:
        """All names."""


class ImageTopics:
    """The topics of one image of the cluster."""

    __slots__ = ("_image",)

    def __init__(self, image: ClusterImage) -> None:
        self._image = image

    def name_of(self, topic_id: TopicId) -> str | None:
        """The name behind an id."""
        topic = self._image.topics_by_id.get(topic_id)
        return None if topic is None else topic.name

    def id_of(self, name: str) -> TopicId:
        """The id behind a name; all zero when there is no such topic."""
        topic = self._image.topics.get(name)
        return ZERO_TOPIC_ID if topic is None else topic.topic_id

    def has_partition(self, name: str, partition: int) -> bool:
        """Whether a partition exists."""
        topic = self._image.topics.get(name)
        return topic is not None and 0 <= partition < len(topic.partitions)

    def partition_count(self, name: str) -> int:
        """How many partitions a topic has; none when there is no such topic."""
        topic = self._image.topics.get(name)
        return 0 if topic is None else len(topic.partitions)

    def names(self) -> Collection[str]:
        """All names."""
        return self._image.topics.keys()
