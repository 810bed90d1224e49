"""The dashboard of the quorum that decides on metadata: who leads it, and whether all follow."""

from penstock.cli.generate.grafana.panel import (
    INSTANCE,
    JOB,
    Alarm,
    Dashboard,
    Panel,
    PanelKind,
    Query,
    Row,
    Unit,
    number,
)

_HERE = '{job=~"$job", instance=~"$instance"}'

STATE = Row(
    title="State",
    panels=(
        number(
            "Controllers",
            "There must be one.",
            'sum(penstock_active_controller{job=~"$job"})',
            alarm=Alarm.NOT_ONE,
        ),
        number(
            "Leader",
            "Number of the node that leads.",
            'max(penstock_raft_leader{job=~"$job"})',
            unit=Unit.TEXT,
        ),
        number("Term", "The latest one.", 'max(penstock_raft_term{job=~"$job"})', unit=Unit.TEXT),
        number("Voters", "Of the set in force.", 'max(penstock_raft_voters{job=~"$job"})'),
        number(
            "Voters that answer",
            "Nodes with a vote that Prometheus can reach: more than half must be there.",
            'sum(penstock_raft_is_voter{job=~"$job"})',
            alarm=Alarm.BELOW_ONE,
        ),
        number(
            "Elections in an hour",
            "How often any node stood for one.",
            'sum(increase(penstock_raft_elections_total{job=~"$job"}[1h]))',
        ),
        number(
            "Undecided",
            "Entries that the leader has and that are not decided yet.",
            'max(penstock_raft_log_end_offset{job=~"$job"}) - max(penstock_raft_commit_offset{job=~"$job"})',
        ),
        number(
            "Offline partitions",
            "Partitions that nobody leads.",
            'sum(penstock_offline_partitions{job=~"$job"})',
            alarm=Alarm.ABOVE_ZERO,
        ),
    ),
)

FOLLOWING = Row(
    title="Following",
    panels=(
        Panel(
            title="Replicas behind",
            description="Entries of the metadata log that a replica lacks, as the leader knows; -1 when it "
            "has not heard of it yet.",
            width=12,
            queries=(Query('max by (node) (penstock_raft_replica_lag{job=~"$job"})', "node {{node}}"),),
        ),
        Panel(
            title="Not in force yet",
            description="Decided entries that a broker has not taken over.",
            width=12,
            queries=(
                Query(
                    f"penstock_raft_commit_offset{_HERE} - penstock_raft_applied_offset{_HERE}",
                    "{{instance}}",
                ),
            ),
        ),
        Panel(
            title="Changes",
            description="Entries of metadata decided a second.",
            unit=Unit.PER_SECOND,
            width=12,
            queries=(Query(f"rate(penstock_raft_commit_offset{_HERE}[$__rate_interval])", "{{instance}}"),),
        ),
        Panel(
            title="Elections and leaders",
            description="How often nodes stood for election, and learned of another leader.",
            width=12,
            queries=(
                Query(
                    f"increase(penstock_raft_elections_total{_HERE}[$__rate_interval])",
                    "elections of {{instance}}",
                ),
                Query(
                    f"increase(penstock_raft_leader_changes_total{_HERE}[$__rate_interval])",
                    "leaders seen by {{instance}}",
                ),
            ),
        ),
        Panel(
            title="Terms",
            description="They should be the same everywhere, and rarely grow.",
            width=12,
            unit=Unit.TEXT,
            queries=(Query(f"penstock_raft_term{_HERE}", "{{instance}}"),),
        ),
        Panel(
            title="Nodes",
            description="Who is who.",
            kind=PanelKind.TABLE,
            width=12,
            queries=(Query(f"max by (node, instance, address, rack, cluster) (penstock_node_info{_HERE})"),),
        ),
    ),
)

RAFT = Dashboard(
    name="raft",
    title="Penstock: Raft",
    description="The quorum that decides on metadata: who leads it, and whether all follow.",
    variables=(JOB, INSTANCE),
    rows=(STATE, FOLLOWING),
)
