"""What all parts of a gateway share, and when it begins and ends."""

import threading

from penstock.gateway.bounded_count import BoundedCount
from penstock.gateway.kafka.access import KafkaAccess
from penstock.gateway.registry.registry import SchemaRegistry
from penstock.gateway.settings import GatewaySettings


class Gateway:
    """One gateway: its settings, its way to the cluster, and the parts that live as long as it does.

    ``start`` and ``stop`` are called by the app's lifespan, on the way up and down. ``closing`` is set as
    soon as it is told to stop: what streams must end then.
    """

    def __init__(self, settings: GatewaySettings) -> None:
        self.settings = settings
        self.kafka = KafkaAccess(settings)
        self.registry = SchemaRegistry(settings.bootstrap_servers)
        self.streams = BoundedCount(settings.streams_max, of="open streams")
        self.closing = threading.Event()

    def start(self) -> None:
        """Begin what runs beside requests. It must not wait for the cluster."""
        self.registry.start()

    def stop(self) -> None:
        """End it, and let go of the cluster."""
        self.closing.set()
        self.registry.stop()
        self.kafka.close()
