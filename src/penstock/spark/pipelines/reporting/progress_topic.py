"""Progress as records of the topic ``__penstock_pipelines``: what runs where, for everybody who can read it.

The key is ``pipeline/flow``, the value JSON; the topic is compacted, so it holds the last word on every
flow. A pipeline goes on without it: if records cannot be written, that is said once.
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from penstock.client import Admin, Consumer, PenstockClientError, Producer
from penstock.model.flow_states import flow_state
from penstock.model.names import PIPELINES_TOPIC
from penstock.spark.pipelines.running.events import (
    Event,
    FlowEnded,
    FlowFailed,
    FlowProgressed,
    FlowStarted,
    RecordsLeft,
)

TOPIC = PIPELINES_TOPIC
INTERVAL_SECONDS = 1.0
"""At most one record of a flow's progress in this time; beginnings and ends are always written."""

_REQUEST_MS = 5_000
_CLOSE_SECONDS = 5.0
_READ_SECONDS_MAX = 15.0


class ProgressTopic:
    """Writes what happens in a run; a listener of runs."""

    def __init__(
        self,
        bootstrap_servers: str,
        pipeline: str,
        *,
        about: Mapping[str, Any],
        warn: Callable[[str], None],
        kafka: Mapping[str, str] | None = None,
    ) -> None:
        self._pipeline = pipeline
        self._about = dict(about)
        self._warn = warn
        self._is_broken = False
        self._states: dict[str, dict[str, Any]] = {}
        self._next: dict[str, float] = {}
        self._producer = Producer(
            bootstrap_servers=bootstrap_servers,
            client_id="penstock-pipeline",
            delivery_timeout_ms=_REQUEST_MS * 2,
            block_when_full=False,
            kafka=kafka or {},
        )
        self._attempt(lambda: create_topic(bootstrap_servers, kafka))

    def __call__(self, event: Event) -> None:
        """Write a record about an event, unless one was written just now."""
        match event:
            case FlowStarted(flow):
                self._write(flow, {"state": "running", "failure": None}, is_urgent=True)
            case FlowProgressed(progress):
                self._write(progress.flow, {"progress": progress.as_json()}, is_urgent=False)
            case RecordsLeft(flow, topic, count):
                sides = dict(self._states.get(flow, {}).get("side_records", {}))
                sides[topic] = sides.get(topic, 0) + count
                self._write(flow, {"side_records": sides}, is_urgent=False)
            case FlowEnded(flow):
                self._write(flow, {"state": "ended"}, is_urgent=True)
            case FlowFailed(failure):
                self._write(failure.flow, {"state": "failed", "failure": asdict(failure)}, is_urgent=True)

    def close(self) -> None:
        """Wait a moment for what is on its way; not at all if nothing gets through anyway."""
        try:
            self._producer.close(0.0 if self._is_broken else _CLOSE_SECONDS)
        except PenstockClientError as error:
            self._complain(error)

    def _write(self, flow: str, news: Mapping[str, Any], *, is_urgent: bool) -> None:
        state = self._states.setdefault(flow, {"pipeline": self._pipeline, "flow": flow, **self._about})
        state |= news
        now = time.monotonic()
        if self._is_broken or (not is_urgent and now < self._next.get(flow, 0.0)):
            return
        self._next[flow] = now + INTERVAL_SECONDS
        state["at_ms"] = time.time_ns() // 1_000_000
        key, value = f"{self._pipeline}/{flow}".encode(), json.dumps(state).encode()
        self._attempt(lambda: self._producer.send(TOPIC, value, key))

    def _attempt(self, act: Callable[[], object]) -> None:
        if self._is_broken:
            return
        try:
            act()
        except PenstockClientError as error:
            self._complain(error)

    def _complain(self, error: PenstockClientError) -> None:
        if not self._is_broken:
            self._warn(f"Progress is not written to {TOPIC}: {error}")
        self._is_broken = True


def create_topic(bootstrap_servers: str, kafka: Mapping[str, str] | None = None) -> None:
    """Make the topic unless it is there; ``kafka`` are more settings of librdkafka."""
    with _admin(bootstrap_servers, kafka) as admin:
        if TOPIC not in admin.list_topics(include_internal=True):
            admin.create_topic(TOPIC, partitions=1, config={"cleanup.policy": "compact"}, exist_ok=True)


def read_states(bootstrap_servers: str, kafka: Mapping[str, str] | None = None) -> dict[str, dict[str, Any]]:
    """The last word on every flow of every pipeline, by ``pipeline/flow``; none if there is no topic."""
    with _admin(bootstrap_servers, kafka) as admin:
        if TOPIC not in admin.list_topics(include_internal=True):
            return {}
        partitions = admin.partitions_of([TOPIC])
        ends = admin.list_offsets(partitions)
    states: dict[str, dict[str, Any]] = {}
    with Consumer(bootstrap_servers=bootstrap_servers, kafka=kafka or {}) as consumer:
        consumer.assign(dict.fromkeys(partitions, 0))
        left = {partition: end for partition, end in ends.items() if end}
        deadline = time.monotonic() + _READ_SECONDS_MAX
        while left and time.monotonic() < deadline:
            for message in consumer.poll(1.0):
                state = flow_state(message.raw_value or b"")
                if message.raw_key is not None and state is not None:
                    states[message.raw_key.decode("utf-8", "replace")] = state
                if message.offset + 1 >= left.get(message.topic_partition, 0):
                    left.pop(message.topic_partition, None)
    return dict(sorted(states.items()))


def _admin(bootstrap_servers: str, kafka: Mapping[str, str] | None) -> Admin:
    return Admin(bootstrap_servers=bootstrap_servers, request_timeout_ms=_REQUEST_MS, kafka=kafka or {})
