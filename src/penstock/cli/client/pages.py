"""Pages of metrics, read for what clients have pushed.

There is no API that gives pushed metrics back, in Kafka neither; the page is where they are.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.error import URLError
from urllib.request import urlopen

from penstock.cli.failure import CommandFailed
from penstock.cli.librdkafka import bootstrap_addresses
from penstock.cli.unanswered import reason_of

PREFIX = "penstock_client_"
INFO = f"{PREFIX}info"
PORT_DISTANCE = 10_000
"""From a broker's port to that of its page, unless it was told otherwise."""

WAIT_SECONDS = 10
PAGE_BYTES_MAX = 256 * 1024 * 1024

_SAMPLE = re.compile(rf"({PREFIX}\w+)\{{(.*)\}} (\S+)")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_ESCAPED = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientMetric:
    """One number that a client has told one broker."""

    name: str
    labels: Mapping[str, str]
    value: float
    #: Where the page was read.
    page: str


@dataclass(slots=True, kw_only=True)
class ToldClient:
    """A client, and all that brokers know from it."""

    facts: Mapping[str, str]
    metrics: list[ClientMetric] = field(default_factory=list)


def page_addresses(pages: Sequence[str], bootstrap_server: str) -> list[str]:
    """Where to look: as given, or where the brokers named have their pages by default."""
    if pages:
        return list(pages)
    return [
        f"{f'[{host}]' if ':' in host else host}:{port + PORT_DISTANCE}"
        for host, port in bootstrap_addresses(bootstrap_server)
    ]


def read_clients(addresses: Sequence[str]) -> list[ToldClient]:
    """Everybody who has pushed to one of these brokers, in the order of client ids."""
    found: dict[str, ToldClient] = {}
    for address in addresses:
        for metric in parse_page(_read_page(address), page=address):
            who = metric.labels["client_instance_id"]
            if metric.name == INFO:
                found.setdefault(who, ToldClient(facts=metric.labels))
            elif who in found:
                found[who].metrics.append(metric)
    return sorted(
        found.values(), key=lambda each: (each.facts["client_id"], each.facts["client_instance_id"])
    )


def parse_page(text: str, *, page: str) -> Iterator[ClientMetric]:
    """What a page says of clients; who they are comes first on it."""
    for line in text.splitlines():
        match = _SAMPLE.fullmatch(line)
        if match is not None:
            name, labels, value = match.groups()
            pairs = {key: _plain(escaped) for key, escaped in _LABEL.findall(labels)}
            yield ClientMetric(name=name, labels=pairs, value=float(value), page=page)


def _plain(escaped: str) -> str:
    return _ESCAPED.sub(lambda found: "\n" if found[1] == "n" else found[1], escaped)


def _read_page(address: str) -> str:
    try:
        with urlopen(f"http://{address}/metrics", timeout=WAIT_SECONDS) as answer:
            return str(answer.read(PAGE_BYTES_MAX), "utf-8", "replace")
    except (URLError, OSError, ValueError) as error:
        raise CommandFailed(
            f"No broker has a page of metrics at {address}: {reason_of(error)}.",
            hint="Say where it is with --metrics HOST:PORT; the broker's setting metrics.listener has it, or "
            "the file metrics.address in its data directory.",
        ) from error
