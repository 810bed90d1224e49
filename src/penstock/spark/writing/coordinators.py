"""Conversations with coordinators, kept from batch to batch with what was learned about who they are."""

from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakKeyDictionary

from penstock.spark.options.sink_options import SinkOptions
from penstock.spark.reading.clusters import borrowed_cluster
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.known_coordinators import KnownCoordinators
from penstock.wire_client.patience import Patience

_known: WeakKeyDictionary[Cluster, KnownCoordinators] = WeakKeyDictionary()
"""For as long as the conversation is kept."""


@contextmanager
def coordinators_for(options: SinkOptions) -> Iterator[KnownCoordinators]:
    """The coordinators of the cluster that the options name, for as long as the block takes."""
    with borrowed_cluster(options.client) as cluster:
        known = _known.get(cluster)
        if known is None:
            known = _known[cluster] = KnownCoordinators(cluster)
        known.patience = Patience(seconds_max=options.coordinator_timeout_ms / 1000)
        yield known
