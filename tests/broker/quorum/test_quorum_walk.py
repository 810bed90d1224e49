"""A quorum under random faults: whatever was answered holds, whatever was refused never happened."""

from dataclasses import replace
from functools import partial
from random import Random

import pytest
from tests.broker.quorum.quorum_world import Call, QuorumNode, QuorumWorld, features

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError

STEPS = 60


class Walk:
    """One run."""

    def __init__(self, seed: int) -> None:
        self.draw = Random(f"walk/{seed}")
        self.world = QuorumWorld(seed, count=4)
        for node in self.world.nodes:
            node.options = replace(node.options, snapshot_bytes=1_500)
        self.calls: dict[str, Call] = {}

    def run(self) -> None:
        self.world.found()
        for _ in range(STEPS):
            self.step()
            self.world.run(self.draw.random() * 0.6)
        self.end()

    def step(self) -> None:
        choice = self.draw.random()
        node = self.draw.choice(self.world.nodes)
        if choice < 0.5:
            self.submit_some()
        elif choice < 0.6:
            self.change_voters(node)
        elif choice < 0.75:
            self.restart(node)
        elif choice < 0.85:
            others = [each for each in self.world.nodes if each is not node]
            self.world.network.block([(node.name, each.name) for each in others])
            if self.draw.random() < 0.7:
                self.world.network.block([(each.name, node.name) for each in others])
        elif choice < 0.95:
            self.world.network.heal()
        else:
            node.speed.seconds_max = self.draw.choice([0.001, 0.01, 0.2])

    def submit_some(self) -> None:
        for _ in range(self.draw.randint(1, 8)):
            name = f"f{len(self.calls)}"
            candidates = [node for node in self.world.nodes if node.is_leader]
            if candidates:
                self.calls[name] = self.draw.choice(candidates).submit(name)

    def change_voters(self, node: QuorumNode) -> None:
        """Add or remove a voter; what becomes of it is not waited for."""
        for leader in [each for each in self.world.nodes if each.is_leader and node.is_up]:
            if node.quorum.key in leader.quorum.voters:
                leader.call(partial(leader.quorum.remove_voter, node.quorum.key))
            else:
                leader.call(partial(leader.quorum.add_voter, node.voter))

    def restart(self, node: QuorumNode) -> None:
        if node.process is None:
            node.boot()
        else:
            node.kill(loses_power=self.draw.random() < 0.5)

    def end(self) -> None:
        world = self.world
        world.network.heal()
        for node in world.nodes:
            node.speed.seconds_max = 0.001
            if node.process is None:
                node.boot()
        world.run(3.0)  # whoever was deposed has noticed
        world.submit("last")
        world.until_agreed()
        self.check(features(world.nodes[0]))
        world.world.sweep()
        assert not world.world.accidents
        assert not [node.failures for node in world.nodes if node.failures]
        world.world.close()

    def check(self, image: dict[str, int]) -> None:
        for name, call in self.calls.items():
            if call.is_done and call.error is None:
                assert name in image, f"{name} was answered, and is lost"
            elif call.is_done:
                assert isinstance(call.error, ApiError)
                if call.error.code is ErrorCode.NOT_CONTROLLER:
                    assert name not in image, f"{name} was refused, and happened"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_answered_changes_hold_whatever_happens(seed: int) -> None:
    Walk(seed).run()
