"""All dashboards as files, and those by which Grafana finds them."""

from penstock.cli.generate.filling import template
from penstock.cli.generate.grafana.clients import CLIENTS
from penstock.cli.generate.grafana.groups import GROUPS
from penstock.cli.generate.grafana.overview import OVERVIEW
from penstock.cli.generate.grafana.raft import RAFT
from penstock.cli.generate.grafana.rendering import rendered
from penstock.cli.generate.grafana.telemetry import TELEMETRY
from penstock.cli.generate.grafana.topics import TOPICS
from penstock.cli.generate.plan import Plan

DASHBOARDS = (OVERVIEW, TOPICS, GROUPS, RAFT, CLIENTS, TELEMETRY)

_PROVISIONING = (
    "grafana/provisioning/datasources/prometheus.yaml",
    "grafana/provisioning/dashboards/penstock.yaml",
)


def grafana_files(plan: Plan) -> dict[str, str]:
    """The same for any number of brokers."""
    boards = {f"grafana/dashboards/{board.name}.json": rendered(board) for board in DASHBOARDS}
    return {**boards, **{path: template(path) for path in _PROVISIONING}}
