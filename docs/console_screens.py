"""Takes the pictures of docs/console: each page of the console, on a cluster that has something to show.

Whoever changes how a page looks runs this again, and looks at what it made. It takes three minutes, most of
which pass until there is something to plot. ``--only topics,group`` takes some of them.
"""

import argparse
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from console_scene import Scene
from playwright.sync_api import Browser, Page, sync_playwright

PICTURES = Path(__file__).with_name("console")
PLOTTED_SECONDS = 100
BYTES_MAX = 200_000
DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 780}


@dataclass(frozen=True, kw_only=True)
class Picture:
    """One picture: which page, on which screen, and what is done before it is taken."""

    path: str
    viewport: dict[str, int]
    scheme: str = "light"
    prepare: Callable[[Page], None] = lambda page: None


def click(*names: str) -> Callable[[Page], None]:
    """Press buttons one after the other."""

    def press(page: Page) -> None:
        for name in names:
            page.get_by_role("button", name=name).first.click()
            page.wait_for_timeout(500)

    return press


def keys(*pressed: str) -> Callable[[Page], None]:
    """Press keys one after the other."""

    def press(page: Page) -> None:
        for key in pressed:
            page.keyboard.press(key)
        page.wait_for_timeout(500)

    return press


def rows() -> Callable[[Page], None]:
    """Open the first row of messages."""

    def press(page: Page) -> None:
        page.locator("table.messages tbody tr button").first.click()
        page.wait_for_timeout(900)

    return press


PAGES = {
    "overview": Picture(path="", viewport=DESKTOP),
    "overview-dark": Picture(path="", viewport=DESKTOP, scheme="dark"),
    "overview-phone": Picture(path="", viewport=PHONE),
    "brokers": Picture(path="brokers", viewport=DESKTOP),
    "topics": Picture(path="topics", viewport=DESKTOP),
    "topic": Picture(path="topics/orders", viewport=DESKTOP),
    "topic-phone": Picture(path="topics/orders", viewport=PHONE, scheme="dark"),
    "topic-settings": Picture(path="topics/orders/config", viewport=DESKTOP, scheme="dark"),
    "groups": Picture(path="groups", viewport=DESKTOP),
    "group": Picture(path="groups/dashboard", viewport=DESKTOP),
    "group-reset": Picture(
        path="groups/nightly-export", viewport=DESKTOP, prepare=click("Reset offsets", "Preview")
    ),
    "transaction": Picture(path="transactions/payments-writer-1", viewport=DESKTOP),
    "messages": Picture(path="messages/orders", viewport=DESKTOP, prepare=rows()),
    "messages-search": Picture(
        path="messages/orders?filter=%24.amount+%3E+80+and+%24.country+%3D+DE",
        viewport=DESKTOP,
        scheme="dark",
    ),
    "messages-phone": Picture(path="messages/inventory-events", viewport=PHONE, prepare=rows()),
    "schema-difference": Picture(path="schemas/inventory-events-value/2?against=1", viewport=DESKTOP),
    "logs": Picture(path="logs", viewport=DESKTOP),
    "storage": Picture(path="storage/orders", viewport=DESKTOP),
    "pipeline": Picture(path="pipelines/orders-by-minute", viewport=DESKTOP, scheme="dark"),
    "search": Picture(path="", viewport=DESKTOP, scheme="dark", prepare=keys("/", "o", "r")),
}


def take(browser: Browser, url: str, name: str) -> int:
    """Take one picture; its bytes."""
    picture = PAGES[name]
    context = browser.new_context(viewport=picture.viewport, color_scheme=picture.scheme)
    page = context.new_page()
    page.goto(url + picture.path)
    page.locator("#main > .content").wait_for(state="attached")
    page.wait_for_timeout(700)
    picture.prepare(page)
    target = PICTURES / f"{name}.png"
    page.screenshot(path=target)
    context.close()
    return target.stat().st_size


def main() -> None:
    """Take all pictures, or some."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default=",".join(PAGES))
    wanted = parser.parse_args().only.split(",")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("There is no chromium to take pictures with.")
    PICTURES.mkdir(exist_ok=True)
    with Scene() as scene, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        time.sleep(PLOTTED_SECONDS)
        for name in wanted:
            size = take(browser, scene.url, name)
            print(f"{name}.png  {size:,} bytes{'  TOO LARGE' if size > BYTES_MAX else ''}", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
