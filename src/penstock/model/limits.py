"""Every fixed bound in one place. What a user may change is a setting instead (``penstock.config``)."""

TOPIC_NAME_LENGTH_MAX = 249
PARTITIONS_PER_TOPIC_MAX = 10_000
PARTITIONS_PER_CLUSTER_MAX = 100_000
TOPICS_PER_REQUEST_MAX = 10_000
BROKERS_PER_CLUSTER_MAX = 1_000

SUSPICION_MS = 500
"""How long a broker whose connection to the controller broke has to be heard of again. Longer than it takes
to notice and to connect, shorter than any session."""

MOVES_AT_ONCE_MAX = 50
"""Partitions whose replicas the controller moves by itself at one time; people may move more."""

ELECTIONS_PER_UPKEEP_MAX = 1_000
"""Partitions whose leadership goes back to preferred replicas in one batch of records."""
CONFIG_VALUE_LENGTH_MAX = 32 * 1024

ARRAY_ELEMENTS_MAX = 100_000
"""Elements of all arrays of one decoded request: a one-byte element becomes hundreds of bytes of Python."""

RESPONSE_ELEMENTS_MAX = 1_000_000
"""Elements of one decoded response: its sender is a broker we chose to ask."""

RECORD_ELEMENTS_MAX = 1_000_000
"""Elements of one record of an internal topic: more than any request can have made a coordinator write."""

TAGGED_FIELDS_MAX = 64
TAGGED_FIELD_BYTES_MAX = 64 * 1024
"""Of a tagged field that we do not know; those we know have the limits of what they hold."""

PARTITIONS_PER_FETCH_SESSION_MAX = 100_000
"""As many as a cluster can have. Names that nothing has count too."""

PARTITIONS_PER_FETCH_SESSIONS_MAX = 300_000
"""Of all consumers' sessions with one broker: each costs half a kilobyte and more. Who is refused a session
says in each request what it wants, and gets it."""

RECENT_BATCHES_PER_PRODUCER = 5
"""How many batches back a retry of an idempotent producer is recognised (as many as may be in flight)."""

PRODUCER_IDS_PER_PARTITION_MAX = 100_000
PRODUCER_ID_BLOCK_SIZE = 1_000

TRANSACTIONAL_ID_LENGTH_MAX = 1_024
TRANSACTIONAL_IDS_PER_SHARD_MAX = 100_000
PARTITIONS_PER_TRANSACTION_MAX = 10_000
VERIFICATIONS_PER_PARTITION_MAX = 10_000
TRANSACTIONAL_BYTES_WAITING_MAX = 64 * 1024 * 1024
"""Of batches that wait until their transaction's coordinator agrees, over all partitions."""

TRANSACTIONS_PER_TICK_MAX = 100
"""How many timed-out transactions, and how many idle ids, a coordinator deals with in one batch."""

TRANSACTION_PARTITIONS_PER_CALL_MAX = 10_000
"""Named by one request between brokers; the transaction that reaches this is still taken in whole."""

TRANSACTION_CALLS_WAITING_MAX = 10_000
"""Transactions that wait until one other broker can be asked about them."""

DECOMPRESSED_BYTES_MAX = 64 * 1024 * 1024
DECOMPRESSION_RATIO_MAX = 100
"""How many times the largest batch a topic takes its records may be when decompressed."""

RECORD_ERRORS_MAX = 1_000
"""Records named in the refusal of a batch; it counts them all."""

RECORDS_SEARCHED_FOR_ERRORS_MAX = 100_000
"""Of a batch that is refused anyway, to name those at fault; no honest batch holds many more."""

ZSTD_WINDOW_BYTES_FREE = 8 * 1024 * 1024
"""A zstd window up to this size (what RFC 8878 asks of every decoder) does not count as decompressed."""

PENDING_MEMBERS_PER_GROUP_MAX = 10_000
"""Member ids given out and not used yet: clients that never come back must not fill the memory."""

MEMBER_ID_PREFIX_LENGTH_MAX = 255
"""Member ids begin with the name of a client or instance; of a longer one only so many characters."""

GROUP_RECORDS_PER_TICK = 1_000
"""A coordinator that deletes old offsets writes them in batches of about this many records."""

PATTERN_BYTES_MAX = 1_024
PATTERN_MEMORY_BYTES_MAX = 1024 * 1024
"""Of one regular expression that a client sends, compiled."""

PATTERNS_PER_SHARD_MAX = 100
"""Compiled regular expressions that a coordinator remembers; of others it compiles again what it needs."""

PIPELINED_REQUESTS_PER_CONNECTION_MAX = 64

CHECKPOINT_BYTES_MAX = 64 * 1024 * 1024
"""Of one checkpoint file: room for every partition of a full cluster with the longest of names."""

RAFT_READS_WAITING_MAX = 10_000
"""Reads of the metadata that wait until a leader has proved that it still leads."""

RAFT_OBSERVERS_MAX = 1_000
"""Nodes without a vote that one leader feeds."""

RAFT_EVENTS_WAITING_MAX = 1_000
"""Messages of the quorum that wait while the metadata log is cut or a snapshot is installed."""

RAFT_QUESTIONS_PER_PEER_MAX = 48
"""Messages of the quorum on their way to one node and not answered; fewer than a connection may carry."""

PEER_CONNECTIONS_PER_LANE_MAX = 4
"""To one other broker, for one purpose, where questions cannot follow one another on a connection."""

FETCHES_PER_CONNECTION_MAX = 2
"""Of a follower's broker: one that waits for news, and one with what has changed since."""

PEER_QUESTIONS_WAITING_MAX = 1_000
"""For a free connection to one other broker, for one purpose."""

OFFSET_TIMES_MAX = 1_000
"""Offsets whose times one broker asks of another in one question: each may cost a look into a file."""

PEER_ANSWER_BYTES_MAX = 100 * 1024 * 1024
"""Of another broker; more than any fetch between brokers asks for."""

SCHEMA_TEXT_LENGTH_MAX = 1_000_000
"""Characters of one schema: no more than a record of the topic that keeps schemas can carry."""
SCHEMA_REFERENCES_MAX = 1_000
"""Schemas that one schema refers to, directly or not."""
SCHEMA_NESTING_MAX = 200
"""Of objects and lists in the JSON of one schema."""
SCHEMA_MESSAGE_NESTING_MAX = 32
"""Of Protobuf messages within messages, as protoc has it."""
SCHEMA_COMPARISON_STEPS_MAX = 200_000
"""Of proving that one JSON Schema accepts what another does: each looks at one part of one of them. A schema
of thousands of properties takes thousands; one with many alternatives has no end."""

TELEMETRY_SUBSCRIPTIONS_MAX = 1_000
"""Of clients' metrics: each is looked at when a client comes."""
TELEMETRY_CLIENTS_MAX = 16_384
"""Whose pushes one broker remembers, as in Kafka; the longest silent one makes room for a new one."""
TELEMETRY_SERIES_PER_CLIENT_MAX = 1_000
TELEMETRY_SERIES_MAX = 50_000
"""Over all clients of one broker: with the length below, at most some sixty megabytes."""
TELEMETRY_SERIES_LENGTH_MAX = 512
"""Characters of a series' name and labels, those that say which client it is of aside."""
TELEMETRY_LABEL_LENGTH_MAX = 200
"""Characters of a client's id and of what else says who it is; what is longer is cut."""
TELEMETRY_UNPACKED_BYTES_MAX = 4 * 1024 * 1024
TELEMETRY_FIELDS_MAX = 100_000
"""Of one push, at all depths: what the decoder looks at before it gives up."""
