"""What clients push and dashboards ask for, as it stands on a broker's page.

Clients choose names themselves, so no table of ours has them; that real ones push these is for
``test_scraping`` to show.
"""

from penstock.broker.metrics.metric import Metric, MetricKind
from penstock.broker.telemetry.client_series import INFO, PREFIX

_OF_ALL = ("client_id", "client_instance_id")
_OF_CONSUMERS = (*_OF_ALL, "group_id", "member_id")
_WHO = ("client_software_name", "client_software_version", "client_source_address")


def _pushed(name: str, labels: tuple[str, ...]) -> Metric:
    kind = MetricKind.COUNTER if name.endswith("_total") else MetricKind.GAUGE
    return Metric(name=f"{PREFIX}{name}", kind=kind, help="", labels=labels)


_METRICS = (
    Metric(name=INFO.name, kind=INFO.kind, help=INFO.help, labels=(*_OF_ALL, *_WHO)),
    _pushed("producer_connection_creation_total", _OF_ALL),
    _pushed("producer_node_request_latency_max", (*_OF_ALL, "node_id")),
    _pushed("producer_record_queue_time_max", _OF_ALL),
    _pushed("consumer_connection_creation_total", _OF_CONSUMERS),
    _pushed("consumer_coordinator_assigned_partitions", _OF_CONSUMERS),
    _pushed("consumer_coordinator_commit_latency_max", _OF_CONSUMERS),
    _pushed("consumer_coordinator_rebalance_latency_total", _OF_CONSUMERS),
    _pushed("consumer_fetch_manager_fetch_latency_max", _OF_CONSUMERS),
    _pushed("consumer_poll_idle_ratio_avg", _OF_CONSUMERS),
)
CLIENT_METRICS = {metric.name: metric for metric in _METRICS}
