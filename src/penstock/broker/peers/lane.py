"""Which connections a question takes, so that one kind does not wait behind another."""

from enum import StrEnum

from penstock.model.limits import PEER_CONNECTIONS_PER_LANE_MAX, PIPELINED_REQUESTS_PER_CONNECTION_MAX


class Lane(StrEnum):
    """A purpose with connections of its own.

    A broker serves one request of a connection at a time, those of Raft excepted. So only the quorum's lane
    sends questions after one another without waiting; the others use as many connections as they may.
    """

    QUORUM = "quorum"
    FETCH = "fetch"
    CONTROL = "control"
    TRANSACTIONS = "transactions"
    #: One connection, used for nothing else: when it ends, so has the broker at its other end, or the way.
    HEARTBEAT = "heartbeat"

    @property
    def connections_max(self) -> int:
        """How many connections of this lane one peer gets."""
        return PEER_CONNECTIONS_PER_LANE_MAX if self in (Lane.CONTROL, Lane.TRANSACTIONS) else 1

    @property
    def questions_max(self) -> int:
        """How many questions may be on their way on one connection."""
        return PIPELINED_REQUESTS_PER_CONNECTION_MAX if self is Lane.QUORUM else 1
