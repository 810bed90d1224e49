"""Drawing plans from seeds.

Every seed draws its habits first (how many nodes, which faults, how slow the disks, how lossy the network):
runs that all do a little of everything are all alike.
"""

from random import Random

from penstock.raft.settings import RaftSettings
from penstock.sim.raft.plan import Fault, FaultEvent, RaftPlan

FAULTS_MAX = 40

_NETWORK = (
    Fault.PARTITION,
    Fault.ONE_WAY_CUT,
    Fault.ISOLATE_LEADER,
    Fault.DEAFEN_LEADER,
    Fault.MUTE_LEADER,
)
_CRASHES = (
    Fault.CRASH,
    Fault.CRASH_LEADER,
    Fault.CRASH_ALL,
    Fault.CRASH_AT_FLUSH,
    Fault.CRASH_LEADER_AT_FLUSH,
)
_STALLS = (Fault.PAUSE, Fault.PAUSE_LEADER, Fault.SLOW_DISK)
_CLOCKS = (Fault.CLOCKS_LEAP, Fault.CLOCKS_LEAP_AND_BOUNCE)
_CHANGES = (Fault.ADD_VOTER, Fault.REMOVE_VOTER, Fault.REMOVE_LEADER, Fault.TRANSFER)


def draw_plan(seed: int) -> RaftPlan:
    """The one plan of a seed."""
    draw = Random(f"{seed}/plan")
    voters = draw.choice((1, 2, 3, 3, 3, 3, 4, 5, 5))
    observers = draw.choice((0, 0, 1, 2))
    settings = _draw_settings(draw)
    phase_ms = settings.election_timeout_ms * draw.choice((10, 20))
    count = voters + observers
    return RaftPlan(
        seed=seed,
        voters=voters,
        observers=observers,
        settings=settings,
        drifts=tuple(draw.choice((1.0, 1.0, 0.95, 1.06)) for _ in range(count)),
        delay_ms_max=max(1, settings.election_timeout_ms // draw.choice((300, 60, 20, 6, 2))),
        loss=draw.choice((0.0, 0.0, 0.01, 0.1, 0.25)),
        duplication=draw.choice((0.0, 0.02, 0.1)),
        flush_ms_max=max(1, settings.election_timeout_ms // draw.choice((300, 60, 12, 4))),
        proposals_per_s=draw.choice((3, 10, 30)),
        reads_per_s=draw.choice((0, 3, 10)),
        snapshot_every=draw.choice((8, 25, 1000)),
        snapshot_keeps=draw.choice((0, 3, 10)),
        uses_wire=draw.random() < 0.1,
        faults=_draw_faults(draw, count=count, timeout_ms=settings.election_timeout_ms, phase_ms=phase_ms),
        fault_phase_ms=phase_ms,
        never_healed=draw.choice((-1, -1, draw.randrange(count))),
    )


def _draw_settings(draw: Random) -> RaftSettings:
    timeout_ms = draw.choice((200, 300, 600))
    return RaftSettings(
        election_timeout_ms=timeout_ms,
        heartbeat_interval_ms=timeout_ms // draw.choice((3, 6)),
        append_bytes_max=draw.choice((1, 30, 100_000)),
        append_entries_max=draw.choice((1, 3, 1_000)),
        in_flight_max=draw.choice((1, 2, 8)),
        snapshot_chunk_bytes=draw.choice((7, 50, 1_000)),
        uncommitted_bytes_max=draw.choice((200, 1_000_000)),
        recent_bytes_max=draw.choice((0, 50, 1_000_000)),
        observer_timeout_ms=timeout_ms * 5,
        promotion_timeout_ms=timeout_ms * 8,
    )


def _draw_faults(draw: Random, *, count: int, timeout_ms: int, phase_ms: int) -> tuple[FaultEvent, ...]:
    liked = _draw_liked(draw)
    events: list[FaultEvent] = []
    at_ms = timeout_ms * draw.choice((0, 4))
    pause_ms = timeout_ms * draw.choice((0.5, 1, 2))
    while liked and at_ms < phase_ms and len(events) < FAULTS_MAX:
        events.append(
            FaultEvent(
                at_ms=at_ms,
                fault=draw.choice(liked),
                nodes=tuple(draw.sample(range(count), draw.randint(1, count))),
                duration_ms=int(timeout_ms * draw.choice((0.02, 0.2, 1, 3))),
            )
        )
        at_ms += int(draw.choice((0.1, 0.5, 1.0)) * pause_ms)
    return tuple(events)


def _draw_liked(draw: Random) -> list[Fault]:
    """Everything, or mostly elections: those that are contested are rare, and much depends on them."""
    if draw.random() < 0.3:
        return [Fault.CLOCKS_LEAP, *[Fault.CLOCKS_LEAP_AND_BOUNCE] * 3, Fault.TRANSFER, Fault.CRASH_AT_FLUSH]
    return [
        *_some(draw, _NETWORK),
        *_some(draw, _CRASHES),
        *_some(draw, _STALLS),
        *_some(draw, _CLOCKS),
        *_some(draw, _CHANGES),
        *_some(draw, (Fault.WIPE,)),
    ]


def _some(draw: Random, faults: tuple[Fault, ...]) -> list[Fault]:
    """A part of them, often none."""
    if draw.random() < 0.35:
        return []
    return draw.sample(faults, draw.randint(1, len(faults)))
