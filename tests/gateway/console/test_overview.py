"""The overview: what it tells of a cluster, in JSON and in a browser."""

import httpx2
import pytest
from tests.conftest import UniqueName
from tests.gateway.console.conftest import PHONE, Visitor, overflow

from penstock.client import Producer
from penstock.gateway.server import GatewayServer


def test_overview_tells_brokers_counts_and_health(gateway: GatewayServer) -> None:
    told = httpx2.get(f"{gateway.url}/console/api/overview").json()

    assert told["health"]["state"] == "healthy"
    assert told["counts"]["brokers_up"] == len(told["brokers"]) >= 1
    assert told["controller"] in {broker["id"] for broker in told["brokers"]}
    assert told["brokers"][0]["directories"][0]["volume_bytes"] > 0


@pytest.mark.slow
def test_overview_shows_what_comes_in_while_it_is_open(
    visit: Visitor, bootstrap: str, unique: UniqueName
) -> None:
    topic = unique("busy")
    page = visit("/console/")
    busiest = page.get_by_role("region").or_(page.locator("section")).filter(has_text="Busiest topics")
    with Producer(bootstrap_servers=bootstrap) as producer:
        for _ in range(60):
            producer.send(topic, b"x").result(10)
            if busiest.get_by_text(topic).count():
                break
            page.wait_for_timeout(250)

    assert busiest.get_by_text(topic).count() == 1
    assert page.title() == "Overview · Penstock"


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_overview_fits_a_phone_in_both_themes(visit: Visitor, scheme: str) -> None:
    page = visit("/console/", viewport=PHONE, color_scheme=scheme)

    assert overflow(page) == 0
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == {"light": "rgb(245, 247, 249)", "dark": "rgb(13, 18, 23)"}[scheme]
