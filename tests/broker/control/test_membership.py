import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from tests.broker.control.half_brokers import HalfBroker, followed, half_brokers
from tests.broker.control.standing_in import WAIT_SECONDS, until
from tests.metadata.cluster import (
    ONE,
    ORDERS,
    THREE,
    TWO,
    directory_of,
    make_broker,
    make_image,
    make_partition,
    only,
)

from penstock.broker.control.membership import LEAVE_SECONDS_MAX
from penstock.metadata.decommission import decommission_broker
from penstock.metadata.fencing import fence, forget
from penstock.metadata.image import ClusterImage
from penstock.metadata.records import PartitionRecord
from penstock.metadata.result import Result
from penstock.model.errors import DiskFullError, FlushFailedError, OperatingError
from penstock.model.ids import NodeId, TopicId
from penstock.raft.replica import ReplicaKey, Voter
from penstock.storage.broker_epoch import LastRegistration
from penstock.wire.messages.broker_heartbeat import BrokerHeartbeatRequest
from penstock.wire.messages.decommission_broker import DecommissionBrokerRequest

KNOWN = LastRegistration(epoch=12)
LED_BY_TWO = make_partition((1, 2, 3), isr=(2,))


@asynccontextmanager
async def members(
    *partitions: PartitionRecord, remembered: LastRegistration = KNOWN
) -> AsyncIterator[tuple[HalfBroker, HalfBroker]]:
    """Broker 1 is the controller; broker 2 is the one that tests are about. Both vote, as does a third."""
    image = make_image(*partitions)
    async with half_brokers(2, image) as (one, two):
        for broker in (one, two):
            voters = [ReplicaKey(id, directory_of(id)) for id in (ONE, TWO, THREE) if id != broker.node_id]
            for key in voters:
                broker.quorum.voters = broker.quorum.voters.including(Voter(key=key))
            broker.controller.start()
            broker.see_leader(1)
        one.membership.epoch = 11
        two.last_registration = remembered
        yield one, two


async def change(broker: HalfBroker, result: Result[object]) -> None:
    await broker.quorum.submit(lambda image: result)


async def be_forgotten(controller: HalfBroker, node_id: NodeId) -> None:
    records = forget(controller.image, controller.image.brokers[node_id])
    await change(controller, Result(records=records, response=None))


async def come(broker: HalfBroker) -> None:
    await broker.membership.register()
    await broker.membership.enter()
    broker.tasks.start(broker.membership.run(), name="heartbeats")


def leader(image: ClusterImage) -> int:
    return only(image).leader


def test_broker_that_registers_is_let_in_and_its_epoch_remembered() -> None:
    async def run() -> None:
        async with members(LED_BY_TWO) as (one, two):
            await come(two)
            registered = one.image.brokers[TWO]
            assert not registered.is_fenced
            assert registered.epoch == two.membership.epoch == two.last_registration.epoch > 12
            assert registered.endpoints[0].host == "host2"
            assert leader(two.image) == TWO

    asyncio.run(run())


def test_epoch_of_a_predecessor_that_died_before_it_could_note_it_is_found_by_its_name() -> None:
    async def run() -> None:
        died = LastRegistration(epoch=3, incarnation_id=make_broker(2).incarnation_id)
        async with members(LED_BY_TWO, remembered=died) as (_, two):
            await come(two)
            assert leader(two.image) == TWO

    asyncio.run(run())


def test_broker_that_remembers_nothing_has_lost_everything() -> None:
    async def run() -> None:
        async with members(LED_BY_TWO, remembered=LastRegistration()) as (_, two):
            await come(two)
            assert leader(two.image) == -1

    asyncio.run(run())


def test_sole_voter_that_remembers_nothing_has_lost_nothing() -> None:
    async def run() -> None:
        async with members(LED_BY_TWO, remembered=LastRegistration()) as (_, two):
            for key in (ReplicaKey(ONE, directory_of(1)), ReplicaKey(THREE, directory_of(3))):
                two.quorum.voters = two.quorum.voters.excluding(key)
            await come(two)
            assert leader(two.image) == TWO

    asyncio.run(run())


def test_damaged_replica_counts_as_lost_where_there_are_others() -> None:
    async def run() -> None:
        async with members(LED_BY_TWO) as (_, two):
            two.partitions.lost = [(ORDERS, 0), (TopicId(bytes(16)), 0)]
            await come(two)
            assert leader(two.image) == -1

    asyncio.run(run())


def test_damaged_sole_replica_is_still_better_than_none() -> None:
    async def run() -> None:
        async with members(make_partition((2,))) as (_, two):
            two.partitions.lost = [(ORDERS, 0)]
            await come(two)
            assert leader(two.image) == TWO

    asyncio.run(run())


def test_broker_registers_when_somebody_takes_office() -> None:
    async def run() -> None:
        async with members() as (one, two):
            one.see_leader(None)
            two.see_leader(None)
            registering = asyncio.create_task(two.membership.register())
            await asyncio.sleep(0)
            one.see_leader(1)
            two.see_leader(1)
            await registering
            assert two.membership.epoch > 12

    asyncio.run(run())


def test_broker_of_another_cluster_is_refused_for_good() -> None:
    async def run() -> None:
        async with members() as (_, two):
            two.cluster_id = "elsewhere"
            with pytest.raises(OperatingError, match="belongs to another cluster"):
                await two.membership.register()

    asyncio.run(run())


def test_broker_that_was_shut_out_is_let_in_again() -> None:
    async def run() -> None:
        async with members() as (one, two):
            await come(two)
            await change(one, Result(records=fence(one.image, TWO), response=None))
            assert one.image.brokers[TWO].is_fenced
            await until(lambda: not one.image.brokers[TWO].is_fenced)

    asyncio.run(run())


def test_broker_that_was_forgotten_registers_again() -> None:
    async def run() -> None:
        async with members() as (one, two):
            await come(two)
            epoch = two.membership.epoch
            await be_forgotten(one, TWO)
            await until(lambda: TWO in one.image.brokers and not one.image.brokers[TWO].is_fenced)
            assert two.membership.epoch == one.image.brokers[TWO].epoch > epoch
            assert not two.membership.was_sent_home.is_set()

    asyncio.run(run())


def test_broker_that_was_emptied_and_forgotten_goes_home() -> None:
    async def run() -> None:
        async with members(make_partition((1,))) as (one, two):
            await come(two)
            request = DecommissionBrokerRequest(broker_id=2)
            await change(one, decommission_broker(one.image, request, voters=(ONE,)))
            await until(lambda: two.membership.was_sent_home.is_set())
            assert TWO not in one.image.brokers

    asyncio.run(run())


def test_broker_that_is_forgotten_before_it_has_heard_of_its_epoch_goes_home() -> None:
    async def run() -> None:
        async with members(make_partition((1,))) as (one, two):
            request = DecommissionBrokerRequest(broker_id=2)
            await change(one, decommission_broker(one.image, request, voters=(ONE, TWO)))
            remember = two.remember_registration

            async def forget_meanwhile(registration: LastRegistration) -> None:
                await remember(registration)
                if registration.epoch > KNOWN.epoch:
                    await be_forgotten(one, TWO)

            two.remember_registration = forget_meanwhile  # type: ignore[method-assign]
            async with asyncio.timeout(WAIT_SECONDS):
                await two.membership.register()
            two.tasks.start(two.membership.run(), name="heartbeats")
            await until(lambda: two.membership.was_sent_home.is_set())
            assert TWO not in one.image.brokers

    asyncio.run(run())


def test_forgotten_broker_that_may_not_come_back_goes_home() -> None:
    async def run() -> None:
        async with members() as (one, two):
            await come(two)
            two.cluster_id = "elsewhere"
            await be_forgotten(one, TWO)
            await until(lambda: two.membership.was_sent_home.is_set())

    asyncio.run(run())


def test_forgotten_broker_that_goes_home_asks_nobody_for_leave() -> None:
    async def run() -> None:
        async with members() as (one, two):
            await come(two)
            two.cluster_id = "elsewhere"
            await be_forgotten(one, TWO)
            await until(lambda: two.membership.was_sent_home.is_set())
            async with asyncio.timeout(LEAVE_SECONDS_MAX / 2):
                await two.membership.leave()

    asyncio.run(run())


def test_forgotten_broker_whose_disk_is_full_registers_when_there_is_room() -> None:
    async def run() -> None:
        async with members() as (one, two):
            await come(two)
            remember = two.remember_registration
            refused: list[LastRegistration] = []

            async def refuse_twice(registration: LastRegistration) -> None:
                if len(refused) < 2:
                    refused.append(registration)
                    raise DiskFullError("no room")
                await remember(registration)

            two.remember_registration = refuse_twice  # type: ignore[method-assign]
            await be_forgotten(one, TWO)
            await until(lambda: TWO in one.image.brokers and not one.image.brokers[TWO].is_fenced)
            assert len(refused) == 2
            assert not two.membership.was_sent_home.is_set()

    asyncio.run(run())


def test_forgotten_broker_whose_flush_fails_ends_as_after_any_failed_flush() -> None:
    async def run() -> None:
        async with members() as (one, two):
            await come(two)

            async def fail(registration: LastRegistration) -> None:
                raise FlushFailedError("broker-epoch")

            two.remember_registration = fail  # type: ignore[method-assign]
            await be_forgotten(one, TWO)
            await until(lambda: bool(two.failures))
            assert [type(failure) for failure in two.failures] == [FlushFailedError]
            assert not two.membership.was_sent_home.is_set()

    asyncio.run(run())


def test_broker_that_leaves_waits_until_others_lead_and_know_it() -> None:
    async def run() -> None:
        async with members(make_partition((2, 1, 3), isr=(2, 1))) as (one, two):
            await come(two)
            await until(lambda: not one.image.brokers[TWO].is_fenced)
            leaving = asyncio.create_task(two.membership.leave())
            await until(lambda: one.image.brokers[TWO].is_in_controlled_shutdown)
            assert leader(one.image) == ONE
            assert not leaving.done()
            for node_id in (ONE, THREE):
                await one.controller.heartbeat(
                    BrokerHeartbeatRequest(
                        broker_id=node_id, broker_epoch=10 + node_id, current_metadata_offset=10_000
                    )
                )
            await leaving
            assert one.image.brokers[TWO].is_fenced

    asyncio.run(run())


def test_broker_without_company_leaves_at_once() -> None:
    async def run() -> None:
        async with half_brokers(1, make_image(make_partition((1,)), brokers=[make_broker(1)])) as (one,):
            one.see_leader(1)
            await one.membership.leave()
            await followed(one)
            assert not one.image.brokers[ONE].is_in_controlled_shutdown

    asyncio.run(run())
