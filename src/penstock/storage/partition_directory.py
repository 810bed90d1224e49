"""The names of partition directories: ``orders-0`` in use, and what it is called on its way out.

Kafka's forms. A deleted partition is renamed ``orders-0.<32 hex>-delete`` at once and removed later, so that
its name is free for a new topic while old readers finish. One that no topic claims is renamed
``orders-0.<32 hex>-stray`` and kept: losing sight of a topic must never lose its data.
"""

import re

from penstock.model.errors import ApiError
from penstock.model.ids import TopicPartition
from penstock.model.names import check_topic_name

DELETED_SUFFIX = "-delete"
STRAY_SUFFIX = "-stray"

_NAME_LENGTH_MAX = 255
_IN_USE = re.compile(r"(.+)-(0|[1-9][0-9]{0,9})")
_DELETED = re.compile(r".+\.[0-9a-f]{32}-delete")
_PARTITION_MAX = 2**31 - 1


def parse_directory_name(name: str) -> TopicPartition | None:
    """The partition whose directory is called that; None for any other name."""
    match = _IN_USE.fullmatch(name)
    if match is None or int(match[2]) > _PARTITION_MAX:
        return None
    try:
        check_topic_name(match[1])
    except ApiError:
        return None
    return TopicPartition(match[1], int(match[2]))


def is_deleted_name(name: str) -> bool:
    """Whether a directory of that name is waiting to be removed."""
    return _DELETED.fullmatch(name) is not None


def deleted_name(partition: TopicPartition, unique_id: bytes) -> str:
    """What the directory is called once its partition is deleted."""
    return _parting_name(partition, unique_id, DELETED_SUFFIX)


def stray_name(partition: TopicPartition, unique_id: bytes) -> str:
    """What the directory is called once nobody knows its partition."""
    return _parting_name(partition, unique_id, STRAY_SUFFIX)


def _parting_name(partition: TopicPartition, unique_id: bytes, suffix: str) -> str:
    """A name no file system finds too long: the topic's is cut if need be, the id keeps it unique."""
    ending = f"-{partition.partition}.{unique_id.hex()}{suffix}"
    return partition.topic[: _NAME_LENGTH_MAX - len(ending)] + ending
