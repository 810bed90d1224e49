"""The consumer group that follows a streaming query, so that every tool of Kafka sees how far it is.

The group is named by ``groupId``. Without that every checkpoint has a group of its own: a name is made when
the query begins and remembered in the offsets of its checkpoint (``stream_offset``). What is committed is
what Spark has committed, never more; a group that cannot be reached is no reason for a query to fail. While
there is something to read the commit is under way beside the next micro-batch, which would wait for the
broker's disk otherwise.
"""

import logging
import secrets
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor

from penstock.model.ids import TopicPartition
from penstock.spark.offsets.stream_offset import StreamOffset
from penstock.spark.options.source_options import SourceOptions
from penstock.spark.reading.clusters import borrowed_cluster
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.errors import WireClientError
from penstock.wire_client.group_offsets import commit_offsets
from penstock.wire_client.known_coordinators import KnownCoordinators
from penstock.wire_client.patience import Patience

_PATIENCE = Patience(seconds_max=2.0)
_AFTER_FAILURE_SECONDS = 10.0
"""Until the group is tried again: a query must not wait for it at every micro-batch."""

_log = logging.getLogger(__name__)


def group_for(options: SourceOptions, remembered: str | None) -> str | None:
    """The group to remember in the checkpoint; none if it is named by an option, or not wanted."""
    if not options.commits_offsets or options.group_id is not None:
        return None
    return remembered or f"{options.group_id_prefix}-{secrets.token_hex(8)}"


class GroupCommits:
    """Commits for one query, one at a time; nothing is committed twice."""

    def __init__(self, options: SourceOptions) -> None:
        self._options = options
        self._committed: dict[TopicPartition, int] = {}
        self._not_before = 0.0
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="group-commits")
        self._under_way: Future[None] | None = None
        self._coordinators: KnownCoordinators | None = None

    def begin(self, start: StreamOffset) -> None:
        """Begin to tell the group that everything before ``start`` is done, unless it is being told already.

        Whoever is late is made up for by the next call.
        """
        if self._under_way is None or self._under_way.done():
            self.finish()
            self._under_way = self._executor.submit(self._report, start)

    def complete(self, start: StreamOffset) -> None:
        """Tell the group that everything before ``start`` is done, and wait until it knows."""
        self.finish()
        self._report(start)

    def finish(self) -> None:
        """Wait for what is under way."""
        if self._under_way is not None:
            self._under_way.result()
            self._under_way = None

    def _report(self, start: StreamOffset) -> None:
        group = self._options.group_id or start.group_id
        news = {
            partition: offset
            for partition, offset in start.offsets.items()
            if self._committed.get(partition) != offset
        }
        if not self._options.commits_offsets or group is None or not news:
            return
        if time.monotonic() >= self._not_before:
            self._commit(group, news)

    def _commit(self, group: str, news: Mapping[TopicPartition, int]) -> None:
        try:
            with borrowed_cluster(self._options.client) as cluster:
                commit_offsets(self._coordinators_of(cluster), group, news)
        except WireClientError as error:
            self._not_before = time.monotonic() + _AFTER_FAILURE_SECONDS
            _log.warning("The query goes on, but its lag cannot be seen in group %s: %s", group, error)
        else:
            self._committed |= news

    def _coordinators_of(self, cluster: Cluster) -> KnownCoordinators:
        """Those that were asked the last time, as long as the conversation is the same."""
        if self._coordinators is None or self._coordinators.cluster is not cluster:
            self._coordinators = KnownCoordinators(cluster, _PATIENCE)
        return self._coordinators
