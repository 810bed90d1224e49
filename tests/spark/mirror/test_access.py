"""How a mirror's clusters are reached: one value for all connections, which shows no secret."""

import pytest
from tests.wire_client.security.front import USERS, Front, in_front_of

from penstock.spark.mirror.access import Access
from penstock.spark.mirror.clusters import Clusters, Side
from penstock.spark.mirror.mirroring import MirrorPlan
from penstock.spark.mirror.naming import Selection
from penstock.spark.mirror.offset_map import MirroredPartition, OffsetMap, read_map
from penstock.spark.options.definition import OptionError
from penstock.testing import Broker
from penstock.wire_client.connection import Address
from penstock.wire_client.errors import WireClientError

PASSWORD = USERS["bert"]


def login(password: str = PASSWORD) -> dict[str, str]:
    return {
        "kafka.security.protocol": "SASL_PLAINTEXT",
        "kafka.sasl.mechanism": "SCRAM-SHA-256",
        "kafka.sasl.username": "bert",
        "kafka.sasl.password": password,
    }


def plan(source: Access) -> MirrorPlan:
    return MirrorPlan(
        source=source,
        target=Access(bootstrap_servers="west:9092"),
        selection=Selection(topic_pattern="orders"),
    )


def test_secrets_are_not_shown_and_do_not_change_where_progress_is_kept() -> None:
    plain, known, renewed = (
        plan(Access(bootstrap_servers="east:9092", options=options))
        for options in ({}, login(), login("another one"))
    )

    assert PASSWORD not in repr(known)
    assert plain.identity() == known.identity() == renewed.identity() == "da207b81014b"


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("kafka.isolation.level", "does not say how to reach a cluster"),
        ("includeHeaders", "does not say how to reach a cluster"),
        ("kafka.sasl.kerberos.service.name", "cannot be used"),
        ("kafka.ssl.ca.location", "has no effect with kafka.security.protocol=SASL_PLAINTEXT"),
    ],
)
def test_options_of_anything_else_are_refused(name: str, complaint: str) -> None:
    value = {"kafka.isolation.level": "read_committed", "includeHeaders": "true"}.get(name, "x")
    with pytest.raises(OptionError, match=complaint):
        Access(bootstrap_servers="east:9092", options={**login(), name: value})


def test_nobody_at_home_is_left_to_whoever_waits() -> None:
    Access(bootstrap_servers="127.0.0.1:1", options=login()).knock()


def test_map_and_administrators_log_in(east: Broker, west: Broker) -> None:
    partition = MirroredPartition("elsewhere", "orders", 0, "orders")
    host, _, port = west.bootstrap_servers.rpartition(":")
    with in_front_of(Front(wants_login=True), Address(host, int(port))) as front:
        west.settings["advertised.listeners"] = f"PLAINTEXT://localhost:{front.address.port}"
        west.restart()
        secure = Access(bootstrap_servers=str(front.address), options=login())
        source = Access(bootstrap_servers=east.bootstrap_servers)

        with OffsetMap(secure) as offset_map:
            offset_map.begin([partition])
        assert set(read_map(secure)) == {partition}
        with Clusters.connect(source=source, target=secure) as clusters:
            assert clusters.target.admin.list_topics() is not None
        assert set(front.logins) == {"SCRAM-SHA-256"}

        guessed = Access(bootstrap_servers=str(front.address), options=login("guess"))
        with pytest.raises(WireClientError, match="bert") as caught:
            Side.connect(guessed)
        assert "guess" not in str(caught.value)
