"""The cluster as the parts of a gateway see it: one administrator, one producer, and lent connections.

Nothing is connected to before it is needed, so that a gateway starts without a cluster, and says so when it
is asked for something.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from penstock.client import Admin, Consumer, IsolationLevel, Producer
from penstock.gateway.kafka.known_topics import KnownTopics
from penstock.gateway.kafka.lent_cluster import CLIENT_ID, LentCluster
from penstock.gateway.kafka.pool import Pool
from penstock.gateway.settings import PORT_MAX, GatewaySettings
from penstock.model.errors import UsageError
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.connection import Address, Connection

REQUEST_TIMEOUT_MS = 15_000
LINGER_MS = 1
"""Whoever sends one record waits for it; whoever sends many at once has them batched in less."""

CLUSTERS_MAX = 16
PREFETCH_RECORDS = 2_000
PREFETCH_BYTES = 4 * 1024 * 1024
FETCH_MAX_BYTES = 1024 * 1024
"""Of one partition in one answer: a topic's size never decides how much a gateway holds."""


class KafkaAccess:
    """The clients of one gateway; any thread may use it."""

    def __init__(self, settings: GatewaySettings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._admin: Admin | None = None
        self._producer: Producer | None = None
        self._clusters = Pool(
            self._new_lent_cluster, count_max=CLUSTERS_MAX, name="connections to the cluster"
        )
        self.topics = KnownTopics(self)

    @property
    def admin(self) -> Admin:
        """The administrator that all parts share."""
        with self._lock:
            if self._admin is None:
                self._admin = Admin(
                    bootstrap_servers=self._settings.bootstrap_servers,
                    client_id=CLIENT_ID,
                    request_timeout_ms=REQUEST_TIMEOUT_MS,
                    kafka=self._settings.kafka,
                )
            return self._admin

    @property
    def producer(self) -> Producer:
        """The idempotent producer (acks=all) that all parts share; it takes keys and values as bytes."""
        with self._lock:
            if self._producer is None:
                self._producer = Producer(
                    bootstrap_servers=self._settings.bootstrap_servers,
                    client_id=CLIENT_ID,
                    enable_idempotence=True,
                    delivery_timeout_ms=REQUEST_TIMEOUT_MS,
                    linger_ms=LINGER_MS,
                    kafka=self._settings.kafka,
                )
            return self._producer

    @contextmanager
    def cluster(self) -> Iterator[Cluster]:
        """Connections of our own, for what librdkafka cannot ask: ``with kafka.cluster() as cluster``."""
        with self._clusters.lend() as lent:
            lent.drop_broken()
            yield lent.cluster
            lent.cluster.hang_up_where_owed()

    def new_cluster(self) -> Cluster:
        """Connections for whoever asks for long, such as a stream; the caller closes and bounds them."""
        return Cluster.connect(
            bootstrap_addresses(self._settings.bootstrap_servers),
            connect=partial(Connection, client_id=CLIENT_ID),
        )

    def new_consumer(self, isolation_level: IsolationLevel = IsolationLevel.READ_COMMITTED) -> Consumer:
        """A consumer for whoever reads for long, such as a stream; the caller closes it, and bounds them."""
        return Consumer(
            bootstrap_servers=self._settings.bootstrap_servers,
            client_id=CLIENT_ID,
            request_timeout_ms=REQUEST_TIMEOUT_MS,
            isolation_level=isolation_level,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            prefetch_records=PREFETCH_RECORDS,
            prefetch_bytes=PREFETCH_BYTES,
            kafka={"max.partition.fetch.bytes": FETCH_MAX_BYTES} | dict(self._settings.kafka),
        )

    def close(self) -> None:
        """Let go of all clients; what the producer holds is sent first."""
        self._clusters.close()
        with self._lock:
            producer, self._producer = self._producer, None
            admin, self._admin = self._admin, None
        if producer is not None:
            producer.close()
        if admin is not None:
            admin.close()

    def _new_lent_cluster(self) -> LentCluster:
        return LentCluster(bootstrap_addresses(self._settings.bootstrap_servers))


def bootstrap_addresses(text: str) -> list[Address]:
    """The hosts and ports of a list of brokers, in their order."""
    return [_address(part.strip()) for part in text.split(",")]


def _address(text: str) -> Address:
    host, separator, port = text.rpartition(":")
    if not separator or not host or not port.isdecimal() or not 0 < int(port) <= PORT_MAX:
        raise UsageError(f"The address {text!r} is not of the form HOST:PORT.")
    return Address(host.strip("[]"), int(port))
