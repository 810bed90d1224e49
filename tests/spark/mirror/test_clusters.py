"""The two clusters of a mirror."""

import pytest

from penstock.spark.mirror.clusters import Clusters
from penstock.spark.mirror.errors import MirrorError
from penstock.testing import Broker


def test_cluster_is_not_mirrored_into_itself(east: Broker) -> None:
    with pytest.raises(MirrorError, match="are the same cluster"):
        Clusters.connect(source=east.bootstrap_servers, target=east.bootstrap_servers)
