"""The line that says that a broker is ready."""

import json

from penstock.broker.readiness import Readiness, ready_json, ready_text

READY = Readiness(address="127.0.0.1:9092", node=1, cluster="6d0JHmLGe5bp-alW1oKl1Q", metrics=None)


def test_ready_text_is_the_address() -> None:
    assert ready_text(READY) == "penstock ready on 127.0.0.1:9092"


def test_ready_json_is_one_line_with_all_of_it() -> None:
    assert "\n" not in ready_json(READY)
    assert json.loads(ready_json(READY)) == {
        "address": "127.0.0.1:9092",
        "node": 1,
        "cluster": "6d0JHmLGe5bp-alW1oKl1Q",
        "metrics": None,
    }
