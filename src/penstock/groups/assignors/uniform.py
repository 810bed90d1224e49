"""The assignor ``uniform``: members have as equally many partitions as can be.

If all want the same topics, any two members differ by one partition at most; when a member comes it takes its
share from those that have most, and when one goes only what it had moves. The partitions of one topic are
spread, too: a member that gives up some keeps the lowest numbers of every topic.

If they want different things there may be no even spread. Then what is free goes to whoever has least of
those that want it, the topics that fewest want first; afterwards partitions move from members that have at
least two more than another that wants them, until there are none.
"""

from collections import deque
from collections.abc import Iterable, Mapping

from penstock.groups.assignors.quotas import keep_within_quotas
from penstock.groups.assignors.spec import GroupSpec
from penstock.groups.partitions import Partitions, TopicIdPartition
from penstock.model.ids import TopicId


def assign_uniformly(group: GroupSpec) -> dict[str, Partitions]:
    """What each member is to have."""
    if not group.members:
        return {}
    return _assign_alike(group) if group.is_homogeneous else _assign_mixed(group)


def _assign_alike(group: GroupSpec) -> dict[str, Partitions]:
    topics = next(iter(group.members.values())).topics
    wanted = _partitions(group, topics)
    kept, room = keep_within_quotas(_previous(group), len(wanted))
    taken = {partition for partitions in kept.values() for partition in partitions}
    places = deque(sorted(member_id for member_id in room if room[member_id]))
    for partition in wanted:
        if partition not in taken:
            member_id = places.popleft()
            kept[member_id].append(partition)
            room[member_id] -= 1
            if room[member_id]:
                places.append(member_id)
    return {member_id: frozenset(partitions) for member_id, partitions in kept.items()}


def _previous(group: GroupSpec) -> dict[str, list[TopicIdPartition]]:
    """What each had and may have again, the lowest numbers first; nobody has what another has."""
    taken: set[TopicIdPartition] = set()
    previous = {}
    for member_id, member in sorted(group.members.items()):
        had = [
            each
            for each in member.previous
            if each.topic_id in member.topics
            and each.partition < group.partition_counts.get(each.topic_id, 0)
            and each not in taken
        ]
        taken.update(had)
        previous[member_id] = sorted(had, key=_by_number)
    return previous


def _by_number(partition: TopicIdPartition) -> tuple[int, TopicId]:
    return partition.partition, partition.topic_id


def _partitions(group: GroupSpec, topics: Iterable[TopicId]) -> list[TopicIdPartition]:
    return [
        TopicIdPartition(topic_id, partition)
        for topic_id in sorted(topics)
        for partition in range(group.partition_counts.get(topic_id, 0))
    ]


def _assign_mixed(group: GroupSpec) -> dict[str, Partitions]:
    readers = _readers(group)
    has = {member_id: set(partitions) for member_id, partitions in _previous(group).items()}
    taken = set().union(*has.values())
    for topic_id in sorted(readers, key=lambda each: (len(readers[each]), each)):
        for partition in _partitions(group, [topic_id]):
            if partition not in taken:
                has[_least(has, readers[topic_id])].add(partition)
    _even_out(has, readers)
    return {member_id: frozenset(partitions) for member_id, partitions in has.items()}


def _readers(group: GroupSpec) -> dict[TopicId, list[str]]:
    """Who wants each topic, in a fixed order."""
    readers: dict[TopicId, list[str]] = {}
    for member_id, member in sorted(group.members.items()):
        for topic_id in member.topics:
            readers.setdefault(topic_id, []).append(member_id)
    return readers


def _least(has: Mapping[str, set[TopicIdPartition]], members: Iterable[str]) -> str:
    return min(members, key=lambda member_id: len(has[member_id]))


def _even_out(has: Mapping[str, set[TopicIdPartition]], readers: Mapping[TopicId, list[str]]) -> None:
    """Move partitions from who has most to who has least, topic by topic, until that helps nobody.

    Each move makes the sum of the squares of what members have smaller, so this comes to an end.
    """
    is_uneven = True
    while is_uneven:
        is_uneven = False
        for topic_id in sorted(readers):
            is_uneven |= _even_out_topic(has, topic_id, readers[topic_id])


def _even_out_topic(has: Mapping[str, set[TopicIdPartition]], topic_id: TopicId, readers: list[str]) -> bool:
    held = {
        member_id: sorted(each for each in has[member_id] if each.topic_id == topic_id)
        for member_id in readers
    }
    has_moved = False
    while True:
        poor = _least(has, readers)
        rich = max((each for each in readers if held[each]), key=lambda each: len(has[each]), default=poor)
        if len(has[rich]) - len(has[poor]) < 2:
            return has_moved
        partition = held[rich].pop()
        has[rich].remove(partition)
        has[poor].add(partition)
        held[poor].append(partition)
        has_moved = True
