"""Whether a broker is well: alive, and ready to be relied on.

Ready is a broker that the cluster has registered and let in, that a controller hears, and whose replicas are
in sync; so whoever restarts brokers one after the other may go on to the next when this one is ready. One
that is not ready may still lead partitions: do not keep clients from it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.metadata.image import ClusterImage
from penstock.model.ids import NodeId, TopicPartition

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

NAMED_MAX = 3
"""So many replicas are named that are not in sync; the rest is counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """As of one moment."""

    #: Why the broker is not ready; empty when it is.
    reasons: tuple[str, ...]

    @property
    def is_ready(self) -> bool:
        """Whether it can be relied on."""
        return not self.reasons


def health_of(broker: "Broker", *, is_stopping: bool) -> Health:
    """Look at everything that readiness asks."""
    if is_stopping:
        return Health(reasons=("The broker is stopping.",))
    if not broker.is_ready:
        return Health(reasons=("The broker is starting.",))
    return Health(reasons=tuple(_reasons(broker)))


def _reasons(broker: "Broker") -> Iterator[str]:
    membership = broker.membership
    if not membership.is_registered:
        yield "The broker is not registered with the cluster."
    elif broker.image.brokers[broker.node_id].is_fenced:
        yield "The cluster has fenced the broker."
    if not membership.is_heard:
        yield "No controller has answered a heartbeat for the time of a session."
    failed = [str(each) for each in broker.replicas.unavailable]
    changing = broker.replication.log_changes.failing
    failed += [
        str(each)
        for each in broker.replicas
        if each.failure is not None or each.log.is_offline or each in changing
    ]
    if failed:
        yield _sentence("cannot be served", failed, len(broker.replicas))
    late = [str(each) for each in _late(broker.image, broker.node_id)]
    if late:
        yield _sentence("are not in sync", late, len(broker.replicas))


def _late(image: ClusterImage, own: NodeId) -> Iterator[TopicPartition]:
    """Replicas that should be in sync and are not; those that are still being added need not be."""
    for topic in image.topics.values():
        for index, partition in enumerate(topic.partitions):
            is_here = own in partition.replicas and own not in partition.adding_replicas
            if is_here and own not in partition.isr:
                yield TopicPartition(topic.name, index)


def _sentence(what: str, names: list[str], count: int) -> str:
    more = f" and {len(names) - NAMED_MAX} more" if len(names) > NAMED_MAX else ""
    return f"{len(names)} of {count} replicas {what}: {', '.join(names[:NAMED_MAX])}{more}."
