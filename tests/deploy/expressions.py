"""Every expression that is given to Prometheus, as it lies in ``deploy/``, with the place where it stands."""

import json
from typing import Any

from tests.deploy.deploy_folder import DEPLOY, documents

DASHBOARDS = sorted((DEPLOY / "grafana" / "dashboards").glob("*.json"))
ALERTS = DEPLOY / "prometheus" / "alerts.yml"


def dashboard(name: str) -> dict[str, Any]:
    """One dashboard."""
    page = json.loads((DEPLOY / "grafana" / "dashboards" / f"{name}.json").read_text())
    assert isinstance(page, dict)
    return page


def panel_expressions() -> dict[str, str]:
    """Of all panels of all dashboards."""
    found = {}
    for path in DASHBOARDS:
        for panel in dashboard(path.stem)["panels"]:
            for target in panel.get("targets", ()):
                found[f"{path.stem}: {panel['title']} {target['refId']}"] = target["expr"]
    return found


def variable_series() -> dict[str, tuple[str, str]]:
    """Series and label behind the choices at the top of all dashboards."""
    found = {}
    for path in DASHBOARDS:
        for variable in dashboard(path.stem)["templating"]["list"]:
            if variable["type"] == "query":
                asked = variable["query"]["query"].removeprefix("label_values(").removesuffix(")")
                series, _, label = asked.rpartition(", ")
                found[f"{path.stem}: ${variable['name']}"] = (series, label)
    return found


def alerts() -> dict[str, dict[str, Any]]:
    """All alerts by name."""
    (file,) = documents(ALERTS)
    return {rule["alert"]: rule for group in file["groups"] for rule in group["rules"]}


def alert_expressions() -> dict[str, str]:
    """Of all alerts."""
    return {f"alert {name}": rule["expr"] for name, rule in alerts().items()}
