"""A cluster that has something to show: three brokers, topics that are written to, groups that read them.

``console_screens.py`` takes pictures of it. Run by itself, it stays until Ctrl-C and prints where to look:
a way to try the console without a cluster of one's own.
"""

import argparse
import json
import math
import random
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

from console_scene_data import add_schemas, run_pipelines

from penstock.client import Admin, Consumer, NewTopic, Producer
from penstock.gateway.server import GatewayServer
from penstock.gateway.settings import GatewaySettings
from penstock.testing import Cluster

TOPICS = {
    "orders": (6, {"retention.ms": "604800000", "compression.type": "zstd"}),
    "payments": (3, {"min.insync.replicas": "2"}),
    "page-views": (12, {"retention.ms": "86400000", "segment.bytes": "67108864"}),
    "customers": (3, {"cleanup.policy": "compact"}),
    "inventory-events": (4, {}),
}
RATES = {"orders": 40, "payments": 15, "page-views": 180, "customers": 2, "inventory-events": 8}
"""Records a second."""

GROUPS = {"billing": ("orders", 60), "fraud-check": ("payments", 100), "dashboard": ("page-views", 190)}
"""What each reads, and how many records a second it manages."""

WAVE_SECONDS = 45.0
STEP_SECONDS = 0.1


class Scene:
    """The cluster, its gateway and its traffic, for the length of a ``with`` block."""

    def __init__(self, *, port: int = 0, brokers: int = 3) -> None:
        self._port = port
        self._brokers = brokers
        self._stack = ExitStack()
        self._ending = threading.Event()

    def __enter__(self) -> "Scene":
        try:
            self._begin()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _begin(self) -> None:
        self.cluster = self._stack.enter_context(
            Cluster(self._brokers, process=True, on_disk=True, settings={"server.log.topic.enable": True})
        )
        self.bootstrap = self.cluster.bootstrap_servers
        self._fill()
        settings = GatewaySettings(bootstrap_servers=self.bootstrap, port=self._port)
        self.gateway = self._stack.enter_context(GatewayServer(settings).start())
        add_schemas(self.gateway.url, self.bootstrap)
        self._stack.enter_context(self._thread(lambda: run_pipelines(self.bootstrap, self._ending)))
        for work in (self._produce, *(lambda name=name: self._consume(name) for name in GROUPS)):
            self._stack.enter_context(self._thread(work))

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self._stack.close()

    @property
    def url(self) -> str:
        """Where its console is."""
        return f"{self.gateway.url}/console/"

    def _fill(self) -> None:
        with Admin(bootstrap_servers=self.bootstrap) as admin:
            admin.create_topics(
                NewTopic(name=name, partitions=count, config=config)
                for name, (count, config) in TOPICS.items()
            )
            with Producer(bootstrap_servers=self.bootstrap) as producer:
                for number in range(4_000):
                    for topic in ("orders", "payments", "page-views"):
                        producer.send(topic, value(topic, number), key=f"customer-{number % 97}")
        self._read_once("nightly-export", "orders", 1_300)
        self._begin_transaction()

    def _read_once(self, group: str, topic: str, count: int) -> None:
        """Leave a group behind that nobody is in, and that has much to go."""
        settings = {"bootstrap_servers": self.bootstrap, "group_id": group, "auto_offset_reset": "earliest"}
        with Consumer(**settings) as consumer:
            consumer.subscribe(topic)
            while count > 0:
                count -= len(consumer.poll(1.0, min(count, 100)))
            consumer.commit()

    def _begin_transaction(self) -> None:
        """One that stays open for as long as the scene does."""
        producer = self._stack.enter_context(
            Producer(
                bootstrap_servers=self.bootstrap,
                transactional_id="payments-writer-1",
                transaction_timeout_ms=900_000,
            )
        )
        producer.transaction()
        producer.send("payments", value("payments", 0), key="customer-1")
        producer.send("orders", value("orders", 0), key="customer-1")

    def _produce(self) -> None:
        started = time.monotonic()
        owed = dict.fromkeys(RATES, 0.0)
        with Producer(bootstrap_servers=self.bootstrap) as producer:
            while not self._ending.wait(STEP_SECONDS):
                wave = 1 + 0.45 * math.sin((time.monotonic() - started) / WAVE_SECONDS * 2 * math.pi)
                for topic, rate in RATES.items():
                    owed[topic] += rate * wave * STEP_SECONDS * random.uniform(0.8, 1.2)
                    while owed[topic] >= 1:
                        owed[topic] -= 1
                        number = random.randrange(10_000)
                        producer.send(topic, value(topic, number), key=f"customer-{number % 97}")

    def _consume(self, group: str) -> None:
        topic, rate = GROUPS[group]
        with Consumer(
            bootstrap_servers=self.bootstrap, group_id=group, auto_offset_reset="latest"
        ) as consumer:
            consumer.subscribe(topic)
            while not self._ending.is_set():
                consumer.poll(max_records=max(1, rate // 5), timeout=STEP_SECONDS)
                consumer.commit()
                self._ending.wait(STEP_SECONDS)

    @contextmanager
    def _thread(self, work: object) -> Iterator[None]:
        thread = threading.Thread(target=work, daemon=True)  # type: ignore[arg-type]
        thread.start()
        try:
            yield
        finally:
            thread.join(10)


def value(topic: str, number: int) -> bytes:
    """A record as such a topic might hold it."""
    body = {
        "id": f"{topic[:2]}-{number:05d}",
        "customer": f"customer-{number % 97}",
        "amount": round(5 + (number * 37 % 9000) / 100, 2),
        "items": [
            {"sku": f"SKU-{(number * 7 + each) % 400}", "count": 1 + each} for each in range(number % 3 + 1)
        ],
        "country": ("DE", "FR", "PL", "ES", "SE")[number % 5],
    }
    return json.dumps(body).encode()


def main() -> None:
    """Stay until Ctrl-C."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--brokers", type=int, default=3)
    arguments = parser.parse_args()
    # A shell's background job ignores Ctrl-C; whoever ends it otherwise must not leave the brokers behind.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    with Scene(port=arguments.port, brokers=arguments.brokers) as scene:
        print(f"brokers on {scene.bootstrap}\nconsole on {scene.url}", flush=True)
        with suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()
