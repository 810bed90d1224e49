"""The administrator for programs without an event loop."""

from types import TracebackType
from typing import Self, Unpack

from penstock.client.administration.configs import ConfigAdmin
from penstock.client.administration.groups import GroupAdmin, broker_of
from penstock.client.administration.results import ClusterDescription
from penstock.client.config.admin_config import AdminConfig, AdminSettings


class Admin(GroupAdmin, ConfigAdmin):
    """Looks after topics, settings, groups and records. It may be used by several threads."""

    def __init__(self, config: AdminConfig | None = None, **settings: Unpack[AdminSettings]) -> None:
        super().__init__(AdminConfig.of(config, settings))

    def describe_cluster(self, *, timeout: float | None = None) -> ClusterDescription:
        """Who is there, and who decides."""
        answer = self._ask(
            "describe the cluster",
            lambda seconds: self._raw().describe_cluster(request_timeout=seconds),
            timeout,
        )
        controller = answer.controller
        return ClusterDescription(
            cluster_id=answer.cluster_id,
            controller=None if controller is None or controller.id < 0 else broker_of(controller),
            brokers=tuple(sorted(map(broker_of, answer.nodes), key=lambda broker: broker.id)),
        )

    def close(self) -> None:
        """Let go of everything; may be called twice."""
        self._client = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
