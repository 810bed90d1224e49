"""The thread that does what would block a loop."""

import gc
import threading
import weakref
from concurrent.futures import Future

import pytest
from tests.broker_process import wait_until

from penstock.client.asynchronous.worker import Worker
from penstock.client.errors import ClosedError


@pytest.fixture
def worker() -> Worker:
    return Worker("tested")


def test_jobs_are_done_in_turn_by_one_thread(worker: Worker) -> None:
    names = [worker.submit(lambda: threading.current_thread().name) for _ in range(3)]
    assert [name.result(10) for name in names] == ["tested"] * 3
    worker.close()
    with pytest.raises(ClosedError):
        worker.submit(print)


def test_worker_is_idle_when_nothing_is_done_or_waits(worker: Worker) -> None:
    go_on = threading.Event()
    idle = [worker.is_idle]
    first = worker.submit(lambda: go_on.wait(10))
    second = worker.submit(lambda: 1 / 0)
    idle.append(worker.is_idle)
    go_on.set()
    assert first.result(10)
    assert isinstance(second.exception(10), ZeroDivisionError)
    assert [*idle, worker.is_idle] == [True, False, True]
    worker.close()


def test_whoever_hears_of_an_answer_finds_the_worker_idle(worker: Worker) -> None:
    found: list[bool] = []
    for _ in range(100):
        go_on = threading.Event()
        answer = worker.submit(lambda go_on=go_on: go_on.wait(10))  # type: ignore[misc]
        answer.add_done_callback(lambda _: found.append(worker.is_idle))
        go_on.set()
        answer.result(10)
    wait_until(lambda: len(found) == 100, what="all answers")
    assert all(found)
    worker.close()


def test_cancelled_job_is_not_done_and_not_waited_for(worker: Worker) -> None:
    go_on = threading.Event()
    first = worker.submit(lambda: go_on.wait(10))
    second = worker.submit(lambda: 1 / 0)
    assert second.cancel()
    go_on.set()
    assert first.result(10)
    wait_until(lambda: worker.is_idle, what="nothing to do")
    worker.close()


def test_job_that_serves_others_is_not_idle(worker: Worker) -> None:
    asked = worker.submit(lambda: None)
    asked.result(10)
    served: list[bool] = []

    def serve() -> None:
        inner = worker.submit(lambda: served.append(worker.is_idle))
        worker.serve_until(inner, 10)

    worker.submit(serve).result(10)
    assert served == [False]
    assert worker.is_idle
    worker.close()


def test_job_that_is_to_be_alone_waits_for_one_that_serves_others(worker: Worker) -> None:
    ended: Future[None] = Future()
    done: list[str] = []

    def serve() -> None:
        worker.submit(lambda: done.append("alone"), is_alone=True)
        worker.submit(lambda: done.append("served"))
        worker.submit(lambda: ended.set_result(None))
        worker.serve_until(ended, 10)
        done.append("serving")

    worker.submit(serve).result(10)
    wait_until(lambda: worker.is_idle, what="nothing to do")
    assert done == ["served", "serving", "alone"]
    worker.close()


def test_job_that_is_done_is_kept_no_longer(worker: Worker) -> None:
    class Client:
        def call(self) -> None:
            pass

    client = Client()
    forgotten = weakref.ref(client)
    worker.submit(client.call).result(10)
    del client

    def is_gone() -> bool:
        gc.collect()
        return forgotten() is None

    wait_until(is_gone, what="no client")
    worker.close()
