"""The names that belong to a sink: transactional ids and groups, all derived from one.

Every name ends in what it is for, so that those of two sinks are never the same, whatever the sinks are
called. They all begin with the sink's own, which is what access rules can be given for.
"""

from dataclasses import dataclass

from penstock.model.ids import TopicPartition

RESERVED_TOPIC = "__penstock_sinks"
"""Has no records. Groups commit "offsets" of it, which are numbers of batches: groups cannot remember
anything else."""

PLACE = TopicPartition(RESERVED_TOPIC, 0)
"""What all those offsets are of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sink:
    """Where one query, or one application, writes exactly once."""

    name: str

    @property
    def driver_id(self) -> str:
        """The transactional id under which decisions are made."""
        return f"{self.name}-driver"

    def task_id(self, task: int) -> str:
        """The transactional id of a task by its number, and the group that its marker is in."""
        return f"{self.name}-task-{task}"

    def ledger_group(self, chunk: int) -> str:
        """The group that the ledger is in; one that is too long for one group goes on in others."""
        return f"{self.name}-sink" if chunk == 0 else f"{self.name}-sink-{chunk}"


def stream_sink(transactional_id: str | None, query_id: str) -> Sink:
    """The sink of a stream: the same after every restart from the same checkpoint."""
    return Sink(name=transactional_id or f"penstock-sink-{query_id}")


def application_sink(app_id: str, topic: str | None) -> Sink:
    """The sink of an application that numbers its writes; it may write to several topics side by side."""
    return Sink(name=f"{app_id}:{topic or ''}")  # No topic has a colon in its name.


def nameless_sink(token: str) -> Sink:
    """The sink of a batch that nobody will repeat."""
    return Sink(name=f"penstock-write-{token}")
