"""What an assignor is told, and what it answers. Assignors are pure: the same question, the same answer.

An assignor spreads the partitions of topics over the members that want to read them, so that every partition
of a topic somebody wants has exactly one member. It is *sticky*: what a member had it keeps, as far as the
spread allows, since every partition that moves is work that stops for a while.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from penstock.groups.partitions import NO_PARTITIONS, Partitions
from penstock.model.ids import TopicId


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberSpec:
    """One member."""

    #: What it wants to read; topics that do not exist are not among them.
    topics: frozenset[TopicId]
    #: What it had before.
    previous: Partitions = NO_PARTITIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSpec:
    """All members, and how many partitions each topic has."""

    members: Mapping[str, MemberSpec]
    partition_counts: Mapping[TopicId, int] = field(default_factory=dict)

    @property
    def is_homogeneous(self) -> bool:
        """Whether all members want the same."""
        specs = iter(self.members.values())
        first = next(specs, None)
        return first is None or all(each.topics == first.topics for each in specs)


Assignor: TypeAlias = Callable[[GroupSpec], dict[str, Partitions]]
"""Answers with what each member is to have."""
