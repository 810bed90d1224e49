"""``meta.properties``: which cluster, which node and which disk a data directory belongs to.

Written once, when a directory is first used. A broker that finds another identity than its own refuses to
start: serving one cluster's data under another's name is worse than not serving. The directory id makes a
wiped disk somebody new, so that it cannot vouch for data it no longer has (KIP-853, KIP-858).
"""

import re
from dataclasses import dataclass

from penstock.model.errors import OperatingError
from penstock.model.ids import NodeId, uuid_from_text, uuid_to_text
from penstock.storage.atomic_file import write_atomically
from penstock.storage.filesystem import FileSystem, join_path

META_PROPERTIES = "meta.properties"

_VERSION = "1"
_LINE = re.compile(r"\s*([^\s=:#!][^\s=:]*)\s*[=:]\s*(.*?)\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class MetaProperties:
    """The identity of one data directory."""

    cluster_id: str
    node_id: NodeId
    #: 16 bytes, made at random when the directory was first used.
    directory_id: bytes


def read_meta_properties(fs: FileSystem, directory: str) -> MetaProperties | None:
    """The identity written there; None for a directory without one. A damaged file is an error."""
    path = join_path(directory, META_PROPERTIES)
    if not fs.exists(path):
        return None
    try:
        return _parse(fs.read_file(path).decode())
    except (KeyError, ValueError) as error:
        raise OperatingError(
            f"{path} cannot be read ({error}). It names the cluster and node whose data lies beside it: "
            f"restore it from a backup, or point the broker to another data directory."
        ) from error


def write_meta_properties(fs: FileSystem, directory: str, meta: MetaProperties) -> None:
    """Give the directory its identity, durably."""
    lines = [
        "#",
        f"cluster.id={meta.cluster_id}",
        f"directory.id={uuid_to_text(meta.directory_id)}",
        f"node.id={meta.node_id}",
        f"version={_VERSION}",
        "",
    ]
    write_atomically(fs, join_path(directory, META_PROPERTIES), "\n".join(lines).encode())


def check_identity(directory: str, meta: MetaProperties, *, node_id: NodeId, cluster_id: str | None) -> None:
    """Raise unless the directory is this node's; a ``cluster_id`` of None takes the directory's word."""
    if meta.node_id != node_id:
        raise OperatingError(
            f"The data directory {directory} belongs to node {meta.node_id}, but this is node {node_id}. "
            f"Set node.id={meta.node_id}, or use another data directory."
        )
    if cluster_id is not None and meta.cluster_id != cluster_id:
        raise OperatingError(
            f"The data directory {directory} belongs to cluster {meta.cluster_id}, but this broker was "
            f"started for cluster {cluster_id}. Correct the cluster id, or use another data directory."
        )


def _parse(text: str) -> MetaProperties:
    values = dict(_assignments(text))
    if values["version"] != _VERSION:
        raise ValueError(f"version is {values['version']}, not {_VERSION}")
    if not values["cluster.id"]:
        raise ValueError("cluster.id is empty")
    return MetaProperties(
        cluster_id=values["cluster.id"],
        node_id=NodeId(int(values["node.id"])),
        directory_id=uuid_from_text(values["directory.id"]),
    )


def _assignments(text: str) -> list[tuple[str, str]]:
    """The ``key=value`` lines of a Java properties file, as far as this file needs them."""
    matches = (_LINE.fullmatch(line) for line in text.splitlines())
    return [(match[1], re.sub(r"\\(.)", r"\1", match[2])) for match in matches if match]
