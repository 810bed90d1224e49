"""Transactions: what readers are shown of them, and which batches are kept out."""

import asyncio

from tests.broker.coordination.living_broker import living_broker, make_topic, new_disk
from tests.broker.transactions.producer_client import Client, connected, produce_code, read
from tests.broker.transactions.stories import FEW, begun, settle, tell
from tests.scenarios.cluster.story import about, story
from tests.transactions.coordinator_driver import ORDERS, TIMEOUT_MS, Coordinator

from penstock.broker.broker import Broker
from penstock.broker.transaction_markers import write_marker
from penstock.model.error_codes import ErrorCode
from penstock.records.control import TransactionMarker
from penstock.transactions.state import TransactionState
from penstock.transactions.version import TransactionVersion


@about("stable-offset-too-high", breaks="a reader of committed records is shown an open transaction")
@story
def transaction_is_open() -> None:
    async def told(broker: Broker, client: Client) -> None:
        producer = await begun(client)
        assert await producer.produce(b"undecided") == ErrorCode.NONE
        shown = (await read(client)).values
        assert shown == [], "a reader of committed records is shown an open transaction"

    tell(told)


@about("aborted-unlisted", breaks="a reader of committed records is shown an aborted one")
@story
def transaction_was_aborted() -> None:
    async def told(broker: Broker, client: Client) -> None:
        producer = await begun(client)
        assert await producer.produce(b"never") == ErrorCode.NONE
        assert await producer.end(is_commit=False) == ErrorCode.NONE
        await settle(client, 2)
        shown = (await read(client)).values
        assert shown == [], "a reader of committed records is shown an aborted one"

    tell(told)


@about("unverified-appends", breaks="a late batch has opened a transaction that nobody ends")
@story
def batch_arrives_after_its_transaction_has_ended() -> None:
    """By the first protocol its epoch is still the producer's own: only the coordinator knows better."""

    async def told(broker: Broker, client: Client) -> None:
        producer = await begun(client)
        assert await producer.produce(b"in time") == ErrorCode.NONE
        assert await producer.end() == ErrorCode.NONE
        await settle(client, 2)
        code = await producer.produce(b"late")
        assert code == ErrorCode.TRANSACTION_ABORTABLE, (
            "a late batch has opened a transaction that nobody ends"
        )

    tell(told)


@about("late-batches-taken", breaks="a late batch has opened a transaction that nobody ends")
@story
def batch_of_a_fenced_producer_arrives_after_its_transaction_was_aborted() -> None:
    """The coordinator's word keeps it out, and so would the epoch of the marker in the log."""

    async def told(broker: Broker, client: Client) -> None:
        zombie = await begun(client)
        assert await zombie.produce(b"in time") == ErrorCode.NONE
        await begun(client)
        await settle(client, 2)
        zombie.send(zombie.batch(b"late"))
        assert produce_code(await client.receive()) != ErrorCode.NONE, (
            "a late batch has opened a transaction that nobody ends"
        )

    tell(told)


@about("transactions-never-expire", breaks="the transaction of a dead producer stays open")
@story
def producer_dies_in_a_transaction() -> None:
    """Readers of committed records wait at its first batch until the coordinator aborts it."""
    coordinator = Coordinator()
    coordinator.put_in_state(TransactionState.ONGOING)
    coordinator.pass_time(TIMEOUT_MS)
    assert coordinator.current.state is TransactionState.PREPARE_ABORT, (
        "the transaction of a dead producer stays open"
    )


@about("marker-believed", breaks="a marker that was never written counts as written")
@story
def marker_finds_no_room() -> None:
    """The log knows of the marker it could not write; when it is asked for again, that must not count."""

    async def told() -> None:
        disk = new_disk()
        async with living_broker(disk, **FEW) as broker, connected(broker) as client:
            await make_topic(broker)
            producer = await begun(client, is_second=True)
            assert await producer.produce(b"x") == ErrorCode.NONE
            marker = TransactionMarker(
                is_commit=True,
                coordinator_epoch=0,
                producer_id=producer.producer_id,
                producer_epoch=producer.epoch + 1,
            )
            room, disk.capacity_bytes = disk.capacity_bytes, 0
            codes = [
                await write_marker(broker, ORDERS, marker, version=TransactionVersion.TV2) for _ in range(2)
            ]
            disk.capacity_bytes = room
            assert ErrorCode.NONE not in codes, "a marker that was never written counts as written"

    asyncio.run(told())


STORIES = (
    transaction_is_open,
    transaction_was_aborted,
    batch_arrives_after_its_transaction_has_ended,
    batch_of_a_fenced_producer_arrives_after_its_transaction_was_aborted,
    producer_dies_in_a_transaction,
    marker_finds_no_room,
)
