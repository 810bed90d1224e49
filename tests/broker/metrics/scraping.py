"""Reading a page of metrics as Prometheus does, with the parser of its own Python library."""

import http.client
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_open_metrics
from prometheus_client.parser import text_string_to_metric_families

from penstock.broker.metrics.address_file import read_address
from penstock.broker.metrics.page import MetricsPage
from penstock.testing import Broker

OPEN_METRICS = "application/openmetrics-text; version=1.0.0"


class Answer(NamedTuple):
    """Of the HTTP port."""

    status: int
    content_type: str
    text: str


class Page:
    """Samples by name and labels."""

    def __init__(self, families: Iterable[Metric]) -> None:
        self.families = {family.name: family for family in families}
        self.samples: dict[tuple[str, frozenset[tuple[str, str]]], float] = {}
        for family in self.families.values():
            for sample in family.samples:
                key = (sample.name, frozenset(sample.labels.items()))
                assert key not in self.samples, f"told twice: {sample}"
                self.samples[key] = sample.value

    def value(self, name: str, **labels: object) -> float | None:
        """Of one series; None when it is not told."""
        return self.samples.get((name, frozenset((label, str(value)) for label, value in labels.items())))

    def sum(self, name: str, **labels: object) -> float:
        """Over all series that have these labels."""
        wanted = {(label, str(value)) for label, value in labels.items()}
        return sum(value for (found, its), value in self.samples.items() if found == name and wanted <= its)

    def names(self) -> set[str]:
        """Of all samples, as they are on the page."""
        return {name for name, _ in self.samples}

    def labels_of(self, name: str, **labels: object) -> list[frozenset[tuple[str, str]]]:
        """The labels of all series that have these among theirs."""
        wanted = {(label, str(value)) for label, value in labels.items()}
        return [its for found, its in self.samples if found == name and wanted <= its]


def parse(text: str) -> Page:
    """A page in the text format."""
    return Page(text_string_to_metric_families(text))


def parse_open(text: str) -> Page:
    """A page in OpenMetrics, of which the parser is strict."""
    return Page(parse_open_metrics(text))  # type: ignore[no-untyped-call]


def get(address: str, path: str, *, accept: str = "*/*", method: str = "GET") -> Answer:
    """One request on a connection of its own."""
    connection = http.client.HTTPConnection(address, timeout=20)
    try:
        connection.request(method, path, headers={"Accept": accept})
        answer = connection.getresponse()
        return Answer(answer.status, answer.getheader("Content-Type", ""), answer.read().decode())
    finally:
        connection.close()


def scrape(address: str) -> Page:
    """The page of a broker process."""
    answer = get(address, "/metrics")
    assert answer.status == 200, answer
    return parse(answer.text)


def address_of(data_directory: Path) -> str:
    """Where the broker on a directory answers."""
    address = read_address(str(data_directory))
    assert address is not None, f"{data_directory} does not say"
    return address


def page_of(broker: Broker) -> Page:
    """The page of a broker that runs in a thread of this process."""
    pieces = broker.thread_home.run(lambda inner: MetricsPage(inner).write())
    return parse(b"".join(pieces).decode())
