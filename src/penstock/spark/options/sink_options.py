"""What writers were asked for: the options of writing as values, checked as far as that needs no broker."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from penstock.spark.options.client_settings import ClientSettings, client_settings
from penstock.spark.options.definition import OptionError, Use
from penstock.spark.options.parsing import parse_options


class DeliveryGuarantee(StrEnum):
    """How often a row may be seen by readers of what is committed."""

    EXACTLY_ONCE = "exactly-once"
    AT_LEAST_ONCE = "at-least-once"


@dataclass(frozen=True, slots=True, kw_only=True)
class TxnVersion:
    """Which write of whom this is, in Delta's words."""

    app_id: str
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkOptions:
    """All that the options of a writer say."""

    client: ClientSettings
    topic: str | None
    guarantee: DeliveryGuarantee
    compression: str
    batch_bytes_max: int
    buffer_bytes_max: int
    delivery_timeout_ms: int
    coordinator_timeout_ms: int
    transaction_timeout_ms: int
    transactional_id: str | None = None
    """Of streams, if it was given."""
    txn: TxnVersion | None = None
    """Of batches, if it was given."""


def batch_sink_options(given: Mapping[str, str]) -> SinkOptions:
    """For a batch, which is written at least once unless it says which write it is."""
    values = parse_options(given, {Use.BATCH_WRITE})
    txn = _txn(values)
    default = DeliveryGuarantee.AT_LEAST_ONCE if txn is None else DeliveryGuarantee.EXACTLY_ONCE
    guarantee = DeliveryGuarantee(values.get("deliveryGuarantee", default))
    if txn is not None and guarantee is DeliveryGuarantee.AT_LEAST_ONCE:
        raise OptionError(
            "Option txnAppId asks for a write that is made once, deliveryGuarantee=at-least-once for one "
            "that may be made more often: leave one of them out."
        )
    return _sink_options(values, guarantee, txn=txn)


def stream_sink_options(given: Mapping[str, str]) -> SinkOptions:
    """For a stream, which is written exactly once unless told otherwise."""
    values = parse_options(given, {Use.STREAM_WRITE})
    guarantee = DeliveryGuarantee(values.get("deliveryGuarantee", DeliveryGuarantee.EXACTLY_ONCE))
    transactional_id = values.get("transactionalId")
    if transactional_id is not None and guarantee is DeliveryGuarantee.AT_LEAST_ONCE:
        raise OptionError(
            "Option transactionalId names transactions, and deliveryGuarantee=at-least-once makes none: "
            "leave one of them out."
        )
    return _sink_options(values, guarantee, transactional_id=transactional_id)


def _sink_options(
    values: Mapping[str, Any],
    guarantee: DeliveryGuarantee,
    *,
    transactional_id: str | None = None,
    txn: TxnVersion | None = None,
) -> SinkOptions:
    return SinkOptions(
        client=client_settings(values),
        topic=values.get("topic"),
        guarantee=guarantee,
        compression=values.get("compression", values["kafka.compression.type"]),
        batch_bytes_max=values["kafka.max.request.size"],
        buffer_bytes_max=values["kafka.buffer.memory"],
        delivery_timeout_ms=values["kafka.delivery.timeout.ms"],
        coordinator_timeout_ms=values["kafka.max.block.ms"],
        transaction_timeout_ms=values["kafka.transaction.timeout.ms"],
        transactional_id=transactional_id,
        txn=txn,
    )


def _txn(values: Mapping[str, Any]) -> TxnVersion | None:
    app_id, version = values.get("txnAppId"), values.get("txnVersion")
    if (app_id is None) != (version is None):
        given, missing = ("txnAppId", "txnVersion") if version is None else ("txnVersion", "txnAppId")
        raise OptionError(f"Option {given} was given without {missing}: they only mean something together.")
    return None if app_id is None else TxnVersion(app_id=app_id, version=version or 0)
