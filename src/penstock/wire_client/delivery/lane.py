"""The batches of one partition, in the order of their sequences.

A lane that met trouble is *held*: what is under way is awaited, then everything that was not acknowledged is
sent again from the oldest on, the same bytes. So a broker sees sequences in order, and recognises what it has
already: batches that wait for one another are few enough for that (``IN_FLIGHT_MAX``).

A broker that has nothing of a producer takes any sequence for its first. So the first batch of a lane travels
alone: one behind it could be taken in its place, and it would never be.
"""

from bisect import insort
from collections import deque
from dataclasses import dataclass, field

from penstock.model.error_codes import ErrorCode
from penstock.wire_client.delivery.batch import Batch
from penstock.wire_client.delivery.failure import DeliveryError, gave_up
from penstock.wire_client.delivery.settings import IN_FLIGHT_MAX, DeliverySettings

DELIVERED = frozenset({ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER})
"""The broker has the batch, from now or from before."""

RETRIABLE = frozenset(
    {
        ErrorCode.CORRUPT_MESSAGE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.BROKER_NOT_AVAILABLE,
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.UNKNOWN_TOPIC_ID,
    }
)
"""Codes after which the same batch, sent a moment later or elsewhere, may well be taken."""


@dataclass(slots=True, kw_only=True, order=True)
class Parcel:
    """A batch with its place in the lane."""

    number: int
    batch: Batch = field(compare=False)
    deadline_ms: int = field(compare=False)
    last_code: int = field(default=ErrorCode.NETWORK_EXCEPTION, compare=False)


class Lane:
    """What waits for one partition, and what is under way to it."""

    def __init__(self, settings: DeliverySettings) -> None:
        self._settings = settings
        self._waiting: deque[Parcel] = deque()
        self._under_way: list[Parcel] = []
        self._count = 0
        self._is_alone = True
        self._is_held = False
        self._failures = 0
        self._not_before_ms = 0

    @property
    def is_empty(self) -> bool:
        """Whether everything is acknowledged."""
        return not self._waiting and not self._under_way

    def add(self, batch: Batch, now_ms: int) -> None:
        """A batch behind all others."""
        deadline_ms = now_ms + self._settings.delivery_timeout_ms
        self._waiting.append(Parcel(number=self._count, batch=batch, deadline_ms=deadline_ms))
        self._count += 1

    def ready(self, now_ms: int) -> Batch | None:
        """The batch to send next, if one may be sent now."""
        if not self._waiting or len(self._under_way) >= IN_FLIGHT_MAX or now_ms < self._not_before_ms:
            return None
        if self._under_way and (self._is_held or self._is_alone):
            return None
        return self._waiting[0].batch

    def wakes_at_ms(self) -> int | None:
        """When a pause of this lane ends; None if it waits for answers or for nothing."""
        return self._not_before_ms if self._waiting and not self._under_way else None

    def take(self) -> Parcel:
        """The batch that ``ready`` named goes out."""
        parcel = self._waiting.popleft()
        self._is_held = False
        self._under_way.append(parcel)
        return parcel

    def answered(self, parcel: Parcel, code: int, now_ms: int) -> bool:
        """What a broker said, NETWORK_EXCEPTION if nothing; returns whether the batch is delivered."""
        self._under_way.remove(parcel)
        if code in DELIVERED:
            self._failures, self._is_alone = 0, False
            return True
        if not self._may_retry(parcel, code):
            raise DeliveryError(parcel.batch.partition, code)
        self._hold(parcel, code, now_ms)
        return False

    def check_deadline(self, now_ms: int) -> None:
        """Give up on the oldest batch that waits, if its time is over."""
        if self._waiting and now_ms >= self._waiting[0].deadline_ms:
            oldest = self._waiting[0]
            tried_ms = self._settings.delivery_timeout_ms
            raise gave_up(oldest.batch.partition, oldest.last_code, tried_ms=tried_ms)

    def _may_retry(self, parcel: Parcel, code: int) -> bool:
        if code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER:
            # One before it did not get through: that is a gap only for as long as it takes to close it.
            return any(other < parcel for other in (*self._waiting, *self._under_way))
        return code in RETRIABLE

    def _hold(self, parcel: Parcel, code: int, now_ms: int) -> None:
        parcel.last_code = code
        insort(self._waiting, parcel)
        if not self._is_held:
            pause_ms = min(self._settings.pause_ms << min(self._failures, 16), self._settings.pause_ms_max)
            self._failures += 1
            self._not_before_ms = now_ms + pause_ms
        self._is_held = True
