"""The leader epochs a log names are those its batches carry."""

from collections.abc import Iterator

from penstock.sim.storage.model import PartitionModel
from penstock.sim.storage.observation import Observation


class EpochsAgree:
    """Each epoch begins where its first batch stands, or at the log's start if that was deleted."""

    name = "leader epochs equal the log"

    def check(self, model: PartitionModel, seen: Observation) -> Iterator[str]:
        """Derive the table from the served batches and compare."""
        if seen.reports_damage:
            return
        expected: list[tuple[int, int]] = []
        for header, _ in seen.batches:
            if not expected or expected[-1][0] != header.leader_epoch:
                expected.append((header.leader_epoch, max(header.base_offset, seen.log_start)))
        named = [(epoch, max(start, seen.log_start)) for epoch, start in seen.epochs if start < seen.flushed]
        if expected and named[-len(expected) :] != expected:
            yield f"leader epochs are {list(seen.epochs)}, the batches say {expected}"
