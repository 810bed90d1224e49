"""Prometheus: what it scrapes, and when it raises the alarm."""

from collections.abc import Iterable

from penstock.cli.generate.filling import filled, template
from penstock.cli.generate.plan import METRICS_PORT, Plan


def prometheus_files(plan: Plan) -> dict[str, str]:
    """For a cluster on this machine; only ``targets.yml`` has to be changed for any other."""
    targets = target_lines(f"127.0.0.1:{METRICS_PORT + number - 1}" for number in plan.numbers)
    return {
        "prometheus/prometheus.yml": filled("prometheus/prometheus.yml"),
        "prometheus/targets.yml": filled("prometheus/targets.yml", {"targets": targets}),
        "prometheus/alerts.yml": template("prometheus/alerts.yml"),
    }


def target_lines(addresses: Iterable[str]) -> str:
    """Items of a list in YAML."""
    return "\n".join(f"    - {address}" for address in addresses)
