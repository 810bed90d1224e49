"""What the controller does by itself, again and again, so that the cluster is as it should be.

One call is one decision: the records of all that is due, each part decided on what the parts before it leave
behind. A cluster that is as it should be yields no records. Fencing silent brokers is not here, since it
needs the time (``liveness``); nor are voters, which are the quorum's own affair (``voters``).
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

from penstock.metadata.decommission import finish_decommissions, plan_decommissions
from penstock.metadata.growth import NO_FACTORS, plan_growth
from penstock.metadata.image import ClusterImage
from penstock.metadata.leader_election import preferred_elections
from penstock.metadata.leadership import leaderless_may_be_led
from penstock.metadata.records import MetadataRecord
from penstock.metadata.targets import begin_moves
from penstock.model.ids import NodeId
from penstock.model.limits import ELECTIONS_PER_UPKEEP_MAX, MOVES_AT_ONCE_MAX


@dataclass(frozen=True, slots=True, kw_only=True)
class UpkeepRules:
    """How much at once, and what at all."""

    #: Partitions on the move at one time, begun by anybody.
    moves_max: int = MOVES_AT_ONCE_MAX
    elections_max: int = ELECTIONS_PER_UPKEEP_MAX
    #: ``auto.leader.rebalance.enable``.
    gives_leadership_back: bool = True
    #: How many replicas internal topics are to have, by name.
    internal_replication_factors: Mapping[str, int] = field(default_factory=lambda: NO_FACTORS)


def upkeep(
    image: ClusterImage, rules: UpkeepRules, *, voters: Collection[NodeId]
) -> tuple[MetadataRecord, ...]:
    """Everything that is due: leaders for who has none, moves, brokers to forget, preferred leaders."""
    duties: list[Callable[[ClusterImage], Iterable[MetadataRecord]]] = [
        leaderless_may_be_led,
        lambda now: begin_moves(now, plan_decommissions(now, limit=rules.moves_max)),
        lambda now: finish_decommissions(now, voters=voters),
        lambda now: begin_moves(
            now,
            plan_growth(now, limit=rules.moves_max, replication_factors=rules.internal_replication_factors),
        ),
    ]
    if rules.gives_leadership_back:
        duties.append(lambda now: preferred_elections(now, limit=rules.elections_max))
    records: list[MetadataRecord] = []
    for duty in duties:
        due = tuple(duty(image))
        image = image.apply(due)
        records += due
    return tuple(records)
