"""How many partitions topics have, remembered for a moment.

librdkafka waits long for a topic that does not exist. Whoever sends to one by mistake should learn it at
once, and whoever sends to one that exists should not pay a question for each request.
"""

import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

from penstock.gateway.errors import GatewayError
from penstock.wire_client.patience import Patience
from penstock.wire_client.topics import find_leaders

if TYPE_CHECKING:
    from penstock.gateway.kafka.access import KafkaAccess

REMEMBERED_SECONDS = 5.0
REMEMBERED_MAX = 10_000
HEARSAY = Patience(seconds_max=5.0)
"""For how long the broker that we ask may not have heard of a topic that another one has just made."""


class _Known(NamedTuple):
    partitions: int
    until: float


class KnownTopics:
    """Partitions of topics; any thread may use it."""

    def __init__(self, kafka: "KafkaAccess") -> None:
        self._kafka = kafka
        self._lock = threading.Lock()
        self._known: OrderedDict[str, _Known] = OrderedDict()

    def partitions(self, topic: str) -> range:
        """The numbers of a topic's partitions; 404 if there is none of that name."""
        known = self._known.get(topic)
        if known is not None and known.until > time.monotonic():
            return range(known.partitions)
        count = self._count(topic)
        if not count:
            raise GatewayError(
                404, f"There is no topic {topic!r}.", error_code=40401, error="UNKNOWN_TOPIC_OR_PARTITION"
            )
        self._remember(topic, count)
        return range(count)

    def wait_known(self, topic: str) -> None:
        """It was just made: return when it can be used, or has not been heard of for too long."""
        for _ in HEARSAY.attempts():
            if count := self._count(topic):
                self._remember(topic, count)
                return

    def _count(self, topic: str) -> int:
        with self._kafka.cluster() as cluster:
            return len(find_leaders(cluster, [topic]))

    def forget(self, topic: str) -> None:
        """It was changed or deleted."""
        with self._lock:
            self._known.pop(topic, None)

    def _remember(self, topic: str, count: int) -> None:
        with self._lock:
            self._known[topic] = _Known(count, time.monotonic() + REMEMBERED_SECONDS)
            self._known.move_to_end(topic)
            while len(self._known) > REMEMBERED_MAX:
                self._known.popitem(last=False)
