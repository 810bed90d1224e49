"""What ``--topic`` may say."""

import pytest

from penstock.cli.failure import CommandFailed, ExitCode
from penstock.cli.partition_choice import chosen_partitions, parse_partition_choice
from penstock.model.errors import UsageError
from penstock.model.ids import TopicPartition

EXISTING = [TopicPartition("orders", 1), TopicPartition("orders", 0), TopicPartition("clicks", 0)]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["orders"], {"orders": None}),
        (["orders:0"], {"orders": {0}}),
        (["orders:0,2", "clicks"], {"orders": {0, 2}, "clicks": None}),
        (["orders:0", "orders:1"], {"orders": {0, 1}}),
        (["orders:0", "orders"], {"orders": None}),
        (["orders", "orders:0"], {"orders": None}),
        ([], {}),
    ],
)
def test_parse_each_form_is_understood(texts: list[str], expected: dict[str, set[int] | None]) -> None:
    assert parse_partition_choice(texts) == expected


@pytest.mark.parametrize("text", ["", ":0", "orders:", "orders:x", "orders:-1", "orders:0,,1", "orders:0:1"])
def test_parse_nonsense_is_refused_with_the_form(text: str) -> None:
    with pytest.raises(UsageError, match="TOPIC or TOPIC:0,1,2"):
        parse_partition_choice([text])


def test_chosen_partitions_come_in_order() -> None:
    choice = parse_partition_choice(["orders", "clicks:0"])

    assert chosen_partitions(choice, EXISTING) == [("clicks", 0), ("orders", 0), ("orders", 1)]


def test_chosen_partitions_leave_out_what_is_not_chosen() -> None:
    assert chosen_partitions(parse_partition_choice(["orders:1"]), EXISTING) == [("orders", 1)]


def test_chosen_partitions_of_a_missing_topic_fail() -> None:
    with pytest.raises(CommandFailed, match="There is no topic 'gone'"):
        chosen_partitions(parse_partition_choice(["gone"]), EXISTING)


def test_chosen_partitions_with_a_missing_number_are_a_usage_error() -> None:
    with pytest.raises(CommandFailed, match="'orders' has no partition 7") as failed:
        chosen_partitions(parse_partition_choice(["orders:7"]), EXISTING)
    assert failed.value.code is ExitCode.USAGE
