"""Checks data that has not been read from disk since the broker started, before the first byte is sent.

A batch that rotted on disk is reported, not served.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from penstock.broker.partition_read import PartitionRead, unreadable
from penstock.model.errors import StorageError

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


def answer_verified(
    broker: "Broker", reads: list[PartitionRead], answer: Callable[[list[PartitionRead]], None]
) -> None:
    """Answer at once if nothing is unchecked, otherwise when it is checked, off the loop."""
    for read in reads:
        if read.needs_verification:
            broker.tasks.start(_verify_then_answer(broker, reads, answer), name="verify fetched data")
            return
    answer(reads)


async def _verify_then_answer(
    broker: "Broker", reads: list[PartitionRead], answer: Callable[[list[PartitionRead]], None]
) -> None:
    answer([await _verified(broker, read) if read.needs_verification else read for read in reads])


async def _verified(broker: "Broker", read: PartitionRead) -> PartitionRead:
    assert read.partition is not None
    try:
        await broker.workers.call(read.partition.log.verify, read.records)
    except StorageError as error:
        return unreadable(broker, read.key, read.partition, error)
    return read
