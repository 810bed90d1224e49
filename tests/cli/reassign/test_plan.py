"""Files of plans: what Kafka's own tools write is read, and nonsense is named."""

import json
from pathlib import Path
from typing import Any

import pytest

from penstock.cli.reassign.plan import read_plan, write_plan
from penstock.model.errors import UsageError
from penstock.model.ids import TopicPartition

ORDERS = TopicPartition("orders", 0)


def plan(*partitions: Any, version: object = 1) -> str:
    return json.dumps({"version": version, "partitions": list(partitions)})


def entry(**fields: Any) -> dict[str, Any]:
    return {"topic": "orders", "partition": 0, "replicas": [1, 2], **fields}


def test_plan_that_is_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    assignment = {TopicPartition("b", 1): (3, 1), TopicPartition("a", 0): (2,)}

    write_plan(path, assignment)
    assert read_plan(path) == assignment
    assert [each["topic"] for each in json.loads(path.read_text())["partitions"]] == ["a", "b"]


def test_plan_of_kafkas_tool_may_leave_directories_open(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text(plan(entry(log_dirs=["any", "any"])))

    assert read_plan(path) == {ORDERS: (1, 2)}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is not JSON"),
        ("[]", 'must be an object with "version": 1'),
        (plan(version=2), 'must be an object with "version": 1'),
        ('{"version": 1}', 'must have a list of "partitions"'),
        (plan("orders"), 'has no "topic" and "partition"'),
        (plan(entry(topic="")), 'has no "topic" and "partition"'),
        (plan(entry(partition=True)), 'has no "topic" and "partition"'),
        (plan(entry(partition=-1)), 'has no "topic" and "partition"'),
        (plan(entry(replicas=[])), 'orders-0 has no list of "replicas"'),
        (plan(entry(replicas=["1"])), 'orders-0 has no list of "replicas"'),
        (plan(entry(replicas=[1, 1])), "orders-0 names a broker twice"),
        (plan(entry(), entry()), "orders-0 is in it twice"),
        (plan(entry(log_dirs=["/data", "any"])), 'orders-0 names "log_dirs"'),
    ],
)
def test_plan_that_is_none_is_refused_by_name_and_reason(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "plan.json"
    path.write_text(text)

    with pytest.raises(UsageError) as refused:
        read_plan(path)
    assert str(refused.value).startswith(f"{path} is n")
    assert said in str(refused.value)
