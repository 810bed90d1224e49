"""What readers were asked for: the options of reading as values, checked as far as no broker is needed."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from penstock.spark.offsets.positions import EARLIEST, LATEST, Boundary, Place
from penstock.spark.options.client_settings import ClientSettings, client_settings
from penstock.spark.options.definition import READS, OptionError, Use
from penstock.spark.options.parsing import parse_options
from penstock.spark.options.subscriptions import Subscription

_SUBSCRIPTIONS = ("subscribe", "subscribePattern", "assign")
_STARTING = ("startingTimestamp", "startingOffsetsByTimestamp", "startingOffsets")
_ENDING = ("endingTimestamp", "endingOffsetsByTimestamp", "endingOffsets")


class OnDataLoss(StrEnum):
    """What to do when records are gone before they were read."""

    FAIL = "fail"
    SKIP = "skip"
    REPORT = "report"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """All that the options of a reader say."""

    client: ClientSettings
    subscription: Subscription
    starting: Boundary
    ending: Boundary
    begins_at_end_without_match: bool
    """Where no record is as late as the time to begin at; otherwise that is an error."""
    include_headers: bool
    on_data_loss: OnDataLoss
    is_read_committed: bool
    fetch_bytes_max: int
    fetch_wait_ms: int
    checks_crcs: bool
    poll_timeout_ms: int
    lookup_retries_max: int
    lookup_retry_ms: int
    min_partitions: int | None
    records_per_partition_max: int
    bytes_per_partition_max: int
    offsets_per_trigger_max: int | None
    offsets_per_trigger_min: int | None
    trigger_delay_ms_max: int
    metadata_ttl_ms: int
    commits_offsets: bool
    group_id: str | None
    group_id_prefix: str


def batch_options(given: Mapping[str, str]) -> SourceOptions:
    """For a batch, which begins at the earliest record and ends at the latest unless told otherwise."""
    options = _source_options(parse_options(given, {Use.BATCH_READ}), starting=EARLIEST_EVERYWHERE)
    _refuse(options.starting, Place.LATEST, "A batch that begins at the latest offset would be empty")
    _refuse(options.ending, Place.EARLIEST, "A batch that ends at the earliest offset would be empty")
    return options


def stream_options(given: Mapping[str, str]) -> SourceOptions:
    """For a stream, which begins at the latest record unless told otherwise, and has no end."""
    return _source_options(parse_options(given, {Use.STREAM_READ}), starting=LATEST_EVERYWHERE)


def check_reading(given: Mapping[str, str]) -> SourceOptions:
    """What holds for batches and streams alike, as Spark asks for the schema of either in the same way."""
    return _source_options(parse_options(given, READS), starting=EARLIEST_EVERYWHERE)


EARLIEST_EVERYWHERE = Boundary(option="startingOffsets", everywhere=EARLIEST)
LATEST_EVERYWHERE = Boundary(option="startingOffsets", everywhere=LATEST)


def _source_options(values: Mapping[str, Any], *, starting: Boundary) -> SourceOptions:
    subscription = _subscription(values)
    return SourceOptions(
        client=client_settings(values),
        subscription=subscription,
        starting=_boundary(values, _STARTING) or starting,
        ending=_boundary(values, _ENDING) or replace(LATEST_EVERYWHERE, option="endingOffsets"),
        begins_at_end_without_match=values["startingOffsetsByTimestampStrategy"] == "latest",
        include_headers=values["includeHeaders"],
        on_data_loss=_on_data_loss(values),
        is_read_committed=values["kafka.isolation.level"] == "read_committed",
        fetch_bytes_max=min(values["kafka.max.partition.fetch.bytes"], values["kafka.fetch.max.bytes"]),
        fetch_wait_ms=min(values["kafka.fetch.max.wait.ms"], values["kafka.request.timeout.ms"] // 2),
        checks_crcs=values["kafka.check.crcs"],
        poll_timeout_ms=values["kafkaConsumer.pollTimeoutMs"],
        lookup_retries_max=values["fetchOffset.numRetries"],
        lookup_retry_ms=values["fetchOffset.retryIntervalMs"],
        min_partitions=values.get("minPartitions"),
        records_per_partition_max=values["maxRecordsPerPartition"],
        bytes_per_partition_max=values["maxBytesPerPartition"],
        metadata_ttl_ms=values.get("partition.metadata.cache.ttl.ms", -1),
        **_trigger_limits(values),
        **_group(values),
    )


def _subscription(values: Mapping[str, Any]) -> Subscription:
    given = [name for name in _SUBSCRIPTIONS if name in values]
    if not given:
        raise OptionError(
            "Nothing says what to read: give one of the options subscribe, subscribePattern, assign."
        )
    if len(given) > 1:
        raise OptionError(f"Options {' and '.join(given)} exclude each other: give one of them.")
    subscription: Subscription = values[given[0]]
    return subscription


def _boundary(values: Mapping[str, Any], names: tuple[str, ...]) -> Boundary | None:
    """The strongest of some options that was given; the names are in the order of their strength."""
    for name in names:
        if name in values:
            boundary: Boundary = replace(values[name], option=name)
            return boundary
    return None


def _on_data_loss(values: Mapping[str, Any]) -> OnDataLoss:
    if "onDataLoss" in values:
        return OnDataLoss(values["onDataLoss"])
    return OnDataLoss.FAIL if values["failOnDataLoss"] else OnDataLoss.SKIP


def _trigger_limits(values: Mapping[str, Any]) -> dict[str, Any]:
    least, most = values.get("minOffsetsPerTrigger"), values.get("maxOffsetsPerTrigger")
    if least is not None and most is not None and least > most:
        raise OptionError(
            f"Option minOffsetsPerTrigger is {least}, more than maxOffsetsPerTrigger, which is {most}: "
            "no micro-batch could ever begin."
        )
    return {
        "offsets_per_trigger_max": most,
        "offsets_per_trigger_min": least,
        "trigger_delay_ms_max": values.get("maxTriggerDelay", 0),
    }


def _group(values: Mapping[str, Any]) -> dict[str, Any]:
    ours, kafkas = values.get("groupId"), values.get("kafka.group.id")
    if ours is not None and kafkas is not None and ours != kafkas:
        raise OptionError(f"Options groupId={ours} and kafka.group.id={kafkas} differ: give one of them.")
    return {
        "commits_offsets": values.get("commitOffsets", False),
        "group_id": ours or kafkas,
        "group_id_prefix": values["groupIdPrefix"],
    }


def _refuse(boundary: Boundary, place: Place, reason: str) -> None:
    for what, position in boundary.positions():
        if position.place is place:
            raise OptionError(
                f"Option {boundary.option} is {place} for {what}. {reason}: name another place."
            )
