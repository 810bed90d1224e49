"""A broker for tests."""

from collections.abc import Mapping
from pathlib import Path
from typing import Self

from penstock.model.errors import UsageError
from penstock.testing import topics
from penstock.testing.broker_clock import BrokerClock
from penstock.testing.context import OPEN, Context
from penstock.testing.faults import Faults
from penstock.testing.home import Home
from penstock.testing.machine import Disk, Machine, MemoryDisk, Port
from penstock.testing.member import Member
from penstock.testing.movable_clock import MovableClock
from penstock.testing.request_log import RequestLog
from penstock.testing.settings import DEFAULTS, as_texts
from penstock.testing.thread_home import ThreadHome

Settings = Mapping[str, object]
"""Settings of a broker by Kafka's names."""


class Broker(Context):
    """A real broker on a free port of loopback, for the length of a ``with`` block.

    By default it runs in a thread of this process and keeps its data in memory. ``on_disk`` gives it a
    temporary directory and ``directory`` one that stays; ``process`` makes it a process of its own, on disk.
    """

    def __init__(
        self,
        *,
        settings: Settings | None = None,
        directory: str | Path | None = None,
        on_disk: bool = False,
        process: bool = False,
        member: Member | None = None,
    ) -> None:
        #: Overrides of broker settings; what is changed here counts from the next start on.
        self.settings: dict[str, object] = dict(settings or {})
        self._directory = None if directory is None else Path(directory)
        self._is_on_disk = on_disk or directory is not None or process
        self._is_process = process
        self._member = member or Member()
        self._faults = Faults()
        self._requests = RequestLog()
        #: What moves when ``clock`` is moved.
        self.movable_clock = MovableClock()
        self._home: Home | None = None
        #: Overrides that the broker was last started with.
        self._launched_with: dict[str, str] = {}

    def __repr__(self) -> str:
        state = "closed" if self._home is None else self._home.address
        return f"<{type(self).__name__} {self.node_id} {state}>"

    # Where it is.

    @property
    def bootstrap_servers(self) -> str:
        """``host:port``, as clients want it; the same after a restart."""
        return self._started().address

    @property
    def port(self) -> int:
        """The port alone."""
        return int(self.bootstrap_servers.rpartition(":")[2])

    @property
    def node_id(self) -> int:
        """Its number in the cluster, counted from 1."""
        return self._member.node_id

    @property
    def is_running(self) -> bool:
        """Whether it is there, paused or not."""
        return self._home is not None and self._home.is_running

    @property
    def is_paused(self) -> bool:
        """Whether it is frozen."""
        return self._home is not None and self._home.is_paused

    @property
    def is_outdated(self) -> bool:
        """Whether its settings were changed since it was started, and wait for the next start."""
        return as_texts(self.settings) != self._launched_with

    @property
    def pid(self) -> int:
        """The id of its process; only with ``process=True``."""
        pid = getattr(self._started(), "pid", None)
        if not isinstance(pid, int):
            raise UsageError("This broker is a thread of this process. Use Broker(process=True) for a pid.")
        return pid

    # Life and death.

    def start(self) -> Self:
        """Start it; returns when clients may connect."""
        self.launch()
        self.wait_ready()
        return self

    def join(self, other: "Broker") -> None:
        """Be part of the cluster that another broker has begun, from the first start on."""
        self._member.join = other.bootstrap_servers

    def launch(self) -> None:
        """Begin to start, without waiting for anything."""
        if self.is_running:
            raise UsageError(f"{self!r} is running already.")
        OPEN.add(self)
        if self._home is None:
            self._home = self._new_home()
        own: dict[str, object] = {"node.id": self.node_id}
        if self._member.join:
            own["controller.quorum.bootstrap.servers"] = self._member.join
        self._launched_with = as_texts(self.settings)
        self._home.launch(as_texts(DEFAULTS, own, self._launched_with))

    def wait_ready(self) -> None:
        """Return when clients may connect."""
        self._started().wait_ready()

    def stop(self) -> None:
        """End in good order: what is under way is answered, and everything is on disk."""
        self._started().stop()

    def kill(self) -> None:
        """End as after ``kill -9``: nothing is answered, flushed or tidied up; connections are reset."""
        self._started().kill()

    def restart(self) -> None:
        """Start again with the same port and data, after ``kill`` or ``stop``, or instead of them."""
        if self.is_running:
            self.stop()
        self.start()

    def pause(self) -> None:
        """Freeze it, as SIGSTOP does: connections stay open, nothing is answered."""
        self._started().pause()

    def resume(self) -> None:
        """Let it go on; whatever was due meanwhile happens now."""
        self._started().resume()

    def reset(self) -> None:
        """Start again from nothing: same port, no data, no faults, the clock put right."""
        self.wipe()
        self.start()

    def wipe(self) -> None:
        """End, and forget everything but the port."""
        home = self._started()
        if self.is_running:
            home.kill()
        home.wipe()
        self._faults.clear()
        self._requests.clear()

    def tidy(self) -> None:
        """Undo what a test has done to it; a clock that was moved can only be put right from nothing.

        Settings are as they are from now on: if they were changed since it was started, it is restarted.
        """
        self._faults.clear()
        self._requests.clear()
        if self.movable_clock.offset_seconds:
            self.reset()
        elif not self.is_running or self.is_outdated:
            self.restart()
        elif self.is_paused:
            self.resume()

    def close(self) -> None:
        """End it and leave nothing behind, but the data in a ``directory`` that was named."""
        home, self._home = self._home, None
        if home is not None and not self.is_inherited:
            home.close()

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
        """Make a topic, by default under a new name; returns its name when it can be written to.

        Settings of the topic are given with underscores for dots: ``retention_ms=1000``.
        """
        made = self.topic() if name is None else name
        topics.create_topic(
            self.ask, made, partitions=partitions, replication_factor=replication_factor, configs=configs
        )
        topics.wait_led(self.ask, made)
        return made

    def delete_topic(self, name: str) -> None:
        """Delete a topic, if it is there."""
        topics.delete_topic(self.ask, name)

    @property
    def ask(self) -> topics.Ask:
        """Asks this broker something, beside all faults."""
        return self._started().ask

    # What tests look at and tamper with.

    @property
    def faults(self) -> Faults:
        """Faults that strike requests of clients to this broker."""
        self._check_thread("faults are injected by")
        return self._faults

    @property
    def requests(self) -> RequestLog:
        """What clients have asked this broker."""
        self._check_thread("requests are noted by")
        return self._requests

    @property
    def clock(self) -> BrokerClock:
        """The broker's time, which can be moved forward."""
        self._check_thread("time is moved by")
        return BrokerClock([self.movable_clock], self._advance)

    @property
    def log(self) -> str:
        """What the broker has logged; long logs lose their beginning."""
        return "" if self._home is None else self._home.log_text()

    @property
    def thread_home(self) -> ThreadHome:
        """Where it lives in this process."""
        home = self._started()
        if not isinstance(home, ThreadHome):
            raise UsageError("This broker is another process, which cannot be looked into.")
        return home

    def _advance(self, seconds: float) -> None:
        if not self.is_running or self.is_paused:
            raise UsageError("Time passes only for a broker that runs: restart or resume it first.")
        self.movable_clock.offset_seconds += seconds
        self.thread_home.catch_up()

    def _check_thread(self, what: str) -> None:
        if self._is_process:
            raise UsageError(
                f"This broker is another process, and {what} one that shares the test's: "
                "leave process=True out."
            )

    def _started(self) -> Home:
        if self._home is None:
            raise UsageError("The broker is not running: use it in a with statement, or start() it.")
        return self._home

    def _new_home(self) -> Home:
        port = Port(self._member.port)
        try:
            return self._home_at(port)
        except BaseException:
            port.close()
            raise

    def _home_at(self, port: Port) -> Home:
        if self._is_process:
            from penstock.testing.process_home import ProcessHome  # only here: most brokers are threads

            return ProcessHome(self._directory, port)
        return ThreadHome(
            Machine(self._new_disk(), self._member.network, self.movable_clock, port),
            name=f"penstock-broker-{self.node_id}",
            faults=(self._faults, self._member.faults),
            requests=(self._requests, self._member.requests),
        )

    def _new_disk(self) -> Disk:
        if not self._is_on_disk:
            return MemoryDisk()
        from penstock.testing.directory_disk import DirectoryDisk  # only here, as above

        return DirectoryDisk(self._directory)
