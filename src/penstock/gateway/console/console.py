"""What the parts of the console share: the gateway, and what is measured over time."""

from dataclasses import dataclass

from penstock.gateway.console.sampling.sampler import Sampler
from penstock.gateway.gateway import Gateway
from penstock.gateway.kafka.access import KafkaAccess


@dataclass(frozen=True, slots=True, kw_only=True)
class Console:
    """One console on one gateway."""

    gateway: Gateway
    sampler: Sampler

    @property
    def kafka(self) -> KafkaAccess:
        """The way to the cluster."""
        return self.gateway.kafka
