"""The options of reading, with names and meaning of Spark's Kafka connector but for those marked ours."""

from penstock.spark.options.definition import READS, Option, Use
from penstock.spark.options.kinds import BOOLEAN, DURATION, MILLISECONDS, TEXT, choice, whole_number
from penstock.spark.options.positions import OFFSETS, TIMESTAMP, TIMESTAMPS
from penstock.spark.options.subscriptions import PARTITIONS, PATTERN, TOPICS

RECORDS_PER_PARTITION_MAX = 1_000_000
BYTES_PER_PARTITION_MAX = 256 * 1024 * 1024

_BATCH = frozenset({Use.BATCH_READ})
_STREAM = frozenset({Use.STREAM_READ})

_WHAT = (
    Option(
        name="subscribe",
        kind=TOPICS,
        default=None,
        uses=READS,
        meaning="Topics to read. Exactly one of subscribe, subscribePattern and assign must be given.",
    ),
    Option(
        name="subscribePattern",
        kind=PATTERN,
        default=None,
        uses=READS,
        meaning="Read all topics whose whole name matches; a stream picks up topics that are made later.",
    ),
    Option(
        name="assign",
        kind=PARTITIONS,
        default=None,
        uses=READS,
        meaning="Read these partitions and no others.",
    ),
    Option(
        name="includeHeaders",
        kind=BOOLEAN,
        default="false",
        uses=READS,
        meaning="Whether there is a column headers. A schema that names the column has it in any case.",
    ),
)

_WHERE = (
    Option(
        name="startingTimestamp",
        kind=TIMESTAMP,
        default=None,
        uses=READS,
        meaning="Begin at the first record of this time or later. Stronger than startingOffsetsByTimestamp.",
    ),
    Option(
        name="startingOffsetsByTimestamp",
        kind=TIMESTAMPS,
        default=None,
        uses=READS,
        meaning="A time to begin at for each partition. Stronger than startingOffsets.",
    ),
    Option(
        name="startingOffsets",
        kind=OFFSETS,
        default=None,
        uses=READS,
        meaning=(
            "Where to begin: earliest in a batch, latest in a stream unless said otherwise. A stream that "
            "goes on from a checkpoint goes on where it was; partitions that are new to it are read from "
            "the earliest record."
        ),
    ),
    Option(
        name="startingOffsetsByTimestampStrategy",
        kind=choice(("error", "latest")),
        default="error",
        uses=READS,
        meaning="What to do where no record is as late as the time to begin at: fail, or begin at the end.",
    ),
    Option(
        name="endingTimestamp",
        kind=TIMESTAMP,
        default=None,
        uses=_BATCH,
        meaning=(
            "End before the first record of this time or later, at the end where there is none. Stronger "
            "than endingOffsetsByTimestamp."
        ),
    ),
    Option(
        name="endingOffsetsByTimestamp",
        kind=TIMESTAMPS,
        default=None,
        uses=_BATCH,
        meaning="A time to end at for each partition. Stronger than endingOffsets.",
    ),
    Option(
        name="endingOffsets",
        kind=OFFSETS,
        default=None,
        uses=_BATCH,
        meaning="Where to end, latest unless said otherwise; the record at that offset is not read.",
    ),
)

_HOW_MUCH = (
    Option(
        name="maxOffsetsPerTrigger",
        kind=whole_number(least=1),
        default=None,
        uses=_STREAM,
        meaning="Most offsets of one micro-batch, shared by partitions in proportion to what waits there.",
    ),
    Option(
        name="minOffsetsPerTrigger",
        kind=whole_number(least=1),
        default=None,
        uses=_STREAM,
        meaning=(
            "Wait for so many offsets before a micro-batch begins, but not longer than maxTriggerDelay. "
            "Trigger.AvailableNow and Trigger.Once do not wait."
        ),
    ),
    Option(
        name="maxTriggerDelay",
        kind=DURATION,
        default="15m",
        uses=_STREAM,
        meaning="Longest time between two micro-batches for minOffsetsPerTrigger.",
    ),
    Option(
        name="minPartitions",
        kind=whole_number(least=1, most=2**31 - 1),
        default=None,
        uses=READS,
        meaning=(
            "Split large partitions until there are so many tasks. Small partitions share a task, but not "
            "while there are fewer tasks than this, or than the driver's machine has cores."
        ),
    ),
    Option(
        name="maxRecordsPerPartition",
        kind=whole_number(least=1),
        default=str(RECORDS_PER_PARTITION_MAX),
        uses=READS,
        meaning="Split partitions so that no task reads more offsets than this.",
    ),
    Option(
        name="maxBytesPerPartition",
        kind=whole_number(least=1),
        default=str(BYTES_PER_PARTITION_MAX),
        uses=READS,
        meaning=(
            "Split partitions so that no task reads much more than so many stored bytes, as far as brokers "
            "tell how large partitions are."
        ),
        is_ours=True,
    ),
)

_WHEN_IT_FAILS = (
    Option(
        name="failOnDataLoss",
        kind=BOOLEAN,
        default="true",
        uses=READS,
        meaning="Whether to fail when records are gone before they were read: onDataLoss=fail, or skip.",
    ),
    Option(
        name="onDataLoss",
        kind=choice(("fail", "skip", "report")),
        default=None,
        uses=READS,
        meaning=(
            "What to do when records are gone before they were read: fail, go on without a word but in the "
            "log of the task (skip), or go on and write the lost ranges to the log as JSON (report)."
        ),
        is_ours=True,
    ),
    Option(
        name="kafkaConsumer.pollTimeoutMs",
        kind=MILLISECONDS,
        default="120000",
        uses=READS,
        meaning="How long a task waits for a partition that does not answer before it fails.",
    ),
    Option(
        name="fetchOffset.numRetries",
        kind=whole_number(least=0, most=2**31 - 1),
        default="3",
        uses=READS,
        meaning=(
            "How often planning asks again for offsets after a failure. A leader that moves is not counted: "
            "that is waited out for kafka.default.api.timeout.ms."
        ),
    ),
    Option(
        name="fetchOffset.retryIntervalMs",
        kind=MILLISECONDS,
        default="10",
        uses=READS,
        meaning="How long planning waits before it asks again.",
    ),
    Option(
        name="partition.metadata.cache.ttl.ms",
        kind=whole_number(least=-1),
        default="-1",
        uses=_STREAM,
        meaning="For how long a stream believes that it knows its partitions; -1 asks for every micro-batch.",
    ),
)

_WHO = (
    Option(
        name="groupId",
        kind=TEXT,
        default=None,
        uses=_STREAM,
        meaning=(
            "The consumer group to which committed micro-batches are reported, so that tools see the lag. "
            "Without it there is a group for each checkpoint, whose name is in the offsets of the query's "
            "progress."
        ),
        is_ours=True,
    ),
    Option(
        name="groupIdPrefix",
        kind=TEXT,
        default="spark-kafka-source",
        uses=READS,
        meaning="What the name of a group begins with when groupId does not name it.",
    ),
    Option(
        name="commitOffsets",
        kind=BOOLEAN,
        default="true",
        uses=_STREAM,
        meaning="Whether committed micro-batches are reported to a consumer group at all.",
        is_ours=True,
    ),
)

READING_OPTIONS = (*_WHAT, *_WHERE, *_HOW_MUCH, *_WHEN_IT_FAILS, *_WHO)
