"""Writing exactly once when things go wrong other than by a plain death: time, zombies, repetitions."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from tests.spark.writing.arrow_rows import arrow_rows
from tests.spark.writing.crashing import Crash, Life
from tests.spark.writing.one_query import Run
from tests.wire_client.reading import read_values

from penstock.spark.options.sink_options import SinkOptions, batch_sink_options, stream_sink_options
from penstock.spark.writing.conversations import coordinators_for
from penstock.spark.writing.errors import ExactlyOnceError, LostPartError, StaleRunError
from penstock.spark.writing.exact_task import write_exactly
from penstock.spark.writing.ledger_store import LedgerStore
from penstock.spark.writing.messages import ExactMessage
from penstock.spark.writing.parts import BatchParts
from penstock.spark.writing.sinks import Sink, application_sink
from penstock.spark.writing.task_place import TaskPlace
from penstock.testing import Broker
from penstock.wire.api_keys import ApiKey


@pytest.fixture(scope="module")
def shared() -> Iterator[Broker]:
    with Broker() as one:
        yield one


@pytest.fixture
def broker(shared: Broker) -> Iterator[Broker]:
    yield shared
    shared.tidy()


@pytest.fixture
def topic(broker: Broker) -> str:
    return broker.create_topic(partitions=2)


@pytest.fixture
def run(broker: Broker, topic: str) -> Run:
    return Run(options=options(broker, topic), sink=Sink(name=f"of-{topic}"), name="first")


def options(broker: Broker, topic: str) -> SinkOptions:
    given = {"kafka.bootstrap.servers": broker.bootstrap_servers, "topic": topic}
    return stream_sink_options(given | {"kafka.max.block.ms": "20000"})


def committed(broker: Broker, topic: str) -> list[bytes]:
    read = read_values(broker.bootstrap_servers, topic)
    return sorted(value for part in read for value in part if value is not None)


def produced(broker: Broker) -> int:
    return broker.requests.count("Produce")


def die_after_decision(run: Run, batch: int) -> None:
    """The decision is the first transaction whose end a commit asks for; those of the tasks follow."""
    messages = run.write_tasks(batch)
    with pytest.raises(Crash):
        run.mortal(Life(dies_at=0, of=ApiKey.END_TXN, is_answered=True)).commit(messages)


def test_batches_follow_one_another(broker: Broker, topic: str, run: Run) -> None:
    for batch in range(4):
        run.write(batch)

    assert committed(broker, topic) == run.expected(0, 1, 2, 3)


def test_task_that_cannot_see_whose_the_sink_is_spoils_nothing_that_others_of_its_run_have_written(
    broker: Broker, topic: str, run: Run
) -> None:
    """It claims the sink once more, as in an outage, while the parts before it are open."""
    run.write(0)
    first = run.write_task(1, 0)
    unseen = broker.faults.fail("OffsetFetch", error="UNKNOWN_SERVER_ERROR", times=1)
    run.commit([first, run.write_task(1, 1)])

    assert unseen.hits == 1
    assert committed(broker, topic) == run.expected(0, 1)


def test_nothing_is_seen_before_the_commit(broker: Broker, topic: str, run: Run) -> None:
    messages = run.write_tasks(0)
    assert committed(broker, topic) == []
    run.commit(messages)
    assert committed(broker, topic) == run.expected(0)


def test_a_decided_batch_is_committed_by_the_next_run_and_not_produced_again(
    broker: Broker, topic: str, run: Run
) -> None:
    run.write(0)
    die_after_decision(run, 1)
    before = produced(broker)

    run.restarted("second").write(1)
    assert produced(broker) == before
    assert committed(broker, topic) == run.expected(0, 1)


def test_a_batch_that_is_repeated_after_its_commit_is_not_produced_again(
    broker: Broker, topic: str, run: Run
) -> None:
    run.write(0)
    before = produced(broker)

    run.restarted("second").write(0)
    run.restarted("third").write(0)
    assert produced(broker) == before
    assert committed(broker, topic) == run.expected(0)


def test_a_decided_batch_whose_transactions_timed_out_is_written_again(
    broker: Broker, topic: str, run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    die_after_decision(run, 0)
    broker.clock.advance(minutes=30)
    assert committed(broker, topic) == []

    second = run.restarted("second")
    second.write(0)
    second.write(1)
    assert committed(broker, topic) == run.expected(0, 1)
    assert "the transaction of task 1 was aborted before it was committed" in caplog.text


def test_only_the_part_of_a_decided_batch_that_timed_out_is_written_again(
    broker: Broker, topic: str, run: Run
) -> None:
    die_after_decision(run, 0)
    with coordinators_for(run.options) as coordinators:
        part = (LedgerStore(coordinators, run.sink).held_by("first")).parts[0]
        assert BatchParts(coordinators, run.sink, 0).commit([part]) == []
    broker.clock.advance(minutes=30)
    assert committed(broker, topic) == sorted(value.encode() for value in run.values(0, 0))
    before = produced(broker)

    run.restarted("second").write(0)
    assert produced(broker) == before + 1
    assert committed(broker, topic) == run.expected(0)


def test_a_part_that_timed_out_twice_is_written_a_third_time(broker: Broker, topic: str, run: Run) -> None:
    die_after_decision(run, 0)
    broker.clock.advance(minutes=30)
    die_after_decision(run.restarted("second"), 0)
    broker.clock.advance(minutes=30)

    run.restarted("third").write(0)
    assert committed(broker, topic) == run.expected(0)


def test_a_lost_part_that_no_task_can_write_is_named(broker: Broker, run: Run) -> None:
    die_after_decision(run, 0)
    broker.clock.advance(minutes=30)

    with pytest.raises(LostPartError, match=r"task 1 was aborted.*another transactionalId"):
        replace(run, name="second", task_count=1).write(0)


def test_a_decided_batch_whose_rows_are_gone_is_committed_before_the_next_one(
    broker: Broker, topic: str, run: Run
) -> None:
    die_after_decision(run, 0)
    second = run.restarted("second")
    replace(second, rows_per_task=0).write(0)

    second.commit([second.write_task(1, 1)])
    assert committed(broker, topic) == sorted(
        [*run.expected(0), *(value.encode() for value in run.values(1, 1))]
    )


def test_a_decided_batch_whose_rows_are_gone_and_that_timed_out_is_named(
    broker: Broker, topic: str, run: Run
) -> None:
    die_after_decision(run, 0)
    broker.clock.advance(minutes=30)
    second = run.restarted("second")
    replace(second, rows_per_task=0).write(0)

    for _ in range(2):
        with pytest.raises(LostPartError, match=r"Batch 0 of .*2 of its 2 .*Now comes batch 1"):
            second.write(1)
    assert committed(broker, topic) == []


def test_what_a_dead_run_had_begun_of_the_next_batch_does_not_hide_what_became_of_this_one(
    broker: Broker, topic: str, run: Run
) -> None:
    run.write(0)
    run.write_tasks(1)
    run.restarted("second").write(1)
    assert committed(broker, topic) == run.expected(0, 1)


def test_the_transactions_of_a_batch_are_forgotten_when_a_later_run_has_seen_them_committed(
    broker: Broker, topic: str, run: Run
) -> None:
    run.write(0)
    ends = broker.requests.count("EndTxn")
    second = run.restarted("second")
    second.abort(second.write_tasks(1), batch=1)
    assert broker.requests.count("EndTxn") == ends + 4  # Of two claims, and two aborted transactions.

    with coordinators_for(run.options) as coordinators:
        ledger = LedgerStore(coordinators, run.sink).read()
    assert ledger is not None
    assert (ledger.batch, ledger.record_count, ledger.parts) == (0, 6, ())
    run.restarted("third").write(0)
    assert committed(broker, topic) == run.expected(0)


@pytest.mark.parametrize("is_application", [False, True])
def test_another_batch_of_the_same_number_is_not_taken_for_written(
    broker: Broker, topic: str, run: Run, is_application: bool
) -> None:
    run = replace(run, skips_older=is_application)
    run.write(0)
    longer = replace(run, name="second", rows_per_task=4)
    messages = longer.write_tasks(0)

    with pytest.raises(
        ExactlyOnceError, match=r"written with 6 rows, and comes again with 8.*transactionalId"
    ):
        longer.commit(messages)
    longer.abort(messages)
    assert committed(broker, topic) == run.expected(0)


def test_another_batch_of_the_same_number_with_other_tasks_is_not_taken_for_written(run: Run) -> None:
    run.write(0)

    replace(run, name="second", task_count=3, rows_per_task=2).write(0)
    with pytest.raises(ExactlyOnceError, match="written with 6 rows, and comes again with 9"):
        replace(run, name="third", task_count=3).write(0)


def test_another_batch_of_the_same_number_is_noticed_when_a_part_of_it_timed_out(
    broker: Broker, topic: str, run: Run
) -> None:
    die_after_decision(run, 0)
    broker.clock.advance(minutes=30)
    longer = replace(run, name="second", rows_per_task=4)
    messages = longer.write_tasks(0)

    with pytest.raises(ExactlyOnceError, match="written with 6 rows, and comes again with 8"):
        longer.commit(messages)
    longer.abort(messages)
    assert committed(broker, topic) == []
    run.restarted("third").write(0)
    assert committed(broker, topic) == run.expected(0)


def test_a_batch_that_comes_again_with_fewer_rows_stays_as_it_is(
    broker: Broker, topic: str, run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    die_after_decision(run, 0)
    second = run.restarted("second")

    second.commit([second.write_task(0, 1)])
    assert committed(broker, topic) == run.expected(0)
    assert "was written with 6 rows, and comes again with 3" in caplog.text


def test_a_batch_that_took_longer_than_its_timeout_is_not_committed_in_part(
    broker: Broker, topic: str, run: Run
) -> None:
    first = run.write_task(0, 0)
    broker.clock.advance(minutes=30)
    second = run.write_task(0, 1)

    with pytest.raises(ExactlyOnceError, match=r"task 0 was no longer open.*transaction\.timeout\.ms"):
        run.commit([first, second])
    run.abort([first, second])
    assert committed(broker, topic) == []
    run.restarted("second").write(0)
    assert committed(broker, topic) == run.expected(0)


def test_a_driver_of_a_former_run_may_not_commit(broker: Broker, topic: str, run: Run) -> None:
    former = run.write_tasks(0)
    second = run.restarted("second")
    messages = second.write_tasks(0)

    with pytest.raises(StaleRunError, match=r"belongs to run second.*not to run first"):
        run.commit(former)
    run.abort(former)
    second.commit(messages)
    assert committed(broker, topic) == run.expected(0)


def test_a_driver_of_a_former_run_may_not_commit_once_a_single_task_of_the_next_has_looked(
    broker: Broker, topic: str, run: Run
) -> None:
    former = run.write_tasks(0)
    second = run.restarted("second")
    first_message = second.write_task(0, 0)

    with pytest.raises(StaleRunError):
        run.commit(former)
    second.commit([first_message, second.write_task(0, 1)])
    assert committed(broker, topic) == run.expected(0)


def test_a_run_that_lost_the_sink_and_took_it_back_may_not_commit_what_it_wrote_before(
    broker: Broker, topic: str, run: Run
) -> None:
    early = run.write_task(0, 0)
    second = run.restarted("second")
    second.write(0)
    late = run.write_task(0, 1)

    with pytest.raises(StaleRunError, match="taken over by another run"):
        run.commit([early, late])
    run.abort([early, late])
    assert committed(broker, topic) == run.expected(0)


def test_a_driver_of_a_former_run_that_is_in_the_middle_of_its_decision_fails(
    broker: Broker, topic: str, run: Run
) -> None:
    former = run.write_tasks(0)
    with pytest.raises(Crash):
        run.mortal(Life(dies_at=0, of=ApiKey.END_TXN)).commit(former)  # The decision is open, not made.
    second = run.restarted("second")
    second.write(0)

    with pytest.raises(StaleRunError):
        run.commit(former)
    assert committed(broker, topic) == run.expected(0)


def test_a_task_that_ran_twice_at_once_is_noticed_before_the_decision(
    broker: Broker, topic: str, run: Run
) -> None:
    messages = run.write_tasks(0)
    run.write_task(0, 1)  # A speculative attempt, whose message comes too late.

    with pytest.raises(ExactlyOnceError, match=r"task 1 was no longer open.*spark\.speculation"):
        run.commit(messages)
    run.abort(messages)
    run.restarted("second").write(0)
    assert committed(broker, topic) == run.expected(0)


def test_a_task_that_failed_is_run_again_in_the_same_batch(broker: Broker, topic: str, run: Run) -> None:
    first = run.write_task(0, 0)
    with pytest.raises(Crash):
        run.mortal(Life(dies_at=0, of=ApiKey.PRODUCE, is_answered=True)).write_task(0, 1)

    run.commit([first, run.write_task(0, 1)])
    assert committed(broker, topic) == run.expected(0)


def test_an_aborted_batch_is_not_seen_and_holds_nobody_up(broker: Broker, topic: str, run: Run) -> None:
    run.abort(run.write_tasks(0))
    other = replace(run, sink=Sink(name=f"other-{topic}"))

    other.write(0)
    assert committed(broker, topic) == other.expected(0)


@pytest.mark.parametrize("others", [0, 1])
def test_what_a_dead_task_left_open_is_aborted_with_its_batch(
    broker: Broker, topic: str, run: Run, others: int
) -> None:
    messages: list[ExactMessage | None] = [run.write_task(0, task) for task in range(others)]
    with pytest.raises(Crash):
        run.mortal(Life(dies_at=0, of=ApiKey.PRODUCE, is_answered=True)).write_task(0, others)
    run.abort([*messages, None])
    other = replace(run, sink=Sink(name=f"other-{topic}"))

    other.write(0)
    assert committed(broker, topic) == other.expected(0)


def test_what_a_dead_task_left_open_of_a_decided_batch_is_not_aborted(
    broker: Broker, topic: str, run: Run
) -> None:
    die_after_decision(run, 0)
    second = run.restarted("second")
    message = second.write_task(0, 0)

    second.abort([message, None])
    run.restarted("third").write(0)
    assert committed(broker, topic) == run.expected(0)


def test_a_former_run_that_is_aborted_leaves_the_next_one_alone(broker: Broker, topic: str, run: Run) -> None:
    former = run.write_task(0, 0)
    second = run.restarted("second")
    messages = second.write_tasks(0)

    run.abort([former, None])
    second.commit(messages)
    assert committed(broker, topic) == run.expected(0)


def test_a_decided_batch_is_not_aborted(broker: Broker, topic: str, run: Run) -> None:
    messages = run.write_tasks(0)
    with pytest.raises(Crash):
        run.mortal(Life(dies_at=0, of=ApiKey.END_TXN, is_answered=True)).commit(messages)

    run.abort(messages)  # As Spark does when a commit fails.
    run.restarted("second").write(0)
    assert committed(broker, topic) == run.expected(0)


def test_a_task_whose_rows_end_with_a_failure_leaves_nothing_open(
    broker: Broker, topic: str, run: Run
) -> None:
    def rows() -> Iterator[Any]:
        yield arrow_rows(value=["x" * 100_000] * 100)
        raise RuntimeError("upstream")

    before = produced(broker)
    place = TaskPlace(sink=run.sink, run=run.name, batch=0, task=0)
    with pytest.raises(RuntimeError, match="upstream"):
        write_exactly(run.options, place, rows())
    assert produced(broker) > before

    other = replace(run, sink=Sink(name=f"other-{topic}"))
    other.write(0)
    assert committed(broker, topic) == other.expected(0)


def test_what_a_task_without_rows_left_open_before_is_aborted(broker: Broker, topic: str, run: Run) -> None:
    run.write_task(0, 1)  # Its run ends here.
    second = run.restarted("second")
    place = TaskPlace(sink=run.sink, run="second", batch=0, task=1)

    second.commit([second.write_task(0, 0), write_exactly(run.options, place, [])])
    assert committed(broker, topic) == sorted(value.encode() for value in run.values(0, 0))


def test_a_batch_without_rows_is_nothing_to_ask_a_broker_about(broker: Broker, run: Run) -> None:
    empty = replace(run, rows_per_task=0)
    before = len(broker.requests)

    empty.write(0)
    assert len(broker.requests) == before


def test_a_checkpoint_that_is_older_than_the_sink_is_refused(run: Run) -> None:
    run.write(5)

    with pytest.raises(ExactlyOnceError, match=r"has batch 5 already, and this is batch 3.*transactionalId"):
        run.restarted("second").write(3)


def test_an_application_s_older_versions_are_taken_for_written(
    broker: Broker, topic: str, run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    application = replace(run, skips_older=True, sink=application_sink("daily", topic))
    application.write(7)
    for version in (7, 6):
        application.restarted(f"again-{version}").write(version)
    application.restarted("next").write(8)

    assert committed(broker, topic) == application.expected(7, 8)
    assert "has batch 7 already: the rows of batch 6, which is older, are not written" in caplog.text


def test_a_timeout_that_brokers_do_not_allow_is_shortened() -> None:
    with Broker(settings={"transaction.max.timeout.ms": "100000"}) as broker:
        topic = broker.create_topic(partitions=2)
        run = Run(options=options(broker, topic), sink=Sink(name="short"), name="first")
        run.write(0)
        assert committed(broker, topic) == run.expected(0)


def test_batches_may_be_written_exactly_once_too(broker: Broker, topic: str) -> None:
    given = {"kafka.bootstrap.servers": broker.bootstrap_servers, "topic": topic}
    exact = batch_sink_options(given | {"txnAppId": "a", "txnVersion": "1"})
    run = Run(options=exact, sink=application_sink("a", topic), name="first", skips_older=True)

    run.write(1)
    run.restarted("second").write(1)
    assert committed(broker, topic) == run.expected(1)
