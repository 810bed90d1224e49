"""Logs what happens to the cluster, each thing once and with its cause.

The active controller tells of brokers and of elections, the leader of a partition of its in-sync set: it
alone knows how far a follower lagged. Where thousands of partitions change for one cause, there is one event
with their number and the names of a few; the rest is logged as details.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from penstock.metadata.image import ClusterImage
from penstock.metadata.transitions import (
    BrokerChange,
    BrokerEvent,
    InSyncChange,
    LeaderChange,
    PartitionStep,
    broker_changes,
    in_sync_changes,
    leader_changes,
)
from penstock.model.ids import NodeId, TopicPartition

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

logger = logging.getLogger(__name__)

NAMES_SHOWN_MAX = 20
DECIDED_ELSEWHERE = "the controller decided so"

Change = TypeVar("Change", LeaderChange, InSyncChange)


class TransitionLog:
    """Of one broker."""

    def __init__(self, broker: "Broker") -> None:
        self._broker = broker

    def image_changed(self, before: ClusterImage, image: ClusterImage) -> None:
        """The metadata log has moved on by one step."""
        why_fenced = self._broker.controller.why_fenced
        if self._broker.controller.is_active:
            brokers = broker_changes(before, image, why_fenced)
            for change in brokers:
                _log_broker(change)
            log_elections(leader_changes(before, image, why_fenced))
            for change in brokers:
                if change.event is BrokerEvent.UNFENCED:
                    why_fenced.pop(change.node_id, None)
        if self._broker.is_ready:
            node_id = self._broker.node_id
            self._log_in_sync(in_sync_changes(before, image, leader=node_id, why_fenced=why_fenced))

    def _log_in_sync(self, changes: Sequence[InSyncChange]) -> None:
        for (node_id, is_loss, cause), group in _grouped(changes, self._in_sync_key).items():
            lags = [lag for change in group if (lag := self._lag_of(change)) is not None]
            fields = {"broker": node_id, "cause": cause, **({"lag_ms": max(lags)} if lags else {})}
            event = "in-sync set shrank" if is_loss else "in-sync set grew"
            level = logging.WARNING if is_loss and "is stopping" not in cause else logging.INFO
            _log_steps(level, event, [change.step for change in group], fields)

    def _in_sync_key(self, change: InSyncChange) -> tuple[NodeId, bool, str]:
        cause = change.cause
        if cause is None:
            lags = self._broker.replication.proposed_lags.get(_partition_of(change.step), {})
            limit_ms = self._broker.replication.settings.lag_max_ms
            is_known = change.node_id in lags
            cause = f"it did not keep up within {limit_ms} ms" if is_known else DECIDED_ELSEWHERE
        return change.node_id, change.is_loss, cause

    def _lag_of(self, change: InSyncChange) -> int | None:
        lags = self._broker.replication.proposed_lags
        known = lags.get(_partition_of(change.step), {})
        return known.get(change.node_id) if change.is_loss and change.cause is None else None


def _log_broker(change: BrokerChange) -> None:
    level = logging.WARNING if change.event is BrokerEvent.FENCED else logging.INFO
    logger.log(level, change.event, extra={"broker": change.node_id, "cause": change.cause})


def log_elections(changes: Sequence[LeaderChange]) -> None:
    """One event for each cause; those without a leader, and unclean ones, by themselves."""
    for (event, level, cause), group in _grouped(changes, _election_key).items():
        steps = [change.step for change in group]
        leaders = Counter(step.after.leader for step in steps if step.after.has_leader)
        fields = {"cause": cause, **({"leaders": dict(sorted(leaders.items()))} if len(steps) > 1 else {})}
        _log_steps(level, event, steps, fields)


def _election_key(change: LeaderChange) -> tuple[str, int, str]:
    if not change.step.after.has_leader:
        return "partition has no leader", logging.WARNING, change.cause
    if change.is_unclean:
        return "unclean election", logging.WARNING, change.cause
    return "leader elected", logging.INFO, change.cause


def _grouped(changes: Iterable[Change], key: Callable[[Change], Any]) -> dict[Any, list[Change]]:
    groups: dict[Any, list[Change]] = {}
    for change in changes:
        groups.setdefault(key(change), []).append(change)
    return groups


def _log_steps(level: int, event: str, steps: Sequence[PartitionStep], fields: Mapping[str, Any]) -> None:
    """One event for all of them; with details for each if there are several and somebody wants them."""
    if len(steps) == 1:
        logger.log(level, event, extra={**_facts(steps[0]), **fields})
        return
    names = [step.name for step in steps[:NAMES_SHOWN_MAX]]
    logger.log(level, event, extra={"count": len(steps), "partitions": names, **fields})
    if logger.isEnabledFor(logging.DEBUG):
        for step in steps:
            logger.debug(event, extra={**_facts(step), "cause": fields["cause"]})


def _facts(step: PartitionStep) -> dict[str, Any]:
    return {
        "partition": step.name,
        "leader": step.after.leader,
        "leader_before": step.before.leader,
        "leader_epoch": step.after.leader_epoch,
        "isr": list(step.after.isr),
        "isr_before": list(step.before.isr),
    }


def _partition_of(step: PartitionStep) -> TopicPartition:
    return TopicPartition(step.topic, step.partition_index)
