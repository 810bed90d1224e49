from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.metadata.broker_image import BrokerImage
from penstock.metadata.placement import Placement, place
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import NodeId


def make_broker(node_id: int, rack: str | None = None, *, is_fenced: bool = False) -> BrokerImage:
    return BrokerImage(
        node_id=NodeId(node_id),
        epoch=0,
        incarnation_id=bytes(16),
        endpoints=(),
        rack=rack,
        is_fenced=is_fenced,
        directories=(),
    )


def test_one_broker_takes_everything() -> None:
    wanted = Placement(partitions=3, replication_factor=1, start=7)
    assert place([make_broker(1)], wanted) == ((1,), (1,), (1,))


def test_leaders_go_round_and_followers_shift() -> None:
    brokers = [make_broker(1), make_broker(2), make_broker(3)]
    assert place(brokers, Placement(partitions=6, replication_factor=2, start=0)) == (
        (1, 2),
        (2, 3),
        (3, 1),
        (1, 3),
        (2, 1),
        (3, 2),
    )


def test_fenced_broker_follows_only_when_the_others_are_too_few() -> None:
    brokers = [make_broker(1, "a"), make_broker(2, "a"), make_broker(3, "b", is_fenced=True)]
    assert place(brokers, Placement(partitions=2, replication_factor=2, start=0)) == ((1, 2), (2, 1))
    assert place(brokers, Placement(partitions=2, replication_factor=3, start=0)) == ((1, 2, 3), (2, 1, 3))


@pytest.mark.parametrize(
    ("brokers", "factor", "message"),
    [
        (
            [make_broker(1)],
            3,
            "Unable to replicate the partition 3 time(s): The target replication factor of 3 cannot be "
            "reached because only 1 broker(s) are registered.",
        ),
        (
            [make_broker(1, is_fenced=True)],
            1,
            "Unable to replicate the partition 1 time(s): All brokers are currently fenced.",
        ),
        ([], 1, "Unable to replicate the partition 1 time(s): All brokers are currently fenced."),
    ],
)
def test_impossible_placement_is_refused(brokers: list[BrokerImage], factor: int, message: str) -> None:
    with pytest.raises(ApiError) as caught:
        place(brokers, Placement(partitions=1, replication_factor=factor, start=0))
    assert caught.value.code is ErrorCode.INVALID_REPLICATION_FACTOR
    assert caught.value.message == message


CLUSTERS = st.dictionaries(
    st.integers(0, 50), st.none() | st.sampled_from("abcd"), min_size=1, max_size=9
).map(lambda racks: [make_broker(node_id, rack) for node_id, rack in racks.items()])


@given(CLUSTERS, st.data())
def test_placement_keeps_its_promises(brokers: list[BrokerImage], data: st.DataObject) -> None:
    factor = data.draw(st.integers(1, len(brokers)))
    wanted = Placement(
        partitions=data.draw(st.integers(1, 60)),
        replication_factor=factor,
        start=data.draw(st.integers(0, 99)),
    )
    placed = place(brokers, wanted)
    racks = {broker.node_id: broker.rack for broker in brokers}
    rack_count = len(set(racks.values()))
    leaders = Counter({node_id: 0 for node_id in racks})
    for replicas in placed:
        assert len(replicas) == len(set(replicas)) == factor
        assert len({racks[node_id] for node_id in replicas}) == min(factor, rack_count)
        leaders[replicas[0]] += 1
    assert len(placed) == wanted.partitions
    assert max(leaders.values()) - min(leaders.values()) <= 1
    assert place(list(reversed(brokers)), wanted) == placed


@given(st.integers(2, 8), st.integers(1, 100), st.data())
def test_placement_without_racks_spreads_followers_too(
    count: int, partitions: int, data: st.DataObject
) -> None:
    factor = data.draw(st.integers(1, count))
    brokers = [make_broker(node_id) for node_id in range(count)]
    placed = place(brokers, Placement(partitions=partitions, replication_factor=factor, start=0))
    held = Counter({node_id: 0 for node_id in range(count)}) + Counter(
        int(node_id) for replicas in placed for node_id in replicas
    )
    assert max(held.values()) - min(held[node_id] for node_id in range(count)) <= factor
