"""What librdkafka is told of security: the same, in its own words, which it takes."""

from pathlib import Path

import pytest
from tests.broker_process import Server
from tests.wire_client.security.certificates import KEY_PASSWORD, Authority, server_context
from tests.wire_client.security.front import USERS, Front, in_front_of

from penstock.client import Admin
from penstock.spark.options.librdkafka import librdkafka_settings
from penstock.wire_client.connection import Address


def test_plain_connections_need_no_word() -> None:
    assert librdkafka_settings({"kafka.security.protocol": "plaintext", "topic": "orders"}) == {}


@pytest.mark.slow
def test_librdkafka_gets_in_where_the_source_does(server: Server, tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    chain, key = authority.sign("client", is_encrypted=True)
    broker = authority.sign("broker", hosts="DNS:localhost")
    settings = librdkafka_settings(
        {
            "kafka.security.protocol": "SASL_SSL",
            "kafka.sasl.mechanisms": "SCRAM-SHA-256",
            "kafka.sasl.username": "anna",
            "kafka.sasl.password": USERS["anna"],
            "kafka.ssl.ca.location": str(authority.certificate),
            "kafka.ssl.certificate.location": str(chain),
            "kafka.ssl.key.location": str(key),
            "kafka.ssl.key.password": KEY_PASSWORD,
            "subscribe": "orders",
        }
    )
    context = server_context(*broker, client_authority=authority.certificate)
    front = Front(context=context, wants_login=True)
    with (
        in_front_of(front, Address(server.host, server.port)),
        Admin(bootstrap_servers=str(front.address), kafka=settings) as admin,
    ):
        assert admin.list_topics() is not None
    assert set(front.logins) == {"SCRAM-SHA-256"}
