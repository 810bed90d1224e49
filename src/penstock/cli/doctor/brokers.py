"""Whether a cluster can be reached the way clients do: by its own word for where its brokers are."""

from collections.abc import Iterator

from penstock.cli.doctor.finding import Finding, ok, problem, warning
from penstock.cli.librdkafka import bootstrap_addresses
from penstock.wire.api_keys import APIS, ApiKey
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.connection import Address, Connection
from penstock.wire_client.errors import NotServedError, UnreachableError, WireClientError

_ADVERTISED = (
    "Clients are told this address: let the broker say one that they can reach, with advertised.listeners."
)


def check_brokers(bootstrap_server: str) -> Iterator[Finding]:
    """Ask for metadata, then knock at every broker that they name."""
    addresses = [Address(host, port) for host, port in bootstrap_addresses(bootstrap_server)]
    try:
        cluster = Cluster.connect(addresses)
    except UnreachableError as error:
        yield problem("cluster", str(error), "Start a broker with `penstock serve`, or check the address.")
        return
    except WireClientError as error:
        yield problem("cluster", str(error), "Something else than a broker may listen there.")
        return
    with cluster:
        yield ok("cluster", f"{bootstrap_server} answers; brokers: {len(cluster.nodes)}")
        served: dict[int, frozenset[ApiKey]] = {}
        for node_id, address in sorted(cluster.nodes.items()):
            yield _check_broker(node_id, address, served)
        if len({*served.values()}) > 1:
            yield warning(
                "cluster", "Brokers serve different APIs.", "Finish the upgrade: run one version everywhere."
            )


def _check_broker(node_id: int, address: Address, served: dict[int, frozenset[ApiKey]]) -> Finding:
    try:
        with Connection(address) as broker:
            served[node_id] = frozenset(api for api in APIS if broker.serves(api))
            fetch = broker.version(ApiKey.FETCH)
    except NotServedError as error:
        return problem("broker", f"Broker {node_id}: {error}", "It is too old for the clients of today.")
    except WireClientError as error:
        return problem("broker", f"Broker {node_id}: {error}", _ADVERTISED)
    count = len(served[node_id])
    return ok("broker", f"{node_id} at {address}: {count} APIs shared, Fetch up to version {fetch}")
