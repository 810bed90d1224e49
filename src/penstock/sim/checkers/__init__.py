"""What must hold, one invariant per file; names in brackets are those of Jepsen's list of Kafka anomalies.

``evidence`` is what they are given. Those below judge a whole run when it is over; those that ``watching``
describes look into living brokers while it runs.
"""

from collections.abc import Mapping

from penstock.sim.checkers import (
    acknowledged_kept,
    committed_offsets_kept,
    everything_read,
    exactly_once,
    failed_unseen,
    moves_kept,
    no_duplicates,
    offsets_consistent,
    offsets_contiguous,
    offsets_in_log,
    one_owner,
    open_unseen,
    polls_in_order,
    sends_in_order,
    sequences_once,
    settings_kept,
    topics_kept,
    transactions_whole,
)
from penstock.sim.checkers.enough_in_sync import EnoughInSync
from penstock.sim.checkers.evidence import Check
from penstock.sim.checkers.followers_able import FollowersAble
from penstock.sim.checkers.high_watermark_forward import HighWatermarkForward
from penstock.sim.checkers.images_agree import ImagesAgree
from penstock.sim.checkers.in_sync_durable import InSyncDurable
from penstock.sim.checkers.leaders_complete import LeadersComplete
from penstock.sim.checkers.logs_equal import LogsEqual
from penstock.sim.checkers.offsets_ordered import OffsetsOrdered
from penstock.sim.checkers.one_controller import OneController
from penstock.sim.checkers.one_leader import OneLeader
from penstock.sim.checkers.watching import Watcher

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
    "everything is read": everything_read.check,
    "copies are exact": exactly_once.check,
    "topics are kept": topics_kept.check,
    "settings are kept": settings_kept.check,
    "moves come to their end": moves_kept.check,
}
"""By the words that a failure is reported with."""


def new_watchers() -> tuple[Watcher, ...]:
    """One of each that looks on, with nothing seen yet."""
    return (
        OffsetsOrdered(),
        HighWatermarkForward(),
        OneLeader(),
        OneController(),
        ImagesAgree(),
        LeadersComplete(),
        InSyncDurable(),
        EnoughInSync(),
        LogsEqual(),
        FollowersAble(),
    )
