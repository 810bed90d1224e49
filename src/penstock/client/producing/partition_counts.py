"""How many partitions topics have, for partitioners that must know."""

import time
from typing import Any

from penstock.client.backoff import Backoff, retried
from penstock.client.config.producer_config import ProducerConfig
from penstock.client.error_mapping import error_from, translated
from penstock.client.errors import UnknownTopic


class PartitionCounts:
    """Asked for once per topic and ``metadata_max_age_ms``."""

    def __init__(self, producer: Any, config: ProducerConfig) -> None:
        self._producer = producer
        self._config = config
        self._known: dict[str, tuple[int, float]] = {}

    def known(self, topic: str) -> int | None:
        """If it is known, and not too old to be believed."""
        count, until = self._known.get(topic, (0, 0.0))
        return count if time.monotonic() < until else None

    def newest(self, topic: str) -> int:
        """What was told last, however old; of a topic that was found once."""
        return self._known[topic][0]

    def forget(self, topic: str) -> None:
        """Ask anew when it is next wanted."""
        self._known.pop(topic, None)

    def find(self, topic: str) -> int:
        """Known, or asked for; waits up to ``max_block_ms``, also for a topic that is being created."""
        found = self.known(topic)
        if found is None:
            backoff = Backoff(
                first_ms=self._config.retry_backoff_ms, most_ms=self._config.retry_backoff_max_ms
            )
            seconds = max(1, self._config.max_block_ms) / 1000
            found = retried(lambda left: self.ask(topic, left), seconds=seconds, backoff=backoff)
        return found

    def ask(self, topic: str, seconds: float) -> int:
        """Ask for it once, and know it from then on."""
        found = self._ask(topic, seconds)
        self._known[topic] = (found, time.monotonic() + self._config.metadata_max_age_ms / 1000)
        return found

    def _ask(self, topic: str, seconds: float) -> int:
        doing = f"find the partitions of {topic}"
        with translated(doing):
            answer = self._producer.list_topics(topic, seconds).topics[topic]
        if answer.error is not None:
            raise error_from(answer.error, doing=doing)
        if not answer.partitions:
            raise UnknownTopic(
                f"{topic} has no partitions", code="UNKNOWN_TOPIC_OR_PARTITION", is_retriable=True
            )
        return len(answer.partitions)
