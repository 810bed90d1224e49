"""How groups appear on a terminal and as JSON."""

import sys
from collections.abc import Sequence
from typing import Any

from penstock.cli.group.reset import Reset
from penstock.cli.output import print_table
from penstock.model.ids import TopicPartition
from penstock.wire_client.groups.description import GroupDescription, Member
from penstock.wire_client.groups.listing import GroupListing
from penstock.wire_client.groups.offsets import Progress, total_lag
from penstock.wire_client.topics import by_topic

UNKNOWN = "-"
"""In the place of a value that is not there."""


def print_listing(groups: Sequence[GroupListing]) -> None:
    """One line for each group; nothing at all when there is none."""
    if not groups:
        return
    rows = [
        (group.group, group.type, or_unknown(group.state), or_unknown(group.members), or_unknown(group.lag))
        for group in groups
    ]
    print_table(("GROUP", "TYPE", "STATE", "MEMBERS", "LAG"), rows, numbers=(3, 4))


def description_as_json(group: GroupDescription, progress: Sequence[Progress]) -> dict[str, Any]:
    """A group with everything known of it."""
    return {
        "group": group.group,
        "type": group.type,
        "state": group.state,
        "protocol": group.protocol,
        "epoch": group.epoch,
        "coordinator": {"node_id": group.coordinator, "address": str(group.coordinator_address)},
        "lag": total_lag(progress),
        "partitions": [one.as_json() for one in progress],
        "members": [member.as_json() for member in group.members],
    }


def print_offsets(group: GroupDescription, progress: Sequence[Progress]) -> None:
    """A headline, and one line for each partition."""
    _print_headline(group, progress)
    if not progress:
        print("  no offsets committed, no partitions assigned")
        return
    rows = [
        (
            *one.partition,
            or_unknown(one.committed),
            or_unknown(one.end),
            or_unknown(one.lag),
            *_owner(one.member),
        )
        for one in progress
    ]
    columns = ("TOPIC", "PARTITION", "COMMITTED", "END", "LAG", "MEMBER", "CLIENT", "HOST")
    print_table(columns, rows, numbers=(1, 2, 3, 4))


def print_members(group: GroupDescription, progress: Sequence[Progress]) -> None:
    """A headline, and one line for each member."""
    _print_headline(group, progress)
    if not group.members:
        print("  no members")
        return
    rows = [
        (
            member.member_id,
            or_unknown(member.instance_id),
            member.client_id,
            member.host,
            or_unknown(member.epoch),
            len(member.assignment),
            partitions_text(member.assignment),
            _pending(member),
        )
        for member in group.members
    ]
    columns = ("MEMBER", "INSTANCE", "CLIENT", "HOST", "EPOCH", "PARTITIONS", "ASSIGNMENT", "TO COME")
    print_table(columns, rows, numbers=(4, 5))


def print_reset(reset: Reset) -> None:
    """Every offset before and after; sentences about the whole go to standard error."""
    rows = [
        (
            *move.partition,
            or_unknown(move.old),
            or_unknown(move.new),
            UNKNOWN if move.change is None else f"{move.change:+d}",
            move.note,
        )
        for move in reset.moves
    ]
    print_table(("TOPIC", "PARTITION", "OLD", "NEW", "CHANGE", "NOTE"), rows, numbers=(1, 2, 3, 4))
    count = sum(move.new is not None for move in reset.moves)
    done = (
        "dry run, nothing changed"
        if reset.is_dry_run
        else f"{count} {'offset' if count == 1 else 'offsets'} reset"
    )
    print(f"{reset.group}: {done}")
    for note in reset.notes:
        print(f"Note: {note}", file=sys.stderr)


def or_unknown(value: object) -> object:
    """The value, or a dash for one that is missing or empty."""
    return UNKNOWN if value is None or value == "" else value


def partitions_text(partitions: Sequence[TopicPartition]) -> str:
    """``clicks:0 orders:0,1,2``, as ``--topic`` takes it; a dash for none."""
    texts = [f"{topic}:{','.join(map(str, numbers))}" for topic, numbers in by_topic(partitions).items()]
    return " ".join(texts) or UNKNOWN


def _print_headline(group: GroupDescription, progress: Sequence[Progress]) -> None:
    facts = {
        "type": group.type,
        "state": group.state,
        "protocol": group.protocol or UNKNOWN,
        "epoch": group.epoch,
        "coordinator": f"{group.coordinator} ({group.coordinator_address})",
        "members": len(group.members),
        "lag": or_unknown(total_lag(progress)),
    }
    known = [f"{name} {value}" for name, value in facts.items() if value is not None]
    if uncommitted := sum(one.committed is None for one in progress):
        known.append(f"partitions without offset {uncommitted}")
    print("  ".join([group.group, *known]))


def _owner(member: Member | None) -> tuple[str, str, str]:
    return (UNKNOWN,) * 3 if member is None else (member.member_id, member.client_id, member.host)


def _pending(member: Member) -> str:
    """What the member is to get and does not have yet."""
    target = member.target or ()
    return partitions_text([partition for partition in target if partition not in member.assignment])
