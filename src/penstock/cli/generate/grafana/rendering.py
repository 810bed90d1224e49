"""Turns a dashboard into the JSON that Grafana loads: places panels, numbers them, says how each is drawn."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from penstock.cli.generate.grafana.panel import Alarm, Dashboard, Panel, PanelKind, Query, Row, Variable

SCHEMA_VERSION = 39
COLUMNS = 24
_DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
_GREEN, _RED = "green", "red"

_STEPS: Mapping[Alarm, Sequence[tuple[str, float | None]]] = {
    Alarm.NEVER: ((_GREEN, None),),
    Alarm.ABOVE_ZERO: ((_GREEN, None), (_RED, 1)),
    Alarm.BELOW_ONE: ((_RED, None), (_GREEN, 1)),
    Alarm.NOT_ONE: ((_RED, None), (_GREEN, 1), (_RED, 2)),
}


def rendered(dashboard: Dashboard) -> str:
    """The file's text."""
    page = {
        "uid": f"penstock-{dashboard.name}",
        "title": dashboard.title,
        "description": dashboard.description,
        "tags": ["penstock"],
        "schemaVersion": SCHEMA_VERSION,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "30s",
        "time": {"from": "now-1h", "to": "now"},
        "timezone": "browser",
        "links": [_LINKS],
        "templating": {"list": [_CHOICE_OF_DATASOURCE, *map(_variable, dashboard.variables)]},
        "panels": list(_panels(dashboard.rows)),
    }
    return json.dumps(page, indent=1, ensure_ascii=False) + "\n"


_LINKS = {
    "type": "dashboards",
    "title": "Penstock",
    "tags": ["penstock"],
    "asDropdown": False,
    "includeVars": True,
    "keepTime": True,
}

_CHOICE_OF_DATASOURCE = {
    "name": "datasource",
    "label": "Data source",
    "type": "datasource",
    "query": "prometheus",
    "current": {},
}


def _variable(variable: Variable) -> dict[str, Any]:
    return {
        "name": variable.name,
        "label": variable.label,
        "type": "query",
        "datasource": _DATASOURCE,
        "query": {"query": f"label_values({variable.metric}, {variable.values_of})", "refId": variable.name},
        "refresh": 2,
        "sort": 7,
        "multi": True,
        "includeAll": True,
        "allValue": ".*",
        "current": {"text": ["All"], "value": ["$__all"]},
    }


def _panels(rows: Sequence[Row]) -> Iterator[dict[str, Any]]:
    """Headings and panels with their places, from the top."""
    number, top = 1, 0
    for row in rows:
        yield {
            "id": number,
            "type": "row",
            "title": row.title,
            "collapsed": False,
            "panels": [],
            "gridPos": {"x": 0, "y": top, "w": COLUMNS, "h": 1},
        }
        number, top, left, height = number + 1, top + 1, 0, 0
        for panel in row.panels:
            if left + panel.width > COLUMNS:
                top, left, height = top + height, 0, 0
            place = {"x": left, "y": top, "w": panel.width, "h": panel.height}
            yield {"id": number, "gridPos": place, **_panel(panel)}
            number, left, height = number + 1, left + panel.width, max(height, panel.height)
        top += height


def _panel(panel: Panel) -> dict[str, Any]:
    steps = [{"color": color, "value": value} for color, value in _STEPS[panel.alarm]]
    return {
        "type": panel.kind.value,
        "title": panel.title,
        "description": panel.description,
        "datasource": _DATASOURCE,
        "fieldConfig": {
            "defaults": {
                "unit": panel.unit.value,
                "thresholds": {"mode": "absolute", "steps": steps},
                **_FIELDS[panel.kind],
            },
            "overrides": [],
        },
        "options": _OPTIONS[panel.kind],
        "targets": [_target(panel.kind, query, place) for place, query in enumerate(panel.queries)],
        **_TRANSFORMED[panel.kind],
    }


_FIELDS: Mapping[PanelKind, dict[str, Any]] = {
    PanelKind.LINES: {
        "custom": {"lineWidth": 1, "fillOpacity": 10, "showPoints": "never", "axisSoftMin": 0},
    },
    PanelKind.NUMBER: {"noValue": "?"},
    PanelKind.TABLE: {},
}

_OPTIONS: Mapping[PanelKind, dict[str, Any]] = {
    PanelKind.LINES: {
        "legend": {"displayMode": "list", "placement": "bottom"},
        "tooltip": {"mode": "multi", "sort": "desc"},
    },
    PanelKind.NUMBER: {
        "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
        "colorMode": "value",
        "graphMode": "area",
    },
    PanelKind.TABLE: {"showHeader": True, "cellHeight": "sm"},
}

_TRANSFORMED: Mapping[PanelKind, dict[str, Any]] = {
    PanelKind.LINES: {},
    PanelKind.NUMBER: {},
    PanelKind.TABLE: {
        "transformations": [{"id": "organize", "options": {"excludeByName": {"Time": True}}}],
    },
}


def _target(kind: PanelKind, query: Query, place: int) -> dict[str, Any]:
    is_table = kind is PanelKind.TABLE
    return {
        "refId": chr(ord("A") + place),
        "datasource": _DATASOURCE,
        "expr": query.expression,
        "legendFormat": query.legend,
        "instant": is_table,
        "range": not is_table,
        "format": "table" if is_table else "time_series",
    }
