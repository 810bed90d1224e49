"""Work in a thread of its own, as those see it who watch queries."""

import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from penstock.model.errors import UsageError
from penstock.spark.pipelines.model import Holder, HolderKind
from penstock.spark.pipelines.python_files import CurrentSession
from penstock.spark.pipelines.python_steps import building
from penstock.spark.pipelines.running.flow_queries import configured
from penstock.spark.pipelines.steps import errand
from penstock.spark.pipelines.steps.errand import Errand, IsStopped

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.spark.pipelines.running.datasets import Datasets

pytestmark = pytest.mark.spark

SECONDS_MAX = 60.0
SETTING = "spark.sql.shuffle.partitions"
FOR_EVER = 10**15
TOPIC = {"kafka.bootstrap.servers": "localhost:9092", "subscribe": "orders"}


def ended(running: Errand) -> bool:
    """Whether it ends within reason."""
    running._thread.join(SECONDS_MAX)
    return not running.isActive


def test_errand_is_busy_until_it_is_over(spark: "SparkSession") -> None:
    go = threading.Event()

    def work(session: "SparkSession", is_stopped: IsStopped) -> None:
        assert go.wait(SECONDS_MAX)

    running = Errand(spark, "busy", work)
    assert running.isActive
    assert running.status["isTriggerActive"]
    go.set()

    assert ended(running)
    assert not running.status["isTriggerActive"]
    assert running.exception() is None
    assert (running.lastProgress, running.recentProgress) == (None, ())


def test_session_of_an_errand_is_nobody_elses(spark: "SparkSession") -> None:
    def work(session: "SparkSession", is_stopped: IsStopped) -> None:
        assert session.createDataFrame([(1,)], "a int").count() == 1
        with building(cast("Datasets", SimpleNamespace(spark=spark)), Holder(HolderKind.VIEW, "large")):
            assert CurrentSession().createDataFrame == spark.createDataFrame

    running = Errand(spark, "active", work)

    assert ended(running)
    assert running.exception() is None
    assert type(spark).getActiveSession() is spark


def test_errand_tells_what_it_failed_with(spark: "SparkSession") -> None:
    def work(session: "SparkSession", is_stopped: IsStopped) -> None:
        raise UsageError("there is no such topic")

    running = Errand(spark, "failing", work)

    assert ended(running)
    assert isinstance(running.exception(), UsageError)
    running.stop()
    assert isinstance(running.exception(), UsageError)


def test_errand_that_is_asked_to_end_may_finish_what_it_does(spark: "SparkSession") -> None:
    asked, finished = threading.Event(), threading.Event()

    def work(session: "SparkSession", is_stopped: IsStopped) -> None:
        assert asked.wait(SECONDS_MAX)
        assert is_stopped()
        assert session.range(5).count() == 5
        finished.set()

    running = Errand(spark, "asked", work)
    running.ask_to_end()
    asked.set()

    assert ended(running)
    assert finished.is_set()
    assert running.exception() is None


def test_errand_that_is_stopped_is_broken_off_and_has_not_failed(
    spark: "SparkSession", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(errand, "BREAK_OFF_SECONDS", SECONDS_MAX)
    begun = threading.Event()

    def work(session: "SparkSession", is_stopped: IsStopped) -> None:
        begun.set()
        session.range(FOR_EVER).selectExpr("sum(hash(id))").collect()

    running = Errand(spark, "endless", work)
    assert begun.wait(SECONDS_MAX)
    running.stop()

    assert not running.isActive
    assert running.exception() is None
    assert spark.range(3).count() == 3, "jobs of others are not cancelled"


def test_errand_has_the_settings_of_its_flow_and_the_formats_of_its_pipeline(spark: "SparkSession") -> None:
    changed = threading.Event()
    seen: list[str | None] = []

    def work(session: "SparkSession", is_stopped: IsStopped) -> None:
        assert changed.wait(SECONDS_MAX)
        seen.append(session.conf.get(SETTING))
        session.read.format("penstock").options(**TOPIC).load()

    with configured(spark, {SETTING: "77"}):
        running = Errand(spark, "set", work)
    assert spark.conf.get(SETTING) != "77"
    changed.set()

    assert ended(running)
    assert seen == ["77"]
    assert running.exception() is None
