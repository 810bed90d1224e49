"""The administrator for programs with an event loop."""

from types import TracebackType
from typing import Self, Unpack

from penstock.client.administration.admin import Admin
from penstock.client.asynchronous.off_loop import OffLoop, off_loop
from penstock.client.asynchronous.worker import Worker
from penstock.client.config.admin_config import AdminConfig, AdminSettings


class AsyncAdmin(OffLoop):
    """``Admin`` with coroutines for methods."""

    def __init__(self, config: AdminConfig | None = None, **settings: Unpack[AdminSettings]) -> None:
        self._inner = Admin(config, **settings)
        self.config: AdminConfig = self._inner.config
        self._employ(Worker(f"penstock-admin-{self.config.client_id}"))

    create_topic = off_loop(Admin.create_topic)
    create_topics = off_loop(Admin.create_topics)
    delete_topics = off_loop(Admin.delete_topics)
    list_topics = off_loop(Admin.list_topics)
    describe_topic = off_loop(Admin.describe_topic)
    describe_topics = off_loop(Admin.describe_topics)
    add_partitions = off_loop(Admin.add_partitions)
    partitions_of = off_loop(Admin.partitions_of)
    delete_records = off_loop(Admin.delete_records)
    describe_config = off_loop(Admin.describe_config)
    alter_config = off_loop(Admin.alter_config)
    list_groups = off_loop(Admin.list_groups)
    describe_group = off_loop(Admin.describe_group)
    describe_groups = off_loop(Admin.describe_groups)
    delete_groups = off_loop(Admin.delete_groups)
    group_offsets = off_loop(Admin.group_offsets)
    alter_group_offsets = off_loop(Admin.alter_group_offsets)
    reset_group_offsets = off_loop(Admin.reset_group_offsets)
    list_offsets = off_loop(Admin.list_offsets)
    describe_cluster = off_loop(Admin.describe_cluster)

    async def close(self) -> None:
        """Let go of everything; may be called twice."""
        self._inner.close()
        self._worker.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
