"""How commands that librdkafka's admin client cannot serve reach a cluster: through our own client."""

from collections.abc import Iterator
from contextlib import contextmanager

from penstock.cli.failure import CommandFailed
from penstock.cli.librdkafka import START_ONE, bootstrap_addresses
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.connection import Address
from penstock.wire_client.errors import UnreachableError


@contextmanager
def connected(bootstrap_server: str) -> Iterator[Cluster]:
    """The cluster behind ``--bootstrap-server``, for as long as the command runs."""
    addresses = [Address(host, port) for host, port in bootstrap_addresses(bootstrap_server)]
    try:
        cluster = Cluster.connect(addresses)
    except UnreachableError as error:
        raise CommandFailed(str(error), hint=START_ONE) from error
    with cluster:
        yield cluster
