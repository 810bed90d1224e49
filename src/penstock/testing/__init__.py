"""A real broker, or a cluster of them, inside other people's tests: no container, no second service.

::

    from penstock.testing import Broker

    with Broker() as broker:
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers})

``broker``, ``cluster`` and ``registry`` are what tests use; ``faults``, ``request_log`` and ``broker_clock``
are what these offer them; ``plugin`` has the fixtures. Nothing is imported before it is asked for, since
pytest loads the plugin in every run of everybody who has Penstock installed.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.testing.broker import Broker
    from penstock.testing.cluster import Cluster
    from penstock.testing.fault import Fault
    from penstock.testing.registry import Registry
    from penstock.testing.request_log import Request

__all__ = ["Broker", "Cluster", "Fault", "Registry", "Request"]

_HOMES = {
    "Broker": "broker",
    "Cluster": "cluster",
    "Fault": "fault",
    "Registry": "registry",
    "Request": "request_log",
}


def __getattr__(name: str) -> object:
    """Load a class when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import gc
    from importlib import import_module

    was_enabled = gc.isenabled()
    gc.disable()  # what is imported stays: looking for garbage among it costs a twentieth of the time
    try:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    finally:
        if was_enabled:
            gc.enable()
