"""Three brokers, three copies of every record: one broker is killed in the middle, and nothing is lost.

    python examples/distributed_setup.py

The brokers are real processes, and the killing is a SIGKILL. With ``--bootstrap-server`` it uses a cluster
that is running (``penstock cluster up``) and leaves the killing to you.
"""

import logging
import secrets
import time
from contextlib import nullcontext

import playground

from penstock import Admin, Consumer, Producer
from penstock.testing import Cluster

TOPIC = f"payments-{secrets.token_hex(3)}"
PARTITIONS = 3
RECORDS = 3_000
QUICK_TO_NOTICE = {"broker.session.timeout.ms": 1_000, "broker.heartbeat.interval.ms": 200}


def main(bootstrap_servers: str | None) -> None:
    """Start three brokers unless there is a cluster, write, kill, and read everything back."""
    logging.getLogger("penstock.client").setLevel(logging.CRITICAL)  # that a broker is gone is no news here
    started = time.perf_counter()
    own = Cluster(3, process=True, settings=QUICK_TO_NOTICE) if bootstrap_servers is None else None
    with own or nullcontext():
        servers = bootstrap_servers or (own.bootstrap_servers if own else "")
        print(f"cluster at {servers}, ready after {time.perf_counter() - started:.1f} s")
        with Admin(bootstrap_servers=servers) as admin:
            create(admin)
            try:
                acknowledged = produce(servers, own)
                show_replicas(admin, "meanwhile")
                read = consume(servers, len(acknowledged))
                print(f"{len(acknowledged)} acknowledged, {len(read)} read, {len(acknowledged - read)} lost")
                if own is not None:
                    heal(own)
                    show_replicas(admin, "in the end")
            finally:
                admin.delete_topics(TOPIC)


def create(admin: Admin) -> None:
    """Three replicas each; a write needs two of them, so that one broker may be away."""
    admin.create_topic(
        TOPIC, partitions=PARTITIONS, replication_factor=3, config={"min.insync.replicas": "2"}
    )
    show_replicas(admin, "at first")


def produce(servers: str, own: Cluster | None) -> set[bytes]:
    """Send payments with a death in the middle; those that were acknowledged."""
    values = [b"payment %d" % number for number in range(RECORDS)]
    with Producer(bootstrap_servers=servers) as producer:  # acks=all and idempotence are the defaults
        deliveries = [producer.send(TOPIC, value) for value in values[: RECORDS // 2]]
        if own is not None:
            victim = own.leader(TOPIC, 0)
            victim.kill()
            print(
                f"broker {victim.node_id}, which leads {TOPIC}-0, is killed after {len(deliveries)} records"
            )
        started = time.perf_counter()
        deliveries += [producer.send(TOPIC, value) for value in values[RECORDS // 2 :]]
        producer.flush(60)
        print(f"the rest is acknowledged {time.perf_counter() - started:.1f} s later")
        return {value for value, each in zip(values, deliveries, strict=True) if each.exception() is None}


def consume(servers: str, expected: int) -> set[bytes]:
    """Read all partitions from their beginning."""
    read: list[bytes] = []
    with Consumer(bootstrap_servers=servers, auto_offset_reset="earliest") as consumer:
        consumer.assign([(TOPIC, number) for number in range(PARTITIONS)])
        deadline = time.monotonic() + 30
        while len(read) < expected and time.monotonic() < deadline:
            read += [message.value for message in consumer.poll()]
    print(f"{len(read) - len(set(read))} records are there twice")
    return set(read)


def heal(cluster: Cluster) -> None:
    """Start what is dead; it fetches what it has missed."""
    for broker in cluster.brokers:
        if not broker.is_running:
            cluster.restart(broker)
            print(f"broker {broker.node_id} is back")
    cluster.wait_in_sync(TOPIC)


def show_replicas(admin: Admin, when: str) -> None:
    """Who leads each partition, and whose copies are up to date."""
    for each in admin.describe_topic(TOPIC).partitions:
        in_sync = ", ".join(map(str, sorted(each.in_sync_replicas)))
        print(f"  {when}: {TOPIC}-{each.partition} is led by {each.leader}, in sync: {in_sync}")


if __name__ == "__main__":
    with playground.quiet_end():
        main(playground.chosen_servers(__doc__))
