"""Offsets follow each other without gap or overlap."""

from collections.abc import Iterator
from itertools import pairwise

from penstock.sim.storage.model import PartitionModel
from penstock.sim.storage.observation import Observation


class OffsetsContiguous:
    """From the log's start to its durable end each batch begins where the last one ended."""

    name = "offsets are contiguous"

    def check(self, model: PartitionModel, seen: Observation) -> Iterator[str]:
        """Walk over the served batches."""
        for earlier, later in pairwise(seen.batches):
            start, end = earlier.header.next_offset, later.header.base_offset
            is_refused = any(start <= refusal.offset < end for refusal in seen.refusals)
            if start != end and not is_refused:
                yield (f"the batch at offset {end} follows one that ends before {start}")
        if seen.flushed > seen.log_end or seen.log_start > seen.log_end:
            yield f"start {seen.log_start}, durable end {seen.flushed}, end {seen.log_end} are out of order"
        if not seen.reports_damage:
            yield from self._check_ends(seen)

    def _check_ends(self, seen: Observation) -> Iterator[str]:
        if not seen.batches:
            if seen.log_start < seen.flushed:
                yield f"nothing is served between start {seen.log_start} and durable end {seen.flushed}"
            return
        first, last = seen.batches[0].header, seen.batches[-1].header
        if not first.base_offset <= seen.log_start < first.next_offset:
            yield f"the first batch begins at {first.base_offset}, the log at {seen.log_start}"
        if last.next_offset != seen.flushed:
            yield f"the last batch ends before {last.next_offset}, the durable part before {seen.flushed}"
