"""Where a cluster is and how it is reached: what all connections of a mirror to it have in common.

Spark's readers and writers are told by options, librdkafka by settings; both are made of one value, so that
no connection knows less than another. What does not go together is refused when the value is made. Nothing
shows the options: there may be passwords among them.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial

from penstock.spark.options.client_settings import parse_addresses
from penstock.spark.options.definition import EVERYWHERE, OptionError
from penstock.spark.options.librdkafka import settings_for_librdkafka
from penstock.spark.options.parsing import connecting_options, parse_options
from penstock.spark.options.security_settings import security_settings
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.connection import Connection
from penstock.wire_client.errors import UnreachableError
from penstock.wire_client.security.security import PLAINTEXT, Security

SERVERS = "kafka.bootstrap.servers"


@dataclass(frozen=True, kw_only=True)
class Access:
    """How one cluster is reached; in plain, unless ``options`` say otherwise."""

    bootstrap_servers: str
    """Addresses of brokers, ``host:port``, with commas between them."""
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Connecting options of the data source, such as ``kafka.security.protocol``, whose addresses
    count no more."""

    def __post_init__(self) -> None:
        parse_options(self.options, EVERYWHERE)
        others = sorted(self.options.keys() - connecting_options(self.options).keys())
        if others:
            raise OptionError(f"Option {others[0]} does not say how to reach a cluster: leave it out.")
        _ = self.security

    @cached_property
    def security(self) -> Security:
        """What connections are wrapped in, and who we are."""
        return security_settings(parse_options(self.options, EVERYWHERE))

    @cached_property
    def spark_options(self) -> dict[str, str]:
        """For readers and writers of Spark."""
        return {**self.options, SERVERS: self.bootstrap_servers}

    @cached_property
    def librdkafka(self) -> dict[str, str]:
        """For ``Admin``, ``Producer`` and ``Consumer``, beside the addresses."""
        return settings_for_librdkafka(self.security)

    def knock(self) -> None:
        """Fail at once where a login or a certificate is refused: librdkafka would try it again and again.

        Where nobody answers, it waits for a while, as it does for clusters that are reached in plain.
        """
        if self.security == PLAINTEXT:
            return
        connect = partial(Connection, client_id="penstock-mirror", security=self.security)
        with suppress(UnreachableError):
            Cluster.connect(parse_addresses(self.bootstrap_servers), connect=connect).close()
