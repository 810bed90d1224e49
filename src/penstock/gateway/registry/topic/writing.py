"""Writing ``_schemas``: all records of a decision in one transaction, by whoever owns the transactional id.

Owning it is what elects a writer among gateways. Whoever takes it fences the one before and ends what that
one left open, so between taking it and a commit that succeeds nobody else has committed anything.
"""

import secrets
from collections.abc import Iterator, Sequence

from penstock.gateway.registry.topic.reading import PARTITION, TOPIC, WRITE_ID_HEADER, look_up
from penstock.gateway.registry.topic.records import TopicRecord
from penstock.model.errors import OperatingError
from penstock.records.builder import build_batch
from penstock.records.record import NewRecord
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.configs import describe_config, topic_resource
from penstock.wire_client.delivery.batch import Batch
from penstock.wire_client.delivery.delivery import Delivery
from penstock.wire_client.delivery.settings import DeliverySettings
from penstock.wire_client.known_coordinators import KnownCoordinators
from penstock.wire_client.patience import Patience
from penstock.wire_client.topic_creation import ensure_topic
from penstock.wire_client.transactions import Transaction, add_partitions, commit, own

TRANSACTIONAL_ID = "penstock-schema-registry"
TRANSACTION_TIMEOUT_MS = 30_000
PATIENCE_SECONDS_MAX = 10.0
WRITE_ID_BYTES = 16
BATCH_BYTES_MAX = 256 * 1024
TOPIC_CONFIGS = {"cleanup.policy": "compact"}


class UnfitTopicError(OperatingError):
    """The topic is not one that a registry may be kept in."""


class TopicWriter:
    """Writes as the owner of the transactional id, over connections of its own; for one thread."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._coordinators = KnownCoordinators(cluster, Patience(seconds_max=PATIENCE_SECONDS_MAX))
        self._transaction: Transaction | None = None
        self._sequence = 0
        self._is_topic_checked = False

    @property
    def is_owner(self) -> bool:
        """Whether it has taken the transactional id; somebody else may have taken it since."""
        return self._transaction is not None

    def take(self) -> None:
        """Become the one who writes to the topic, which is made if there is none."""
        self._cluster.hang_up_where_owed()
        if not self._is_topic_checked:
            patience = Patience(seconds_max=PATIENCE_SECONDS_MAX)
            ensure_topic(self._cluster, TOPIC, configs=TOPIC_CONFIGS, patience=patience)
            self._check_topic()
            self._is_topic_checked = True
        self._transaction = own(self._coordinators, TRANSACTIONAL_ID, timeout_ms=TRANSACTION_TIMEOUT_MS)
        self._sequence = 0

    def let_go(self) -> None:
        """No longer believe to be the owner, after an error: only the topic tells what became of a write."""
        self._transaction = None

    def write(self, records: Sequence[TopicRecord], write_id: bytes, *, timestamp_ms: int) -> None:
        """All records or none. An error leaves open which."""
        assert self._transaction is not None
        add_partitions(self._coordinators, self._transaction, [PARTITION])
        delivery = Delivery(
            self._cluster,
            DeliverySettings(
                transactional_id=TRANSACTIONAL_ID, delivery_timeout_ms=int(PATIENCE_SECONDS_MAX * 1000)
            ),
        )
        for batch in self._batches(self._transaction, records, write_id, timestamp_ms=timestamp_ms):
            delivery.send(batch)
        delivery.flush()
        commit(self._coordinators, self._transaction)

    def _batches(
        self, transaction: Transaction, records: Sequence[TopicRecord], write_id: bytes, *, timestamp_ms: int
    ) -> Iterator[Batch]:
        for group in _groups(records, write_id, timestamp_ms):
            data = build_batch(
                group,
                producer_id=transaction.producer.producer_id,
                producer_epoch=transaction.producer.producer_epoch,
                base_sequence=self._sequence,
                transactional=True,
            )
            self._sequence += len(group)
            yield Batch(partition=PARTITION, data=bytes(data), record_count=len(group))

    def _check_topic(self) -> None:
        """What others made under that name may lose schemas, or put them out of order."""
        sight = look_up(self._cluster)
        if sight is not None and sight.partition_count != 1:
            raise UnfitTopicError(
                f"Topic {TOPIC!r} has {sight.partition_count} partitions, and a registry needs exactly 1: "
                "its records must stay in order."
            )
        settings = {each.name: each.value for each in describe_config(self._cluster, topic_resource(TOPIC))}
        policy = settings.get("cleanup.policy") or ""
        if "delete" in policy:
            raise UnfitTopicError(
                f"Topic {TOPIC!r} has cleanup.policy={policy}, which deletes old schemas; run "
                f"'penstock topic alter {TOPIC} --config cleanup.policy=compact'."
            )


def _groups(records: Sequence[TopicRecord], write_id: bytes, timestamp_ms: int) -> Iterator[list[NewRecord]]:
    """Few batches, none of them near what topics take at most, unless one schema alone is."""
    group: list[NewRecord] = []
    size = 0
    for record in records:
        key, value = record.encoded_key(), record.encoded_value()
        record_bytes = len(key) + len(value or b"")
        if group and size + record_bytes > BATCH_BYTES_MAX:
            yield group
            group, size = [], 0
        headers = ((WRITE_ID_HEADER, write_id),)
        group.append(NewRecord(key=key, value=value, headers=headers, timestamp=timestamp_ms))
        size += record_bytes
    yield group


def new_write_id() -> bytes:
    """A name that no other write has."""
    return secrets.token_bytes(WRITE_ID_BYTES)
