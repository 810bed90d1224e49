"""Who takes part: a node together with the disk it remembers with.

A vote is a promise kept on a disk. A node that lost its disk remembers no promise, so it must not pass for
the one that made it: it comes back under another directory id, as somebody new who has no vote (KIP-853).
"""

from dataclasses import dataclass
from typing import NamedTuple

from penstock.model.ids import NodeId, uuid_to_text

DIRECTORY_ID_BYTES = 16


class ReplicaKey(NamedTuple):
    """A node and its disk. Sorts by node id."""

    node_id: NodeId
    #: 16 bytes, made when the data directory was.
    directory_id: bytes

    def __str__(self) -> str:
        return f"{self.node_id}({uuid_to_text(self.directory_id)[:4]})"


NOBODY = ReplicaKey(NodeId(-1), bytes(DIRECTORY_ID_BYTES))
"""No replica that exists. As the target of a question: whoever can be reached. As a vote in a hard state that
was read from a damaged file: somebody got it, nobody knows who, so nobody else may have it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An address a voter listens on for the others; carried along, never looked at by the machine."""

    name: str
    host: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Voter:
    """A replica with a vote, and where it can be reached."""

    key: ReplicaKey
    endpoints: tuple[Endpoint, ...] = ()
