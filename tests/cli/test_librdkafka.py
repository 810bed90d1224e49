"""Failures of librdkafka as sentences; how it talks to brokers is tested with every command."""

from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any

import pytest
from tests.cli.terminal import Terminal

from penstock.cli import librdkafka
from penstock.cli.failure import CommandFailed, report
from penstock.cli.librdkafka import result_of, succeeds
from penstock.testing import Broker


@pytest.mark.parametrize("wait", [result_of, partial(succeeds, excused="TOPIC_ALREADY_EXISTS")])
def test_answer_that_does_not_come_is_a_failure_with_a_hint(
    wait: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(librdkafka, "ANSWER_SECONDS_MAX", 0.01)

    with pytest.raises(CommandFailed) as failed:
        wait(Future(), doing="create topic 'orders'")
    assert report(failed.value) == 1
    assert capsys.readouterr().err.splitlines() == [
        "Error: Cannot create topic 'orders': no answer within 0.01 s.",
        "Hint: The broker took too long to answer; look at its log.",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("words", [["create"], ["delete"], ["alter", "-c", "retention.ms=1"]])
def test_command_whose_broker_is_frozen_fails_in_a_sentence(
    words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(librdkafka, "ANSWER_SECONDS_MAX", 0.1)
    verb, *options = words
    with Broker() as broker:
        broker.pause()
        answer = Terminal(broker.bootstrap_servers, capsys, monkeypatch).run("topic", verb, "t", *options)

    assert answer.code == 1
    assert "no answer within 0.1 s" in answer.errors
