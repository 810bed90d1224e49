"""The topic that a command measures on, and what to say where there is none of that name."""

from collections.abc import Iterator
from contextlib import contextmanager

from penstock.bench.errors import BenchError
from penstock.bench.topics import BenchPartition, bench_topic
from penstock.cli.failure import CommandFailed
from penstock.model.error_codes import ErrorCode


@contextmanager
def measured_topic(
    bootstrap_server: str, *, partitions: int, topic: str | None
) -> Iterator[list[BenchPartition]]:
    """The partitions of ``topic``, or of a new one that is deleted in the end."""
    try:
        with bench_topic(bootstrap_server, partitions=partitions, topic=topic) as found:
            yield found
    except BenchError as error:
        if error.code != ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            raise
        hint = "See what there is with `penstock topic list`; without --topic one is made for the run."
        raise CommandFailed(str(error), hint=hint) from error
