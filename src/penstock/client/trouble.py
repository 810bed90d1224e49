"""What librdkafka says about its connections unasked: logged, and remembered for errors that follow."""

import logging
from typing import Any

from confluent_kafka import KafkaError

from penstock.client.error_mapping import error_from
from penstock.client.errors import PenstockClientError

logger = logging.getLogger("penstock.client")

_HOPELESS = frozenset({KafkaError._AUTHENTICATION, KafkaError._SSL, KafkaError._FATAL, KafkaError._FENCED})
_THROWN_AWAY = frozenset({KafkaError._PURGE_QUEUE, KafkaError._PURGE_INFLIGHT})


class Trouble:
    """The newest trouble, and the newest that no retry will mend."""

    def __init__(self) -> None:
        self.latest = ""
        self.fatal: Any = None
        """librdkafka's error that has ended the client, if one has."""
        self._hopeless: PenstockClientError | None = None

    def settings(self) -> dict[str, Any]:
        """What makes librdkafka tell us."""
        return {"error_cb": self.note, "logger": logger}

    def note(self, error: Any) -> None:
        """Called by librdkafka, in whichever thread polls."""
        self.latest = str(error.str())
        logger.debug("trouble with brokers: %s", self.latest)
        if error.fatal():
            self.fatal = error
        if error.code() in _HOPELESS or error.fatal():
            self._hopeless = error_from(error, doing="go on")

    def reason_for(self, error: Any) -> Any:
        """Why a record failed: one that was only thrown away failed for what has ended the client."""
        return self.fatal if self.fatal is not None and error.code() in _THROWN_AWAY else error

    def raise_hopeless(self) -> None:
        """Raise what cannot be mended by waiting, once."""
        if self._hopeless is not None:
            error, self._hopeless = self._hopeless, None
            raise error

    def explain(self, text: str) -> str:
        """A sentence about waiting in vain, with the likely reason."""
        return f"{text} (last trouble: {self.latest})" if self.latest else text
