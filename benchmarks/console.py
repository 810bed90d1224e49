"""What searching a topic in the console takes, and what it does to others: ``python benchmarks/console.py``.

A topic is filled with JSON messages, and searched through a gateway's own API until every message was seen.
Then a producer that sends one record at a time, at a fixed rate, is timed: alone, and while searches follow
each other without a pause; in turns, so that what else the machine does falls on both. Last, pages of
messages are asked for while a search runs. Broker, gateway, searcher and producer are processes of their own.
"""

import argparse
import json
import multiprocessing
import os
import select
import signal
import statistics
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from multiprocessing.synchronize import Event
from pathlib import Path

from report import new_parser, report
from subjects import PenstockProcess
from table import Line

from penstock.bench.connection import Connection, parse_address
from penstock.bench.measurement import percentiles_of
from penstock.bench.prebuilt import ACKS_ALL, make_batch, produce_request
from penstock.bench.topics import create_topic, find_partitions
from penstock.client import Producer
from penstock.wire.api_keys import ApiKey

SUBJECT = "penstock"
TOPIC, LOADED_TOPIC = "searched", "loaded"
PARTITIONS = 4
SEARCH_SECONDS_ASKED = 3.0
SLOWDOWN_ASKED = 2.0
ROUNDS = 5
TURNS = 12
BROWSER_NICENESS = 19
"""Who searches stands for a browser, which is on another machine."""
START_SECONDS_MAX = 30.0
FILTERS = {
    "text": "customer-77777",
    "a JSON path": "$.order.total > 9990",
    "several conditions": "customer-7 and $.order.items[*].sku = A-17 and not header.trace:ff",
    "a regular expression": 'value ~ "customer-7+\\""',
}


def main() -> None:
    """Measure, print, and write what was asked for."""
    report(_all_lines, _options())


def _options() -> argparse.Namespace:
    parser = new_parser(__doc__)
    parser.add_argument("--messages", type=int, default=100_000, help="in the topic (default: 100,000)")
    parser.add_argument("--rate", type=int, default=200, help="records a second (default: 200)")
    parser.add_argument("--seconds", type=float, default=2.5, help="of each turn of producing (default: 2.5)")
    return parser.parse_args()


def _all_lines(directory: Path, options: argparse.Namespace) -> Iterator[Line]:
    with PenstockProcess(directory / "data") as broker:
        address = parse_address(broker.bootstrap_server)
        create_topic(address, TOPIC, partitions=PARTITIONS, configs={})
        create_topic(address, LOADED_TOPIC, partitions=1, configs={})
        _say(f"writing {options.messages:,} messages")
        _fill(broker.bootstrap_server, options.messages)
        with _gateway(broker.bootstrap_server) as url:
            for what, text in FILTERS.items():
                _say(f"searching by {what}")
                yield _search_line(url, what, text, options.messages)
            _say("producing alone and beside searches, in turns")
            yield from _produce_lines(broker.bootstrap_server, url, options)
            _say("asking for pages beside a search")
            yield _page_line(url, options.seconds)


def _fill(bootstrap_server: str, count: int) -> None:
    with Producer(bootstrap_servers=bootstrap_server) as producer:
        for number in range(count):
            order = {
                "id": number,
                "total": number * 7919 % 10_000,
                "items": [{"sku": f"A-{number % 50}", "n": 2}],
            }
            value = {"order": order, "customer": f"customer-{number}", "note": "a note of some words " * 3}
            producer.send(
                TOPIC,
                json.dumps(value).encode(),
                f"customer-{number}".encode(),
                {"trace": f"{number:x}".encode()},
                number % PARTITIONS,
            )


@contextmanager
def _gateway(bootstrap_server: str) -> Iterator[str]:
    command = [str(Path(sys.executable).with_name("penstock")), "gateway"]
    command += ["--bootstrap-server", bootstrap_server, "--listen", "127.0.0.1:0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        ready, _, _ = select.select([process.stdout], [], [], START_SECONDS_MAX)
        if not ready:
            raise SystemExit(f"penstock gateway did not come up within {START_SECONDS_MAX:g} s.")
        yield process.stdout.readline().split()[-1].rstrip("/")
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(START_SECONDS_MAX)
        if process.stdout is not None:
            process.stdout.close()


def _search_line(url: str, what: str, text: str, total: int) -> Line:
    ran = [_search(url, text) for _ in range(ROUNDS)]
    for _, told in ran:
        if not told["is_complete"] or told["scanned"] != total:
            raise SystemExit(f"The search {text!r} was not complete: {told}")
    seconds = statistics.median(took for took, _ in ran)
    return Line(
        key=f"search-{what.replace(' ', '-')}",
        title=f"search {total:,} messages by {what}",
        subject=SUBJECT,
        value=seconds,
        unit="s",
        target=f"{SEARCH_SECONDS_ASKED:g} s",
        ratio=SEARCH_SECONDS_ASKED / seconds,
        details={
            "filter": text,
            "matched": ran[0][1]["matched"],
            "seconds": [round(took, 3) for took, _ in ran],
        },
    )


def _search(url: str, text: str) -> tuple[float, dict[str, object]]:
    """How long it took until the last event was here, and what the events said."""
    query = urllib.parse.urlencode({"filter": text, "limit": 5_000})
    told: dict[str, object] = {}
    began = time.monotonic()
    with urllib.request.urlopen(f"{url}/console/api/messages/{TOPIC}/search?{query}", timeout=60) as answer:
        name = ""
        for line in answer:
            if line.startswith(b"event: "):
                name = line[7:].decode().strip()
            elif line.startswith(b"data: ") and name in ("progress", "end"):
                told |= json.loads(line[6:])
    return time.monotonic() - began, told


def _produce_lines(bootstrap_server: str, url: str, options: argparse.Namespace) -> Iterator[Line]:
    waits_ns: dict[bool, list[int]] = {False: [], True: []}
    _produce(bootstrap_server, options.rate, seconds=1.0)
    for turn in range(TURNS):
        is_searched = turn % 2 == 1
        with _searching(url) if is_searched else _nothing():
            waits_ns[is_searched] += _produce(bootstrap_server, options.rate, seconds=options.seconds)
    alone, beside = (percentiles_of(waits_ns[each]) for each in (False, True))
    assert alone is not None
    assert beside is not None
    for key, title, told in (("alone", "alone", alone), ("searched", "beside searches", beside)):
        yield Line(
            key=f"produce-{key}",
            title=f"p99 of producing at {options.rate} records a second, {title}",
            subject=SUBJECT,
            value=told.p99_ms,
            unit="ms",
            target=f"{alone.p99_ms * SLOWDOWN_ASKED:.2f} ms" if key == "searched" else "",
            ratio=alone.p99_ms * SLOWDOWN_ASKED / told.p99_ms if key == "searched" else None,
            details={
                "p50_ms": told.p50_ms,
                "p999_ms": told.p999_ms,
                "max_ms": told.max_ms,
                "count": told.count,
            },
        )


def _produce(bootstrap_server: str, rate: int, *, seconds: float) -> list[int]:
    """Send a record when it is due, or as soon as the one before is stored, and wait for its acknowledgement.

    Waits count from the sending: on a machine with few cores, how late this program itself is would say more
    about it than about the broker.
    """
    (partition,) = find_partitions(parse_address(bootstrap_server), LOADED_TOPIC)
    waits_ns: list[int] = []
    with Connection(partition.leader) as connection:
        version = connection.version(ApiKey.PRODUCE)
        data = make_batch(record_bytes=100, batch_bytes=0).data
        request = produce_request(partition, data, acks=ACKS_ALL, version=version, correlation_id=1)
        interval_ns = 1_000_000_000 // rate
        due_ns = time.monotonic_ns()
        for _ in range(round(rate * seconds)):
            due_ns += interval_ns
            time.sleep(max(0.0, (due_ns - time.monotonic_ns()) / 1e9))
            sent_ns = time.monotonic_ns()
            connection.send(request)
            connection.receive_frame()
            waits_ns.append(time.monotonic_ns() - sent_ns)
    return waits_ns


@contextmanager
def _nothing() -> Iterator[None]:
    yield


@contextmanager
def _searching(url: str) -> Iterator[None]:
    """Searches without a pause, in a process of their own."""
    context = multiprocessing.get_context("spawn")
    begun, ended = context.Event(), context.Event()
    process = context.Process(target=_search_on, args=(url, begun, ended))
    process.start()
    try:
        begun.wait(START_SECONDS_MAX)
        yield
    finally:
        ended.set()
        process.join(START_SECONDS_MAX)


def _search_on(url: str, begun: Event, ended: Event) -> None:
    os.nice(BROWSER_NICENESS)
    while not ended.is_set():
        for text in FILTERS.values():
            begun.set()
            _search(url, text)
            if ended.is_set():
                break


def _page_line(url: str, seconds: float) -> Line:
    waits_ns: list[int] = []
    with _searching(url):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            began = time.monotonic_ns()
            with urllib.request.urlopen(f"{url}/console/api/messages/{TOPIC}?limit=50", timeout=60) as answer:
                answer.read()
            waits_ns.append(time.monotonic_ns() - began)
    told = percentiles_of(waits_ns)
    assert told is not None
    return Line(
        key="page-searched",
        title="p99 of a page of 50 messages beside a search",
        subject=SUBJECT,
        value=told.p99_ms,
        unit="ms",
        details=asdict(told),
    )


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
