"""What a healed cluster lacks, told in a few words."""

from dataclasses import replace
from typing import Any, cast

from tests.sim.checkers.views import image, look, metadata

from penstock.metadata.broker_image import BrokerImage
from penstock.model.ids import NodeId
from penstock.sim.checkers.watching import MetadataView
from penstock.sim.cluster.wholeness import lacking_in


class StandIn:
    """As much of a node as is looked at."""

    def __init__(self, node_id: int, *, is_serving: bool = True) -> None:
        self.name = f"broker-{node_id}"
        self.node_id = node_id
        self.is_serving = is_serving


def brokers(*node_ids: int, fenced: int = -1) -> dict[NodeId, BrokerImage]:
    return {
        NodeId(node_id): BrokerImage(
            node_id=NodeId(node_id),
            epoch=1,
            incarnation_id=bytes(16),
            endpoints=(),
            rack=None,
            is_fenced=node_id == fenced,
            directories=(),
        )
        for node_id in node_ids
    }


def view(*, fenced: int = -1, **changes: Any) -> MetadataView:
    known = image(**{"isr": (1, 2, 3), **changes})
    return metadata(image=replace(known, brokers=brokers(1, 2, 3, fenced=fenced)))


def lacking(
    *views: MetadataView, nodes: tuple[StandIn, ...] = (StandIn(1), StandIn(2), StandIn(3))
) -> str | None:
    return lacking_in(look(metadata=views), cast(Any, nodes))


def test_cluster_with_everybody_in_sync_lacks_nothing() -> None:
    assert lacking(view()) is None


def test_what_is_missing_is_told() -> None:
    assert lacking(view(isr=(1, 2))) == "o-0 has (1, 2) in sync, of (1, 2, 3)"
    assert lacking(view(leader=-1)) == "o-0 has no leader"
    assert lacking(view(adding_replicas=(3,))) == "o-0 is still on the move"
    assert lacking(view(fenced=2)) == "node 2 is fenced"


def test_broker_that_does_not_serve_or_should_not_be_known_is_told() -> None:
    nodes = StandIn(1), StandIn(2), StandIn(3, is_serving=False)
    assert lacking(view(), nodes=nodes) == "broker-3 does not serve"
    assert lacking(view(), nodes=(StandIn(1), StandIn(2))) == "node 3 is still known"


def test_broker_that_is_behind_is_told() -> None:
    behind = replace(view(), node="b", applied_offset=3)
    assert lacking(view(), behind) == "b has not applied all metadata"
