"""Groups whose partitions the broker deals out (KIP-848), with confluent-kafka: the one client that can."""

import re

import pytest
from confluent_kafka import ConsumerGroupType
from confluent_kafka.admin import AdminClient
from tests.broker_process import wait_until
from tests.conftest import UniqueName
from tests.interop.confluent import REQUEST_SECONDS, admin_client, create_topic, make_producer, send
from tests.interop.conftest import MakeMember, MakeTopic
from tests.interop.feed import Feed
from tests.interop.group_members import (
    check_story,
    wait_more_processed,
    wait_processed,
    wait_settled,
)

pytestmark = [pytest.mark.interop, pytest.mark.slow]

CONFLUENT = "confluent"


@pytest.fixture
def admin(lively: str) -> AdminClient:
    return admin_client(lively)


def group_type(admin: AdminClient, group: str) -> ConsumerGroupType:
    listed = admin.list_consumer_groups(request_timeout=REQUEST_SECONDS).result(REQUEST_SECONDS).valid
    (found,) = [one.type for one in listed if one.group_id == group]
    return found


@pytest.mark.parametrize("assignor", ["uniform", "range"])
def test_group_grows_from_one_to_five_and_shrinks_to_two_under_load(
    lively: str, make_topic: MakeTopic, make_member: MakeMember, unique: UniqueName, assignor: str
) -> None:
    partitions, group = make_topic(10), unique("group")
    topic = partitions[0][0]
    orders = {"group": group, "topics": (topic,), "protocol": "consumer", "assignor": assignor}
    with Feed(lively, topic, partitions=10) as feed:
        members = [make_member(CONFLUENT, **orders)]
        wait_settled(members, partitions)
        wait_more_processed(members)
        members += [make_member(CONFLUENT, **orders) for _ in range(4)]
        wait_settled(members, partitions)
        wait_more_processed(members)

        staying, leaving, killed = members[:2], members[2:4], members[4]
        for member in leaving:
            member.ask_to_leave()
        killed.kill()
        for member in leaving:
            member.wait_left()
        wait_settled(staying, partitions)
        wait_more_processed(staying)
        values = feed.stop()

    wait_processed(members, values)
    check_story(members)
    if assignor == "uniform":  # Sticky: who stays, and was never taken for dead, keeps what it has.
        assert all(len(member.revoked()) <= 10 - 2 for member in staying if not member.named("lost"))


def test_expired_member_is_replaced_and_nothing_is_lost(
    lively: str, make_topic: MakeTopic, make_member: MakeMember, unique: UniqueName
) -> None:
    partitions, group = make_topic(6), unique("group")
    topic = partitions[0][0]
    orders = {"group": group, "topics": (topic,), "protocol": "consumer", "assignor": "uniform"}
    with Feed(lively, topic, partitions=6) as feed:
        members = [make_member(CONFLUENT, **orders) for _ in range(3)]
        wait_settled(members, partitions)
        wait_more_processed(members)
        members[0].kill()
        wait_settled(members[1:], partitions)
        wait_more_processed(members[1:])
        values = feed.stop()
    wait_processed(members, values)
    check_story(members)


def test_static_member_takes_its_partitions_up_again(
    lively: str, make_topic: MakeTopic, make_member: MakeMember, unique: UniqueName
) -> None:
    partitions, group = make_topic(6), unique("group")
    topic = partitions[0][0]
    orders = {"group": group, "topics": (topic,), "protocol": "consumer", "assignor": "uniform"}
    with Feed(lively, topic, partitions=6):
        members = [make_member(CONFLUENT, **orders, instance_id=f"instance-{n}") for n in range(3)]
        wait_settled(members, partitions)
        victim, *others = members
        before = victim.owned, [len(other.named("assigned")) for other in others]

        victim.leave()
        reborn = make_member(CONFLUENT, **orders, instance_id="instance-0")
        wait_settled([reborn, *others], partitions)
        wait_more_processed([reborn, *others])
        assert (reborn.owned, [len(other.named("assigned")) for other in others]) == before


def test_pattern_takes_the_topics_that_match_and_no_other(
    lively: str, admin: AdminClient, make_member: MakeMember, unique: UniqueName
) -> None:
    prefix = unique("pattern")
    wanted = [(create_topic(admin, f"{prefix}.{name}"), 0) for name in ("a", "b")]
    create_topic(admin, f"{prefix}-other")
    group, pattern = unique("group"), rf"^{re.escape(prefix)}\..*"
    orders = {"group": group, "topics": (pattern,), "protocol": "consumer", "assignor": "uniform"}

    members = [make_member(CONFLUENT, **orders) for _ in range(2)]
    wait_settled(members, wanted)
    for topic, _ in wanted:
        send(make_producer(lively), topic, [{"value": topic.encode()}])
    wait_processed(members, [topic for topic, _ in wanted])


@pytest.mark.parametrize("assignor", ["range", "cooperative-sticky"])
def test_group_migrates_to_the_consumer_protocol_and_back_while_it_consumes(
    lively: str,
    admin: AdminClient,
    make_topic: MakeTopic,
    make_member: MakeMember,
    unique: UniqueName,
    assignor: str,
) -> None:
    partitions, group = make_topic(6), unique("group")
    topic = partitions[0][0]
    classic = {"group": group, "topics": (topic,), "assignor": assignor}
    modern = {"group": group, "topics": (topic,), "protocol": "consumer", "assignor": "uniform"}
    with Feed(lively, topic, partitions=6) as feed:
        members = [make_member(CONFLUENT, **classic) for _ in range(2)]
        wait_settled(members, partitions)
        assert group_type(admin, group) == ConsumerGroupType.CLASSIC

        for orders in (modern, modern, classic, classic):
            members[-2].leave()
            wait_settled(members[-1:], partitions)
            members.append(make_member(CONFLUENT, **orders))
            wait_settled(members[-2:], partitions)
            wait_more_processed(members[-2:])
            if orders is modern:
                assert group_type(admin, group) == ConsumerGroupType.CONSUMER
        wait_until(
            lambda: group_type(admin, group) == ConsumerGroupType.CLASSIC,
            what="the group to be classic again",
        )
        values = feed.stop()

    wait_processed(members, values)
    check_story(members)
