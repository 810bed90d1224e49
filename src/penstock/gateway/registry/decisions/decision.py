"""A decision: the records to write, all or none, and the answer once they are written.

A function that decides is given a state and may be called again with a later one, when somebody else wrote
first. It raises a GatewayError to refuse.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from penstock.gateway.registry.state import RegistryState
from penstock.gateway.registry.topic.records import TopicRecord

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision(Generic[Answer]):
    """Without records there is nothing to do, and the answer holds at once."""

    answer: Answer
    records: Sequence[TopicRecord] = ()


Decide = Callable[[RegistryState], Decision[Answer]]
