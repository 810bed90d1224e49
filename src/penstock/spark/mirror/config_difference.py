"""What to change in the settings of a copy, so that they are those of its original."""

from collections.abc import Mapping

_OWN = frozenset(
    {
        "min.insync.replicas",
        "unclean.leader.election.enable",
        "leader.replication.throttled.replicas",
        "follower.replication.throttled.replicas",
    }
)
"""About the brokers of one cluster, not about the topic."""

_TIMES = "message.timestamp."
"""Copies have the times of their originals, so brokers must neither set nor judge them."""


def is_carried(name: str) -> bool:
    """Whether a setting goes with a topic to another cluster."""
    return name not in _OWN and not name.startswith(_TIMES)


def carried(configs: Mapping[str, str]) -> dict[str, str]:
    """Those that go with a topic."""
    return {name: value for name, value in configs.items() if is_carried(name)}


def difference(source: Mapping[str, str], target: Mapping[str, str]) -> dict[str, str | None]:
    """New values for the target by name; None for what is to be its brokers' default again."""
    wanted, present = carried(source), carried(target)
    changes: dict[str, str | None] = {
        name: value for name, value in wanted.items() if present.get(name) != value
    }
    return changes | {name: None for name in present if name not in wanted}
