"""The dashboard for a glance: is it well, how much goes through, how much room is left."""

from penstock.cli.generate.grafana.panel import (
    INSTANCE,
    JOB,
    Alarm,
    Dashboard,
    Panel,
    Query,
    Row,
    Unit,
    number,
    quantile,
)

_HERE = '{job=~"$job", instance=~"$instance"}'

HEALTH = Row(
    title="Health",
    panels=(
        number(
            "Brokers",
            "Alive, as the controller has it.",
            'sum(kafka_brokers{job=~"$job"})',
            alarm=Alarm.BELOW_ONE,
        ),
        number(
            "Not ready",
            "Brokers that answer Prometheus and are not ready, as /health/ready has it.",
            'sum(1 - penstock_ready{job=~"$job"})',
            alarm=Alarm.ABOVE_ZERO,
        ),
        number(
            "Controllers",
            "There must be one.",
            'sum(penstock_active_controller{job=~"$job"})',
            alarm=Alarm.NOT_ONE,
        ),
        number(
            "Offline",
            "Partitions that nobody leads: they can be neither read nor written.",
            'sum(penstock_offline_partitions{job=~"$job"})',
            alarm=Alarm.ABOVE_ZERO,
        ),
        number(
            "Under min ISR",
            "Partitions that refuse acks=all.",
            'sum(penstock_under_min_isr_partitions{job=~"$job"})',
            alarm=Alarm.ABOVE_ZERO,
        ),
        number(
            "Under-replicated",
            "Partitions of which not all replicas are in sync.",
            'sum(penstock_under_replicated_partitions{job=~"$job"})',
            alarm=Alarm.ABOVE_ZERO,
        ),
        number(
            "Failed replicas",
            "Replicas that cannot be opened, are damaged, or are not copied any more.",
            'sum(penstock_failed_partitions{job=~"$job"})',
            alarm=Alarm.ABOVE_ZERO,
        ),
        number(
            "Full disks",
            "Brokers that refuse producers since their disk is almost full.",
            'sum(penstock_disk_is_low{job=~"$job"})',
            alarm=Alarm.ABOVE_ZERO,
        ),
    ),
)

TRAFFIC = Row(
    title="Traffic",
    panels=(
        Panel(
            title="Messages in",
            description="Messages a second that producers were told are safe.",
            unit=Unit.PER_SECOND,
            queries=(
                Query(
                    f"sum by (instance) (rate(penstock_topic_messages_in_total{_HERE}[$__rate_interval]))",
                    "{{instance}}",
                ),
            ),
        ),
        Panel(
            title="Bytes in and out",
            description="From producers, and to consumers, of batches as they travel.",
            unit=Unit.BYTES_PER_SECOND,
            queries=(
                Query(f"sum(rate(penstock_topic_bytes_in_total{_HERE}[$__rate_interval]))", "in"),
                Query(f"sum(rate(penstock_topic_bytes_out_total{_HERE}[$__rate_interval]))", "out"),
            ),
        ),
        Panel(
            title="Replication",
            description="Batches copied between brokers.",
            unit=Unit.BYTES_PER_SECOND,
            queries=(
                Query(
                    f"sum by (instance) (rate(penstock_replication_bytes_in_total{_HERE}[$__rate_interval]))",
                    "to {{instance}}",
                ),
            ),
        ),
    ),
)

LATENCY = Row(
    title="Latency",
    panels=(
        Panel(
            title="Produce",
            description="From a complete request to its answer, flushes and replicas included.",
            unit=Unit.SECONDS,
            queries=tuple(
                Query(
                    quantile(
                        share,
                        "penstock_request_duration_seconds",
                        where=', instance=~"$instance", api="Produce"',
                    ),
                    name,
                )
                for share, name in ((0.5, "half"), (0.99, "99%"), (0.999, "99.9%"))
            ),
        ),
        Panel(
            title="Flush",
            description="A round of group commit: writing and flushing what waits. 99% are quicker.",
            unit=Unit.SECONDS,
            queries=(
                Query(
                    quantile(
                        0.99,
                        "penstock_flush_duration_seconds",
                        "instance",
                        where=', instance=~"$instance"',
                    ),
                    "{{instance}}",
                ),
            ),
        ),
        Panel(
            title="Event loop lag",
            description="How late timers are: how long a request waits to be looked at. 99% are less late.",
            unit=Unit.SECONDS,
            queries=(
                Query(
                    quantile(
                        0.99,
                        "penstock_event_loop_lag_seconds",
                        "instance",
                        where=', instance=~"$instance"',
                    ),
                    "{{instance}}",
                ),
            ),
        ),
    ),
)

RESOURCES = Row(
    title="Resources",
    panels=(
        Panel(
            title="Free disk",
            description="Share of the disk of the data directory.",
            unit=Unit.SHARE,
            width=6,
            queries=(
                Query(f"penstock_disk_free_bytes{_HERE} / penstock_disk_size_bytes{_HERE}", "{{instance}}"),
            ),
        ),
        Panel(
            title="Data",
            description="Bytes of all topics' batches on the disks.",
            unit=Unit.BYTES,
            width=6,
            queries=(Query(f"sum by (instance) (penstock_log_size_bytes{_HERE})", "{{instance}}"),),
        ),
        Panel(
            title="Memory",
            description="Held by each broker right now.",
            unit=Unit.BYTES,
            width=6,
            queries=(Query(f"process_resident_memory_bytes{_HERE}", "{{instance}}"),),
        ),
        Panel(
            title="Processor",
            description="1 is one core, which is what a broker's loop can use.",
            width=6,
            queries=(Query(f"rate(process_cpu_seconds_total{_HERE}[$__rate_interval])", "{{instance}}"),),
        ),
        Panel(
            title="Open files",
            description="Sockets included, as a share of how many there may be.",
            unit=Unit.SHARE,
            width=6,
            queries=(Query(f"process_open_fds{_HERE} / process_max_fds{_HERE}", "{{instance}}"),),
        ),
        Panel(
            title="Partitions led",
            description="How evenly the work is spread.",
            width=6,
            queries=(Query(f"penstock_led_partitions{_HERE}", "{{instance}}"),),
        ),
        Panel(
            title="Up since",
            description="Age of the process.",
            unit=Unit.SECONDS,
            width=6,
            queries=(Query(f"time() - process_start_time_seconds{_HERE}", "{{instance}}"),),
        ),
        Panel(
            title="Scrapes",
            description="How long a broker took to make the page for Prometheus.",
            unit=Unit.SECONDS,
            width=6,
            queries=(Query(f"penstock_scrape_duration_seconds{_HERE}", "{{instance}}"),),
        ),
    ),
)

OVERVIEW = Dashboard(
    name="overview",
    title="Penstock: overview",
    description="Is the cluster well, how much goes through it, how much room is left.",
    variables=(JOB, INSTANCE),
    rows=(HEALTH, TRAFFIC, LATENCY, RESOURCES),
)
