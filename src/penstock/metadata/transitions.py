"""What happened between two images, in words: brokers that came and went, elections, in-sync sets.

Records say what is so, not why. The why can be seen in both images side by side: a leader was replaced
because its broker is fenced now, or stops, or is no replica any more. What an image cannot tell, how long a
broker was silent, its teller adds (``why_fenced``).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from penstock.metadata.broker_image import BrokerImage
from penstock.metadata.image import ClusterImage
from penstock.metadata.partition_change import RECOVERED
from penstock.metadata.topic_image import PartitionImage
from penstock.model.ids import NodeId

NO_REASONS: Mapping[NodeId, str] = {}


class BrokerEvent(StrEnum):
    """What may happen to a broker."""

    REGISTERED = "broker registered"
    UNREGISTERED = "broker unregistered"
    FENCED = "broker fenced"
    UNFENCED = "broker unfenced"
    STOPPING = "broker is stopping"
    CORDONED = "broker is being emptied"


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerChange:
    """One thing that happened to one broker."""

    node_id: NodeId
    event: BrokerEvent
    cause: str


class PartitionStep(NamedTuple):
    """A partition in two images that differ on it."""

    topic: str
    partition_index: int
    before: PartitionImage
    after: PartitionImage

    @property
    def name(self) -> str:
        """As everybody calls it."""
        return f"{self.topic}-{self.partition_index}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderChange:
    """A partition has another leader, or none, or the same one in a new epoch."""

    step: PartitionStep
    cause: str

    @property
    def is_unclean(self) -> bool:
        """Whether the new leader may lack records that were committed."""
        step = self.step
        is_recovering = step.after.leader_recovery_state != RECOVERED
        return step.after.has_leader and is_recovering


@dataclass(frozen=True, slots=True, kw_only=True)
class InSyncChange:
    """A broker has left or joined the in-sync set of a partition."""

    step: PartitionStep
    node_id: NodeId
    #: None where the images do not tell: its leader asked for it, and knows why.
    cause: str | None

    @property
    def is_loss(self) -> bool:
        """Whether it has left."""
        return self.node_id in self.step.before.isr


def partition_steps(before: ClusterImage, image: ClusterImage) -> Iterator[PartitionStep]:
    """Partitions of both images that have changed; found by identity, so it costs little."""
    if image.topics is before.topics:
        return
    for name, topic in image.topics.items():
        old = before.topics.get(name)
        if old is None or old is topic or old.topic_id != topic.topic_id:
            continue
        for index, partition in enumerate(old.partitions):
            if topic.partitions[index] is not partition:
                yield PartitionStep(name, index, partition, topic.partitions[index])


def broker_changes(
    before: ClusterImage, image: ClusterImage, why_fenced: Mapping[NodeId, str] = NO_REASONS
) -> list[BrokerChange]:
    """What happened to brokers, in the order of their numbers."""
    if image.brokers is before.brokers:
        return []
    changes: list[BrokerChange] = []
    for node_id in sorted({*before.brokers, *image.brokers}):
        old, new = before.brokers.get(node_id), image.brokers.get(node_id)
        if old is not new:
            changes += _broker_changes(node_id, old, new, why_fenced)
    return changes


def leader_changes(
    before: ClusterImage, image: ClusterImage, why_fenced: Mapping[NodeId, str] = NO_REASONS
) -> list[LeaderChange]:
    """Elections, each with its cause."""
    return [
        LeaderChange(step=step, cause=_election_cause(before, image, step, why_fenced))
        for step in partition_steps(before, image)
        if step.before.leader_epoch != step.after.leader_epoch
    ]


def in_sync_changes(
    before: ClusterImage,
    image: ClusterImage,
    *,
    leader: NodeId,
    why_fenced: Mapping[NodeId, str] = NO_REASONS,
) -> list[InSyncChange]:
    """Who left or joined in-sync sets of partitions that this broker leads as it did before."""
    changes: list[InSyncChange] = []
    for step in partition_steps(before, image):
        if step.after.leader != leader or step.before.leader_epoch != step.after.leader_epoch:
            continue
        old, new = set(step.before.isr), set(step.after.isr)
        for node_id in sorted(old ^ new):
            cause = _loss_cause(before, image, step, node_id, why_fenced) if node_id in old else CAUGHT_UP
            changes.append(InSyncChange(step=step, node_id=node_id, cause=cause))
    return changes


CAUGHT_UP = "it has everything that its leader has"
READ_ITS_REGISTRATION = "it has read the metadata up to its own registration"


def _broker_changes(
    node_id: NodeId, old: BrokerImage | None, new: BrokerImage | None, why_fenced: Mapping[NodeId, str]
) -> Iterator[BrokerChange]:
    def change(event: BrokerEvent, cause: str) -> BrokerChange:
        return BrokerChange(node_id=node_id, event=event, cause=cause)

    if new is None:
        yield change(BrokerEvent.UNREGISTERED, "it was emptied, or somebody asked for it")
    elif old is None or old.epoch != new.epoch:
        yield change(BrokerEvent.REGISTERED, "its process began" if old else "it is new")
    elif old.is_fenced != new.is_fenced:
        if new.is_fenced:
            stopping = "it has handed over what it led, and stops" if new.is_in_controlled_shutdown else ""
            yield change(BrokerEvent.FENCED, stopping or why_fenced.get(node_id, "it asked for it"))
        else:
            yield change(BrokerEvent.UNFENCED, READ_ITS_REGISTRATION)
    elif new.is_in_controlled_shutdown and not old.is_in_controlled_shutdown:
        yield change(BrokerEvent.STOPPING, "it asked for it")
    elif new.is_cordoned and not old.is_cordoned:
        yield change(BrokerEvent.CORDONED, "it is decommissioned")


def _election_cause(
    before: ClusterImage, image: ClusterImage, step: PartitionStep, why_fenced: Mapping[NodeId, str]
) -> str:
    old, new = step.before, step.after
    if not old.has_leader:
        return _filling_cause(before, image, new.leader)
    departure = _departure(before, image, old.leader, why_fenced)
    if departure is not None:
        return departure
    if old.leader not in new.replicas:
        return f"a reassignment took the replica of broker {old.leader} away"
    if not set(old.replicas) <= set(new.replicas):
        return "a reassignment took replicas away"
    if new.leader == new.replicas[0] != old.leader:
        return f"broker {new.leader} is the preferred leader"
    return "an election was asked for"


def _filling_cause(before: ClusterImage, image: ClusterImage, leader: NodeId) -> str:
    old, new = before.brokers.get(leader), image.brokers.get(leader)
    came = new is not None and new.is_active and (old is None or not old.is_active)
    return f"nobody led, and broker {leader} came back" if came else "nobody led, and somebody may now"


def _loss_cause(
    before: ClusterImage,
    image: ClusterImage,
    step: PartitionStep,
    node_id: NodeId,
    why_fenced: Mapping[NodeId, str],
) -> str | None:
    if node_id not in step.after.replicas:
        return "a reassignment took the replica away"
    return _departure(before, image, node_id, why_fenced)


def _departure(
    before: ClusterImage, image: ClusterImage, node_id: NodeId, why_fenced: Mapping[NodeId, str]
) -> str | None:
    """Why a broker is not to be counted on any more; None if it is."""
    old, new = before.brokers.get(node_id), image.brokers.get(node_id)
    if new is None:
        return f"broker {node_id} was unregistered"
    if old is not None and old.epoch != new.epoch:
        return f"broker {node_id} began anew"
    if new.is_in_controlled_shutdown:
        return f"broker {node_id} is stopping"
    if new.is_fenced:
        reason = why_fenced.get(node_id)
        return f"broker {node_id} was fenced: {reason}" if reason else f"broker {node_id} was fenced"
    return None
