"""What every assignor promises, and what each promises on top of it."""

from collections import Counter
from math import ceil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.groups.assignors import ASSIGNORS
from penstock.groups.assignors.quotas import keep_within_quotas
from penstock.groups.assignors.ranges import assign_ranges
from penstock.groups.assignors.spec import Assignor, GroupSpec, MemberSpec
from penstock.groups.assignors.uniform import assign_uniformly
from penstock.groups.partitions import NO_PARTITIONS, Partitions, TopicIdPartition
from penstock.model.ids import TopicId

IDS = [TopicId(bytes([number] * 16)) for number in range(1, 6)]
MEMBERS = [f"member-{number}" for number in range(12)]

counts = st.dictionaries(st.sampled_from(IDS), st.integers(1, 12), min_size=1)
some_members = st.lists(st.sampled_from(MEMBERS), min_size=1, unique=True)
few = settings(max_examples=40)
every_assignor = pytest.mark.parametrize("assignor", ASSIGNORS.values(), ids=ASSIGNORS)


def alike(members: list[str], counts: dict[TopicId, int], previous: dict[str, Partitions]) -> GroupSpec:
    topics = frozenset(counts)
    specs = {
        member: MemberSpec(topics=topics, previous=previous.get(member, NO_PARTITIONS)) for member in members
    }
    return GroupSpec(members=specs, partition_counts=counts)


@st.composite
def mixed(draw: st.DrawFn) -> GroupSpec:
    """Members that want different things, and had anything."""
    partition_counts = draw(counts)
    partition = st.builds(TopicIdPartition, st.sampled_from(IDS), st.integers(0, 14))
    spec = st.builds(
        MemberSpec,
        topics=st.frozensets(st.sampled_from(sorted(partition_counts))),
        previous=st.frozensets(partition, max_size=20),
    )
    members = draw(st.dictionaries(st.sampled_from(MEMBERS), spec, max_size=8))
    return GroupSpec(members=members, partition_counts=partition_counts)


def owners(assigned: dict[str, Partitions]) -> dict[TopicIdPartition, str]:
    return {partition: member for member, partitions in assigned.items() for partition in partitions}


def moved(before: dict[str, Partitions], after: dict[str, Partitions]) -> int:
    """How many partitions have another member than before, of those that had one."""
    new = owners(after)
    return sum(new.get(partition) != member for partition, member in owners(before).items())


def by_number(assigned: dict[str, Partitions], topic_id: TopicId) -> dict[int, str]:
    found = owners(assigned).items()
    return {partition.partition: member for partition, member in found if partition.topic_id == topic_id}


@every_assignor
@few
@given(group=mixed())
def test_every_partition_goes_to_exactly_one_member_that_wants_it(
    assignor: Assignor, group: GroupSpec
) -> None:
    assigned = assignor(group)
    assert assigned.keys() == group.members.keys()
    for member, partitions in assigned.items():
        assert {each.topic_id for each in partitions} <= group.members[member].topics
    wanted = frozenset[TopicId]().union(*(spec.topics for spec in group.members.values()))
    expected = {
        TopicIdPartition(topic, number) for topic in wanted for number in range(group.partition_counts[topic])
    }
    given_out = Counter(each for partitions in assigned.values() for each in partitions)
    assert given_out == Counter(expected)


@every_assignor
@few
@given(group=mixed())
def test_answer_depends_on_the_question_alone(assignor: Assignor, group: GroupSpec) -> None:
    turned = GroupSpec(
        members=dict(reversed(list(group.members.items()))),
        partition_counts=dict(reversed(list(group.partition_counts.items()))),
    )
    assert assignor(group) == assignor(turned)


@every_assignor
@few
@given(group=mixed())
def test_assignment_that_was_made_stays_as_it_is(assignor: Assignor, group: GroupSpec) -> None:
    first = assignor(group)
    again = {
        member: MemberSpec(topics=spec.topics, previous=first[member])
        for member, spec in group.members.items()
    }
    assert assignor(GroupSpec(members=again, partition_counts=group.partition_counts)) == first


@few
@given(members=some_members, counts=counts, previous=mixed())
def test_members_that_want_the_same_differ_by_one_at_most(
    members: list[str], counts: dict[TopicId, int], previous: GroupSpec
) -> None:
    had = {member: spec.previous for member, spec in previous.members.items()}
    sizes = [len(each) for each in assign_uniformly(alike(members, counts, had)).values()]
    assert max(sizes) - min(sizes) <= 1


@few
@given(group=mixed())
def test_nobody_has_two_more_than_another_who_could_have_one_of_them(group: GroupSpec) -> None:
    assigned = assign_uniformly(group)
    for rich, partitions in assigned.items():
        for poor, spec in group.members.items():
            if len(partitions) - len(assigned[poor]) > 1:
                assert not {each.topic_id for each in partitions} & spec.topics, (rich, poor)


@given(members=some_members, counts=counts, number=st.integers(0, 11))
def test_member_that_comes_moves_no_more_than_its_share(
    members: list[str], counts: dict[TopicId, int], number: int
) -> None:
    before = assign_uniformly(alike(members, counts, {}))
    everybody = [*members, f"member-{number}-new"]
    after = assign_uniformly(alike(everybody, counts, before))
    share = len(after[everybody[-1]])
    assert moved(before, after) == share <= ceil(sum(counts.values()) / len(everybody))


@every_assignor
@given(members=some_members, counts=counts, data=st.data())
def test_member_that_goes_moves_nothing_but_what_it_had(
    assignor: Assignor, members: list[str], counts: dict[TopicId, int], data: st.DataObject
) -> None:
    before = assignor(alike(members, counts, {}))
    gone = data.draw(st.sampled_from(members))
    left = [member for member in members if member != gone]
    after = assignor(alike(left, counts, before))
    assert all(before[member] <= after[member] for member in left)


@every_assignor
@given(members=some_members, counts=counts, data=st.data())
def test_partitions_that_are_added_move_no_others(
    assignor: Assignor, members: list[str], counts: dict[TopicId, int], data: st.DataObject
) -> None:
    before = assignor(alike(members, counts, {}))
    topic = data.draw(st.sampled_from(sorted(counts)))
    more = {**counts, topic: counts[topic] + data.draw(st.integers(1, 5))}
    after = assignor(alike(members, more, before))
    if assignor is assign_uniformly:
        assert moved(before, after) == 0


@given(members=some_members, counts=counts)
def test_fresh_ranges_have_no_holes(members: list[str], counts: dict[TopicId, int]) -> None:
    assigned = assign_ranges(alike(members, counts, {}))
    for topic in counts:
        in_order = [member for _, member in sorted(by_number(assigned, topic).items())]
        assert in_order == sorted(in_order)


@given(
    members=some_members,
    count=st.integers(1, 12),
    topics=st.lists(st.sampled_from(IDS), min_size=2, unique=True),
    rounds=st.lists(some_members, max_size=4),
)
def test_topics_that_are_alike_have_the_same_ranges_whoever_comes_and_goes(
    members: list[str], count: int, topics: list[TopicId], rounds: list[list[str]]
) -> None:
    counts = dict.fromkeys(topics, count)
    assigned = assign_ranges(alike(members, counts, {}))
    for others in rounds:
        assigned = assign_ranges(alike(others, counts, assigned))
        ranges = [by_number(assigned, topic) for topic in topics]
        assert all(each == ranges[0] for each in ranges)
        sizes = Counter(ranges[0].values())
        assert max(sizes.values()) - min(sizes.get(member, 0) for member in others) <= 1


def test_range_of_a_topic_follows_what_most_topics_like_it_had() -> None:
    counts = dict.fromkeys(IDS[:3], 1)
    previous = {
        "ann": frozenset({TopicIdPartition(IDS[0], 0)}),
        "bob": frozenset({TopicIdPartition(IDS[1], 0), TopicIdPartition(IDS[2], 0)}),
    }
    assigned = assign_ranges(alike(["ann", "bob"], counts, previous))
    assert assigned["bob"] == {TopicIdPartition(topic, 0) for topic in IDS[:3]}


def test_member_that_gives_up_some_keeps_the_lowest_numbers_of_every_topic() -> None:
    counts = {IDS[0]: 4, IDS[1]: 4}
    before = assign_uniformly(alike(["ann"], counts, {}))
    after = assign_uniformly(alike(["ann", "bob"], counts, before))
    assert after["ann"] == {TopicIdPartition(topic, number) for topic in IDS[:2] for number in (0, 1)}


def test_topics_of_a_group_are_spread_over_its_members() -> None:
    assigned = assign_uniformly(alike(["ann", "bob"], {IDS[0]: 2, IDS[1]: 2}, {}))
    assert all({each.topic_id for each in partitions} == {IDS[0], IDS[1]} for partitions in assigned.values())


def test_group_without_members_has_nothing_to_assign() -> None:
    group = GroupSpec(members={}, partition_counts={IDS[0]: 3})
    assert group.is_homogeneous
    assert all(assignor(group) == {} for assignor in ASSIGNORS.values())


def test_who_has_more_than_its_share_is_the_first_to_have_one_more() -> None:
    kept, room = keep_within_quotas({"ann": [], "bob": [1, 2, 3], "cal": [4]}, 4)
    assert kept == {"ann": [], "bob": [1, 2], "cal": [4]}
    assert room == {"ann": 1, "bob": 0, "cal": 0}
