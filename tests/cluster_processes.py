"""Several real ``penstock serve`` processes as one cluster under a test's control."""

from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path

from confluent_kafka.admin import AdminClient, ClusterMetadata, NewTopic, PartitionMetadata
from tests.broker_process import Server, wait_until

from penstock.bench.connection import Connection, parse_address
from penstock.model.names import METADATA_TOPIC
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.describe_quorum import DescribeQuorumRequest, PartitionRequest, TopicRequest

ADMIN_SECONDS = 20.0
IN_SYNC_SECONDS = 60.0

REPLICATED: Mapping[str, object] = {"default.replication.factor": 3}
"""So that topics which say nothing of replicas have three."""

VOTERS = 3

Partition = tuple[str, int]


def voters(server: Server) -> list[int]:
    """Who decides on metadata, as a broker tells it."""
    asked = TopicRequest(topic_name=METADATA_TOPIC, partitions=(PartitionRequest(partition_index=0),))
    with Connection(parse_address(server.bootstrap)) as connection:
        (topic,) = connection.call(ApiKey.DESCRIBE_QUORUM, DescribeQuorumRequest(topics=(asked,))).topics
    return [voter.replica_id for voter in topic.partitions[0].current_voters]


class ProcessCluster:
    """The first node founds the cluster, the others join it; every node keeps its directory and its port."""

    def __init__(
        self,
        directory: Path,
        *,
        node_count: int = 3,
        settings: Mapping[str, object] | None = None,
        prepare: Callable[[Server, int], None] | None = None,
    ) -> None:
        self.directory = directory
        self.settings = {**REPLICATED, **(settings or {})}
        self.servers: list[Server] = []
        self._prepare = prepare
        self._first_node_count = node_count
        self._admin: AdminClient | None = None

    def start(self) -> "ProcessCluster":
        """Start all nodes, and wait until every one knows every other."""
        for _ in range(self._first_node_count):
            self.add_node()
        self.wait_members(self._first_node_count)
        if self._first_node_count >= VOTERS:
            # Before, whoever is killed may take the majority of the quorum along.
            wait_until(lambda: len(voters(self.servers[0])) == VOTERS, what="enough voters", seconds=30)
        return self

    def add_node(self) -> Server:
        """Start one more, on an empty directory."""
        number = len(self.servers) + 1
        server = Server(self.directory / f"node-{number}", settings=self.settings)
        if self._prepare is not None:
            self._prepare(server, number)
        server.join = ",".join(each.known_address for each in self.servers if each.is_running)
        self.servers.append(server)
        return server.start()

    def close(self) -> None:
        """Leave no process behind."""
        for server in self.servers:
            server.close()

    # Looking at it.

    @property
    def bootstrap(self) -> str:
        """``host:port`` of every node that was ever started, for clients."""
        return ",".join(server.known_address for server in self.servers if server.port)

    @property
    def admin(self) -> AdminClient:
        """One client for the test's own questions."""
        if self._admin is None:
            self._admin = AdminClient(
                {"bootstrap.servers": self.bootstrap, "log_level": 0, "reconnect.backoff.max.ms": 200}
            )
        return self._admin

    def metadata(self, topic: str | None = None) -> ClusterMetadata:
        """As some broker tells it."""
        return self.admin.list_topics(topic, timeout=ADMIN_SECONDS)

    def server_of(self, node_id: int) -> Server:
        """The process that is known to clients by this number."""
        known = self.metadata().brokers[node_id]
        wanted = f"{known.host}:{known.port}"
        return next(server for server in self.servers if server.known_address == wanted)

    def leader_of(self, topic: str, partition: int = 0) -> Server:
        """Who leads a partition now; waits until somebody does."""
        wait_until(
            lambda: self.partition(topic, partition).leader >= 0,
            what=f"a leader of {topic}-{partition}",
            seconds=30,
        )
        return self.server_of(self.partition(topic, partition).leader)

    def controller(self) -> Server:
        """Who decides on metadata now; waits until somebody does."""
        wait_until(lambda: self.metadata().controller_id >= 0, what="a controller", seconds=30)
        return self.server_of(self.metadata().controller_id)

    def partition(self, topic: str, partition: int) -> PartitionMetadata:
        """What clients are told of a partition."""
        return self.metadata(topic).topics[topic].partitions[partition]

    def partitions(self) -> Iterator[tuple[Partition, PartitionMetadata]]:
        """All of them."""
        for topic in self.metadata().topics.values():
            for number, partition in topic.partitions.items():
                yield (str(topic.topic), number), partition

    def running(self) -> list[Server]:
        """Nodes that are up."""
        return [server for server in self.servers if server.is_running]

    # Doing things to it.

    def create_topic(
        self, name: str, *, partitions: int = 1, replicas: int = 3, config: Mapping[str, str] | None = None
    ) -> str:
        """Create it, and wait until all replicas are in sync."""
        wanted = NewTopic(name, partitions, replicas, config={"retention.ms": "-1", **(config or {})})
        self.admin.create_topics([wanted])[name].result(ADMIN_SECONDS)
        self.wait_in_sync([name])
        return name

    def wait_members(self, count: int) -> None:
        """Until so many brokers are alive, as far as clients are told."""
        wait_until(
            lambda: len(self.metadata().brokers) == count,
            what=f"{count} live brokers",
            seconds=IN_SYNC_SECONDS,
        )

    def wait_in_sync(
        self, topics: Collection[str] | None = None, *, seconds: float = IN_SYNC_SECONDS
    ) -> None:
        """Until every replica of these topics, or of all, is in sync and somebody leads."""

        def out_of_sync() -> list[str]:
            return [
                f"{topic}-{number}: leader {found.leader}, {found.isrs} of {found.replicas}"
                for (topic, number), found in self.partitions()
                if (topics is None or topic in topics)
                and (found.leader < 0 or set(found.isrs) != set(found.replicas))
            ]

        def is_complete() -> bool:
            known = self.metadata().topics
            return all(topic in known for topic in topics or ()) and not out_of_sync()

        try:
            wait_until(is_complete, what="all replicas in sync", seconds=seconds, every_seconds=0.05)
        except AssertionError as error:
            raise AssertionError(f"{error}: {out_of_sync()[:5]}") from None

    def stop(self) -> None:
        """Stop all nodes in good order, one after the other."""
        for server in reversed(self.running()):
            assert server.stop() == 0
