"""What a run tells while it goes on, for terminals, metrics and topics."""

from collections.abc import Callable
from dataclasses import dataclass

from penstock.spark.pipelines.reporting.progress import FlowProgress
from penstock.spark.pipelines.running.failures import FlowFailure


@dataclass(frozen=True, slots=True)
class FlowStarted:
    """A query runs."""

    flow: str


@dataclass(frozen=True, slots=True)
class FlowProgressed:
    """A micro-batch is done."""

    progress: FlowProgress


@dataclass(frozen=True, slots=True)
class RecordsLeft:
    """Records went to the topic of a side output."""

    flow: str
    topic: str
    count: int


@dataclass(frozen=True, slots=True)
class FlowEnded:
    """A query has read what there was, or was stopped."""

    flow: str


@dataclass(frozen=True, slots=True)
class FlowFailed:
    """A query ended before it should."""

    failure: FlowFailure


Event = FlowStarted | FlowProgressed | RecordsLeft | FlowEnded | FlowFailed
Listener = Callable[[Event], None]
