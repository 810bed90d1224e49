"""Who is in a classic group: its members in the order they came, and ids given out to members to come.

Counts are kept beside the members (who waits to join, who supports which protocol), since they are asked
for at every JoinGroup and a group may have thousands of members. ``validate`` recounts them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from penstock.groups.member import Member, Parked, Protocols
from penstock.model.errors import InvariantError


class Membership:
    """The members of one group."""

    __slots__ = ("_joined_count", "_members", "_pending", "_static_ids", "_supporters")

    def __init__(self) -> None:
        self._members: dict[str, Member] = {}
        #: The member id that holds each group instance id.
        self._static_ids: dict[str, str] = {}
        #: Ids given out by MEMBER_ID_REQUIRED and not used yet, in the order they were given.
        self._pending: dict[str, None] = {}
        #: How many members support a protocol.
        self._supporters: Counter[str] = Counter()
        #: How many members have a JoinGroup waiting.
        self._joined_count = 0

    def __len__(self) -> int:
        return len(self._members)

    def __iter__(self) -> Iterator[Member]:
        return iter(self._members.values())

    def __contains__(self, member_id: str) -> bool:
        return member_id in self._members

    def __getitem__(self, member_id: str) -> Member:
        return self._members[member_id]

    @property
    def joined_count(self) -> int:
        """How many have a JoinGroup waiting."""
        return self._joined_count

    @property
    def pending_count(self) -> int:
        """How many ids were given out and not used yet."""
        return len(self._pending)

    @property
    def pending(self) -> tuple[str, ...]:
        """Ids given out and not used yet."""
        return tuple(self._pending)

    @property
    def have_all_joined(self) -> bool:
        """Whether nobody is missing in the join phase, nor anybody expected who has been given an id."""
        return self._joined_count == len(self._members) and not self._pending

    @property
    def rebalance_timeout_ms(self) -> int:
        """The longest that any member wants to be waited for."""
        return max((member.rebalance_timeout_ms for member in self), default=0)

    def get(self, member_id: str) -> Member | None:
        """The member of that id."""
        return self._members.get(member_id)

    def static_id(self, group_instance_id: str | None) -> str | None:
        """The member id that holds a group instance id."""
        return None if group_instance_id is None else self._static_ids.get(group_instance_id)

    def first_joined(self) -> Member | None:
        """The longest-standing member that has joined the round."""
        return next((member for member in self if member.parked_join is not None), None)

    def add_pending(self, member_id: str) -> None:
        """Remember an id that was given out."""
        self._pending[member_id] = None

    def remove_pending(self, member_id: str) -> None:
        """Forget an id that was given out."""
        self._pending.pop(member_id, None)

    def is_pending(self, member_id: str) -> bool:
        """Whether this id was given out and not used yet."""
        return member_id in self._pending

    def add(self, member: Member) -> None:
        """Take a member in."""
        if member.member_id in self._members or member.group_instance_id in self._static_ids:
            raise InvariantError(f"member {member.member_id!r} is in the group already")
        self._pending.pop(member.member_id, None)
        self._members[member.member_id] = member
        if member.group_instance_id is not None:
            self._static_ids[member.group_instance_id] = member.member_id
        self._count_support(member, 1)
        self._joined_count += member.parked_join is not None

    def remove(self, member_id: str) -> Member:
        """Let a member go."""
        member = self._members.pop(member_id)
        if member.group_instance_id is not None:
            del self._static_ids[member.group_instance_id]
        self._count_support(member, -1)
        self._joined_count -= member.parked_join is not None
        return member

    def change_protocols(self, member: Member, protocols: Protocols) -> None:
        """Let a member support other protocols."""
        self._count_support(member, -1)
        member.protocols = protocols
        self._count_support(member, 1)

    def park_join(self, member: Member, parked: Parked) -> None:
        """Let a member's JoinGroup wait; the one that waited before, if any, must have been answered."""
        self._joined_count += member.parked_join is None
        member.parked_join = parked

    def unpark_join(self, member: Member) -> Parked | None:
        """Take a member's waiting JoinGroup, if there is one, to answer it."""
        parked, member.parked_join = member.parked_join, None
        self._joined_count -= parked is not None
        return parked

    def do_all_support_one_of(self, names: Iterable[str], *, besides: str | None) -> bool:
        """Whether every member supports some protocol of ``names``, not counting one who may change."""
        changing = self._members.get(besides) if besides is not None else None
        own = set(changing.protocol_names()) if changing is not None else frozenset()
        others_count = len(self._members) - (changing is not None)
        return any(self._supporters[name] - (name in own) == others_count for name in names)

    def choose_protocol(self) -> str:
        """What most members like best of what all support; on a tie, what was voted for first."""
        candidates = {name for name, count in self._supporters.items() if count == len(self._members)}
        votes = Counter(member.vote(candidates) for member in self)
        return max(votes, key=lambda name: votes[name])

    def validate(self) -> None:
        """Raise ``InvariantError`` unless the counts are what counting says."""
        static = {m.group_instance_id: m.member_id for m in self if m.group_instance_id is not None}
        supporters = Counter(name for member in self for name in set(member.protocol_names()))
        joined = sum(member.parked_join is not None for member in self)
        checks = {
            "static members": static == self._static_ids,
            "supporters": self._supporters == supporters,
            "joined members": joined == self._joined_count,
            "pending members": not self._pending.keys() & self._members.keys(),
        }
        for what, holds in checks.items():
            if not holds:
                raise InvariantError(f"the count of {what} is wrong among {list(self._members)}")

    def _count_support(self, member: Member, by: int) -> None:
        for name in set(member.protocol_names()):
            self._supporters[name] += by
            if not self._supporters[name]:
                del self._supporters[name]
