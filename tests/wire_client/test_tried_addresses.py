"""Trying addresses in turn: each once, and those that failed last of all."""

from collections.abc import Iterator

import pytest
from tests.cli.scripted_broker import ScriptedBroker, scripted_cluster
from tests.wire_client.silence import Knocks, silent_address

from penstock.wire_client.connection import Address
from penstock.wire_client.errors import BrokenConnectionError, UnreachableError
from penstock.wire_client.tried_addresses import TriedAddresses


@pytest.fixture
def silent() -> Iterator[Address]:
    with silent_address() as address:
        yield address


@pytest.fixture
def closed(closed_port: int) -> Address:
    return Address("127.0.0.1", closed_port)


@pytest.fixture
def two() -> Iterator[list[Address]]:
    with scripted_cluster(2) as brokers:
        yield [address_of(broker) for broker in brokers]


def address_of(broker: ScriptedBroker) -> Address:
    return Address(broker.host, broker.port)


def test_first_address_that_answers_is_reached(silent: Address, closed: Address, two: list[Address]) -> None:
    knocks = Knocks(silent)

    with TriedAddresses(knocks).reach([silent, closed, *two]) as connection:
        assert connection.address == two[0]
    assert knocks.addresses == [silent, closed, two[0]]


def test_address_that_failed_is_tried_last_the_next_time(silent: Address, two: list[Address]) -> None:
    knocks = Knocks(silent)
    tried = TriedAddresses(knocks)

    for _ in range(3):
        tried.reach([silent, *two]).close()

    assert knocks.addresses == [silent, two[0], two[0], two[0]]


def test_address_that_failed_last_comes_last(silent: Address, closed: Address) -> None:
    knocks = Knocks(silent)
    tried = TriedAddresses(knocks)
    with pytest.raises(UnreachableError):
        tried.reach([silent, closed])

    tried.note_failure(silent)
    with pytest.raises(BrokenConnectionError):
        tried.reach([silent, closed])

    assert knocks.addresses == [silent, closed, closed, silent]


def test_address_that_answers_again_is_as_good_as_any(two: list[Address]) -> None:
    knocks = Knocks()
    tried = TriedAddresses(knocks)
    tried.note_failure(two[0])

    for addresses in ([two[0]], two):
        tried.reach(addresses).close()

    assert knocks.addresses == [two[0], two[0]]


def test_address_is_tried_once_however_often_it_is_named(silent: Address) -> None:
    knocks = Knocks(silent)

    with pytest.raises(BrokenConnectionError, match="did not answer"):
        TriedAddresses(knocks).reach([silent, silent])
    assert knocks.addresses == [silent]


def test_no_address_is_unreachable() -> None:
    with pytest.raises(UnreachableError, match="No address"):
        TriedAddresses(Knocks()).reach([])
