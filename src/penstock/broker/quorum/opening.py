"""Opening the quorum of a node on its data directory."""

from penstock.broker.quorum.metadata_log import METADATA_SPEC
from penstock.broker.quorum.quorum import Quorum
from penstock.broker.quorum.restoring import Restoring
from penstock.broker.quorum.surroundings import QuorumOptions, QuorumSurroundings
from penstock.raft.replica import ReplicaKey, Voter


async def open_quorum(options: QuorumOptions, around: QuorumSurroundings) -> Quorum:
    """Open the metadata log, put the disk in order, and build the node; ``Quorum.start`` follows."""
    directory = around.directory
    load = directory.begin_create([METADATA_SPEC], tail_cache=around.tail_cache, now=around.clock.wall_ms())
    await around.workers.call(load.run)
    (log,) = directory.finish_load(load)
    key = ReplicaKey(options.node_id, directory.meta.directory_id)
    founder = Voter(key=key, endpoints=options.endpoints) if options.founds else None
    restoring = Restoring(around.filesystem, directory, log, founder=founder, key=key)
    return Quorum(key, await around.workers.call(restoring.run), options, around)
