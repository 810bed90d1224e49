"""Groups of member processes: joining, dying, restarting; each story with every client that can tell it."""

import pytest
from tests.conftest import UniqueName
from tests.interop.conftest import MakeMember, MakeTopic
from tests.interop.feed import Feed
from tests.interop.group_members import (
    check_story,
    wait_more_processed,
    wait_processed,
    wait_settled,
)

pytestmark = [pytest.mark.interop, pytest.mark.slow]

CLIENTS = ("confluent", "kafka-python", "aiokafka", "kafkajs")
STATIC_CLIENTS = ("confluent", "kafka-python", "aiokafka")
"""kafkajs has no static membership."""


@pytest.mark.parametrize("client", CLIENTS)
def test_killed_member_loses_its_partitions_to_others_and_no_record_is_lost(
    lively: str, make_topic: MakeTopic, make_member: MakeMember, unique: UniqueName, client: str
) -> None:
    partitions = make_topic(6)
    topic, group = partitions[0][0], unique("group")
    assignor = "roundrobin"
    with Feed(lively, topic, partitions=6) as feed:
        members = [make_member(client, group=group, topics=(topic,), assignor=assignor) for _ in range(3)]
        wait_settled(members, partitions)
        wait_more_processed(members)

        victim, *survivors = members
        victim.kill()
        wait_settled(survivors, partitions)
        wait_more_processed(survivors)
        values = feed.stop()

    wait_processed(members, values)
    check_story(members)
    for survivor in survivors:
        survivor.leave()


@pytest.mark.parametrize("client", STATIC_CLIENTS)
def test_static_member_killed_and_started_again_disturbs_nobody(
    lively: str, make_topic: MakeTopic, make_member: MakeMember, unique: UniqueName, client: str
) -> None:
    partitions = make_topic(6)
    topic, group = partitions[0][0], unique("group")
    orders = {"group": group, "topics": (topic,), "session_timeout_ms": 15_000}
    with Feed(lively, topic, partitions=6) as feed:
        members = [make_member(client, **orders, instance_id=f"instance-{number}") for number in range(3)]
        wait_settled(members, partitions)
        wait_more_processed(members)
        victim, *others = members
        before = victim.owned, victim.generation, [len(other.named("assigned")) for other in others]

        victim.kill()
        reborn = make_member(client, **orders, instance_id="instance-0")
        wait_settled([reborn, *others], partitions)
        wait_more_processed([reborn, *others])
        values = feed.stop()

    after = reborn.owned, reborn.generation, [len(other.named("assigned")) for other in others]
    assert after == before
    wait_processed([victim, reborn, *others], values)
    check_story([reborn, *others])
