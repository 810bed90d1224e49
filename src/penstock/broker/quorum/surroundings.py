"""What the quorum needs of a broker, and what it is told."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from penstock.broker.clock import Clock
from penstock.broker.entropy import Entropy
from penstock.broker.flusher import Flusher
from penstock.broker.peers.address import Address
from penstock.broker.quorum.asking_peers import AskingPeers
from penstock.broker.tasks import Tasks
from penstock.broker.workers import BlockingWorkers
from penstock.model.errors import StorageError
from penstock.model.ids import NodeId
from penstock.raft.replica import Endpoint
from penstock.raft.settings import RaftSettings
from penstock.storage.filesystem import FileSystem
from penstock.storage.log_directory import LogDirectory
from penstock.storage.tail_cache import TailCache

DEFAULT_SETTINGS = RaftSettings(election_timeout_ms=600, heartbeat_interval_ms=100)
SNAPSHOT_BYTES = 20 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumSurroundings:
    """What the quorum uses."""

    loop: asyncio.AbstractEventLoop
    clock: Clock
    entropy: Entropy
    filesystem: FileSystem
    workers: BlockingWorkers
    tasks: Tasks
    flusher: Flusher
    directory: LogDirectory
    tail_cache: TailCache | None
    peers: AskingPeers
    #: Makes durable where every log of the data directory begins and ends.
    checkpoint: Callable[[], Awaitable[None]]
    fail: Callable[[StorageError], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumOptions:
    """What a node of the quorum is told."""

    node_id: NodeId
    #: Whether a data directory that knows no quorum begins one, with this node as its only voter.
    founds: bool
    #: Where it listens, for the voters' record of a quorum that it begins.
    endpoints: tuple[Endpoint, ...] = ()
    #: Whom to ask who leads, when nobody is known.
    bootstrap: tuple[Address, ...] = ()
    settings: RaftSettings = DEFAULT_SETTINGS
    #: Bytes of entries after which a snapshot is taken.
    snapshot_bytes: int = SNAPSHOT_BYTES
