"""What a cluster costs, three brokers on one machine: ``python benchmarks/cluster.py``.

All of them share the machine's cores and disk with the load, so that only ratios mean something: replicated
against unreplicated topics of the same cluster, in the same minutes. A broker that was away is timed from its
start until it is in sync again; a broker's death until all partitions it led have another leader that takes a
record. Nothing is asserted.
"""

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from subjects import PenstockProcess, machine
from table import Line, as_json, as_markdown, print_lines

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
BATCH_SIZES = {"16 KB": 16_384, "108 KB": 108_000, "1 MB": 1_000_000}


def main() -> None:
    """Measure, print, and write what was asked for."""
    options = _options()
    facts = {"date": datetime.now(UTC).strftime("%Y-%m-%d"), "machine": machine()}
    with tempfile.TemporaryDirectory(prefix=".penstock-bench-", dir=options.directory) as temporary:
        load_before = os.getloadavg()[0]
        lines = []
        for name in options.only or PARTS:
            measure = PARTS[name]
            with _cluster(Path(temporary) / name) as brokers:
                lines += list(measure(brokers, options))
    facts["load average"] = f"{load_before:.1f} before, {os.getloadavg()[0]:.1f} after"
    print_lines(lines)
    if options.json:
        options.json.write_text(json.dumps(as_json(lines, facts), indent=2) + "\n")
    if options.markdown:
        options.markdown.write_text(as_markdown(lines, facts))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--only", choices=list(PARTS), action="append", help="measure this part alone; may be repeated")
    add("--seconds", type=float, default=5.0, help="how long throughput is measured (default: 5)")
    add("--partitions", type=int, default=3_000, help="how many of them fail over (default: 3000)")
    add("--catch-up-megabytes", type=int, default=1_000, help="what a broker missed (default: 1000)")
    add("--directory", type=Path, default=Path(), help="where the disk to use is (default: here)")
    add("--json", type=Path, metavar="FILE", help="write everything that was measured")
    add("--markdown", type=Path, metavar="FILE", help="write the table for a page")
    return parser.parse_args()


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
    for name, batch_bytes in BATCH_SIZES.items():
        rates = {}
        for replicas in (1, NODES):
            _say(f"{name} batches, {replicas} replica(s)")
            load = ProduceLoad(batch_bytes=batch_bytes, seconds=options.seconds)
            rates[replicas] = _produce_rate(brokers, load, replicas)
            title = f"acks=all, {name} batches, replication factor {replicas}"
            key = f"produce-{batch_bytes}-{replicas}"
            yield Line(key=key, title=title, subject=SUBJECT, value=rates[replicas], unit="MB/s")
        share = rates[NODES] / rates[1]
        yield Line(
            key=f"produce-{batch_bytes}-share",
            title=f"acks=all, {name} batches, factor {NODES} / factor 1",
            subject=SUBJECT,
            value=share,
            unit="times",
            target=f"at least {SHARE_ASKED}",
            ratio=share / SHARE_ASKED,
        )


def _produce_rate(brokers: Sequence[PenstockProcess], load: ProduceLoad, replicas: int) -> float:
    address = _address(brokers[0])
    topic = f"replicated-{replicas}"
    create_topic(address, topic, partitions=6, configs={}, replication_factor=replicas)
    _wait(lambda: _is_in_sync(brokers[0], topic), f"{topic} to be in sync")
    measurement = measure_produce(find_partitions(address, topic), load)
    delete_topic(address, topic)
    os.sync()
    return measurement.bytes / measurement.seconds / 1e6


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
