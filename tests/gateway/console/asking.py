"""Asking a gateway over a real socket, as a browser does."""

import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Generator
from contextlib import closing
from typing import Any, NamedTuple


class Event(NamedTuple):
    """One server-sent event."""

    name: str
    data: Any


def get(url: str, where: str, **query: Any) -> Any:
    """The JSON at ``where`` below /console/api."""
    with urllib.request.urlopen(_address(url, where, query), timeout=20) as answer:
        return json.load(answer)


def get_text(url: str, where: str, **query: Any) -> str:
    """The text at ``where``."""
    with urllib.request.urlopen(_address(url, where, query), timeout=20) as answer:
        text: str = answer.read().decode()
        return text


def refusal(url: str, where: str, **query: Any) -> tuple[int, dict[str, Any]]:
    """The status and the JSON of a request that is refused."""
    try:
        with urllib.request.urlopen(_address(url, where, query), timeout=20) as answer:
            raise AssertionError(f"answered {answer.status}")
    except urllib.error.HTTPError as error:
        with closing(error):
            return error.code, json.load(error)


def events(url: str, where: str, **query: Any) -> Generator[Event, None, None]:
    """Events until the stream ends, or until the iterator is closed, which hangs up."""
    with urllib.request.urlopen(_address(url, where, query), timeout=20) as answer:
        name = ""
        for line in answer:
            text = line.decode().rstrip("\n")
            if text.startswith("event: "):
                name = text[7:]
            elif text.startswith("data: "):
                yield Event(name, json.loads(text[6:]))


def _address(url: str, where: str, query: dict[str, Any]) -> str:
    return f"{url}/console/api/{where}?{urllib.parse.urlencode(query)}"
