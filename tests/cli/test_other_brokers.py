"""Brokers that lack an API, or speak as brokers once did: a sentence and a hint, never a traceback."""

import pytest
from tests.cli.scripted_broker import ScriptedBroker, scripted_cluster

from penstock.cli.main import main
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from penstock.wire.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)

OLD_MESSAGE = bytes(8) + (100).to_bytes(4) + bytes(4) + b"\x01" + bytes(100)
"""As Kafka wrote them before 0.11: the byte that tells is in the same place."""


def refused(*words: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The lines that a command leaves on standard error when it fails."""
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 1
    return capsys.readouterr().err.splitlines()


@pytest.mark.parametrize(
    ("words", "api"),
    [
        (["config", "describe", "topic", "orders"], "DescribeConfigs"),
        (["config", "set", "topic", "orders", "retention.ms=1"], "IncrementalAlterConfigs"),
        (["storage", "analyze", "orders"], "ListOffsets"),
        (["group", "list"], "ListGroups"),
        (["txn", "list"], "ListTransactions"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_command_whose_api_is_missing_says_which(
    words: list[str], api: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with scripted_cluster(topics={"orders": [1]}) as (broker,):
        error, hint = refused(*words, "--bootstrap-server", broker.bootstrap, capsys=capsys)

    assert error.startswith("Error: ")
    assert f"does not serve {api}" in error
    assert hint.startswith("Hint: ")


def holds_old_messages(broker: ScriptedBroker) -> None:
    def offsets(request: object) -> ListOffsetsResponse:
        (asked,) = request.topics[0].partitions  # type: ignore[attr-defined]
        answer = ListOffsetsPartitionResponse(partition_index=0, offset=0 if asked.timestamp == -2 else 1)
        return ListOffsetsResponse(topics=(ListOffsetsTopicResponse(name="orders", partitions=(answer,)),))

    data = PartitionData(partition_index=0, error_code=0, high_watermark=1, records=OLD_MESSAGE)
    broker.on(ApiKey.LIST_OFFSETS, offsets)
    broker.on(
        ApiKey.FETCH,
        FetchResponse(responses=(FetchableTopicResponse(topic="orders", partitions=(data,)),)),
    )


def test_analyze_of_messages_in_an_old_format_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    with scripted_cluster(topics={"orders": [1]}) as (broker,):
        holds_old_messages(broker)
        words = ["storage", "analyze", "orders", "--bootstrap-server", broker.bootstrap]
        error, hint = refused(*words, capsys=capsys)

    assert "Batch has magic 1" in error
    assert "Kafka 0.11" in hint
