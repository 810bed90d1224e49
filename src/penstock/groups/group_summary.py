"""A group in a few words, for those who watch."""

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.model.ids import TopicPartition


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSummary:
    """Who it is, how many are in it, how far it is."""

    group_id: str
    #: As ListGroups shows it.
    state_name: str
    member_count: int
    #: The offsets it has committed.
    offsets: Mapping[TopicPartition, int]
