"""What tests of reading share: options for the broker of the run."""

from collections.abc import Callable
from typing import Any, Protocol

import pytest

from penstock.spark.options.source_options import SourceOptions, batch_options, stream_options
from penstock.testing import Broker

QUICK = {"kafkaConsumer.pollTimeoutMs": "20000", "kafka.retry.backoff.ms": "10"}


class MakeOptions(Protocol):
    """Options of the broker of the run, for one topic unless others are given."""

    def __call__(self, topic: str | None = None, **given: str) -> SourceOptions: ...


def _maker(broker: Broker, parse: Callable[[dict[str, str]], SourceOptions]) -> MakeOptions:
    def make(topic: str | None = None, **given: Any) -> SourceOptions:
        subscription = {} if topic is None else {"subscribe": topic}
        return parse({"kafka.bootstrap.servers": broker.bootstrap_servers, **QUICK, **subscription, **given})

    return make


@pytest.fixture
def batch(penstock_broker: Broker) -> MakeOptions:
    """Options of a batch."""
    return _maker(penstock_broker, batch_options)


@pytest.fixture
def stream(penstock_broker: Broker) -> MakeOptions:
    """Options of a stream."""
    return _maker(penstock_broker, stream_options)
