"""What all groups of a shard share."""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from penstock.coordinator.deadlines import Deadlines
from penstock.groups.catalog import TopicCatalog
from penstock.groups.settings import GroupSettings
from penstock.groups.timers import GroupDeadline


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardContext:
    """The limits, the deadlines, the topics, and a source of ids that nobody else has."""

    settings: GroupSettings
    deadlines: Deadlines[GroupDeadline]
    catalog: TopicCatalog
    #: Sixteen bytes, never the same twice.
    new_uuid: Callable[[], bytes]

    def new_member_id(self, prefix: str) -> str:
        """An id for a member; people recognise the client or the instance by its beginning."""
        return f"{prefix}-{UUID(bytes=self.new_uuid())}"
