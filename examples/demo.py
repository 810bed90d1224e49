"""The main job, end to end: a broker, a topic, producing, consuming, copying exactly once, the numbers.

Run it with ``make demo``. It uses a free port and a temporary directory, and leaves nothing behind.
"""

import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter

from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from rich.console import Console
from rich.progress import track
from rich.table import Table

TOPIC = "orders"
PARTITIONS = 4
MESSAGES = 200_000
COPIED = "invoices"
COPIED_MESSAGES = 20_000
COPIES_PER_TRANSACTION = 2_000
PRODUCTS = ("valve", "pump", "turbine", "gauge", "pipe")

console = Console()


def main() -> int:
    """Run the demo; the exit code says whether everything that was acknowledged came back."""
    with tempfile.TemporaryDirectory(prefix="penstock-demo-") as directory:
        started = time.perf_counter()
        broker, address = start_broker(directory)
        try:
            ready_seconds = time.perf_counter() - started
            console.print(f"[bold]penstock[/] is ready on {address} after {ready_seconds:.2f} s")
            create_topic(address)
            produce_seconds, acknowledged = produce(address)
            consume_seconds, counts, disorder = consume(address, acknowledged)
            copied = copy_exactly_once(address)
        finally:
            broker.send_signal(signal.SIGTERM)
            broker.wait(timeout=20)
        show(produce_seconds, consume_seconds, counts)
        console.print(f"{copied:,} copied to [bold]{COPIED}[/] in transactions, each exactly once")
        complete = sum(counts.values()) == acknowledged == MESSAGES and not disorder
        console.print(
            f"{acknowledged:,} acknowledged, {sum(counts.values()):,} read back, {disorder} out of order: "
            + ("[green]all there, in order[/]" if complete else "[red]something is wrong[/]")
        )
        return 0 if complete and copied == COPIED_MESSAGES and broker.returncode == 0 else 1


def start_broker(directory: str) -> tuple[subprocess.Popen[str], str]:
    """Start ``penstock serve`` on a free port and wait for its one line."""
    command = [sys.executable, "-m", "penstock", "serve", "--listen", "127.0.0.1:0", "--data-dir", directory]
    broker = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert broker.stdout is not None
    line = broker.stdout.readline().strip()
    if not line.startswith("penstock ready on "):
        raise SystemExit(f"The broker did not start: {line or 'it said nothing'}")
    return broker, line.removeprefix("penstock ready on ")


def create_topic(address: str) -> None:
    """Create the topic and wait for the answer."""
    admin = AdminClient({"bootstrap.servers": address})
    admin.create_topics([NewTopic(TOPIC, PARTITIONS, 1)])[TOPIC].result(10)
    console.print(f"created topic [bold]{TOPIC}[/] with {PARTITIONS} partitions")


def produce(address: str) -> tuple[float, int]:
    """Send keyed orders; count those the broker says are on disk."""
    acknowledged = 0

    def on_delivery(error: KafkaError | None, message: object) -> None:
        nonlocal acknowledged
        acknowledged += error is None

    producer = Producer(
        {"bootstrap.servers": address, "acks": "all", "enable.idempotence": True, "linger.ms": 5}
    )
    started = time.perf_counter()
    for number in track(range(MESSAGES), "producing, acks=all", console=console):
        product = PRODUCTS[number % len(PRODUCTS)]
        while True:
            try:
                producer.produce(
                    TOPIC, f"{number}".encode().rjust(100, b"."), product, on_delivery=on_delivery
                )
                break
            except BufferError:
                producer.poll(0.05)
        if number % 1000 == 0:
            producer.poll(0)
    producer.flush(30)
    return time.perf_counter() - started, acknowledged


def consume(address: str, expected: int) -> tuple[float, Counter[str], int]:
    """Read everything back; count per product, and whatever is out of order within one."""
    consumer = Consumer({"bootstrap.servers": address, "group.id": "demo", "enable.auto.commit": False})
    consumer.assign([TopicPartition(TOPIC, number, 0) for number in range(PARTITIONS)])
    counts: Counter[str] = Counter()
    last: dict[str, int] = {}
    disorder = 0
    started = time.perf_counter()
    deadline = started + 60
    while (missing := expected - sum(counts.values())) > 0 and time.perf_counter() < deadline:
        for message in consumer.consume(min(10_000, missing), timeout=1.0):
            if message.error():
                raise SystemExit(f"Reading failed: {message.error()}")
            product, number = message.key().decode(), int(message.value().lstrip(b"."))
            disorder += number <= last.get(product, -1)
            last[product] = number
            counts[product] += 1
    seconds = time.perf_counter() - started
    consumer.close()
    return seconds, counts, disorder


def copy_exactly_once(address: str) -> int:
    """Copy orders as a member of a group, records and offsets in one transaction; count what came of it.

    Every third transaction is aborted and done again: readers of committed records see nothing of that.
    """
    consumer = Consumer(
        {
            "bootstrap.servers": address,
            "group.id": "copier",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    producer = Producer({"bootstrap.servers": address, "transactional.id": "copier", "linger.ms": 5})
    producer.init_transactions(30)
    consumer.subscribe([TOPIC])
    copied = 0
    for number in track(range(COPIED_MESSAGES // COPIES_PER_TRANSACTION), "copying", console=console):
        batch = consumer.consume(COPIES_PER_TRANSACTION, timeout=15)
        for is_commit in (False, True) if number % 3 == 2 else (True,):
            producer.begin_transaction()
            for message in batch:
                producer.produce(COPIED, message.value(), message.key())
            producer.send_offsets_to_transaction(
                consumer.position(consumer.assignment()), consumer.consumer_group_metadata()
            )
            producer.commit_transaction() if is_commit else producer.abort_transaction()
        copied += len(batch)
    consumer.close()
    return copied if count_committed(address) == copied else -1


def count_committed(address: str) -> int:
    """How many different copies a reader of committed records finds, or -1 if one is there twice."""
    consumer = Consumer(
        {
            "bootstrap.servers": address,
            "group.id": "auditor",
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
        }
    )
    consumer.assign([TopicPartition(COPIED, 0, 0)])
    found: list[bytes] = []
    deadline = time.perf_counter() + 30
    while time.perf_counter() < deadline:
        messages = consumer.consume(10_000, timeout=0.2)
        found += [message.value() for message in messages if message.error() is None]
        if any(message.error() is not None for message in messages):
            break  # the end
    consumer.close()
    return len(found) if len(set(found)) == len(found) else -1


def show(produce_seconds: float, consume_seconds: float, counts: Counter[str]) -> None:
    """The numbers, as tables."""
    rates = Table("", "messages", "seconds", "messages/s", "MB/s", title="100-byte orders, acks=all, flushed")
    for name, seconds in (("produced", produce_seconds), ("consumed", consume_seconds)):
        rates.add_row(
            name,
            f"{MESSAGES:,}",
            f"{seconds:.2f}",
            f"{MESSAGES / seconds:,.0f}",
            f"{MESSAGES * 100 / seconds / 1e6:.1f}",
        )
    console.print(rates)
    orders = Table("product", "orders", "", title="what came back")
    for product, count in sorted(counts.items()):
        orders.add_row(product, f"{count:,}", "█" * round(30 * count / max(counts.values())))
    console.print(orders)


if __name__ == "__main__":
    sys.exit(main())
