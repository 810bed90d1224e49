"""One client that is asked for its metrics: what it was told, and when it may speak again."""

from collections.abc import Mapping

from penstock.broker.metrics.metric import series
from penstock.broker.telemetry.subscriptions import Wanted
from penstock.model.connected_client import ConnectedClient
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import uuid_to_text
from penstock.model.limits import TELEMETRY_LABEL_LENGTH_MAX
from penstock.wire.framing import RequestHeader

SILENCE_SECONDS_MIN = 60.0
INTERVALS_OF_SILENCE = 3
"""After so many, and no sooner than the above, a client counts as gone; as in Kafka."""

_ASK_AGAIN = (ErrorCode.UNKNOWN_SUBSCRIPTION_ID, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
"""After these a client has to ask what is wanted, without waiting for its next turn."""

_NEVER = float("-inf")


class TelemetryClient:
    """A client instance, in KIP-714's words. Times are seconds of the monotonic clock."""

    __slots__ = (
        "_asked_at",
        "_pushed_at",
        "facts",
        "heard_at",
        "id",
        "is_terminating",
        "last_error",
        "subscription_id",
        "version",
        "wanted",
    )

    def __init__(self, id: bytes, facts: Mapping[str, str]) -> None:
        self.id = id
        self.facts = facts
        self.heard_at = _NEVER
        self.version = -1
        self.tell(Wanted(), version=-1)

    def tell(self, wanted: Wanted, *, version: int) -> None:
        """Other metrics are wanted, or others' are: begin anew."""
        self.wanted = wanted
        self.version = version
        self.subscription_id = wanted.subscription_id(self.id)
        self._asked_at = self._pushed_at = _NEVER
        self.last_error: int = ErrorCode.NONE
        self.is_terminating = False

    @property
    def labels(self) -> tuple[tuple[str, str], ...]:
        """What tells its series from those of others."""
        return tuple((name, self.facts[name]) for name in ("client_id", "client_instance_id"))

    @property
    def info(self) -> str:
        """All that is known of it, as labels."""
        names = [name for name in self.facts if name != "client_source_port"]
        return series(names, [self.facts[name] for name in names])

    def has_gone(self, now: float) -> bool:
        """Whether it has been silent for too long."""
        interval_seconds = self.wanted.interval_ms / 1000
        return now - self.heard_at > max(SILENCE_SECONDS_MIN, INTERVALS_OF_SILENCE * interval_seconds)

    def check_question(self, now: float) -> None:
        """It asks what is wanted, which it may once in an interval, or when it has to."""
        is_its_turn = now - max(self._asked_at, self._pushed_at) >= self.wanted.interval_ms / 1000
        if not is_its_turn and self.last_error not in _ASK_AGAIN:
            raise ApiError(ErrorCode.THROTTLING_QUOTA_EXCEEDED)
        self._asked_at = now

    def check_turn(self, now: float, *, is_terminating: bool) -> None:
        """It pushes, which it may after it asked, once in an interval, and a last time whenever it closes."""
        if self.is_terminating:
            raise ApiError(ErrorCode.INVALID_REQUEST)
        has_asked = self._asked_at > self._pushed_at
        if has_asked or now - self._pushed_at >= self.wanted.interval_ms / 1000:
            self._pushed_at = now
        elif not is_terminating:
            raise ApiError(ErrorCode.THROTTLING_QUOTA_EXCEEDED)


def facts_of(id: bytes, header: RequestHeader) -> dict[str, str]:
    """What is known of a client, by the names that subscriptions use; none is longer than a label."""
    client = header.client or ConnectedClient()
    facts = {
        "client_instance_id": uuid_to_text(id),
        "client_id": header.client_id or "",
        "client_software_name": client.software_name,
        "client_software_version": client.software_version,
        "client_source_address": client.address,
        "client_source_port": str(client.port),
    }
    return {name: value[:TELEMETRY_LABEL_LENGTH_MAX] for name, value in facts.items()}
