"""A real browser for the console: Chromium, driven by Playwright; without it these tests are skipped.

Every page that is visited must be clean: no error in the browser's console, no violation of the content
security policy, no request that failed. A test that provokes one says so with ``tolerate``.
"""

import re
import shutil
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from penstock.client import Admin
from penstock.client.errors import BrokerUnavailable
from penstock.gateway.server import GatewayServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PATIENCE_MS = 15_000
DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 800}


def chromium() -> str | None:
    """Where Chromium is on this machine."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever needs the browser runs apart from what has a loop of its own, since Playwright has one."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    """One browser for all tests of the console."""
    executable = chromium()
    if executable is None:
        pytest.skip(f"no browser: none of {', '.join(NAMES)} is installed")
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright for Python is not installed")
    with playwright.sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        try:
            yield launched
        finally:
            launched.close()


class Visitor:
    """Somebody with a browser window of their own, who looks at one gateway and notes all complaints."""

    def __init__(self, browser: "Browser", url: str) -> None:
        self._browser = browser
        self._contexts: list[BrowserContext] = []
        self._tolerated: list[re.Pattern[str]] = []
        self.url = url
        self.complaints: list[str] = []

    def __call__(self, path: str = "/console/", **options: Any) -> "Page":
        """Open a page of the console and wait until it shows its content."""
        page = self.window(**options)
        page.goto(self.url + path)
        page.locator("#main > .content").wait_for(state="attached")
        return page

    def window(self, **options: Any) -> "Page":
        """A new window, with nothing in it yet; options are those of a browser context."""
        context = self._browser.new_context(**{"viewport": DESKTOP, **options})
        context.set_default_timeout(PATIENCE_MS)
        self._contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: self._note(message.type, message.text))
        page.on("pageerror", lambda error: self._note("error", str(error)))
        return page

    def tolerate(self, pattern: str) -> None:
        """Complaints of this kind are what the test is about."""
        self._tolerated.append(re.compile(pattern))

    def close(self) -> None:
        for context in self._contexts:
            context.close()

    def _note(self, kind: str, text: str) -> None:
        if kind in ("error", "warning") and not any(each.search(text) for each in self._tolerated):
            self.complaints.append(f"{kind}: {text}")


@pytest.fixture
def visit(browser: "Browser", gateway: GatewayServer) -> Iterator[Visitor]:
    """``visit("/console/topics")`` opens a page of the shared gateway; at the end it must have been clean."""
    visitor = Visitor(browser, gateway.url)
    try:
        yield visitor
    finally:
        visitor.close()
    assert visitor.complaints == []


@pytest.fixture
def api(gateway: GatewayServer) -> Iterator[httpx2.Client]:
    """Asks the shared gateway for the JSON of pages: ``api.get("/topics")``."""
    with httpx2.Client(base_url=f"{gateway.url}/console/api", timeout=30) as client:
        yield client


def eventually(condition: Callable[[], bool], *, seconds: float = 40.0) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"did not become true within {seconds:g} s"
        time.sleep(0.1)


def commit(admin: Admin, group: str, offsets: dict[tuple[str, int], int]) -> None:
    """Let a group without members be there; the first of a broker waits for its coordinator."""

    def is_done() -> bool:
        try:
            admin.alter_group_offsets(group, offsets)
        except BrokerUnavailable:
            return False
        return True

    eventually(is_done)


def overflow(page: "Page") -> int:
    """By how many pixels a page is wider than its window."""
    width: int = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return width
