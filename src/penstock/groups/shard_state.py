"""All that a shard knows: its groups by id, whatever their kind, and their offsets."""

from dataclasses import dataclass, field

from penstock.groups.context import ShardContext
from penstock.groups.group import Group
from penstock.groups.offsets import Offsets
from penstock.groups.topics import Topics


@dataclass(slots=True, kw_only=True)
class ShardState:
    """What the handlers of requests work on."""

    context: ShardContext
    groups: dict[str, Group] = field(default_factory=dict)
    offsets: Offsets = field(default_factory=Offsets)

    @property
    def topics(self) -> Topics:
        """The topics as the broker knows them at the moment."""
        return self.context.catalog.topics
