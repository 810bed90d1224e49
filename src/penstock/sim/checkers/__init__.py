"""What must hold, one invariant per file; names in brackets are those of Jepsen's list of Kafka anomalies.

``evidence`` is what they are given. Those below judge a whole run when it is over; those that ``watching``
describes look into living brokers while it runs.
"""

from collections.abc import Mapping

from penstock.sim.checkers import (
    acknowledged_kept,
    committed_offsets_kept,
    exactly_once,
    failed_unseen,
    no_duplicates,
    offsets_consistent,
    offsets_contiguous,
    offsets_in_log,
    one_owner,
    open_unseen,
    polls_in_order,
    sends_in_order,
    sequences_once,
    topics_kept,
    transactions_whole,
)
from penstock.sim.checkers.evidence import Check

CHECKS: Mapping[str, Check] = {
    "acknowledged records are kept": acknowledged_kept.check,
    "an offset has one value": offsets_consistent.check,
    "no value stands twice": no_duplicates.check,
    "what failed is not read": failed_unseen.check,
    "open transactions are not read": open_unseen.check,
    "polls are in order": polls_in_order.check,
    "sends are in order": sends_in_order.check,
    "sequences have no gap and no repeat": sequences_once.check,
    "offsets are contiguous": offsets_contiguous.check,
    "transactions are whole": transactions_whole.check,
    "committed offsets are kept": committed_offsets_kept.check,
    "committed offsets lie in the log": offsets_in_log.check,
    "a partition has one owner": one_owner.check,
    "copies are exact": exactly_once.check,
    "topics are kept": topics_kept.check,
}
"""By the words that a failure is reported with."""
