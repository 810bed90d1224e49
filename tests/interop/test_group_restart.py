"""The broker goes away while a group consumes; afterwards the group goes on from what it has committed."""

import pytest
from tests.conftest import MakeServer, UniqueName
from tests.interop.confluent import admin_client, create_topic
from tests.interop.conftest import MakeMember
from tests.interop.feed import Feed
from tests.interop.group_members import (
    check_nothing_committed_is_processed_again,
    check_story,
    wait_more_processed,
    wait_processed,
    wait_settled,
)
from tests.lively_broker import LIVELY

pytestmark = [pytest.mark.interop, pytest.mark.slow]

WAYS = [
    *[(client, "classic") for client in ("confluent", "kafka-python", "aiokafka", "kafkajs")],
    ("confluent", "consumer"),
]


@pytest.mark.parametrize(("client", "protocol"), WAYS)
def test_group_goes_on_from_its_committed_offsets_after_a_stop_and_after_a_kill(
    make_server: MakeServer, make_member: MakeMember, unique: UniqueName, client: str, protocol: str
) -> None:
    server = make_server(LIVELY)
    topic, group = create_topic(admin_client(server.bootstrap), unique(), partitions=4), unique("group")
    partitions = [(topic, number) for number in range(4)]
    orders = {
        "bootstrap": server.bootstrap,
        "group": group,
        "topics": (topic,),
        "session_timeout_ms": 6000,
        "protocol": protocol,
        "assignor": "uniform" if protocol == "consumer" else "range",
    }
    with Feed(server.bootstrap, topic, partitions=4) as feed:
        members = [make_member(client, **orders) for _ in range(2)]
        wait_settled(members, partitions)
        wait_more_processed(members)
        for end in (server.stop, server.kill):
            end()
            server.restart()
            wait_more_processed(members)
            wait_settled(members, partitions)
        values = feed.stop()

    wait_processed(members, values)
    check_story(members)
    check_nothing_committed_is_processed_again(members)
