"""Messages in a real browser: pages, a search, live ones, one alone, producing, and what nobody may run."""

import json
import re
import time

import pytest
from tests.conftest import UniqueName
from tests.gateway.console.conftest import PHONE, Visitor, overflow

from penstock.client import Admin, Producer

pytestmark = pytest.mark.slow

SCRIPT = "<script>document.title='broken into'</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def topic(bootstrap: str, unique: UniqueName) -> str:
    """120 orders in two partitions, the last of which holds a script."""
    name = unique("orders")
    with Admin(bootstrap_servers=bootstrap) as admin:
        admin.create_topic(name, partitions=2)
    with Producer(bootstrap_servers=bootstrap) as producer:
        start_ms = time.time_ns() // 1_000_000 - 120_000
        for number in range(120):
            value = json.dumps({"total": number, "big": 12345678901234567890}).encode()
            producer.send(name, value, f"key-{number}".encode(), None, number % 2, start_ms + number * 1000)
        producer.flush()
        producer.send(name, SCRIPT.encode(), b"script", {"evil": SCRIPT.encode()}, 0).result(10)
    return name


def test_pages_lead_to_older_messages_and_back(visit: Visitor, topic: str) -> None:
    page = visit(f"/console/messages/{topic}")
    rows = page.locator("table.messages tbody tr")
    assert rows.count() == 50
    page.get_by_role("button", name="Older →").first.click()
    page.wait_for_url(re.compile("before="))
    page.get_by_text("key-70").wait_for()
    page.get_by_role("button", name="Newest").first.click()
    page.get_by_text("script", exact=True).wait_for()


def test_a_row_opens_to_the_whole_message_with_all_digits(visit: Visitor, topic: str) -> None:
    page = visit(f"/console/messages/{topic}?filter=key:key-42")
    page.get_by_text("1 match", exact=True).wait_for()
    page.get_by_role("button", name=re.compile("Message 21 of partition 0")).click()
    shown = page.locator("pre.json")
    shown.wait_for()
    assert shown.inner_text() == '{\n  "total": 42,\n  "big": 12345678901234567890\n}'
    page.get_by_role("link", name="Open this message alone").click()
    page.wait_for_url(re.compile(f"/console/messages/{topic}/0/21$"))
    page.get_by_role("link", name="After →").click()
    page.wait_for_url(re.compile(r"/0/22$"))


def test_a_search_tells_how_much_it_looked_at(visit: Visitor, topic: str) -> None:
    page = visit(f"/console/messages/{topic}")
    field = page.get_by_role("searchbox", name="Filter messages")
    field.fill("$.total >= 100")
    field.press("Enter")
    page.get_by_text("20 matches").wait_for()
    assert "121 of 121 looked at" in page.locator(".progress").inner_text()
    assert "complete" in page.locator(".progress").inner_text()
    assert "filter=" in page.url


def test_a_filter_that_makes_no_sense_is_told_where(visit: Visitor, topic: str) -> None:
    visit.tolerate("422")
    page = visit(f"/console/messages/{topic}")
    field = page.get_by_role("searchbox", name="Filter messages")
    field.fill("total > 100")
    field.press("Enter")
    page.get_by_text(re.compile("needs a field before it")).first.wait_for()


def test_markup_in_messages_is_text(visit: Visitor, topic: str) -> None:
    page = visit(f"/console/messages/{topic}?filter=key:script")
    page.get_by_text("1 match", exact=True).wait_for()
    page.locator("table.messages tbody tr button").first.click()
    page.locator("pre.code").filter(has_text="<script>").wait_for()
    assert page.locator("main script, main img").count() == 0
    assert "Penstock" in page.title()


def test_what_is_produced_in_the_form_appears_live(
    visit: Visitor, bootstrap: str, unique: UniqueName
) -> None:
    name = unique("live")
    with Admin(bootstrap_servers=bootstrap) as admin:
        admin.create_topic(name, partitions=1)
    page = visit(f"/console/messages/{name}?live=1")
    page.get_by_text("Nothing has come yet").wait_for()
    page.get_by_role("button", name="Produce").click()
    page.get_by_label("Key", exact=True).fill("alice")
    page.get_by_label("Value", exact=True).fill('{"hello": "world"}')
    page.get_by_label("Headers").fill("trace: 7f")
    page.get_by_role("button", name="Send", exact=True).click()
    page.get_by_text(re.compile("Stored in .*, partition 0, offset 0")).wait_for()
    page.locator("table.messages").get_by_text("alice").wait_for()
    page.get_by_role("button", name="Pause").click()
    with Producer(bootstrap_servers=bootstrap) as producer:
        producer.send(name, b"while it was paused").result(10)
    page.get_by_role("button", name="Resume").click()
    page.get_by_text("while it was paused").wait_for()


def test_a_message_is_sent_again_byte_by_byte(visit: Visitor, bootstrap: str, unique: UniqueName) -> None:
    name = unique("again")
    with Admin(bootstrap_servers=bootstrap) as admin:
        admin.create_topic(name, partitions=1)
    with Producer(bootstrap_servers=bootstrap) as producer:
        producer.send(name, b"\xff\x00\x01", b"k", {"h": b"\xfe"}).result(10)
    page = visit(f"/console/messages/{name}/0/0")
    page.get_by_role("button", name="Send again").click()
    page.get_by_role("button", name="Send", exact=True).click()
    page.get_by_text(re.compile("offset 1")).wait_for()
    page.goto(page.url.replace("/0/0", "/0/1"))
    assert page.locator("pre.hex").first.inner_text().startswith("000000  ff 00 01")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_messages_fit_a_phone(visit: Visitor, topic: str, scheme: str) -> None:
    page = visit(f"/console/messages/{topic}", viewport=PHONE, color_scheme=scheme)
    page.locator("table.messages tbody tr button").first.click()
    page.locator("tr.details pre").first.wait_for()
    assert overflow(page) <= 0
