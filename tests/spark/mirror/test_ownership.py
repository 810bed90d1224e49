"""Storage that belongs to one mirror."""

from pathlib import Path

import pytest

from penstock.spark.archive.stores.local_store import LocalStore
from penstock.spark.mirror.clusters import Clusters
from penstock.spark.mirror.errors import MirrorError
from penstock.spark.mirror.naming import Renaming
from penstock.spark.mirror.ownership import claim_storage


def test_storage_of_one_mirror_is_refused_to_others(clusters: Clusters, tmp_path: Path) -> None:
    storage = LocalStore(tmp_path / "storage")
    claim_storage(storage, clusters, Renaming())
    claim_storage(storage, clusters, Renaming())

    with pytest.raises(MirrorError, match=r"a mirror with rename '\{topic\}'.* choose another one"):
        claim_storage(storage, clusters, Renaming(template="x.{topic}"))
    with pytest.raises(MirrorError, match="a mirror with source_id"):
        claim_storage(storage, Clusters(source=clusters.target, target=clusters.source), Renaming())
