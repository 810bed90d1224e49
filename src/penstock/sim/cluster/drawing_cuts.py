"""Ways to cut a network in pieces."""

from collections.abc import Sequence
from random import Random

from penstock.sim.cluster.faults import Pairs


def draw_pairs(draw: Random, nodes: Sequence[str], clients: Sequence[str]) -> Pairs:
    """Some directions to cut: of any hosts, or in one of the ways that clusters are known to suffer from."""
    if len(nodes) < 3 or draw.random() < 0.3:
        return _any_hosts(draw, nodes, clients)
    return draw.choice((_halves, _halves, _each_alone, _one_way, _bridge))(draw, nodes, clients)


def _any_hosts(draw: Random, nodes: Sequence[str], clients: Sequence[str]) -> Pairs:
    """One host or several against the rest, in one direction or both."""
    hosts = (*nodes, *clients)
    some = draw.sample(hosts, draw.randint(1, max(1, len(hosts) // 2)))
    there = _between(some, [other for other in hosts if other not in some])
    return draw.choice((there, _back(there), there + _back(there), there + _back(there)))


def _halves(draw: Random, nodes: Sequence[str], clients: Sequence[str]) -> Pairs:
    """A minority here, a majority there; each client is on one side."""
    minority = draw.sample(list(nodes), draw.randint(1, (len(nodes) - 1) // 2))
    majority = [node for node in nodes if node not in minority]
    for client in clients:
        draw.choice((minority, majority)).append(client)
    there = _between(minority, majority)
    return there + _back(there)


def _each_alone(draw: Random, nodes: Sequence[str], clients: Sequence[str]) -> Pairs:
    """No broker hears another; clients hear all."""
    return tuple((one, other) for one in nodes for other in nodes if one != other)


def _one_way(draw: Random, nodes: Sequence[str], clients: Sequence[str]) -> Pairs:
    """One broker hears the others and is not heard by them, or the other way round."""
    one = draw.choice(nodes)
    there = _between([one], [other for other in nodes if other != one])
    return draw.choice((there, _back(there)))


def _bridge(draw: Random, nodes: Sequence[str], clients: Sequence[str]) -> Pairs:
    """Two halves that hear each other no more, and one broker in between that hears both."""
    others = draw.sample(list(nodes), len(nodes) - 1)
    half = len(others) // 2
    there = _between(others[:half], others[half:])
    return there + _back(there)


def _between(some: Sequence[str], others: Sequence[str]) -> Pairs:
    return tuple((one, other) for one in some for other in others)


def _back(pairs: Pairs) -> Pairs:
    return tuple((other, one) for one, other in pairs)
