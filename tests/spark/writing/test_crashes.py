"""Death at every single request of tasks and driver: what is written is seen once, and nothing else is."""

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.spark.writing.crashing import Crash, Life
from tests.spark.writing.one_query import Run
from tests.wire_client.reading import read_values

from penstock.spark.options.sink_options import SinkOptions, stream_sink_options
from penstock.spark.writing.sinks import Sink
from penstock.testing import Broker
from penstock.wire.api_keys import ApiKey

PAIRS = 30
"""Of crashes in a batch and in its first repetition, drawn at random."""


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker() as one:
        yield one


def options(broker: Broker, topic: str) -> SinkOptions:
    given = {"kafka.bootstrap.servers": broker.bootstrap_servers, "topic": topic}
    return stream_sink_options(given | {"kafka.max.block.ms": "20000"})


def committed(broker: Broker, topic: str) -> list[bytes]:
    read = read_values(broker.bootstrap_servers, topic)
    return sorted(value for part in read for value in part if value is not None)


def count_requests(run: Run, batch: int) -> list[str]:
    life = Life()
    run.mortal(life).write(batch)
    return [api.name for api in life.asked]


def test_death_at_every_request_leaves_every_record_once(broker: Broker) -> None:
    topic = broker.create_topic(partitions=2)
    sink_options = options(broker, topic)
    model = Run(options=sink_options, sink=Sink(name="model"), name="model-1")
    model.write(0)
    requests = count_requests(model.restarted("model-2"), 1)
    assert {"INIT_PRODUCER_ID", "PRODUCE", "TXN_OFFSET_COMMIT", "END_TXN", "OFFSET_FETCH"} <= set(requests)

    runs = [model]
    for dies_at in range(len(requests)):
        for is_answered in (False, True):
            name = f"dies-{dies_at}-{is_answered}"
            first = Run(options=sink_options, sink=Sink(name=name), name=f"{name}-1")
            first.write(0)
            with pytest.raises(Crash):
                first.restarted(f"{name}-2").mortal(Life(dies_at=dies_at, is_answered=is_answered)).write(1)
            last = first.restarted(f"{name}-3")
            last.write(1)
            last.write(2)
            runs.append(last)

    expected = [model.expected(0, 1), *(run.expected(0, 1, 2) for run in runs[1:])]
    assert committed(broker, topic) == sorted(value for values in expected for value in values)


def test_death_at_every_request_leaves_all_of_a_batch_or_nothing_if_its_rows_are_gone_then(
    broker: Broker,
) -> None:
    topic = broker.create_topic(partitions=2)
    model = Run(options=options(broker, topic), sink=Sink(name="model-of-gone"), name="1")
    model.write(0)
    requests = count_requests(replace(model, sink=Sink(name="other-model-of-gone")), 0)
    expected: list[bytes] = []
    for dies_at in range(len(requests)):
        run = replace(model, sink=Sink(name=f"gone-{dies_at}"))
        life = Life(dies_at=dies_at, is_answered=True)
        with pytest.raises(Crash):
            run.mortal(life).write(0)
        last = run.restarted("2")
        replace(last, rows_per_task=0).write(0)
        last.write(1)
        is_decided = life.asked.count(ApiKey.END_TXN) >= 2  # The first one ends the claim.
        expected += run.expected(0, 1) if is_decided else run.expected(1)

    assert sorted(expected) == [value for value in committed(broker, topic) if value.startswith(b"gone")]


def test_death_at_two_requests_leaves_every_record_once(broker: Broker) -> None:
    topic = broker.create_topic(partitions=2)
    sink_options = options(broker, topic)
    rng = random.Random(11)
    expected = []
    for number in range(PAIRS):
        run = Run(options=sink_options, sink=Sink(name=f"twice-{number}"), name="1")
        for attempt in range(2):
            life = Life(dies_at=rng.randrange(45), is_answered=rng.random() < 0.5)
            try:
                run.restarted(f"{attempt + 2}").mortal(life).write(0)
            except Crash:
                continue
        run.restarted("9").write(0)
        run.restarted("9").write(1)
        expected += run.expected(0, 1)

    assert committed(broker, topic) == sorted(expected)
