"""The dashboard of what clients ask and how they are answered: requests, errors, connections, memory."""

from penstock.cli.generate.grafana.panel import (
    INSTANCE,
    JOB,
    Dashboard,
    Panel,
    PanelKind,
    Query,
    Row,
    Unit,
    quantile,
)

_HERE = '{job=~"$job", instance=~"$instance"}'


def _rate_by(label: str, metric: str) -> tuple[Query, ...]:
    return (Query(f"sum by ({label}) (rate({metric}{_HERE}[$__rate_interval]))", f"{{{{{label}}}}}"),)


REQUESTS = Row(
    title="Requests",
    panels=(
        Panel(
            title="Requests",
            description="Answered a second, by API; other brokers' included.",
            unit=Unit.PER_SECOND,
            queries=_rate_by("api", "penstock_request_duration_seconds_count"),
        ),
        Panel(
            title="Latency",
            description="99% are answered sooner. Fetches wait for messages as long as consumers want.",
            unit=Unit.SECONDS,
            queries=(
                Query(
                    quantile(
                        0.99,
                        "penstock_request_duration_seconds",
                        "api",
                        where=', instance=~"$instance"',
                    ),
                    "{{api}}",
                ),
            ),
        ),
        Panel(
            title="Errors",
            description="In answers, one for each part of a request that was refused.",
            unit=Unit.PER_SECOND,
            queries=(
                Query(
                    f"sum by (api, error) (rate(penstock_errors_total{_HERE}[$__rate_interval]))",
                    "{{api}} {{error}}",
                ),
            ),
        ),
        Panel(
            title="Bytes of requests",
            description="By API.",
            unit=Unit.BYTES_PER_SECOND,
            queries=_rate_by("api", "penstock_request_bytes_total"),
        ),
        Panel(
            title="Bytes of answers",
            description="By API.",
            unit=Unit.BYTES_PER_SECOND,
            queries=_rate_by("api", "penstock_response_bytes_total"),
        ),
        Panel(
            title="In flight",
            description="Requests that are being served or wait to be answered.",
            queries=(Query(f"sum by (api) (penstock_requests_in_flight{_HERE})", "{{api}}"),),
        ),
    ),
)

CONNECTIONS = Row(
    title="Connections",
    panels=(
        Panel(
            title="Connections",
            description="Of clients and other brokers.",
            queries=(Query(f"penstock_connections{_HERE}", "{{instance}}"),),
        ),
        Panel(
            title="New connections",
            description="Many a second are clients that do not keep theirs.",
            unit=Unit.PER_SECOND,
            queries=_rate_by("instance", "penstock_connections_accepted_total"),
        ),
        Panel(
            title="Refused connections",
            description="By the setting that refuses them.",
            unit=Unit.PER_SECOND,
            queries=_rate_by("limit", "penstock_connections_refused_total"),
        ),
        Panel(
            title="Memory of requests",
            description="As a share of queued.max.request.bytes; at 1 connections are read no further.",
            unit=Unit.SHARE,
            queries=(
                Query(
                    f"penstock_request_memory_bytes{_HERE} / penstock_request_memory_limit_bytes{_HERE}",
                    "{{instance}}",
                ),
            ),
        ),
        Panel(
            title="Pauses",
            description="How often a connection was not read, since requests held too much memory.",
            unit=Unit.PER_SECOND,
            queries=_rate_by("instance", "penstock_connection_pauses_total"),
        ),
        Panel(
            title="Requests that queue",
            description="Behind an earlier one of their connection.",
            queries=(Query(f"penstock_requests_queued{_HERE}", "{{instance}}"),),
        ),
    ),
)

WAITING = Row(
    title="Waiting and reading",
    panels=(
        Panel(
            title="Batches that wait",
            description="Appended, and not answered yet: for the flush here, or for replicas in sync.",
            queries=(Query(f"sum by (reason) (penstock_waiting_appends{_HERE})", "{{reason}}"),),
        ),
        Panel(
            title="Read from",
            description="Bytes sent to consumers and followers, from memory or from files.",
            unit=Unit.BYTES_PER_SECOND,
            queries=_rate_by("source", "penstock_fetched_bytes_total"),
        ),
        Panel(
            title="Tail cache",
            description="Batches kept in memory for readers near the end, as a share of the limit.",
            unit=Unit.SHARE,
            queries=(
                Query(
                    f"penstock_tail_cache_bytes{_HERE} / penstock_tail_cache_limit_bytes{_HERE}",
                    "{{instance}}",
                ),
            ),
        ),
        Panel(
            title="Throttling of replication",
            description="For how long the copying of throttled replicas stands still from now on.",
            unit=Unit.SECONDS,
            queries=(
                Query(
                    f"max by (instance, role) (penstock_replication_throttle_seconds{_HERE})",
                    "{{instance}} {{role}}",
                ),
            ),
        ),
        Panel(
            title="Versions",
            description="What runs where.",
            kind=PanelKind.TABLE,
            width=16,
            queries=(Query(f"max by (instance, version, python) (penstock_build_info{_HERE})"),),
        ),
    ),
)

CLIENTS = Dashboard(
    name="clients",
    title="Penstock: clients",
    description="What clients ask, how they are answered, and what they cost.",
    variables=(JOB, INSTANCE),
    rows=(REQUESTS, CONNECTIONS, WAITING),
)
