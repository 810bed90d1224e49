"""Orders with keys, processed by three workers of one group: parallel, and in order for each customer.

    python examples/order_processing.py

All orders of a customer have the customer as their key, so they are in one partition, which belongs to one
worker at a time. The example checks that no worker ever sees a customer's orders in another order.
"""

import threading
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field

import playground

from penstock import Admin, Consumer, Message, Producer

CUSTOMERS = [f"customer-{number}" for number in range(12)]
ORDERS_EACH = 50
TOTAL = len(CUSTOMERS) * ORDERS_EACH
WORKERS = ("A", "B", "C")
WAIT_SECONDS = 30.0


@dataclass
class Ledger:
    """What all workers have done; shared by their threads."""

    handled: Counter[str] = field(default_factory=Counter)
    sequences: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    partitions: defaultdict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    lock: threading.Lock = field(default_factory=threading.Lock)
    is_done: threading.Event = field(default_factory=threading.Event)

    def note(self, worker: str, message: Message) -> None:
        """One order was processed."""
        with self.lock:
            self.handled[worker] += 1
            self.sequences[message.key].append(message.value["number"])
            self.partitions[worker].add(message.partition)
            if self.handled.total() >= TOTAL:
                self.is_done.set()


def main(place: playground.Playground) -> None:
    """Start the workers, send the orders, check what became of them."""
    ledger = Ledger()
    with place.topic("orders", partitions=6) as topic:
        workers = [
            threading.Thread(target=work, args=(place, topic, name, ledger), name=name) for name in WORKERS
        ]
        for worker in workers:
            worker.start()
        try:
            wait_for_workers(place, topic)
            send_orders(place, topic)
            ledger.is_done.wait(WAIT_SECONDS)
        finally:
            ledger.is_done.set()
            for worker in workers:
                worker.join()
    report(ledger)


def work(place: playground.Playground, topic: str, name: str, ledger: Ledger) -> None:
    """A worker: takes orders of its partitions, and commits them when they are processed."""
    with Consumer(
        bootstrap_servers=place.bootstrap_servers,
        client_id=f"worker-{name}",
        group_id=f"{topic}-workers",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        key_deserializer="str",
        value_deserializer="json",
    ) as consumer:
        consumer.subscribe(topic)
        while not ledger.is_done.is_set():
            for message in consumer.poll(0.1):
                ledger.note(name, message)
            consumer.commit()


def wait_for_workers(place: playground.Playground, topic: str) -> None:
    """Until each worker has its share of the partitions."""
    deadline = time.monotonic() + WAIT_SECONDS
    with Admin(bootstrap_servers=place.bootstrap_servers) as admin:
        while time.monotonic() < deadline:
            members = admin.describe_group(f"{topic}-workers").members
            if len(members) == len(WORKERS) and all(member.partitions for member in members):
                for member in sorted(members, key=lambda each: each.client_id):
                    numbers = [each.partition for each in member.partitions]
                    print(f"{member.client_id} has partitions {numbers}")
                return
            time.sleep(0.05)
    raise SystemExit(f"The workers did not share the partitions within {WAIT_SECONDS:g} s.")


def send_orders(place: playground.Playground, topic: str) -> None:
    """The customers' orders, mixed; each customer's are numbered."""
    with Producer(
        bootstrap_servers=place.bootstrap_servers, key_serializer="str", value_serializer="json"
    ) as producer:
        for number in range(ORDERS_EACH):
            for customer in CUSTOMERS:
                producer.send(topic, {"number": number, "item": "valve"}, key=customer)
    print(f"{TOTAL} orders of {len(CUSTOMERS)} customers sent")


def report(ledger: Ledger) -> None:
    """Who did what, and whether the order held."""
    for name in WORKERS:
        print(
            f"{name} processed {ledger.handled[name]} orders of partitions {sorted(ledger.partitions[name])}"
        )
    in_order = sum(numbers == list(range(ORDERS_EACH)) for numbers in ledger.sequences.values())
    print(f"{ledger.handled.total()} orders processed, {in_order} of {len(CUSTOMERS)} customers in order")
    if in_order != len(CUSTOMERS):
        raise SystemExit("Some orders are missing, doubled or out of order.")


if __name__ == "__main__":
    playground.run(main, __doc__)
