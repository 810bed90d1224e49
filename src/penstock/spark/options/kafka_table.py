"""Kafka's own properties, which options name with ``kafka.`` in front.

A property that would have no effect is accepted only where that harms nobody: code that was written for
another client goes on working. What would change what is read or written, or how safely, is refused by name.
"""

from penstock.spark.options.definition import EVERYWHERE, KAFKA_PREFIX, READS, Effect, Option
from penstock.spark.options.kinds import ANYTHING, BOOLEAN, TEXT, choice, whole_number

INT_MAX = 2**31 - 1
FETCH_BYTES = 4 * 1024 * 1024
"""Of one answer, measured: 1 MiB and 16 MiB both cost a tenth more."""

_MILLISECONDS = whole_number(least=0, most=INT_MAX)
_POSITIVE = whole_number(least=1, most=INT_MAX)


def _connection(name: str, default: str, meaning: str) -> Option:
    return Option(name=KAFKA_PREFIX + name, kind=_POSITIVE, default=default, uses=EVERYWHERE, meaning=meaning)


_EVERYWHERE = (
    Option(
        name="kafka.bootstrap.servers",
        kind=TEXT,
        default=None,
        uses=EVERYWHERE,
        meaning="Brokers to begin with, as host:port with commas between them. Must be given.",
    ),
    Option(
        name="kafka.client.id",
        kind=TEXT,
        default="penstock-spark",
        uses=EVERYWHERE,
        meaning="Who asks, for the broker's logs and quotas.",
    ),
    _connection("request.timeout.ms", "30000", "How long a broker may take to answer."),
    _connection("socket.connection.setup.timeout.ms", "10000", "How long a connection may take to be made."),
    _connection("default.api.timeout.ms", "60000", "How long planning waits for leaders that move."),
    _connection("retry.backoff.ms", "100", "First pause before something is asked again."),
    _connection("retry.backoff.max.ms", "1000", "Longest pause before something is asked again."),
)

_READING = (
    Option(
        name="kafka.group.id",
        kind=TEXT,
        default=None,
        uses=READS,
        meaning="The same as groupId.",
    ),
    Option(
        name="kafka.isolation.level",
        kind=choice(("read_uncommitted", "read_committed")),
        default="read_uncommitted",
        uses=READS,
        meaning=(
            "Whether records of transactions that are open or were aborted are read; by default they are, as "
            "in Kafka."
        ),
    ),
    Option(
        name="kafka.max.partition.fetch.bytes",
        kind=_POSITIVE,
        default=str(FETCH_BYTES),
        uses=READS,
        meaning="Most bytes of one answer of a broker, but for a single batch that is larger.",
    ),
    Option(
        name="kafka.fetch.max.bytes",
        kind=_POSITIVE,
        default="52428800",
        uses=READS,
        meaning="The same limit; the smaller of the two counts, since a task reads one partition at a time.",
    ),
    Option(
        name="kafka.check.crcs",
        kind=BOOLEAN,
        default="true",
        uses=READS,
        meaning="Whether the checksum of every batch is compared before it is read.",
    ),
    Option(
        name="kafka.fetch.max.wait.ms",
        kind=_MILLISECONDS,
        default="500",
        uses=READS,
        meaning="How long a broker waits for records before it answers that there are none.",
    ),
)

_WITHOUT_EFFECT = (
    *("allow.auto.create.topics", "auto.commit.interval.ms", "auto.include.jmx.reporter"),
    *("client.dns.lookup", "client.rack", "connections.max.idle.ms", "enable.metrics.push"),
    *("exclude.internal.topics", "fetch.min.bytes", "group.instance.id", "group.protocol"),
    *("group.remote.assignor", "heartbeat.interval.ms", "max.poll.interval.ms", "max.poll.records"),
    *("metadata.max.age.ms", "metadata.recovery.rebootstrap.trigger.ms", "metadata.recovery.strategy"),
    *("metric.reporters", "metrics.num.samples", "metrics.recording.level"),
    *("metrics.sample.window.ms", "partition.assignment.strategy", "receive.buffer.bytes"),
    *("reconnect.backoff.max.ms", "reconnect.backoff.ms", "send.buffer.bytes", "session.timeout.ms"),
    "socket.connection.setup.timeout.max.ms",
)

_REFUSED = {
    "auto.offset.reset": "Say with startingOffsets where to begin; a checkpoint says where to go on.",
    "enable.auto.commit": "Committed micro-batches are reported to a group by commitOffsets.",
    "interceptor.classes": "Classes of Java cannot run here; change the records with DataFrame operations.",
    "key.deserializer": "Keys are binary; turn them into something else with DataFrame operations.",
    "value.deserializer": "Values are binary; turn them into something else with DataFrame operations.",
    "key.serializer": "Keys are binary or strings; make them so with DataFrame operations.",
    "value.serializer": "Values are binary or strings; make them so with DataFrame operations.",
}

KAFKA_OPTIONS = (
    *_EVERYWHERE,
    *_READING,
    *(
        Option(
            name=KAFKA_PREFIX + name,
            kind=ANYTHING,
            default=None,
            uses=EVERYWHERE,
            meaning="Accepted, without effect.",
            effect=Effect.IGNORED,
        )
        for name in _WITHOUT_EFFECT
    ),
    *(
        Option(
            name=KAFKA_PREFIX + name,
            kind=ANYTHING,
            default=None,
            uses=EVERYWHERE,
            meaning=meaning,
            effect=Effect.REFUSED,
        )
        for name, meaning in _REFUSED.items()
    ),
)
