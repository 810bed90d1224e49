"""How brokers appear on a terminal and as JSON."""

import sys
from collections.abc import Iterable, Sequence
from typing import Any

from penstock.cli.output import print_table
from penstock.cli.sizes import format_bytes
from penstock.wire_client.cluster_description import BrokerDescription, ClusterDescription
from penstock.wire_client.disks import DirectoryDescription
from penstock.wire_client.quorum import QuorumNode

UNKNOWN = "-"
"""In the place of a value that is not there."""

_COLUMNS = ("BROKER", "ADDRESS", "RACK", "STATE", "QUORUM", "LEADERS", "REPLICAS", "IN SYNC", "DISK")


def broker_as_json(broker: BrokerDescription) -> dict[str, Any]:
    """One broker, without its single partitions."""
    return {
        "broker": broker.broker,
        "host": None if broker.address is None else broker.address.host,
        "port": None if broker.address is None else broker.address.port,
        "rack": broker.rack,
        "state": broker.state,
        "is_controller": broker.is_controller,
        "quorum_role": broker.quorum_role,
        "leaders": broker.leaders,
        "replicas": broker.replicas,
        "in_sync": broker.in_sync,
        "disk_bytes": None if broker.disks is None else broker.disks.bytes,
    }


def print_brokers(brokers: Iterable[BrokerDescription]) -> None:
    """One line for each; the controller's number has a star."""
    print_table(_COLUMNS, [_row(broker) for broker in brokers], numbers=(5, 6, 7, 8))


def print_notes(notes: Iterable[str]) -> None:
    """What could not be found out, on standard error."""
    for note in notes:
        print(f"Note: {note}", file=sys.stderr)


def broker_details_as_json(cluster: ClusterDescription, broker: BrokerDescription) -> dict[str, Any]:
    """One broker with everything known of it."""
    quorum = _quorum_node(cluster, broker)
    return {
        **broker_as_json(broker),
        "quorum": None
        if quorum is None
        else {"role": quorum.role, "log_end_offset": quorum.log_end_offset, "lag": quorum.lag},
        "directories": [] if broker.disks is None else [each.as_json() for each in broker.disks.directories],
        "partitions": [
            {"topic": topic, "partition": partition, "role": role, "in_sync": in_sync, "bytes": size}
            for topic, partition, role, in_sync, size in _partition_rows(cluster, broker)
        ],
    }


def print_broker_details(cluster: ClusterDescription, broker: BrokerDescription) -> None:
    """A headline, one line for each data directory, and one for each partition."""
    print("  ".join(f"{name} {value}" for name, value in _headline(cluster, broker)))
    for directory in () if broker.disks is None else broker.disks.directories:
        print(f"  {_directory_line(directory)}")
    rows = [
        (topic, partition, role, "yes" if in_sync else "no", UNKNOWN if size is None else format_bytes(size))
        for topic, partition, role, in_sync, size in _partition_rows(cluster, broker)
    ]
    if rows:
        print_table(("TOPIC", "PARTITION", "ROLE", "IN SYNC", "SIZE"), rows, numbers=(1, 4))


def _row(broker: BrokerDescription) -> tuple[object, ...]:
    return (
        f"{broker.broker}*" if broker.is_controller else broker.broker,
        broker.address or UNKNOWN,
        broker.rack or UNKNOWN,
        broker.state,
        broker.quorum_role or UNKNOWN,
        broker.leaders,
        broker.replicas,
        broker.in_sync,
        UNKNOWN if broker.disks is None else format_bytes(broker.disks.bytes),
    )


def _headline(cluster: ClusterDescription, broker: BrokerDescription) -> Sequence[tuple[str, object]]:
    quorum = _quorum_node(cluster, broker)
    role = UNKNOWN if quorum is None else f"{quorum.role}, {quorum.lag} behind" if quorum.lag else quorum.role
    return [
        ("broker", broker.broker),
        ("address", broker.address or UNKNOWN),
        ("rack", broker.rack or UNKNOWN),
        ("state", broker.state),
        ("controller", "yes" if broker.is_controller else "no"),
        ("quorum", role),
        ("leaders", broker.leaders),
        ("replicas", broker.replicas),
        ("in sync", broker.in_sync),
    ]


def _directory_line(directory: DirectoryDescription) -> str:
    facts = [f"{directory.path}  uses {format_bytes(directory.bytes)}"]
    if directory.usable_bytes is not None and directory.volume_bytes is not None:
        usable, whole = format_bytes(directory.usable_bytes), format_bytes(directory.volume_bytes)
        facts.append(f"free {usable} of {whole}")
    if directory.is_cordoned:
        facts.append("takes nothing new")
    return "  ".join(facts)


def _quorum_node(cluster: ClusterDescription, broker: BrokerDescription) -> QuorumNode | None:
    return None if cluster.quorum is None else cluster.quorum.node(broker.broker)


def _partition_rows(
    cluster: ClusterDescription, broker: BrokerDescription
) -> Iterable[tuple[str, int, str, bool, int | None]]:
    """Topic, number, role, whether in sync, and size, of each partition on the broker."""
    sizes = {} if broker.disks is None else broker.disks.sizes
    for partition in cluster.partitions:
        if broker.broker in partition.replicas:
            role = "leader" if partition.leader == broker.broker else "follower"
            is_in_sync = broker.broker in partition.isr
            yield (*partition.where, role, is_in_sync, sizes.get(partition.where))
