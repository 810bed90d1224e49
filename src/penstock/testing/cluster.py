"""A cluster for tests."""

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Self

from penstock.cli.nodes.ports import read_ports, remember_ports
from penstock.model.errors import OperatingError, UsageError
from penstock.testing import topics
from penstock.testing.broker import Broker, Settings
from penstock.testing.broker_clock import BrokerClock
from penstock.testing.cluster_sight import ClusterSight
from penstock.testing.context import Context
from penstock.testing.faults import Faults
from penstock.testing.links import Network
from penstock.testing.member import Member
from penstock.testing.movable_clock import steady_seconds
from penstock.testing.request_log import RequestLog

BROKERS_MAX = 16
REPLICAS_DEFAULT = 3
VOTERS_DEFAULT = 3
WAIT_SECONDS = 30.0
POLL_SECONDS = 0.01

Node = int | Broker
"""A broker of the cluster, or its number, counted from 1."""


class Cluster(Context):
    """Several real brokers that are one cluster, for the length of a ``with`` block.

    Topics have three replicas, or as many as there are brokers, unless they say otherwise. The rest is as
    with a single ``Broker``: threads of this process by default, processes with ``process=True``.
    """

    def __init__(
        self,
        size: int = 3,
        *,
        settings: Settings | None = None,
        directory: str | Path | None = None,
        on_disk: bool = False,
        process: bool = False,
    ) -> None:
        if not 1 <= size <= BROKERS_MAX:
            raise UsageError(f"A cluster of {size} brokers cannot be had: 1 to {BROKERS_MAX} can.")
        self._is_process = process
        self._directory = None if directory is None else Path(directory)
        ports = [] if self._directory is None else read_ports(self._directory)
        #: Whether the cluster is older than this object: then nobody has to found it.
        self._was_there = bool(ports)
        self._network = Network()
        self._faults = Faults()
        self._requests = RequestLog()
        self._sight = ClusterSight(self.running)
        if ports and len(ports) != size:
            raise UsageError(f"{directory} holds a cluster of {len(ports)} brokers, not of {size}.")
        shared = {"default.replication.factor": min(REPLICAS_DEFAULT, size), **(settings or {})}
        #: In the order of their numbers: ``brokers[0]`` is node 1.
        self.brokers = [
            Broker(
                settings=shared,
                directory=None if self._directory is None else self._directory / f"node-{number}",
                on_disk=on_disk,
                process=process,
                member=Member(
                    node_id=number,
                    network=self._network,
                    faults=self._faults,
                    requests=self._requests,
                    port=port,
                ),
            )
            for number, port in enumerate(ports or [0] * size, start=1)
        ]

    def __repr__(self) -> str:
        return f"<Cluster {self.brokers!r}>"

    # Where it is.

    @property
    def bootstrap_servers(self) -> str:
        """``host:port`` of all brokers, as clients want it."""
        return ",".join(broker.bootstrap_servers for broker in self.brokers)

    def broker(self, node: Node) -> Broker:
        """The broker of that number."""
        if isinstance(node, Broker):
            return node
        if not 1 <= node <= len(self.brokers):
            raise UsageError(f"There is no node {node}: nodes are numbered from 1 to {len(self.brokers)}.")
        return self.brokers[node - 1]

    def running(self) -> list[Broker]:
        """Brokers that are there and not frozen."""
        return [broker for broker in self.brokers if broker.is_running and not broker.is_paused]

    def leader(self, topic: str, partition: int = 0) -> Broker:
        """Who leads a partition now; waits until somebody does who is there."""
        running = {broker.node_id for broker in self.running()}

        def found() -> int | None:
            leader = self._sight.leader(topic, partition)
            return leader if leader in running else None

        return self.broker(_wait_for(found, what=f"a leader of {topic}-{partition}"))

    def controller(self) -> Broker:
        """Who decides on metadata now; waits until somebody does who is there."""
        running = {broker.node_id for broker in self.running()}

        def found() -> int | None:
            controller = self._sight.controller()
            return controller if controller in running else None

        return self.broker(_wait_for(found, what="a controller"))

    # Life and death.

    def start(self) -> Self:
        """Start all; returns when every broker knows every other, and enough of them decide together."""
        if self._was_there:
            self._start_together(self.brokers)
        else:
            founder, *others = self.brokers
            founder.start()
            for broker in others:
                broker.join(founder)
            self._start_together(others)
        self.wait_whole()
        if self._directory is not None:
            remember_ports(self._directory, [broker.port for broker in self.brokers])
        return self

    def close(self) -> None:
        """End all and leave nothing behind, but the data in a ``directory`` that was named."""
        self._network.heal()
        problems: list[Exception] = []
        for broker in reversed(self.brokers):
            try:
                broker.close()
            except OperatingError as error:
                problems.append(error)
        if problems:
            raise problems[0]

    def stop(self, node: Node) -> None:
        """End a broker in good order: others lead what it leads before it goes."""
        self.broker(node).stop()

    def kill(self, node: Node) -> None:
        """End a broker as ``kill -9`` does."""
        self.broker(node).kill()

    def restart(self, *nodes: Node) -> None:
        """Start brokers again with their ports and data; returns when the cluster has let them in.

        A cluster needs most of its brokers to go on: if more have died, restart them together.
        """
        brokers = [self.broker(node) for node in nodes]
        for broker in brokers:
            if broker.is_running:
                broker.stop()
        self._start_together(brokers)

    def pause(self, node: Node) -> None:
        """Freeze a broker as SIGSTOP does."""
        self.broker(node).pause()

    def resume(self, node: Node) -> None:
        """Let a frozen broker go on."""
        self.broker(node).resume()

    def partition(self, *groups: Collection[Node], clients: Collection[Node] = ()) -> None:
        """Cut the network between groups of brokers; brokers of no group keep all their links.

        Clients still reach everybody but the brokers of ``clients``, to which nothing of theirs gets through.
        """
        self._check_thread("the network is cut between")
        if len(groups) < 2 and not clients:
            raise UsageError("A cut has at least two sides: partition([1], [2, 3]).")
        self._network.cut([self.broker(node).port for node in group] for group in groups)
        self._links_changed()
        for node in clients:
            self.broker(node).thread_home.silence_clients()

    def heal(self) -> None:
        """Mend everything that was cut; what was sent meanwhile arrives now."""
        self._check_thread("the network is cut between")
        self._network.heal()
        self._links_changed()
        for broker in self.brokers:
            broker.thread_home.hear_clients()

    def tidy(self) -> None:
        """Undo what a test has done to it; returns when it is whole.

        Clocks that were moved can only be put right from nothing: then all data is gone as well.
        Brokers whose settings were changed since they were started are restarted.
        """
        self._faults.clear()
        self._requests.clear()
        if any(broker.movable_clock.offset_seconds for broker in self.brokers):
            self.reset()
            return
        if not self._is_process:
            self.heal()
        for broker in self.brokers:
            if broker.is_paused:  # Those that start again may need it.
                broker.resume()
        self.restart(*(broker for broker in self.brokers if not broker.is_running or broker.is_outdated))
        for broker in self.brokers:
            broker.tidy()
        self.wait_whole()

    def reset(self) -> None:
        """Start again from nothing, on the same ports."""
        self._network.heal()
        for broker in self.brokers:
            broker.wipe()
        self._was_there = False
        self.start()

    def wait_whole(self, *, seconds: float = WAIT_SECONDS) -> None:
        """Return when all brokers that run know each other and have a controller."""
        count = len(self.running())
        voters = VOTERS_DEFAULT if len(self.brokers) >= VOTERS_DEFAULT else 1
        _wait_for(
            lambda: self._sight.is_whole(count, voters if count == len(self.brokers) else 1) or None,
            what=f"{count} brokers that know each other",
            seconds=seconds,
        )

    def wait_in_sync(self, topic: str, *, seconds: float = WAIT_SECONDS) -> None:
        """Return when every replica of a topic is in sync, and somebody leads."""
        _wait_for(
            lambda: self._sight.is_in_sync(topic) or None,
            what=f"all replicas of {topic} in sync",
            seconds=seconds,
        )

    # Topics.

    def topic(self, prefix: str = "topic") -> str:
        """A name for a topic that nobody else uses; the topic is not made."""
        return topics.unique_topic(prefix)

    def create_topic(
        self,
        name: str | None = None,
        partitions: int = 1,
        *,
        replication_factor: int | None = None,
        **configs: object,
    ) -> str:
        """Make a topic; returns its name when every broker that runs knows it, in sync."""
        made = self.running()[0].create_topic(
            name, partitions, replication_factor=replication_factor, **configs
        )
        for broker in self.running():
            topics.wait_led(broker.ask, made)
        self.wait_in_sync(made)
        return made

    def delete_topic(self, name: str) -> None:
        """Delete a topic, if it is there."""
        self.running()[0].delete_topic(name)

    # What tests look at and tamper with.

    @property
    def faults(self) -> Faults:
        """Faults that strike requests of clients to whichever broker."""
        self._check_thread("faults are injected by")
        return self._faults

    @property
    def requests(self) -> RequestLog:
        """What clients have asked any of the brokers."""
        self._check_thread("requests are noted by")
        return self._requests

    @property
    def clock(self) -> BrokerClock:
        """The time of all brokers, which can be moved forward."""
        self._check_thread("time is moved by")
        return BrokerClock([broker.movable_clock for broker in self.brokers], self._advance)

    @property
    def logs(self) -> Mapping[int, str]:
        """What each broker has logged."""
        return {broker.node_id: broker.log for broker in self.brokers}

    def _start_together(self, brokers: Iterable[Broker]) -> None:
        """They may wait for each other."""
        begun = list(brokers)
        for broker in begun:
            broker.launch()
        for broker in begun:
            broker.wait_ready()

    def _advance(self, seconds: float) -> None:
        for broker in self.brokers:
            broker.movable_clock.offset_seconds += seconds
        for broker in self.running():
            broker.thread_home.catch_up()
        self.wait_whole()
        for broker in self.running():
            broker.thread_home.catch_up()

    def _links_changed(self) -> None:
        for broker in self.brokers:
            broker.thread_home.links_changed()

    def _check_thread(self, what: str) -> None:
        if self._is_process:
            raise UsageError(
                f"These brokers are other processes, and {what} brokers that share the test's: "
                "leave process=True out."
            )


def _wait_for(find: Callable[[], int | None], *, what: str, seconds: float = WAIT_SECONDS) -> int:
    """What ``find`` finds, as soon as it does."""
    deadline = steady_seconds() + seconds
    while (found := find()) is None:
        if steady_seconds() > deadline:
            raise OperatingError(f"Not within {seconds:g} s: {what}.")
        time.sleep(POLL_SECONDS)
    return found
