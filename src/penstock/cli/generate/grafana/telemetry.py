"""The dashboard of what clients tell of themselves (KIP-714): how long they wait, and whether they are busy.

Names are those that KIP-714 has every client push. Nobody pushes unless a subscription asks for it, so all of
it is empty until there is one.
"""

from penstock.cli.generate.grafana.panel import (
    CLIENT,
    JOB,
    Dashboard,
    Panel,
    PanelKind,
    Query,
    Row,
    Unit,
)

_CHOSEN = '{job=~"$job", client_id=~"$client"}'
_BROKERS = '{job=~"$job"}'
_CLIENT = "{{client_id}}"


def _worst(metric: str) -> tuple[Query, ...]:
    """Of several clients with one name the one that is worst off."""
    return (Query(f"max by (client_id) (penstock_client_{metric}{_CHOSEN})", _CLIENT),)


def _growth(metric: str) -> str:
    return f"sum by (client_id) (rate(penstock_client_{metric}{_CHOSEN}[$__rate_interval]))"


PRODUCERS = Row(
    title="Producers",
    panels=(
        Panel(
            title="Requests of producers",
            description="The longest lately, from sending it to its answer, as the client saw it.",
            unit=Unit.MILLISECONDS,
            queries=_worst("producer_node_request_latency_max"),
        ),
        Panel(
            title="Wait in producers",
            description="How long a record lay in the client before it was sent, at most: linger, or a jam.",
            unit=Unit.MILLISECONDS,
            queries=_worst("producer_record_queue_time_max"),
        ),
        Panel(
            title="Connections made by producers",
            description="One that goes on connecting loses its connections.",
            unit=Unit.PER_SECOND,
            queries=(Query(_growth("producer_connection_creation_total"), _CLIENT),),
        ),
    ),
)

CONSUMERS = Row(
    title="Consumers",
    panels=(
        Panel(
            title="Fetches",
            description="The longest lately, as the client saw it. They wait for messages if it wants that.",
            unit=Unit.MILLISECONDS,
            queries=_worst("consumer_fetch_manager_fetch_latency_max"),
        ),
        Panel(
            title="Waiting for messages",
            description="The share of its time that a consumer waits; near 0 it can hardly keep up.",
            unit=Unit.SHARE,
            queries=(
                Query(f"min by (client_id) (penstock_client_consumer_poll_idle_ratio_avg{_CHOSEN})", _CLIENT),
            ),
        ),
        Panel(
            title="Commits of consumers",
            description="The longest lately, as the client saw it.",
            unit=Unit.MILLISECONDS,
            queries=_worst("consumer_coordinator_commit_latency_max"),
        ),
        Panel(
            title="Rebalances",
            description="The share of time in which clients of a name wait for their partitions.",
            unit=Unit.SHARE,
            queries=(Query(f"{_growth('consumer_coordinator_rebalance_latency_total')} / 1000", _CLIENT),),
        ),
        Panel(
            title="Assigned partitions",
            description="Of all consumers of a name together.",
            queries=(
                Query(
                    f"sum by (client_id) (penstock_client_consumer_coordinator_assigned_partitions{_CHOSEN})",
                    _CLIENT,
                ),
            ),
        ),
        Panel(
            title="Connections made by consumers",
            description="One that goes on connecting loses its connections.",
            unit=Unit.PER_SECOND,
            queries=(Query(_growth("consumer_connection_creation_total"), _CLIENT),),
        ),
    ),
)

WHO = Row(
    title="Who tells",
    panels=(
        Panel(
            title="Clients that push",
            description="By what they are made of.",
            queries=(
                Query(
                    "count by (client_software_name, client_software_version) "
                    f"(penstock_client_info{_CHOSEN})",
                    "{{client_software_name}} {{client_software_version}}",
                ),
            ),
        ),
        Panel(
            title="Clients that were asked",
            description="Those that have lately asked a broker what is wanted of them.",
            queries=(Query(f"penstock_telemetry_clients{_BROKERS}", "{{instance}}"),),
        ),
        Panel(
            title="Numbers left out",
            description="Too many, too long, or in the way of others.",
            unit=Unit.PER_SECOND,
            queries=(
                Query(
                    "sum by (instance) "
                    f"(rate(penstock_telemetry_dropped_values_total{_BROKERS}[$__rate_interval]))",
                    "{{instance}}",
                ),
            ),
        ),
        Panel(
            title="Clients",
            description="Which client is where, and which broker it tells.",
            kind=PanelKind.TABLE,
            width=24,
            queries=(
                Query(
                    "max by (client_id, client_instance_id, client_source_address, client_software_name, "
                    f"client_software_version, instance) (penstock_client_info{_CHOSEN})"
                ),
            ),
        ),
    ),
)

TELEMETRY = Dashboard(
    name="telemetry",
    title="Penstock: told by clients",
    description="What producers and consumers measure themselves, once a subscription asks them.",
    variables=(JOB, CLIENT),
    rows=(PRODUCERS, CONSUMERS, WHO),
)
