"""What a log remembers of its producers is what stands in it."""

from collections.abc import Iterator

from penstock.sim.storage.model import Entry, PartitionModel
from penstock.sim.storage.observation import Observation, ProducerSeen


class ProducersAgree:
    """Epoch, last sequence and last offset of each producer are those of its newest batch.

    A producer whose batches are all deleted may be remembered or not; if it is, then rightly.
    """

    name = "producer state equals the log"

    def check(self, model: PartitionModel, seen: Observation) -> Iterator[str]:
        """Compare each producer's newest batch below the log's end with what is remembered."""
        if model.damages:
            return  # Headers are believed below the recovery point, until somebody reads the batches.
        newest: dict[int, Entry] = {}
        for entry in model.entries:
            if entry.header.has_producer_id and entry.next_offset <= seen.log_end:
                newest[entry.header.producer_id] = entry
        for producer_id in sorted(newest.keys() | seen.producers.keys()):
            expected, remembered = newest.get(producer_id), seen.producers.get(producer_id)
            if remembered is None and expected is not None and expected.base_offset < seen.log_start:
                continue
            if _facts(expected) != remembered:
                yield f"producer {producer_id} is remembered as {remembered}, the log has {_facts(expected)}"


def _facts(entry: Entry | None) -> ProducerSeen | None:
    if entry is None:
        return None
    header = entry.header
    return ProducerSeen(header.producer_epoch, header.last_sequence, header.last_offset)
