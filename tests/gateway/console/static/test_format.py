"""Numbers, sizes and times as the console writes them, tried in the browser that runs it."""

from typing import TYPE_CHECKING, Any

import pytest
from tests.gateway.console.conftest import Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.slow

FORMATS: dict[str, dict[float, str]] = {
    "count": {
        0: "0",
        9_999: "9,999",
        12_345: "12.3 K",
        4_560_000: "4.6 M",
        999_960: "1.0 M",
        -20_000: "-20.0 K",
    },
    "bytes": {0: "0 B", 1_023: "1023 B", 1_536: "1.5 KiB", 1_048_500: "1.0 MiB", 230 * 2**30: "230 GiB"},
    "rate": {0: "0/s", 0.42: "0.4/s", 3: "3/s", 1_234: "1,234/s", 12_345: "12.3 K/s"},
    "percent": {0: "0%", 0.004: "0.4%", 0.5: "50%", 1: "100%"},
    "duration": {0: "0 ms", 250: "250 ms", 61_000: "1 min 1 s", 90_000_000: "1 d 1 h", 3_600_000: "1 h"},
    "exact": {1_234_567: "1,234,567"},
}


def imported(page: "Page", module: str, expression: str, argument: Any = None) -> Any:
    """What an expression over a module of the console's, named ``m``, comes to."""
    script = (
        f"async (argument) => {{ const m = await import('/console/static/{module}'); return {expression}; }}"
    )
    return page.evaluate(script, argument)


def test_numbers_are_written_for_people(visit: Visitor) -> None:
    page = visit("/console/")
    for name, cases in FORMATS.items():
        written = imported(page, "parts/format.js", f"argument.map((value) => m.{name}(value))", list(cases))
        assert written == list(cases.values()), name


def test_ticks_are_round_and_reach_the_top(visit: Visitor) -> None:
    page = visit("/console/")
    assert imported(page, "parts/ticks.js", "m.niceTicks(330)") == [0, 100, 200, 300, 400]
    assert imported(page, "parts/ticks.js", "m.niceTicks(0)") == [0, 1]
    assert imported(page, "parts/ticks.js", "m.niceTicks(3000, 4, true)") == [0, 1024, 2048, 3072]
    assert imported(page, "parts/ticks.js", "m.timeTicks(1000, 61000, 3)") == [30_000, 60_000]


def test_addresses_carry_any_name_there_and_back(visit: Visitor) -> None:
    page = visit("/console/")
    name = "a/b c%2F?#é"
    address = imported(page, "parts/route.js", "m.link('groups', argument, {q: 'x y'})", name)
    assert address == "/console/groups/a%2Fb%20c%252F%3F%23%C3%A9?q=x+y"
    expression = "m.match([{path: '/groups/:group/:tab?'}], new URL(argument, location.href).pathname).params"
    assert imported(page, "parts/route.js", expression, address) == {"group": name}
    assert imported(page, "parts/route.js", "m.match([{path: '/groups'}], '/console/topics')") is None


def test_links_that_run_code_are_not_made(visit: Visitor) -> None:
    page = visit("/console/")
    made = "m.build(m.h('a', {href: argument}, 'x')).getAttribute('href')"
    assert imported(page, "parts/dom.js", made, "javascript:alert(1)") is None
    assert imported(page, "parts/dom.js", made, "//elsewhere.example/") is None
    assert imported(page, "parts/dom.js", made, "/console/topics") == "/console/topics"


def test_markup_is_text_and_a_redraw_keeps_what_stands(visit: Visitor) -> None:
    page = visit("/console/")
    expression = """(() => {
      const place = document.createElement("div");
      const list = (names) => m.h("ul", {}, names.map((name) => m.h("li", {key: name}, name)));
      m.render(place, list(["<b>a</b>", "b"]));
      const kept = place.querySelector("li:nth-child(2)");
      m.render(place, list(["c", "b", "<b>a</b>"]));
      const isKept = kept === place.querySelectorAll("li")[1];
      return [place.querySelectorAll("b").length, place.textContent, isKept];
    })()"""
    assert imported(page, "parts/dom.js", expression) == [0, "cb<b>a</b>", True]
