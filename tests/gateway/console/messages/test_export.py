"""Exports of what cannot be read to its end, from scripted brokers."""

import pytest
from tests.cli.scripted_broker import scripted_cluster

from penstock.gateway.console.messages.export import Export
from penstock.gateway.console.messages.reading import Reading
from penstock.gateway.payloads.decoded import Decoded, UndecodableError
from penstock.wire_client import fetching
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.connection import Address
from penstock.wire_client.errors import UnreachableError
from penstock.wire_client.fetching import FetchLimits, OffsetRange
from penstock.wire_client.patience import Patience


def without_schemas(_: bytes) -> Decoded:
    raise UndecodableError("There are no schemas.")


def test_export_without_an_answering_leader_breaks_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that just ended would look whole."""
    monkeypatch.setattr(fetching, "_PATIENCE", Patience(seconds_max=0))
    with (
        scripted_cluster(topics={"orders": [-1]}) as (broker,),
        Cluster.connect([Address(broker.host, broker.port)]) as cluster,
    ):
        windows = {0: OffsetRange(0, 1)}
        reading = Reading(cluster=cluster, topic="orders", windows=windows, limits=FetchLimits())
        made = Export(reading=reading, wanted=None, decode=without_schemas, limit=9)
        with pytest.raises(UnreachableError, match="partition 0 of 'orders'"):
            list(made.json_lines())
