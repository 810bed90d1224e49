"""The assignor ``range``: of every topic a member has a range, and of topics that are alike the same range.

Topics are alike if they have equally many partitions and the same members want them. Who reads partition 3 of
one then reads partition 3 of all of them, so that what was written under one key comes together (a join).
Within that it is sticky: members that stay keep what they had as far as their share goes, so that after
members have come and gone ranges may have holes.

Members in the front get the odd ones of every topic: with many topics of few partitions they have more to do
than others. Who minds takes ``uniform``.
"""

from collections import Counter

from penstock.groups.assignors.quotas import keep_within_quotas
from penstock.groups.assignors.spec import GroupSpec
from penstock.groups.partitions import Partitions, TopicIdPartition
from penstock.model.ids import TopicId


def assign_ranges(group: GroupSpec) -> dict[str, Partitions]:
    """What each member is to have."""
    has: dict[str, set[TopicIdPartition]] = {member_id: set() for member_id in group.members}
    owners = {each: member_id for member_id, spec in sorted(group.members.items()) for each in spec.previous}
    for (readers, count), topics in _alike(group).items():
        for member_id, numbers in _ranges(readers, count, _previous(owners, topics, count)).items():
            has[member_id].update(TopicIdPartition(topic_id, each) for topic_id in topics for each in numbers)
    return {member_id: frozenset(partitions) for member_id, partitions in has.items()}


def _alike(group: GroupSpec) -> dict[tuple[tuple[str, ...], int], list[TopicId]]:
    """The topics by who wants them and how many partitions they have."""
    readers: dict[TopicId, list[str]] = {}
    for member_id, member in sorted(group.members.items()):
        for topic_id in member.topics:
            readers.setdefault(topic_id, []).append(member_id)
    alike: dict[tuple[tuple[str, ...], int], list[TopicId]] = {}
    for topic_id in sorted(readers):
        count = group.partition_counts.get(topic_id, 0)
        alike.setdefault((tuple(readers[topic_id]), count), []).append(topic_id)
    return alike


def _previous(owners: dict[TopicIdPartition, str], topics: list[TopicId], count: int) -> dict[int, str]:
    """Who had each number: in most of the topics that are alike, if they were not always."""
    previous = {}
    for number in range(count):
        votes = Counter(
            owner for topic_id in topics if (owner := owners.get(TopicIdPartition(topic_id, number)))
        )
        if votes:
            previous[number] = max(sorted(votes), key=lambda member_id: votes[member_id])
    return previous


def _ranges(readers: tuple[str, ...], count: int, previous: dict[int, str]) -> dict[str, list[int]]:
    """The numbers that each member gets."""
    had: dict[str, list[int]] = {member_id: [] for member_id in readers}
    for number, member_id in previous.items():
        if member_id in had:
            had[member_id].append(number)
    kept, room = keep_within_quotas(had, count)
    taken = {number for numbers in kept.values() for number in numbers}
    free = iter([number for number in range(count) if number not in taken])
    for member_id in readers:
        kept[member_id].extend(next(free) for _ in range(room[member_id]))
    return kept
