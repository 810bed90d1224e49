"""What always holds of a consumer group. Above all: no partition is ever held by two members."""

from penstock.groups.consumer.ledger import Ledger
from penstock.groups.consumer.member import ConsumerMember, MemberState
from penstock.groups.consumer.timers import ConsumerTimers
from penstock.groups.partitions import NO_PARTITIONS, TopicIdPartition
from penstock.groups.timers import DeadlineKind
from penstock.model.errors import InvariantError


def check_ledger(ledger: Ledger) -> None:
    """Raise ``InvariantError`` unless the records of a group make sense together."""
    _check(ledger, _group_rules(ledger))
    for member in ledger.members.values():
        _check(ledger, _member_rules(ledger, member), member.member_id)


def check_timers(ledger: Ledger, timers: ConsumerTimers) -> None:
    """Raise ``InvariantError`` unless every member that falls silent, or is late, will be noticed."""
    for member_id, member in ledger.members.items():
        is_revoking = member.progress.state is MemberState.UNREVOKED_PARTITIONS
        owes = is_revoking and not member.speaks_classic
        rules = {
            "has a session": timers.has(DeadlineKind.SESSION, member_id),
            "has to let go in time, if it has to": timers.has(DeadlineKind.REVOCATION, member_id) == owes,
        }
        _check(ledger, rules, member_id)


def _check(ledger: Ledger, rules: dict[str, bool], member_id: str = "") -> None:
    for what, holds in rules.items():
        if not holds:
            raise InvariantError(f"group {ledger.group_id!r} at epoch {ledger.epoch}: {member_id} {what}")


def _group_rules(ledger: Ledger) -> dict[str, bool]:
    owners: dict[TopicIdPartition, str] = {}
    held_count = 0
    for member in ledger.members.values():
        held = (*member.progress.assigned, *member.progress.revoking)
        held_count += len(held)
        owners.update(dict.fromkeys(held, member.member_id))
    static_ids = {
        member.instance_id: member.member_id
        for member in ledger.members.values()
        if member.instance_id is not None
    }
    targets = [partition for target in ledger.targets.values() for partition in target]
    return {
        "no partition is held twice": held_count == len(owners),
        "the index of holders is right": owners == ledger.owners,
        "the index of instances is right": static_ids == ledger.static_ids,
        "no partition is to be held twice": len(targets) == len(set(targets)),
        "only members are to have something": ledger.targets.keys() <= ledger.members.keys(),
        "the target is not ahead of the group": ledger.target_epoch <= ledger.epoch,
    }


def _member_rules(ledger: Ledger, member: ConsumerMember) -> dict[str, bool]:
    progress = member.progress
    is_revoking = progress.state is MemberState.UNREVOKED_PARTITIONS
    target = ledger.targets.get(member.member_id, NO_PARTITIONS)
    is_done = progress.is_reconciled_to(ledger.target_epoch)
    return {
        "is not ahead of the target": progress.epoch <= ledger.target_epoch,
        "has something to let go of just when it is revoking": bool(progress.revoking) == is_revoking,
        "has what it is to have once it is there": not is_done or member.assigned_partitions() == target,
        "was not given anything later than now": all(
            epoch <= max(progress.epoch, ledger.target_epoch) for epoch in progress.assigned.values()
        ),
    }
