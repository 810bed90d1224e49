"""``penstock reassign`` against a cluster that moves replicas as the test lets it."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.scripted_broker import HangUpError, Placed, ScriptedBroker, placed, scripted_cluster
from tests.cli.terminal import Terminal

from penstock.cli import progress
from penstock.model.error_codes import ErrorCode
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsResponse,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from penstock.wire.messages.describe_configs import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from penstock.wire.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from penstock.wire.messages.incremental_alter_configs import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsResponse,
)
from penstock.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)
from penstock.wire_client import cluster as cluster_module

DYNAMIC = 1
Key = tuple[str, int]


class Controller:
    """Decides on moves of a scripted cluster; every time it is asked what moves, one move more is done."""

    def __init__(self) -> None:
        self.topics: dict[str, list[int | Placed]] = {
            "clicks": [placed(1), placed(1)],
            "orders": [placed(1, 2), placed(1, 2), placed(1, 2)],
        }
        self.targets: dict[Key, tuple[int, ...]] = {}
        self.refusals: dict[Key, tuple[ErrorCode, str]] = {}
        self.is_stuck = False
        self.configs: dict[Key, dict[str, str]] = {}
        self.rates_seen: list[str | None] = []

    def replicas(self, key: Key) -> tuple[int, ...]:
        at = self.topics[key[0]][key[1]]
        assert isinstance(at, Placed)
        return at.replicas

    def alter(self, request: Any) -> AlterPartitionReassignmentsResponse:
        self.rates_seen.append(self.configs.get(("2", 4), {}).get("leader.replication.throttled.rate"))
        return AlterPartitionReassignmentsResponse(
            responses=tuple(
                ReassignableTopicResponse(
                    name=topic.name,
                    partitions=tuple(
                        self._alter((topic.name, each.partition_index), each.replicas)
                        for each in topic.partitions
                    ),
                )
                for topic in request.topics
            )
        )

    def _alter(self, key: Key, replicas: tuple[int, ...] | None) -> ReassignablePartitionResponse:
        code, message = self.refusals.get(key, (ErrorCode.NONE, None))
        if replicas is None and key not in self.targets:
            code = ErrorCode.NO_REASSIGNMENT_IN_PROGRESS
        if code is ErrorCode.NONE and replicas is None:
            del self.targets[key]
        elif code is ErrorCode.NONE and replicas is not None and replicas != self.replicas(key):
            self.targets[key] = replicas
        return ReassignablePartitionResponse(partition_index=key[1], error_code=code, error_message=message)

    def list_moves(self, request: Any) -> ListPartitionReassignmentsResponse:
        if self.targets and not self.is_stuck:
            done = min(self.targets)
            self.topics[done[0]][done[1]] = placed(*self.targets.pop(done))
        topics = sorted({topic for topic, _ in self.targets})
        if request.topics is not None:
            topics = [topic for topic in topics if topic in {each.name for each in request.topics}]
        return ListPartitionReassignmentsResponse(
            topics=tuple(
                OngoingTopicReassignment(name=topic, partitions=self._moving(topic)) for topic in topics
            )
        )

    def _moving(self, topic: str) -> tuple[OngoingPartitionReassignment, ...]:
        return tuple(
            OngoingPartitionReassignment(
                partition_index=key[1],
                replicas=(*self.replicas(key), *(each for each in target if each not in self.replicas(key))),
                adding_replicas=tuple(each for each in target if each not in self.replicas(key)),
                removing_replicas=tuple(each for each in self.replicas(key) if each not in target),
            )
            for key, target in sorted(self.targets.items())
            if key[0] == topic
        )

    def alter_configs(self, request: Any) -> IncrementalAlterConfigsResponse:
        for each in request.resources:
            values = self.configs.setdefault((each.resource_name, each.resource_type), {})
            for config in each.configs:
                if config.value is None:
                    values.pop(config.name, None)
                else:
                    values[config.name] = config.value
        return IncrementalAlterConfigsResponse(
            responses=tuple(
                AlterConfigsResourceResponse(
                    resource_type=each.resource_type, resource_name=each.resource_name
                )
                for each in request.resources
            )
        )

    def describe_configs(self, request: Any) -> DescribeConfigsResponse:
        return DescribeConfigsResponse(
            results=tuple(
                DescribeConfigsResult(
                    resource_type=each.resource_type,
                    resource_name=each.resource_name,
                    configs=tuple(
                        DescribeConfigsResourceResult(name=name, value=value, config_source=DYNAMIC)
                        for name, value in self.configs.get(
                            (each.resource_name, each.resource_type), {}
                        ).items()
                        if name in each.configuration_keys
                    ),
                )
                for each in request.resources
            )
        )

    @property
    def is_throttled(self) -> bool:
        return any(self.configs.values())


@pytest.fixture(autouse=True)
def _little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "POLL_SECONDS", 0.001)
    monkeypatch.setattr(cluster_module, "PATIENCE_SECONDS_MAX", 0.2)
    monkeypatch.setattr(cluster_module, "_RETRY_SECONDS", 0.001)


@pytest.fixture
def controller() -> Controller:
    return Controller()


@pytest.fixture
def brokers(controller: Controller) -> Iterator[list[ScriptedBroker]]:
    """Brokers 1 to 3; ``clicks`` is on the first, ``orders`` on the first two."""
    with scripted_cluster(3, topics=controller.topics) as three:
        for broker in three:
            broker.on(ApiKey.ALTER_PARTITION_REASSIGNMENTS, controller.alter)
            broker.on(ApiKey.LIST_PARTITION_REASSIGNMENTS, controller.list_moves)
            broker.on(ApiKey.INCREMENTAL_ALTER_CONFIGS, controller.alter_configs)
            broker.on(ApiKey.DESCRIBE_CONFIGS, controller.describe_configs)
        yield three


@pytest.fixture
def terminal(
    brokers: list[ScriptedBroker], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Terminal:
    return Terminal(brokers[0].bootstrap, capsys, monkeypatch)


@pytest.fixture
def plan_file(tmp_path: Path) -> Path:
    """Moves two partitions of ``orders`` off broker 2."""
    return write(tmp_path / "plan.json", {("orders", 0): [1, 3], ("orders", 1): [3, 1]})


def write(path: Path, assignment: dict[Key, list[int]]) -> Path:
    entries = [
        {"topic": topic, "partition": partition, "replicas": replicas}
        for (topic, partition), replicas in assignment.items()
    ]
    path.write_text(json.dumps({"version": 1, "partitions": entries}))
    return path


def all_sizes(size: int) -> DescribeLogDirsResponse:
    topic = DescribeLogDirsTopic(
        name="clicks",
        partitions=tuple(
            DescribeLogDirsPartition(partition_index=number, partition_size=size) for number in range(2)
        ),
    )
    return DescribeLogDirsResponse(results=(DescribeLogDirsResult(log_dir="/data", topics=(topic,)),))


# Plans.


def test_plan_shows_from_and_to_and_what_is_copied(terminal: Terminal, brokers: list[ScriptedBroker]) -> None:
    for broker in brokers:
        broker.on(ApiKey.DESCRIBE_LOG_DIRS, all_sizes(2048))

    lines = terminal.must("reassign", "plan", "--topics", "clicks").output.splitlines()
    assert [line.split() for line in lines] == [
        ["TOPIC", "PARTITION", "FROM", "TO", "COPIED", "TO"],
        ["clicks", "0", "1", "3", "3"],
        ["clicks", "1", "1", "3", "3"],
        ["2", "partitions", "to", "change,", "2", "replicas", "to", "copy,", "4.0", "KiB"],
    ]


def test_plan_json_is_what_the_file_holds_and_kafka_reads(terminal: Terminal, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"

    answer = terminal.must("reassign", "plan", "--topic", "clicks", "-o", str(path), "--json")
    assert answer.json() == json.loads(path.read_text())
    assert answer.json()["version"] == 1
    assert answer.json()["partitions"][0] == {"topic": "clicks", "partition": 0, "replicas": [3]}
    assert f"penstock reassign run {path}" in answer.errors


def test_plan_moves_replicas_evenly(terminal: Terminal, controller: Controller) -> None:
    planned = terminal.must("reassign", "plan", "--json").json()["partitions"]

    after = {(topic, index): controller.replicas((topic, index)) for topic, index in ALL}
    after |= {(each["topic"], each["partition"]): tuple(each["replicas"]) for each in planned}
    held = [node_id for replicas in after.values() for node_id in replicas]
    assert sorted(held.count(node_id) for node_id in (1, 2, 3)) == [2, 3, 3]


ALL = [("clicks", 0), ("clicks", 1), ("orders", 0), ("orders", 1), ("orders", 2)]


def test_plan_that_need_not_be_even_moves_only_off_other_brokers(terminal: Terminal) -> None:
    planned = terminal.must("reassign", "plan", "--brokers", "1,3", "--no-even", "--json").json()

    assert {(each["topic"], tuple(each["replicas"])) for each in planned["partitions"]} == {
        ("orders", (1, 3))
    }
    assert len(planned["partitions"]) == 3


def test_plan_for_more_replicas_adds_them(terminal: Terminal) -> None:
    words = ["--topics", "clicks", "--replication-factor", "3", "--no-even", "--json"]

    planned = terminal.must("reassign", "plan", *words).json()["partitions"]
    assert [sorted(each["replicas"]) for each in planned] == [[1, 2, 3]] * 2
    assert [each["replicas"][0] for each in planned] == [1, 1]


def test_plan_with_nothing_to_do_says_so(terminal: Terminal) -> None:
    assert terminal.must("reassign", "plan", "--no-even").output == (
        "Nothing to move: everything is where it should be.\n"
    )


def test_plan_file_with_nothing_to_do_is_not_said_to_need_a_run(terminal: Terminal, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"

    answer = terminal.must("reassign", "plan", "--no-even", "-o", str(path))
    assert json.loads(path.read_text())["partitions"] == []
    assert answer.errors == ""


def test_plan_leaves_what_moves_already(terminal: Terminal, controller: Controller) -> None:
    controller.is_stuck = True
    controller.targets = {("clicks", 0): (2,), ("clicks", 1): (3,)}

    planned = terminal.must("reassign", "plan", "--topics", "clicks", "--json").json()
    assert planned["partitions"] == []


def test_plan_for_a_cluster_without_reassignments_can_still_be_made(
    terminal: Terminal, brokers: list[ScriptedBroker]
) -> None:
    for broker in brokers:
        broker.off(ApiKey.LIST_PARTITION_REASSIGNMENTS)

    assert terminal.must("reassign", "plan", "--json").json()["partitions"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--topics", "nope"], "There is no topic 'nope'."),
        (["--brokers", "1,9"], "Broker 9 is not up."),
        (["--brokers", "1"], "orders-0 has 2 replicas, more than the brokers that were named."),
        (["-r", "4"], "A replication factor of 4 is not possible on 3 broker(s)."),
    ],
)
def test_plan_that_is_impossible_fails_with_a_hint(terminal: Terminal, words: list[str], said: str) -> None:
    answer = terminal.run("reassign", "plan", *words)

    assert answer.code == 1
    error, hint = answer.errors.splitlines()
    assert error == f"Error: {said}"
    assert hint.startswith("Hint: ")


def test_plan_that_cannot_be_written_fails(terminal: Terminal, tmp_path: Path) -> None:
    answer = terminal.run("reassign", "plan", "-o", str(tmp_path / "missing" / "plan.json"))

    assert answer.code == 1
    assert "no such file or directory" in answer.errors


# Carrying them out.


def test_run_moves_everything_and_waits(terminal: Terminal, controller: Controller, plan_file: Path) -> None:
    answer = terminal.must("reassign", "run", str(plan_file))

    assert answer.output == "orders-0: done\norders-1: done\n"
    assert (controller.replicas(("orders", 0)), controller.replicas(("orders", 1))) == ((1, 3), (3, 1))
    assert not controller.targets


def test_run_json_tells_from_and_to(terminal: Terminal, plan_file: Path) -> None:
    found = terminal.must("reassign", "run", str(plan_file), "--json").json()

    assert found[0] == {"topic": "orders", "partition": 0, "from": [1, 2], "to": [1, 3], "outcome": "done"}


def test_run_without_waiting_only_begins(terminal: Terminal, controller: Controller, plan_file: Path) -> None:
    answer = terminal.must("reassign", "run", str(plan_file), "--no-wait")

    assert answer.output == "orders-0: started\norders-1: started\n"
    assert set(controller.targets) == {("orders", 0), ("orders", 1)}


def test_run_saves_the_way_back_first(
    terminal: Terminal, controller: Controller, plan_file: Path, tmp_path: Path
) -> None:
    back = tmp_path / "back.json"

    terminal.must("reassign", "run", str(plan_file), "--save-current", str(back))
    terminal.must("reassign", "run", str(back))
    assert controller.replicas(("orders", 0)) == controller.replicas(("orders", 1)) == (1, 2)


def test_run_with_a_throttle_sets_it_before_and_takes_it_away_after(
    terminal: Terminal, controller: Controller, plan_file: Path
) -> None:
    terminal.must("reassign", "run", str(plan_file), "--throttle", "2MB")

    assert controller.rates_seen == ["2000000"]
    assert not controller.is_throttled


def test_run_with_a_throttle_names_the_replicas_that_copy(
    terminal: Terminal, controller: Controller, plan_file: Path
) -> None:
    answer = terminal.must("reassign", "run", str(plan_file), "--throttle", "1MiB", "--no-wait")

    assert controller.configs["orders", 2] == {
        "leader.replication.throttled.replicas": "0:1,0:2,1:1,1:2",
        "follower.replication.throttled.replicas": "0:3,1:3",
    }
    assert {key: len(values) for key, values in controller.configs.items() if key[1] == 4} == {
        ("1", 4): 2,
        ("2", 4): 2,
        ("3", 4): 2,
    }
    assert "The throttle stays" in answer.errors
    terminal.must("reassign", "run", str(plan_file), "--throttle", "1MiB")
    assert not controller.is_throttled


def test_run_of_which_nothing_begins_leaves_no_throttle(
    terminal: Terminal, controller: Controller, plan_file: Path
) -> None:
    for partition in (0, 1):
        controller.refusals["orders", partition] = (ErrorCode.INVALID_REPLICA_ASSIGNMENT, "Broker 3 is full.")

    answer = terminal.run("reassign", "run", str(plan_file), "--throttle", "1MiB")
    assert answer.code == 1
    assert answer.errors.splitlines()[0] == (
        "Error: Cannot move orders-0: Broker 3 is full (INVALID_REPLICA_ASSIGNMENT)."
    )
    assert not controller.is_throttled


def test_run_refused_as_a_whole_leaves_no_throttle(
    terminal: Terminal, brokers: list[ScriptedBroker], controller: Controller, plan_file: Path
) -> None:
    refusal = AlterPartitionReassignmentsResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    for broker in brokers:
        broker.on(ApiKey.ALTER_PARTITION_REASSIGNMENTS, refusal)

    answer = terminal.run("reassign", "run", str(plan_file), "--throttle", "1MiB")
    assert answer.code == 1
    assert "Cannot move partitions: cluster authorization failed" in answer.errors
    assert not controller.is_throttled


def test_run_of_which_some_is_refused_does_the_rest_and_fails(
    terminal: Terminal, controller: Controller, plan_file: Path
) -> None:
    controller.refusals["orders", 0] = (ErrorCode.INVALID_REPLICA_ASSIGNMENT, "No.")

    answer = terminal.run("reassign", "run", str(plan_file), "--json")
    assert answer.code == 1
    assert [one["outcome"] for one in answer.json()] == ["refused", "done"]
    assert "Cannot move orders-0: No" in answer.errors


def test_run_that_takes_too_long_fails_keeps_the_throttle_and_says_how_to_go_on(
    terminal: Terminal, controller: Controller, plan_file: Path
) -> None:
    controller.is_stuck = True

    answer = terminal.run("reassign", "run", str(plan_file), "--timeout", "10ms", "--throttle", "1MiB")
    assert answer.code == 1
    error, hint = answer.errors.splitlines()
    assert error == "Error: 2 partitions are still on the move after 10ms."
    assert "penstock reassign cancel" in hint
    assert controller.is_throttled


def test_run_interrupted_says_that_it_goes_on(
    terminal: Terminal, controller: Controller, plan_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    controller.is_stuck = True
    monkeypatch.setattr(time, "sleep", interrupt)

    answer = terminal.run("reassign", "run", str(plan_file))
    assert answer.code == 1
    assert answer.errors.startswith("Error: 2 partitions are still on the move now.")


def test_run_that_somebody_calls_off_fails(
    terminal: Terminal, brokers: list[ScriptedBroker], controller: Controller, plan_file: Path
) -> None:
    for broker in brokers:
        broker.on(ApiKey.LIST_PARTITION_REASSIGNMENTS, ListPartitionReassignmentsResponse())

    answer = terminal.run("reassign", "run", str(plan_file))
    assert answer.code == 1
    assert "orders-0 is not where it was to be, nor are 1 others" in answer.errors


def test_run_goes_on_when_a_broker_hangs_up(
    terminal: Terminal, brokers: list[ScriptedBroker], controller: Controller, plan_file: Path
) -> None:
    def hang_up_once(request: Any) -> ListPartitionReassignmentsResponse:
        for broker in brokers:
            broker.on(ApiKey.LIST_PARTITION_REASSIGNMENTS, controller.list_moves)
        raise HangUpError

    brokers[0].on(ApiKey.LIST_PARTITION_REASSIGNMENTS, hang_up_once)

    assert terminal.must("reassign", "run", str(plan_file)).output == "orders-0: done\norders-1: done\n"


def test_run_of_an_empty_plan_does_nothing(terminal: Terminal, tmp_path: Path) -> None:
    assert terminal.must("reassign", "run", str(write(tmp_path / "empty.json", {}))).output == ""


@pytest.mark.parametrize(
    ("assignment", "said"),
    [
        ({("nope", 0): [1]}, "There is no partition nope-0."),
        ({("orders", 7): [1]}, "There is no partition orders-7."),
        ({("orders", 0): [1, 9]}, "Broker 9, which orders-0 is to move to, is not up."),
    ],
)
def test_run_of_a_plan_that_names_what_is_not_there_moves_nothing(
    terminal: Terminal,
    controller: Controller,
    tmp_path: Path,
    assignment: dict[Key, list[int]],
    said: str,
) -> None:
    path = write(tmp_path / "plan.json", {("clicks", 0): [2], **assignment})

    answer = terminal.run("reassign", "run", str(path))
    assert answer.code == 1
    assert f"Error: {said}" in answer.errors
    assert not controller.targets


@pytest.mark.parametrize(
    "words", [["run", "PLAN"], ["status"], ["status", "PLAN"], ["cancel"], ["cancel", "PLAN"]], ids=" ".join
)
def test_cluster_that_cannot_move_replicas_says_so(
    terminal: Terminal, brokers: list[ScriptedBroker], plan_file: Path, words: list[str]
) -> None:
    brokers[0].off(ApiKey.ALTER_PARTITION_REASSIGNMENTS)

    answer = terminal.run("reassign", *(str(plan_file) if word == "PLAN" else word for word in words))
    assert answer.code == 1
    assert answer.errors.startswith("Error: The cluster does not serve AlterPartitionReassignments.\nHint: ")


# Looking at them, and calling them off.


def test_status_shows_what_moves_and_who_has_caught_up(terminal: Terminal, controller: Controller) -> None:
    controller.is_stuck = True
    controller.topics["orders"][0] = Placed(1, (1, 2), (1, 2, 3))
    controller.targets = {("orders", 0): (1, 3)}

    _, row = terminal.must("reassign", "status").output.splitlines()
    assert row.split() == ["orders", "0", "moving", "1,2,3", "3", "2", "1", "of", "1"]
    assert terminal.must("reassign", "status", "--json").json() == [
        {
            "topic": "orders",
            "partition": 0,
            "state": "moving",
            "replicas": [1, 2, 3],
            "adding": [3],
            "removing": [2],
            "adding_in_sync": [3],
        }
    ]


def test_status_when_nothing_moves_says_so(terminal: Terminal) -> None:
    assert terminal.must("reassign", "status").output == "Nothing moves.\n"


def test_status_of_a_plan_tells_of_each_partition_how_far_it_is(
    terminal: Terminal, controller: Controller, tmp_path: Path
) -> None:
    path = write(tmp_path / "plan.json", {("orders", 0): [1, 2], ("orders", 1): [1, 3], ("orders", 2): [3]})
    controller.is_stuck = True
    controller.targets = {("orders", 1): (1, 3)}

    found = terminal.must("reassign", "status", str(path), "--json").json()
    assert [one["state"] for one in found] == ["done", "moving", "not started"]


def test_cancel_calls_everything_off_and_takes_throttles_away(
    terminal: Terminal, controller: Controller, plan_file: Path
) -> None:
    controller.is_stuck = True
    terminal.must("reassign", "run", str(plan_file), "--no-wait", "--throttle", "1MiB")

    assert terminal.must("reassign", "cancel").output == "orders-0: cancelled\norders-1: cancelled\n"
    assert not controller.targets
    assert not controller.is_throttled


def test_cancel_when_nothing_moves_says_so(terminal: Terminal) -> None:
    assert terminal.must("reassign", "cancel").output == "Nothing to cancel.\n"
    assert terminal.must("reassign", "cancel", "--json").json() == []


def test_cancel_of_a_plan_leaves_others_and_what_is_done(
    terminal: Terminal, controller: Controller, plan_file: Path
) -> None:
    controller.is_stuck = True
    controller.targets = {("orders", 0): (1, 3), ("clicks", 0): (2,)}

    found = terminal.must("reassign", "cancel", str(plan_file), "--json").json()
    assert [(one["partition"], one["outcome"]) for one in found] == [(0, "cancelled"), (1, "unchanged")]
    assert controller.targets == {("clicks", 0): (2,)}


def test_cancel_that_is_refused_fails(terminal: Terminal, controller: Controller) -> None:
    controller.is_stuck = True
    controller.targets = {("orders", 0): (1, 3), ("orders", 1): (1, 3)}
    controller.refusals["orders", 0] = (ErrorCode.INVALID_REPLICA_ASSIGNMENT, "It would be unclean.")

    answer = terminal.run("reassign", "cancel")
    assert answer.code == 1
    assert answer.output == "orders-1: cancelled\n"
    assert "Cannot stop moving orders-0: It would be unclean" in answer.errors
