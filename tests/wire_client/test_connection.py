"""Agreeing on versions, and every way in which a conversation may break."""

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
from tests.cli.scripted_broker import HangUpError, ScriptedBroker, scripted_cluster

from penstock.model.errors import InvariantError
from penstock.wire.api_keys import ApiKey
from penstock.wire.framing import encode_response
from penstock.wire.messages.api_versions import ApiVersionsResponse
from penstock.wire.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from penstock.wire_client.connection import Address, Connection
from penstock.wire_client.errors import BrokenConnectionError, NotServedError, UnreachableError


@pytest.fixture
def broker() -> Iterator[ScriptedBroker]:
    with scripted_cluster() as (one,):
        yield one


def connect(broker: ScriptedBroker) -> Connection:
    return Connection(Address(broker.host, broker.port))


@contextmanager
def broker_that_sends(*pieces: bytes) -> Iterator[Address]:
    """Whatever it is asked, these bytes are the answer; then it is silent until the client hangs up."""

    def serve() -> None:
        with listener.accept()[0] as connection, suppress(ConnectionError):
            for piece in pieces:
                connection.recv(65_536)
                connection.sendall(piece)
            while connection.recv(65_536):
                pass

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield Address(*listener.getsockname())
        finally:
            thread.join(10)


HANDSHAKE = encode_response(ApiKey.API_VERSIONS, 0, 1, ApiVersionsResponse())


def test_call_speaks_the_highest_version_that_both_know(broker: ScriptedBroker) -> None:
    broker.on(ApiKey.LIST_GROUPS, ListGroupsResponse(groups=(ListedGroup(group_id="g"),)), versions=(2, 4))

    with connect(broker) as connection:
        answer = connection.call(ApiKey.LIST_GROUPS, ListGroupsRequest())

    assert answer.groups[0].group_id == "g"
    assert [asked.version for asked in broker.asked] == [4]


def test_call_from_the_future_speaks_our_highest_version(broker: ScriptedBroker) -> None:
    broker.on(ApiKey.LIST_GROUPS, ListGroupsResponse(), versions=(3, 99))

    with connect(broker) as connection:
        connection.call(ApiKey.LIST_GROUPS, ListGroupsRequest())

    assert [asked.version for asked in broker.asked] == [5]


def test_call_with_a_ceiling_stays_below_it(broker: ScriptedBroker) -> None:
    broker.on(ApiKey.LIST_GROUPS, ListGroupsResponse())

    with connect(broker) as connection:
        connection.call(ApiKey.LIST_GROUPS, ListGroupsRequest(), at_most=3)

    assert [asked.version for asked in broker.asked] == [3]


@pytest.mark.parametrize("versions", [(0, 0), (1, 1)], ids=["too old", "not at all"])
def test_version_without_a_common_one_is_not_served(
    broker: ScriptedBroker, versions: tuple[int, int]
) -> None:
    if versions == (0, 0):
        broker.on(ApiKey.WRITE_TXN_MARKERS, ListGroupsResponse(), versions=versions)

    with connect(broker) as connection:
        assert not connection.serves(ApiKey.WRITE_TXN_MARKERS)
        with pytest.raises(NotServedError, match="does not serve WriteTxnMarkers"):
            connection.version(ApiKey.WRITE_TXN_MARKERS)


def test_version_below_what_the_broker_still_speaks_is_not_served(broker: ScriptedBroker) -> None:
    broker.on(ApiKey.LIST_GROUPS, ListGroupsResponse(), versions=(4, 5))

    with connect(broker) as connection, pytest.raises(NotServedError):
        connection.version(ApiKey.LIST_GROUPS, at_most=3)


def test_connect_where_nobody_listens_is_unreachable(closed_port: int) -> None:
    with pytest.raises(UnreachableError, match=r"No broker answers at .*: connection refused"):
        Connection(Address("127.0.0.1", closed_port))


def test_call_answered_by_hanging_up_is_broken(broker: ScriptedBroker) -> None:
    def hang_up(request: object) -> ListGroupsResponse:
        raise HangUpError

    broker.on(ApiKey.LIST_GROUPS, hang_up)

    with connect(broker) as connection, pytest.raises(BrokenConnectionError, match="broke the connection"):
        connection.call(ApiKey.LIST_GROUPS, ListGroupsRequest())


def test_connect_to_a_silent_broker_ends_after_the_time_allowed() -> None:
    with broker_that_sends() as address, pytest.raises(BrokenConnectionError, match=r"within 0\.2 s"):
        Connection(address, answer_seconds_max=0.2)


def test_answer_that_stops_in_the_middle_ends_after_the_time_allowed() -> None:
    with broker_that_sends(HANDSHAKE[:7]) as address, pytest.raises(BrokenConnectionError, match="within"):
        Connection(address, answer_seconds_max=0.2)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 400 Bad Request\r\n",
        struct.pack(">i", -1),
        struct.pack(">i", 3) + b"abc",
        encode_response(ApiKey.API_VERSIONS, 0, 99, ApiVersionsResponse()),
        HANDSHAKE[:3] + bytes([HANDSHAKE[3] - 2]) + HANDSHAKE[4:-2],
    ],
    ids=["another protocol", "negative length", "too short", "another correlation id", "truncated body"],
)
def test_answer_that_is_no_answer_is_broken_and_says_so(answer: bytes) -> None:
    with broker_that_sends(answer) as address, pytest.raises(BrokenConnectionError, match="something else"):
        Connection(address)


def test_connect_that_is_refused_by_code_hangs_up() -> None:
    refusal = encode_response(ApiKey.API_VERSIONS, 0, 1, ApiVersionsResponse(error_code=58))
    with broker_that_sends(refusal) as address, pytest.raises(Exception, match="SASL_AUTHENTICATION_FAILED"):
        Connection(address)


def test_address_with_colons_is_written_in_brackets() -> None:
    assert str(Address("::1", 9092)) == "[::1]:9092"
    assert str(Address("broker.example", 9092)) == "broker.example:9092"


def test_answers_to_requests_sent_ahead_come_in_the_order_of_asking(broker: ScriptedBroker) -> None:
    names = iter(["first", "second", "third"])
    broker.on(
        ApiKey.LIST_GROUPS,
        lambda _: ListGroupsResponse(groups=(ListedGroup(group_id=next(names)),)),
    )

    with connect(broker) as connection:
        connection.send(ApiKey.LIST_GROUPS, ListGroupsRequest())
        connection.send(ApiKey.LIST_GROUPS, ListGroupsRequest())
        owed_before = connection.is_owed
        answers = [connection.receive(), connection.receive()]
        owed_after = connection.is_owed
        answers.append(connection.call(ApiKey.LIST_GROUPS, ListGroupsRequest()))

    assert [answer.groups[0].group_id for answer in answers] == ["first", "second", "third"]
    assert (owed_before, owed_after) == (True, False)


def test_call_is_refused_while_answers_are_owed(broker: ScriptedBroker) -> None:
    broker.on(ApiKey.LIST_GROUPS, ListGroupsResponse())

    with connect(broker) as connection:
        connection.send(ApiKey.LIST_GROUPS, ListGroupsRequest())
        with pytest.raises(InvariantError, match="still owes 1 answers"):
            connection.call(ApiKey.LIST_GROUPS, ListGroupsRequest())
        connection.receive()


def test_receive_of_what_nobody_asked_is_a_mistake(broker: ScriptedBroker) -> None:
    with connect(broker) as connection, pytest.raises(InvariantError, match="nothing was asked"):
        connection.receive()


def test_broken_connection_owes_nothing_any_more(broker: ScriptedBroker) -> None:
    def hang_up(request: object) -> ListGroupsResponse:
        raise HangUpError

    broker.on(ApiKey.LIST_GROUPS, hang_up)

    with connect(broker) as connection:
        connection.send(ApiKey.LIST_GROUPS, ListGroupsRequest())
        with pytest.raises(BrokenConnectionError):
            connection.receive()
        assert not connection.is_owed
        assert connection.is_closed


def test_send_on_a_closed_connection_is_broken(broker: ScriptedBroker) -> None:
    broker.on(ApiKey.LIST_GROUPS, ListGroupsResponse())
    connection = connect(broker)
    connection.close()

    with pytest.raises(BrokenConnectionError, match="broke the connection"):
        connection.send(ApiKey.LIST_GROUPS, ListGroupsRequest())
