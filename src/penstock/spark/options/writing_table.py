"""The options of writing, with names and meaning of Spark's Kafka connector but for those marked ours."""

from penstock.records.compression import CODEC_NAMES
from penstock.spark.options.definition import KAFKA_PREFIX, WRITES, Effect, Kind, Option, Use
from penstock.spark.options.kinds import ANYTHING, TEXT, choice, whole_number

INT_MAX = 2**31 - 1
_MILLISECONDS = whole_number(least=1, most=INT_MAX)
_BYTES = whole_number(least=1_000, most=INT_MAX)
_BATCH = frozenset({Use.BATCH_WRITE})
_STREAM = frozenset({Use.STREAM_WRITE})


def _ours(
    name: str, kind: Kind, meaning: str, *, default: str | None = None, uses: frozenset[Use] = WRITES
) -> Option:
    return Option(name=name, kind=kind, default=default, uses=uses, meaning=meaning, is_ours=True)


def _producer(name: str, kind: Kind, meaning: str, *, default: str | None = None) -> Option:
    return Option(name=KAFKA_PREFIX + name, kind=kind, default=default, uses=WRITES, meaning=meaning)


_WHERE = (
    Option(
        name="topic",
        kind=TEXT,
        default=None,
        uses=WRITES,
        meaning="The topic of all rows; without it every row has to have one in its column topic.",
    ),
    Option(
        name="checkpointLocation",
        kind=ANYTHING,
        default=None,
        uses=_STREAM,
        meaning="Spark's own, passed on to every sink: where the query keeps its progress.",
        effect=Effect.IGNORED,
    ),
    Option(
        name="queryName",
        kind=ANYTHING,
        default=None,
        uses=_STREAM,
        meaning="Spark's own, passed on to every sink: what the query is called.",
        effect=Effect.IGNORED,
    ),
)

_HOW_OFTEN = (
    _ours(
        "deliveryGuarantee",
        choice(("exactly-once", "at-least-once")),
        "Whether a batch that is tried again, after whatever failure, is seen once by readers of what is "
        "committed, or may be seen more than once. Unless said otherwise exactly-once for streams and for "
        "batches with txnAppId, at-least-once for other batches.",
    ),
    _ours(
        "transactionalId",
        TEXT,
        "What the transactional ids of a stream begin with. Without it that comes from the id of the query, "
        "which is in its checkpoint. No two queries may share it.",
        uses=_STREAM,
    ),
    _ours(
        "txnAppId",
        TEXT,
        "Who writes, together with txnVersion: a version that was written before, or an older one, is not "
        "written again. For writes in foreachBatch; versions count for each value of the option topic.",
        uses=_BATCH,
    ),
    _ours(
        "txnVersion",
        whole_number(least=0),
        "Which write this is; in foreachBatch the number of the batch.",
        uses=_BATCH,
    ),
)

_HOW = (
    _ours(
        "compression",
        choice(tuple(CODEC_NAMES)),
        "The same as kafka.compression.type, and stronger.",
    ),
    _producer("compression.type", choice(tuple(CODEC_NAMES)), "How batches are compressed.", default="none"),
    _producer(
        "max.request.size",
        _BYTES,
        "Most bytes of a batch; no more than max.message.bytes of the topic.",
        default="1048576",
    ),
    _producer(
        "buffer.memory",
        _BYTES,
        "How many bytes a task may have sent or waiting that are not acknowledged.",
        default="33554432",
    ),
    _producer(
        "delivery.timeout.ms", _MILLISECONDS, "How long a batch is tried before it fails.", default="120000"
    ),
    _producer(
        "max.block.ms",
        _MILLISECONDS,
        "How long coordinators of transactions and groups are waited for.",
        default="60000",
    ),
    _producer(
        "transaction.timeout.ms",
        _MILLISECONDS,
        "How long a batch may take with exactly-once, and how long an outage in the middle of its commit is "
        "survived. Where the brokers allow less (transaction.max.timeout.ms), it is less.",
        default="900000",
    ),
    _producer("acks", choice(("all", "-1")), "Batches are always acknowledged by all in-sync replicas."),
    _producer("enable.idempotence", choice(("true",)), "Batches are always written idempotently."),
)

_WITHOUT_EFFECT = (
    *("batch.size", "linger.ms", "max.in.flight.requests.per.connection", "metadata.max.idle.ms", "retries"),
    *("partitioner.adaptive.partitioning.enable", "partitioner.availability.timeout.ms"),
    *("compression.gzip.level", "compression.lz4.level", "compression.zstd.level"),
)

_REFUSED = {
    "partitioner.class": "Classes of Java cannot run here; put the number of the partition into a column.",
    "partitioner.ignore.keys": "Rows with a key go to its partition; say otherwise with a column partition.",
    "transactional.id": "Say transactionalId for a stream, txnAppId and txnVersion for a batch.",
}

WRITING_OPTIONS = (
    *_WHERE,
    *_HOW_OFTEN,
    *_HOW,
    *(
        Option(
            name=KAFKA_PREFIX + name,
            kind=ANYTHING,
            default=None,
            uses=WRITES,
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
            uses=WRITES,
            meaning=meaning,
            effect=Effect.REFUSED,
        )
        for name, meaning in _REFUSED.items()
    ),
)
