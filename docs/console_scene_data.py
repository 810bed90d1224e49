"""What the pages of data show in the console's scene: schemas of a topic, pipelines that seem to run."""

import base64
import itertools
import json
import random
import threading
import time
import urllib.request
from typing import Any

from penstock.client import Producer
from penstock.model.names import PIPELINES_TOPIC

TOPIC, SUBJECT = "inventory-events", "inventory-events-value"
_FIELDS = [{"name": "sku", "type": "string"}, {"name": "change", "type": "int"}]
_ADDED = {"name": "warehouse", "type": "string", "default": "main"}
_POINTS, _STEP_MS = 80, 5_000
_STARTED_MS = time.time_ns() // 1_000_000 - 3_600_000


def add_schemas(url: str, bootstrap: str) -> None:
    """Two versions of a schema, and messages that carry the second."""
    for fields in (_FIELDS, [*_FIELDS, _ADDED]):
        schema = {"type": "record", "name": "StockChanged", "namespace": "shop", "fields": fields}
        _post(f"{url}/subjects/{SUBJECT}/versions", {"schema": json.dumps(schema)})
    with Producer(bootstrap_servers=bootstrap) as producer:
        for number in range(60):
            change = {"sku": f"SKU-{number % 40}", "change": number % 9 - 4, "warehouse": "north"}
            encoded = _post(
                f"{url}/console/api/messages/{TOPIC}/encode", {"subject": SUBJECT, "document": change}
            )
            producer.send(TOPIC, base64.b64decode(encoded["base64"]), key=f"SKU-{number % 40}")


def run_pipelines(bootstrap: str, ending: threading.Event) -> None:
    """Write what two running flows would have written by now, and go on as they would."""
    now_ms = time.time_ns() // 1_000_000
    with Producer(bootstrap_servers=bootstrap) as producer:
        for step in range(_POINTS):
            _tell(producer, step, now_ms - (_POINTS - step) * _STEP_MS)
        for step in itertools.count(_POINTS):
            if ending.wait(_STEP_MS / 1000):
                return
            _tell(producer, step, time.time_ns() // 1_000_000)


def _tell(producer: Producer, step: int, at_ms: int) -> None:
    for flow, rate in (("revenue", 950), ("late-orders", 120)):
        state = _state(flow, rate=rate * random.uniform(0.8, 1.2), step=step, at_ms=at_ms)
        producer.send(PIPELINES_TOPIC, json.dumps(state).encode(), f"orders-by-minute/{flow}".encode())


def _state(flow: str, *, rate: float, step: int, at_ms: int) -> dict[str, Any]:
    progress = {
        "batch": 400 + step,
        "rows": round(rate * 5),
        "rows_per_second": round(rate, 1),
        "input_rows_per_second": round(rate * random.uniform(0.85, 1.05), 1),
        "duration_ms": random.randrange(180, 420),
        "lag": max(0, round(5_000 - step * 55 + random.uniform(-300, 300))),
        "watermark": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(at_ms / 1000 - 60)),
        "state_rows": 1_200 + step,
        "state_bytes": 480_000,
        "late_rows": 3,
    }
    about = {"host": "worker-1", "pid": 4242, "started_ms": _STARTED_MS, "file": "orders.yml"}
    state = {"pipeline": "orders-by-minute", "flow": flow, "state": "running", "at_ms": at_ms}
    return {**state, **about, "progress": progress}


def _post(url: str, body: dict[str, Any]) -> Any:
    request = urllib.request.Request(
        url, json.dumps(body).encode(), {"Content-Type": "application/json"}, method="POST"
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)
