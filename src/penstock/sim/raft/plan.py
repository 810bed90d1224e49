"""What a run will do to its cluster, as data: drawn before it, printed, stored, replayed."""

from dataclasses import dataclass
from enum import StrEnum

from penstock.raft.settings import RaftSettings


class Fault(StrEnum):
    """What can be done to a cluster. Those of a leader find out who leads when they happen."""

    #: Part the nodes into two groups that do not hear each other.
    PARTITION = "partition"
    #: Messages of one node to another are lost, the other way they are not.
    ONE_WAY_CUT = "one-way cut"
    ISOLATE_LEADER = "isolate the leader"
    DEAFEN_LEADER = "let the leader hear nothing"
    MUTE_LEADER = "let nobody hear the leader"
    CRASH = "crash"
    CRASH_LEADER = "crash the leader"
    CRASH_ALL = "crash all"
    #: Crash in front of the next flush, right behind it, or when what waited for it has been sent.
    CRASH_AT_FLUSH = "crash at a flush"
    CRASH_LEADER_AT_FLUSH = "crash the leader at a flush"
    #: Clocks leap ahead: some nodes stand for election at once, and nobody defends a leader.
    CLOCKS_LEAP = "clocks leap"
    #: The same, and the leader forgets that it leads, and voters crash when they have given their vote.
    CLOCKS_LEAP_AND_BOUNCE = "clocks leap and voters crash"
    PAUSE = "pause"
    PAUSE_LEADER = "pause the leader"
    SLOW_DISK = "slow disk"
    #: Let a node come back with an empty disk, as somebody new.
    WIPE = "wipe"
    TRANSFER = "hand leadership over"
    ADD_VOTER = "add a voter"
    REMOVE_VOTER = "remove a voter"
    REMOVE_LEADER = "remove the leader"


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultEvent:
    """One fault at its time."""

    at_ms: int
    fault: Fault
    #: The numbers of nodes concerned, where the fault is about certain ones.
    nodes: tuple[int, ...] = ()
    #: How long it lasts.
    duration_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RaftPlan:
    """One seed's run."""

    seed: int
    voters: int
    #: Nodes that have no vote at first.
    observers: int
    settings: RaftSettings
    #: Of the local clocks, by node.
    drifts: tuple[float, ...]
    delay_ms_max: int
    loss: float
    duplication: float
    flush_ms_max: int
    proposals_per_s: int
    reads_per_s: int
    #: A node takes a snapshot when its log has this many entries, and keeps some below it.
    snapshot_every: int
    snapshot_keeps: int
    #: Whether messages travel as frames.
    uses_wire: bool
    faults: tuple[FaultEvent, ...]
    fault_phase_ms: int
    #: Number of a node that stays down when all others are healed; none if negative.
    never_healed: int
