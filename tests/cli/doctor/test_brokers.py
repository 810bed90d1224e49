"""Clusters that answer, but not as clients need it; scripted ones."""

import pytest
from tests.cli.scripted_broker import scripted_cluster

from penstock.cli.doctor.brokers import check_brokers
from penstock.cli.doctor.finding import Level
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.fetch import FetchResponse
from penstock.wire.messages.list_groups import ListGroupsResponse


def levels(bootstrap: str) -> list[tuple[str, Level]]:
    return [(finding.check, finding.level) for finding in check_brokers(bootstrap)]


def test_brokers_that_are_alike_are_well() -> None:
    with scripted_cluster(2) as brokers:
        for broker in brokers:
            broker.on(ApiKey.FETCH, FetchResponse())

        assert levels(brokers[0].bootstrap) == [
            ("cluster", Level.OK),
            ("broker", Level.OK),
            ("broker", Level.OK),
        ]


def test_brokers_that_serve_different_apis_are_warned_of() -> None:
    with scripted_cluster(2) as brokers:
        for broker in brokers:
            broker.on(ApiKey.FETCH, FetchResponse())
        brokers[0].on(ApiKey.LIST_GROUPS, ListGroupsResponse())

        assert levels(brokers[0].bootstrap)[-1] == ("cluster", Level.WARNING)


def test_broker_that_is_not_where_clients_are_sent_is_a_problem() -> None:
    with scripted_cluster(2) as (first, second):
        first.on(ApiKey.FETCH, FetchResponse())
        second.stop_listening()

        (lost,) = [each for each in check_brokers(first.bootstrap) if each.level is Level.PROBLEM]
        assert f"Broker 2: No broker answers at 127.0.0.1:{second.port}" in lost.text
        assert "advertised.listeners" in lost.advice


def test_broker_that_cannot_be_fetched_from_is_a_problem() -> None:
    with scripted_cluster() as (broker,):
        (old,) = [each for each in check_brokers(broker.bootstrap) if each.level is Level.PROBLEM]

        assert "does not serve Fetch" in old.text


@pytest.mark.parametrize("count", [1, 2])
def test_number_of_brokers_is_told(count: int) -> None:
    with scripted_cluster(count) as brokers:
        assert f"brokers: {count}" in next(check_brokers(brokers[0].bootstrap)).text
