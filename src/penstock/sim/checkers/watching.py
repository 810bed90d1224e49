"""A god's eye: what no client can see, looked at while the brokers run."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from penstock.metadata.image import ClusterImage
from penstock.model.ids import TopicId

Key = tuple[TopicId, int]
Place = tuple[str, int, int, TopicId, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionView:
    """One partition on one broker, at one moment."""

    node: str
    boot: int
    #: Tells a replica from one that was here before it, and was moved away and back.
    life: int
    node_id: int
    topic_id: TopicId
    topic: str
    index: int
    is_leader: bool
    leader_epoch: int
    #: Grows with every change of the partition that this broker has heard of.
    partition_epoch: int
    #: How many are in sync, and how many must be, as this broker has heard.
    in_sync_count: int
    in_sync_min: int
    #: Why it cannot copy its leader any more; None while it can.
    failure: str | None
    log_start_offset: int
    last_stable_offset: int
    high_watermark: int
    flushed_offset: int
    log_end_offset: int
    #: What lies below may have changed since it was written, for only the newest of each key is kept.
    cleaned_offset: int
    #: Whether its broker was told to stop, and closes its logs.
    is_leaving: bool
    #: The bytes of whole batches from an offset on, up to another.
    read: Callable[[int, int], bytes]

    @property
    def name(self) -> str:
        """As clients and histories call it."""
        return f"{self.topic}-{self.index}"

    @property
    def key(self) -> Key:
        """The partition, whatever comes to be called the same."""
        return self.topic_id, self.index

    @property
    def place(self) -> Place:
        """This very replica, in this process."""
        return self.node, self.boot, self.life, self.topic_id, self.index


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataView:
    """What one broker knows of the cluster, and which part it has in deciding."""

    node: str
    boot: int
    node_id: int
    #: Whether it decides, and in which term.
    is_controller: bool
    term: int
    #: The image has everything below.
    applied_offset: int
    image: ClusterImage


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """Everything that runs, at one moment."""

    #: Seconds of the run.
    at: float
    partitions: tuple[PartitionView, ...]
    metadata: tuple[MetadataView, ...]

    @property
    def newest(self) -> MetadataView | None:
        """Whoever knows most of the metadata log."""
        return max(self.metadata, key=lambda view: view.applied_offset, default=None)


class Watcher(Protocol):
    """Looks on, and remembers what it must."""

    rule: str

    def look(self, look: Look) -> Iterator[str]:
        """Say what is wrong."""
