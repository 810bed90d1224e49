"""One thread that does what would block an event loop, one job after the other."""

import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, NamedTuple, TypeVar

from penstock.client.errors import ClosedError
from penstock.client.inheritance import INHERITABLE

Answer = TypeVar("Answer")


class _Job(NamedTuple):
    function: Callable[[], Any]
    future: "Future[Any]"
    is_alone: bool


class Worker:
    """Started by its first job; ends when it is closed."""

    _jobs: "queue.SimpleQueue[_Job | None]"
    _thread: threading.Thread | None
    _unfinished_count: int

    def __init__(self, name: str) -> None:
        self._name = name
        self._is_closed = False
        self._begin()
        INHERITABLE.add(self)

    def leave_to_parent(self) -> object:
        """Begin anew in a child of ``fork``, which does not have the thread; the clients there say that."""
        self._begin()
        return None

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to do; until the caller submits something, that remains so."""
        return not self._unfinished_count

    def submit(self, function: Callable[[], Answer], *, is_alone: bool = False) -> "Future[Answer]":
        """Do it when everything before it is done; alone, not while a job that serves others waits for it."""
        future: Future[Answer] = Future()
        with self._lock:
            if self._is_closed:
                raise ClosedError("The client is closed")
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()
            self._unfinished_count += 1
            self._jobs.put(_Job(function, future, is_alone))
        return future

    def serve_until(self, ended: "Future[Any]", seconds: float) -> None:
        """Do other jobs until ``ended`` has; called by a job which waits for something that may need them."""
        ended.add_done_callback(lambda _: self._jobs.put(None))
        later: list[_Job] = []
        try:
            self._serve(ended, time.monotonic() + seconds, later)
        except queue.Empty:
            raise TimeoutError(f"a callback has not ended within {seconds:g} s") from None
        finally:
            for job in later:
                self._jobs.put(job)

    def close(self) -> None:
        """End the thread when all its jobs are done."""
        with self._lock:
            self._is_closed = True
            self._jobs.put(None)

    def _begin(self) -> None:
        self._jobs = queue.SimpleQueue()
        self._lock = threading.RLock()  # A forgotten client closes it in whichever thread collects garbage.
        self._thread = None
        self._unfinished_count = 0

    def _run(self) -> None:
        while True:
            job = self._jobs.get()
            if job is not None:
                self._do(job)
            elif self._is_closed and self._jobs.empty():
                return
            del job  # It may be all that still holds a client, and the next one may never come.

    def _serve(self, ended: "Future[Any]", deadline: float, later: list[_Job]) -> None:
        while not ended.done():
            job = self._jobs.get(timeout=max(0.0, deadline - time.monotonic()))
            if job is not None and job.is_alone:
                later.append(job)
            elif job is not None:
                self._do(job)

    def _do(self, job: _Job) -> None:
        function, future, _ = job
        if not future.set_running_or_notify_cancel():
            self._finish()
            return
        try:
            answer = function()
        except BaseException as error:
            self._finish()
            future.set_exception(error)
        else:
            self._finish()
            future.set_result(answer)

    def _finish(self) -> None:
        """Before anybody hears of the answer: whoever does is to find the thread idle."""
        with self._lock:
            self._unfinished_count -= 1
