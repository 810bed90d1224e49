"""The copy loop as a program: consume, transform, produce, all of it in transactions; made to be killed.

Every step is told before it is taken, so that a test can strike between any two. Some transactions are given
up on purpose: their records say so in their value and must never be seen by who reads only what is committed.
"""

import random
import sys
import threading
from collections.abc import Sequence
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaException, Message, Producer, TopicPartition
from tests.telling import end_of_input, given_orders, tell

BATCH_MAX = 30
ABORTED_SHARE = 0.15
REQUEST_SECONDS = 30.0

COPIED, GIVEN_UP = "copied:", "given up:"
FATAL_EXIT = 3


class Copier:
    """Copies one topic to another, key by key."""

    def __init__(self, orders: dict[str, Any]) -> None:
        self._source, self._target = orders["source"], orders["target"]
        self._dice = random.Random(orders["seed"])
        common = {
            "bootstrap.servers": orders["bootstrap"],
            "log_level": 0,
            "reconnect.backoff.max.ms": 200,
            # Otherwise librdkafka 2.16 throws away its handle of a broker that is the only one and gone, and
            # sends a transaction's offsets to that handle for ever.
            "metadata.recovery.strategy": "none",
        }
        self._consumer = Consumer(
            {
                **common,
                "group.id": orders["group"],
                "group.protocol": orders.get("protocol", "classic"),
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "fetch.wait.max.ms": 50,
                **orders.get("consumer", {}),
            }
        )
        self._producer = Producer(
            {
                **common,
                "transactional.id": orders["transactional_id"],
                "transaction.timeout.ms": 20_000,
                "retry.backoff.ms": 20,
            }
        )

    def run(self, ended: threading.Event) -> None:
        """Until told to end."""
        self._producer.init_transactions(REQUEST_SECONDS)
        self._consumer.subscribe([self._source])
        tell("ready")
        while not ended.is_set():
            messages = self._consumer.consume(self._dice.randint(1, BATCH_MAX), 0.05)
            records = [message for message in messages if message.error() is None]
            if records:
                self._deal_with(records)
        self._consumer.close()

    def _deal_with(self, records: Sequence[Message]) -> None:
        is_kept = self._dice.random() >= ABORTED_SHARE
        try:
            self._copy(records, COPIED if is_kept else GIVEN_UP)
            if is_kept:
                self._commit()
                return
        except KafkaException as error:
            if not error.args[0].txn_requires_abort():
                raise
            tell("failed", error=str(error))
        self._give_up()

    def _copy(self, records: Sequence[Message], word: str) -> None:
        tell("beginning")
        self._producer.begin_transaction()
        for record in records:
            value = record.value()
            assert value is not None
            self._producer.produce(self._target, word.encode() + value, key=record.key())
        self._producer.flush(REQUEST_SECONDS)
        tell("produced", count=len(records))
        positions = self._consumer.position(self._consumer.assignment())
        moved = [position for position in positions if position.offset >= 0]
        self._producer.send_offsets_to_transaction(
            moved, self._consumer.consumer_group_metadata(), REQUEST_SECONDS
        )
        tell("offsets sent")

    def _commit(self) -> None:
        while True:
            try:
                self._producer.commit_transaction(REQUEST_SECONDS)
            except KafkaException as error:
                if not error.args[0].retriable():
                    raise
                tell("failed", error=str(error))
                continue
            tell("committed")
            return

    def _give_up(self) -> None:
        """Abort, and go back to where the last committed transaction ended."""
        self._producer.abort_transaction(REQUEST_SECONDS)
        tell("aborted")
        mine = self._consumer.assignment()
        for partition in self._consumer.committed(mine, timeout=REQUEST_SECONDS) if mine else ():
            offset = partition.offset if partition.offset >= 0 else OFFSET_BEGINNING
            self._consumer.seek(TopicPartition(partition.topic, partition.partition, offset))


def main() -> None:
    copier = Copier(given_orders())
    try:
        copier.run(end_of_input())
    except KafkaException as error:
        tell("fatal", error=str(error), code=error.args[0].code(), name=error.args[0].name())
        sys.exit(FATAL_EXIT)
    tell("closed")


if __name__ == "__main__":
    main()
