"""Mirrors on a real Spark, between two real clusters: kept, stopped, failed over and failed back."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.spark.mirror.two_regions import (
    PARTITIONS,
    TOPIC,
    begin_group,
    consume,
    everything,
    mirror_once,
    plan,
    produce,
    values_of,
)

from penstock.client import Admin
from penstock.testing import Broker

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def cluster_id(broker: Broker) -> str:
    with Admin(bootstrap_servers=broker.bootstrap_servers) as admin:
        return admin.describe_cluster().cluster_id


def test_group_fails_over_without_a_gap_and_back_without_a_second_copy(
    spark: "SparkSession", east: Broker, west: Broker, tmp_path: Path
) -> None:
    east.create_topic(TOPIC, PARTITIONS, retention_ms=-1)
    produce(east, [f"east-{number}" for number in range(40)])
    begin_group(east)
    read_before = consume(east, count=25)
    there, back = plan(east, west), plan(west, east)

    upkeep = mirror_once(spark, there, str(tmp_path / "there"))
    assert [(lag.topic, lag.partition, lag.lag) for lag in upkeep.lags] == [(TOPIC, 0, 0), (TOPIC, 1, 0)]
    assert [change.group for change in upkeep.groups] == ["billing"]
    produce(east, [f"later-{number}" for number in range(6)])
    mirror_once(spark, there, str(tmp_path / "there"))
    originals, copies = everything(east), everything(west)
    assert values_of(copies) == values_of(originals)
    assert [each.timestamp_ms for each in copies] == [each.timestamp_ms for each in originals]
    east_id, west_id = cluster_id(east), cluster_id(west)
    assert copies[-1].raw_key == b"key"
    assert copies[-1].headers == (
        ("trace", b"1"),
        ("__mirror.origin", east_id.encode()),
        ("__mirror.hops", east_id.encode()),
        ("__mirror.offset", b"22"),
    )

    east.kill()
    produce(west, [f"west-{number}" for number in range(8)])
    read_after = consume(west, count=46 - 25 + 8)
    assert sorted(read_before + read_after) == sorted(
        value for each in values_of(everything(west)) for value in each
    )

    east.start()
    for wishes, storage in ((back, "back"), (there, "there"), (back, "back")):
        upkeep = mirror_once(spark, wishes, str(tmp_path / storage))
        assert sum(lag.lag for lag in upkeep.lags) == 0
    ours, theirs = everything(east), everything(west)
    assert values_of(ours) == values_of(theirs)
    assert len(ours) == len(theirs) == 46 + 8
    assert dict(ours[-1].headers)["__mirror.origin"] == west_id.encode()
    with Admin(bootstrap_servers=east.bootstrap_servers) as admin:
        committed = admin.group_offsets("billing")
    assert all(record.offset < committed[record.topic_partition] for record in ours)
