"""What a task reads of its range: everything, once, in order, whatever happens to brokers meanwhile."""

import threading
import time
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from tests.spark.reading.conftest import QUICK, MakeOptions
from tests.spark.reading.some_topics import (
    delete_records,
    numbered,
    produce,
    write_in_transaction,
)

from penstock.spark.columns.schema import COLUMNS
from penstock.spark.offsets.ranges import OffsetRange
from penstock.spark.options.source_options import SourceOptions, batch_options
from penstock.spark.reading.data_loss import Cause, DataLossError
from penstock.spark.reading.planning import plan_batch
from penstock.spark.reading.rows import BYTES_MAX, ROWS_MAX, gathered, read_range, slices
from penstock.testing import Broker, Cluster


def only(options: SourceOptions) -> OffsetRange:
    (one,) = plan_batch(options)
    return one


def values_of(batches: Iterator[Any]) -> list[bytes]:
    return [value for batch in batches for value in batch.column("value").to_pylist()]


def read_values(options: SourceOptions, wanted: OffsetRange | None = None) -> list[bytes]:
    return values_of(read_range(options, wanted or only(options), ["value"]))


@pytest.fixture
def topic(penstock_broker: Broker) -> str:
    return penstock_broker.create_topic()


@pytest.fixture
def filled(penstock_broker: Broker, topic: str) -> str:
    """A topic with a hundred records in ten batches."""
    for start in range(0, 100, 10):
        produce(penstock_broker.bootstrap_servers, topic, numbered(10, start))
    return topic


def test_all_columns_are_what_was_written(penstock_broker: Broker, batch: MakeOptions, topic: str) -> None:
    headers = [("a", b"1"), ("a", None), ("é", b"")]
    bootstrap = penstock_broker.bootstrap_servers
    produce(bootstrap, topic, [b"v"], key=b"k", timestamp=1_700_000_000_123, headers=headers)
    produce(bootstrap, topic, [None], key=None, timestamp=1_700_000_000_124)

    (read,) = read_range(batch(topic), only(batch(topic)), COLUMNS)

    first, second = read.to_pylist()
    assert first.pop("timestamp").timestamp() == pytest.approx(1_700_000_000.123)
    assert first == {
        "key": b"k",
        "value": b"v",
        "topic": topic,
        "partition": 0,
        "offset": 0,
        "timestampType": 0,
        "headers": [{"key": key, "value": value} for key, value in headers],
    }
    assert (second["key"], second["value"], second["headers"]) == (None, None, None)


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_every_codec_is_read(penstock_broker: Broker, batch: MakeOptions, topic: str, codec: str) -> None:
    written = numbered(2_000)
    produce(penstock_broker.bootstrap_servers, topic, written, settings={"compression.type": codec})

    assert read_values(batch(topic)) == written


def test_only_the_columns_wanted_are_there_in_the_order_wanted(batch: MakeOptions, filled: str) -> None:
    (read,) = read_range(batch(filled), only(batch(filled)), ["offset", "value"])

    assert read.schema.names == ["offset", "value"]


def test_range_inside_batches_reads_only_its_offsets(batch: MakeOptions, filled: str) -> None:
    whole = only(batch(filled))
    part = OffsetRange(partition=whole.partition, start=13, end=28, topic_id=whole.topic_id)

    assert read_values(batch(filled), part) == numbered(15, 13)


@pytest.mark.parametrize("size", ["1", "1000", "4000000"])
def test_size_of_answers_changes_nothing_in_what_is_read(batch: MakeOptions, filled: str, size: str) -> None:
    assert read_values(batch(filled, **{"kafka.max.partition.fetch.bytes": size})) == numbered(100)


def test_range_of_a_topic_whose_id_is_not_known_is_read_by_name(
    penstock_broker: Broker, batch: MakeOptions, filled: str
) -> None:
    whole = only(batch(filled))
    nameless = OffsetRange(partition=whole.partition, start=0, end=100)
    penstock_broker.requests.clear()

    assert read_values(batch(filled), nameless) == numbered(100)
    assert {request.version for request in penstock_broker.requests.of("Fetch")} == {12}


def test_range_of_a_known_topic_is_read_by_its_id(
    penstock_broker: Broker, batch: MakeOptions, filled: str
) -> None:
    penstock_broker.requests.clear()
    read_values(batch(filled))

    assert all(request.version > 12 for request in penstock_broker.requests.of("Fetch"))


def test_connections_are_kept_from_task_to_task(
    penstock_broker: Broker, batch: MakeOptions, filled: str
) -> None:
    options, wanted = batch(filled), only(batch(filled))
    read_values(options, wanted)
    penstock_broker.requests.clear()

    read_values(options, wanted)

    assert penstock_broker.requests.of("ApiVersions") == []


def test_task_that_is_not_read_to_its_end_leaves_nothing_behind(batch: MakeOptions, filled: str) -> None:
    options = batch(filled, **{"kafka.max.partition.fetch.bytes": "1"})
    abandoned = read_range(options, only(options), ["value"])
    assert values_of(iter([next(abandoned)])) == numbered(10)
    abandoned.close()  # type: ignore[attr-defined]

    assert read_values(options) == numbered(100)


@pytest.mark.parametrize("level", ["read_uncommitted", "read_committed"])
def test_records_of_aborted_transactions_are_read_only_if_asked_for(
    penstock_broker: Broker, batch: MakeOptions, topic: str, level: str
) -> None:
    bootstrap = penstock_broker.bootstrap_servers
    write_in_transaction(bootstrap, topic, numbered(3), commits=True)
    write_in_transaction(bootstrap, topic, numbered(3, 10), commits=False)
    write_in_transaction(bootstrap, topic, numbered(3, 20), commits=True)

    read = read_values(batch(topic, **{"kafka.isolation.level": level}))

    aborted = numbered(3, 10) if level == "read_uncommitted" else []
    assert read == [*numbered(3), *aborted, *numbered(3, 20)]


def test_range_that_ends_in_a_marker_of_a_transaction_ends(
    penstock_broker: Broker, batch: MakeOptions, topic: str
) -> None:
    write_in_transaction(penstock_broker.bootstrap_servers, topic, numbered(3), commits=False)
    options = batch(topic, **{"kafka.isolation.level": "read_committed"})
    assert only(options).end == 4

    assert read_values(options) == []


def test_compacted_offsets_are_no_loss() -> None:
    with Broker(settings={"log.cleaner.backoff.ms": 50}) as broker:
        topic = broker.create_topic(
            cleanup_policy="compact", segment_bytes=2_000, min_cleanable_dirty_ratio=0.01
        )
        for value in numbered(100):
            produce(broker.bootstrap_servers, topic, [value], key=b"same", settings={"linger.ms": 0})
        options = batch_options(
            {"kafka.bootstrap.servers": broker.bootstrap_servers, "subscribe": topic, **QUICK}
        )

        deadline = time.monotonic() + 60
        while len(read := read_values(options)) == 100:
            assert time.monotonic() < deadline, "nothing was compacted"
            time.sleep(0.05)

    assert read[-1] == numbered(1, 99)[0]
    assert sorted(read) == read


@pytest.mark.parametrize(
    "error",
    ["NOT_LEADER_OR_FOLLOWER", "LEADER_NOT_AVAILABLE", "FENCED_LEADER_EPOCH", "KAFKA_STORAGE_ERROR"],
)
def test_leader_that_moves_is_looked_up_anew(
    penstock_broker: Broker, batch: MakeOptions, filled: str, error: str
) -> None:
    options = batch(filled, **{"kafka.max.partition.fetch.bytes": "1"})
    wanted = only(options)
    reading = read_range(options, wanted, ["value"])
    first = next(reading)
    penstock_broker.faults.fail("Fetch", error=error, times=3)

    assert values_of(iter([first, *reading])) == numbered(100)


def test_connection_that_breaks_is_made_anew(
    penstock_broker: Broker, batch: MakeOptions, filled: str
) -> None:
    options = batch(filled, **{"kafka.max.partition.fetch.bytes": "1"})
    penstock_broker.faults.drop("Fetch", times=3)

    assert read_values(options) == numbered(100)


def test_topic_that_a_broker_does_not_know_yet_is_asked_for_again(
    penstock_broker: Broker, batch: MakeOptions, filled: str
) -> None:
    penstock_broker.faults.fail("Fetch", error="UNKNOWN_TOPIC_ID", times=2)

    assert read_values(batch(filled)) == numbered(100)


def test_error_that_does_not_pass_is_raised_at_once(
    penstock_broker: Broker, batch: MakeOptions, filled: str
) -> None:
    wanted = only(batch(filled))
    penstock_broker.faults.fail("Fetch", error="TOPIC_AUTHORIZATION_FAILED", times=1)

    with pytest.raises(Exception, match=f"fetch from {filled}-0.*TOPIC_AUTHORIZATION_FAILED"):
        read_values(batch(filled), wanted)


def test_partition_that_brings_nothing_for_too_long_is_named(batch: MakeOptions, filled: str) -> None:
    options = batch(filled, **{"kafkaConsumer.pollTimeoutMs": "1", "kafka.fetch.max.wait.ms": "5"})
    whole = only(options)
    beyond = OffsetRange(partition=whole.partition, start=90, end=105, topic_id=whole.topic_id)

    with pytest.raises(DataLossError, match=r"with offsets 100 to 104 were gone .* ends before them"):
        read_values(options, beyond)


def test_answer_that_never_comes_ends_in_a_timeout(
    penstock_broker: Broker, batch: MakeOptions, filled: str
) -> None:
    options = batch(filled, **{"kafkaConsumer.pollTimeoutMs": "300"})
    wanted = only(options)
    penstock_broker.faults.fail("Fetch", error="NOT_LEADER_OR_FOLLOWER")

    with pytest.raises(Exception, match="NOT_LEADER_OR_FOLLOWER"):
        read_values(options, wanted)


def test_records_removed_before_they_were_read_are_a_loss_with_its_range(
    penstock_broker: Broker, batch: MakeOptions, filled: str
) -> None:
    wanted = only(batch(filled))
    delete_records(penstock_broker.bootstrap_servers, filled, 37)

    with pytest.raises(DataLossError) as caught:
        read_values(batch(filled), wanted)

    loss = caught.value.loss
    assert (loss.partition, loss.start, loss.end, loss.cause) == (wanted.partition, 0, 37, Cause.REMOVED)
    assert "retention" in str(caught.value)
    assert "onDataLoss=skip" in str(caught.value)


def test_records_removed_while_a_task_reads_are_a_loss_with_its_range(
    penstock_broker: Broker, batch: MakeOptions, filled: str
) -> None:
    options = batch(filled, onDataLoss="skip", **{"kafka.max.partition.fetch.bytes": "1"})
    reading = read_range(options, only(options), ["value"])
    first = values_of(iter([next(reading)]))
    delete_records(penstock_broker.bootstrap_servers, filled, 65)

    rest = values_of(reading)

    # What was asked for ahead may have been sent before the records went.
    assert first == numbered(10)
    assert rest[-35:] == numbered(35, 65)
    assert rest[:-35] in ([], numbered(10, 10))


@pytest.mark.parametrize(
    ("policy", "written"),
    [
        ("skip", "with offsets 0 to 36 were gone before they were read: retention"),
        ("report", '"partition": 0, "start": 0, "end": 37, "cause": "removed"}'),
    ],
)
def test_loss_that_may_be_is_written_down_and_the_rest_is_read(
    penstock_broker: Broker,
    batch: MakeOptions,
    filled: str,
    caplog: pytest.LogCaptureFixture,
    policy: str,
    written: str,
) -> None:
    options = batch(filled, onDataLoss=policy)
    wanted = only(options)
    delete_records(penstock_broker.bootstrap_servers, filled, 37)

    assert read_values(options, wanted) == numbered(63, 37)
    assert written in caplog.text


def test_range_that_is_gone_as_a_whole_is_lost_as_a_whole(
    penstock_broker: Broker, batch: MakeOptions, filled: str, caplog: pytest.LogCaptureFixture
) -> None:
    options = batch(filled, onDataLoss="report")
    whole = only(options)
    early = OffsetRange(partition=whole.partition, start=5, end=15, topic_id=whole.topic_id)
    delete_records(penstock_broker.bootstrap_servers, filled, 37)

    assert read_values(options, early) == []
    assert '"start": 5, "end": 15' in caplog.text


def test_topic_made_anew_is_not_taken_for_the_old_one(
    penstock_broker: Broker, batch: MakeOptions, filled: str
) -> None:
    wanted = only(batch(filled))
    penstock_broker.delete_topic(filled)
    penstock_broker.create_topic(filled)
    produce(penstock_broker.bootstrap_servers, filled, numbered(100, 500))

    with pytest.raises(DataLossError, match=r"from offset 0 on were gone .* made anew"):
        read_values(batch(filled), wanted)
    assert read_values(batch(filled, onDataLoss="skip"), wanted) == []


def test_topic_that_was_deleted_is_a_loss(penstock_broker: Broker, batch: MakeOptions, filled: str) -> None:
    wanted = only(batch(filled))
    penstock_broker.delete_topic(filled)

    with pytest.raises(DataLossError, match=r"from offset 0 on were gone .* was deleted"):
        read_values(batch(filled), wanted)


def test_large_batches_are_cut_by_rows_and_by_bytes() -> None:
    many = pa.RecordBatch.from_pydict({"n": list(range(2 * ROWS_MAX + 1))})
    fat = pa.RecordBatch.from_pydict({"v": [bytes(BYTES_MAX // 2)] * 5})

    assert [piece.num_rows for piece in slices(many)] == [33_334, 33_334, 33_333]
    assert [piece.num_rows for piece in slices(fat)] == [2, 2, 1]
    assert pa.Table.from_batches(slices(many)).to_batches()[0].num_rows == 33_334
    assert list(slices(many.slice(0, 0))) == []


@pytest.mark.slow
@pytest.mark.parametrize("is_at_once", [False, True], ids=["while it answers", "after it has answered"])
def test_leader_that_dies_in_the_middle_is_replaced(penstock_cluster: Cluster, is_at_once: bool) -> None:
    topic = penstock_cluster.create_topic()
    for start in range(0, 200, 10):
        produce(penstock_cluster.bootstrap_servers, topic, numbered(10, start))
    given = {"kafka.bootstrap.servers": penstock_cluster.bootstrap_servers, "subscribe": topic}
    options = batch_options({**given, **QUICK, "kafka.max.partition.fetch.bytes": "1"})
    reading = read_range(options, only(options), ["value"])
    first = next(reading)
    leader = penstock_cluster.leader(topic)

    killer = threading.Thread(target=penstock_cluster.kill, args=(leader,))
    killer.start()
    if is_at_once:  # the next answer is here by now, and nothing more can be asked
        killer.join()
    rest = list(reading)
    killer.join()

    assert values_of(iter([first, *rest])) == numbered(200)


def test_small_batches_are_put_together() -> None:
    small = pa.RecordBatch.from_pydict({"n": list(range(3_000))})

    assert [batch.num_rows for batch in gathered([small] * 9)] == [12_000, 12_000, 3_000]
    assert [batch.num_rows for batch in gathered([small])] == [3_000]
    assert list(gathered([])) == []


def test_leaders_are_remembered_between_ranges(
    penstock_broker: Broker, batch: MakeOptions, filled: str
) -> None:
    options, wanted = batch(filled), only(batch(filled))
    read_values(options, wanted)
    penstock_broker.requests.clear()

    read_values(options, wanted)

    assert penstock_broker.requests.of("Metadata") == []
