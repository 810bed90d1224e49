"""Somebody who looks after the cluster: asks for what a person would ask for, until it is done."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any

from penstock.model.error_codes import ErrorCode
from penstock.sim.cluster.node import Node
from penstock.sim.network.network import Network
from penstock.sim.runtime.loop import new_loop
from penstock.sim.workloads.client import Address, Client
from penstock.sim.workloads.connection import Unanswered
from penstock.wire.messages.decommission_broker import DecommissionBrokerRequest

DECOMMISSION_VERSION = 0
RETRY_SECONDS = 0.5
TIMEOUT_SECONDS = 2.0


class Operator:
    """One person with a command line."""

    def __init__(self, network: Network, name: str, bootstrap: Sequence[Address]) -> None:
        self.loop = new_loop(network.world, name, network=network)
        self.client = Client(self.loop, name, bootstrap, timeout_seconds=TIMEOUT_SECONDS)
        #: What is still to be done.
        self.duties: list[str] = []

    def retire(self, node: Node) -> None:
        """Have a broker emptied, and switch its machine off when it is forgotten."""
        if node.node_id is None or not node.is_wanted:
            return
        self._begin(self._retire(node, node.node_id), f"retire {node.name}")

    def forget(self, node_id: int) -> None:
        """Have a broker emptied that will never come back."""
        self._begin(self._empty(node_id), f"forget node {node_id}")

    def _begin(self, duty: Coroutine[Any, Any, None], name: str) -> None:
        self.duties.append(name)
        task = self.loop.create_task(duty, name=name)
        task.add_done_callback(lambda _: self.duties.remove(name))

    async def _retire(self, node: Node, node_id: int) -> None:
        await self._empty(node_id)
        node.switch_off()

    async def _empty(self, node_id: int) -> None:
        """Ask until nobody knows the broker any more."""
        request = DecommissionBrokerRequest(broker_id=node_id)
        while True:
            try:
                answer = await self.client.ask_any(request, DECOMMISSION_VERSION)
            except Unanswered:
                answer = None
            if answer is not None and answer.error_code == ErrorCode.BROKER_ID_NOT_REGISTERED:
                return
            await asyncio.sleep(RETRY_SECONDS)
