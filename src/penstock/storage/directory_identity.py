"""How a data directory comes to be, and to whom it belongs."""

from collections.abc import Callable

from penstock.model.errors import FlushFailedError, StorageError
from penstock.model.ids import NodeId, uuid_to_text
from penstock.storage.filesystem import FileSystem, join_path, parent_directory
from penstock.storage.meta_properties import (
    MetaProperties,
    check_identity,
    read_meta_properties,
    write_meta_properties,
)

LOCK_FILE = "LOCK"
JOINING_FILE = "joining"
"""What an empty directory offered to a cluster (``joining``); of no use once it has an identity."""


def make_directories(fs: FileSystem, path: str) -> None:
    """Make the directory and whatever is missing above it, durably."""
    if fs.exists(path):
        return
    parent = parent_directory(path)
    make_directories(fs, parent)
    fs.make_directory(path)
    fs.sync_directory(parent)


def sync_names(fs: FileSystem, path: str) -> None:
    """Make the names on the way to a new directory durable: a start that died may have made some of them."""
    parent = parent_directory(path)
    try:
        fs.sync_directory(parent)
    except FlushFailedError:
        raise
    except StorageError:
        # We may not open it, so it was not we who made anything inside or above it.
        return
    if parent not in ("/", "."):
        sync_names(fs, parent)


def establish_identity(
    fs: FileSystem,
    path: str,
    *,
    node_id: NodeId,
    cluster_id: str | None,
    directory_id: bytes | None,
    new_uuid: Callable[[], bytes],
) -> MetaProperties:
    """The identity the directory has, or the one it is given now."""
    meta = read_meta_properties(fs, path)
    if meta is None:
        sync_names(fs, path)
        meta = MetaProperties(
            cluster_id=cluster_id or uuid_to_text(new_uuid()),
            node_id=node_id,
            directory_id=directory_id or new_uuid(),
        )
        write_meta_properties(fs, path, meta)
    check_identity(path, meta, node_id=node_id, cluster_id=cluster_id)
    if fs.exists(join_path(path, JOINING_FILE)):
        # If it comes back after an outage, it goes at the next start.
        fs.unlink(join_path(path, JOINING_FILE))
    return meta
