"""The two clusters of a mirror: where they are, who they are, and how they are asked."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self, TypeVar

from penstock.client import Admin, PenstockClientError
from penstock.spark.mirror.access import Access
from penstock.spark.mirror.errors import MirrorError

PATIENCE_SECONDS_MAX = 10.0
_RETRY_SECONDS = 0.2

Answer = TypeVar("Answer")


def patiently(ask: Callable[[], Answer]) -> Answer:
    """The answer, also if it needs some attempts: coordinators move, and come up with their first group."""
    deadline = time.monotonic() + PATIENCE_SECONDS_MAX
    while True:
        try:
            return ask()
        except PenstockClientError as error:
            if not error.is_retriable or time.monotonic() > deadline:
                raise
        time.sleep(_RETRY_SECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the clusters."""

    access: Access
    cluster_id: str
    admin: Admin

    @classmethod
    def connect(cls, access: Access) -> Self:
        """Ask it for its id."""
        access.knock()
        admin = Admin(
            bootstrap_servers=access.bootstrap_servers, client_id="penstock-mirror", kafka=access.librdkafka
        )
        try:
            cluster_id = admin.describe_cluster().cluster_id
        except BaseException:
            admin.close()
            raise
        return cls(access=access, cluster_id=cluster_id, admin=admin)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clusters:
    """Both of them; use it in a ``with`` statement."""

    source: Side
    target: Side

    @classmethod
    def connect(cls, *, source: Access, target: Access) -> Self:
        """Reach both; they must be two."""
        clusters = cls(source=Side.connect(source), target=Side.connect(target))
        if clusters.source.cluster_id == clusters.target.cluster_id:
            clusters.close()
            raise MirrorError(
                f"{source.bootstrap_servers} and {target.bootstrap_servers} are the same cluster, "
                f"{clusters.source.cluster_id}: a mirror needs two."
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
