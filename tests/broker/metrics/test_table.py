"""The table obeys Prometheus' rules for names, and kafka_exporter's for those that it has."""

import re

import pytest

from penstock.broker.metrics.metric import Metric, MetricKind
from penstock.broker.metrics.table import METRICS

EXPORTER = {
    "kafka_brokers": (),
    "kafka_broker_info": ("id", "address"),
    "kafka_topic_partitions": ("topic",),
    "kafka_topic_partition_current_offset": ("topic", "partition"),
    "kafka_topic_partition_oldest_offset": ("topic", "partition"),
    "kafka_topic_partition_leader": ("topic", "partition"),
    "kafka_topic_partition_replicas": ("topic", "partition"),
    "kafka_topic_partition_in_sync_replica": ("topic", "partition"),
    "kafka_topic_partition_leader_is_preferred": ("topic", "partition"),
    "kafka_topic_partition_under_replicated_partition": ("topic", "partition"),
    "kafka_consumergroup_members": ("consumergroup",),
    "kafka_consumergroup_current_offset": ("consumergroup", "topic", "partition"),
    "kafka_consumergroup_current_offset_sum": ("consumergroup", "topic"),
    "kafka_consumergroup_lag": ("consumergroup", "topic", "partition"),
    "kafka_consumergroup_lag_sum": ("consumergroup", "topic"),
}


def test_exporters_metrics_are_here_with_its_labels() -> None:
    found = {name: metric.labels for name, metric in METRICS.items() if name.startswith("kafka_")}
    assert found == EXPORTER


@pytest.mark.parametrize("metric", METRICS.values(), ids=lambda metric: metric.name)
def test_metric_is_named_as_prometheus_asks(metric: Metric) -> None:
    assert re.fullmatch(r"(kafka|penstock|process)_[a-z_]+", metric.name)
    assert metric.name.endswith("_total") == (metric.kind is MetricKind.COUNTER)
    assert metric.help.endswith(".")
    assert not {"le", "quantile", "job", "instance"} & set(metric.labels)
