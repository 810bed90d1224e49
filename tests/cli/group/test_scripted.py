"""``penstock group`` where a healthy new broker would never lead it: old ones, odd ones, and bad moments."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from tests.cli.scripted_broker import ScriptedBroker, scripted_cluster
from tests.cli.terminal import Terminal

from penstock.model.error_codes import ErrorCode
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages import consumer_group_describe as consumer_wire
from penstock.wire.messages import describe_groups as classic_wire
from penstock.wire.messages.find_coordinator import Coordinator, FindCoordinatorResponse
from penstock.wire.messages.list_groups import ListedGroup, ListGroupsResponse
from penstock.wire.messages.list_offsets import (
    EARLIEST_TIMESTAMP,
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from penstock.wire.messages.offset_commit import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from penstock.wire.messages.offset_fetch import (
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)

START, END = 10, 100


@pytest.fixture
def broker() -> Iterator[ScriptedBroker]:
    """Broker 1 of a cluster in which ``orders`` has two partitions, the second without a leader.

    There is one classic group, ``billing``, without members.
    """
    with scripted_cluster(topics={"orders": [1, -1]}) as (one,):
        one.on(ApiKey.LIST_GROUPS, listing(("billing", "Empty", "Classic")))
        one.on(ApiKey.CONSUMER_GROUP_DESCRIBE, not_a_consumer_group)
        one.on(ApiKey.DESCRIBE_GROUPS, classic("Empty"))
        one.on(ApiKey.OFFSET_FETCH, offsets({("orders", 0): 40}))
        one.on(ApiKey.LIST_OFFSETS, list_offsets)
        yield one


@pytest.fixture
def terminal(
    broker: ScriptedBroker, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Terminal:
    return Terminal(broker.bootstrap, capsys, monkeypatch)


def listing(*groups: tuple[str, str, str]) -> ListGroupsResponse:
    return ListGroupsResponse(
        groups=tuple(
            ListedGroup(group_id=name, group_state=state, group_type=kind) for name, state, kind in groups
        )
    )


def not_a_consumer_group(request: Any) -> consumer_wire.ConsumerGroupDescribeResponse:
    return consumer_wire.ConsumerGroupDescribeResponse(
        groups=tuple(
            consumer_wire.DescribedGroup(group_id=group, error_code=ErrorCode.GROUP_ID_NOT_FOUND)
            for group in request.group_ids
        )
    )


def classic(state: str, *, code: int = 0) -> Any:
    """DescribeGroups answers for every group that it is in ``state``, or an error."""

    def answer(request: Any) -> classic_wire.DescribeGroupsResponse:
        described = [
            classic_wire.DescribedGroup(group_id=group, group_state=state, error_code=code)
            for group in request.groups
        ]
        return classic_wire.DescribeGroupsResponse(groups=tuple(described))

    return answer


def offsets(committed: dict[tuple[str, int], int]) -> Any:
    """OffsetFetch answers the same for every group, in the form of the version it was asked in."""
    numbers: dict[str, list[tuple[int, int]]] = {}
    for (topic, partition), offset in committed.items():
        numbers.setdefault(topic, []).append((partition, offset))

    def answer(request: Any) -> OffsetFetchResponse:
        groups = [
            OffsetFetchResponseGroup(group_id=group.group_id, topics=_new_topics(numbers))
            for group in request.groups
        ]
        return OffsetFetchResponse(groups=tuple(groups), topics=_old_topics(numbers))

    return answer


def _new_topics(numbers: dict[str, list[tuple[int, int]]]) -> tuple[OffsetFetchResponseTopics, ...]:
    return tuple(
        OffsetFetchResponseTopics(
            name=topic,
            partitions=tuple(
                OffsetFetchResponsePartitions(partition_index=partition, committed_offset=offset)
                for partition, offset in pairs
            ),
        )
        for topic, pairs in numbers.items()
    )


def _old_topics(numbers: dict[str, list[tuple[int, int]]]) -> tuple[OffsetFetchResponseTopic, ...]:
    return tuple(
        OffsetFetchResponseTopic(
            name=topic,
            partitions=tuple(
                OffsetFetchResponsePartition(partition_index=partition, committed_offset=offset)
                for partition, offset in pairs
            ),
        )
        for topic, pairs in numbers.items()
    )


def list_offsets(request: Any) -> ListOffsetsResponse:
    return ListOffsetsResponse(
        topics=tuple(
            ListOffsetsTopicResponse(
                name=topic.name,
                partitions=tuple(
                    ListOffsetsPartitionResponse(
                        partition_index=partition.partition_index,
                        offset=START if partition.timestamp == EARLIEST_TIMESTAMP else END,
                    )
                    for partition in topic.partitions
                ),
            )
            for topic in request.topics
        )
    )


def commits_with(code: int) -> Any:
    def answer(request: Any) -> OffsetCommitResponse:
        return OffsetCommitResponse(
            topics=tuple(
                OffsetCommitResponseTopic(
                    name=topic.name,
                    partitions=tuple(
                        OffsetCommitResponsePartition(
                            partition_index=partition.partition_index, error_code=code
                        )
                        for partition in topic.partitions
                    ),
                )
                for topic in request.topics
            )
        )

    return answer


def asked(broker: ScriptedBroker, api: ApiKey) -> Sequence[Any]:
    return [one.message for one in broker.asked if one.api is api]


def test_list_group_of_a_type_from_the_future_is_shown_without_members(
    terminal: Terminal, broker: ScriptedBroker
) -> None:
    broker.on(ApiKey.LIST_GROUPS, listing(("queue", "Stable", "Share"), ("billing", "Empty", "Classic")))

    rows = [line.split() for line in terminal.must("group", "list").output.splitlines()]
    assert rows[1:] == [["billing", "classic", "Empty", "0", "60"], ["queue", "share", "Stable", "-", "60"]]


def test_list_of_no_groups_prints_nothing(terminal: Terminal, broker: ScriptedBroker) -> None:
    broker.on(ApiKey.LIST_GROUPS, listing())

    assert terminal.must("group", "list").output == ""
    assert terminal.must("group", "list", "--json").json() == []


def test_list_on_an_old_broker_does_without_types_and_states(
    terminal: Terminal, broker: ScriptedBroker
) -> None:
    broker.on(ApiKey.LIST_GROUPS, listing(("billing", "", "")), versions=(0, 2))
    broker.on(ApiKey.OFFSET_FETCH, offsets({("orders", 0): 40}), versions=(1, 7))

    rows = [line.split() for line in terminal.must("group", "list").output.splitlines()]
    assert rows[1:] == [["billing", "classic", "-", "0", "60"]]
    assert [one.group_id for one in asked(broker, ApiKey.OFFSET_FETCH)] == ["billing"]


def test_list_group_that_goes_away_meanwhile_is_shown_as_it_was(
    terminal: Terminal, broker: ScriptedBroker
) -> None:
    broker.on(ApiKey.DESCRIBE_GROUPS, classic("Dead", code=ErrorCode.GROUP_ID_NOT_FOUND))
    broker.on(ApiKey.OFFSET_FETCH, offsets({}))

    rows = [line.split() for line in terminal.must("group", "list").output.splitlines()]
    assert rows[1:] == [["billing", "classic", "Empty", "-", "-"]]


def test_describe_share_group_says_that_it_cannot(terminal: Terminal, broker: ScriptedBroker) -> None:
    broker.on(ApiKey.LIST_GROUPS, listing(("queue", "Stable", "Share")))
    broker.on(ApiKey.DESCRIBE_GROUPS, classic("Dead", code=ErrorCode.GROUP_ID_NOT_FOUND))

    answer = terminal.run("group", "describe", "queue")
    assert answer.code == 1
    assert "Group 'queue' is of type share, which cannot be described here." in answer.errors


def test_describe_on_an_old_broker_knows_a_dead_group_for_none(
    terminal: Terminal, broker: ScriptedBroker
) -> None:
    broker.on(ApiKey.DESCRIBE_GROUPS, classic("Dead"), versions=(0, 5))

    answer = terminal.run("group", "describe", "gone")
    assert answer.code == 1
    assert "There is no group 'gone'." in answer.errors


def test_describe_on_a_broker_before_consumer_groups_shows_classic_ones(
    terminal: Terminal, broker: ScriptedBroker
) -> None:
    broker.off(ApiKey.CONSUMER_GROUP_DESCRIBE)

    (described,) = terminal.must("group", "describe", "billing", "--json").json()
    assert (described["type"], described["lag"]) == ("classic", 60)


def test_reset_of_a_group_whose_offsets_are_not_found_makes_it(
    terminal: Terminal, broker: ScriptedBroker
) -> None:
    nobody = OffsetFetchResponseGroup(group_id="new", error_code=ErrorCode.GROUP_ID_NOT_FOUND)
    broker.on(ApiKey.OFFSET_FETCH, OffsetFetchResponse(groups=(nobody,)))
    broker.on(ApiKey.DESCRIBE_GROUPS, classic("Dead", code=ErrorCode.GROUP_ID_NOT_FOUND))
    broker.on(ApiKey.OFFSET_COMMIT, commits_with(0))

    answer = terminal.must("group", "reset-offsets", "new", "--topic", "orders:0", "--to-latest")
    assert answer.output.splitlines()[-1] == "new: 1 offset reset"
    assert answer.errors == "Note: Group 'new' did not exist before.\n"


def test_describe_several_names_all_that_are_missing(terminal: Terminal, broker: ScriptedBroker) -> None:
    broker.on(ApiKey.DESCRIBE_GROUPS, classic("Dead"))

    answer = terminal.run("group", "describe", "gone", "lost", "--json")
    assert answer.json() == []
    assert "There are no groups 'gone', 'lost'." in answer.errors


def test_describe_consumer_group_answered_many_times_believes_the_one_that_knows_it(
    terminal: Terminal, broker: ScriptedBroker
) -> None:
    """As Kafka 4.0 does when groups are on different partitions of its offsets topic."""

    def answer(request: Any) -> consumer_wire.ConsumerGroupDescribeResponse:
        known = [
            consumer_wire.DescribedGroup(
                group_id=group, group_state="Empty", group_epoch=7, assignor_name="uniform"
            )
            for group in request.group_ids
        ]
        unknown = not_a_consumer_group(request).groups
        return consumer_wire.ConsumerGroupDescribeResponse(groups=(*unknown, *known, *unknown))

    broker.on(ApiKey.CONSUMER_GROUP_DESCRIBE, answer)

    described = terminal.must("group", "describe", "a", "b", "--json").json()
    assert [(one["group"], one["type"], one["epoch"]) for one in described] == [
        ("a", "consumer", 7),
        ("b", "consumer", 7),
    ]


def test_describe_that_is_not_allowed_says_so(terminal: Terminal, broker: ScriptedBroker) -> None:
    broker.on(ApiKey.DESCRIBE_GROUPS, classic("", code=ErrorCode.GROUP_AUTHORIZATION_FAILED))

    answer = terminal.run("group", "describe", "billing")
    assert answer.code == 1
    assert "Cannot describe group 'billing'" in answer.errors
    assert "Hint: Ask an administrator" in answer.errors


def test_describe_offsets_where_the_log_is_gone_or_shorter_show_it(
    terminal: Terminal, broker: ScriptedBroker
) -> None:
    committed = {("deleted", 0): 5, ("orders", 0): END + 20, ("orders", 1): 50}
    broker.on(ApiKey.OFFSET_FETCH, offsets(committed))

    lines = terminal.must("group", "describe", "billing").output.splitlines()
    assert lines[0].endswith("  lag 0")
    assert [line.split()[:5] for line in lines[2:]] == [
        ["deleted", "0", "5", "-", "-"],
        ["orders", "0", "120", "100", "-20"],
        ["orders", "1", "50", "-", "-"],
    ]


def test_describe_group_that_has_nothing_says_so(terminal: Terminal, broker: ScriptedBroker) -> None:
    broker.on(ApiKey.OFFSET_FETCH, offsets({}))

    lines = terminal.must("group", "describe", "billing").output.splitlines()
    assert lines[0].endswith("  members 0  lag -")
    assert lines[1:] == ["  no offsets committed, no partitions assigned"]


def test_describe_classic_group_of_others_than_consumers_shows_its_members(
    terminal: Terminal, broker: ScriptedBroker
) -> None:
    """Kafka Connect's workers are such: what they tell each other is no list of partitions."""
    member = classic_wire.DescribedGroupMember(
        member_id="worker-1",
        client_id="connect",
        client_host="/192.0.2.7",
        member_metadata=b"\x00\x01\xff",
        member_assignment=b"\x00\x01\xff",
    )
    group = classic_wire.DescribedGroup(
        group_id="workers",
        group_state="Stable",
        protocol_type="connect",
        protocol_data="sessioned",
        members=(member,),
    )
    broker.on(ApiKey.DESCRIBE_GROUPS, classic_wire.DescribeGroupsResponse(groups=(group,)))
    broker.on(ApiKey.OFFSET_FETCH, offsets({}))

    lines = terminal.must("group", "describe", "workers", "--members").output.splitlines()
    assert lines[2].split() == ["worker-1", "-", "connect", "192.0.2.7", "-", "0", "-", "-"]


def test_describe_shows_what_a_member_is_still_to_get(terminal: Terminal, broker: ScriptedBroker) -> None:
    def partitions(*numbers: int) -> consumer_wire.Assignment:
        topic = consumer_wire.TopicPartitions(topic_name="orders", partitions=numbers)
        return consumer_wire.Assignment(topic_partitions=(topic,))

    member = consumer_wire.Member(
        member_id="m",
        client_id="c",
        member_epoch=3,
        assignment=partitions(0),
        target_assignment=partitions(0, 1),
    )
    group = consumer_wire.DescribedGroup(group_id="g", group_state="Reconciling", members=(member,))
    broker.on(ApiKey.CONSUMER_GROUP_DESCRIBE, consumer_wire.ConsumerGroupDescribeResponse(groups=(group,)))

    lines = terminal.must("group", "describe", "g", "--members").output.splitlines()
    assert "state Reconciling" in lines[0]
    assert lines[2].split()[-2:] == ["orders:0", "orders:1"]


def test_reset_all_topics_leaves_out_those_that_are_gone(terminal: Terminal, broker: ScriptedBroker) -> None:
    broker.on(ApiKey.OFFSET_FETCH, offsets({("deleted", 0): 5, ("orders", 0): 40}))
    broker.on(ApiKey.OFFSET_COMMIT, commits_with(0))

    result = terminal.must(
        "group", "reset-offsets", "billing", "--all-topics", "--to-earliest", "--json"
    ).json()
    assert [(one["topic"], one["new_offset"]) for one in result["offsets"]] == [("orders", START)]


def test_reset_commits_from_outside_the_group(terminal: Terminal, broker: ScriptedBroker) -> None:
    broker.on(ApiKey.OFFSET_COMMIT, commits_with(0))

    terminal.must("group", "reset-offsets", "billing", "--topic", "orders:0", "--shift-by", "5")
    (request,) = asked(broker, ApiKey.OFFSET_COMMIT)
    assert (request.group_id, request.member_id, request.generation_id_or_member_epoch) == ("billing", "", -1)
    assert [(topic.name, topic.partitions[0].committed_offset) for topic in request.topics] == [
        ("orders", 45)
    ]


def test_reset_of_a_partition_without_leader_fails(terminal: Terminal, broker: ScriptedBroker) -> None:
    broker.on(ApiKey.OFFSET_COMMIT, commits_with(0))

    answer = terminal.run("group", "reset-offsets", "billing", "--topic", "orders", "--to-latest")
    assert answer.code == 1
    assert "The offsets of orders-1 cannot be looked up: it has no leader, or is gone." in answer.errors
    assert not asked(broker, ApiKey.OFFSET_COMMIT)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (ErrorCode.UNKNOWN_MEMBER_ID, "Group 'billing' has members by now"),
        (ErrorCode.GROUP_AUTHORIZATION_FAILED, "Cannot reset the offset of group 'billing' in orders-0"),
    ],
    ids=lambda value: value.name if isinstance(value, ErrorCode) else "",
)
def test_reset_whose_commit_is_refused_fails(
    terminal: Terminal, broker: ScriptedBroker, code: ErrorCode, said: str
) -> None:
    broker.on(ApiKey.OFFSET_COMMIT, commits_with(code))

    answer = terminal.run("group", "reset-offsets", "billing", "--all-topics", "--to-latest")
    assert answer.code == 1
    assert answer.output == ""
    assert said in answer.errors


def test_command_that_the_broker_does_not_serve_says_so(terminal: Terminal) -> None:
    answer = terminal.run("group", "delete", "billing")

    assert answer.code == 1
    assert "does not serve DeleteGroups" in answer.errors
    assert "Hint: The broker is too old for this command" in answer.errors


def test_command_that_is_sent_to_an_address_where_nobody_is_blames_the_cluster(
    terminal: Terminal, broker: ScriptedBroker, closed_port: int
) -> None:
    elsewhere = Coordinator(key="billing", node_id=2, host="127.0.0.1", port=closed_port)
    broker.on(ApiKey.FIND_COORDINATOR, FindCoordinatorResponse(coordinators=(elsewhere,)))

    answer = terminal.run("group", "describe", "billing")
    assert answer.code == 1
    assert f"No broker answers at 127.0.0.1:{closed_port}" in answer.errors
    assert "Hint: The cluster itself names this address; check its advertised.listeners" in answer.errors
