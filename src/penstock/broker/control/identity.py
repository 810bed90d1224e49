"""Who this broker is: what its directory says, or the cluster that it joins, or the first of its own."""

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from penstock.broker.control.joining import join
from penstock.broker.peers.address import Address
from penstock.model.errors import OperatingError
from penstock.model.ids import NodeId
from penstock.storage.broker_epoch import LastRegistration, has_been_member, write_last_registration
from penstock.storage.directory_identity import JOINING_FILE
from penstock.storage.filesystem import join_path
from penstock.storage.joining import offered_directory_id
from penstock.storage.meta_properties import MetaProperties, read_meta_properties
from penstock.wire.messages.join_cluster import ANY_NODE_ID, JoinClusterRequest, JoinEndpoint

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """A broker's name, and how it came by it."""

    node_id: NodeId
    #: Of a new directory, if a cluster has taken it in.
    cluster_id: str | None = None
    directory_id: bytes | None = None
    #: Whether the directory's quorum begins with this broker, if it has not begun yet.
    founds: bool


async def find_identity(broker: "Broker") -> Identity:
    """Look into the directory, and ask the cluster if it must be."""
    config, call = broker.config, broker.workers.call
    found = await call(_look, broker)
    if found.meta is not None:
        told = found.meta.node_id if config.node_id is None else config.node_id
        return Identity(node_id=NodeId(told), founds=not found.has_been_member)
    if config.bootstrap_servers:
        return await _join(broker)
    if found.is_joining:
        raise OperatingError(
            f"The data directory {broker.data_directory} was about to join a cluster. Say which with "
            f"--join HOST:PORT, or remove its file {JOINING_FILE} to begin a new cluster with it."
        )
    return Identity(node_id=NodeId(config.integer("node.id")), founds=True)


class _Found(NamedTuple):
    """What the directory says."""

    meta: MetaProperties | None
    is_joining: bool
    has_been_member: bool


def _look(broker: "Broker") -> _Found:
    filesystem, path = broker.filesystem, broker.data_directory
    return _Found(
        read_meta_properties(filesystem, path),
        filesystem.exists(join_path(path, JOINING_FILE)),
        has_been_member(filesystem, path),
    )


async def _join(broker: "Broker") -> Identity:
    config, call, filesystem, path = (
        broker.config,
        broker.workers.call,
        broker.filesystem,
        broker.data_directory,
    )
    directory_id = await call(offered_directory_id, filesystem, path, broker.entropy.uuid)
    request = JoinClusterRequest(
        directory_id=directory_id,
        endpoints=tuple(
            JoinEndpoint(
                name=each.name, host=each.host, port=each.port, security_protocol=each.security_protocol
            )
            for each in broker.endpoints
        ),
        rack=config.string("broker.rack") or None,
        node_id=ANY_NODE_ID if config.node_id is None else config.node_id,
    )
    servers = [Address(each.host, each.port) for each in config.bootstrap_servers]
    answer = await join(broker.peers, servers, request)
    # Before the directory has its identity: from then on it must not take itself for a founder's.
    await call(write_last_registration, filesystem, path, LastRegistration())
    logger.info("joined a cluster", extra={"cluster": answer.cluster_id, "node": answer.node_id})
    return Identity(
        node_id=NodeId(answer.node_id),
        cluster_id=answer.cluster_id,
        directory_id=directory_id,
        founds=False,
    )
