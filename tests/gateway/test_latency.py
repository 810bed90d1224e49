"""Small answers leave at once: nobody waits for an acknowledgement that the other side delays."""

import time

import httpx2

from penstock.gateway.server import GatewayServer

DELAYED_ACKNOWLEDGEMENT_SECONDS = 0.04
"""What Linux waits before it acknowledges a segment that nothing is sent back for."""


def test_answers_on_one_connection_do_not_wait_for_acknowledgements(gateway: GatewayServer) -> None:
    times = []
    with httpx2.Client(base_url=gateway.url) as client:
        for _ in range(20):
            started = time.perf_counter()
            assert client.get("/health").status_code == 200
            times.append(time.perf_counter() - started)

    # The first ones are acknowledged at once in any case.
    assert min(times[10:]) < DELAYED_ACKNOWLEDGEMENT_SECONDS
