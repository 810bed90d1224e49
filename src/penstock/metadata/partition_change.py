"""How one partition changes: who is in sync, who is eligible, who leads. The rules of elections are here.

Leaders come from the in-sync set (ISR), the first of the replicas that is alive. When the ISR is too small
for anything to be committed (below min.insync.replicas), whoever leaves it stays *eligible* (ELR, KIP-966):
nothing was committed without them, so they have it all, and one of them may lead when the ISR is empty. A
replica that may have lost something from its disk is in neither. Nobody else leads unless the topic accepts
the loss.

A change keeps four promises: the leader is in the ISR; the ISR and the ELR are apart, and among the replicas;
the ELR is empty while the ISR is large enough; replicas that go away end the leader epoch, so that what the
leader knows of them is forgotten.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from penstock.metadata.reassignment_progress import Progress, settled
from penstock.metadata.records import NO_LEADER, PartitionChangeRecord
from penstock.metadata.replication_rules import TopicRules
from penstock.metadata.topic_image import PartitionImage
from penstock.model.ids import NodeId, TopicId

RECOVERED, RECOVERING = 0, 1
"""Whether a leader may lack committed records, since it was not elected from the ISR or ELR (KIP-704)."""

Nodes = tuple[NodeId, ...]


class Election(StrEnum):
    """What an election is for."""

    ONLINE = "online"
    """Somebody is to lead; whoever does so and still may, goes on."""

    PREFERRED = "preferred"
    """The first of the replicas is to lead, if it may."""

    UNCLEAN = "unclean"
    """Somebody is to lead, even if committed records are lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What a change of a partition depends on besides the partition."""

    rules: TopicRules
    #: Whether a broker may lead now.
    is_acceptable: Callable[[NodeId], bool]
    #: In which directory a broker would put a new replica.
    directory_of: Callable[[NodeId], bytes]
    #: Brokers that may have lost some of this partition from their disks.
    lost: frozenset[NodeId] = frozenset()
    election: Election = Election.ONLINE


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a partition is to become, before it is decided who leads."""

    isr: Nodes
    replicas: Nodes
    adding: Nodes
    removing: Nodes
    recovery_state: int


def as_it_is(partition: PartitionImage) -> Wanted:
    """No change but what an election brings."""
    return Wanted(
        isr=partition.isr,
        replicas=partition.replicas,
        adding=partition.adding_replicas,
        removing=partition.removing_replicas,
        recovery_state=partition.leader_recovery_state,
    )


def change_partition(
    old: PartitionImage, wanted: Wanted, circumstances: Circumstances, *, topic_id: TopicId, index: int
) -> PartitionChangeRecord | None:
    """The record that makes the change, or None when nothing changes."""
    progress = settled(
        Progress(isr=wanted.isr, replicas=wanted.replicas, adding=wanted.adding, removing=wanted.removing)
    )
    draft = _Draft(
        isr=progress.isr,
        replicas=progress.replicas,
        adding=progress.adding,
        removing=progress.removing,
        recovery_state=wanted.recovery_state,
    )
    draft.elr = _eligible(old, draft, circumstances)
    _elect(old, draft, circumstances)
    changes = _changes(old, draft, circumstances)
    return PartitionChangeRecord(topic_id=topic_id, partition_id=index, **changes) if changes else None


@dataclass(slots=True, kw_only=True)
class _Draft:
    """The partition in the making."""

    isr: Nodes
    replicas: Nodes
    adding: Nodes
    removing: Nodes
    recovery_state: int
    elr: Nodes = ()
    leader: NodeId = field(default=NodeId(NO_LEADER))


def _eligible(old: PartitionImage, draft: _Draft, circumstances: Circumstances) -> Nodes:
    """Who may lead from outside the ISR: as long as it is too small, everybody who was in it or eligible."""
    if _can_commit(draft, circumstances):
        return ()
    before = set(old.isr) | set(old.eligible_leader_replicas)
    return tuple(
        node_id
        for node_id in draft.replicas
        if node_id in before and node_id not in draft.isr and node_id not in circumstances.lost
    )


def _can_commit(draft: _Draft, circumstances: Circumstances) -> bool:
    """Whether the ISR is large enough for the high watermark to move."""
    return len(draft.isr) >= circumstances.rules.min_isr(len(draft.replicas) - len(draft.adding))


def _elect(old: PartitionImage, draft: _Draft, circumstances: Circumstances) -> None:
    clean = _clean_leader(old, draft, circumstances)
    if clean is not None:
        draft.leader = clean
        if clean in draft.elr:
            draft.isr = (clean,)
            others = tuple(node_id for node_id in draft.elr if node_id != clean)
            # If the new leader may commit alone, the others will lack what it commits.
            draft.elr = () if _can_commit(draft, circumstances) else others
        return
    unclean = _unclean_leader(old, draft, circumstances)
    if unclean is not None:
        draft.leader = unclean
        draft.isr, draft.elr = (unclean,), ()
        draft.recovery_state = RECOVERING


def _clean_leader(old: PartitionImage, draft: _Draft, circumstances: Circumstances) -> NodeId | None:
    candidates = draft.isr or draft.elr
    fit = [each for each in draft.replicas if each in candidates and circumstances.is_acceptable(each)]
    if not fit:
        return None
    if circumstances.election is Election.PREFERRED and fit[0] == draft.replicas[0]:
        return fit[0]
    return old.leader if old.leader in fit else fit[0]


def _unclean_leader(old: PartitionImage, draft: _Draft, circumstances: Circumstances) -> NodeId | None:
    """Somebody who may lack records: who led last, if the topic can live with that, or just anybody."""
    rules, is_unclean = circumstances.rules, circumstances.election is Election.UNCLEAN
    if not (draft.isr or draft.elr) and (rules.accepts_loss or is_unclean):
        last = _first_acceptable(old.last_known_elr, circumstances)
        if last is not None and last in draft.replicas:
            return last
    # Who is only being added may have nothing yet; it comes first among the replicas where it is to lead.
    by_content = tuple(sorted(draft.replicas, key=lambda node_id: node_id in draft.adding))
    return _first_acceptable(by_content, circumstances) if is_unclean else None


def _first_acceptable(nodes: Nodes, circumstances: Circumstances) -> NodeId | None:
    return next((node_id for node_id in nodes if circumstances.is_acceptable(node_id)), None)


def _changes(old: PartitionImage, draft: _Draft, circumstances: Circumstances) -> dict[str, Any]:
    """What differs, by the names of the record's fields."""
    changes: dict[str, Any] = {}
    for name, before, after in (
        ("isr", old.isr, draft.isr),
        ("replicas", old.replicas, draft.replicas),
        ("removing_replicas", old.removing_replicas, draft.removing),
        ("adding_replicas", old.adding_replicas, draft.adding),
        ("leader_recovery_state", old.leader_recovery_state, draft.recovery_state),
        ("eligible_leader_replicas", old.eligible_leader_replicas, draft.elr),
        ("last_known_elr", old.last_known_elr, _last_known(old, draft)),
    ):
        if before != after:
            changes[name] = after
    if "replicas" in changes:
        changes["directories"] = _directories(old, draft.replicas, circumstances)
    if draft.leader != old.leader or not set(old.replicas) <= set(draft.replicas):
        changes["leader"] = draft.leader
    return changes


def _last_known(old: PartitionImage, draft: _Draft) -> Nodes:
    if draft.leader >= 0:
        return ()
    return old.last_known_elr or ((old.leader,) if old.has_leader else ())


def _directories(old: PartitionImage, replicas: Nodes, circumstances: Circumstances) -> tuple[bytes, ...]:
    known = dict(zip(old.replicas, old.directories, strict=False))
    return tuple(known.get(each) or circumstances.directory_of(each) for each in replicas)
