"""A gateway as a program uses it: requests over a socket, answers as JSON."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2

SECONDS_MAX = 30.0


class RestClient:
    """Requests to one gateway; errors are answers like others."""

    def __init__(self, url: str) -> None:
        self._client = httpx2.Client(base_url=url, timeout=SECONDS_MAX)

    def ask(self, method: str, path: str, body: Any = None, **query: Any) -> httpx2.Response:
        """The answer to one request; ``begin_at`` stands for ``from``, which Python keeps for itself."""
        if "begin_at" in query:
            query["from"] = query.pop("begin_at")
        content = None if body is None else json.dumps(body)
        headers = None if body is None else {"Content-Type": "application/json"}
        return self._client.request(method, path, content=content, headers=headers, params=query or None)

    def json(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """The JSON of an answer that must be a good one."""
        answer = self.ask(method, path, body, **query)
        assert answer.status_code in (200, 201), answer.text
        return answer.json()

    def refusal(self, method: str, path: str, body: Any = None, **query: Any) -> tuple[int, Any]:
        """Status and JSON of an answer that must be an error."""
        answer = self.ask(method, path, body, **query)
        assert answer.status_code >= 400, answer.text
        return answer.status_code, answer.json()

    def new_topic(self, name: str, partitions: int = 1, **config: str) -> str:
        """Make a topic."""
        wish = {
            "partitions": partitions,
            "config": {key.replace("_", "."): text for key, text in config.items()},
        }
        self.json("POST", f"/topics/{name}", wish)
        return name

    def produce(self, topic: str, *records: Any) -> list[Any]:
        """Send records; where they went."""
        found: list[Any] = self.json("POST", f"/topics/{topic}/records", {"records": list(records)})[
            "offsets"
        ]
        return found

    @contextmanager
    def events(self, path: str, *, last_event_id: str = "", **query: Any) -> "Iterator[Iterator[Event]]":
        """The events of a stream, until the block ends."""
        if "begin_at" in query:
            query["from"] = query.pop("begin_at")
        headers = {"Last-Event-ID": last_event_id} if last_event_id else {}
        with self._client.stream("GET", path, params=query, headers=headers) as answer:
            assert answer.status_code == 200, answer.read()
            assert answer.headers["Content-Type"].startswith("text/event-stream")
            yield _events(answer.iter_lines())

    def close(self) -> None:
        """Hang up."""
        self._client.close()


class Event(dict[str, str]):
    """The fields of an event by name; comments under an empty one."""


def _events(lines: Iterator[str]) -> Iterator[Event]:
    event = Event()
    for line in lines:
        if line:
            name, _, text = line.partition(":")
            event[name] = text.removeprefix(" ")
        elif event:
            yield event
            event = Event()
