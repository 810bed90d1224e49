"""Each page of the cluster in a real browser, on what a real broker tells, and a story through them."""

import json
import re
import urllib.request
from typing import TYPE_CHECKING

import pytest
from tests.conftest import UniqueName
from tests.gateway.console.conftest import Visitor, commit, eventually

from penstock.client import Admin, Producer

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.slow


def row(page: "Page", name: str) -> "Locator":
    return page.locator("tbody tr").filter(has_text=name)


def test_brokers_page_shows_the_quorum_and_leads_to_a_broker(visit: Visitor) -> None:
    page = visit("/console/brokers")
    page.get_by_text("controller", exact=True).wait_for()
    assert page.get_by_text("High watermark").count() == 1
    page.locator("tbody tr th a").first.click()
    page.get_by_role("heading", name=re.compile(r"^Broker \d+$"), level=1).wait_for()
    page.get_by_role("heading", name="Settings").wait_for()
    page.get_by_text("log.retention.ms").first.wait_for()


def test_transactions_page_shows_an_open_one_and_aborts_it(
    visit: Visitor, bootstrap: str, unique: UniqueName
) -> None:
    name, topic = unique("writer"), unique("ledger")
    producer = Producer(bootstrap_servers=bootstrap, transactional_id=name)
    try:
        producer.transaction()
        producer.send(topic, b"x").result(10)
        page = visit(f"/console/transactions?q={name}")
        row(page, name).get_by_text("Ongoing").wait_for()
        row(page, name).get_by_role("link").click()
        page.get_by_text(f"{topic}-0").wait_for()
        page.get_by_role("button", name="Abort").click()
        dialog = page.get_by_role("dialog")
        assert dialog.get_by_role("button", name="Abort transaction").is_disabled()
        dialog.get_by_role("textbox").fill(name)
        dialog.get_by_role("button", name="Abort transaction").click()
        page.get_by_text(f"The transaction of {name} is aborted.").wait_for()
    finally:
        producer.close()


def test_group_whose_name_is_markup_is_shown_as_text(
    visit: Visitor, bootstrap: str, unique: UniqueName
) -> None:
    topic, group = unique("plain"), f"<img src=x onerror=alert(1)>/{unique('odd')}?a=b#c%20"
    with Admin(bootstrap_servers=bootstrap) as admin:
        admin.create_topic(topic, partitions=1)
        commit(admin, group, {(topic, 0): 0})
    page = visit("/console/groups")
    page.get_by_role("searchbox").fill(group[:20])
    row(page, group).get_by_role("link", name=group, exact=True).click()
    page.get_by_role("heading", name=group, level=1).wait_for()
    page.get_by_role("link", name=f"{topic}-0").wait_for()

    assert page.locator("img").count() == 0


@pytest.mark.parametrize("ending", ["a/b c?#%", "x/reset"])
def test_links_lead_to_a_group_of_any_name(
    visit: Visitor, bootstrap: str, unique: UniqueName, ending: str
) -> None:
    topic, group = unique("plain"), f"{unique('odd')}{ending}"
    with Admin(bootstrap_servers=bootstrap) as admin, Producer(bootstrap_servers=bootstrap) as producer:
        admin.create_topic(topic, partitions=1)
        producer.send_batch([(topic, b"x")] * 3)
        commit(admin, group, {(topic, 0): 1})
        page = visit(f"/console/topics/{topic}/groups")
        page.get_by_role("link", name=group, exact=True).click()
        page.get_by_role("link", name=f"{topic}-0").wait_for()
        page.reload()
        page.get_by_role("heading", name=group, level=1).wait_for()
        page.get_by_role("button", name="Delete").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("textbox").fill(group)
        dialog.get_by_role("button", name="Delete").click()
        eventually(lambda: group not in [each.group_id for each in admin.list_groups()])


def test_settings_of_a_topic_are_changed(visit: Visitor, bootstrap: str, unique: UniqueName) -> None:
    topic = unique("set")
    with Admin(bootstrap_servers=bootstrap) as admin:
        admin.create_topic(topic, partitions=1)
        visit.tolerate("status of 4|status of 5")
        page = visit(f"/console/topics/{topic}/config?q=retention.ms")
        page.get_by_role("button", name="Change retention.ms", exact=True).click()
        page.get_by_label("Value").fill("soon")
        page.get_by_role("button", name="Save").click()
        page.get_by_role("alert").get_by_text("retention.ms").wait_for()
        page.get_by_label("Value").fill("7200000")
        page.get_by_role("button", name="Save").click()
        page.get_by_text("retention.ms is changed.").wait_for()
        row(page, "retention.ms").get_by_text("overridden").first.wait_for()
        assert admin.describe_config(topic)["retention.ms"].value == "7200000"


def test_story_of_a_topic_from_its_making_to_its_end(
    visit: Visitor, bootstrap: str, unique: UniqueName
) -> None:
    """Make it, write to it over REST, see it live, move a group with a look before, and delete it."""
    topic, group = unique("story"), unique("readers")
    page = visit("/console/topics")
    create(page, topic)
    page.get_by_role("heading", name=topic, level=1).wait_for()

    produce(visit.url, topic, ["<script>alert(1)</script>", "two", "three"])
    page.get_by_role("row").get_by_text("3", exact=True).first.wait_for()

    with Admin(bootstrap_servers=bootstrap) as admin:
        commit(admin, group, {(topic, 0): 3})
        move_to_the_beginning(visit(f"/console/groups/{group}"), group)
        assert admin.group_offsets(group) == {(topic, 0): 0}

        delete(page, topic)
        eventually(lambda: topic not in admin.list_topics())


def create(page: "Page", topic: str) -> None:
    page.get_by_role("button", name="Create topic").click()
    page.get_by_label("Name").fill(topic)
    page.get_by_label("Partitions").fill("1")
    page.get_by_role("button", name="Create", exact=True).click()


def produce(url: str, topic: str, values: list[str]) -> None:
    body = json.dumps({"records": [{"value": value} for value in values]})
    request = urllib.request.Request(
        f"{url}/topics/{topic}/records",
        data=body.encode(),
        headers={"Content-Type": "application/json"},
        method="POST",
    )
    with urllib.request.urlopen(request, timeout=20) as answer:
        assert answer.status == 200


def move_to_the_beginning(page: "Page", group: str) -> None:
    page.get_by_role("button", name="Reset offsets").click()
    page.get_by_label("Move it to").select_option("earliest")
    page.get_by_role("button", name="Preview").click()
    page.get_by_text("3 messages").wait_for()
    page.get_by_role("dialog").get_by_role("button", name="Reset offsets").click()
    page.get_by_text(f"Group {group} is moved.").wait_for()


def delete(page: "Page", topic: str) -> None:
    page.get_by_role("button", name="Delete").click()
    dialog = page.get_by_role("dialog")
    assert dialog.get_by_role("button", name="Delete topic").is_disabled()
    dialog.get_by_role("textbox").fill(topic)
    dialog.get_by_role("button", name="Delete topic").click()
    page.get_by_text(f"Topic {topic} is deleted.").wait_for()
    page.get_by_role("heading", name="Topics", level=1).wait_for()
