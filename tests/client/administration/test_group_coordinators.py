"""Asking about groups while their coordinator is only coming up, as it does when the first group is used."""

from collections.abc import Callable, Iterator

import pytest
from tests.conftest import UniqueName

from penstock import Admin
from penstock.client.errors import BrokerUnavailable, UnknownTopic
from penstock.testing import Broker


def alter(admin: Admin, group: str, topic: str) -> None:
    admin.alter_group_offsets(group, {(topic, 0): 3})


def find(admin: Admin, group: str, topic: str) -> None:
    assert admin.group_offsets(group) == {(topic, 0): 1}


def reset(admin: Admin, group: str, topic: str) -> None:
    assert admin.reset_group_offsets(group, 3) == {(topic, 0): 3}


def describe(admin: Admin, group: str, topic: str) -> None:
    assert admin.describe_group(group).state == "empty"


def list_all(admin: Admin, group: str, topic: str) -> None:
    assert group in {each.group_id for each in admin.list_groups()}


def delete(admin: Admin, group: str, topic: str) -> None:
    admin.delete_groups(group)


Call = Callable[[Admin, str, str], None]

CALLS: list[tuple[Call, str]] = [
    (alter, "OffsetCommit"),
    (find, "DescribeGroups"),
    (reset, "OffsetCommit"),
    (describe, "DescribeGroups"),
    (list_all, "ListGroups"),
    (delete, "DeleteGroups"),
]
"""With the request that a coordinator is asked by first. That of committed offsets must never come first: to
NOT_COORDINATOR in answer to it librdkafka does not survive."""

NOT_YET = [
    *(
        (call, api, error)
        for call, api in CALLS
        for error in ("NOT_COORDINATOR", "COORDINATOR_LOAD_IN_PROGRESS")
    ),
    (find, "OffsetFetch", "COORDINATOR_LOAD_IN_PROGRESS"),
]


@pytest.fixture(scope="module")
def shared() -> Iterator[Broker]:
    with Broker() as running:
        yield running


@pytest.fixture
def faulty(shared: Broker) -> Iterator[Broker]:
    yield shared
    shared.faults.clear()


@pytest.fixture
def admin(faulty: Broker) -> Iterator[Admin]:
    with Admin(bootstrap_servers=faulty.bootstrap_servers) as made:
        yield made


@pytest.mark.parametrize(("call", "api", "error"), NOT_YET)
def test_coordinator_that_is_not_ready_is_asked_again(
    faulty: Broker, admin: Admin, unique: UniqueName, call: Call, api: str, error: str
) -> None:
    topic, group = faulty.create_topic(), unique("group")
    admin.alter_group_offsets(group, {(topic, 0): 1})
    fault = faulty.faults.fail(api, error=error, times=3)
    call(admin, group, topic)
    assert fault.hits == 3
    expected: dict[Call, dict[tuple[str, int], int]] = {
        alter: {(topic, 0): 3},
        reset: {(topic, 0): 3},
        delete: {},
    }
    assert admin.group_offsets(group) == expected.get(call, {(topic, 0): 1})


@pytest.mark.parametrize(("call", "api"), CALLS)
def test_coordinator_that_never_gets_ready_is_given_up_in_time(
    faulty: Broker, admin: Admin, unique: UniqueName, call: Call, api: str
) -> None:
    topic, group = faulty.create_topic(), unique("group")
    admin.alter_group_offsets(group, {(topic, 0): 1})
    fault = faulty.faults.fail(api, error="NOT_COORDINATOR")
    with (
        Admin(bootstrap_servers=faulty.bootstrap_servers, request_timeout_ms=1000) as hasty,
        pytest.raises(BrokerUnavailable) as refused,
    ):
        call(hasty, group, topic)
    assert refused.value.code == "NOT_COORDINATOR"
    assert fault.hits > 1


def test_group_that_is_not_there_has_committed_nothing(admin: Admin, unique: UniqueName) -> None:
    assert admin.group_offsets(unique("group")) == {}


def test_topic_that_is_not_there_is_not_waited_for(faulty: Broker, admin: Admin, unique: UniqueName) -> None:
    faulty.requests.clear()
    with pytest.raises(UnknownTopic):
        admin.alter_group_offsets(unique("group"), {(unique("nowhere"), 0): 3})
    assert len(faulty.requests.of("OffsetCommit")) == 1
