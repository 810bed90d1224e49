"""What all groups of a shard share."""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from penstock.coordinator.deadlines import Deadlines
from penstock.groups.catalog import TopicCatalog
from penstock.groups.settings import GroupSettings
from penstock.groups.timers import GroupDeadline
from penstock.model.limits import MEMBER_ID_PREFIX_LENGTH_MAX


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardContext:
    """The limits, the deadlines, the topics, and a source of ids that nobody else has."""

    settings: GroupSettings
    deadlines: Deadlines[GroupDeadline]
    catalog: TopicCatalog
    #: Sixteen bytes, never the same twice.
    new_uuid: Callable[[], bytes]

    def new_member_id(self, prefix: str) -> str:
        """An id for a member; people recognise the client or the instance by its beginning.

        A name may be as long as a string of the protocol can be; with more behind it, it could not be sent.
        """
        return f"{prefix[:MEMBER_ID_PREFIX_LENGTH_MAX]}-{UUID(bytes=self.new_uuid())}"
