"""Whose settings a command is about: ``topic orders``, ``broker 1``, ``cluster``, ``client-metrics slow``."""

from enum import StrEnum
from typing import TYPE_CHECKING

from penstock.cli.failure import CommandFailed
from penstock.metadata.resources import ALL_BROKERS, ConfigResource, ResourceType
from penstock.model.errors import UsageError

if TYPE_CHECKING:
    from penstock.wire_client.cluster import Cluster


class Kind(StrEnum):
    """What has settings."""

    TOPIC = "topic"
    BROKER = "broker"
    CLUSTER = "cluster"
    CLIENT_METRICS = "client-metrics"


_TYPES = {
    Kind.TOPIC: ResourceType.TOPIC,
    Kind.BROKER: ResourceType.BROKER,
    Kind.CLIENT_METRICS: ResourceType.CLIENT_METRICS,
}


def resource_of(kind: Kind, name: str | None) -> ConfigResource:
    """The resource that ``kind`` and ``name`` mean."""
    if kind is Kind.CLUSTER:
        if name is not None:
            raise UsageError(f"The cluster has no name; leave out {name!r}.")
        return ALL_BROKERS
    if name is None:
        raise UsageError(f"Say which {kind.value}: penstock config ... {kind.value} NAME.")
    if kind is Kind.BROKER and not name.isdecimal():
        raise UsageError(f"Brokers have numbers, {name!r} is none; see `penstock broker list`.")
    return ConfigResource(_TYPES[kind], name)


def split_words(kind: Kind, words: list[str]) -> tuple[ConfigResource, list[str]]:
    """The resource, and the words that follow its name; the cluster has none."""
    if kind is Kind.CLUSTER:
        return resource_of(kind, None), words
    return resource_of(kind, words[0]), words[1:]


def require_known(cluster: "Cluster", resource: ConfigResource) -> None:
    """Fail unless the broker that is asked for its own settings is there; others are known to any broker."""
    if resource.type is not ResourceType.BROKER or resource == ALL_BROKERS:
        return
    if int(resource.name) not in cluster.nodes:
        raise CommandFailed(
            f"There is no broker {resource.name} at present.",
            hint="See what there is with `penstock broker list`.",
        )


def resource_text(resource: ConfigResource) -> str:
    """As people call it."""
    if resource == ALL_BROKERS:
        return "cluster"
    return f"{resource.type.name.lower().replace('_', '-')} {resource.name}"
