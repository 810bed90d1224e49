"""Which connections a question takes, so that one kind does not wait behind another."""

from enum import StrEnum

from penstock.model.limits import (
    FETCHES_PER_CONNECTION_MAX,
    PEER_CONNECTIONS_PER_LANE_MAX,
    PIPELINED_REQUESTS_PER_CONNECTION_MAX,
)


class Lane(StrEnum):
    """A purpose with connections of its own.

    A broker serves one request of a connection at a time, those of Raft excepted. So only the quorum's lane
    sends questions after one another without waiting; the others use as many connections as they may. A fetch
    may be followed by one more: the broker at the other end then answers the first without waiting for news.
    """

    QUORUM = "quorum"
    FETCH = "fetch"
    CONTROL = "control"
    TRANSACTIONS = "transactions"
    #: One connection, used for nothing else: when it ends, so has the broker at its other end, or the way.
    HEARTBEAT = "heartbeat"

    #: So that entries of the log wait for nobody, and nobody for them.
    LOGS = "logs"

    @property
    def connections_max(self) -> int:
        """How many connections of this lane one peer gets."""
        return PEER_CONNECTIONS_PER_LANE_MAX if self in (Lane.CONTROL, Lane.TRANSACTIONS) else 1

    @property
    def questions_max(self) -> int:
        """How many questions may be on their way on one connection."""
        if self is Lane.QUORUM:
            return PIPELINED_REQUESTS_PER_CONNECTION_MAX
        return FETCHES_PER_CONNECTION_MAX if self is Lane.FETCH else 1
