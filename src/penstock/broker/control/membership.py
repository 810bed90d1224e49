"""This broker as a member of the cluster: it registers, says that it lives, and takes its leave.

A process registers once, under an epoch of its own, and is fenced until it has done what the metadata log
says up to there. From then on it sends heartbeats. If the cluster has forgotten it meanwhile, it registers
again; unless it was emptied first, for then it was sent home for good. A process that starts and finds itself
forgotten is refused, since it cannot tell the one from the other.

The epoch is on disk before the broker counts as registered: the next process must be able to name it, or
everything here counts as lost. A crash between the two would leave an epoch that nobody can name, so the
process writes down its own name before: by it the next one finds its predecessor's epoch in the metadata log.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from penstock.broker.peers.lane import Lane
from penstock.broker.peers.peer_error import PeerError
from penstock.metadata.broker_image import BrokerImage
from penstock.metadata.features import supported_features
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError, FlushFailedError, OperatingError, StorageError
from penstock.model.ids import TopicId
from penstock.storage.broker_epoch import LastRegistration
from penstock.wire.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from penstock.wire.messages.broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
    Feature,
    Listener,
    LostPartitions,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

logger = logging.getLogger(__name__)

UNREGISTERED = -1
ASK_SECONDS_MAX = 5.0
RETRY_SECONDS = 0.2
HURRY_SECONDS = 0.02
"""Between heartbeats of a broker that waits to be let in, or to be let go."""

LEAVE_SECONDS_MAX = 10.0
HAND_OVER_SECONDS_MAX = 3.0

FINAL_REFUSALS = {
    ErrorCode.INCONSISTENT_CLUSTER_ID: "the data directory belongs to another cluster",
    ErrorCode.INVALID_REGISTRATION: "the data directory is another broker's, or cannot be one's at all",
    ErrorCode.UNSUPPORTED_VERSION: "the cluster uses features that this version does not know",
    ErrorCode.BROKER_ID_NOT_REGISTERED: (
        "it was taken out of the cluster; to join anew it needs an empty data directory"
    ),
}
"""Refusals that asking again does not change."""


class Membership:
    """Keeps this broker registered and known to live."""

    def __init__(self, broker: "Broker") -> None:
        self._broker = broker
        self._incarnation_id = broker.entropy.uuid()
        #: Of this process's registration.
        self.epoch = UNREGISTERED
        #: Called whenever a controller has heard us, and while none has for longer than since then.
        self.on_heard: Callable[[], None] = lambda: None
        self.on_silence: Callable[[float], None] = lambda since: None
        self._heard_at = broker.clock.monotonic()
        self._wants_to_stop = False
        self._may_stop = asyncio.Event()
        self._hurry = asyncio.Event()
        #: Set when the cluster has no use for this broker any more: its process is to end.
        self.was_sent_home = asyncio.Event()
        self._was_emptied = False

    @property
    def is_heard(self) -> bool:
        """Whether a controller has answered a heartbeat within the time of a session."""
        session_seconds = self._broker.config.integer("broker.session.timeout.ms") / 1000
        return self._broker.clock.monotonic() - self._heard_at <= session_seconds

    @property
    def is_registered(self) -> bool:
        """Whether the image has this very process."""
        registered = self._registered()
        return registered is not None and registered.epoch == self.epoch

    async def register(self) -> None:
        """Become known to the cluster, as far as we know it too; raises when it refuses for good."""
        await self._register(self._previous_epoch())

    async def _register(self, previous_epoch: int) -> None:
        await self._remember(previous_epoch)
        request = self._registration(previous_epoch)
        while (epoch := await self._register_once(request)) is None:  # noqa: ASYNC110 (it asks, and waits)
            await asyncio.sleep(RETRY_SECONDS)
        await self._remember(epoch)
        self.epoch = epoch
        # The epoch is where the registration stands in the log; behind it we may have been forgotten again.
        while self._broker.quorum.applied_offset <= epoch:  # noqa: ASYNC110 (nobody reports it)
            await asyncio.sleep(HURRY_SECONDS)
        logger.info("registered", extra={"node": self._broker.node_id, "epoch": epoch})

    async def enter(self) -> None:
        """Return when the cluster has let this broker in, and everything that follows is in force here."""
        # Nobody is let in who has not done what the metadata log says up to the registration.
        await self._broker.control.wait_followed(self._broker.quorum.applied_offset)
        while not await self._is_let_in():
            if self.was_sent_home.is_set():
                raise OperatingError("The cluster has emptied and forgotten this broker.")
            await asyncio.sleep(HURRY_SECONDS)
        await self._broker.control.wait_followed(self._broker.quorum.applied_offset)

    async def run(self) -> None:
        """Send heartbeats, for ever."""
        while not self.was_sent_home.is_set():
            await self._beat()
            interval = self._broker.config.integer("broker.heartbeat.interval.ms") / 1000
            with suppress(TimeoutError):
                async with asyncio.timeout(HURRY_SECONDS if self._wants_to_stop else interval):
                    await self._hurry.wait()
            self._hurry.clear()

    async def leave(self) -> None:
        """Have others lead what this broker leads, before it stops; bounded, since it must stop."""
        broker = self._broker
        if not broker.config.boolean("controlled.shutdown.enable") or not self._has_company():
            return
        await self._hand_over()
        self._wants_to_stop = True
        self._hurry.set()
        try:
            async with asyncio.timeout(LEAVE_SECONDS_MAX):
                await self._may_stop.wait()
        except TimeoutError:
            logger.warning("stopping without the controller's leave", extra={"seconds": LEAVE_SECONDS_MAX})

    async def _hand_over(self) -> None:
        """Let another voter lead the quorum: a stopping leader would be missed for an election's time."""
        quorum = self._broker.quorum
        if not quorum.is_leader or len(quorum.voters) == 1:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(HAND_OVER_SECONDS_MAX):
                is_done = await quorum.transfer_leadership()
                logger.info("leadership of the quorum is handed over", extra={"is_done": is_done})

    async def _is_let_in(self) -> bool:
        response = await self._beat()
        if response is None or response.is_fenced or not self.is_registered:
            return False
        return not self._broker.image.brokers[self._broker.node_id].is_fenced

    async def _remember(self, epoch: int) -> None:
        await self._broker.remember_registration(
            LastRegistration(epoch=epoch, incarnation_id=self._incarnation_id)
        )

    async def _register_once(self, request: BrokerRegistrationRequest) -> int | None:
        """This process's epoch; None when it is worth asking again."""
        try:
            response: BrokerRegistrationResponse = await self._broker.control.ask(
                request, seconds_max=ASK_SECONDS_MAX
            )
        except (ApiError, PeerError) as error:
            logger.info("not registered yet", extra={"reason": str(error)})
            return None
        code = ErrorCode(response.error_code)
        if code in FINAL_REFUSALS:
            raise OperatingError(f"The cluster refuses this broker: {FINAL_REFUSALS[code]} ({code.name}).")
        if code is not ErrorCode.NONE:
            logger.warning("registration is refused for now", extra={"error": code.name})
            return None
        return response.broker_epoch

    async def _beat(self) -> BrokerHeartbeatResponse | None:
        """Say that we live; None when nobody heard it."""
        request = BrokerHeartbeatRequest(
            broker_id=self._broker.node_id,
            broker_epoch=self.epoch,
            current_metadata_offset=self._broker.follower.followed_offset - 1,
            want_shut_down=self._wants_to_stop,
        )
        seconds_max = self._broker.config.integer("broker.heartbeat.interval.ms") * 2 / 1000
        try:
            response: BrokerHeartbeatResponse = await self._broker.control.ask(
                request, seconds_max=seconds_max, lane=Lane.HEARTBEAT
            )
        except (ApiError, PeerError) as error:
            logger.info("nobody heard the heartbeat", extra={"reason": str(error)})
            self._count_silence()
            return None
        self._heard_at = self._broker.clock.monotonic()
        self.on_heard()
        if response.error_code in (ErrorCode.STALE_BROKER_EPOCH, ErrorCode.BROKER_ID_NOT_REGISTERED):
            await self._come_back(is_known=response.error_code == ErrorCode.STALE_BROKER_EPOCH)
            return None
        if response.should_shut_down:
            self._may_stop.set()
        return response if response.error_code == ErrorCode.NONE else None

    def _count_silence(self) -> None:
        """After a session's time without an answer the controller, if there is one, has shut us out."""
        now = self._broker.clock.monotonic()
        since = now - self._broker.config.integer("broker.session.timeout.ms") / 1000
        if self._heard_at < since:
            self.on_silence(since)

    async def _come_back(self, *, is_known: bool) -> None:
        """The cluster does not know this process any more: it either was sent home, or registers again."""
        if self._was_emptied:
            logger.warning("the cluster has emptied and forgotten this broker")
            self._go_home()
            return
        if self._wants_to_stop:
            return
        logger.warning("the cluster has forgotten this process, registering again")
        try:
            await self._register(self._previous_epoch() if is_known else UNREGISTERED)
        except FlushFailedError as error:
            self._broker.fail(error)
        except StorageError as error:
            logger.error("not registered again yet", extra={"reason": str(error)})
        except OperatingError as error:
            logger.error("there is no way back", extra={"reason": str(error)})
            self._go_home()

    def _go_home(self) -> None:
        """Nobody will ever answer this process again: it ends without asking for leave."""
        self._may_stop.set()
        self.was_sent_home.set()

    def leadership_changed(self) -> None:
        """Somebody else may be in office, who has not heard of us yet: do not let it wait."""
        self._hurry.set()

    def image_changed(self) -> None:
        """Remember whether this broker is being emptied, for when it is in no image any more.

        That may be so before we have even heard of our epoch, so the process is told by its own name.
        """
        registered = self._registered()
        if registered is not None and registered.incarnation_id == self._incarnation_id:
            self._was_emptied = registered.is_cordoned

    def _registered(self) -> BrokerImage | None:
        return self._broker.image.brokers.get(self._broker.node_id)

    def _has_company(self) -> bool:
        """Whether there is anybody who could take over."""
        own, brokers = self._broker.node_id, self._broker.image.brokers.values()
        return any(each.is_active and each.node_id != own for each in brokers)

    def _previous_epoch(self) -> int:
        """The epoch of the last registration from this directory, by our own or our predecessor's word."""
        remembered, registered = self._broker.last_registration, self._registered()
        is_ours = registered is not None and remembered.incarnation_id == registered.incarnation_id
        # Of a sole voter the metadata log itself is beside the data, and nobody else has either.
        if registered is not None and (
            is_ours or self._broker.quorum.voters.keys == (self._broker.quorum.key,)
        ):
            return registered.epoch
        return remembered.epoch

    def _registration(self, previous_epoch: int) -> BrokerRegistrationRequest:
        broker = self._broker
        return BrokerRegistrationRequest(
            broker_id=broker.node_id,
            cluster_id=broker.cluster_id,
            incarnation_id=self._incarnation_id,
            listeners=tuple(
                Listener(
                    name=each.name, host=each.host, port=each.port, security_protocol=each.security_protocol
                )
                for each in broker.endpoints
            ),
            features=tuple(
                Feature(
                    name=each.name,
                    min_supported_version=each.min_supported_version,
                    max_supported_version=each.max_supported_version,
                )
                for each in supported_features()
            ),
            rack=broker.config.string("broker.rack") or None,
            log_dirs=(broker.log_directory.meta.directory_id,),
            previous_broker_epoch=previous_epoch,
            lost_partitions=tuple(self._lost()),
        )

    def _lost(self) -> Iterator[LostPartitions]:
        """What may be missing here, where others may have it. A sole replica is better than none."""
        image = self._broker.image
        lost: dict[TopicId, list[int]] = {}
        for topic_id, index in self._broker.partitions.lost:
            topic = image.topics_by_id.get(topic_id)
            if topic is not None and len(topic.partitions[index].replicas) > 1:
                lost.setdefault(topic_id, []).append(index)
        return (
            LostPartitions(topic_id=topic_id, partitions=tuple(indexes)) for topic_id, indexes in lost.items()
        )
