"""What writers are asked for, and which options do not go together."""

import pytest

from penstock.spark.options.definition import OptionError
from penstock.spark.options.sink_options import (
    DeliveryGuarantee,
    TxnVersion,
    batch_sink_options,
    stream_sink_options,
)

WHERE = {"kafka.bootstrap.servers": "localhost:9092"}


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
