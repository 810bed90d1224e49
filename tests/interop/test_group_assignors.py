"""Who gets which partitions: every assignor of every client, seen through the client's own members."""

import pytest
from tests.conftest import UniqueName
from tests.interop.conftest import MakeMember, MakeTopic
from tests.interop.feed import Feed
from tests.interop.group_members import MemberProcess, check_story, wait_processed, wait_settled
from tests.interop.members.story import Partition

pytestmark = [pytest.mark.interop, pytest.mark.slow]

EAGER_CLIENTS = ("confluent", "kafka-python", "aiokafka")
STICKY_CLIENTS = ("kafka-python", "aiokafka")
"""confluent-kafka knows only the cooperative one."""

COOPERATIVE_CLIENTS = ("confluent", "kafka-python")
"""aiokafka and kafkajs have no cooperative assignor."""


def join(
    make_member: MakeMember, client: str, partitions: list[Partition], *, group: str, assignor: str
) -> MemberProcess:
    topics = tuple(sorted({topic for topic, _ in partitions}))
    return make_member(client, group=group, topics=topics, assignor=assignor)


@pytest.mark.parametrize("client", EAGER_CLIENTS)
def test_range_gives_neighbours_and_the_same_numbers_of_every_topic(
    make_topic: MakeTopic, make_member: MakeMember, unique: UniqueName, client: str
) -> None:
    left, right = make_topic(3), make_topic(3)
    partitions, group = [*left, *right], unique("group")
    members = [join(make_member, client, partitions, group=group, assignor="range") for _ in range(2)]
    wait_settled(members, partitions, difference_max=2)
    shares = sorted([sorted(member.owned) for member in members], key=len)
    assert shares == [sorted([left[2], right[2]]), sorted([*left[:2], *right[:2]])]


@pytest.mark.parametrize("client", EAGER_CLIENTS)
def test_round_robin_deals_partitions_in_turn_over_all_topics(
    make_topic: MakeTopic, make_member: MakeMember, unique: UniqueName, client: str
) -> None:
    partitions, group = sorted([*make_topic(3), *make_topic(3)]), unique("group")
    members = [join(make_member, client, partitions, group=group, assignor="roundrobin") for _ in range(2)]
    wait_settled(members, partitions)
    assert sorted(sorted(member.owned) for member in members) == [partitions[::2], partitions[1::2]]


@pytest.mark.parametrize("client", STICKY_CLIENTS)
def test_sticky_leaves_with_everyone_what_they_had_when_one_goes(
    make_topic: MakeTopic, make_member: MakeMember, unique: UniqueName, client: str
) -> None:
    partitions, group = make_topic(9), unique("group")
    members = [join(make_member, client, partitions, group=group, assignor="sticky") for _ in range(3)]
    wait_settled(members, partitions)
    leaving, *staying = members
    before = [member.owned for member in staying]

    leaving.leave()
    wait_settled(staying, partitions)

    for member, had in zip(staying, before, strict=True):
        assert had <= member.owned


@pytest.mark.parametrize("client", COOPERATIVE_CLIENTS)
def test_cooperative_sticky_moves_only_what_must_move(
    lively: str, make_topic: MakeTopic, make_member: MakeMember, unique: UniqueName, client: str
) -> None:
    partitions, group = make_topic(6), unique("group")
    with Feed(lively, partitions[0][0], partitions=6) as feed:
        members: list[MemberProcess] = []
        for _ in range(3):
            members.append(join(make_member, client, partitions, group=group, assignor="cooperative-sticky"))
            wait_settled(members, partitions)
        # Six, then three and three, then two each: the first gives up four in all, the second one.
        assert [len(member.revoked()) for member in members] == [4, 1, 0]
        assert [member.revoked() & member.owned for member in members] == [set(), set(), set()]
        second = members[1].owned

        members[2].leave()
        wait_settled(members[:2], partitions)
        values = feed.stop()

    assert members[0].revoked().isdisjoint(members[0].owned - members[2].revoked())
    assert second <= members[1].owned
    wait_processed(members, values)
    check_story(members)
