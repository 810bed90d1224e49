"""``penstock produce TOPIC``: every line of standard input becomes a record.

Acknowledged by all replicas unless told otherwise, and then idempotent, so that a retry after a lost answer
does not write a line twice.
"""

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.librdkafka import ask, client_settings, failure, require_reachable
from penstock.cli.options import DEFAULT_BOOTSTRAP_SERVER, BootstrapServer, Json, examples
from penstock.cli.output import print_json_line
from penstock.cli.record_choices import Acks, Compression
from penstock.cli.words import key_values
from penstock.model.errors import UsageError

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Message, Producer

_ANY_PARTITION = -1
_POLL_SECONDS = 0.1
"""How long one wait for deliveries lasts, so that the end and Ctrl-C are noticed."""


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
    """Sends records and reports how they fared; stops at the first one that could not be delivered.

    Reports come while the next line is still awaited: a thread of its own serves them, and wakes the reader
    when one of them is bad.
    """

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
        self._ending = threading.Lock()
        self._is_ended = threading.Event()
        self._reporter = threading.Thread(target=self._report, name="delivery reports", daemon=True)

    def send_all(self, records: Iterator[tuple[bytes | None, bytes]]) -> None:
        """Send everything, or up to the first failure."""
        self._reporter.start()
        try:
            ask(lambda: self._send_each(records), doing=f"produce to topic {self._topic!r}")
        finally:
            # Under the lock: an interrupt of the reporter's arrives before this line or not at all.
            with self._ending:
                self._is_ended.set()

    def finish(self) -> None:
        """Wait until every record has its answer; fail if one of them has a bad one."""
        self._is_ended.set()
        self._reporter.join()
        while self._producer.flush(_POLL_SECONDS) and self._problem is None:
            pass
        if self._problem is not None:
            self._producer.purge()
            raise failure(self._problem, doing=f"produce to topic {self._topic!r}")
        if not self._as_json:
            noun = "record" if self._delivered_count == 1 else "records"
            print(f"produced {self._delivered_count} {noun} to {self._topic}", file=sys.stderr)

    def _report(self) -> None:
        while not self._is_ended.is_set():
            if self._producer.poll(_POLL_SECONDS) and self._as_json:
                sys.stdout.flush()
            if self._problem is not None:
                self._stop_reading()
                return

    def _stop_reading(self) -> None:
        """Do as Ctrl-C does: a blocking read of standard input ends by nothing else."""
        with self._ending:
            main_thread = threading.main_thread().ident
            if not self._is_ended.is_set() and main_thread is not None:
                signal.pthread_kill(main_thread, signal.SIGINT)

    def _send_each(self, records: Iterator[tuple[bytes | None, bytes]]) -> None:
        for key, value in records:
            self._send(key, value)

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
                # librdkafka's queue is full: deliveries will make room.
                time.sleep(_POLL_SECONDS)
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
