"""Metrics of requests and connections."""

from collections import Counter
from collections.abc import Iterator

from penstock.broker.metrics import table
from penstock.broker.metrics.metric import Family, Sample, series
from penstock.broker.metrics.traffic import ApiTraffic, Traffic
from penstock.broker.server import Server
from penstock.model.error_codes import ErrorCode
from penstock.wire.api_keys import APIS, ApiKey

_API = ("api",)


def request_families(server: Server) -> Iterator[Family]:
    """All that the server of a broker can tell."""
    traffic = server.traffic
    apis = sorted(traffic.apis.items())
    yield Family(table.REQUEST_DURATION, _durations(apis))
    yield Family(table.REQUEST_BYTES, [(_series(key), api.request_bytes) for key, api in apis])
    yield Family(table.RESPONSE_BYTES, [(_series(key), api.response_bytes) for key, api in apis])
    yield Family(table.REQUESTS_IN_FLIGHT, _in_flight(server))
    yield Family(table.ERRORS, _errors(traffic))
    yield from _connections(server)


def _connections(server: Server) -> Iterator[Family]:
    memory = server.memory
    yield Family(table.CONNECTIONS, [("", server.connection_count)])
    yield Family(table.CONNECTIONS_ACCEPTED, [("", server.traffic.connections)])
    refused = sorted(server.limits.refused_by.items())
    yield Family(
        table.CONNECTIONS_REFUSED,
        [(table.CONNECTIONS_REFUSED.series(limit), count) for limit, count in refused],
    )
    yield Family(table.REQUEST_MEMORY, [("", memory.held_bytes)])
    yield Family(table.REQUEST_MEMORY_LIMIT, [("", memory.bytes_max)])
    yield Family(table.REQUESTS_QUEUED, [("", memory.queued_count)])
    yield Family(table.CONNECTION_PAUSES, [("", server.traffic.pauses)])


def _durations(apis: list[tuple[int, ApiTraffic]]) -> Iterator[Sample]:
    for key, api in apis:
        yield from api.latency.samples(f'api="{_name(key)}"')


def _in_flight(server: Server) -> Iterator[Sample]:
    """Also of APIs of which nothing is under way just now, so that their lines have no holes."""
    found = Counter(dict.fromkeys(server.traffic.apis, 0))
    for connection in server.connections:
        found.update(connection.apis_in_flight)
    for key, count in sorted(found.items()):
        yield _series(key), count


def _errors(traffic: Traffic) -> Iterator[Sample]:
    for (key, code), count in sorted(traffic.errors.items()):
        yield table.ERRORS.series(_name(key), ErrorCode(code).name), count


def _series(key: int) -> str:
    return series(_API, (_name(key),))


def _name(key: int) -> str:
    """Only requests of known APIs are answered, but for one: ApiVersions of a version that nobody knows."""
    return APIS[ApiKey(key)].name
