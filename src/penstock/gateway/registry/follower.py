"""Follows the topic in a thread of its own, so that every read is answered from memory.

The state is replaced as a whole, by this thread alone. A cluster that is away is waited for; meanwhile what
is known is still told. A topic that was deleted, or is another one by now, is a *loss*: what is known stays
to be read and exported, but nothing may be written on top of it any more.
"""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from penstock.gateway.registry.replay import replay
from penstock.gateway.registry.state import RegistryState
from penstock.gateway.registry.topic.reading import (
    TOPIC,
    Fetched,
    TopicSight,
    fetch,
    look_up,
    start_offset,
)
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import PenstockError
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.errors import RefusedError

PAUSE_SECONDS = 0.1
PAUSE_SECONDS_MAX = 1.0
ABSENT_PAUSE_SECONDS = 1.0
"""Between one look for a topic that nobody has made yet and the next; whoever makes it pokes."""
STOP_SECONDS_MAX = 5.0

logger = logging.getLogger("penstock.gateway.registry")


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far the topic was read, and what came of it."""

    state: RegistryState = field(default_factory=RegistryState)
    position: int = 0
    topic_id: bytes | None = None
    """Of the topic that the state was read from; None as long as there is none."""
    is_caught_up: bool = False
    """Whether everything was read that was there when it was first looked at."""
    trouble: str = "it has not been read yet"
    """Why the topic cannot be read at present; nothing if it can."""
    is_gone: bool = False
    """Whether the topic was there, and is not at present."""
    loss: str = ""
    """Why nothing may be written any more, until the gateway is started again."""


class Follower:
    """The thread and what it has read; any thread may ask."""

    def __init__(self, connect: Callable[[], Cluster]) -> None:
        self._connect = connect
        self._changed = threading.Condition()
        self._poked = threading.Event()
        self._stopping = threading.Event()
        self._expected: set[bytes] = set()
        self._seen: set[bytes] = set()
        self._thread = threading.Thread(target=self._run, name="penstock-schemas-follower", daemon=True)
        self.progress = Progress()

    def start(self) -> None:
        """Begin to follow; returns at once."""
        self._thread.start()

    def stop(self) -> None:
        """End, after the fetch that is under way."""
        self._stopping.set()
        self.poke()
        if self._thread.is_alive():
            self._thread.join(STOP_SECONDS_MAX)

    def poke(self) -> None:
        """Look at once whether there is a topic, or a cluster, by now."""
        self._poked.set()

    def expect(self, write_id: bytes) -> None:
        """Remember whether a write is seen, until it is forgotten."""
        with self._changed:
            self._expected.add(write_id)

    def forget(self, write_id: bytes) -> None:
        """A write whose outcome nobody asks for any more."""
        with self._changed:
            self._expected.discard(write_id)
            self._seen.discard(write_id)

    def has_seen(self, write_id: bytes) -> bool:
        """Whether an expected write was committed, as far as the topic was read."""
        with self._changed:
            return write_id in self._seen

    def wait_until(self, is_enough: Callable[[Progress], bool], seconds_max: float) -> bool:
        """Wait until something was read; False when it took too long."""
        self.poke()
        deadline = time.monotonic() + seconds_max
        with self._changed:
            while not is_enough(self.progress):
                left = deadline - time.monotonic()
                if left <= 0 or self._stopping.is_set():
                    return False
                self._changed.wait(left)
            return True

    def _run(self) -> None:
        pause = PAUSE_SECONDS
        while not self._stopping.is_set():
            position = self.progress.position
            try:
                with self._connect() as cluster:
                    self._follow(cluster)
            except PenstockError as error:
                # Also of batches that are damaged: somebody has to look, and what is known is told meanwhile.
                self._note_error(error)
            pause = PAUSE_SECONDS if self.progress.position > position else min(pause * 2, PAUSE_SECONDS_MAX)
            self._stopping.wait(pause)

    def _follow(self, cluster: Cluster) -> None:
        """Read on until the connection breaks, the leader moves, or this turns out to be another topic."""
        sight = look_up(cluster)
        while sight is None and not self._stopping.is_set():
            self._note_absence()
            self._poked.wait(ABSENT_PAUSE_SECONDS)
            self._poked.clear()
            sight = look_up(cluster)
        if sight is None or not self._recognises(sight):
            return
        if self.progress.topic_id is None:
            self._begin(sight, start_offset(cluster))
        while not self._stopping.is_set():
            self._take(fetch(cluster, sight, self.progress.position))

    def _recognises(self, sight: TopicSight) -> bool:
        """Whether it is the topic that was read so far, if any was."""
        known = self.progress.topic_id
        if known not in (None, sight.topic_id):
            if self.progress.state != RegistryState():
                self._lose(f"topic {TOPIC!r} was deleted and made again")
            else:
                self.progress = Progress()
        return not self.progress.loss

    def _begin(self, sight: TopicSight, position: int) -> None:
        with self._changed:
            self.progress = Progress(topic_id=sight.topic_id, position=position)

    def _take(self, fetched: Fetched) -> None:
        progress = self.progress
        state = replay(progress.state, fetched.records) if fetched.records else progress.state
        with self._changed:
            self._seen |= fetched.write_ids & self._expected
            self.progress = replace(
                progress,
                state=state,
                position=fetched.next_offset,
                is_caught_up=progress.is_caught_up or fetched.next_offset >= fetched.stable_offset,
                trouble="",
                is_gone=False,
            )
            self._changed.notify_all()

    def _note_absence(self) -> None:
        if self.progress.topic_id is not None:
            self._tell(trouble=f"topic {TOPIC!r} was deleted", is_gone=True)
        elif not self.progress.is_caught_up or self.progress.trouble:
            with self._changed:
                self.progress = Progress(is_caught_up=True, trouble="")
                self._changed.notify_all()

    def _note_error(self, error: PenstockError) -> None:
        if isinstance(error, RefusedError) and error.code == ErrorCode.OFFSET_OUT_OF_RANGE:
            # A leader that only lags says OFFSET_NOT_AVAILABLE: this one no longer has what was read.
            self._lose(
                f"topic {TOPIC!r} was cut at one of its ends, and no longer holds what was read from it"
            )
        else:
            self._tell(trouble=str(error))

    def _tell(self, *, trouble: str, is_gone: bool = False) -> None:
        if trouble != self.progress.trouble:
            logger.warning("the schemas cannot be read at present: %s", trouble)
        with self._changed:
            self.progress = replace(self.progress, trouble=trouble, is_gone=is_gone)
            self._changed.notify_all()

    def _lose(self, reason: str) -> None:
        if not self.progress.loss:
            logger.error("nothing can be registered any more: %s", reason)
        with self._changed:
            self.progress = replace(self.progress, trouble=reason, loss=reason)
            self._changed.notify_all()
