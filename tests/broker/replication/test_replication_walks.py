"""Brokers that are killed, cut off and moved while somebody writes: nothing acknowledged is lost, and in the
end all copies are the same."""

import asyncio
from random import Random

import pytest
from tests.broker.replication.small_cluster import SmallCluster

from penstock.broker.peers.peer_error import PeerError
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import NodeId

STEPS = 25
CHOICES = ("kill", "restart", "restart", "cut", "isolate", "mend", "mend", "prefer", "move", "wait")


class Walk:
    """One story, as the seed tells it."""

    def __init__(self, seed: int, *, flush_messages: str = "1") -> None:
        self.draw = Random(seed)
        self.cluster = SmallCluster(4, seed=seed)
        self.cluster.make_topic((1, 2, 3), min_insync_replicas="2", flush_messages=flush_messages)
        self.acknowledged: list[bytes] = []
        self.is_over = False
        self.cut: list[tuple[str, str]] = []
        self.count = 0

    async def write(self) -> None:
        """A client that writes to whoever leads."""
        while not self.is_over:
            await asyncio.sleep(self.draw.random() * 0.1)
            value = b"%d" % self.count
            self.count += 1
            leader = self.cluster.partition.leader
            if leader not in self.cluster.nodes:
                continue
            acks = -1 if self.draw.random() < 0.7 else 1
            try:
                answer = await self.cluster.produce(leader, value, timeout_ms=2_000, acks=acks)
            except PeerError:
                continue
            if answer.error_code == ErrorCode.NONE and acks == -1:
                self.acknowledged.append(value)

    def step(self) -> None:
        cluster, draw = self.cluster, self.draw
        alive = sorted(cluster.nodes)
        choice = draw.choice(CHOICES)
        if choice == "kill" and len(alive) > 2:
            id = draw.choice(alive)
            cluster.kill(id, loses_power=draw.random() < 0.5)
            cluster.pass_time(draw.random() * 0.3)
            cluster.fence(id)
        elif choice == "restart":
            for id in [id for id in cluster.disks if id not in cluster.nodes][:1]:
                cluster.restart(id)
        elif choice == "cut":
            id, other = draw.sample(sorted(cluster.disks), 2)
            pairs = [(f"n{id}", f"n{other}")]
            cluster.network.block(pairs)
            self.cut += pairs
        elif choice == "isolate":
            self.isolate(self.cluster.partition.leader)
        elif choice == "mend":
            self.mend()
        elif choice == "prefer":
            cluster.elect_preferred()
        elif choice == "move":
            cluster.reassign(*draw.sample([1, 2, 3, 4], 3))
        cluster.pass_time(draw.random() * 1.5)

    def cut_power(self) -> None:
        """Let everybody lose power, and come back in some order."""
        cluster, draw = self.cluster, self.draw
        alive = draw.sample(sorted(cluster.nodes), len(cluster.nodes))
        for id in alive:
            if draw.random() < 0.5:
                node = cluster.nodes[id]
                node.loop.create_task(node.checkpoint())
        cluster.pass_time(draw.random() * 0.1)
        for id in alive:
            cluster.kill(id, loses_power=draw.random() < 0.8)
        cluster.fence(*alive)
        for id in draw.sample(sorted(cluster.disks), len(cluster.disks)):
            cluster.restart(id)
            cluster.pass_time(draw.random() * 0.3)

    def isolate(self, id: int) -> None:
        """Let a leader go on by itself, which only clients can reach, until others have chosen another."""
        if id not in self.cluster.nodes:
            return
        node = self.cluster.nodes[id]
        node.can_reach_controller = node.hears_metadata = False
        others = [f"n{other}" for other in self.cluster.disks if other != id]
        pairs = [pair for other in others for pair in ((f"n{id}", other), (other, f"n{id}"))]
        self.cluster.network.block(pairs)
        self.cut += pairs
        self.cluster.pass_time(self.draw.random())
        if len(self.cluster.nodes) > 2:
            self.cluster.fence(id)

    def mend(self) -> None:
        """Let everybody reach everybody, and those who were cut off take part again."""
        self.cluster.network.unblock(self.cut)
        self.cut = []
        for id, node in self.cluster.nodes.items():
            node.can_reach_controller = node.hears_metadata = True
            if self.cluster.image.brokers[NodeId(id)].is_fenced:
                self.cluster.unfence(id)
        self.cluster.tell_everybody()

    def make_peace(self) -> None:
        cluster = self.cluster
        self.mend()
        for id in [id for id in cluster.disks if id not in cluster.nodes]:
            cluster.restart(id)
        self.is_over = True
        cluster.run_until(self.is_at_peace, seconds_max=60.0)

    def is_at_peace(self) -> bool:
        partition = self.cluster.partition
        if partition.is_reassigning or set(partition.isr) != set(partition.replicas):
            return False
        parts = [self.cluster.nodes[id].partition() for id in partition.replicas]
        return len({part.high_watermark for part in parts} | {part.log.log_end_offset for part in parts}) == 1


@pytest.mark.parametrize("seed", range(6))
def test_nothing_acknowledged_is_lost_and_all_copies_agree(seed: int) -> None:
    walk = Walk(seed)
    cluster = walk.cluster
    cluster.client_loop.create_task(walk.write())
    for _ in range(STEPS):
        walk.step()
    walk.make_peace()
    copies = [cluster.nodes[id].values() for id in cluster.partition.replicas]
    assert copies[0] == copies[1] == copies[2]
    missing = set(walk.acknowledged) - set(copies[0])
    assert not missing
    assert len(walk.acknowledged) > 20
    assert len(copies[0]) == len(set(copies[0]))
    assert all(part.partition().failure is None for part in cluster.nodes.values() if len(part.replicas))
    cluster.close()


@pytest.mark.parametrize("seed", range(6))
def test_copies_of_a_topic_that_accepts_loss_agree_again_after_power_cuts(seed: int) -> None:
    walk = Walk(seed, flush_messages="1000")
    cluster = walk.cluster
    cluster.client_loop.create_task(walk.write())
    for number in range(STEPS):
        walk.step()
        if number % 8 == 7:
            walk.cut_power()
    walk.make_peace()
    copies = [cluster.nodes[id].values() for id in cluster.partition.replicas]
    assert copies[0] == copies[1] == copies[2]
    assert len(walk.acknowledged) > 20
    assert len(copies[0]) == len(set(copies[0]))
    assert all(part.partition().failure is None for part in cluster.nodes.values() if len(part.replicas))
    cluster.close()
