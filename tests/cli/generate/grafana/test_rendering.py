"""Dashboards are laid out so that Grafana can show them."""

import json
import re
from itertools import combinations
from typing import Any

import pytest

from penstock.cli.generate.grafana.files import DASHBOARDS
from penstock.cli.generate.grafana.panel import (
    Alarm,
    Dashboard,
    Panel,
    PanelKind,
    Query,
    Row,
    number,
    quantile,
)
from penstock.cli.generate.grafana.rendering import COLUMNS, rendered


def page(dashboard: Dashboard) -> dict[str, Any]:
    loaded = json.loads(rendered(dashboard))
    assert isinstance(loaded, dict)
    return loaded


def overlap(one: dict[str, int], other: dict[str, int]) -> bool:
    return (
        one["x"] < other["x"] + other["w"]
        and other["x"] < one["x"] + one["w"]
        and one["y"] < other["y"] + other["h"]
        and other["y"] < one["y"] + one["h"]
    )


@pytest.mark.parametrize("dashboard", DASHBOARDS, ids=lambda each: each.name)
def test_panels_have_places_of_their_own(dashboard: Dashboard) -> None:
    panels = page(dashboard)["panels"]
    places = [panel["gridPos"] for panel in panels]

    assert len({panel["id"] for panel in panels}) == len(panels)
    assert all(place["x"] >= 0 and place["x"] + place["w"] <= COLUMNS for place in places)
    assert not [pair for pair in combinations(places, 2) if overlap(*pair)]


@pytest.mark.parametrize("dashboard", DASHBOARDS, ids=lambda each: each.name)
def test_every_panel_says_what_it_shows_and_asks_the_chosen_source(dashboard: Dashboard) -> None:
    titles = [panel.title for row in dashboard.rows for panel in row.panels]
    assert len(set(titles)) == len(titles)
    for panel in page(dashboard)["panels"]:
        if panel["type"] != "row":
            assert panel["description"].endswith(".")
            assert panel["datasource"]["uid"] == "${datasource}"
            assert [target["refId"] for target in panel["targets"]] == list("ABCD"[: len(panel["targets"])])


@pytest.mark.parametrize("dashboard", DASHBOARDS, ids=lambda each: each.name)
def test_expressions_use_all_choices_and_no_others(dashboard: Dashboard) -> None:
    used = {
        name
        for row in dashboard.rows
        for panel in row.panels
        for query in panel.queries
        for name in re.findall(r"\$(\w+)", query.expression)
    }
    assert used - {"__rate_interval"} == {variable.name for variable in dashboard.variables}


def test_names_of_dashboards_are_their_own() -> None:
    assert len({page(dashboard)["uid"] for dashboard in DASHBOARDS}) == len(DASHBOARDS)


def test_panels_that_do_not_fit_beside_others_come_below() -> None:
    wide = Panel(title="wide", description="Wide.", queries=(Query("a"),), width=20, height=5)
    narrow = Panel(title="narrow", description="Narrow.", queries=(Query("b"),), width=8, height=3)
    rows = (Row(title="one", panels=(wide, narrow)), Row(title="two", panels=(narrow, narrow)))
    made = Dashboard(name="d", title="D", description="D.", variables=(), rows=rows)

    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in page(made)["panels"]]

    assert places == [(0, 0), (0, 1), (0, 6), (0, 9), (0, 10), (8, 10)]


@pytest.mark.parametrize(
    ("alarm", "colors"),
    [
        (Alarm.NEVER, ["green", "green", "green"]),
        (Alarm.ABOVE_ZERO, ["green", "red", "red"]),
        (Alarm.BELOW_ONE, ["red", "green", "green"]),
        (Alarm.NOT_ONE, ["red", "green", "red"]),
    ],
)
def test_numbers_turn_red_when_they_should(alarm: Alarm, colors: list[str]) -> None:
    row = Row(title="r", panels=(number("n", "N.", "x", alarm=alarm),))
    made = page(Dashboard(name="d", title="D", description="D.", variables=(), rows=(row,)))
    steps = made["panels"][1]["fieldConfig"]["defaults"]["thresholds"]["steps"]

    shown = [
        [step["color"] for step in steps if step["value"] is None or step["value"] <= value][-1]
        for value in (0, 1, 2)
    ]

    assert shown == colors


def test_tables_are_asked_once_and_lines_over_time() -> None:
    table = Panel(title="t", description="T.", queries=(Query("a"),), kind=PanelKind.TABLE)
    lines = Panel(title="l", description="L.", queries=(Query("a"),))
    made = page(
        Dashboard(
            name="d", title="D", description="D.", variables=(), rows=(Row(title="r", panels=(table, lines)),)
        )
    )
    assert [panel["targets"][0]["instant"] for panel in made["panels"][1:]] == [True, False]


def test_quantile_keeps_the_bounds_of_buckets() -> None:
    assert quantile(0.9, "m", "api", where=', a="b"') == (
        'histogram_quantile(0.9, sum by (api, le) (rate(m_bucket{job=~"$job", a="b"}[$__rate_interval])))'
    )
