"""Conversations with the brokers that a sink writes to, kept from batch to batch with what was learned.

A cluster that cannot be reached at all is waited for, as everything else is that passes by itself: a broker
that is being restarted is no reason to fail a query.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from weakref import WeakKeyDictionary

from penstock.spark.options.sink_options import SinkOptions
from penstock.spark.reading.clusters import borrowed_cluster
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.known_coordinators import KnownCoordinators
from penstock.wire_client.patience import Patience, ask_again

_known: WeakKeyDictionary[Cluster, KnownCoordinators] = WeakKeyDictionary()
"""For as long as a conversation is kept."""


def patience_of(options: SinkOptions) -> Patience:
    """How long to wait for anything but deliveries."""
    return Patience(seconds_max=options.coordinator_timeout_ms / 1000)


@contextmanager
def cluster_for(options: SinkOptions, patience: Patience | None = None) -> Iterator[Cluster]:
    """The cluster that the options name, for as long as the block takes."""
    with ExitStack() as stack:
        yield ask_again(
            lambda: stack.enter_context(borrowed_cluster(options.client)),
            is_passing=lambda _: False,
            patience=patience or patience_of(options),
        )


@contextmanager
def coordinators_for(options: SinkOptions, patience: Patience | None = None) -> Iterator[KnownCoordinators]:
    """The coordinators of that cluster."""
    with cluster_for(options, patience) as cluster:
        known = _known.get(cluster)
        if known is None:
            known = _known[cluster] = KnownCoordinators(cluster)
        known.patience = patience or patience_of(options)
        yield known
