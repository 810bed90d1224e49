"""``penstock mirror status``, and lag as all commands show it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from penstock.cli.instants import format_instant
from penstock.cli.output import print_json, print_table
from penstock.cli.words import counted

if TYPE_CHECKING:
    from penstock.spark.mirror.access import Access
    from penstock.spark.mirror.lag import PartitionLag


def print_status(source: "Access", target: "Access", *, as_json: bool) -> None:
    """A line for each partition, and the sum."""
    from penstock.spark.mirror.clusters import Clusters
    from penstock.spark.mirror.lag import partition_lags
    from penstock.spark.mirror.offset_map import read_map

    with Clusters.connect(source=source, target=target) as clusters:
        lags = partition_lags(clusters.source.admin, clusters.source.cluster_id, read_map(target))
    if as_json:
        print_json(lags_as_json(lags))
    elif lags:
        _print_table(lags)
    else:
        print(f"Nothing of {source.bootstrap_servers} is mirrored to {target.bootstrap_servers}.")


def lags_as_json(lags: "Sequence[PartitionLag]") -> dict[str, Any]:
    """For programs."""
    return {
        "lag": sum(each.lag for each in lags),
        "partitions": [{**each._asdict(), "lag": each.lag} for each in lags],
    }


def _print_table(lags: "Sequence[PartitionLag]") -> None:
    rows = [
        (
            each.topic,
            each.partition,
            each.copy,
            f"{each.mirrored:,}",
            f"{each.source_end:,}",
            f"{each.lag:,}",
            format_instant(each.at_ms),
        )
        for each in lags
    ]
    columns = ("TOPIC", "PARTITION", "COPY", "MIRRORED TO", "END", "LAG", "SINCE")
    print_table(columns, rows, numbers=(1, 3, 4, 5))
    print(f"{counted(sum(each.lag for each in lags), 'offset')} behind in all")
