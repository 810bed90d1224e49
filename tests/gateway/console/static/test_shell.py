"""The shell: navigation, keyboard, search, theme, small screens, and what happens when things go wrong."""

import re
from typing import TYPE_CHECKING

import pytest
from tests.conftest import UniqueName
from tests.gateway.conftest import MakeGateway
from tests.gateway.console.conftest import PHONE, Visitor, commit, eventually, overflow

from penstock.client import Admin

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow

TITLES = {"gt": "Topics", "gc": "Consumer groups", "gb": "Brokers", "gx": "Transactions"}
PATHS = ("", "brokers", "topics", "groups", "transactions")


def heading(page: "Page") -> str:
    return page.locator("h1").inner_text()


def test_script_that_is_not_a_file_of_ours_is_not_run(visit: Visitor) -> None:
    """Which also shows that visitors notice what browsers complain about."""
    page = visit("/console/")
    page.evaluate("""() => {
      const script = document.createElement("script");
      script.textContent = "window.wasRun = true";
      document.body.append(script);
      document.body.setAttribute("style", "color: red");
    }""")
    eventually(lambda: page.evaluate("1") == 1 and len(visit.complaints) == 2)

    assert all("Content Security Policy" in complaint for complaint in visit.complaints)
    assert page.evaluate("window.wasRun") is None
    visit.complaints.clear()


def test_keys_go_to_pages_and_tell_what_they_do(visit: Visitor) -> None:
    page = visit("/console/")
    for keys, title in {
        "gt": "Topics",
        "gc": "Consumer groups",
        "gb": "Brokers",
        "gx": "Transactions",
    }.items():
        for key in keys:
            page.keyboard.press(key)
        page.get_by_role("heading", name=title, exact=True, level=1).wait_for()
    page.keyboard.press("?")
    help_text = page.get_by_role("dialog", name="Keyboard").inner_text()
    assert "Consumer groups" in help_text
    assert "Refresh" in help_text
    page.keyboard.press("Escape")
    page.get_by_role("dialog").wait_for(state="detached")
    page.go_back()
    page.get_by_role("heading", name="Brokers", level=1).wait_for()


def test_search_finds_topics_by_their_names(visit: Visitor, bootstrap: str, unique: UniqueName) -> None:
    name = unique("findable")
    with Admin(bootstrap_servers=bootstrap) as admin:
        admin.create_topic(name)
    page = visit("/console/brokers")
    page.keyboard.press("/")
    page.keyboard.type(name[:-1])
    page.get_by_role("option").filter(has_text=name).wait_for()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name=name, level=1).wait_for()
    assert page.url.endswith(f"/console/topics/{name}")


def test_theme_is_changed_by_a_key_and_kept(visit: Visitor) -> None:
    page = visit("/console/", color_scheme="light")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    for _ in range(2):  # System, light, dark.
        page.keyboard.press("d")
    dark = page.evaluate(ground)
    page.reload()
    page.locator("#main > .content").wait_for(state="attached")
    assert light != dark
    assert page.evaluate(ground) == dark


@pytest.mark.parametrize("path", PATHS)
def test_pages_fit_a_phone_and_its_menu_opens(visit: Visitor, path: str) -> None:
    page = visit(f"/console/{path}", viewport=PHONE)
    assert overflow(page) == 0
    page.get_by_role("button", name="Pages").click()
    page.get_by_role("link", name="Storage").wait_for()
    assert overflow(page) == 0


def test_pages_that_do_not_exist_say_so(visit: Visitor) -> None:
    page = visit("/console/no/such/page/at/all")
    assert heading(page) == "Not found"

    visit.tolerate("404")
    missing = visit.window()
    missing.goto(f"{visit.url}/console/topics/no-such-topic")
    missing.get_by_text("There is no topic 'no-such-topic'.").wait_for()
    missing.get_by_role("button", name="Try again").wait_for()


def test_filter_and_order_stand_in_the_address(visit: Visitor, bootstrap: str, unique: UniqueName) -> None:
    prefix = unique("sorted")
    with Admin(bootstrap_servers=bootstrap) as admin:
        for number in (1, 2, 3):
            admin.create_topic(f"{prefix}-{number}", partitions=number)
    page = visit("/console/topics")
    page.keyboard.press("f")
    page.keyboard.type(prefix)
    rows = page.locator("tbody tr")
    page.get_by_text(re.compile("^3 of ")).wait_for()
    page.get_by_role("button", name="Partitions").click()
    assert [rows.nth(index).locator("th").inner_text() for index in range(3)] == [
        f"{prefix}-3",
        f"{prefix}-2",
        f"{prefix}-1",
    ]
    again = visit(page.url.removeprefix(visit.url))
    assert again.locator("tbody tr").count() == 3
    assert again.locator("tbody tr th").first.inner_text() == f"{prefix}-3"


def test_refresh_changes_only_what_is_new(visit: Visitor, bootstrap: str, unique: UniqueName) -> None:
    """What stands on the page stays the same element, so that neither focus nor scroll nor eye jumps."""
    topic = unique("steady")
    with Admin(bootstrap_servers=bootstrap) as admin:
        admin.create_topic(topic, partitions=1)
        page = visit(f"/console/topics/{topic}")
        page.get_by_role("link", name="0", exact=True).focus()
        page.evaluate("document.querySelector('tbody tr').dataset.mark = 'here before'")
        admin.add_partitions(topic, 2)
        eventually(lambda: len(admin.describe_topic(topic).partitions) == 2)
        page.keyboard.press("r")
        page.get_by_role("link", name="1", exact=True).wait_for()

    assert page.locator("tbody tr").first.get_attribute("data-mark") == "here before"
    assert page.evaluate("document.activeElement.textContent") == "0"


def test_cluster_that_is_away_is_said_and_asked_again(
    browser: "Browser", make_gateway: MakeGateway, closed_port: int
) -> None:
    visitor = Visitor(browser, make_gateway(f"127.0.0.1:{closed_port}").url)
    try:
        page = visitor.window()
        page.goto(f"{visitor.url}/console/topics")
        page.get_by_text("No broker answers").wait_for()
        page.get_by_role("button", name="Try again").wait_for()
    finally:
        visitor.close()


def test_gateway_with_a_token_lets_in_whoever_knows_it(
    browser: "Browser", make_gateway: MakeGateway, bootstrap: str
) -> None:
    visitor = Visitor(browser, make_gateway(bootstrap, token="a-token-that-nobody-guesses").url)
    try:
        page = visitor.window()
        page.goto(f"{visitor.url}/console/topics")
        page.locator("input").fill("a-token-that-nobody-guesses")
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Topics", level=1).wait_for()
    finally:
        visitor.close()


def test_form_shows_only_the_fields_that_matter_and_keeps_what_was_typed(
    visit: Visitor, bootstrap: str, unique: UniqueName
) -> None:
    topic, group = unique("form"), unique("readers")
    with Admin(bootstrap_servers=bootstrap) as admin:
        admin.create_topic(topic, partitions=1)
        commit(admin, group, {(topic, 0): 0})
    page = visit(f"/console/groups/{group}")
    page.get_by_role("button", name="Reset offsets").click()
    assert page.get_by_label("Which").count() == 0
    page.get_by_label("Move it to").select_option("offset")
    page.get_by_label("Which").fill("7")
    page.get_by_label("Move it to").select_option("timestamp")
    page.get_by_label("Since").wait_for()
    page.get_by_label("Move it to").select_option("shift")
    page.get_by_label("Which").fill("5")
    page.get_by_role("button", name="Preview").click()
    page.get_by_text("5 lies beyond the log: moved to its end").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("dialog").wait_for(state="detached")
