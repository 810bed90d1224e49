"""Copy a topic exactly once, although the copier is killed in the middle.

    python examples/exactly_once_copy.py

Copies and the offsets they came from are committed in one transaction, or not at all. The first copier dies
by SIGKILL with a transaction open; the second one takes over its name, which aborts that transaction, and
goes on where the last committed one ended.
"""

import logging
import multiprocessing
import os
import signal
import time
from collections import Counter

import playground

from penstock import Admin, Consumer, Producer

RECORDS = 1_000
AT_A_TIME = 100
DIES_IN_TRANSACTION = 4
WAIT_SECONDS = 30.0


def main(place: playground.Playground) -> None:
    """Fill a topic, have it copied by two processes one after the other, count the copies."""
    processes = multiprocessing.get_context("spawn")
    with place.topic("orders") as source, place.topic("invoices") as target:
        with Producer(bootstrap_servers=place.bootstrap_servers) as producer:
            producer.send_batch((source, b"order %d" % number) for number in range(RECORDS))
        print(f"{RECORDS} orders to copy")
        for dies_in in (DIES_IN_TRANSACTION, None):
            arguments = (place.bootstrap_servers, source, target, dies_in)
            copier = processes.Process(target=copy, args=arguments, daemon=True)
            copier.start()
            try:
                copier.join()
            finally:
                copier.kill()  # after Ctrl-C it is still there, and has no business without its broker
            is_killed = copier.exitcode == -signal.SIGKILL
            print("the copier was killed" if is_killed else "the copier has finished")
        check(place.bootstrap_servers, target)


def copy(bootstrap_servers: str, source: str, target: str, dies_in: int | None) -> None:
    """Copy from where the last committed transaction ended; dies in the middle of one if told to."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # at Ctrl-C the parent ends its copier
    # librdkafka would mention that it waits for the end of the transaction that the first copier left open.
    logging.getLogger("penstock.client").setLevel(logging.ERROR)
    with (
        Consumer(
            bootstrap_servers=bootstrap_servers,
            group_id=f"{target}-copier",
            group_instance_id="copier-1",  # whoever comes back under this name need not wait for a timeout
            auto_offset_reset="earliest",
            enable_auto_commit=False,  # offsets are committed by the transactions
        ) as consumer,
        Producer(bootstrap_servers=bootstrap_servers, transactional_id=f"{target}-copier") as producer,
    ):
        with producer.transaction():
            pass  # the first one fences former owners of the name, and aborts what they left open
        consumer.subscribe(source)
        number = copied_up_to = 0
        deadline = time.monotonic() + WAIT_SECONDS
        while copied_up_to < RECORDS and time.monotonic() < deadline:
            messages = consumer.poll(max_records=AT_A_TIME)
            if not messages:
                continue
            number += 1
            with producer.transaction() as transaction:
                for message in messages:
                    producer.send(target, message.value.replace(b"order", b"invoice"))
                transaction.send_offsets(consumer)
                if number == dies_in:
                    die(producer)
            copied_up_to = messages[-1].offset + 1
            print(f"transaction {number}: {len(messages)} copies committed", flush=True)


def die(producer: Producer) -> None:
    """End as a machine does that loses power, when everything was sent and only the commit is missing."""
    producer.flush()
    print("copies and offsets are sent, but not committed, when ...", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)


def check(bootstrap_servers: str, target: str) -> None:
    """Count each copy, as a reader of committed records and as one who sees everything."""
    committed = read(bootstrap_servers, target, "read_committed")
    everything = read(bootstrap_servers, target, "read_uncommitted")
    once = sum(count == 1 for count in committed.values())
    aborted = everything.total() - committed.total()
    print(f"{everything.total()} copies were written in all, {aborted} of them aborted")
    print(f"{once} of {RECORDS} orders copied exactly once")
    if once != RECORDS or committed.total() != RECORDS:
        raise SystemExit("Some orders were lost or copied twice.")


def read(bootstrap_servers: str, topic: str, isolation_level: str) -> Counter[bytes]:
    """How often each value is there."""
    found: Counter[bytes] = Counter()
    with (
        Admin(bootstrap_servers=bootstrap_servers) as admin,
        Consumer(bootstrap_servers=bootstrap_servers, isolation_level=isolation_level) as consumer,
    ):
        (end,) = admin.list_offsets([(topic, 0)]).values()
        consumer.assign({(topic, 0): 0})
        for message in consumer.messages(idle_timeout=WAIT_SECONDS):
            found[message.value] += 1
            if message.offset + 2 == end:  # the last offset is the marker of the last transaction
                break
    return found


if __name__ == "__main__":
    playground.run(main, __doc__)
