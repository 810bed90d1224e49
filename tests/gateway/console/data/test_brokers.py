"""Brokers as JSON: the quorum, settings, replicas; and what a broker that is gone looks like."""

import httpx2
import pytest
from tests.gateway.conftest import MakeGateway
from tests.gateway.console.conftest import commit, eventually

from penstock.client import Admin
from penstock.testing import Cluster


def test_brokers_and_the_quorum_are_told(api: httpx2.Client) -> None:
    told = api.get("/brokers").json()

    leader = told["quorum"]["leader"]
    assert leader == told["controller"]
    assert {node["role"] for node in told["quorum"]["nodes"]} <= {"leader", "voter", "observer"}
    assert told["brokers"][0]["state"] == "up"
    assert told["notes"] == []


def test_broker_tells_its_settings_and_replicas(api: httpx2.Client, bootstrap: str) -> None:
    with Admin(bootstrap_servers=bootstrap) as admin:
        admin.create_topic("held", partitions=1, exist_ok=True)
    number = api.get("/brokers").json()["brokers"][0]["id"]
    told = api.get(f"/brokers/{number}").json()

    assert any(each["topic"] == "held" for each in told["partitions"])
    assert any(each["name"] == "log.retention.ms" for each in told["configs"])


def test_broker_that_is_not_there_is_404_and_names_those_that_are(api: httpx2.Client) -> None:
    answer = api.get("/brokers/999")

    assert answer.status_code == 404
    assert "There is no broker 999" in answer.json()["message"]


@pytest.mark.slow
def test_broker_that_dies_is_a_finding_and_everything_else_is_still_told(make_gateway: MakeGateway) -> None:
    with Cluster(3) as cluster, Admin(bootstrap_servers=cluster.bootstrap_servers) as admin:
        admin.create_topic("orders", partitions=3)
        commit(admin, "billing", {("orders", 0): 0})
        server = make_gateway(cluster.bootstrap_servers)
        with httpx2.Client(base_url=f"{server.url}/console/api", timeout=60) as client:
            assert findings(client) == []
            cluster.kill(3)
            eventually(lambda: len(findings(client)) == 2)
            found = findings(client)
            topics = client.get("/topics").json()["topics"]
            groups = client.get("/groups").json()["groups"]

    assert found[0] == "Broker 3 is fenced"
    assert found[1].endswith("have replicas that are behind")
    assert [each["under_replicated"] for each in topics if each["name"] == "orders"] == [3]
    assert [each["group"] for each in groups] == ["billing"]


def findings(client: httpx2.Client) -> list[str]:
    return [finding["text"] for finding in client.get("/overview").json()["health"]["findings"]]
