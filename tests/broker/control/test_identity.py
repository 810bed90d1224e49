"""Who a broker is: by its directory, by a cluster, or by nobody."""

import asyncio
from random import Random

import pytest
from tests.broker.control.simulated_cluster import simulated
from tests.broker.coordination.living_broker import living_broker, new_disk

from penstock.model.errors import OperatingError
from penstock.sim.cluster.node import DATA_DIRECTORY
from penstock.storage.directory_identity import JOINING_FILE
from penstock.storage.joining import offered_directory_id
from penstock.storage.meta_properties import META_PROPERTIES

META = f"{DATA_DIRECTORY}/{META_PROPERTIES}"
JOINING = f"{DATA_DIRECTORY}/{JOINING_FILE}"


def test_directory_tells_a_broker_its_number() -> None:
    disk = new_disk()

    async def run() -> None:
        async with living_broker(disk, **{"node.id": "7"}) as broker:
            assert broker.node_id == 7
            cluster_id = broker.cluster_id
        async with living_broker(disk) as broker:
            assert (broker.node_id, broker.cluster_id) == (7, cluster_id)
            assert broker.config.integer("node.id") == 7

    asyncio.run(run())


def test_directory_of_another_number_is_refused() -> None:
    disk = new_disk()

    async def run() -> None:
        async with living_broker(disk):
            pass
        with pytest.raises(OperatingError, match="belongs to node 1, but this is node 2"):
            async with living_broker(disk, **{"node.id": "2"}):
                pass

    asyncio.run(run())


def test_directory_that_was_about_to_join_begins_no_cluster_of_its_own() -> None:
    disk = new_disk()
    offered_directory_id(disk, DATA_DIRECTORY, lambda: Random(1).randbytes(16))

    async def run() -> None:
        with pytest.raises(OperatingError, match="was about to join a cluster"):
            async with living_broker(disk):
                pass

    asyncio.run(run())
    assert disk.exists(JOINING)
    assert not disk.exists(META)


def test_directory_that_joined_and_knows_nothing_yet_begins_no_cluster_of_its_own() -> None:
    with simulated(1) as cluster:
        first, second = cluster.nodes[0], cluster.add()
        cluster.until(lambda: second.disk.exists(META), step_seconds=0.0001)
        second.kill()
        first.kill()
        second.settings = type(second.settings)(name=second.name)
        second.boot()
        cluster.pass_time(10.0)
        assert second.is_up
        assert not second.is_serving
        assert second.broker is not None
        assert len(second.broker.quorum.voters) == 0


def test_broker_whose_id_is_another_directorys_ends() -> None:
    with simulated(1) as cluster:
        second = cluster.add({"node.id": "1"})
        said: list[str] = []
        second.on_change = said.append
        cluster.until(lambda: said)
        assert "Node 1 of this cluster has another data directory" in said[0]
        second.is_wanted = False
