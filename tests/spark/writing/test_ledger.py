"""What is written down about a sink: its text, its chunks, and who may write it."""

import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.spark.options.sink_options import SinkOptions, stream_sink_options
from penstock.spark.writing.conversations import coordinators_for
from penstock.spark.writing.errors import StaleRunError
from penstock.spark.writing.ledger import (
    CHUNK_BYTES_MAX,
    Holder,
    Ledger,
    LedgerError,
    Part,
    chunk_count,
    decode_ledger,
    encode_ledger,
    first_ledger,
)
from penstock.spark.writing.ledger_store import LedgerStore
from penstock.spark.writing.sinks import Sink, application_sink
from penstock.testing import Broker
from penstock.wire_client.producers import ProducerIdentity

ids = st.integers(0, 2**63 - 1)
epochs = st.integers(0, 32_767)
producers = st.builds(ProducerIdentity, ids, epochs)
parts = st.lists(st.builds(Part, task=st.integers(0, 100_000), producer=producers), max_size=600)
ledgers = st.builds(
    Ledger,
    holder=st.builds(Holder, st.text(max_size=40), st.text(max_size=40)),
    driver=producers,
    batch=st.none() | ids,
    record_count=ids,
    parts=parts.map(tuple),
)


def some_parts(count: int, epoch: int = 0) -> tuple[Part, ...]:
    return tuple(Part(task=task, producer=ProducerIdentity(4_000_000 + task, epoch)) for task in range(count))


@given(ledgers)
def test_a_ledger_is_read_as_it_was_written(ledger: Ledger) -> None:
    chunks = encode_ledger(ledger)

    assert chunk_count(chunks[0]) == len(chunks)
    assert all(len(chunk.encode()) <= CHUNK_BYTES_MAX + 200 < 4096 for chunk in chunks)
    assert decode_ledger(chunks) == ledger


def test_chunks_of_two_writings_are_not_taken_for_one() -> None:
    ledger = replace(first_ledger("run", ProducerIdentity(1, 0)), batch=4, parts=some_parts(400))
    older, newer = encode_ledger(ledger), encode_ledger(replace(ledger, batch=5))

    assert len(older) == 2
    assert decode_ledger([newer[0], older[1]]) is None


def test_what_is_no_ledger_is_said_to_be_none() -> None:
    with pytest.raises(LedgerError, match="no ledger"):
        chunk_count("somebody else's words")
    with pytest.raises(LedgerError, match="cannot be read"):
        decode_ledger(["1 stamp []"])
    with pytest.raises(LedgerError, match="version 1"):
        decode_ledger(['1 stamp [1,"r","t",[1,2],null,[]]'])


def test_a_ledger_of_too_many_tasks_says_what_to_do() -> None:
    ledger = replace(first_ledger("run", ProducerIdentity(1, 0)), batch=0, parts=some_parts(40_000))
    with pytest.raises(LedgerError, match=r"40000 tasks.*coalesce"):
        encode_ledger(ledger)


def test_a_tenure_goes_on_while_the_run_does_and_is_new_when_it_comes_back() -> None:
    first = first_ledger("one", ProducerIdentity(1, 0))

    assert first.claimed("one", ProducerIdentity(1, 1)).holder == first.holder
    back = first.claimed("two", ProducerIdentity(1, 1)).claimed("one", ProducerIdentity(1, 2))
    assert back.holder.run == "one"
    assert back.holder != first.holder


def test_no_two_sinks_share_a_name() -> None:
    names = ["a", "a-task-0", "a-sink", "a-driver", "a-sink-1"]
    derived = [
        name
        for sink in (Sink(name=each) for each in names)
        for name in (sink.driver_id, sink.task_id(0), sink.ledger_group(0), sink.ledger_group(1))
    ]
    assert len(set(derived)) == len(derived)
    assert application_sink("a", "b-c") != application_sink("a-b", "c")
    assert application_sink("a", None) != application_sink("a", "b")


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker() as one:
        yield one


@pytest.fixture
def options(broker: Broker) -> SinkOptions:
    return stream_sink_options({"kafka.bootstrap.servers": broker.bootstrap_servers})


def test_a_ledger_of_many_chunks_is_kept_whole(options: SinkOptions) -> None:
    with coordinators_for(options) as coordinators:
        store = LedgerStore(coordinators, Sink(name="large"))
        holder = store.held_by("run").holder
        for batch, count in enumerate((1_000, 10, 700)):
            store.decide(holder, batch, some_parts(count), record_count=count)
            ledger = store.read()
            assert ledger is not None
            assert (ledger.batch, ledger.record_count, ledger.parts) == (batch, count, some_parts(count))


def test_a_run_that_has_the_sink_keeps_it_without_claiming_it_again(options: SinkOptions) -> None:
    with coordinators_for(options) as coordinators:
        store = LedgerStore(coordinators, Sink(name="kept"))
        first = store.held_by("run")
        assert store.held_by("run") == first


def test_a_claim_keeps_what_was_decided_and_shuts_the_former_run_out(options: SinkOptions) -> None:
    with coordinators_for(options) as coordinators:
        store = LedgerStore(coordinators, Sink(name="claimed"))
        former = store.held_by("one").holder
        store.decide(former, 3, some_parts(2), record_count=7)

        assert store.held_by("two").parts == some_parts(2)
        with pytest.raises(StaleRunError, match="belongs to run two"):
            store.decide(former, 4, some_parts(2, epoch=1), record_count=7)
        with pytest.raises(StaleRunError):
            store.renew(former)


def test_a_decision_outlives_a_claim_of_the_same_run(options: SinkOptions) -> None:
    """A task that begins late may claim anew for its run, even while the driver is about to decide."""
    with coordinators_for(options) as coordinators:
        store = LedgerStore(coordinators, Sink(name="renewed"))
        holder = store.held_by("run").holder
        store.renew(holder)
        store.decide(holder, 0, some_parts(1), record_count=7)
        assert store.require(holder).has_decided(0)


def test_many_tasks_that_begin_at_once_share_one_claim(options: SinkOptions) -> None:
    holders: list[Holder] = []

    def begin() -> None:
        with coordinators_for(options) as coordinators:
            holders.append(LedgerStore(coordinators, Sink(name="crowded")).held_by("run").holder)

    threads = [threading.Thread(target=begin) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(holders) == 8
    assert len(set(holders)) == 1
