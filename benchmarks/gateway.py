"""What the gateway costs and gives: ``python benchmarks/gateway.py``.

One broker, one gateway, one client process over loopback, with keep-alive connections: how soon it is up and
how much memory it takes, how many records a second it takes and gives over REST, and how long a record takes
from being sent to the event of a stream. Nothing is asserted but that everything arrives.
"""

import argparse
import http.client
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from report import new_parser, report
from subjects import PenstockProcess
from table import Line

import penstock

UP_PREFIX = "gateway on "
RECORD = {"key": "valve", "value": {"order": 17, "total": 9.5, "note": "x" * 50}}
PER_REQUEST = 500
CLIENTS = 4
PAGE = 5_000
EVENTS = 400
EVENT_PAUSE_SECONDS = 0.005
SECONDS_MAX = 60.0


class Gateway(NamedTuple):
    """One that is up."""

    url: str
    pid: int
    up_seconds: float

    def processor_seconds(self) -> float:
        """Processor time it has taken so far, all its threads together."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def megabytes(self) -> float:
        """Memory it holds now."""
        text = Path(f"/proc/{self.pid}/status").read_text()
        (kilobytes,) = [line.split()[1] for line in text.splitlines() if line.startswith("VmRSS:")]
        return int(kilobytes) / 1024


@contextmanager
def running_gateway(servers: str) -> Iterator[Gateway]:
    """A gateway of its own; how long it took to be up is measured."""
    command = [sys.executable, "-m", "penstock", "gateway", "--listen", "127.0.0.1:0"]
    began = time.perf_counter()
    with subprocess.Popen(
        [*command, "--bootstrap-server", servers], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().removeprefix(UP_PREFIX).strip()
        try:
            yield Gateway(url, process.pid, time.perf_counter() - began)
        finally:
            process.terminate()


class Client:
    """One keep-alive connection."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=SECONDS_MAX)

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The JSON of a good answer."""
        content = None if body is None else json.dumps(body)
        headers = {} if body is None else {"Content-Type": "application/json"}
        self._connection.request(method, path, content, headers)
        answer = self._connection.getresponse()
        text = answer.read()
        if answer.status not in (200, 201):
            raise SystemExit(f"{method} {path}: {answer.status} {text!r}")
        return json.loads(text)


def produce_one_by_one(url: str, topic: str, count: int) -> float:
    """Seconds of so many requests of one record each, on one connection."""
    client = Client(url)
    began = time.perf_counter()
    for _ in range(count):
        client.ask("POST", f"/topics/{topic}/records", RECORD)
    return time.perf_counter() - began


def produce_together(url: str, topic: str, count: int) -> float:
    """Seconds of the same records, many in each request, on several connections."""
    requests = count // PER_REQUEST // CLIENTS

    def send(_: int) -> None:
        client = Client(url)
        for _ in range(requests):
            client.ask("POST", f"/topics/{topic}/records", {"records": [RECORD] * PER_REQUEST})

    began = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(send, range(CLIENTS)))
    return time.perf_counter() - began


def read_all(url: str, topic: str, expected: int) -> float:
    """Seconds until all records are read with a cursor."""
    client = Client(url)
    count = 0
    query = "from=earliest"
    began = time.perf_counter()
    while True:
        page = client.ask("GET", f"/topics/{topic}/records?{query}&limit={PAGE}&max_wait_ms=0")
        count += len(page["records"])
        query = f"cursor={page['cursor']}"
        if page["is_at_end"]:
            break
    if count != expected:
        raise SystemExit(f"{count} records were read of {expected}")
    return time.perf_counter() - began


def stream(url: str, topic: str, query: str = "") -> Iterator[Any]:
    """The records of a stream."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=SECONDS_MAX)
    connection.request("GET", f"/topics/{topic}/stream{query}")
    for line in connection.getresponse():
        if line.startswith(b"data: "):
            yield json.loads(line[6:])
        elif line.startswith(b"retry:"):
            yield None


def stream_all(url: str, topic: str, count: int) -> float:
    """Seconds until so many records came as events."""
    began = time.perf_counter()
    events = (each for each in stream(url, topic, "?from=earliest") if each is not None)
    for _ in zip(range(count), events, strict=False):
        pass
    return time.perf_counter() - began


def event_latencies_ms(url: str, servers: str, topic: str) -> list[float]:
    """From before a record is sent by a client of Kafka's protocol to its event, record by record."""
    events = stream(url, topic)
    next(events)

    def send() -> None:
        with penstock.Producer(bootstrap_servers=servers, linger_ms=0) as producer:
            producer.send(topic, b"0").result()
            for _ in range(EVENTS):
                time.sleep(EVENT_PAUSE_SECONDS)
                producer.send(topic, b"%d" % time.monotonic_ns())

    sender = threading.Thread(target=send)
    sender.start()
    found = []
    while len(found) <= EVENTS:
        sent = next(events)["value"]
        found.append((time.monotonic_ns() - sent) / 1e6)
    sender.join()
    return found[1:]


def measure(directory: Path, options: argparse.Namespace) -> Iterator[Line]:
    """All of it."""
    with PenstockProcess(directory / "data") as broker, running_gateway(broker.bootstrap_server) as gateway:
        yield _line("up", "from its start to the first answer", gateway.up_seconds, "s")
        yield _line("up-work", "processor time of that", gateway.processor_seconds(), "s")
        yield _line("memory", "memory once it is up", gateway.megabytes(), "MB")
        with penstock.Admin(bootstrap_servers=broker.bootstrap_server) as admin:
            for topic in ("single", "many", "events"):
                admin.create_topic(topic, partitions=4 if topic == "many" else 1)
        yield from _rates(gateway, options.records)
        latencies = event_latencies_ms(gateway.url, broker.bootstrap_server, "events")
        yield _line("event-p50", "from a send to its event, half of them", statistics.median(latencies), "ms")
        late = statistics.quantiles(latencies, n=100)[98]
        yield _line("event-p99", "from a send to its event, 99 of 100", late, "ms")
        yield _line("memory-after", "memory after all that", gateway.megabytes(), "MB")


def _rates(gateway: Gateway, records: int) -> Iterator[Line]:
    few = max(100, records // 100)
    sent = records // PER_REQUEST // CLIENTS * PER_REQUEST * CLIENTS
    yield from _rate(
        gateway,
        "produce, a record a request, 1 connection",
        few,
        lambda: produce_one_by_one(gateway.url, "single", few),
    )
    yield from _rate(
        gateway,
        f"produce, {PER_REQUEST} records a request, {CLIENTS} connections",
        sent,
        lambda: produce_together(gateway.url, "many", records),
    )
    yield from _rate(
        gateway,
        f"read with a cursor, {PAGE:,} records a page",
        sent,
        lambda: read_all(gateway.url, "many", sent),
    )
    yield from _rate(
        gateway, "stream from the beginning", sent, lambda: stream_all(gateway.url, "many", sent)
    )


def _rate(gateway: Gateway, title: str, records: int, run: Callable[[], float]) -> Iterator[Line]:
    """Records a second, and what of the gateway's own each of them costs, which others cannot slow down."""
    before = gateway.processor_seconds()
    seconds = run()
    spent = gateway.processor_seconds() - before
    yield _line(title, title, records / seconds, "records/s")
    yield _line(f"{title}, work", "processor time of that", spent / records * 1e6, "µs/record")


def _line(key: str, title: str, value: float, unit: str) -> Line:
    return Line(key=f"gateway-{key}", title=title, subject="penstock gateway", value=value, unit=unit)


def main() -> None:
    """Measure, print, and write what was asked for."""
    parser = new_parser(__doc__)
    parser.add_argument("--records", type=int, default=100_000, help="to produce and read (100,000)")
    report(measure, parser.parse_args())


if __name__ == "__main__":
    main()
