"""Connections through TLS and logins to a real broker, and each way in which they do not come about."""

import socket
import ssl
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from tests.wire_client.delivery.test_delivery import batches
from tests.wire_client.security.certificates import KEY_PASSWORD, Authority, server_context
from tests.wire_client.security.front import USERS, Front, guarded_broker, in_front_of
from tests.wire_client.silence import silent_address

from penstock.model.errors import UsageError
from penstock.model.ids import TopicPartition
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.metadata import MetadataRequest
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.connection import Address, Connection
from penstock.wire_client.delivery.delivery import Delivery
from penstock.wire_client.delivery.settings import DeliverySettings
from penstock.wire_client.errors import (
    BrokenConnectionError,
    HandshakeError,
    RefusedError,
    UnreachableError,
    WireClientError,
)
from penstock.wire_client.fetching import Fetching, stored_ranges
from penstock.wire_client.producers import new_producer
from penstock.wire_client.security.security import (
    ClientCertificate,
    Login,
    Mechanism,
    Security,
    SecurityProtocol,
)
from penstock.wire_client.security.tls import context_for
from penstock.wire_client.topic_creation import ensure_topic

ANNA = Login(mechanism=Mechanism.SCRAM_SHA_512, username="anna", password=USERS["anna"])
LOGIN_ONLY = Security(protocol=SecurityProtocol.SASL_PLAINTEXT, login=ANNA)
QUESTION = MetadataRequest(topics=())


@pytest.fixture
def tls(plain_broker: Address, broker_certificate: tuple[Path, Path]) -> Iterator[Front]:
    with in_front_of(Front(context=server_context(*broker_certificate)), plain_broker) as front:
        yield front


@pytest.fixture
def sasl(plain_broker: Address) -> Iterator[Front]:
    with in_front_of(Front(wants_login=True), plain_broker) as front:
        yield front


@pytest.fixture
def trusting(authority: Authority) -> Security:
    return Security(protocol=SecurityProtocol.SSL, trusted=authority.certificate.read_text())


def ask(address: Address, security: Security, **settings: float) -> None:
    with Connection(address, security=security, **settings) as connection:  # type: ignore[arg-type]
        assert connection.call(ApiKey.METADATA, QUESTION).brokers


def refused(address: Address, security: Security, **settings: float) -> WireClientError:
    with pytest.raises(WireClientError) as caught:
        ask(address, security, **settings)
    assert str(address) in str(caught.value)
    assert USERS["anna"] not in str(caught.value)
    return caught.value


def test_tls_carries_requests(tls: Front, trusting: Security) -> None:
    ask(tls.address, trusting)
    ask(Address("127.0.0.1", tls.address.port), trusting)


def test_tls_is_1_2_at_least(trusting: Security) -> None:
    assert context_for(trusting).minimum_version == ssl.TLSVersion.TLSv1_2


@pytest.mark.parametrize("mechanism", Mechanism)
@pytest.mark.parametrize("username", USERS)
def test_login_carries_requests(sasl: Front, mechanism: Mechanism, username: str) -> None:
    login = Login(mechanism=mechanism, username=username, password=USERS[username])
    ask(sasl.address, replace(LOGIN_ONLY, login=login))
    assert sasl.logins == [mechanism]


BATCHES_MAX = 1_000_000


@pytest.fixture
def guarded(authority: Authority, tmp_path: Path) -> Iterator[Front]:
    with guarded_broker(tmp_path, authority, lifetime_ms=400) as front:
        yield front


@pytest.mark.slow
def test_cluster_writes_and_reads_while_its_logins_are_renewed(guarded: Front, authority: Authority) -> None:
    security = Security(
        protocol=SecurityProtocol.SASL_SSL, trusted=authority.certificate.read_text(), login=ANNA
    )
    partition = TopicPartition("orders", 0)
    with Cluster.connect([guarded.address], connect=partial(Connection, security=security)) as cluster:
        ensure_topic(cluster, "orders", configs={})
        delivery = Delivery(cluster, DeliverySettings(buffer_bytes_max=4_000, delivery_timeout_ms=20_000))
        until = time.monotonic() + 1.5
        sent = 0
        for batch in batches(new_producer(cluster), "orders", count=BATCHES_MAX):
            delivery.send(batch)
            sent += batch.record_count
            if time.monotonic() > until:
                break
        delivery.flush()
        fetching = Fetching(cluster, stored_ranges(cluster, [partition]))
        read = sum(batch.header.record_count for batch in fetching.batches())
    assert read == sent
    assert guarded.broken_renewals == 0
    assert len(guarded.logins) > 4
    assert guarded.connections <= 3


def test_broker_s_own_certificate_is_something_to_believe(
    tls: Front, trusting: Security, broker_certificate: tuple[Path, Path]
) -> None:
    ask(tls.address, replace(trusting, trusted=broker_certificate[0].read_text()))


def test_untrusted_certificate_is_refused_with_what_to_do(
    tls: Front, trusting: Security, tmp_path: Path
) -> None:
    other = Authority(tmp_path, "somebody-else").certificate.read_text()
    for trusted in (other, None):
        error = refused(tls.address, replace(trusting, trusted=trusted))
        assert isinstance(error, HandshakeError)
        assert "is not trusted" in str(error)
        assert "Give the certificate of the authority" in str(error)


@pytest.fixture
def elsewhere(plain_broker: Address, authority: Authority) -> Iterator[Front]:
    """A broker whose certificate is for another host."""
    context = server_context(*authority.sign("elsewhere", hosts="DNS:broker.example"))
    with in_front_of(Front(context=context), plain_broker) as front:
        yield front


def test_certificate_for_another_host_is_refused(elsewhere: Front, trusting: Security) -> None:
    error = refused(elsewhere.address, trusting)
    assert isinstance(error, HandshakeError)
    assert "is not for localhost" in str(error)


def test_certificate_for_another_host_is_taken_where_nobody_is_to_look(
    elsewhere: Front, trusting: Security, tmp_path: Path
) -> None:
    unlooking = replace(trusting, checks_host_name=False)
    ask(elsewhere.address, unlooking)
    other = Authority(tmp_path, "somebody-else").certificate.read_text()
    assert "not trusted" in str(refused(elsewhere.address, replace(unlooking, trusted=other)))


@pytest.mark.parametrize("is_encrypted", [False, True])
def test_broker_that_knows_its_clients_is_shown_a_certificate(
    plain_broker: Address,
    broker_certificate: tuple[Path, Path],
    authority: Authority,
    trusting: Security,
    is_encrypted: bool,
) -> None:
    chain, key = authority.sign("client", is_encrypted=is_encrypted)
    certificate = ClientCertificate(
        chain=chain.read_text(), key=key.read_text(), key_password=KEY_PASSWORD if is_encrypted else None
    )
    context = server_context(*broker_certificate, client_authority=authority.certificate)
    with in_front_of(Front(context=context), plain_broker) as front:
        ask(front.address, replace(trusting, certificate=certificate))
        error = refused(front.address, trusting)
    assert "client's certificate" in str(error)


def test_certificates_that_are_none_are_refused_before_anybody_is_asked(
    authority: Authority, trusting: Security
) -> None:
    chain, key = authority.sign("client", is_encrypted=True)
    with pytest.raises(UsageError, match="not in PEM"):
        context_for(replace(trusting, trusted="no certificate"))
    with pytest.raises(UsageError, match="cannot be used"):
        context_for(
            replace(trusting, certificate=ClientCertificate(chain=chain.read_text(), key=key.read_text()))
        )


def test_plaintext_where_tls_is_spoken_says_so(tls: Front) -> None:
    error = refused(tls.address, Security())
    assert "TLS" in str(error)


def test_tls_where_plaintext_is_spoken_says_so(plain_broker: Address, trusting: Security) -> None:
    error = refused(plain_broker, trusting)
    assert "speaks no TLS" in str(error)
    assert "PLAINTEXT" in str(error)


def test_tls_where_something_else_is_spoken_says_so(trusting: Security) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = Address(*listener.getsockname())
        listener.settimeout(5)

        def answer() -> None:
            with listener.accept()[0] as visitor:
                visitor.recv(4096)
                visitor.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        error = refused(address, trusting)
        thread.join()
    assert isinstance(error, HandshakeError)
    assert "speaks no TLS" in str(error)


def test_handshake_that_nobody_answers_ends_in_time(trusting: Security) -> None:
    with silent_address() as address:
        began = time.monotonic()
        error = refused(address, trusting, connect_seconds_max=0.2)
    assert isinstance(error, BrokenConnectionError)
    assert "did not answer the TLS handshake within 0.2 s" in str(error)
    assert time.monotonic() - began < 2


def test_login_that_nobody_answers_ends_in_time() -> None:
    with silent_address() as address:
        assert isinstance(refused(address, LOGIN_ONLY, answer_seconds_max=0.2), BrokenConnectionError)


def test_nobody_there_is_as_it_was(closed_port: int, trusting: Security) -> None:
    assert isinstance(refused(Address("127.0.0.1", closed_port), trusting), UnreachableError)


@pytest.mark.parametrize("mechanism", Mechanism)
@pytest.mark.parametrize("username", ["anna", "nobody"])
def test_wrong_password_is_refused_by_its_code(sasl: Front, mechanism: Mechanism, username: str) -> None:
    login = Login(mechanism=mechanism, username=username, password="a-guess")
    error = refused(sasl.address, replace(LOGIN_ONLY, login=login))
    assert isinstance(error, RefusedError)
    assert "SASL_AUTHENTICATION_FAILED" in str(error)
    assert repr(username) in str(error)
    assert "a-guess" not in str(error)


def test_mechanism_that_is_not_enabled_is_refused_with_those_that_are(sasl: Front) -> None:
    sasl.mechanisms = ("PLAIN", "OAUTHBEARER")
    error = refused(sasl.address, LOGIN_ONLY)
    assert "has not enabled that mechanism, but PLAIN, OAUTHBEARER (UNSUPPORTED_SASL_MECHANISM)" in str(error)


@pytest.mark.parametrize("spoiled", ["signature", "nonce", "iterations"])
def test_broker_that_does_not_know_the_password_is_not_believed(sasl: Front, spoiled: str) -> None:
    sasl.spoils_signature = spoiled == "signature"
    sasl.spoils_nonce = spoiled == "nonce"
    sasl.iterations = 1 if spoiled == "iterations" else 4096
    error = refused(sasl.address, LOGIN_ONLY)
    assert isinstance(error, HandshakeError)
    assert "Cannot log in as 'anna'" in str(error)


def test_login_where_none_is_wanted_says_so(plain_broker: Address) -> None:
    error = refused(plain_broker, LOGIN_ONLY)
    assert isinstance(error, HandshakeError)
    assert "asks for no login" in str(error)


def test_no_login_where_one_is_wanted_says_so(sasl: Front) -> None:
    error = refused(sasl.address, Security())
    assert isinstance(error, BrokenConnectionError)
    assert "brokers that want a login do so" in str(error)


@pytest.mark.slow
def test_login_is_renewed_before_it_ends(plain_broker: Address) -> None:
    front = Front(wants_login=True, lifetime_ms=300)
    with in_front_of(front, plain_broker), Connection(front.address, security=LOGIN_ONLY) as connection:
        for _ in range(10):
            connection.call(ApiKey.METADATA, QUESTION)
            time.sleep(0.1)
    assert front.connections == 1
    assert front.broken_renewals == 0
    assert len(front.logins) > 2


@pytest.mark.slow
def test_login_is_renewed_after_a_long_silence_and_not_while_answers_are_owed(plain_broker: Address) -> None:
    front = Front(wants_login=True, lifetime_ms=200)
    with in_front_of(front, plain_broker), Connection(front.address, security=LOGIN_ONLY) as connection:
        connection.send(ApiKey.METADATA, QUESTION)
        time.sleep(0.18)
        assert connection.wants_pause
        connection.send(ApiKey.METADATA, QUESTION)
        assert front.logins == ["SCRAM-SHA-512"]
        connection.receive()
        connection.receive()
        time.sleep(0.3)
        assert connection.call(ApiKey.METADATA, QUESTION).brokers
    assert len(front.logins) == 2


def test_login_that_is_not_renewed_any_more_ends_the_connection(plain_broker: Address) -> None:
    with in_front_of(Front(wants_login=True, lifetime_ms=100), plain_broker) as front:
        connection = Connection(front.address, security=LOGIN_ONLY)
        front.mechanisms = ("PLAIN",)
        time.sleep(0.1)
        with pytest.raises(RefusedError, match="has not enabled"):
            connection.call(ApiKey.METADATA, QUESTION)
        assert connection.is_broken


def test_security_that_contradicts_itself_is_refused() -> None:
    with pytest.raises(UsageError, match="SASL_SSL needs somebody"):
        Security(protocol=SecurityProtocol.SASL_SSL)
    with pytest.raises(UsageError, match="SSL has no use"):
        Security(protocol=SecurityProtocol.SSL, login=ANNA)


def test_nothing_that_is_printed_has_a_secret_in_it(authority: Authority) -> None:
    _, key = authority.sign("client")
    certificate = ClientCertificate(chain="chain", key=key.read_text(), key_password=KEY_PASSWORD)
    printed = repr(replace(LOGIN_ONLY, trusted="believed", certificate=certificate))
    for secret in (USERS["anna"], "PRIVATE KEY", KEY_PASSWORD):
        assert secret not in printed
