"""Changes the set of those who decide on metadata, as the brokers come and go."""

import logging
from typing import TYPE_CHECKING

from penstock.metadata.voters import AddVoter, RemoveVoter, plan_voters
from penstock.model.ids import NodeId
from penstock.raft.replica import Endpoint, ReplicaKey, Voter

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

logger = logging.getLogger(__name__)

LAG_RECORDS_MAX = 1_000
"""How far behind a node may be that still follows the metadata log closely; before it gets its vote it must
have caught up in any case."""


async def change_voters(broker: "Broker") -> bool:
    """Make the next change that is due; whether one was, so that another may be."""
    quorum = broker.quorum
    change = plan_voters(
        broker.image,
        voters=tuple(key.node_id for key in quorum.voters.keys),
        caught_up=_caught_up(broker),
        leader=broker.node_id,
    )
    match change:
        case AddVoter(node_id=node_id):
            logger.info("a broker becomes a voter", extra={"broker": node_id})
            await quorum.add_voter(_voter(broker, change))
        case RemoveVoter(node_id=node_id):
            logger.info("a broker is a voter no more", extra={"broker": node_id})
            voter = quorum.voters.of_node(node_id)
            assert voter is not None
            await quorum.remove_voter(voter.key)
    return change is not None


def _caught_up(broker: "Broker") -> tuple[NodeId, ...]:
    facts = broker.quorum.facts()
    return tuple(
        each.node_id
        for each in facts.observers
        if facts.high_watermark - each.log_end_offset <= LAG_RECORDS_MAX and each.log_end_offset >= 0
    )


def _voter(broker: "Broker", change: AddVoter) -> Voter:
    endpoints = broker.image.brokers[change.node_id].endpoints
    return Voter(
        key=ReplicaKey(change.node_id, change.directory_id),
        endpoints=tuple(Endpoint(name=each.name, host=each.host, port=each.port) for each in endpoints),
    )
