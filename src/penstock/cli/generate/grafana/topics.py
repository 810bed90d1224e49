"""The dashboard of topics: what flows through each, how large it is, how well it is copied."""

from penstock.cli.generate.grafana.panel import JOB, TOPIC, Dashboard, Panel, PanelKind, Query, Row, Unit

_CHOSEN = '{job=~"$job", topic=~"$topic"}'


def _rate_of(metric: str) -> str:
    return f"sum by (topic) (rate({metric}{_CHOSEN}[$__rate_interval]))"


def _rate(metric: str) -> tuple[Query, ...]:
    return (Query(_rate_of(metric), "{{topic}}"),)


FLOW = Row(
    title="Flow",
    panels=(
        Panel(
            title="Messages in",
            description="Messages a second that producers were told are safe.",
            unit=Unit.PER_SECOND,
            queries=_rate("penstock_topic_messages_in_total"),
        ),
        Panel(
            title="Bytes in",
            description="Of batches from producers, as they travel.",
            unit=Unit.BYTES_PER_SECOND,
            queries=_rate("penstock_topic_bytes_in_total"),
        ),
        Panel(
            title="Bytes out",
            description="Of batches to consumers.",
            unit=Unit.BYTES_PER_SECOND,
            queries=_rate("penstock_topic_bytes_out_total"),
        ),
        Panel(
            title="Messages a batch",
            description="Small batches cost the most: let producers linger where this is near 1.",
            queries=(
                Query(
                    f"{_rate_of('penstock_topic_messages_in_total')}"
                    f" / ({_rate_of('penstock_topic_batches_in_total')} > 0)",
                    "{{topic}}",
                ),
            ),
        ),
        Panel(
            title="Progress",
            description="How fast high watermarks move, by kafka_exporter's metric.",
            unit=Unit.PER_SECOND,
            queries=(
                Query(
                    f"sum by (topic) (rate(kafka_topic_partition_current_offset{_CHOSEN}[$__rate_interval]))",
                    "{{topic}}",
                ),
            ),
        ),
        Panel(
            title="Messages kept",
            description="From the oldest offset that can be read up to the high watermark.",
            queries=(
                Query(
                    f"sum by (topic) (kafka_topic_partition_current_offset{_CHOSEN}"
                    f" - kafka_topic_partition_oldest_offset{_CHOSEN})",
                    "{{topic}}",
                ),
            ),
        ),
    ),
)

COPIES = Row(
    title="Copies",
    panels=(
        Panel(
            title="Size",
            description="Bytes on the disks of all brokers, copies included.",
            unit=Unit.BYTES,
            queries=(Query(f"sum by (topic) (penstock_log_size_bytes{_CHOSEN})", "{{topic}}"),),
        ),
        Panel(
            title="Under-replicated partitions",
            description="Partitions of which not all replicas are in sync.",
            queries=(
                Query(
                    f"sum by (topic) (kafka_topic_partition_under_replicated_partition{_CHOSEN})",
                    "{{topic}}",
                ),
            ),
        ),
        Panel(
            title="Replicas missing",
            description="Replicas that are not in sync.",
            queries=(
                Query(
                    f"sum by (topic) (kafka_topic_partition_replicas{_CHOSEN}"
                    f" - kafka_topic_partition_in_sync_replica{_CHOSEN})",
                    "{{topic}}",
                ),
            ),
        ),
        Panel(
            title="Not led by the preferred replica",
            description="Leadership goes back by itself when the replica is in sync again.",
            queries=(
                Query(
                    f"sum by (topic) (1 - kafka_topic_partition_leader_is_preferred{_CHOSEN})", "{{topic}}"
                ),
            ),
        ),
        Panel(
            title="Leaders",
            description="Number of the broker that leads each partition; -1 when nobody does.",
            kind=PanelKind.TABLE,
            width=8,
            queries=(Query(f"max by (topic, partition) (kafka_topic_partition_leader{_CHOSEN})"),),
        ),
        Panel(
            title="Partitions",
            description="Of each topic, as the controller has it.",
            kind=PanelKind.TABLE,
            width=8,
            queries=(Query(f"max by (topic) (kafka_topic_partitions{_CHOSEN})"),),
        ),
    ),
)

TOPICS = Dashboard(
    name="topics",
    title="Penstock: topics",
    description="What flows through each topic, how large it is, and how well it is copied.",
    variables=(JOB, TOPIC),
    rows=(FLOW, COPIES),
)
