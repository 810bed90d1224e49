"""What a cluster costs, three brokers on one machine: ``python benchmarks/cluster.py``.

All of them share the machine's cores and disk with the load, so that only ratios mean something: replicated
against unreplicated topics of the same cluster, in the same minutes. A broker that was away is timed from its
start until it is in sync again; a broker's death until all partitions it led have another leader that takes a
record. Nothing is asserted.

Where a host lends the machine its memory, writing to a page that was not in use costs up to nine times as
much as writing to one that has just been given back, and whoever is measured second pays. So as much memory
as a run may fill is taken and given back right before each, factors take turns, and medians are told.
"""

import argparse
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

from report import new_parser, report
from subjects import PenstockProcess
from table import Line

from penstock.bench.connection import Address, Connection, parse_address
from penstock.bench.raw_produce import ProduceLoad, fill, measure_produce
from penstock.bench.topics import create_topic, delete_topic, find_partitions
from penstock.model.error_codes import ErrorCode
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.metadata import MetadataRequest, MetadataResponse

NODES = 3
SUBJECT = "penstock, three brokers"
SHARE_ASKED = 0.35
CATCH_UP_ASKED = 100.0
FAILOVER_SECONDS_ASKED = 10.0
PARTITIONS_PER_TOPIC = 100
SMALL_BATCH_BYTES = 200
"""Twice as many of them as there are partitions reach every one, however leaders are spread."""

WAIT_SECONDS_MAX = 300.0
POLL_SECONDS = 0.05
WARM_BYTES = 3_000_000_000
CHUNK_BYTES = 4_000_000
ROUNDS = 5


class Batches(NamedTuple):
    """How large batches are, and on how many connections to each leader it takes that many to be busy.

    Replicated topics decide: each of their requests waits for two more disks, so they need more under way.
    """

    name: str
    size_bytes: int
    connections: int


BATCHES = (Batches("16 KB", 16_384, 32), Batches("108 KB", 108_000, 8), Batches("1 MB", 1_000_000, 4))


def main() -> None:
    """Measure, print, and write what was asked for."""
    report(_all_lines, _options())


def _options() -> argparse.Namespace:
    parser = new_parser(__doc__)
    add = parser.add_argument
    add("--only", choices=list(PARTS), action="append", help="measure this part alone; may be repeated")
    add("--rounds", type=int, default=ROUNDS, help=f"how often, for medians (default: {ROUNDS})")
    add("--batches", choices=[each.name for each in BATCHES], help="batches of this size alone")
    add("--seconds", type=float, default=5.0, help="how long throughput is measured (default: 5)")
    add("--partitions", type=int, default=3_000, help="how many of them fail over (default: 3000)")
    add("--catch-up-megabytes", type=int, default=1_000, help="what a broker missed (default: 1000)")
    return parser.parse_args()


def _all_lines(directory: Path, options: argparse.Namespace) -> Iterator[Line]:
    for name in options.only or PARTS:
        with _cluster(directory / name) as brokers:
            yield from PARTS[name](brokers, options)


@contextmanager
def _cluster(directory: Path) -> Iterator[list[PenstockProcess]]:
    directory.mkdir()
    with ExitStack() as stack:
        brokers: list[PenstockProcess] = []
        for number in range(1, NODES + 1):
            join = brokers[0].bootstrap_server if brokers else None
            process = PenstockProcess(directory / f"broker-{number}", join=join)
            brokers.append(stack.enter_context(process))
        _wait(lambda: len(_metadata(brokers[0]).brokers) == NODES, "all brokers to be alive")
        yield brokers


def _replication_lines(brokers: Sequence[PenstockProcess], options: argparse.Namespace) -> Iterator[Line]:
    """The same load on topics with one replica and with three."""
    for batches in BATCHES:
        if options.batches not in (None, batches.name):
            continue
        rates: dict[int, list[float]] = {1: [], NODES: []}
        for number in range(options.rounds):
            for replicas in (1, NODES) if number % 2 else (NODES, 1):
                _say(f"{batches.name} batches, {replicas} replica(s)")
                rates[replicas].append(_produce_rate(brokers, batches, replicas, options))
        for replicas, measured in rates.items():
            title = f"acks=all, {batches.name} batches, replication factor {replicas}"
            key = f"produce-{batches.size_bytes}-{replicas}"
            yield Line(key=key, title=title, subject=SUBJECT, value=median(measured), unit="MB/s")
        share = median(three / one for one, three in zip(*rates.values(), strict=True))
        yield Line(
            key=f"produce-{batches.size_bytes}-share",
            title=f"acks=all, {batches.name} batches, factor {NODES} / factor 1",
            subject=SUBJECT,
            value=share,
            unit="times",
            target=f"at least {SHARE_ASKED}",
            ratio=share / SHARE_ASKED,
        )


def _produce_rate(
    brokers: Sequence[PenstockProcess], batches: Batches, replicas: int, options: argparse.Namespace
) -> float:
    address = _address(brokers[0])
    topic = f"replicated-{replicas}"
    # Files of deleted topics that stayed for a minute would fill a disk of a hundred gigabytes.
    at_once = {"file.delete.delay.ms": "0"}
    create_topic(address, topic, partitions=6, configs=at_once, replication_factor=replicas)
    _wait(lambda: _is_in_sync(brokers[0], topic), f"{topic} to be in sync")
    load = ProduceLoad(
        batch_bytes=batches.size_bytes, connections=batches.connections, seconds=options.seconds
    )
    _warm_memory(options.directory)
    measurement = measure_produce(find_partitions(address, topic), load)
    delete_topic(address, topic)
    os.sync()
    return measurement.bytes / measurement.seconds / 1e6


def _warm_memory(directory: Path) -> None:
    """Take as much of the page cache as a run may fill, and give it back."""
    chunk = bytes(CHUNK_BYTES)
    with tempfile.TemporaryFile(dir=directory, buffering=0) as file:
        for _ in range(WARM_BYTES // CHUNK_BYTES):
            file.write(chunk)


def _catch_up_lines(brokers: Sequence[PenstockProcess], options: argparse.Namespace) -> Iterator[Line]:
    """A broker was away while much was written."""
    _say(f"catching up {options.catch_up_megabytes} MB")
    address, topic = _address(brokers[0]), "missed"
    create_topic(address, topic, partitions=3, configs={}, replication_factor=NODES)
    _wait(lambda: _is_in_sync(brokers[0], topic), f"{topic} to be in sync")
    brokers[-1].stop(signal.SIGTERM)
    _wait(lambda: len(_metadata(brokers[0]).brokers) == NODES - 1, "a broker to be away")
    total = options.catch_up_megabytes * 1_000_000
    fill(find_partitions(address, topic), ProduceLoad(batch_bytes=108_000), total_bytes=total)
    os.sync()
    brokers[-1].start()
    began = time.monotonic()
    _wait(lambda: _is_in_sync(brokers[0], topic), f"{topic} to be in sync again")
    rate = options.catch_up_megabytes / (time.monotonic() - began)
    yield Line(
        key="catch-up",
        title=f"a broker catches up {options.catch_up_megabytes} MB, from ready to in sync",
        subject=SUBJECT,
        value=rate,
        unit="MB/s",
        target=f"at least {CATCH_UP_ASKED:g}",
        ratio=rate / CATCH_UP_ASKED,
    )


def _failover_lines(brokers: Sequence[PenstockProcess], options: argparse.Namespace) -> Iterator[Line]:
    """A broker dies that led its share of very many partitions."""
    _say(f"creating {options.partitions} partitions")
    address = _address(brokers[0])
    topics = [f"many-{number}" for number in range(options.partitions // PARTITIONS_PER_TOPIC)]
    for topic in topics:
        create_topic(address, topic, partitions=PARTITIONS_PER_TOPIC, configs={}, replication_factor=NODES)
    _wait(lambda: _is_in_sync(brokers[0], *topics), "all partitions to be in sync")
    _say("killing a broker")
    brokers[-1].stop(signal.SIGKILL)
    began = time.monotonic()
    _wait(lambda: _is_led(brokers[0], topics), "all partitions to have a leader")
    elected = time.monotonic() - began
    for topic in topics:
        load = ProduceLoad(batch_bytes=SMALL_BATCH_BYTES, connections=1, in_flight=50)
        fill(find_partitions(address, topic), load, total_bytes=2 * SMALL_BATCH_BYTES * PARTITIONS_PER_TOPIC)
    served = time.monotonic() - began
    for key, what, seconds in (("elect", "elected", elected), ("serve", "elected and served", served)):
        yield Line(
            key=f"failover-{key}",
            title=f"{options.partitions:,} partitions {what} after a broker's death",
            subject=SUBJECT,
            value=seconds,
            unit="s",
            target=f"under {FAILOVER_SECONDS_ASKED:g} s",
            ratio=FAILOVER_SECONDS_ASKED / seconds,
        )


PARTS = {"replication": _replication_lines, "catch-up": _catch_up_lines, "failover": _failover_lines}


def _address(broker: PenstockProcess) -> Address:
    return parse_address(broker.bootstrap_server)


def _metadata(broker: PenstockProcess) -> MetadataResponse:
    request = MetadataRequest(topics=None, allow_auto_topic_creation=False)
    with Connection(_address(broker)) as connection:
        answer: MetadataResponse = connection.call(ApiKey.METADATA, request)
    return answer


def _is_in_sync(broker: PenstockProcess, *topics: str) -> bool:
    known = {topic.name: topic for topic in _metadata(broker).topics}
    return all(
        name in known
        and all(set(each.isr_nodes) == set(each.replica_nodes) for each in known[name].partitions)
        for name in topics
    )


def _is_led(broker: PenstockProcess, topics: Sequence[str]) -> bool:
    metadata = _metadata(broker)
    alive = {each.node_id for each in metadata.brokers}
    return len(alive) < NODES and all(
        each.error_code == ErrorCode.NONE and each.leader_id in alive
        for topic in metadata.topics
        if topic.name in topics
        for each in topic.partitions
    )


def _wait(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + WAIT_SECONDS_MAX
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit(f"It takes longer than {WAIT_SECONDS_MAX:g} s for {what}.")
        time.sleep(POLL_SECONDS)


def _say(what: str) -> None:
    print(f"... {what}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
