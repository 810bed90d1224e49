"""Finding the way in a cluster: bootstrap, brokers, coordinators and leaders that move."""

from collections.abc import Callable, Iterator
from itertools import chain, repeat
from typing import Any

import pytest
from tests.cli.scripted_broker import HangUpError, ScriptedBroker, coordinated_by, scripted_cluster
from tests.wire_client.silence import Knocks, silent_address

from penstock.model.error_codes import ErrorCode
from penstock.model.ids import TopicPartition
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)
from penstock.wire.messages.find_coordinator import Coordinator, FindCoordinatorResponse
from penstock.wire.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from penstock.wire.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from penstock.wire_client import cluster as cluster_module
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.connection import Address
from penstock.wire_client.coordinators import (
    KEYS_PER_REQUEST_MAX,
    Coordinated,
    ask_coordinators,
    find_coordinators,
)
from penstock.wire_client.errors import BrokenConnectionError, RefusedError, UnreachableError, code_name
from penstock.wire_client.topics import find_leaders, offsets_at


@pytest.fixture(autouse=True)
def _little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "PATIENCE_SECONDS_MAX", 0.2)
    monkeypatch.setattr(cluster_module, "_RETRY_SECONDS", 0.001)


@pytest.fixture
def two() -> Iterator[list[ScriptedBroker]]:
    with scripted_cluster(2, topics={"orders": [1, 2, -1]}) as brokers:
        yield brokers


def connect(brokers: list[ScriptedBroker]) -> Cluster:
    return Cluster.connect([Address(brokers[0].host, brokers[0].port)])


def delete(cluster: Cluster, *groups: str) -> dict[str, int]:
    """Ask the coordinators something, here to delete groups; the error codes by name."""

    def ask(broker: Any, keys: Any) -> dict[str, DeletableGroupResult]:
        answer = broker.call(ApiKey.DELETE_GROUPS, DeleteGroupsRequest(groups_names=tuple(keys)))
        return {result.group_id: result for result in answer.results}

    answers = ask_coordinators(cluster, Coordinated.GROUP, groups, ask)
    return {group: answer.error_code for group, answer in answers.items()}


def deletes_with(*codes: int) -> Callable[[Any], DeleteGroupsResponse]:
    """Answers with one code after another, and then always with the last."""
    following = chain(codes, repeat(codes[-1]))

    def answer(request: DeleteGroupsRequest) -> DeleteGroupsResponse:
        code = next(following)
        results = [DeletableGroupResult(group_id=name, error_code=code) for name in request.groups_names]
        return DeleteGroupsResponse(results=tuple(results))

    return answer


def test_connect_goes_on_to_the_next_address(two: list[ScriptedBroker], closed_port: int) -> None:
    addresses = [Address("127.0.0.1", closed_port), Address(two[1].host, two[1].port)]

    with Cluster.connect(addresses) as cluster:
        assert set(cluster.nodes) == {1, 2}


def test_connect_goes_on_to_the_next_address_when_one_never_answers(two: list[ScriptedBroker]) -> None:
    with silent_address() as silent:
        addresses = [silent, Address(two[1].host, two[1].port)]
        with Cluster.connect(addresses, connect=Knocks(silent)) as cluster:
            assert set(cluster.nodes) == {1, 2}


def test_connect_to_a_broker_that_breaks_off_hangs_up(two: list[ScriptedBroker]) -> None:
    def hang_up(request: Any) -> ListGroupsResponse:
        raise HangUpError

    two[0].on(ApiKey.METADATA, hang_up)

    with pytest.raises(BrokenConnectionError):
        connect(two)


def test_connect_without_an_address_is_unreachable() -> None:
    with pytest.raises(UnreachableError):
        Cluster.connect([])


def test_ask_every_broker_asks_each_once(two: list[ScriptedBroker]) -> None:
    for broker in two:
        group = ListedGroup(group_id=f"at-{broker.node_id}")
        broker.on(ApiKey.LIST_GROUPS, ListGroupsResponse(groups=(group,)))

    with connect(two) as cluster:
        answers = cluster.ask_every_broker(ApiKey.LIST_GROUPS, ListGroupsRequest(), doing="list groups")

    assert {node: answer.groups[0].group_id for node, answer in answers.items()} == {1: "at-1", 2: "at-2"}


def test_ask_every_broker_refused_by_one_fails_naming_it(two: list[ScriptedBroker]) -> None:
    two[0].on(ApiKey.LIST_GROUPS, ListGroupsResponse())
    two[1].on(ApiKey.LIST_GROUPS, ListGroupsResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED))

    with connect(two) as cluster, pytest.raises(RefusedError, match="list groups of broker 2") as refused:
        cluster.ask_every_broker(ApiKey.LIST_GROUPS, ListGroupsRequest(), doing="list groups")
    assert refused.value.code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED


def test_any_broker_is_another_one_once_the_first_never_answers(two: list[ScriptedBroker]) -> None:
    """Its port is open, so that nothing but silence tells."""

    def hang_up(_: Any) -> ListGroupsResponse:
        raise HangUpError

    two[0].on(ApiKey.LIST_GROUPS, hang_up)
    with silent_address() as silent:
        knocks = Knocks(silent)
        with Cluster.connect([Address(two[0].host, two[0].port)], connect=knocks) as cluster:
            with pytest.raises(BrokenConnectionError):
                cluster.any_broker().call(ApiKey.LIST_GROUPS, ListGroupsRequest())
            cluster.nodes = {1: silent, 2: Address(two[1].host, two[1].port)}
            knocks.addresses.clear()

            assert [cluster.any_broker().address for _ in range(2)] == [Address(two[1].host, two[1].port)] * 2
            assert knocks.addresses == [silent, cluster.nodes[2]]


def test_any_broker_that_broke_is_asked_last(two: list[ScriptedBroker]) -> None:
    def hang_up(_: Any) -> ListGroupsResponse:
        raise HangUpError

    two[0].on(ApiKey.LIST_GROUPS, hang_up)
    with connect(two) as cluster:
        with pytest.raises(BrokenConnectionError):
            cluster.any_broker().call(ApiKey.LIST_GROUPS, ListGroupsRequest())

        assert cluster.any_broker().address == cluster.nodes[2]


def test_any_broker_that_was_hung_up_on_is_asked_again(two: list[ScriptedBroker]) -> None:
    with connect(two) as cluster:
        cluster.any_broker().close()

        assert cluster.any_broker().address == cluster.nodes[1]


def test_any_broker_is_one_of_the_addresses_given_once_all_that_were_known_are_gone(
    two: list[ScriptedBroker],
) -> None:
    with scripted_cluster(1) as (replaced,):
        addresses = [Address(broker.host, broker.port) for broker in (replaced, two[0])]
        with Cluster.connect(addresses) as cluster:
            assert cluster.any_broker().address == addresses[0]
            cluster.any_broker().close()
            replaced.stop_listening()

            assert cluster.any_broker().address == addresses[1]
            assert set(find_leaders(cluster, ["orders"])) == {
                TopicPartition("orders", number) for number in range(3)
            }


def test_broker_that_left_the_cluster_is_unreachable(two: list[ScriptedBroker]) -> None:
    with connect(two) as cluster, pytest.raises(UnreachableError, match="Broker 7 is not in the cluster"):
        cluster.broker(7)


def test_broker_that_has_moved_is_asked_at_its_new_address(two: list[ScriptedBroker]) -> None:
    for broker in two:
        broker.on(ApiKey.LIST_GROUPS, ListGroupsResponse(groups=(ListedGroup(group_id=broker.bootstrap),)))

    with connect(two) as cluster:
        cluster.broker(2).call(ApiKey.LIST_GROUPS, ListGroupsRequest())
        cluster.learn_node(2, Address(two[0].host, two[0].port))
        answer = cluster.broker(2).call(ApiKey.LIST_GROUPS, ListGroupsRequest())

    assert answer.groups[0].group_id == two[0].bootstrap


def test_ask_coordinators_sends_each_key_to_its_own(two: list[ScriptedBroker]) -> None:
    def find(request: Any) -> FindCoordinatorResponse:
        where = {"even": two[0], "odd": two[1]}
        return FindCoordinatorResponse(
            coordinators=tuple(
                Coordinator(key=key, node_id=where[key].node_id, host=where[key].host, port=where[key].port)
                for key in request.coordinator_keys
            )
        )

    two[0].on(ApiKey.FIND_COORDINATOR, find)
    for broker in two:
        broker.on(ApiKey.DELETE_GROUPS, deletes_with(0))

    with connect(two) as cluster:
        assert delete(cluster, "odd", "even", "odd") == {"odd": 0, "even": 0}

    assert [[asked.message.groups_names for asked in broker.asked[-1:]] for broker in two] == [
        [("even",)],
        [("odd",)],
    ]


def test_ask_coordinators_waits_while_one_loads(two: list[ScriptedBroker]) -> None:
    loading = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    two[0].on(ApiKey.DELETE_GROUPS, deletes_with(loading, loading, 0))

    with connect(two) as cluster:
        assert delete(cluster, "g") == {"g": 0}


def test_ask_coordinators_looks_up_anew_when_one_has_moved(two: list[ScriptedBroker]) -> None:
    found = iter([coordinated_by(two[0]), coordinated_by(two[1])])
    two[0].on(ApiKey.FIND_COORDINATOR, lambda request: next(found)(request))
    two[0].on(ApiKey.DELETE_GROUPS, deletes_with(ErrorCode.NOT_COORDINATOR))
    two[1].on(ApiKey.DELETE_GROUPS, deletes_with(0))

    with connect(two) as cluster:
        assert delete(cluster, "g") == {"g": 0}


def test_ask_coordinators_tells_what_does_not_pass(two: list[ScriptedBroker]) -> None:
    two[0].on(ApiKey.DELETE_GROUPS, deletes_with(ErrorCode.NON_EMPTY_GROUP))

    with connect(two) as cluster:
        assert delete(cluster, "g") == {"g": ErrorCode.NON_EMPTY_GROUP}
    assert len([asked for asked in two[0].asked if asked.api is ApiKey.DELETE_GROUPS]) == 1


def test_ask_coordinators_ends_when_patience_does(two: list[ScriptedBroker]) -> None:
    two[0].on(ApiKey.DELETE_GROUPS, deletes_with(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS))

    with connect(two) as cluster:
        assert delete(cluster, "g") == {"g": ErrorCode.COORDINATOR_LOAD_IN_PROGRESS}


def test_ask_coordinators_about_many_asks_in_batches(two: list[ScriptedBroker]) -> None:
    two[0].on(ApiKey.DELETE_GROUPS, deletes_with(0))
    groups = [f"g{number}" for number in range(KEYS_PER_REQUEST_MAX + 1)]

    with connect(two) as cluster:
        assert list(delete(cluster, *groups)) == groups

    sizes = [len(asked.message.groups_names) for asked in two[0].asked if asked.api is ApiKey.DELETE_GROUPS]
    assert sizes == [KEYS_PER_REQUEST_MAX, 1]


def test_ask_coordinators_about_nothing_asks_nobody(two: list[ScriptedBroker]) -> None:
    with connect(two) as cluster:
        assert delete(cluster) == {}


def test_find_coordinators_waits_until_there_is_one(two: list[ScriptedBroker]) -> None:
    missing = FindCoordinatorResponse(
        coordinators=(Coordinator(key="g", error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE),)
    )
    answers = iter([lambda _: missing, coordinated_by(two[1])])
    two[0].on(ApiKey.FIND_COORDINATOR, lambda request: next(answers)(request))

    with connect(two) as cluster:
        assert find_coordinators(cluster, Coordinated.GROUP, ["g"]) == {"g": 2}


def test_find_coordinators_that_is_refused_says_why(two: list[ScriptedBroker]) -> None:
    refused = Coordinator(key="t", error_code=ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    two[0].on(ApiKey.FIND_COORDINATOR, FindCoordinatorResponse(coordinators=(refused,)))

    with connect(two) as cluster, pytest.raises(RefusedError, match="coordinator of transactional id 't'"):
        find_coordinators(cluster, Coordinated.TRANSACTION, ["t"])


def test_find_coordinators_of_an_old_broker_asks_for_one_at_a_time(two: list[ScriptedBroker]) -> None:
    two[0].on(ApiKey.FIND_COORDINATOR, coordinated_by(two[1]), versions=(0, 3))

    with connect(two) as cluster:
        assert find_coordinators(cluster, Coordinated.GROUP, ["a", "b"]) == {"a": 2, "b": 2}

    assert [asked.message.key for asked in two[0].asked if asked.api is ApiKey.FIND_COORDINATOR] == ["a", "b"]


def test_find_leaders_leaves_out_topics_that_are_not_there(two: list[ScriptedBroker]) -> None:
    with connect(two) as cluster:
        leaders = find_leaders(cluster, ["orders", "gone"])

    assert leaders == {("orders", 0): 1, ("orders", 1): 2, ("orders", 2): -1}


def offsets_with(code: int, offset: int) -> Callable[[Any], ListOffsetsResponse]:
    def answer(request: Any) -> ListOffsetsResponse:
        return ListOffsetsResponse(
            topics=tuple(
                ListOffsetsTopicResponse(
                    name=topic.name,
                    partitions=tuple(
                        ListOffsetsPartitionResponse(
                            partition_index=partition.partition_index, error_code=code, offset=offset
                        )
                        for partition in topic.partitions
                    ),
                )
                for topic in request.topics
            )
        )

    return answer


def lookup(cluster: Cluster, *partitions: tuple[str, int]) -> dict[TopicPartition, int | None]:
    return offsets_at(cluster, {TopicPartition(*partition): -1 for partition in partitions})


def test_offsets_at_asks_each_leader_and_knows_nothing_of_the_leaderless(two: list[ScriptedBroker]) -> None:
    two[0].on(ApiKey.LIST_OFFSETS, offsets_with(0, 10))
    two[1].on(ApiKey.LIST_OFFSETS, offsets_with(0, 20))

    with connect(two) as cluster:
        found = lookup(cluster, ("orders", 0), ("orders", 1), ("orders", 2), ("gone", 0))

    assert list(found.values()) == [10, 20, None, None]


def test_offsets_at_without_such_a_record_is_none(two: list[ScriptedBroker]) -> None:
    two[0].on(ApiKey.LIST_OFFSETS, offsets_with(0, -1))

    with connect(two) as cluster:
        assert lookup(cluster, ("orders", 0)) == {("orders", 0): None}


def test_offsets_at_asks_again_after_a_leader_moved(two: list[ScriptedBroker]) -> None:
    answers = iter([offsets_with(ErrorCode.NOT_LEADER_OR_FOLLOWER, -1), offsets_with(0, 5)])
    two[0].on(ApiKey.LIST_OFFSETS, lambda request: next(answers)(request))

    with connect(two) as cluster:
        assert lookup(cluster, ("orders", 0)) == {("orders", 0): 5}


def test_offsets_at_that_is_refused_says_where(two: list[ScriptedBroker]) -> None:
    two[0].on(ApiKey.LIST_OFFSETS, offsets_with(ErrorCode.TOPIC_AUTHORIZATION_FAILED, -1))

    with connect(two) as cluster, pytest.raises(RefusedError, match="look up an offset of orders-0"):
        lookup(cluster, ("orders", 0))


def test_code_name_newer_than_this_program_is_a_number() -> None:
    assert code_name(ErrorCode.NON_EMPTY_GROUP) == "NON_EMPTY_GROUP"
    assert code_name(9_999) == "error code 9999"


def test_refused_error_prefers_the_words_of_the_broker() -> None:
    plain = RefusedError(ErrorCode.NON_EMPTY_GROUP, doing="delete group 'g'")
    told = RefusedError(ErrorCode.NON_EMPTY_GROUP, doing="delete group 'g'", detail="It is in use.")

    assert str(plain) == "Cannot delete group 'g': non empty group (NON_EMPTY_GROUP)."
    assert str(told) == "Cannot delete group 'g': It is in use (NON_EMPTY_GROUP)."
