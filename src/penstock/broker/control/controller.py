"""The controller: what the leader of the quorum does for all brokers.

It answers what only it may decide, and does by itself what nobody asks for: shuts out brokers that went
silent, finds leaders, moves replicas, forgets brokers that are empty, and changes the set of voters. All of
it goes through the quorum, which refuses whoever is no longer in office; so a controller that was replaced
without noticing does no harm, and one that notices just stops.

Its only memory besides the image is who was heard of when. It begins anew with every office, and also when
this process itself was asleep: whoever did not listen cannot say that nobody spoke.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from penstock.broker.control.voter_changes import change_voters
from penstock.metadata.alter_partition import alter_partition
from penstock.metadata.broker_registration import register_in_cluster
from penstock.metadata.image import ClusterImage
from penstock.metadata.leader_election import preferred_elections
from penstock.metadata.liveness import BrokerLiveness
from penstock.metadata.producer_ids import allocate_block
from penstock.metadata.result import Result
from penstock.metadata.upkeep import UpkeepRules, upkeep
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import Millis, NodeId
from penstock.model.limits import SUSPICION_MS
from penstock.model.names import LOGS_TOPIC, OFFSETS_TOPIC, TRANSACTIONS_TOPIC
from penstock.wire.messages.allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)
from penstock.wire.messages.alter_partition import AlterPartitionRequest, AlterPartitionResponse
from penstock.wire.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from penstock.wire.messages.broker_registration import BrokerRegistrationRequest, BrokerRegistrationResponse

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

logger = logging.getLogger(__name__)

R = TypeVar("R")

UPKEEP_SECONDS = 0.5
"""How often the controller looks whether something is to be done; nothing has changed means nothing is."""

VOTERS_SECONDS = 0.1
RETRY_SECONDS = 0.2
WATCH_SECONDS = 0.3
SLEPT_SECONDS = 1.0
"""When nobody has looked for this long, this process was asleep; well below the sum of a session and a
heartbeat's interval, so that nobody is shut out for it."""


class Controller:
    """Decides for the whole cluster while this broker leads the quorum, and does nothing otherwise."""

    def __init__(self, broker: "Broker") -> None:
        self._broker = broker
        self._liveness: BrokerLiveness | None = None
        self._news = asyncio.Event()
        #: On which connection each broker was last heard of.
        self._connections: dict[NodeId, object] = {}
        self._kept_up: tuple[object, ...] = ()
        #: Why each broker was last found silent, for whoever logs that it was fenced.
        self.why_fenced: dict[NodeId, str] = {}
        self._elected_at = 0.0
        self._looked_at = 0.0

    @property
    def is_active(self) -> bool:
        """Whether this broker is in office."""
        return self._broker.quorum.is_leader

    @property
    def voters(self) -> tuple[NodeId, ...]:
        """The nodes that decide on metadata."""
        return tuple(key.node_id for key in self._broker.quorum.voters.keys)

    def start(self) -> None:
        """Be ready to take office."""
        tasks = self._broker.tasks
        tasks.start_duty(self._while_active(self._watch), name="watch brokers")
        tasks.start_duty(self._while_active(self._keep_up), name="keep the cluster up")
        tasks.start_duty(self._while_active(self._choose_voters), name="choose voters")

    def leadership_changed(self) -> None:
        """Take office, or leave it."""
        if not self.is_active:
            self._liveness = None
            self.why_fenced.clear()
        elif self._liveness is None:
            self._begin_office()
        self._news.set()

    # What brokers ask.

    async def register(self, request: BrokerRegistrationRequest) -> BrokerRegistrationResponse:
        """A started broker makes itself known."""
        liveness = self._in_office()

        def decide(image: ClusterImage, offset: int) -> Result[BrokerRegistrationResponse]:
            return register_in_cluster(
                image,
                request,
                cluster_id=self._broker.cluster_id,
                next_offset=offset,
                has_session=liveness.has_session(NodeId(request.broker_id), self._now()),
            )

        return await self._broker.quorum.submit_at(decide)

    async def heartbeat(self, request: BrokerHeartbeatRequest) -> BrokerHeartbeatResponse:
        """A broker says it lives. Mostly that changes nothing, and is answered without the log."""
        liveness, quorum = self._in_office(), self._broker.quorum
        # Heard of now, not when decisions before this one have been written.
        liveness.hear(NodeId(request.broker_id), request.broker_epoch, self._now())
        result = liveness.heartbeat(quorum.image, request, now=self._now(), next_offset=quorum.applied_offset)
        if not result.records:
            return result.response
        return await quorum.submit_at(
            lambda image, offset: liveness.heartbeat(image, request, now=self._now(), next_offset=offset)
        )

    def note_connection(self, node_id: NodeId, when_lost: Callable[[Callable[[], None]], None]) -> None:
        """A broker was heard of on a connection; when that breaks, it has perhaps died."""
        connection = self._connections[node_id] = object()
        when_lost(partial(self._connection_lost, node_id, connection))

    def suspect(self, node_id: NodeId) -> None:
        """A node could not be reached: it has perhaps died. A new controller knows by that of the dead."""
        if self._liveness is not None:
            self._liveness.suspect(node_id, self._now())
            self._news.set()

    async def alter_partition(self, request: AlterPartitionRequest, version: int) -> AlterPartitionResponse:
        """A leader proposes in-sync sets."""
        self._in_office()
        return await self._broker.quorum.submit(partial(alter_partition, request=request, version=version))

    async def allocate_producer_ids(self, request: AllocateProducerIdsRequest) -> AllocateProducerIdsResponse:
        """A broker needs producer ids."""
        self._in_office()
        return await self._broker.quorum.submit(partial(allocate_block, request=request))

    # What nobody asks for.

    async def _watch(self) -> None:
        """Shut out who is silent, then wait until somebody else may be."""
        self._notice_sleep()
        liveness, broker = self._in_office(), self._broker
        # Who asks is alive: our own process cannot have died unnoticed.
        liveness.hear(broker.node_id, broker.membership.epoch, self._now())
        liveness.follow(broker.image, self._now())
        if liveness.expired(broker.image, self._now()):
            await broker.quorum.submit(self._fence_expired)
        deadline = liveness.next_deadline(broker.image)
        seconds = WATCH_SECONDS if deadline is None else (deadline - self._now()) / 1000
        await self._wait_for_news(min(max(0.0, seconds), WATCH_SECONDS))

    def _notice_sleep(self) -> None:
        now = self._broker.clock.monotonic()
        if now - self._looked_at > SLEPT_SECONDS:
            logger.warning("this process was asleep, every broker gets a new session")
            self._liveness = self._new_sessions()
        self._looked_at = now

    def _fence_expired(self, image: ClusterImage) -> Result[None]:
        liveness = self._in_office()
        now = self._now()
        for node_id in liveness.expired(image, now):
            self.why_fenced[node_id] = liveness.why_expired(node_id, now)
        return Result(records=liveness.fence_expired(image, now), response=None)

    async def _keep_up(self) -> None:
        """Do what is due, then wait a while. Nothing is due as long as nothing has changed."""
        state = (self._broker.image, self.voters, self._gives_leadership_back())
        if not _is_same(state, self._kept_up):
            await self._broker.quorum.submit(partial(self._decide_upkeep, self._rules(state[2])))
            self._kept_up = state
            # So many at once are enough: where more are due, the next look goes on with them.
            if state[2] and not preferred_elections(self._broker.image, limit=1):
                self._elected_at = self._broker.clock.monotonic()
        await asyncio.sleep(UPKEEP_SECONDS)

    def _decide_upkeep(self, rules: UpkeepRules, image: ClusterImage) -> Result[None]:
        return Result(records=upkeep(image, rules, voters=self.voters), response=None)

    def _rules(self, gives_leadership_back: bool) -> UpkeepRules:
        config = self._broker.config
        return UpkeepRules(
            gives_leadership_back=gives_leadership_back,
            internal_replication_factors={
                OFFSETS_TOPIC: config.integer("offsets.topic.replication.factor"),
                TRANSACTIONS_TOPIC: config.integer("transaction.state.log.replication.factor"),
                LOGS_TOPIC: config.integer("server.log.topic.replication.factor"),
            },
        )

    def _gives_leadership_back(self) -> bool:
        config = self._broker.config
        if not config.boolean("auto.leader.rebalance.enable"):
            return False
        interval = config.integer("leader.imbalance.check.interval.seconds")
        return self._broker.clock.monotonic() - self._elected_at >= interval

    async def _choose_voters(self) -> None:
        """Change voters one by one, without a pause: with two of them, every one is needed."""
        if not await change_voters(self._broker):
            await asyncio.sleep(VOTERS_SECONDS)

    async def _while_active(self, duty: Callable[[], Awaitable[None]]) -> None:
        """Repeat a duty for as long as this broker is in office, and wait for the next office."""
        while True:
            if self._liveness is None:
                await self._wait_for_news(None)
                continue
            try:
                await duty()
            except ApiError as error:
                # Not in office any more, or the log could not be written: the next round sees to it.
                logger.info("a duty of the controller is put off", extra={"reason": str(error)})
                await asyncio.sleep(RETRY_SECONDS)

    async def _wait_for_news(self, seconds_max: float | None) -> None:
        news = self._news
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds_max):
                await news.wait()
        if news is self._news and news.is_set():
            self._news = asyncio.Event()

    def _begin_office(self) -> None:
        broker = self._broker
        self._kept_up = ()
        self._looked_at = self._elected_at = broker.clock.monotonic()
        self._liveness = self._new_sessions()

    def _new_sessions(self) -> BrokerLiveness:
        broker = self._broker
        return BrokerLiveness(
            broker.image,
            session_timeout_ms=broker.config.integer("broker.session.timeout.ms"),
            suspicion_ms=max(SUSPICION_MS, 2 * broker.config.integer("broker.heartbeat.interval.ms")),
            now=self._now(),
        )

    def _in_office(self) -> BrokerLiveness:
        if self._liveness is None or not self.is_active:
            raise ApiError(ErrorCode.NOT_CONTROLLER, "This broker is not the active controller.")
        return self._liveness

    def _connection_lost(self, node_id: NodeId, connection: object) -> None:
        if self._connections.get(node_id) is connection and self._liveness is not None:
            del self._connections[node_id]
            self.suspect(node_id)

    def _now(self) -> Millis:
        """Time that only moves forward: the wall clock may jump, and nobody dies of that."""
        return Millis(int(self._broker.clock.monotonic() * 1000))


def _is_same(state: tuple[object, ...], before: tuple[object, ...]) -> bool:
    return len(state) == len(before) and state[0] is before[0] and state[1:] == before[1:]
