"""Whose storage it is: progress between two clusters means nothing between two others."""

import json

from penstock.spark.archive.stores.store import Store
from penstock.spark.mirror.clusters import Clusters
from penstock.spark.mirror.errors import MirrorError
from penstock.spark.mirror.naming import Renaming

FILE = "mirror.json"


def claim_storage(storage: Store, clusters: Clusters, renaming: Renaming) -> None:
    """Write down whose it is, or refuse if it is another mirror's.

    To go on from the offsets of another mirror would be to leave out everything before them.
    """
    ours = {
        "source_id": clusters.source.cluster_id,
        "target_id": clusters.target.cluster_id,
        "rename": renaming.template,
    }
    if storage.create(FILE, json.dumps(ours).encode()):
        return
    theirs = json.loads(storage.read(FILE))
    for what, value in ours.items():
        if theirs.get(what) != value:
            raise MirrorError(
                f"The storage {storage.uri('')} is that of a mirror with {what} {theirs.get(what)!r}, "
                f"and this one has {value!r}: choose another one."
            )
