"""The brokers that the fixtures of one pytest run share, as its options want them."""

from collections.abc import Collection

import pytest

from penstock.model.errors import UsageError
from penstock.testing.broker import Broker
from penstock.testing.cluster import Cluster
from penstock.testing.external_broker import ExternalBroker
from penstock.testing.process_only import ProcessBroker, ProcessCluster

LOG_LINES_SHOWN = 60


class SharedBrokers:
    """Makes brokers, and remembers them for the reports of failing tests."""

    def __init__(self, config: pytest.Config) -> None:
        self._bootstrap: str | None = config.getoption("--penstock-bootstrap")
        self._is_process: bool = config.getoption("--penstock-process")
        self._settings = _settings(config.getini("penstock_settings"))
        self._cluster_size = int(config.getini("penstock_cluster_size"))
        self._alone: list[Broker] = []
        self._together: list[Broker] = []

    def new_broker(self) -> Broker:
        """A broker, not started yet."""
        if self._bootstrap is not None:
            broker: Broker = ExternalBroker(self._bootstrap)
        elif self._is_process:
            broker = ProcessBroker(settings=self._settings, process=True)
        else:
            broker = Broker(settings=self._settings)
        self._alone.append(broker)
        return broker

    def new_cluster(self) -> Cluster:
        """A cluster, not started yet."""
        if self._bootstrap is not None:
            pytest.skip("This test needs a cluster of its own, not the Kafka named by --penstock-bootstrap.")
        kind = ProcessCluster if self._is_process else Cluster
        cluster = kind(self._cluster_size, settings=self._settings, process=self._is_process)
        self._together.extend(cluster.brokers)
        return cluster

    def log_sections(self, fixtures: Collection[str]) -> list[tuple[str, str]]:
        """For a report: the end of the log of every broker behind these fixtures."""
        brokers = self._alone if "penstock_session_broker" in fixtures else []
        if "penstock_session_cluster" in fixtures:
            brokers = [*brokers, *self._together]
        return [
            (f"log of {broker!r}", "\n".join(broker.log.splitlines()[-LOG_LINES_SHOWN:]))
            for broker in brokers
            if broker.log
        ]


_KEY = pytest.StashKey[SharedBrokers]()


def shared_brokers(config: pytest.Config) -> SharedBrokers:
    """Those of this run."""
    if _KEY not in config.stash:
        config.stash[_KEY] = SharedBrokers(config)
    return config.stash[_KEY]


def _settings(lines: list[str]) -> dict[str, object]:
    settings: dict[str, object] = {}
    for line in lines:
        name, separator, value = line.partition("=")
        if not separator:
            raise UsageError(f"penstock_settings holds {line!r}, which is no name=value.")
        settings[name.strip()] = value.strip()
    return settings
