"""The cluster and its brokers over REST."""

from tests.gateway.rest_client import RestClient


def test_cluster_is_told(rest: RestClient, bootstrap: str) -> None:
    found = rest.json("GET", "/cluster")

    assert found["cluster_id"]
    assert found["brokers"] >= 1
    assert found["leaderless"] == 0


def test_brokers_are_told(rest: RestClient, bootstrap: str) -> None:
    listed = rest.json("GET", "/brokers")

    assert f"{listed[0]['host']}:{listed[0]['port']}" in bootstrap
    assert listed[0]["state"] == "up"
    assert rest.json("GET", f"/brokers/{listed[0]['broker']}")["host"] == listed[0]["host"]
    assert rest.refusal("GET", "/brokers/12345")[0] == 404
    assert rest.refusal("GET", "/brokers/first")[0] == 422
