"""What generated files have in common: how many brokers, which ports, images and versions."""

from dataclasses import dataclass

from penstock.model.version import __version__

REPLICATION_FACTOR_MAX = 3
"""More copies are for whoever asks for them."""

BROKER_PORT = 9092
METRICS_PORT = 19_092
GATEWAY_PORT = 8080
PROMETHEUS_PORT = 9090
GRAFANA_PORT = 3000

USER_ID = 10_001
"""Of the container's user; above those that distributions give to anybody."""

PYTHON_IMAGE = "python:3.13.9-slim-bookworm"
PROMETHEUS_IMAGE = "prom/prometheus:v3.5.0"
GRAFANA_IMAGE = "grafana/grafana:12.2.0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A cluster as it is to be."""

    nodes: int = 3

    @property
    def replication_factor(self) -> int:
        """Copies of topics whose creators do not say."""
        return min(self.nodes, REPLICATION_FACTOR_MAX)

    @property
    def min_insync_replicas(self) -> int:
        """One broker may be away without anybody having to wait; two may not."""
        return max(1, self.replication_factor - 1)

    @property
    def numbers(self) -> range:
        """Of the brokers, from 1."""
        return range(1, self.nodes + 1)

    def port(self, number: int) -> int:
        """Of a broker that shares an address with the others."""
        return BROKER_PORT + number - 1


FIXED = {
    "version": __version__,
    "python_image": PYTHON_IMAGE,
    "prometheus_image": PROMETHEUS_IMAGE,
    "grafana_image": GRAFANA_IMAGE,
    "user_id": str(USER_ID),
    "broker_port": str(BROKER_PORT),
    "metrics_port": str(METRICS_PORT),
    "gateway_port": str(GATEWAY_PORT),
    "prometheus_port": str(PROMETHEUS_PORT),
    "grafana_port": str(GRAFANA_PORT),
}
"""Words of templates that are the same everywhere."""
