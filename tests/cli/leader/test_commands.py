"""``penstock leader elect``."""

from collections.abc import Iterator

import pytest
from tests.cli.scripted_broker import ScriptedBroker, scripted_cluster
from tests.cli.terminal import Terminal

from penstock.model.error_codes import ErrorCode
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.elect_leaders import (
    PREFERRED_ELECTION,
    UNCLEAN_ELECTION,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)


@pytest.fixture
def brokers() -> Iterator[list[ScriptedBroker]]:
    """Two brokers, of which the second is the controller and elects somebody for ``orders``."""
    with scripted_cluster(2, topics={"orders": [1, 2, -1]}, controller_id=2) as both:
        both[0].on(ApiKey.ELECT_LEADERS, elected({}))
        both[1].on(ApiKey.ELECT_LEADERS, elected({1: ErrorCode.ELECTION_NOT_NEEDED, 0: ErrorCode.NONE}))
        yield both


@pytest.fixture
def terminal(
    brokers: list[ScriptedBroker], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Terminal:
    return Terminal(brokers[0].bootstrap, capsys, monkeypatch)


def elected(codes: dict[int, ErrorCode], *, code: int = 0) -> ElectLeadersResponse:
    results = tuple(
        PartitionResult(partition_id=number, error_code=each, error_message="No." if each else None)
        for number, each in codes.items()
    )
    topic = ReplicaElectionResult(topic="orders", partition_result=results)
    return ElectLeadersResponse(error_code=code, replica_election_results=(topic,))


def test_elect_asks_the_controller_about_all_partitions(
    terminal: Terminal, brokers: list[ScriptedBroker]
) -> None:
    assert terminal.must("leader", "elect").output == "orders-0: elected\norders-1: unchanged\n"

    request = brokers[1].asked[-1].message
    assert (request.election_type, request.topic_partitions) == (PREFERRED_ELECTION, None)


def test_elect_where_all_are_led_as_they_should_be_says_so(
    terminal: Terminal, brokers: list[ScriptedBroker]
) -> None:
    brokers[1].on(ApiKey.ELECT_LEADERS, ElectLeadersResponse())

    assert terminal.must("leader", "elect").output == (
        "Nothing to elect: every partition is led as it should be.\n"
    )
    assert terminal.must("leader", "elect", "--json").json() == []


def test_elect_for_some_partitions_names_them(terminal: Terminal, brokers: list[ScriptedBroker]) -> None:
    found = terminal.must("leader", "elect", "--topic", "orders:0,1", "--json").json()

    assert [one["outcome"] for one in found] == ["elected", "unchanged"]
    ((topic, partitions),) = [
        (one.topic, one.partitions) for one in brokers[1].asked[-1].message.topic_partitions
    ]
    assert (topic, partitions) == ("orders", (0, 1))


def test_elect_unclean_says_so(terminal: Terminal, brokers: list[ScriptedBroker]) -> None:
    terminal.must("leader", "elect", "--topic", "orders:2", "--unclean")

    assert brokers[1].asked[-1].message.election_type == UNCLEAN_ELECTION


def test_elect_unclean_of_old_brokers_is_refused_before_they_are_asked(
    terminal: Terminal, brokers: list[ScriptedBroker]
) -> None:
    for broker in brokers:
        broker.on(ApiKey.ELECT_LEADERS, elected({}), versions=(0, 0))

    answer = terminal.run("leader", "elect", "--topic", "orders:2", "--unclean")
    assert answer.code == 1
    assert "too old to elect a replica that is not in sync" in answer.errors
    assert not [one for one in brokers[1].asked if one.api is ApiKey.ELECT_LEADERS]


def test_elect_where_nobody_can_lead_tells_the_others_and_fails(
    terminal: Terminal, brokers: list[ScriptedBroker]
) -> None:
    brokers[1].on(
        ApiKey.ELECT_LEADERS, elected({0: ErrorCode.NONE, 2: ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE})
    )

    answer = terminal.run("leader", "elect", "--json")
    assert answer.code == 1
    sentence = "Cannot elect a leader of orders-2: No (PREFERRED_LEADER_NOT_AVAILABLE)."
    assert [one["error"] for one in answer.json()] == [None, sentence]
    assert answer.errors.splitlines()[0] == f"Error: {sentence}"


def test_elect_refused_as_a_whole_fails(terminal: Terminal, brokers: list[ScriptedBroker]) -> None:
    brokers[1].on(ApiKey.ELECT_LEADERS, elected({}, code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED))

    answer = terminal.run("leader", "elect")
    assert answer.code == 1
    assert "Cannot elect leaders: cluster authorization failed" in answer.errors


@pytest.mark.parametrize(
    ("choice", "code", "said"),
    [("nope", 1, "There is no topic 'nope'."), ("orders:7", 2, "Topic 'orders' has no partition 7.")],
)
def test_elect_for_what_does_not_exist_fails(terminal: Terminal, choice: str, code: int, said: str) -> None:
    answer = terminal.run("leader", "elect", "--topic", choice)

    assert answer.code == code
    assert said in answer.errors


def test_elect_where_it_is_not_served_says_so(terminal: Terminal, brokers: list[ScriptedBroker]) -> None:
    brokers[1].off(ApiKey.ELECT_LEADERS)

    answer = terminal.run("leader", "elect")
    assert answer.code == 1
    assert "does not serve ElectLeaders" in answer.errors
