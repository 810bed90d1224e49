"""What a check of files found, one partition a line, and every complaint below."""

from collections.abc import Collection, Sequence

from penstock.analysis.stored_partition import StoredPartition
from penstock.analysis.verification import Verdict, verify_partition
from penstock.cli.output import print_table
from penstock.cli.progress import advancing
from penstock.cli.sizes import format_bytes
from penstock.storage.filesystem import FileSystem


def verify_all(filesystem: FileSystem, partitions: Collection[StoredPartition]) -> list[Verdict]:
    """Check all of these, under a bar on a terminal."""
    total = sum(each.log_bytes for each in partitions)
    with advancing("Checking", total, unit="bytes") as advance:
        return [verify_partition(filesystem, each, progress=advance) for each in partitions]


def print_verdicts(verdicts: Sequence[Verdict]) -> None:
    """A table, then damage, then remarks."""
    print_table(
        ("TOPIC", "PARTITION", "SEGMENTS", "BATCHES", "BYTES", "INDEX ENTRIES", "VERDICT"),
        [
            (
                *each.partition,
                each.segment_count,
                f"{each.batch_count:,}",
                format_bytes(each.checked_bytes),
                f"{each.index_entry_count:,}",
                "sound" if each.is_sound else "DAMAGED",
            )
            for each in verdicts
        ],
        numbers=range(1, 6),
    )
    for verdict in verdicts:
        for sentence in verdict.damage:
            print(f"Damage in {verdict.partition}: {sentence}")
        for sentence in verdict.remarks:
            print(f"Remark on {verdict.partition}: {sentence}")
