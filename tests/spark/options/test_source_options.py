"""Every option of reading by name: what it turns into, and what wins over what."""

from typing import Any

import pytest

from penstock.model.ids import TopicPartition
from penstock.spark.offsets.positions import EARLIEST, LATEST, Place, Position
from penstock.spark.options.definition import READS, Effect, OptionError
from penstock.spark.options.parsing import OPTIONS
from penstock.spark.options.security_table import SECURITY_OPTIONS
from penstock.spark.options.source_options import (
    OnDataLoss,
    SourceOptions,
    batch_options,
    check_reading,
    stream_options,
)
from penstock.spark.options.subscriptions import Assign, Subscribe, SubscribePattern
from penstock.wire_client.connection import Address
from penstock.wire_client.security.security import PLAINTEXT

SERVERS = {"kafka.bootstrap.servers": "localhost:9092"}
BASE = {**SERVERS, "subscribe": "orders"}
T0 = TopicPartition("t", 0)


def stream(**given: str) -> SourceOptions:
    return stream_options({**BASE, **given})


PLAIN: list[tuple[str, str, str, Any]] = [
    ("includeHeaders", "true", "include_headers", True),
    ("startingOffsetsByTimestampStrategy", "LATEST", "begins_at_end_without_match", True),
    ("maxOffsetsPerTrigger", "5000", "offsets_per_trigger_max", 5000),
    ("minOffsetsPerTrigger", "50", "offsets_per_trigger_min", 50),
    ("maxTriggerDelay", "2m", "trigger_delay_ms_max", 120_000),
    ("minPartitions", "7", "min_partitions", 7),
    ("maxRecordsPerPartition", "1234", "records_per_partition_max", 1234),
    ("maxBytesPerPartition", "4321", "bytes_per_partition_max", 4321),
    ("failOnDataLoss", "false", "on_data_loss", OnDataLoss.SKIP),
    ("failOnDataLoss", "true", "on_data_loss", OnDataLoss.FAIL),
    ("onDataLoss", "report", "on_data_loss", OnDataLoss.REPORT),
    ("kafkaConsumer.pollTimeoutMs", "500", "poll_timeout_ms", 500),
    ("fetchOffset.numRetries", "9", "lookup_retries_max", 9),
    ("fetchOffset.retryIntervalMs", "70", "lookup_retry_ms", 70),
    ("partition.metadata.cache.ttl.ms", "300", "metadata_ttl_ms", 300),
    ("groupId", "g", "group_id", "g"),
    ("groupIdPrefix", "p", "group_id_prefix", "p"),
    ("commitOffsets", "false", "commits_offsets", False),
    ("kafka.group.id", "g", "group_id", "g"),
    ("kafka.isolation.level", "read_committed", "is_read_committed", True),
    ("kafka.max.partition.fetch.bytes", "1000", "fetch_bytes_max", 1000),
    ("kafka.fetch.max.bytes", "2000", "fetch_bytes_max", 2000),
    ("kafka.fetch.max.wait.ms", "30", "fetch_wait_ms", 30),
    ("kafka.check.crcs", "false", "checks_crcs", False),
]

CLIENT: list[tuple[str, str, str, Any]] = [
    ("kafka.bootstrap.servers", "a:1, b:2", "addresses", (Address("a", 1), Address("b", 2))),
    ("kafka.client.id", "me", "client_id", "me"),
    ("kafka.request.timeout.ms", "1500", "request_timeout_ms", 1500),
    ("kafka.socket.connection.setup.timeout.ms", "250", "connect_timeout_ms", 250),
    ("kafka.default.api.timeout.ms", "4000", "patience_ms", 4000),
    ("kafka.retry.backoff.ms", "5", "backoff_ms", 5),
    ("kafka.retry.backoff.max.ms", "50", "backoff_max_ms", 50),
]

PLACES: list[tuple[str, str, Position]] = [
    ("startingOffsets", "earliest", EARLIEST),
    ("startingOffsets", "LATEST", LATEST),
    ("startingOffsets", "-1000", Position(Place.BEFORE_END, 1000)),
    ("startingOffsets", "-1 record", Position(Place.BEFORE_END, 1)),
    ("startingOffsets", "-10 minutes", Position(Place.AGO, 600_000)),
    ("startingOffsets", '{"t":{"0":23}}', Position(Place.OFFSET, 23)),
    ("startingOffsets", '{"t":{"0":-1}}', LATEST),
    ("startingOffsets", '{"t":{"0":-2}}', EARLIEST),
    ("startingOffsets", '{"t":{"*":-2}}', EARLIEST),
    ("startingOffsets", '{"*":-2}', EARLIEST),
    ("startingOffsets", '{"*":{"*":"-2h"}}', Position(Place.AGO, 7_200_000)),
    ("startingOffsets", '{"t":{"0":"-1000"}}', Position(Place.BEFORE_END, 1000)),
    ("startingOffsetsByTimestamp", '{"t":{"0":1000}}', Position(Place.TIMESTAMP, 1000)),
    ("startingOffsetsByTimestamp", '{"t":{"*":"-1 day"}}', Position(Place.AGO, 86_400_000)),
    ("startingTimestamp", "1000", Position(Place.TIMESTAMP, 1000)),
    ("startingTimestamp", "1970-01-01T00:00:02Z", Position(Place.TIMESTAMP, 2000)),
    ("startingTimestamp", "1970-01-01T01:00:02+01:00", Position(Place.TIMESTAMP, 2000)),
    ("startingTimestamp", "1970-01-01T00:00:02", Position(Place.TIMESTAMP, 2000)),
    ("startingTimestamp", "-90s", Position(Place.AGO, 90_000)),
    ("endingOffsets", "latest", LATEST),
    ("endingOffsets", '{"t":{"0":23}}', Position(Place.OFFSET, 23)),
    ("endingOffsetsByTimestamp", '{"t":{"0":1000}}', Position(Place.TIMESTAMP, 1000)),
    ("endingTimestamp", "1000", Position(Place.TIMESTAMP, 1000)),
]

SUBSCRIPTIONS: list[tuple[str, str, Any]] = [
    ("subscribe", "a, b,,a", Subscribe(topics=("a", "b"))),
    ("subscribePattern", " or.*s ", SubscribePattern(pattern="or.*s")),
    ("assign", '{"b":[1],"a":[2,0]}', Assign(partitions=(("a", 0), ("a", 2), ("b", 1)))),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("name", "text", "field", "value"), PLAIN)
def test_option_sets_what_it_names(name: str, text: str, field: str, value: object) -> None:
    assert getattr(stream(**{name: text}), field) == value


@pytest.mark.parametrize(("name", "text", "field", "value"), CLIENT)
def test_option_of_connections_sets_what_it_names(name: str, text: str, field: str, value: object) -> None:
    assert getattr(stream(**{name: text}).client, field) == value


@pytest.mark.parametrize(("name", "text", "position"), PLACES)
def test_option_of_places_sets_where_to_begin_or_end(name: str, text: str, position: Position) -> None:
    options = check_reading({**BASE, name: text})
    boundary = options.ending if name.startswith("ending") else options.starting

    assert boundary.option == name
    assert boundary.position(T0) == position


@pytest.mark.parametrize(("name", "text", "subscription"), SUBSCRIPTIONS)
def test_option_of_subscriptions_says_what_to_read(name: str, text: str, subscription: object) -> None:
    assert stream_options({**SERVERS, name: text}).subscription == subscription
    assert name in str(subscription)


def test_every_option_of_reading_is_tested_by_name() -> None:
    tested = {row[0] for rows in (PLAIN, CLIENT, PLACES, SUBSCRIPTIONS) for row in rows}
    acting = {option.name for option in OPTIONS if option.effect is Effect.ACTS and option.uses & READS}
    assert acting - tested == {option.name for option in SECURITY_OPTIONS if option.effect is Effect.ACTS}


def test_connections_are_plain_unless_told_otherwise() -> None:
    assert stream(**{"kafka.security.protocol": "PLAINTEXT"}) == stream()
    assert stream().client.security == PLAINTEXT


def test_batch_begins_at_the_earliest_record_and_ends_at_the_latest() -> None:
    options = batch_options(BASE)
    assert (options.starting.everywhere, options.ending.everywhere) == (EARLIEST, LATEST)
    assert not options.commits_offsets


def test_stream_begins_at_the_latest_record_and_commits() -> None:
    options = stream()
    assert options.starting.everywhere == LATEST
    assert options.commits_offsets
    assert options.on_data_loss is OnDataLoss.FAIL
    assert not options.is_read_committed


def test_precedence_is_timestamp_then_timestamps_then_offsets() -> None:
    weakest = {"startingOffsets": "earliest"}
    middle = {**weakest, "startingOffsetsByTimestamp": '{"t":{"0":5}}'}
    strongest = {**middle, "startingTimestamp": "7"}

    chosen = [stream(**given).starting.option for given in (weakest, middle, strongest)]

    assert chosen == ["startingOffsets", "startingOffsetsByTimestamp", "startingTimestamp"]


def test_precedence_of_the_end_is_the_same() -> None:
    weakest = {"endingOffsets": "latest"}
    middle = {**weakest, "endingOffsetsByTimestamp": '{"t":{"0":5}}'}
    strongest = {**middle, "endingTimestamp": "7"}

    chosen = [batch_options({**BASE, **given}).ending.option for given in (weakest, middle, strongest)]

    assert chosen == ["endingOffsets", "endingOffsetsByTimestamp", "endingTimestamp"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"startingOffsets": "latest"}, "startingOffsets is latest for all partitions"),
        ({"startingOffsets": '{"t":{"0":-1}}'}, "startingOffsets is latest for t-0"),
        ({"startingOffsets": '{"t":{"*":-1}}'}, "startingOffsets is latest for topic t"),
        ({"endingOffsets": "earliest"}, "endingOffsets is earliest for all partitions"),
        ({"endingOffsets": '{"t":{"0":-2}}'}, "endingOffsets is earliest for t-0"),
    ],
)
def test_batch_that_could_only_be_empty_is_refused(given: dict[str, str], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        batch_options({**BASE, **given})


def test_nothing_to_read_is_told_with_the_three_options() -> None:
    with pytest.raises(OptionError, match="give one of the options subscribe, subscribePattern, assign"):
        check_reading(SERVERS)


def test_two_things_to_read_exclude_each_other() -> None:
    with pytest.raises(OptionError, match="subscribe and subscribePattern exclude each other"):
        check_reading({**BASE, "subscribePattern": "x"})


def test_no_broker_is_told_with_an_example() -> None:
    with pytest.raises(OptionError, match=r"kafka\.bootstrap\.servers is missing: .*localhost:9092"):
        check_reading({"subscribe": "t"})


@pytest.mark.parametrize("text", [":9092", "host:port", "host:0", "host:70000", ",", "http://x:1"])
def test_broker_that_has_no_host_and_port_is_named(text: str) -> None:
    with pytest.raises(OptionError, match=r"kafka\.bootstrap\.servers"):
        check_reading({"subscribe": "t", "kafka.bootstrap.servers": text})


def test_broker_may_have_an_address_with_colons_or_no_port() -> None:
    options = check_reading({"subscribe": "t", "kafka.bootstrap.servers": "[::1]:7, [::1], here"})
    assert options.client.addresses == (Address("::1", 7), Address("::1", 9092), Address("here", 9092))


def test_least_above_the_most_is_refused() -> None:
    with pytest.raises(OptionError, match="minOffsetsPerTrigger is 9, more than maxOffsetsPerTrigger"):
        stream(minOffsetsPerTrigger="9", maxOffsetsPerTrigger="8")


def test_two_groups_are_refused() -> None:
    with pytest.raises(OptionError, match=r"groupId=a and kafka\.group\.id=b differ"):
        stream(**{"groupId": "a", "kafka.group.id": "b"})
    assert stream(**{"groupId": "a", "kafka.group.id": "a"}).group_id == "a"


def test_on_data_loss_is_stronger_than_fail_on_data_loss() -> None:
    assert stream(failOnDataLoss="true", onDataLoss="skip").on_data_loss is OnDataLoss.SKIP


def test_fetch_waits_no_longer_than_the_answer_may_take() -> None:
    options = stream(**{"kafka.fetch.max.wait.ms": "5000", "kafka.request.timeout.ms": "1000"})
    assert options.fetch_wait_ms == 500


def test_pattern_matches_whole_names() -> None:
    assert SubscribePattern(pattern="or.*").matching(["orders", "mirror", "or"]) == ["or", "orders"]
