"""Which faults a seed has, when, and for how long."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from penstock.sim.cluster.drawing_cuts import draw_pairs
from penstock.sim.cluster.drawing_upheavals import UPHEAVALS, ClusterFacts, draw_membership
from penstock.sim.cluster.faults import (
    Cut,
    FailFlush,
    Fault,
    FaultKind,
    FillDisk,
    ForgetConnections,
    HoldConnections,
    Kill,
    KillAtOperation,
    KillClient,
    MoveWall,
    Outage,
    Pause,
    ResetConnections,
    Restart,
    SlowDisk,
    SlowLink,
    StallDisk,
)

_OPERATIONS = ("write", "flush", "flush", "flush", "rename", "sync_directory", "create", "unlink")
_PATHS = (
    *("", "", "orders", "orders", "__consumer_offsets", "__transaction_state"),
    *("__cluster", "checkpoint", "quorum-state"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultHabits:
    """What this seed likes to do to others."""

    #: How often each kind of fault is chosen, compared with the others.
    weights: dict[str, int]
    power: float
    pause_seconds: tuple[float, ...]

    @classmethod
    def draw(cls, draw: Random, *, is_cluster: bool) -> "FaultHabits":
        """Some kinds often, some never."""
        kinds = (*_KINDS, *UPHEAVALS) if is_cluster else tuple(_KINDS)
        weights = {kind: draw.choice((0, 1, 3)) for kind in kinds}
        if not any(weights.values()):
            weights = dict.fromkeys(kinds, 1)
        return cls(
            weights=weights,
            power=draw.choice((0.0, 0.5, 0.8, 1.0)),
            pause_seconds=draw.choice(((0.3, 1.0, 3.0), (0.05, 0.2, 0.6))),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Surroundings:
    """What there is to be hurt."""

    habits: FaultHabits
    facts: ClusterFacts
    clients: tuple[str, ...]

    @property
    def nodes(self) -> tuple[str, ...]:
        return self.facts.nodes


def draw_faults(
    draw: Random, habits: FaultHabits, *, facts: ClusterFacts, clients: tuple[str, ...], seconds: float
) -> tuple[Fault, ...]:
    """Faults over some time, in order."""
    around = _Surroundings(habits=habits, facts=facts, clients=clients)
    kinds = [kind for kind, weight in habits.weights.items() for _ in range(weight)]
    faults: list[Fault] = []
    pauses = draw.choice(((0.2, 0.6, 1.2), (0.6, 1.5, 3.0)))
    moment = 0.5
    flush_failures: set[str] = set()
    while moment < seconds - 0.5:
        fault = _draw_kind(draw, draw.choice(kinds), around)
        if not isinstance(fault, FailFlush) or fault.node not in flush_failures:
            faults.append(Fault(at=round(moment, 4), kind=fault))
        if isinstance(fault, FailFlush):
            flush_failures.add(fault.node)  # two failures within minutes are one too many for any broker
        sequel = _sequel(draw, fault)
        if sequel is not None and moment + sequel[0] < seconds - 0.5:
            faults.append(Fault(at=round(moment + sequel[0], 4), kind=sequel[1]))
        moment += draw.choice(pauses) * draw.uniform(0.5, 1.5)
    faults += draw_membership(draw, facts, seconds)
    return tuple(sorted(faults, key=lambda each: each.at))


def _draw_kind(draw: Random, kind: str, around: _Surroundings) -> FaultKind:
    if kind in UPHEAVALS:
        return UPHEAVALS[kind](draw, around.facts)
    return _KINDS[kind](draw, around)


def _sequel(draw: Random, fault: FaultKind) -> tuple[float, FaultKind] | None:
    """An outage after what left bytes in the page cache only: did whoever came next know that?"""
    match fault:
        case Kill(outage=Outage.PROCESS) if draw.random() < 0.6:
            delay = fault.down_seconds + draw.choice((0.2, 0.6))
        case FailFlush() if draw.random() < 0.6:
            delay = draw.choice((0.2, 0.5, 1.0))
        case _:
            return None
    return delay, Kill(node=fault.node, outage=Outage.POWER, down_seconds=_down(draw))


def _outage(draw: Random, around: _Surroundings) -> Outage:
    return Outage.POWER if draw.random() < around.habits.power else Outage.PROCESS


def _down(draw: Random) -> float:
    return draw.choice((0.05, 0.3, 1.5))


def _kill(draw: Random, around: _Surroundings) -> FaultKind:
    node = draw.choice(around.nodes)
    return Kill(node=node, outage=_outage(draw, around), down_seconds=_down(draw))


def _kill_at_operation(draw: Random, around: _Surroundings) -> FaultKind:
    outage = _outage(draw, around)
    is_followed = outage is Outage.PROCESS and draw.random() < 0.6
    return KillAtOperation(
        node=draw.choice(around.nodes),
        outage=outage,
        operation=draw.choice(_OPERATIONS),
        path_part=draw.choice(_PATHS),
        ordinal=draw.choice((0, 0, 1, 2, 5, 12)),
        down_seconds=_down(draw),
        aftershock_seconds=draw.choice((0.2, 0.6)) if is_followed else None,
    )


def _restart(draw: Random, around: _Surroundings) -> FaultKind:
    return Restart(node=draw.choice(around.nodes))


def _pause(draw: Random, around: _Surroundings) -> FaultKind:
    host = draw.choice(around.nodes if draw.random() < 0.4 else around.clients)
    return Pause(host=host, seconds=draw.choice(around.habits.pause_seconds))


def _kill_client(draw: Random, around: _Surroundings) -> FaultKind:
    down = None if draw.random() < 0.25 else _down(draw)
    return KillClient(host=draw.choice(around.clients), down_seconds=down)


def _cut(draw: Random, around: _Surroundings) -> FaultKind:
    pairs = draw_pairs(draw, around.nodes, around.clients)
    return Cut(pairs=pairs, seconds=draw.choice((0.2, 1.0, 2.5)))


def _slow_link(draw: Random, around: _Surroundings) -> FaultKind:
    pairs = draw_pairs(draw, around.nodes, around.clients)
    return SlowLink(pairs=pairs, extra_seconds=draw.choice((0.05, 0.3, 1.0)), seconds=draw.choice((0.5, 2.0)))


def _two(draw: Random, around: _Surroundings) -> tuple[str, str]:
    node = draw.choice(around.nodes)
    others = [host for host in (*around.nodes, *around.clients) if host != node]
    return node, draw.choice(others)


def _reset(draw: Random, around: _Surroundings) -> FaultKind:
    one, other = _two(draw, around)
    return ResetConnections(one=one, other=other)


def _forget(draw: Random, around: _Surroundings) -> FaultKind:
    one, other = _two(draw, around)
    return ForgetConnections(one=one, other=other)


def _hold(draw: Random, around: _Surroundings) -> FaultKind:
    one, other = _two(draw, around)
    return HoldConnections(one=one, other=other, seconds=draw.choice((1.0, 3.0)))


def _slow_disk(draw: Random, around: _Surroundings) -> FaultKind:
    return SlowDisk(
        node=draw.choice(around.nodes),
        job_seconds_max=draw.choice((0.1, 0.5)),
        seconds=draw.choice((0.5, 2.0)),
    )


def _stall_disk(draw: Random, around: _Surroundings) -> FaultKind:
    return StallDisk(node=draw.choice(around.nodes), seconds=draw.choice((0.3, 1.0, 2.5)))


def _fail_flush(draw: Random, around: _Surroundings) -> FaultKind:
    return FailFlush(
        node=draw.choice(around.nodes),
        path_part=draw.choice(("", "orders", ".log", "__consumer_offsets", "__cluster")),
        after=draw.choice((0, 1, 4)),
    )


def _fill_disk(draw: Random, around: _Surroundings) -> FaultKind:
    return FillDisk(
        node=draw.choice(around.nodes),
        room_bytes=draw.choice((0, 100, 1500)),
        seconds=draw.choice((0.5, 2.0)),
    )


def _move_wall(draw: Random, around: _Surroundings) -> FaultKind:
    """Not far: deadlines that were written down stay where they are, and a transaction waits for its own."""
    milliseconds = draw.choice((-5000, -1000, -200, 200, 1000, 5000))
    return MoveWall(node=draw.choice(around.nodes), milliseconds=milliseconds)


_KINDS: dict[str, Callable[[Random, _Surroundings], FaultKind]] = {
    "kill": _kill,
    "kill-at-operation": _kill_at_operation,
    "restart": _restart,
    "pause": _pause,
    "kill-client": _kill_client,
    "cut": _cut,
    "slow-link": _slow_link,
    "reset": _reset,
    "forget": _forget,
    "hold": _hold,
    "slow-disk": _slow_disk,
    "stall-disk": _stall_disk,
    "fail-flush": _fail_flush,
    "fill-disk": _fill_disk,
    "move-wall": _move_wall,
}
