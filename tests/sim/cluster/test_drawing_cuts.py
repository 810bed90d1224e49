"""Ways to cut a network: each leaves what it says, and nobody is cut off from itself."""

from random import Random

import pytest

from penstock.sim.cluster import drawing_cuts
from penstock.sim.cluster.drawing_cuts import draw_pairs
from penstock.sim.cluster.faults import Pairs

NODES = ("n1", "n2", "n3", "n4", "n5")
CLIENTS = ("c1", "c2")


def neighbours(pairs: Pairs, node: str) -> set[str]:
    """The nodes that it hears, and that hear it."""
    return {other for other in NODES if other != node and not {(node, other), (other, node)} & set(pairs)}


@pytest.mark.parametrize("nodes", [NODES[:1], NODES[:3], NODES])
def test_nobody_is_cut_off_from_itself_and_nothing_is_cut_twice(nodes: tuple[str, ...]) -> None:
    for seed in range(200):
        pairs = draw_pairs(Random(seed), nodes, CLIENTS)
        assert pairs
        assert all(one != other for one, other in pairs)
        assert len(set(pairs)) == len(pairs)


def test_halves_are_a_minority_and_a_majority() -> None:
    for seed in range(50):
        pairs = drawing_cuts._halves(Random(seed), NODES, CLIENTS)
        sizes = sorted({len(neighbours(pairs, node)) + 1 for node in NODES})
        assert sizes in ([1, 4], [2, 3])


def test_bridge_hears_both_halves_and_they_do_not_hear_each_other() -> None:
    for seed in range(50):
        pairs = drawing_cuts._bridge(Random(seed), NODES, CLIENTS)
        assert sorted(len(neighbours(pairs, node)) for node in NODES) == [2, 2, 2, 2, 4]


def test_each_alone_hears_only_clients() -> None:
    pairs = drawing_cuts._each_alone(Random(1), NODES, CLIENTS)
    assert not any(neighbours(pairs, node) for node in NODES)
    assert not any(client in pair for pair in pairs for client in CLIENTS)


def test_one_way_cuts_one_direction() -> None:
    for seed in range(20):
        pairs = drawing_cuts._one_way(Random(seed), NODES, CLIENTS)
        assert len(pairs) == 4
        assert not any((other, one) in pairs for one, other in pairs)
