"""The log of a broker process, besides standard error: files once it has its directory, the topic once ready.

Events are collected from the beginning and wait, in bounded queues, for whoever writes them.
"""

import logging
from typing import TYPE_CHECKING

from penstock.broker.clock import Clock
from penstock.broker.logging.collector import LogCollector
from penstock.broker.logging.file_writer import FileWriter
from penstock.broker.logging.log_files import LogFiles
from penstock.broker.logging.log_settings import LogSettings
from penstock.broker.logging.standard_error import ROOT

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

STOP_SECONDS_MAX = 2.0
FLUSH_SECONDS_MAX = 0.5


class ProcessLog:
    """Opened first and closed last."""

    def __init__(self, settings: LogSettings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._writer: FileWriter | None = None
        self.collector = LogCollector(clock, is_for_files=settings.has_files, is_for_topic=settings.has_topic)
        logging.getLogger(ROOT).addHandler(self.collector)

    def begin_files(self, node_id: int) -> None:
        """The directory is ours, and so are the files in it."""
        queue = self.collector.files
        if queue is None or self._writer is not None:
            return
        files = LogFiles(self._settings.directory, self._settings.limits, self._clock)
        self._writer = FileWriter(queue, files, node_id=node_id, on_tick=self.collector.tick)
        self._writer.start()

    def begin_feed(self, broker: "Broker") -> None:
        """The broker is ready: the cluster may know what it has to say."""
        if self.collector.topic is not None:
            # Imported behind everything that a start waits for.
            from penstock.broker.logging.topic_feed import TopicFeed

            feed = TopicFeed(broker, self.collector.topic, on_tick=self.collector.tick)
            broker.tasks.start(feed.run(), name="feed the log topic")

    def flush(self) -> None:
        """The process is about to end at once: have everything in the files, if the disk still writes."""
        if self._writer is not None:
            self._writer.flush(FLUSH_SECONDS_MAX)

    def close(self) -> None:
        """Write what is left, and listen no more."""
        logging.getLogger(ROOT).removeHandler(self.collector)
        if self._writer is not None:
            self._writer.stop(STOP_SECONDS_MAX)
        self.collector.close()
