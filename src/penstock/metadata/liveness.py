"""Which brokers are alive, as far as the controller has heard; and what follows from it.

This is the controller's soft state: nothing of it is in the metadata log. A new controller knows nothing, so
it takes everybody for heard of just now, and nobody is shut out for the old controller's silence. What the
heartbeats decide (let in, shut out, send home) goes into the log as everything else does.

A broker's ways, by its heartbeats: *fenced* until it has read its own registration in the metadata log, then
let in; shut out when it is silent for too long, or asks to be; when it wants to stop its leadership is moved
away first, and it is let go when every living broker has heard of that. *Suspect* is whose connection broke:
a process that died is known by that long before it has been silent for too long, but so is one whose network
hiccuped, and that one is heard of again.
"""

from dataclasses import dataclass

from penstock.metadata.broker_image import BrokerImage
from penstock.metadata.fencing import begin_controlled_shutdown, check_broker_epoch, fence, unfence
from penstock.metadata.image import ClusterImage
from penstock.metadata.leadership import leads_anything
from penstock.metadata.records import MetadataRecord
from penstock.metadata.result import Result
from penstock.model.errors import ApiError
from penstock.model.ids import Millis, NodeId
from penstock.model.limits import SUSPICION_MS
from penstock.wire.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse

UNKNOWN_OFFSET = -1


@dataclass(slots=True, kw_only=True)
class _Session:
    """What was heard of one process of a broker."""

    epoch: int
    heard_at: Millis
    #: When it was last thought to have died; forgotten when it is heard of again.
    suspect_since: Millis | None = None
    #: How far it has read the metadata log.
    metadata_offset: int = UNKNOWN_OFFSET
    #: Where the log says that it leads nothing more; None while it does not want to stop.
    shutdown_offset: int | None = None


class BrokerLiveness:
    """The sessions of all brokers."""

    def __init__(
        self,
        image: ClusterImage,
        *,
        session_timeout_ms: int,
        now: Millis,
        suspicion_ms: int = SUSPICION_MS,
    ) -> None:
        self._timeout_ms = session_timeout_ms
        self._suspicion_ms = suspicion_ms
        self._sessions: dict[NodeId, _Session] = {}
        self.follow(image, now)

    def follow(self, image: ClusterImage, now: Millis) -> None:
        """The image has changed: forget brokers that are gone, and give new processes their time."""
        for node_id in [id for id in self._sessions if id not in image.brokers]:
            del self._sessions[node_id]
        for node_id in sorted(image.brokers):
            session, epoch = self._sessions.get(node_id), image.brokers[node_id].epoch
            if session is None or session.epoch != epoch:
                self._sessions[node_id] = _Session(epoch=epoch, heard_at=now)

    def has_session(self, node_id: NodeId, now: Millis) -> bool:
        """Whether the broker was heard of lately."""
        session = self._sessions.get(node_id)
        return session is not None and not self._is_over(session, now)

    def hear(self, node_id: NodeId, epoch: int, now: Millis) -> None:
        """A process of a broker lives, whatever becomes of its request."""
        session = self._sessions.get(node_id)
        if session is not None and session.epoch == epoch:
            session.heard_at = now
            session.suspect_since = None

    def suspect(self, node_id: NodeId, now: Millis) -> None:
        """A broker's connection broke: unless it is heard of soon, its session is over."""
        session = self._sessions.get(node_id)
        if session is not None and session.suspect_since is None:
            session.suspect_since = now

    def heartbeat(
        self, image: ClusterImage, request: BrokerHeartbeatRequest, *, now: Millis, next_offset: int
    ) -> Result[BrokerHeartbeatResponse]:
        """A broker says it lives. ``next_offset`` is where records will go in the metadata log."""
        try:
            broker = check_broker_epoch(image, request.broker_id, request.broker_epoch)
        except ApiError as error:
            return Result(records=(), response=BrokerHeartbeatResponse(error_code=error.code))
        self.follow(image, now)
        self.hear(broker.node_id, broker.epoch, now)
        session = self._sessions[broker.node_id]
        session.metadata_offset = max(session.metadata_offset, request.current_metadata_offset)
        if broker.is_fenced:
            return _fenced(image, broker, request)
        if request.want_fence:
            return _shut_out(image, broker, request, should_stop=request.want_shut_down)
        if request.want_shut_down or broker.is_in_controlled_shutdown:
            return self._shutting_down(image, broker, request, next_offset=next_offset)
        return Result(records=(), response=_response(broker, request, is_fenced=False))

    def expired(self, image: ClusterImage, now: Millis) -> tuple[NodeId, ...]:
        """Brokers that were let in and have been silent for too long; the image may have forgotten some."""
        return tuple(
            node_id
            for node_id in sorted(self._sessions)
            if self._is_over(self._sessions[node_id], now)
            and node_id in image.brokers
            and not image.brokers[node_id].is_fenced
        )

    def why_expired(self, node_id: NodeId, now: Millis) -> str:
        """In words why a broker's session is over."""
        session = self._sessions[node_id]
        silent_ms = now - session.heard_at
        if silent_ms >= self._timeout_ms or session.suspect_since is None:
            return f"no heartbeat for {silent_ms} ms, a session is {self._timeout_ms} ms"
        since_ms = now - session.suspect_since
        return f"its connection broke {since_ms} ms ago, and nothing was heard for {silent_ms} ms"

    def fence_expired(self, image: ClusterImage, now: Millis) -> tuple[MetadataRecord, ...]:
        """Shut out everybody who has been silent for too long."""
        self.follow(image, now)
        return fence(image, *self.expired(image, now))

    def next_deadline(self, image: ClusterImage) -> Millis | None:
        """When somebody may have to be shut out, if nobody is heard of until then."""
        ends = (
            self._end(session)
            for node_id, session in self._sessions.items()
            if node_id in image.brokers and not image.brokers[node_id].is_fenced
        )
        return min(ends, default=None)

    def _is_over(self, session: _Session, now: Millis) -> bool:
        return now >= self._end(session)

    def _end(self, session: _Session) -> Millis:
        """When a session ends if the broker is not heard of again."""
        end = session.heard_at + self._timeout_ms
        if session.suspect_since is not None:
            end = min(end, session.suspect_since + self._suspicion_ms)
        return Millis(end)

    def _shutting_down(
        self, image: ClusterImage, broker: BrokerImage, request: BrokerHeartbeatRequest, *, next_offset: int
    ) -> Result[BrokerHeartbeatResponse]:
        session = self._sessions[broker.node_id]
        if not broker.is_in_controlled_shutdown or leads_anything(image, broker.node_id):
            session.shutdown_offset = next_offset
            records = begin_controlled_shutdown(image, broker.node_id)
            return Result(records=records, response=_response(broker, request, is_fenced=False))
        if session.shutdown_offset is None:  # Another controller decided it, somewhere before here.
            session.shutdown_offset = next_offset - 1
        if self._lowest_active_offset(image, next_offset) >= session.shutdown_offset:
            return _shut_out(image, broker, request, should_stop=True)
        return Result(records=(), response=_response(broker, request, is_fenced=False))

    def _lowest_active_offset(self, image: ClusterImage, next_offset: int) -> int:
        """How far all brokers that go on have read the metadata log."""
        return min(
            (
                session.metadata_offset
                for node_id, session in self._sessions.items()
                if image.brokers[node_id].is_active
            ),
            default=next_offset,
        )


def _fenced(
    image: ClusterImage, broker: BrokerImage, request: BrokerHeartbeatRequest
) -> Result[BrokerHeartbeatResponse]:
    """A fenced broker may stop at any time, and is let in when it wants to be and has caught up."""
    if request.want_shut_down:
        response = _response(broker, request, is_fenced=True, should_stop=True)
        return Result(records=(), response=response)
    stays_out = request.want_fence or broker.is_in_controlled_shutdown
    if stays_out or not _is_caught_up(broker, request):
        return Result(records=(), response=_response(broker, request, is_fenced=True))
    return Result(
        records=unfence(image, broker.node_id), response=_response(broker, request, is_fenced=False)
    )


def _shut_out(
    image: ClusterImage, broker: BrokerImage, request: BrokerHeartbeatRequest, *, should_stop: bool
) -> Result[BrokerHeartbeatResponse]:
    return Result(
        records=fence(image, broker.node_id),
        response=_response(broker, request, is_fenced=True, should_stop=should_stop),
    )


def _is_caught_up(broker: BrokerImage, request: BrokerHeartbeatRequest) -> bool:
    """Whether the broker has read its own registration, so that it knows what is expected of it."""
    return request.current_metadata_offset >= broker.epoch


def _response(
    broker: BrokerImage,
    request: BrokerHeartbeatRequest,
    *,
    is_fenced: bool,
    should_stop: bool = False,
) -> BrokerHeartbeatResponse:
    return BrokerHeartbeatResponse(
        is_caught_up=_is_caught_up(broker, request), is_fenced=is_fenced, should_shut_down=should_stop
    )
