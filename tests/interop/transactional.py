"""Transactional producers of every Python client behind one face, so that a story is told once for all."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol

from aiokafka import AIOKafkaProducer
from aiokafka import TopicPartition as AiokafkaPartition
from aiokafka.errors import KafkaError as AiokafkaError
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from kafka import KafkaProducer, OffsetAndMetadata
from kafka import TopicPartition as KafkaPythonPartition
from kafka.errors import KafkaError as KafkaPythonError

SECONDS = 20.0


class TransactionFailedError(Exception):
    """What any client raised."""


class Transactional(Protocol):
    """One producer of one transactional id, initialised when made; raises ``TransactionFailedError``."""

    def begin(self) -> None: ...

    def send(self, topic: str, value: str) -> None:
        """To partition 0, and until it is acknowledged."""

    def send_offset(self, group: str, topic: str, offset: int) -> None:
        """Of partition 0, as part of the transaction."""

    def commit(self) -> None: ...

    def abort(self) -> None: ...

    def close(self) -> None: ...


class ConfluentTransactional:
    """confluent-kafka."""

    def __init__(self, bootstrap: str, transactional_id: str, *, timeout_ms: int = 30_000) -> None:
        self._bootstrap = bootstrap
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "log_level": 0,
                "transactional.id": transactional_id,
                "transaction.timeout.ms": timeout_ms,
                "linger.ms": 0,
                # Without one, a fatal error comes out of whatever call happens to be running.
                "error_cb": lambda _: None,
            }
        )
        self._producer.init_transactions(SECONDS)

    def begin(self) -> None:
        self._producer.begin_transaction()

    def send(self, topic: str, value: str) -> None:
        errors: list[Any] = []
        try:
            self._producer.produce(topic, value, partition=0, on_delivery=lambda e, _: errors.append(e))
            self._producer.flush(SECONDS)
        except KafkaException as error:
            raise TransactionFailedError from error
        except SystemError as error:
            # The client reports a delivery while a fatal error is already on its way out of the same call.
            if not isinstance(error.__cause__, KafkaException):
                raise
            raise TransactionFailedError from error
        if errors != [None]:
            raise TransactionFailedError(str(errors))

    def send_offset(self, group: str, topic: str, offset: int) -> None:
        consumer = Consumer({"bootstrap.servers": self._bootstrap, "group.id": group, "log_level": 0})
        try:
            self._producer.send_offsets_to_transaction(
                [TopicPartition(topic, 0, offset)], consumer.consumer_group_metadata(), SECONDS
            )
        except KafkaException as error:
            raise TransactionFailedError from error
        finally:
            consumer.close()

    def commit(self) -> None:
        try:
            self._producer.commit_transaction(SECONDS)
        except KafkaException as error:
            raise TransactionFailedError from error

    def abort(self) -> None:
        try:
            self._producer.abort_transaction(SECONDS)
        except KafkaException as error:
            raise TransactionFailedError from error

    def close(self) -> None:
        self._producer.purge()


class KafkaPythonTransactional:
    """kafka-python."""

    def __init__(self, bootstrap: str, transactional_id: str, *, timeout_ms: int = 30_000) -> None:
        self._producer = KafkaProducer(
            bootstrap_servers=bootstrap,
            transactional_id=transactional_id,
            transaction_timeout_ms=timeout_ms,
            retry_backoff_ms=20,
        )
        self._call(self._producer.init_transactions)

    def begin(self) -> None:
        self._call(self._producer.begin_transaction)

    def send(self, topic: str, value: str) -> None:
        self._call(lambda: self._producer.send(topic, value.encode(), partition=0).get(SECONDS))

    def send_offset(self, group: str, topic: str, offset: int) -> None:
        offsets = {KafkaPythonPartition(topic, 0): OffsetAndMetadata(offset, "", -1)}
        self._call(lambda: self._producer.send_offsets_to_transaction(offsets, group))

    def commit(self) -> None:
        self._call(self._producer.commit_transaction)

    def abort(self) -> None:
        self._call(self._producer.abort_transaction)

    def close(self) -> None:
        self._producer.close(timeout=1)

    def _call(self, action: Any) -> None:
        try:
            action()
        except (KafkaPythonError, RuntimeError) as error:
            raise TransactionFailedError from error


class AiokafkaTransactional:
    """aiokafka, on a loop that runs whenever it is called."""

    def __init__(self, bootstrap: str, transactional_id: str, *, timeout_ms: int = 30_000) -> None:
        self._runner = asyncio.Runner()
        self._call(self._start(bootstrap, transactional_id, timeout_ms))

    async def _start(self, bootstrap: str, transactional_id: str, timeout_ms: int) -> None:
        self._producer = AIOKafkaProducer(
            bootstrap_servers=bootstrap,
            transactional_id=transactional_id,
            transaction_timeout_ms=timeout_ms,
            retry_backoff_ms=20,
        )
        await self._producer.start()

    def begin(self) -> None:
        self._call(self._producer.begin_transaction())

    def send(self, topic: str, value: str) -> None:
        self._call(self._producer.send_and_wait(topic, value.encode(), partition=0))

    def send_offset(self, group: str, topic: str, offset: int) -> None:
        offsets = {AiokafkaPartition(topic, 0): offset}
        self._call(self._producer.send_offsets_to_transaction(offsets, group))

    def commit(self) -> None:
        self._call(self._producer.commit_transaction())

    def abort(self) -> None:
        self._call(self._producer.abort_transaction())

    def close(self) -> None:
        self._runner.run(self._stop())
        self._runner.close()

    async def _stop(self) -> None:
        with suppress(AiokafkaError):  # A fenced one says so once more.
            async with asyncio.timeout(SECONDS):
                await self._producer.stop()

    def _call(self, action: Any) -> None:
        async def bounded() -> None:
            async with asyncio.timeout(SECONDS):
                await action

        try:
            self._runner.run(bounded())
        except AiokafkaError as error:
            raise TransactionFailedError from error


CLIENTS: dict[str, Callable[..., Transactional]] = {
    "confluent": ConfluentTransactional,
    "kafka-python": KafkaPythonTransactional,
    "aiokafka": AiokafkaTransactional,
}
