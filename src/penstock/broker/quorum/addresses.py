"""Where the nodes of the quorum can be reached.

A node that asks for something tells where it listens, since nobody may know it yet, or know better than what
was registered. That counts until it registers anew; then the image; then what the voters' record says; then
what others say who were asked for the leader. Who knows nobody asks those it was told to begin with.
"""

from itertools import cycle

from penstock.broker.peers.address import Address
from penstock.metadata.image import ClusterImage
from penstock.model.ids import NodeId
from penstock.raft.replica import ReplicaKey
from penstock.raft.voters import NO_VOTERS, VoterSet


class Addresses:
    """What one node knows of the others' addresses."""

    def __init__(self, bootstrap: tuple[Address, ...] = ()) -> None:
        #: As of the latest image and the set of voters in force.
        self.image = ClusterImage()
        self.voters: VoterSet = NO_VOTERS
        #: Where this node itself listens, to be told to others.
        self.own: Address | None = None
        self._told: dict[NodeId, Address] = {}
        self._rumoured: dict[NodeId, Address] = {}
        #: Of directories whose node ids others have now: of each id the one that spoke last.
        self._replaced: dict[NodeId, tuple[ReplicaKey, Address]] = {}
        self._bootstrap = bootstrap
        self._next_bootstrap = cycle(bootstrap)

    def address_of(self, node_id: NodeId) -> Address | None:
        """Where that node listens, as far as this one knows."""
        told = self._told.get(node_id)
        if told is not None:
            return told
        broker = self.image.brokers.get(node_id)
        if broker is not None and broker.endpoints:
            return Address(broker.endpoints[0].host, broker.endpoints[0].port)
        voter = self.voters.of_node(node_id)
        if voter is not None and voter.endpoints:
            return Address(voter.endpoints[0].host, voter.endpoints[0].port)
        return self._rumoured.get(node_id)

    def address_of_anybody(self) -> Address | None:
        """Somebody to ask who leads; another one each time."""
        return next(self._next_bootstrap) if self._bootstrap else None

    def address_of_replaced(self, key: ReplicaKey) -> Address | None:
        """Where a directory listens whose node id another one has now; None of any other."""
        known, address = self._replaced.get(key.node_id, (None, None))
        return address if known == key else None

    def note(self, key: ReplicaKey, address: Address) -> None:
        """A node said where it listens."""
        if self._is_replaced(key):
            self._replaced[key.node_id] = (key, address)
        else:
            self._told[key.node_id] = address

    def note_rumour(self, node_id: NodeId, address: Address) -> None:
        """A node said where another one listens."""
        self._rumoured[node_id] = address

    def follow(self, before: ClusterImage, image: ClusterImage) -> None:
        """Believe registrations that are newer than what was said."""
        self.image = image
        if image.brokers is before.brokers:
            return
        for node_id in list(self._told):
            known, now = before.brokers.get(node_id), image.brokers.get(node_id)
            if now is not None and (known is None or known.epoch != now.epoch) and now.endpoints:
                del self._told[node_id]
        self._replaced = {id: each for id, each in self._replaced.items() if self._is_replaced(each[0])}

    def _is_replaced(self, key: ReplicaKey) -> bool:
        """Whether another directory has its node id now; a voter is one whatever is registered."""
        broker = self.image.brokers.get(key.node_id)
        is_other = (
            broker is not None and bool(broker.directories) and key.directory_id not in broker.directories
        )
        return is_other and key not in self.voters
