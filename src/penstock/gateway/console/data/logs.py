"""Logs of all brokers: searched, and followed as they come."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Annotated, Any

from confluent_kafka import KafkaException
from fastapi import APIRouter, Depends, Query, Request

from penstock.client.error_mapping import exception_from
from penstock.client.logs.entry import LEVELS, FoundEntry
from penstock.client.logs.query import LogFilter, LogQuery
from penstock.client.logs.topic import LogTopic, NoLogTopicError
from penstock.gateway.console.console import Console
from penstock.gateway.console.messages.asking import moment
from penstock.gateway.console.streaming import Pause, Pieces, event, event_stream
from penstock.gateway.errors import GatewayError
from penstock.model.errors import UsageError

ENTRIES_MAX = 2_000
CLIENT_ID = "penstock-gateway"
_PAUSE_SECONDS = 0.4


def wanted(  # noqa: PLR0913 - the parameters of a query, all optional and all by name.
    *,
    text: str = "",
    regex: bool = False,
    level: str = LEVELS[0],
    since: str = "",
    until: str = "",
    broker: Annotated[list[int] | None, Query()] = None,
    component: str = "",
    event: str = "",
    field: Annotated[list[str] | None, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=ENTRIES_MAX)] = 200,
) -> LogQuery:
    """What is asked for; UsageError if that makes no sense."""
    query = LogQuery(
        text="" if regex else text,
        pattern=text if regex and text else None,
        level=level,
        since_ms=moment(since, "since"),
        until_ms=moment(until, "until"),
        brokers=frozenset(broker or ()),
        component=component,
        event=event,
        fields=dict(_field(each) for each in field or ()),
        limit=limit,
    )
    LogFilter(query)
    return query


Wanted = Annotated[LogQuery, Depends(wanted)]


def router(console: Console) -> APIRouter:
    """The routes of logs."""
    routes = APIRouter(prefix="/logs")
    servers = console.gateway.settings.bootstrap_servers

    @routes.get("")
    def search(query: Wanted) -> dict[str, Any]:
        """Entries, newest first; ``is_cut`` says whether there are older ones."""
        with LogTopic(servers, client_id=CLIENT_ID) as topic, _translated():
            try:
                found = topic.search(query)
            except NoLogTopicError as error:
                return {"entries": [], "is_cut": False, "notes": [], "absent": str(error)}
            notes = [f"Nobody answers for partition {number} of the log topic." for number in topic.missing]
        entries = [asdict(entry) for entry in reversed(found.entries())]
        return {"entries": entries, "is_cut": found.is_cut, "notes": notes, "absent": None}

    @routes.get("/follow")
    def follow(request: Request, query: Wanted) -> Any:
        """Events ``entries``, newest first in each, of what is written from now on."""
        return event_stream(request, console.gateway, _followed(servers, query))

    return routes


def _field(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator or not name:
        raise UsageError(f"field={text!r} is not of the form NAME=VALUE, as in partition=orders-3.")
    return name.strip(), value.strip()


def _followed(servers: str, query: LogQuery) -> Pieces:
    fresh = replace(query, since_ms=time.time_ns() // 1_000_000, until_ms=None)
    with LogTopic(servers, client_id=CLIENT_ID) as topic, _translated():
        try:
            yield _told(topic.search(fresh).entries())
            for entries in topic.follow(replace(query, until_ms=None)):
                yield _told(entries) if entries else Pause(seconds=_PAUSE_SECONDS)
        except NoLogTopicError as error:
            raise GatewayError(404, str(error), error_code=40401) from error


def _told(entries: list[FoundEntry]) -> bytes:
    return event("entries", {"entries": [asdict(entry) for entry in reversed(entries)]})


@contextmanager
def _translated() -> Iterator[None]:
    """What librdkafka says, in the words of our own clients."""
    try:
        yield
    except KafkaException as error:
        raise exception_from(error, doing="read the log topic") from error
