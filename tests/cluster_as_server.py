"""A whole cluster in the place of one broker, for tests that know of one only.

What a test does to its broker is done to one of the cluster's, a different one each time.
"""

from collections.abc import Mapping
from pathlib import Path

from tests.broker_process import Server
from tests.cluster_processes import ProcessCluster
from tests.cluster_size import NODE_COUNT


class ClusterAsServer(Server):
    """Looks like a broker, is several."""

    def __init__(self, directory: Path, *, settings: Mapping[str, object] | None = None) -> None:
        super().__init__(directory, settings=settings)
        self.cluster = ProcessCluster(directory, node_count=NODE_COUNT, settings=settings)
        self._blows = 0

    def start(self, *, seconds: float = 60.0) -> "ClusterAsServer":
        """Start all of it, or what is down of it."""
        if not self.cluster.servers:
            self.cluster.start()
        for server in self.cluster.servers:
            if not server.is_running:
                server.start(seconds=seconds)
        return self

    def kill(self) -> None:
        """Kill the next broker in turn."""
        self._victim().kill()

    def stop(self, *, seconds: float = 60.0) -> int:
        """Stop the next broker in turn."""
        return self._victim().stop(seconds=seconds)

    def close(self) -> None:
        """Leave no process behind."""
        self.cluster.close()

    def _victim(self) -> Server:
        running = self.cluster.running()
        self._blows += 1
        return running[self._blows % len(running)]

    @property
    def bootstrap(self) -> str:
        """All of their addresses."""
        return self.cluster.bootstrap

    @property
    def is_running(self) -> bool:
        """Whether nobody is missing."""
        return bool(self.cluster.servers) and all(server.is_running for server in self.cluster.servers)

    def stderr_text(self) -> str:
        """What all of them have logged."""
        return "".join(server.stderr_text() for server in self.cluster.servers)
