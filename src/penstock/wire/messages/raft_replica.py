"""Replicas and voters, as the messages of consensus carry them."""

from penstock.wire.primitives import INT32, STRING, UINT16, UUID
from penstock.wire.schema import Struct, array, field


class ReplicaKey(Struct):
    """A node and its disk; node -1 for nobody."""

    node_id: int = field(INT32, default=-1)
    directory_id: bytes = field(UUID)


class VoterEndpoint(Struct):
    """An address a voter listens on for the others."""

    name: str = field(STRING)
    host: str = field(STRING)
    port: int = field(UINT16)


class Voter(Struct):
    """A replica with a vote."""

    node_id: int = field(INT32)
    directory_id: bytes = field(UUID)
    endpoints: tuple[VoterEndpoint, ...] = array(VoterEndpoint)
