"""Clusters that tell little: pages show the rest, and say what is not told."""

from collections.abc import Iterator

import httpx2
import pytest
from tests.cli.scripted_broker import ScriptedBroker, placed, scripted_cluster

from penstock.gateway.server import GatewayServer
from penstock.gateway.settings import GatewaySettings
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.list_groups import ListedGroup, ListGroupsResponse


@pytest.fixture
def old_cluster() -> Iterator[tuple[ScriptedBroker, ...]]:
    """Two brokers that know little more than metadata."""
    with scripted_cluster(2, topics={"orders": [placed(1, 2), placed(2, 1)]}, controller_id=1) as brokers:
        yield tuple(brokers)


@pytest.fixture
def old(old_cluster: tuple[ScriptedBroker, ...]) -> Iterator[httpx2.Client]:
    """Asks a gateway in front of them."""
    settings = GatewaySettings(bootstrap_servers=old_cluster[0].bootstrap, port=0)
    with (
        GatewayServer(settings).start() as server,
        httpx2.Client(base_url=f"{server.url}/console/api", timeout=30) as client,
    ):
        yield client


def test_overview_and_brokers_of_a_cluster_without_quorum_and_disks(old: httpx2.Client) -> None:
    overview = old.get("/overview").json()
    brokers = old.get("/brokers").json()

    assert (overview["health"]["state"], overview["counts"]["partitions"]) == ("healthy", 2)
    assert brokers["quorum"] is None
    assert [broker["bytes"] for broker in brokers["brokers"]] == [None, None]
    assert any("disks of broker 1 are not known" in note for note in brokers["notes"])
    assert old.get("/brokers/2").json()["configs"] is None


def test_topics_of_a_cluster_that_tells_no_offsets_and_sizes(old: httpx2.Client) -> None:
    listed = old.get("/topics").json()
    one = old.get("/topics/orders").json()

    (line,) = listed["topics"]
    assert (line["partitions"], line["bytes"], line["messages"], line["rate"]) == (2, None, None, None)
    assert any("does not serve ListOffsets" in note for note in listed["notes"])
    assert [each["leader"] for each in one["partitions"]] == [1, 2]
    assert [each["end_offset"] for each in one["partitions"]] == [None, None]
    assert old.get("/topics/orders/config").status_code == 501


def test_groups_and_transactions_that_are_not_told_are_notes(
    old: httpx2.Client, old_cluster: tuple[ScriptedBroker, ...]
) -> None:
    assert len(old.get("/groups").json()["notes"]) == 2
    assert len(old.get("/transactions").json()["notes"]) == 2


def test_groups_are_listed_where_nothing_more_is_told_of_them(
    old_cluster: tuple[ScriptedBroker, ...],
) -> None:
    groups = (ListedGroup(group_id="billing", protocol_type="consumer", group_state="Stable"),)
    old_cluster[0].on(ApiKey.LIST_GROUPS, ListGroupsResponse(groups=groups))
    settings = GatewaySettings(bootstrap_servers=old_cluster[0].bootstrap, port=0)
    with GatewayServer(settings).start() as server:
        told = httpx2.get(f"{server.url}/console/api/groups", timeout=30).json()

    (line,) = told["groups"]
    assert (line["group"], line["state"], line["members"], line["lag"]) == ("billing", "Stable", None, None)
    assert told["notes"]
