"""The dashboard of consumer groups: how far behind they are, and whether they move."""

from penstock.cli.generate.grafana.panel import (
    GROUP,
    JOB,
    TOPIC,
    Dashboard,
    Panel,
    PanelKind,
    Query,
    Row,
    Unit,
    quantile,
)

_CHOSEN = '{job=~"$job", consumergroup=~"$group", topic=~"$topic"}'
_GROUPS = '{job=~"$job", consumergroup=~"$group"}'

LAG = Row(
    title="Lag",
    panels=(
        Panel(
            title="Lag in time",
            description="Age of the oldest message that the group has not committed.",
            unit=Unit.SECONDS,
            width=12,
            queries=(
                Query(
                    f"max by (consumergroup, topic) (penstock_consumergroup_lag_seconds{_CHOSEN})",
                    "{{consumergroup}} of {{topic}}",
                ),
            ),
        ),
        Panel(
            title="Lag in messages",
            description="From the committed offsets up to the high watermarks.",
            width=12,
            queries=(
                Query(
                    f"sum by (consumergroup, topic) (kafka_consumergroup_lag_sum{_CHOSEN})",
                    "{{consumergroup}} of {{topic}}",
                ),
            ),
        ),
        Panel(
            title="Consumed",
            description="How fast committed offsets move. A group that has lag and does not move is stuck.",
            unit=Unit.PER_SECOND,
            width=12,
            queries=(
                Query(
                    "sum by (consumergroup, topic) "
                    f"(rate(kafka_consumergroup_current_offset_sum{_CHOSEN}[$__rate_interval]))",
                    "{{consumergroup}} of {{topic}}",
                ),
            ),
        ),
        Panel(
            title="Partitions that lag most",
            description="The ten that are furthest behind: one that stands out has a message that is "
            "hard to digest, or a key that is too popular.",
            kind=PanelKind.TABLE,
            width=12,
            queries=(
                Query(
                    f"topk(10, max by (consumergroup, topic, partition) (kafka_consumergroup_lag{_CHOSEN}))"
                ),
            ),
        ),
    ),
)

MEMBERS = Row(
    title="Members",
    panels=(
        Panel(
            title="Members",
            description="0 is a group that nobody reads for at present.",
            width=12,
            queries=(
                Query(f"sum by (consumergroup) (kafka_consumergroup_members{_GROUPS})", "{{consumergroup}}"),
            ),
        ),
        Panel(
            title="Groups by state",
            description="Many that rebalance at once have members that come and go.",
            width=12,
            queries=(Query('sum by (state) (penstock_consumergroups{job=~"$job"})', "{{state}}"),),
        ),
        Panel(
            title="Group requests",
            description="Joins, syncs, heartbeats and commits a second.",
            unit=Unit.PER_SECOND,
            width=12,
            queries=(
                Query(
                    'sum by (api) (rate(penstock_request_duration_seconds_count{job=~"$job", '
                    'api=~"JoinGroup|SyncGroup|Heartbeat|ConsumerGroupHeartbeat|OffsetCommit|LeaveGroup"}'
                    "[$__rate_interval]))",
                    "{{api}}",
                ),
            ),
        ),
        Panel(
            title="Commits",
            description="How long a commit takes; 99% are quicker.",
            unit=Unit.SECONDS,
            width=12,
            queries=(
                Query(
                    quantile(0.99, "penstock_request_duration_seconds", where=', api="OffsetCommit"'),
                    "99%",
                ),
            ),
        ),
    ),
)

GROUPS = Dashboard(
    name="groups",
    title="Penstock: consumer groups",
    description="How far behind groups are, and whether they move.",
    variables=(JOB, GROUP, TOPIC),
    rows=(LAG, MEMBERS),
)
