"""Schemas, logs, storage and pipelines in a real browser."""

import json
import re
from collections.abc import Mapping

import httpx2
import pytest
from tests.conftest import UniqueName
from tests.gateway.console.conftest import PHONE, Visitor, overflow

from penstock.client import Producer
from penstock.gateway.server import GatewayServer
from penstock.spark.pipelines.reporting.progress_topic import ProgressTopic
from penstock.spark.pipelines.running.events import FlowStarted

pytestmark = pytest.mark.slow


def record(*fields: Mapping[str, object]) -> str:
    return json.dumps({"type": "record", "name": "Order", "fields": list(fields)})


ID = {"name": "id", "type": "long"}
TOTAL = {"name": "total", "type": "double", "default": 0.0}
REQUIRED = {"name": "customer", "type": "string"}


@pytest.fixture
def subject(gateway: GatewayServer, unique: UniqueName) -> str:
    name = unique("orders") + "-value"
    for text in (record(ID), record(ID, TOTAL)):
        answer = httpx2.post(f"{gateway.url}/subjects/{name}/versions", json={"schema": text}, timeout=30)
        answer.raise_for_status()
    return name


def test_two_versions_of_a_schema_are_compared(visit: Visitor, subject: str) -> None:
    page = visit(f"/console/schemas/{subject}")
    page.get_by_role("button", name="Compare version 1 with 2").click()
    page.get_by_text("Version 1 → 2").wait_for()
    assert page.locator("td.added").filter(has_text='"name": "total"').count() == 1
    assert "against=1" in page.url
    page.get_by_role("button", name="Below each other").click()
    page.locator("table.inline").wait_for()


def test_a_check_names_the_field_that_is_in_the_way(visit: Visitor, subject: str) -> None:
    page = visit(f"/console/schemas/{subject}")
    page.get_by_role("button", name="Check", exact=True).click()
    page.get_by_label("Schema", exact=True).fill(record(ID, REQUIRED))
    page.locator("dialog").get_by_role("button", name="Check").click()
    page.get_by_text("Not compatible").wait_for()
    assert "customer" in page.locator(".reasons").inner_text()


def test_a_new_version_is_registered_and_deleted_after_asking(visit: Visitor, subject: str) -> None:
    page = visit(f"/console/schemas/{subject}")
    page.get_by_role("button", name="New version").click()
    page.get_by_label("Schema", exact=True).fill(record(ID))
    page.locator("dialog").get_by_role("button", name="Register").click()
    page.get_by_text(re.compile("has the schema with id")).wait_for()
    page.get_by_role("button", name="Delete", exact=True).click()
    confirm = page.locator("dialog").get_by_role("button", name="Delete")
    assert confirm.is_disabled()
    page.locator("dialog input").fill(subject)
    confirm.click()
    page.get_by_text("is deleted").wait_for()


def test_the_level_of_a_subject_is_changed(visit: Visitor, subject: str) -> None:
    page = visit(f"/console/schemas/{subject}")
    page.get_by_role("button", name="Compatibility").click()
    page.get_by_label("Level").select_option("FULL")
    page.get_by_role("button", name="Change").click()
    page.get_by_text("set on this subject").wait_for()


def test_storage_of_a_topic_is_shown_in_plots(visit: Visitor, bootstrap: str, unique: UniqueName) -> None:
    topic = unique("stored")
    with Producer(bootstrap_servers=bootstrap) as producer:
        for number in range(50):
            producer.send(topic, b"x" * 100, b"hot" if number % 5 else f"cold-{number}".encode())
    page = visit(f"/console/storage/{topic}")
    page.get_by_text("All 50 messages were read").wait_for()
    assert page.locator("svg.heat rect").count() >= 1
    page.get_by_text("hot", exact=True).wait_for()
    page = visit("/console/storage?q=" + topic)
    page.get_by_role("link", name=topic).first.wait_for()


def test_pipelines_that_run_are_shown(visit: Visitor, bootstrap: str, unique: UniqueName) -> None:
    name = unique("shop")
    topic = ProgressTopic(bootstrap, name, about={"host": "worker-1", "pid": 7}, warn=pytest.fail)
    topic(FlowStarted("totals"))
    topic.close()
    page = visit("/console/pipelines")
    page.get_by_role("link", name=name).click()
    page.get_by_text("No micro-batch has ended yet.").wait_for()
    assert "worker-1" in page.locator("main").inner_text()


def test_logs_say_what_to_do_where_there_is_no_topic_of_them(visit: Visitor) -> None:
    page = visit("/console/logs")
    page.get_by_text("server.log.topic.enable").wait_for()


@pytest.mark.parametrize("path", ["schemas", "storage", "pipelines", "logs", "messages"])
def test_pages_fit_a_phone(visit: Visitor, path: str) -> None:
    assert overflow(visit(f"/console/{path}", viewport=PHONE, color_scheme="dark")) <= 0
