"""Per producer, epoch and partition the sequences in a log have no gap and no repeat (I12)."""

from collections.abc import Iterator

from penstock.records.batch import BatchHeader
from penstock.sim.checkers.evidence import Evidence
from penstock.sim.workloads.history import Function
from penstock.sim.workloads.producers import STRANGE_SEQUENCE

SEQUENCE_COUNT = 1 << 31


def check(evidence: Evidence) -> Iterator[str]:
    """Walk the final logs; then see who was refused although its sequence was the next.

    A batch that is there may be refused when it is sent again: snapshots of producers, Kafka's as ours, name
    only the last batch of each.
    """
    for partition, log in evidence.logs.items():
        expected: dict[tuple[int, int], int] = {}
        for header in log.headers:
            if header.has_producer_id and not header.is_control:
                yield from _next_of(partition, header, expected)
    stored = {(name, value) for name, log in evidence.logs.items() for _, value in log.records}
    for send in evidence.history.of(Function.SEND):
        if send.error == STRANGE_SEQUENCE and (send.key, send.value[0]) not in stored:
            yield f"{send.process} was refused {send.value[0]} in {send.key}: {send.error}"


def _next_of(partition: str, header: BatchHeader, expected: dict[tuple[int, int], int]) -> Iterator[str]:
    producer = header.producer_id, header.producer_epoch
    wanted = expected.get(producer, 0)
    if header.base_sequence != wanted:
        yield (
            f"{partition}@{header.base_offset}: producer {producer} has sequence {header.base_sequence} "
            f"where {wanted} comes next"
        )
    expected[producer] = (header.base_sequence + header.record_count) % SEQUENCE_COUNT
