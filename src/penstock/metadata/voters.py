"""Who decides on metadata: the next change of the quorum's voters, if one is due.

One voter while there are fewer than three brokers, three from three on, five from five on if that is wanted:
always an odd number, since an even one dies of as few losses as the odd one below it. So from an odd number
the quorum grows only if enough brokers are at hand for the next one, and if the last of them dies on the way,
it shrinks again. Only brokers that live and have caught up become voters, in different racks as far as that
goes; a voter that is being emptied, or is forgotten, is replaced. A voter that is merely dead is not: it may
come back, and to change the quorum while part of it is missing is how majorities get lost. For the same
reason nobody is removed unless most of those who would be left live. One change at a time; the caller asks
again when it is done.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import TypeAlias

from penstock.metadata.broker_loads import usable_brokers
from penstock.metadata.image import ClusterImage
from penstock.metadata.leadership import is_active
from penstock.model.ids import NodeId

VOTERS_MAX = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class AddVoter:
    """Let a node that follows the metadata log also decide on it."""

    node_id: NodeId
    directory_id: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveVoter:
    """Let a node only follow."""

    node_id: NodeId


VoterChange: TypeAlias = AddVoter | RemoveVoter


def plan_voters(
    image: ClusterImage,
    *,
    voters: Collection[NodeId],
    caught_up: Collection[NodeId],
    leader: NodeId,
    voters_max: int = VOTERS_MAX,
) -> VoterChange | None:
    """The next change. ``caught_up`` are nodes that follow the metadata log closely."""
    staying = [node_id for node_id in voters if not _is_leaving(image, node_id)]
    wanted = _wanted_count(image, voters_max)
    if len(staying) < wanted:
        candidates = _candidates(image, voters, caught_up)
        if len(candidates) >= 1 + len(staying) % 2:
            added = _next_voter(image, voters, candidates)
            return AddVoter(node_id=added, directory_id=image.brokers[added].directories[0])
    leaving = [node_id for node_id in sorted(voters) if node_id not in staying]
    removable = _leader_last(leaving, leader) if staying else []
    if len(staying) > wanted or _is_stuck(image, staying):
        removable.append(_least_needed(image, staying, leader))
    removed = next((each for each in removable if _can_do_without(image, voters, each, leader)), None)
    return None if removed is None else RemoveVoter(node_id=removed)


def _can_do_without(image: ClusterImage, voters: Collection[NodeId], node_id: NodeId, leader: NodeId) -> bool:
    """Whether most of those who would be left live: else nobody could decide on anything from then on."""
    left = [each for each in voters if each != node_id]
    living = sum(each == leader or is_active(image, each) for each in left)
    return 2 * living > len(left)


def _is_stuck(image: ClusterImage, voters: list[NodeId]) -> bool:
    """Whether all of an even number of voters live, and nobody else does who could make it odd."""
    return bool(voters) and len(voters) % 2 == 0 and set(voters) == set(usable_brokers(image))


def _wanted_count(image: ClusterImage, voters_max: int) -> int:
    """An odd number of voters that so many brokers can bear; dead ones count, since they may come back."""
    members = sum(not broker.is_cordoned and _has_started(image, id) for id, broker in image.brokers.items())
    return max(count for count in (1, 3, 5) if count <= max(1, min(members, voters_max)))


def _has_started(image: ClusterImage, node_id: NodeId) -> bool:
    """Whether a process of it has ever registered; an id alone is no broker."""
    return any(image.brokers[node_id].incarnation_id)


def _is_leaving(image: ClusterImage, node_id: NodeId) -> bool:
    broker = image.brokers.get(node_id)
    return broker is None or broker.is_cordoned


def _candidates(
    image: ClusterImage, voters: Collection[NodeId], caught_up: Collection[NodeId]
) -> list[NodeId]:
    return [
        node_id
        for node_id in usable_brokers(image)
        if node_id not in voters and node_id in caught_up and image.brokers[node_id].directories
    ]


def _next_voter(image: ClusterImage, voters: Collection[NodeId], candidates: list[NodeId]) -> NodeId:
    racks = {image.brokers[node_id].rack for node_id in voters if node_id in image.brokers}
    return min(candidates, key=lambda id: (image.brokers[id].rack in racks, id))


def _least_needed(image: ClusterImage, voters: list[NodeId], leader: NodeId) -> NodeId:
    """A dead one first, then one that shares a rack, then the newest; the leader only if it must be."""
    racks = [image.brokers[node_id].rack for node_id in voters]

    def rank(node_id: NodeId) -> tuple[bool, bool, bool, int]:
        broker = image.brokers[node_id]
        return (node_id == leader, broker.is_active, racks.count(broker.rack) == 1, -node_id)

    return min(voters, key=rank)


def _leader_last(nodes: list[NodeId], leader: NodeId) -> list[NodeId]:
    return sorted(nodes, key=lambda node_id: (node_id == leader, node_id))
