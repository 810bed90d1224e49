"""One offset, one value for ever (*inconsistent-offsets*): whoever read it, whenever, read the same."""

from collections.abc import Iterator

from penstock.sim.checkers.evidence import Evidence
from penstock.sim.workloads.history import Function


def check(evidence: Evidence) -> Iterator[str]:
    """Compare all sends, all polls and the final logs."""
    seen: dict[tuple[str, int], object] = {}
    for partition, offset, value in _claims(evidence):
        before = seen.setdefault((partition, offset), value)
        if before != value:
            yield f"{partition}@{offset} was {before} and became {value}"


def _claims(evidence: Evidence) -> Iterator[tuple[str, int, object]]:
    for operation in evidence.history:
        if operation.function is Function.SEND and operation.is_ok and operation.offset >= 0:
            if evidence.may_be_lost(operation):
                continue  # and its offsets be given away again
            for position, value in enumerate(operation.value):
                yield operation.key, operation.offset + position, value
        elif operation.function is Function.POLL and operation.is_ok:
            for offset, value in _pairs(operation.value):
                yield operation.key, offset, value
    for partition, log in evidence.logs.items():
        for offset, value in log.records:
            yield partition, offset, value


def _pairs(value: tuple[object, ...]) -> Iterator[tuple[int, object]]:
    for pair in value:
        assert isinstance(pair, tuple)
        yield pair[0], pair[1]
