"""``penstock broker`` against clusters that are healthy, old, in trouble, or not Penstock's."""

import time
from collections.abc import Iterator, Sequence
from itertools import chain, repeat
from typing import Any

import pytest
from tests.cli.scripted_broker import (
    HangUpError,
    Placed,
    Script,
    ScriptedBroker,
    placed,
    scripted_cluster,
)
from tests.cli.terminal import Terminal

from penstock.cli import progress
from penstock.model.error_codes import ErrorCode
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.decommission_broker import DecommissionBrokerResponse
from penstock.wire.messages.describe_cluster import DescribeClusterBroker, DescribeClusterResponse
from penstock.wire.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from penstock.wire.messages.describe_quorum import (
    DescribeQuorumResponse,
    PartitionData,
    ReplicaState,
    TopicData,
)

TOPICS = {"orders": [placed(1, 2), Placed(2, (2, 4), (2,)), Placed(-1, (3,), (3,))]}


@pytest.fixture(autouse=True)
def _look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "POLL_SECONDS", 0.001)


@pytest.fixture
def brokers() -> Iterator[list[ScriptedBroker]]:
    """Brokers 1 and 2, of which 2 is the controller; 3 is fenced, and 4 nobody knows.

    Broker 2 is being emptied. Nodes 1 and 2 vote, 5 watches.
    """
    with scripted_cluster(2, topics=TOPICS, controller_id=1) as both:
        for broker in both:
            broker.on(ApiKey.DESCRIBE_CLUSTER, described(both, fenced=(3,)))
            broker.on(ApiKey.DESCRIBE_QUORUM, quorum(leader=2, voters={1: 90, 2: 100}, observers={5: -1}))
        both[0].on(ApiKey.DESCRIBE_LOG_DIRS, log_dirs({("orders", 0): 3 * 1024}))
        both[1].on(
            ApiKey.DESCRIBE_LOG_DIRS, log_dirs({("orders", 0): 1024, ("orders", 1): 1024}, cordoned=True)
        )
        yield both


@pytest.fixture
def terminal(
    brokers: list[ScriptedBroker], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Terminal:
    return Terminal(brokers[0].bootstrap, capsys, monkeypatch)


def described(brokers: Sequence[ScriptedBroker], *, fenced: Sequence[int]) -> DescribeClusterResponse:
    return DescribeClusterResponse(
        cluster_id="scripted",
        brokers=(
            *(
                DescribeClusterBroker(
                    broker_id=each.node_id, host=each.host, port=each.port, rack=f"r{each.node_id}"
                )
                for each in brokers
            ),
            *(DescribeClusterBroker(broker_id=each, host="gone", port=9, is_fenced=True) for each in fenced),
        ),
    )


def quorum(
    *, leader: int, voters: dict[int, int], observers: dict[int, int], code: int = 0
) -> DescribeQuorumResponse:
    partition = PartitionData(
        leader_id=leader,
        leader_epoch=7,
        high_watermark=95,
        error_code=code,
        current_voters=tuple(
            ReplicaState(replica_id=node_id, log_end_offset=end) for node_id, end in voters.items()
        ),
        observers=tuple(
            ReplicaState(replica_id=node_id, log_end_offset=end) for node_id, end in observers.items()
        ),
    )
    topic = TopicData(topic_name="__cluster_metadata", partitions=(partition,))
    return DescribeQuorumResponse(topics=(topic,))


def log_dirs(sizes: dict[tuple[str, int], int], *, cordoned: bool = False) -> DescribeLogDirsResponse:
    topics = tuple(
        DescribeLogDirsTopic(
            name=topic,
            partitions=(DescribeLogDirsPartition(partition_index=number, partition_size=size),),
        )
        for (topic, number), size in sizes.items()
    )
    directory = DescribeLogDirsResult(
        log_dir="/data", topics=topics, total_bytes=10 * 1024, usable_bytes=5 * 1024, is_cordoned=cordoned
    )
    return DescribeLogDirsResponse(results=(directory,))


def hang_up(request: Any) -> DescribeLogDirsResponse:
    raise HangUpError


def decommissions(*answers: DecommissionBrokerResponse) -> Script:
    """One answer after another, and then always the last."""
    following = chain(answers, repeat(answers[-1]))
    return lambda _: next(following)


def left(count: int, *, is_voter: bool = False) -> DecommissionBrokerResponse:
    return DecommissionBrokerResponse(replicas_left=count, is_voter=is_voter)


def refused(code: ErrorCode, message: str | None = None) -> DecommissionBrokerResponse:
    return DecommissionBrokerResponse(error_code=code, error_message=message)


FORGOTTEN = refused(ErrorCode.BROKER_ID_NOT_REGISTERED)


def test_list_tells_of_every_broker_what_it_is_and_holds(terminal: Terminal) -> None:
    lines = terminal.must("broker", "list").output.splitlines()

    assert [line.split() for line in lines[1:]] == [
        ["1", lines[1].split()[1], "r1", "up", "voter", "1", "1", "1", "3.0", "KiB"],
        ["2*", lines[2].split()[1], "r2", "draining", "leader", "1", "2", "2", "2.0", "KiB"],
        ["3", "gone:9", "-", "fenced", "-", "0", "1", "1", "-"],
        ["4", "-", "-", "down", "-", "0", "1", "0", "-"],
    ]


def test_list_json_has_the_same_under_names(terminal: Terminal, brokers: list[ScriptedBroker]) -> None:
    found = terminal.must("broker", "list", "--json").json()

    assert found[1] == {
        "broker": 2,
        "host": "127.0.0.1",
        "port": brokers[1].port,
        "rack": "r2",
        "state": "draining",
        "is_controller": True,
        "quorum_role": "leader",
        "leaders": 1,
        "replicas": 2,
        "in_sync": 2,
        "disk_bytes": 2048,
    }
    assert [one["state"] for one in found] == ["up", "draining", "fenced", "down"]


def test_list_of_an_old_cluster_has_what_metadata_tells(
    terminal: Terminal, brokers: list[ScriptedBroker]
) -> None:
    for broker in brokers:
        broker.on(ApiKey.DESCRIBE_CLUSTER, described(brokers, fenced=()), versions=(0, 1))
        broker.off(ApiKey.DESCRIBE_QUORUM)
        broker.off(ApiKey.DESCRIBE_LOG_DIRS)

    answer = terminal.must("broker", "list", "--json")
    found = answer.json()
    assert [(one["broker"], one["state"]) for one in found] == [
        (1, "up"),
        (2, "up"),
        (3, "down"),
        (4, "down"),
    ]
    assert [one["is_controller"] for one in found] == [True, False, False, False]
    assert found[0]["quorum_role"] is found[0]["disk_bytes"] is None
    assert "Note: The disks of broker 1 are not known" in answer.errors


def test_list_with_a_broker_that_does_not_answer_shows_it_with_a_note(
    terminal: Terminal, brokers: list[ScriptedBroker]
) -> None:
    brokers[1].on(ApiKey.DESCRIBE_LOG_DIRS, hang_up)

    answer = terminal.must("broker", "list", "--json")
    assert [one["disk_bytes"] for one in answer.json()] == [3072, None, None, None]
    (note,) = answer.errors.splitlines()
    assert note.startswith("Note: The disks of broker 2 are not known: The broker at 127.0.0.1:")


def test_list_whose_quorum_is_refused_goes_on_without_it(
    terminal: Terminal, brokers: list[ScriptedBroker]
) -> None:
    for broker in brokers:
        broker.on(
            ApiKey.DESCRIBE_QUORUM,
            quorum(leader=0, voters={}, observers={}, code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED),
        )

    answer = terminal.must("broker", "list", "--json")
    assert [one["is_controller"] for one in answer.json()] == [True, False, False, False]
    assert "Note: The quorum is not known: Cannot describe the quorum" in answer.errors


def test_describe_shows_directories_and_partitions(terminal: Terminal, brokers: list[ScriptedBroker]) -> None:
    headline, directory, *table = terminal.must("broker", "describe", "2").output.splitlines()

    assert headline == (
        f"broker 2  address {brokers[1].bootstrap}  rack r2  state draining  controller yes  quorum leader  "
        "leaders 1  replicas 2  in sync 2"
    )
    assert directory == "  /data  uses 2.0 KiB  free 5.0 KiB of 10.0 KiB  takes nothing new"
    assert [line.split() for line in table[1:]] == [
        ["orders", "0", "follower", "yes", "1.0", "KiB"],
        ["orders", "1", "leader", "yes", "1.0", "KiB"],
    ]


def test_describe_json_tells_how_far_behind_a_voter_is(terminal: Terminal) -> None:
    found = terminal.must("broker", "describe", "1", "--json").json()

    assert found["quorum"] == {"role": "voter", "log_end_offset": 90, "lag": 10}
    assert found["directories"][0]["bytes"] == 3072
    assert found["partitions"] == [
        {"topic": "orders", "partition": 0, "role": "leader", "in_sync": True, "bytes": 3072}
    ]
    assert "quorum voter, 10 behind" in terminal.must("broker", "describe", "1").output


def test_describe_of_a_broker_that_is_down_shows_what_it_held(terminal: Terminal) -> None:
    headline, _, row = terminal.must("broker", "describe", "4").output.splitlines()

    assert headline.startswith("broker 4  address -  rack -  state down")
    assert row.split() == ["orders", "1", "follower", "no", "-"]


def test_describe_of_nobody_fails_with_a_hint(terminal: Terminal) -> None:
    answer = terminal.run("broker", "describe", "9")

    assert answer.code == 1
    assert answer.errors.splitlines() == [
        "Error: There is no broker 9.",
        "Hint: See what there is with `penstock broker list`.",
    ]


def test_decommission_waits_until_the_broker_is_forgotten(
    terminal: Terminal, brokers: list[ScriptedBroker]
) -> None:
    script = decommissions(left(2, is_voter=True), left(1, is_voter=True), left(0, is_voter=True), FORGOTTEN)
    for broker in brokers:
        broker.on(ApiKey.DECOMMISSION_BROKER, script)

    answer = terminal.must("broker", "decommission", "2")
    assert answer.output == "broker 2: decommissioned, its process is no longer needed\n"
    asked = [one.message for one in brokers[0].asked if one.api is ApiKey.DECOMMISSION_BROKER]
    assert [(one.broker_id, one.is_cancelled) for one in asked] == [(2, False)] * 4
    assert [one.is_question for one in asked] == [False, True, True, True]


def test_decommission_that_somebody_else_calls_off_is_not_begun_again(
    terminal: Terminal, brokers: list[ScriptedBroker]
) -> None:
    called_off = DecommissionBrokerResponse(replicas_left=2, is_draining=False)
    brokers[0].on(ApiKey.DECOMMISSION_BROKER, decommissions(left(3), left(2), called_off))

    answer = terminal.run("broker", "decommission", "2")
    assert answer.code == 1
    error, hint = answer.errors.splitlines()
    assert error == "Error: Broker 2 is not being emptied any more: somebody called it off."
    assert "penstock broker describe 2" in hint
    asked = [one.message for one in brokers[0].asked if one.api is ApiKey.DECOMMISSION_BROKER]
    assert [one.is_question for one in asked] == [False, True, True]


def test_decommission_without_waiting_tells_what_is_left(
    terminal: Terminal, brokers: list[ScriptedBroker]
) -> None:
    brokers[0].on(ApiKey.DECOMMISSION_BROKER, left(1, is_voter=True))

    answer = terminal.must("broker", "decommission", "2", "--no-wait")
    assert answer.output == "broker 2: being emptied, 1 replica left, still a voter of the quorum\n"
    assert terminal.must("broker", "decommission", "2", "--no-wait", "--json").json() == {
        "broker": 2,
        "outcome": "draining",
        "replicas_left": 1,
        "is_voter": True,
    }


def test_decommission_that_takes_too_long_fails_and_says_how_to_go_on(
    terminal: Terminal, brokers: list[ScriptedBroker]
) -> None:
    brokers[0].on(ApiKey.DECOMMISSION_BROKER, left(3))

    answer = terminal.run("broker", "decommission", "2", "--timeout", "10ms")
    assert answer.code == 1
    error, hint = answer.errors.splitlines()
    assert error == "Error: Broker 2 still has 3 replicas after 10ms."
    assert "penstock broker decommission 2" in hint


def test_decommission_interrupted_says_that_it_goes_on(
    terminal: Terminal, brokers: list[ScriptedBroker], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    brokers[0].on(ApiKey.DECOMMISSION_BROKER, left(3))
    monkeypatch.setattr(time, "sleep", interrupt)

    answer = terminal.run("broker", "decommission", "2")
    assert answer.code == 1
    assert answer.errors.startswith("Error: Broker 2 still has 3 replicas now.\nHint: It goes on by itself;")


def test_decommission_goes_on_when_a_broker_hangs_up(
    terminal: Terminal, brokers: list[ScriptedBroker]
) -> None:
    answers = iter([left(3), None, FORGOTTEN])

    def hang_up_once(request: Any) -> DecommissionBrokerResponse:
        answer = next(answers)
        if answer is None:
            raise HangUpError
        return answer

    brokers[0].on(ApiKey.DECOMMISSION_BROKER, hang_up_once)

    assert terminal.must("broker", "decommission", "2", "--json").json()["outcome"] == "decommissioned"


def test_decommission_cancelled_lets_the_broker_stay(
    terminal: Terminal, brokers: list[ScriptedBroker]
) -> None:
    brokers[0].on(ApiKey.DECOMMISSION_BROKER, left(3))

    assert terminal.must("broker", "decommission", "2", "--cancel").output == (
        "broker 2: takes replicas again\n"
    )
    assert brokers[0].asked[-1].message.is_cancelled


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        (ErrorCode.POLICY_VIOLATION, "penstock serve --join"),
        (ErrorCode.INVALID_REPLICATION_FACTOR, "--replication-factor"),
        (ErrorCode.BROKER_ID_NOT_REGISTERED, "penstock broker list"),
        (ErrorCode.CLUSTER_AUTHORIZATION_FAILED, "administrator"),
    ],
)
def test_decommission_that_is_impossible_says_why_and_what_to_do(
    terminal: Terminal, brokers: list[ScriptedBroker], code: ErrorCode, hint: str
) -> None:
    brokers[0].on(ApiKey.DECOMMISSION_BROKER, refused(code, "It cannot be."))

    answer = terminal.run("broker", "decommission", "9")
    assert answer.code == 1
    error, told = answer.errors.splitlines()
    assert error == f"Error: Cannot decommission broker 9: It cannot be ({code.name})."
    assert hint in told


def test_decommission_of_another_kind_of_cluster_says_what_to_do_instead(terminal: Terminal) -> None:
    answer = terminal.run("broker", "decommission", "2")

    assert answer.code == 1
    error, hint = answer.errors.splitlines()
    assert "cannot empty a broker by itself" in error
    assert "penstock reassign plan --brokers" in hint


def test_cluster_status_shows_what_lacks_replicas(terminal: Terminal) -> None:
    lines = terminal.must("cluster", "status").output.splitlines()

    assert lines[:3] == [
        "cluster scripted  brokers 2 of 4 up  controller 2",
        "quorum leader 2  epoch 7  voters 1,2  observers 5  high watermark 95  lag 10",
        "topics 1  partitions 3  under-replicated 1  without leader 1  moving 0",
    ]
    assert [line.split() for line in lines[-2:]] == [
        ["orders", "1", "2", "2,4", "2"],
        ["orders", "2", "-", "3", "3"],
    ]


def test_cluster_status_json_has_all_of_it(terminal: Terminal) -> None:
    found = terminal.must("cluster", "status", "--json").json()

    assert (found["cluster_id"], found["controller"], found["partitions"]) == ("scripted", 2, 3)
    assert [one["broker"] for one in found["brokers"]] == [1, 2, 3, 4]
    assert [(one["node"], one["role"], one["lag"]) for one in found["quorum"]["nodes"]] == [
        (1, "voter", 10),
        (2, "leader", 0),
        (5, "observer", 100),
    ]
    assert found["leaderless_partitions"] == [
        {"topic": "orders", "partition": 2, "leader": None, "replicas": [3], "in_sync": [3]}
    ]
    assert [one["partition"] for one in found["under_replicated_partitions"]] == [1]


def test_cluster_status_of_a_cluster_without_quorum_or_controller_shows_dashes(
    terminal: Terminal, brokers: list[ScriptedBroker]
) -> None:
    with scripted_cluster(1) as (lone,):
        lines = terminal.must("cluster", "status", "--bootstrap-server", lone.bootstrap).output.splitlines()

    assert lines[0] == "cluster scripted  brokers 1 of 1 up  controller -"
    assert lines[1] == "topics 0  partitions 0  under-replicated 0  without leader 0  moving 0"
    assert len(lines) == 4
