import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, cast

import pytest
from tests.broker.control.standing_in import InstantQuorum, MovedClock, until
from tests.metadata.cluster import (
    FOUR,
    ONE,
    THREE,
    TWO,
    directory_of,
    make_broker,
    make_image,
    make_partition,
    only,
)

from penstock.broker.control.controller import SLEPT_SECONDS, Controller
from penstock.broker.tasks import Tasks
from penstock.config.sources import load_broker_config
from penstock.metadata.describe_quorum import QuorumMember
from penstock.metadata.image import ClusterImage
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import NodeId
from penstock.model.limits import ELECTIONS_PER_UPKEEP_MAX, SUSPICION_MS
from penstock.raft.replica import ReplicaKey, Voter
from penstock.wire.messages.allocate_producer_ids import AllocateProducerIdsRequest
from penstock.wire.messages.alter_partition import AlterPartitionRequest
from penstock.wire.messages.broker_heartbeat import BrokerHeartbeatRequest
from penstock.wire.messages.broker_registration import BrokerRegistrationRequest, Feature

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

SESSION_SECONDS = 1.5
CLUSTER_ID = "here"


class Registered:
    """The membership of the broker whose controller is tested."""

    epoch = 11


class Office:
    """A controller on broker 1, with all that it needs of a broker."""

    def __init__(self, image: ClusterImage) -> None:
        self.clock = MovedClock()
        self.node_id = ONE
        self.cluster_id = CLUSTER_ID
        self.config = load_broker_config(flags={"leader.imbalance.check.interval.seconds": "60"})
        self.quorum = InstantQuorum(image, key=ReplicaKey(ONE, directory_of(1)))
        self.membership = Registered()
        self.tasks = Tasks(asyncio.get_running_loop())
        self.controller = Controller(cast("Broker", self))

    @property
    def image(self) -> ClusterImage:
        return self.quorum.image

    @property
    def fenced(self) -> list[int]:
        return [node_id for node_id, each in sorted(self.image.brokers.items()) if each.is_fenced]

    def lead(self, is_leader: bool = True) -> None:
        self.quorum.is_leader = is_leader
        self.controller.leadership_changed()

    async def heartbeat(self, node_id: int, **fields: object) -> ErrorCode:
        values = {"broker_epoch": 10 + node_id, "current_metadata_offset": 10_000} | fields
        request = BrokerHeartbeatRequest(broker_id=node_id, **values)  # type: ignore[arg-type]  # its fields
        return ErrorCode((await self.controller.heartbeat(request)).error_code)

    async def pass_time(self, seconds: float) -> None:
        """In steps that nobody takes for sleep, the controller looking in between."""
        while seconds > 0:
            self.clock.seconds += min(0.2, seconds)
            seconds -= 0.2
            self.controller.leadership_changed()
            await asyncio.sleep(0.005)


@asynccontextmanager
async def office(image: ClusterImage) -> AsyncIterator[Office]:
    made = Office(image)
    made.controller.start()
    made.lead()
    yield made
    await made.tasks.stop()


def registration(node_id: int, **fields: object) -> BrokerRegistrationRequest:
    values = {
        "cluster_id": CLUSTER_ID,
        "incarnation_id": b"i" * 16,
        "features": (Feature(name="metadata.version", min_supported_version=7, max_supported_version=7),),
        "log_dirs": (directory_of(node_id),),
    } | fields
    return BrokerRegistrationRequest(broker_id=node_id, **values)  # type: ignore[arg-type]  # its fields


def test_silent_broker_is_shut_out_and_the_controller_itself_never() -> None:
    async def run() -> None:
        async with office(make_image()) as made:
            await made.pass_time(SESSION_SECONDS - 0.2)
            await made.heartbeat(3)
            assert made.fenced == []
            await made.pass_time(0.4)
            await until(lambda: made.fenced == [TWO])

    asyncio.run(run())


def test_broker_whose_connection_breaks_is_shut_out_soon() -> None:
    async def run() -> None:
        async with office(make_image()) as made:
            broken: list[Callable[[], None]] = []
            await made.heartbeat(2)
            made.controller.note_connection(TWO, broken.append)
            broken[0]()
            await made.pass_time(2 * SUSPICION_MS / 1000)
            await until(lambda: made.fenced == [TWO])

    asyncio.run(run())


def test_broker_that_cannot_be_reached_is_shut_out_soon_and_who_is_heard_of_is_not() -> None:
    async def run() -> None:
        async with office(make_image()) as made:
            made.controller.suspect(TWO)
            made.controller.suspect(NodeId(3))
            await made.heartbeat(3)
            await made.pass_time(2 * SUSPICION_MS / 1000)
            await until(lambda: made.fenced == [TWO])

    asyncio.run(run())


def test_connection_that_was_replaced_may_break() -> None:
    async def run() -> None:
        async with office(make_image()) as made:
            broken: list[Callable[[], None]] = []
            for _ in range(2):
                await made.heartbeat(2)
                made.controller.note_connection(TWO, broken.append)
            broken[0]()
            await made.pass_time(2 * SUSPICION_MS / 1000)
            assert made.fenced == []

    asyncio.run(run())


def test_controller_that_was_asleep_itself_shuts_nobody_out() -> None:
    async def run() -> None:
        async with office(make_image()) as made:
            await made.pass_time(0.4)
            made.clock.seconds += SLEPT_SECONDS + SESSION_SECONDS
            await made.pass_time(0.4)
            assert made.fenced == []
            await made.pass_time(SESSION_SECONDS)
            await until(lambda: made.fenced == [TWO, THREE])

    asyncio.run(run())


def test_new_office_gives_everybody_a_new_session() -> None:
    async def run() -> None:
        async with office(make_image()) as made:
            await made.pass_time(SESSION_SECONDS - 0.2)
            made.lead(False)
            made.lead()
            await made.pass_time(0.4)
            assert made.fenced == []

    asyncio.run(run())


def test_nobody_is_shut_out_by_who_is_not_in_office() -> None:
    async def run() -> None:
        async with office(make_image()) as made:
            made.lead(False)
            await made.pass_time(3 * SESSION_SECONDS)
            assert made.fenced == []

    asyncio.run(run())


def test_duty_that_fails_is_done_later() -> None:
    async def run() -> None:
        async with office(make_image()) as made:
            made.quorum.refusals = [ApiError(ErrorCode.KAFKA_STORAGE_ERROR)] * 4
            await made.pass_time(2 * SESSION_SECONDS)
            await until(lambda: not made.quorum.refusals)
            await made.pass_time(2 * SESSION_SECONDS)
            await until(lambda: made.fenced == [TWO, THREE])

    asyncio.run(run())


def test_broker_that_lives_on_is_answered_without_the_log() -> None:
    async def run() -> None:
        async with office(make_image()) as made:
            await until(lambda: made.controller.is_active)
            offset = made.quorum.applied_offset
            made.quorum.refusals = [ApiError(ErrorCode.KAFKA_STORAGE_ERROR)]
            assert await made.heartbeat(2) is ErrorCode.NONE
            assert made.quorum.applied_offset == offset
            made.quorum.refusals = []

    asyncio.run(run())


def test_fenced_broker_is_let_in_by_its_heartbeat() -> None:
    async def run() -> None:
        brokers = [make_broker(1), make_broker(2, fenced=True), make_broker(3)]
        async with office(make_image(brokers=brokers)) as made:
            await made.heartbeat(2)
            assert made.fenced == []

    asyncio.run(run())


def test_broker_registers_under_an_epoch_behind_the_log() -> None:
    async def run() -> None:
        async with office(make_image()) as made:
            offset = made.quorum.applied_offset
            response = await made.controller.register(registration(4))
            assert (response.error_code, response.broker_epoch) == (0, offset)
            assert made.fenced == [4]

    asyncio.run(run())


def test_other_directory_may_take_an_id_only_when_its_broker_is_silent() -> None:
    async def run() -> None:
        async with office(make_image()) as made:
            request = registration(2, log_dirs=(b"another one     ",))
            response = await made.controller.register(request)
            assert response.error_code == ErrorCode.DUPLICATE_BROKER_REGISTRATION
            await made.pass_time(SESSION_SECONDS + 0.2)
            assert (await made.controller.register(request)).error_code == 0

    asyncio.run(run())


def test_producer_ids_are_given_in_blocks_that_do_not_overlap() -> None:
    async def run() -> None:
        async with office(make_image()) as made:
            request = AllocateProducerIdsRequest(broker_id=2, broker_epoch=12)
            first = await made.controller.allocate_producer_ids(request)
            second = await made.controller.allocate_producer_ids(request)
            assert second.producer_id_start == first.producer_id_start + first.producer_id_len

    asyncio.run(run())


def test_everything_is_refused_by_who_is_not_in_office() -> None:
    async def run() -> None:
        async with office(make_image()) as made:
            made.lead(False)
            controller = made.controller
            for asked in (
                controller.register(registration(4)),
                controller.heartbeat(BrokerHeartbeatRequest(broker_id=2)),
                controller.alter_partition(AlterPartitionRequest(broker_id=2), 3),
                controller.allocate_producer_ids(AllocateProducerIdsRequest(broker_id=2)),
            ):
                with pytest.raises(ApiError) as refused:
                    await asked
                assert refused.value.code is ErrorCode.NOT_CONTROLLER

    asyncio.run(run())


def test_leadership_goes_back_to_preferred_replicas_when_it_is_time() -> None:
    async def run() -> None:
        async with office(make_image(make_partition(leader=2))) as made:
            made.controller.leadership_changed()
            await asyncio.sleep(0.01)
            assert only(made.image).leader == TWO
            made.clock.seconds += 60
            await until(lambda: only(made.image).leader == ONE)

    asyncio.run(run())


def test_leadership_of_more_partitions_than_are_changed_at_once_goes_back_without_a_pause() -> None:
    async def run() -> None:
        many = [make_partition(leader=2) for _ in range(2 * ELECTIONS_PER_UPKEEP_MAX + 1)]
        async with office(make_image(*many)) as made:
            made.controller.leadership_changed()
            made.clock.seconds += 60
            await until(lambda: {each.leader for each in made.image.topics["orders"].partitions} == {ONE})

    asyncio.run(run())


def test_third_broker_makes_three_voters() -> None:
    async def run() -> None:
        async with office(make_image()) as made:
            made.quorum.observers = [
                QuorumMember(node_id=NodeId(id), directory_id=directory_of(id), log_end_offset=100)
                for id in (2, 3)
            ]
            await until(lambda: len(made.quorum.voters) == 3)
            assert made.controller.voters == (ONE, TWO, THREE)
            (second,) = [voter for voter in made.quorum.voters.voters if voter.key.node_id == TWO]
            assert (second.key.directory_id, second.endpoints[0].host) == (directory_of(2), "host2")

    asyncio.run(run())


def test_broker_far_behind_does_not_become_a_voter() -> None:
    async def run() -> None:
        async with office(make_image(brokers=[make_broker(number) for number in (1, 2, 3, 4)])) as made:
            made.quorum.applied_offset = 10_000
            made.quorum.observers = [
                QuorumMember(node_id=TWO, directory_id=directory_of(2), log_end_offset=100),
                QuorumMember(node_id=THREE, directory_id=directory_of(3), log_end_offset=9_999),
                QuorumMember(node_id=FOUR, directory_id=directory_of(4), log_end_offset=9_999),
            ]
            await until(lambda: len(made.quorum.voters) == 3)
            assert made.controller.voters == (ONE, THREE, FOUR)

    asyncio.run(run())


def test_empty_broker_that_is_to_go_loses_its_vote_and_is_forgotten() -> None:
    async def run() -> None:
        brokers = [make_broker(1), make_broker(2, cordoned=True)]
        async with office(make_image(make_partition((1,)), brokers=brokers)) as made:
            made.quorum.voters = made.quorum.voters.including(Voter(key=ReplicaKey(TWO, directory_of(2))))
            await until(lambda: TWO not in made.image.brokers)
            assert made.controller.voters == (ONE,)

    asyncio.run(run())
