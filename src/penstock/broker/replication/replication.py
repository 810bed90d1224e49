"""Everything that keeps the replicas on this broker like those on others.

Partitions tell their orders here: whom to follow, what to propose. A fetcher for each leader copies; sessions
of other brokers are served; now and then every leader looks who keeps up.
"""

import asyncio
import logging
from collections.abc import Collection, Coroutine, Mapping
from typing import TYPE_CHECKING, Any

from penstock.broker.partition import Partition
from penstock.broker.partition_role import Following
from penstock.broker.replication.fetcher import Fetcher
from penstock.broker.replication.follower_shell import FollowerShell
from penstock.broker.replication.isr_proposals import IsrProposals
from penstock.broker.replication.log_changes import LogChanges
from penstock.broker.replication.replica_session import ReplicaSessions
from penstock.broker.replication.throttles import Throttles
from penstock.metadata.image import ClusterImage
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import InvariantError, PenstockError
from penstock.model.ids import Millis, NodeId, TopicPartition
from penstock.replication.follower_progress import NEVER
from penstock.replication.leader_events import ProposeIsr
from penstock.replication.replica import ReplicaSettings

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

logger = logging.getLogger(__name__)


class Replication:
    """Of one broker."""

    def __init__(self, broker: "Broker") -> None:
        self.broker = broker
        self.settings = ReplicaSettings(
            lag_max_ms=broker.config.integer("replica.lag.time.max.ms"),
            retry_ms=broker.config.integer("replica.fetch.backoff.ms"),
        )
        self.log_changes = LogChanges(broker)
        self.throttles = Throttles(broker.config, broker.clock.monotonic())
        #: Of brokers that copy from this one.
        self.sessions = ReplicaSessions(lambda: int.from_bytes(broker.entropy.uuid()[:4], "big") >> 1)
        self._proposals = IsrProposals(self)
        #: How far those lagged whom a leader here has last proposed to leave out, for whoever logs it.
        self.proposed_lags: dict[TopicPartition, Mapping[NodeId, int | None]] = {}
        self._fetchers: dict[NodeId, Fetcher] = {}
        #: Logs that are being changed.
        self._changing: dict[Partition, asyncio.Task[None]] = {}
        #: Which somebody else may lead by now, for all we know.
        self.doubted: dict[Partition, None] = {}
        self._is_stopping = False
        #: Of records copied from leaders.
        self.copied_bytes = 0

    @property
    def broker_epoch(self) -> int:
        """Tells this process of the broker from those before it."""
        return self.broker.broker_epoch

    @property
    def is_disk_low(self) -> bool:
        """Whether what is left of the disk is needed for other things than copies."""
        return self.broker.log_directory.room.is_low

    def now(self) -> Millis:
        """The time as roles count it: it only moves forward."""
        return Millis(int(self.broker.clock.monotonic() * 1000))

    def start(self) -> None:
        """Look regularly who keeps up."""
        self.broker.tasks.start_duty(self._watch(), name="watch followers")

    def follow(self, image: ClusterImage) -> None:
        """The image has changed, and partitions have got their roles."""
        self.throttles.follow(image, self.broker.config, self.broker.clock.monotonic())
        self.sessions.retain(image.brokers)
        for leader, fetcher in list(self._fetchers.items()):
            if fetcher.is_idle and leader not in image.brokers:
                fetcher.stop()
                del self._fetchers[leader]

    async def stop(self) -> None:
        """Ask nobody for anything any more; changes of logs that are under way come to their end, or fail."""
        self._is_stopping = True
        self._proposals.stop()
        for fetcher in self._fetchers.values():
            fetcher.stop()
        await self.release(list(self._changing))

    async def release(self, partitions: Collection[Partition]) -> None:
        """Wait until nothing of these logs is being changed; they must not be followed any more.

        A change that cannot be made now is given up, and the log left as it is: nobody needs it any more, or
        the next start comes to the same point.
        """
        for partition in partitions:
            self.proposed_lags.pop(TopicPartition(partition.topic, partition.index), None)
        changing = [partition for partition in partitions if partition in self._changing]
        for partition in changing:
            self.log_changes.give_up(partition)
        if changing:
            await asyncio.wait([self._changing[partition] for partition in changing])
        for partition in changing:
            self.log_changes.forget(partition)

    # What the cluster thinks of this broker.

    def lost_touch(self, since: float) -> None:
        """No controller has heard us since then: somebody else may lead what we lead.

        As long as all in sync go on copying from us, that is not so, and records are committed as ever.
        """
        led = [partition for partition in self.broker.replicas if partition.is_leader]
        for partition in led:
            if partition not in self.doubted and not self._is_copied(partition, since):
                logger.warning("leadership is in doubt", extra={"partition": str(partition)})
                self.doubted[partition] = None
                partition.waiters.replication.fail(ErrorCode.NOT_LEADER_OR_FOLLOWER)

    def came_back(self) -> None:
        """A controller has heard us: what the metadata log says of our partitions holds."""
        self.doubted.clear()

    def _is_copied(self, partition: Partition, since: float) -> bool:
        heard_since = Millis(int(since * 1000))
        others = (each for each in partition.leader.isr if each != partition.node_id)
        return all(self.sessions.has_heard(each, since=heard_since) for each in others)

    # What partitions order.

    def begin_following(self, partition: Partition) -> Following:
        """Copy the partition from the leader of its role."""
        follower = partition.replica.follower
        if follower is None:
            raise InvariantError(f"{partition} is to be copied, but follows nobody")
        fetcher = self._fetchers.get(follower.leader)
        if fetcher is None:
            fetcher = self._fetchers[follower.leader] = Fetcher(follower.leader, self)
        shell = FollowerShell(partition, self, fetcher)
        fetcher.add(shell)
        return shell

    def propose(self, partition: Partition, proposal: ProposeIsr) -> None:
        """Ask the controller for another in-sync set."""
        self.proposed_lags[TopicPartition(partition.topic, partition.index)] = self._lags(partition, proposal)
        self._proposals.add(partition, proposal)

    def _lags(self, partition: Partition, proposal: ProposeIsr) -> dict[NodeId, int | None]:
        """Milliseconds since each of those who are to leave had all that the leader had; None if never."""
        staying = {node_id for node_id, _ in proposal.members}
        leader, now = partition.leader, self.now()
        leaving = {each: leader.follower(each) for each in leader.isr if each not in staying}
        return {
            each: None if known is None or known.caught_up_at == NEVER else now - known.caught_up_at
            for each, known in leaving.items()
        }

    def repair(self, partition: Partition) -> None:
        """Make a damaged log fit to be filled again by its leader."""
        self.change_log(partition, self.log_changes.repair(partition))

    def change_log(self, partition: Partition, change: Coroutine[Any, Any, None]) -> None:
        """Let a job change the log under its partition."""
        if partition.is_being_cut:
            raise InvariantError(f"the log of {partition} is being changed already")
        if self._is_stopping:
            change.close()  # the next process will come to the same point
            return
        partition.is_being_cut = True
        self._changing[partition] = self.broker.tasks.start(
            self._change(partition, change), name=f"change the log of {partition}"
        )

    async def _change(self, partition: Partition, change: Coroutine[Any, Any, None]) -> None:
        failure = None
        try:
            await change
        except PenstockError as error:
            failure = str(error)
        finally:
            del self._changing[partition]
        partition.log_settled(failure)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(self.settings.lag_max_ms / 2000)
            for partition in list(self.broker.replicas):
                partition.look_who_keeps_up()
