"""Alerts fire when they should, as promtool sees it, and the handbook knows all of them."""

import subprocess
from collections import defaultdict
from pathlib import Path

import pytest
from tests.deploy.deploy_folder import DEPLOY, documents
from tests.deploy.expressions import ALERTS, alerts
from tests.deploy.prometheus_process import PROMTOOL, WITHOUT

CASES = Path(__file__).with_name("alerts.test.yml")
HANDBOOK = DEPLOY.parent / "docs" / "monitoring.md"

needs_promtool = pytest.mark.skipif(PROMTOOL is None, reason=WITHOUT)


def promtool(*words: str | Path) -> subprocess.CompletedProcess[str]:
    assert PROMTOOL is not None
    return subprocess.run(
        [PROMTOOL, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )


@needs_promtool
def test_promtool_accepts_rules_and_configuration() -> None:
    for words in (("check", "rules", ALERTS), ("check", "config", DEPLOY / "prometheus" / "prometheus.yml")):
        checked = promtool(*words)
        assert checked.returncode == 0, checked.stdout


@needs_promtool
def test_alerts_fire_when_they_should_and_only_then() -> None:
    tested = promtool("test", "rules", CASES)
    assert tested.returncode == 0, tested.stdout


@needs_promtool
def test_case_of_an_alert_fails_when_the_alert_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "alerts.yml").write_text(ALERTS.read_text().replace('up{job=~"penstock.*"} == 0', "up == 5"))
    cases = CASES.read_text().replace("../../deploy/prometheus/alerts.yml", "alerts.yml")
    (tmp_path / "cases.yml").write_text(cases)

    tested = promtool("test", "rules", tmp_path / "cases.yml")

    assert tested.returncode != 0
    assert "PenstockBrokerDown" in tested.stdout


def test_every_alert_has_a_case_in_which_it_fires_and_one_in_which_it_does_not() -> None:
    (file,) = documents(CASES)
    outcomes = defaultdict(set)
    for case in file["tests"]:
        for expected in case["alert_rule_test"]:
            outcomes[expected["alertname"]].add(bool(expected["exp_alerts"]))

    assert outcomes == {name: {True, False} for name in alerts()}


def test_handbook_says_what_to_do_about_every_alert() -> None:
    text = HANDBOOK.read_text()
    assert not [name for name in alerts() if f"`{name}`" not in text]
