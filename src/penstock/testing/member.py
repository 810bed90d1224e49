"""What a broker has from the cluster that it belongs to."""

from dataclasses import dataclass, field

from penstock.testing.faults import Faults
from penstock.testing.links import Network
from penstock.testing.request_log import RequestLog


@dataclass(slots=True, kw_only=True)
class Member:
    """A broker's place in its cluster; by default that of one alone."""

    node_id: int = 1
    network: Network = field(default_factory=Network)
    #: Those that strike requests to whichever broker.
    faults: Faults = field(default_factory=Faults)
    #: What clients have asked whichever broker.
    requests: RequestLog = field(default_factory=RequestLog)
    #: The port it has had before; 0 takes a free one.
    port: int = 0
    #: Where the cluster is found; empty for its founder, until there are others.
    join: str = ""
