"""A broker as JSON, as several pages show it."""

from typing import Any

from penstock.wire_client.cluster_description import BrokerDescription


def broker_as_json(broker: BrokerDescription) -> dict[str, Any]:
    """The fields under their names; what it did not tell is null."""
    disks = broker.disks
    return {
        "id": broker.broker,
        "address": None if broker.address is None else str(broker.address),
        "rack": broker.rack,
        "state": broker.state,
        "is_controller": broker.is_controller,
        "quorum_role": broker.quorum_role,
        "leaders": broker.leaders,
        "replicas": broker.replicas,
        "in_sync": broker.in_sync,
        "bytes": None if disks is None else disks.bytes,
        "directories": None if disks is None else [each.as_json() for each in disks.directories],
    }
