"""What writers are asked for, and which options do not go together."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from penstock.spark.options.definition import WRITES, Effect, OptionError
from penstock.spark.options.parsing import OPTIONS
from penstock.spark.options.sink_options import (
    DeliveryGuarantee,
    SinkOptions,
    TxnVersion,
    batch_sink_options,
    stream_sink_options,
)

WHERE = {"kafka.bootstrap.servers": "localhost:9092"}

SET: list[tuple[str, str, str, Any]] = [
    ("topic", "orders", "topic", "orders"),
    ("deliveryGuarantee", "At-Least-Once", "guarantee", DeliveryGuarantee.AT_LEAST_ONCE),
    ("transactionalId", "mine", "transactional_id", "mine"),
    ("compression", "zstd", "compression", "zstd"),
    ("kafka.compression.type", "gzip", "compression", "gzip"),
    ("kafka.max.request.size", "2000", "batch_bytes_max", 2000),
    ("kafka.buffer.memory", "3000", "buffer_bytes_max", 3000),
    ("kafka.delivery.timeout.ms", "4000", "delivery_timeout_ms", 4000),
    ("kafka.max.block.ms", "5000", "coordinator_timeout_ms", 5000),
    ("kafka.transaction.timeout.ms", "6000", "transaction_timeout_ms", 6000),
]
REQUIRED = {"kafka.acks": ("all", "-1"), "kafka.enable.idempotence": ("true",)}
PAIR = ("txnAppId", "txnVersion")


@pytest.mark.parametrize(("name", "text", "field", "value"), SET)
def test_option_sets_what_it_names(name: str, text: str, field: str, value: object) -> None:
    assert getattr(stream_sink_options(WHERE | {name: text}), field) == value


@pytest.mark.parametrize("read", [batch_sink_options, stream_sink_options])
def test_what_is_always_so_may_be_asked_for(read: Callable[[Mapping[str, str]], SinkOptions]) -> None:
    for name, texts in REQUIRED.items():
        for text in texts:
            assert read(WHERE | {name: text}) == read(WHERE)


def test_every_option_of_writing_is_tested_by_name() -> None:
    """Those that reading has as well are tested there."""
    tested = {*(row[0] for row in SET), *REQUIRED, *PAIR}
    acting = {option.name for option in OPTIONS if option.effect is Effect.ACTS and option.uses <= WRITES}
    assert acting == tested


def test_streams_are_exactly_once_and_batches_at_least_once_unless_told_otherwise() -> None:
    assert stream_sink_options(WHERE).guarantee is DeliveryGuarantee.EXACTLY_ONCE
    assert batch_sink_options(WHERE).guarantee is DeliveryGuarantee.AT_LEAST_ONCE
    assert (
        stream_sink_options(WHERE | {"deliveryguarantee": "at-least-once"}).guarantee
        is DeliveryGuarantee.AT_LEAST_ONCE
    )
    assert (
        batch_sink_options(WHERE | {"deliveryguarantee": "exactly-once"}).guarantee
        is DeliveryGuarantee.EXACTLY_ONCE
    )


def test_a_batch_that_says_which_write_it_is_is_exactly_once() -> None:
    options = batch_sink_options(WHERE | {"txnappid": "daily", "txnversion": "0"})

    assert options.txn == TxnVersion(app_id="daily", version=0)
    assert options.guarantee is DeliveryGuarantee.EXACTLY_ONCE


@pytest.mark.parametrize("given", ["txnAppId", "txnVersion"])
def test_who_writes_and_which_write_go_together(given: str) -> None:
    with pytest.raises(OptionError, match=f"{given} was given without"):
        batch_sink_options(WHERE | {given: "1"})


@pytest.mark.parametrize(
    "given",
    [
        {"transactionalId": "mine", "deliveryGuarantee": "at-least-once"},
        {"txnAppId": "mine", "txnVersion": "1", "deliveryGuarantee": "at-least-once"},
    ],
)
def test_transactions_and_at_least_once_exclude_each_other(given: dict[str, str]) -> None:
    read = stream_sink_options if "transactionalId" in given else batch_sink_options
    with pytest.raises(OptionError, match="leave one of them out"):
        read(WHERE | given)


def test_options_of_the_other_kind_of_write_are_refused() -> None:
    with pytest.raises(OptionError, match="transactionalId is one of stream write"):
        batch_sink_options(WHERE | {"transactionalId": "mine"})
    with pytest.raises(OptionError, match="txnAppId is one of batch write"):
        stream_sink_options(WHERE | {"txnAppId": "mine"})


def test_compression_is_known_by_both_names() -> None:
    assert batch_sink_options(WHERE).compression == "none"
    assert batch_sink_options(WHERE | {"kafka.compression.type": "lz4"}).compression == "lz4"
    both = WHERE | {"kafka.compression.type": "lz4", "compression": "zstd"}
    assert batch_sink_options(both).compression == "zstd"


def test_weaker_acknowledgements_are_refused_rather_than_left_out() -> None:
    with pytest.raises(OptionError, match=r"kafka\.acks"):
        batch_sink_options(WHERE | {"kafka.acks": "1"})
    with pytest.raises(OptionError, match=r"kafka\.enable\.idempotence"):
        batch_sink_options(WHERE | {"kafka.enable.idempotence": "false"})


def test_brokers_must_be_named() -> None:
    with pytest.raises(OptionError, match=r"kafka\.bootstrap\.servers is missing"):
        stream_sink_options({"topic": "orders"})
