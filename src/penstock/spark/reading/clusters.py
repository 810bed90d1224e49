"""Conversations with clusters, kept from task to task: a worker process of Spark runs many of them.

Whoever borrows one has it alone. It goes back with what it has learned of the cluster; where a task failed,
or was not read to its end, answers may still be on their way, so those connections are closed.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from penstock.spark.options.client_settings import ClientSettings
from penstock.wire_client.cluster import Cluster

_KEPT_MAX = 4
"""For the same settings: a process seldom runs more than one task at a time."""

_kept: dict[tuple[int, ClientSettings], list[Cluster]] = {}
"""By process, since a forked child must not speak on its parent's sockets."""


@contextmanager
def borrowed_cluster(settings: ClientSettings) -> Iterator[Cluster]:
    """A conversation for as long as the block takes."""
    kept = _kept.setdefault((os.getpid(), settings), [])
    try:
        cluster = kept.pop()
    except IndexError:
        cluster = settings.connect()
    try:
        yield cluster
    finally:
        cluster.hang_up_where_owed()
        if len(kept) < _KEPT_MAX:
            kept.append(cluster)
        else:
            cluster.close()


def close_kept_clusters() -> None:
    """Hang up on all brokers that nobody talks to at present."""
    for kept in _kept.values():
        while kept:
            kept.pop().close()
