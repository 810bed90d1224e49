"""``penstock produce TOPIC``: every line of standard input becomes a record.

Acknowledged by all replicas unless told otherwise, and then idempotent, so that a retry after a lost answer
does not write a line twice.
"""

import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.cluster import client_settings, failure, require_reachable
from penstock.cli.options import DEFAULT_BOOTSTRAP_SERVER, BootstrapServer, Json, examples
from penstock.cli.output import print_json_line
from penstock.cli.record_choices import Acks, Compression
from penstock.cli.words import key_values
from penstock.model.errors import UsageError

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Message, Producer

_ANY_PARTITION = -1
_FLUSH_SECONDS = 0.5
"""How long one wait for deliveries lasts, so that Ctrl-C is noticed."""


def attach(app: typer.Typer) -> None:
    """Add the command to the tree."""
    app.command(
        "produce",
        epilog=examples(
            "echo hello | penstock produce orders",
            "printf 'alice:1\\nbob:2\\n' | penstock produce orders -k :",
            "penstock produce orders -H source=import -H run=7 --compression zstd < lines.txt",
        ),
    )(produce)


def produce(
    topic: Annotated[str, typer.Argument(metavar="TOPIC", help="Where to.")],
    key_separator: Annotated[
        str | None, typer.Option("-k", "--key-separator", help="Text that parts a line into key and value.")
    ] = None,
    header: Annotated[
        list[str] | None,
        typer.Option("-H", "--header", metavar="NAME=VALUE", help="A header of every record; repeatable."),
    ] = None,
    partition: Annotated[
        int, typer.Option("--partition", min=_ANY_PARTITION, help="-1 spreads the records.")
    ] = _ANY_PARTITION,
    acks: Annotated[Acks, typer.Option("--acks", help="Whose acknowledgement to wait for.")] = Acks.ALL,
    compression: Annotated[
        Compression, typer.Option("--compression", help="How to compress batches.")
    ] = Compression.NONE,
    bootstrap_server: BootstrapServer = DEFAULT_BOOTSTRAP_SERVER,
    as_json: Json = False,
) -> None:
    """Send each line of standard input as one record; --json prints where each one went."""
    if key_separator == "":
        raise UsageError("The key separator is empty; give some text, for example -k ':'.")
    headers = [(name, value.encode()) for name, value in key_values(header, option="--header").items()]
    require_reachable(bootstrap_server)
    from confluent_kafka import Producer

    settings = client_settings(
        bootstrap_server,
        acks=acks.value,
        enable_idempotence=acks is Acks.ALL,
        compression_type=compression.value,
        linger_ms=5,
    )
    sender = _LineSender(
        Producer(settings), topic=topic, partition=partition, headers=headers, as_json=as_json
    )
    # Ctrl-C ends the input as Ctrl-D does: what was read before is still delivered.
    with suppress(KeyboardInterrupt):
        sender.send_all(_records(key_separator))
    sender.finish()


def _records(key_separator: str | None) -> Iterator[tuple[bytes | None, bytes]]:
    """Key and value of every line; the whole line is the value when there is no separator in it."""
    for line in sys.stdin.buffer:
        text = line.rstrip(b"\n")
        if key_separator is None:
            yield None, text
            continue
        key, separator, value = text.partition(key_separator.encode())
        yield (key, value) if separator else (None, text)


class _LineSender:
    """Sends records and remembers how they fared; stops at the first one that could not be delivered."""

    def __init__(
        self, producer: "Producer", *, topic: str, partition: int, headers: list[Any], as_json: bool
    ) -> None:
        self._producer = producer
        self._topic = topic
        self._partition = partition
        self._headers = headers
        self._as_json = as_json
        self._delivered_count = 0
        self._problem: KafkaError | None = None

    def send_all(self, records: Iterator[tuple[bytes | None, bytes]]) -> None:
        for key, value in records:
            self._send(key, value)
            self._producer.poll(0)
            if self._problem is not None:
                return

    def finish(self) -> None:
        """Wait until every record has its answer; fail if one of them has a bad one."""
        while self._producer.flush(_FLUSH_SECONDS) and self._problem is None:
            pass
        if self._problem is not None:
            self._producer.purge()
            raise failure(self._problem, doing=f"produce to topic {self._topic!r}")
        if not self._as_json:
            noun = "record" if self._delivered_count == 1 else "records"
            print(f"produced {self._delivered_count} {noun} to {self._topic}", file=sys.stderr)

    def _send(self, key: bytes | None, value: bytes) -> None:
        while True:
            try:
                self._producer.produce(
                    self._topic,
                    value,
                    key,
                    self._partition,
                    on_delivery=self._on_delivery,
                    headers=self._headers,
                )
            except BufferError:
                # librdkafka's queue is full: let deliveries make room.
                self._producer.poll(_FLUSH_SECONDS)
            else:
                return

    def _on_delivery(self, problem: "KafkaError | None", message: "Message") -> None:
        if problem is not None:
            self._problem = self._problem or problem
            return
        self._delivered_count += 1
        if self._as_json:
            print_json_line(
                {"topic": message.topic(), "partition": message.partition(), "offset": message.offset()}
            )
