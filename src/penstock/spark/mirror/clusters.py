"""The two clusters of a mirror: where they are, who they are, and how they are asked."""

from dataclasses import dataclass
from types import TracebackType
from typing import Self

from penstock.client import Admin
from penstock.spark.mirror.errors import MirrorError


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the clusters."""

    bootstrap_servers: str
    cluster_id: str
    admin: Admin

    @classmethod
    def connect(cls, bootstrap_servers: str) -> Self:
        """Ask it for its id."""
        admin = Admin(bootstrap_servers=bootstrap_servers, client_id="penstock-mirror")
        try:
            cluster_id = admin.describe_cluster().cluster_id
        except BaseException:
            admin.close()
            raise
        return cls(bootstrap_servers=bootstrap_servers, cluster_id=cluster_id, admin=admin)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clusters:
    """Both of them; use it in a ``with`` statement."""

    source: Side
    target: Side

    @classmethod
    def connect(cls, *, source: str, target: str) -> Self:
        """Reach both; they must be two."""
        clusters = cls(source=Side.connect(source), target=Side.connect(target))
        if clusters.source.cluster_id == clusters.target.cluster_id:
            clusters.close()
            raise MirrorError(
                f"{source} and {target} are the same cluster, {clusters.source.cluster_id}: a mirror "
                "needs two."
            )
        return clusters

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Hang up on both."""
        self.source.admin.close()
        self.target.admin.close()
