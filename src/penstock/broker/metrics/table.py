"""Every metric a broker tells: name, kind, labels, meaning, and which broker tells it.

The page is rendered from here and the reference is generated from here. Where kafka_exporter has a metric it
keeps that name and its labels, so that boards made for it work; what the process is has the names that
Prometheus' own libraries give it; the rest begins with ``penstock_``, in base units.
"""

from penstock.broker.metrics.metric import Metric, MetricKind, Teller


def _gauge(name: str, help: str, *labels: str, teller: Teller = Teller.EVERY) -> Metric:
    return Metric(name=name, kind=MetricKind.GAUGE, help=help, labels=labels, teller=teller)


def _counter(name: str, help: str, *labels: str) -> Metric:
    return Metric(name=name, kind=MetricKind.COUNTER, help=help, labels=labels)


def _histogram(name: str, help: str, *labels: str) -> Metric:
    return Metric(name=name, kind=MetricKind.HISTOGRAM, help=help, labels=labels)


_PARTITION = ("topic", "partition")
_GROUP = ("consumergroup", "topic", "partition")

# The cluster and its topics, with kafka_exporter's names.

BROKERS = _gauge("kafka_brokers", "Brokers that are alive.", teller=Teller.CONTROLLER)
BROKER_INFO = _gauge(
    "kafka_broker_info",
    "1 for each broker that is alive, with its address.",
    *("id", "address"),
    teller=Teller.CONTROLLER,
)
TOPIC_PARTITIONS = _gauge(
    "kafka_topic_partitions", "Partitions of the topic.", "topic", teller=Teller.CONTROLLER
)
CURRENT_OFFSET = _gauge(
    "kafka_topic_partition_current_offset",
    "The high watermark: everything below is safe on every replica in sync.",
    *_PARTITION,
    teller=Teller.LEADER,
)
OLDEST_OFFSET = _gauge(
    "kafka_topic_partition_oldest_offset",
    "The oldest offset that can be read.",
    *_PARTITION,
    teller=Teller.LEADER,
)
LEADER = _gauge(
    "kafka_topic_partition_leader",
    "Number of the broker that leads; -1 when nobody does.",
    *_PARTITION,
    teller=Teller.LEADER,
)
REPLICAS = _gauge(
    "kafka_topic_partition_replicas", "Replicas of the partition.", *_PARTITION, teller=Teller.LEADER
)
IN_SYNC_REPLICAS = _gauge(
    "kafka_topic_partition_in_sync_replica", "Replicas in sync.", *_PARTITION, teller=Teller.LEADER
)
LEADER_IS_PREFERRED = _gauge(
    "kafka_topic_partition_leader_is_preferred",
    "1 if the first of the replicas leads.",
    *_PARTITION,
    teller=Teller.LEADER,
)
UNDER_REPLICATED = _gauge(
    "kafka_topic_partition_under_replicated_partition",
    "1 if not all replicas are in sync.",
    *_PARTITION,
    teller=Teller.LEADER,
)

# Groups, with kafka_exporter's names, and the lag in time.

GROUP_MEMBERS = _gauge(
    "kafka_consumergroup_members",
    "Members of the group.",
    "consumergroup",
    teller=Teller.COORDINATOR,
)
GROUP_OFFSET = _gauge(
    "kafka_consumergroup_current_offset",
    "The offset that the group has committed.",
    *_GROUP,
    teller=Teller.COORDINATOR,
)
GROUP_OFFSET_SUM = _gauge(
    "kafka_consumergroup_current_offset_sum",
    "The offsets that the group has committed, over all partitions of the topic.",
    *("consumergroup", "topic"),
    teller=Teller.COORDINATOR,
)
GROUP_LAG = _gauge(
    "kafka_consumergroup_lag",
    "Messages from the committed offset up to the high watermark.",
    *_GROUP,
    teller=Teller.COORDINATOR,
)
GROUP_LAG_SUM = _gauge(
    "kafka_consumergroup_lag_sum",
    "Messages from the committed offsets up to the high watermarks, over all partitions of the topic.",
    *("consumergroup", "topic"),
    teller=Teller.COORDINATOR,
)
GROUP_LAG_SECONDS = _gauge(
    "penstock_consumergroup_lag_seconds",
    "Age of the oldest message that the group has not committed, by the timestamp of its batch; 0 when there "
    "is none.",
    *_GROUP,
    teller=Teller.COORDINATOR,
)
GROUPS = _gauge("penstock_consumergroups", "Groups by state.", "state", teller=Teller.COORDINATOR)

# This broker.

BUILD_INFO = _gauge("penstock_build_info", "1, with the versions that run.", "version", "python")
NODE_INFO = _gauge("penstock_node_info", "1, with who this broker is.", "node", "cluster", "rack", "address")
READY = _gauge("penstock_ready", "1 if this broker is ready, as /health/ready has it.")
PARTITIONS = _gauge("penstock_partitions", "Partitions with a replica on this broker.")
LED_PARTITIONS = _gauge("penstock_led_partitions", "Partitions that this broker leads.")
UNDER_REPLICATED_PARTITIONS = _gauge(
    "penstock_under_replicated_partitions", "Partitions led here of which not all replicas are in sync."
)
UNDER_MIN_ISR_PARTITIONS = _gauge(
    "penstock_under_min_isr_partitions",
    "Partitions led here with fewer replicas in sync than min.insync.replicas asks: acks=all is refused.",
)
FAILED_PARTITIONS = _gauge(
    "penstock_failed_partitions",
    "Replicas here that cannot be opened, are damaged, or are not copied any more.",
)
OFFLINE_PARTITIONS = _gauge(
    "penstock_offline_partitions", "Partitions that nobody leads.", teller=Teller.CONTROLLER
)
LOG_SIZE = _gauge("penstock_log_size_bytes", "Bytes of the topic's batches on this broker's disk.", "topic")
TOPIC_MESSAGES_IN = _counter(
    "penstock_topic_messages_in_total", "Messages that producers have sent and the log has taken in.", "topic"
)
TOPIC_BATCHES_IN = _counter(
    "penstock_topic_batches_in_total", "Batches that producers have sent and the log has taken in.", "topic"
)
TOPIC_BYTES_IN = _counter("penstock_topic_bytes_in_total", "Bytes of those batches.", "topic")
TOPIC_BYTES_OUT = _counter(
    "penstock_topic_bytes_out_total", "Bytes of batches that were sent to consumers.", "topic"
)
FETCHED_BYTES = _counter(
    "penstock_fetched_bytes_total",
    "Bytes of batches that were sent to consumers and followers, by where they came from: the tail cache "
    "(memory) or files.",
    "source",
)
REPLICATION_BYTES_IN = _counter(
    "penstock_replication_bytes_in_total", "Bytes of batches copied from leaders on other brokers."
)
REPLICATION_BYTES_OUT = _counter(
    "penstock_replication_bytes_out_total", "Bytes of batches sent to followers on other brokers."
)
REPLICATION_WAIT = _gauge(
    "penstock_replication_throttle_seconds",
    "For how long the copying of throttled replicas stands still from now on (KIP-73); 0 when it does not.",
    "role",
)

# Requests and connections.

REQUEST_DURATION = _histogram(
    "penstock_request_duration_seconds",
    "From a complete request to its answer, waiting for flushes, replicas or new messages included.",
    "api",
)
REQUEST_BYTES = _counter("penstock_request_bytes_total", "Bytes of answered requests.", "api")
RESPONSE_BYTES = _counter("penstock_response_bytes_total", "Bytes of answers.", "api")
REQUESTS_IN_FLIGHT = _gauge(
    "penstock_requests_in_flight", "Requests that are being served or wait to be answered.", "api"
)
ERRORS = _counter(
    "penstock_errors_total",
    "Errors in answers, one for each part of a request that was refused.",
    *("api", "error"),
)
WAITING_APPENDS = _gauge(
    "penstock_waiting_appends",
    "Appended batches whose producers or coordinators wait: for the flush here, or for replicas in sync.",
    "reason",
)
CONNECTIONS = _gauge("penstock_connections", "Connections of clients and other brokers.")
CONNECTIONS_ACCEPTED = _counter("penstock_connections_accepted_total", "Connections that were admitted.")
CONNECTIONS_REFUSED = _counter(
    "penstock_connections_refused_total",
    "Connections that were closed at once, by the setting that says so.",
    "limit",
)
REQUEST_MEMORY = _gauge("penstock_request_memory_bytes", "Bytes of requests that are held in memory.")
REQUEST_MEMORY_LIMIT = _gauge(
    "penstock_request_memory_limit_bytes", "At so many connections are read no further."
)
REQUESTS_QUEUED = _gauge(
    "penstock_requests_queued", "Requests that wait for an earlier one of their connection."
)
CONNECTION_PAUSES = _counter(
    "penstock_connection_pauses_total",
    "How often a connection was not read for a while, since requests held too much memory.",
)

# What clients tell of themselves; their metrics are not here, since they choose them.

TELEMETRY_CLIENTS = _gauge(
    "penstock_telemetry_clients", "Clients that have lately asked here which of their metrics are wanted."
)
TELEMETRY_DROPPED = _counter(
    "penstock_telemetry_dropped_values_total",
    "Numbers of clients' metrics that were not kept: too many, too long, or in the way of others.",
)

# Disk and memory.

FLUSH_DURATION = _histogram(
    "penstock_flush_duration_seconds", "A round of group commit: writing and flushing everything that waits."
)
FLUSHED_BYTES = _counter(
    "penstock_flushed_bytes_total", "Bytes of batches written in those rounds, the metadata log aside."
)
FLUSHED_LOGS = _counter("penstock_flushed_logs_total", "Logs that took part in a round, over all rounds.")
DISK_FREE = _gauge("penstock_disk_free_bytes", "Free room on the disk of the data directory.")
DISK_SIZE = _gauge("penstock_disk_size_bytes", "Size of the disk of the data directory.")
DISK_IS_LOW = _gauge("penstock_disk_is_low", "1 while producers are refused since the disk is almost full.")
TAIL_CACHE = _gauge("penstock_tail_cache_bytes", "Batches kept in memory for readers near the end.")
TAIL_CACHE_LIMIT = _gauge("penstock_tail_cache_limit_bytes", "How much of them is kept at most.")

# The quorum.

ACTIVE_CONTROLLER = _gauge(
    "penstock_active_controller", "1 on the broker that decides on metadata; over all brokers it must be 1."
)
RAFT_TERM = _gauge("penstock_raft_term", "The latest term this node has seen.")
RAFT_LEADER = _gauge("penstock_raft_leader", "Number of the node that leads; -1 when none is known.")
RAFT_IS_VOTER = _gauge("penstock_raft_is_voter", "1 if this node has a vote.")
RAFT_VOTERS = _gauge("penstock_raft_voters", "Voters of the set in force.")
RAFT_COMMIT_OFFSET = _gauge(
    "penstock_raft_commit_offset", "Everything below is decided, as far as this node knows."
)
RAFT_END_OFFSET = _gauge("penstock_raft_log_end_offset", "Where this node's metadata log ends.")
RAFT_APPLIED_OFFSET = _gauge("penstock_raft_applied_offset", "Everything below is in force on this broker.")
RAFT_LAG = _gauge(
    "penstock_raft_replica_lag",
    "Entries of the metadata log that a replica lacks; -1 when the leader has not heard of it yet.",
    "node",
    teller=Teller.CONTROLLER,
)
RAFT_ELECTIONS = _counter("penstock_raft_elections_total", "How often this node stood for election.")
RAFT_LEADER_CHANGES = _counter(
    "penstock_raft_leader_changes_total", "How often this node learned of another leader."
)

# The process.

LOOP_LAG = _histogram(
    "penstock_event_loop_lag_seconds", "How late a timer was that is set four times a second."
)
SCRAPE_DURATION = _gauge(
    "penstock_scrape_duration_seconds",
    "How long it took to make the page before this one, pauses for clients included.",
)
CPU_SECONDS = _counter("process_cpu_seconds_total", "Processor time, in user and system mode.")
RESIDENT_BYTES = _gauge("process_resident_memory_bytes", "Memory held right now.")
VIRTUAL_BYTES = _gauge("process_virtual_memory_bytes", "Address space.")
OPEN_FILES = _gauge("process_open_fds", "File descriptors, sockets included.")
OPEN_FILES_MAX = _gauge("process_max_fds", "How many file descriptors there may be.")
START_TIME = _gauge("process_start_time_seconds", "When the process started, in seconds since 1970.")

METRICS: dict[str, Metric] = {
    metric.name: metric for metric in tuple(globals().values()) if isinstance(metric, Metric)
}
"""All of them by name, in the order in which they are told."""
